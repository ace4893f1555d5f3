#!/usr/bin/env python3
"""Makes cart_pole.json: episodes of a cart with a pole, from the equations of Barto, Sutton and Anderson 1983 (without friction) in the
form of Florian 2007, "Correct equations for the dynamics of the cart-pole system". With --check: compares the file instead."""
from golden import draw, finish, integers, numbers  # first: it says what is missing

import math

EPISODES, STEPS = 4, 60
GRAVITY, CART, POLE, HALF, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
START, PUSHES = numbers(4, within=0.05), integers(STEPS, below=2)


def accelerations(angle, turning, force):
    """Of the pole and of the cart: Florian's equations 23 and 24."""
    total = CART + POLE
    push = (-force - POLE * HALF * turning**2 * math.sin(angle)) / total
    turn = (GRAVITY * math.sin(angle) + math.cos(angle) * push) / (HALF * (4 / 3 - POLE * math.cos(angle)**2 / total))
    pull = (force + POLE * HALF * (turning**2 * math.sin(angle) - turn * math.cos(angle))) / total
    return turn, pull


def episode(number):
    """The state before each step, and after the last one."""
    state = draw(f"cart_pole/{number}/start", START).tolist()
    states = [state]
    for action in draw(f"cart_pole/{number}/actions", PUSHES).tolist():
        position, speed, angle, turning = state
        if abs(position) > 2.4 or abs(angle) > math.radians(12):
            break
        turn, pull = accelerations(angle, turning, FORCE if action == 1 else -FORCE)
        state = [position + TAU * speed, speed + TAU * pull, angle + TAU * turning, turning + TAU * turn]
        states.append(state)
    return states


finish("cart_pole.json", {"start": START, "actions": PUSHES, "episodes": [{"states": episode(i)} for i in range(EPISODES)]})
