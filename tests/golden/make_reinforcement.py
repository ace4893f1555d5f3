#!/usr/bin/env python3
"""Makes dqn.json and ppo.json: 10 steps in PyTorch of deep Q-learning (dueling, double, with sample weights and a target network) and of
proximal policy optimization. With --check: compares the files instead. Source: van Hasselt et al. 2016, "Deep Reinforcement Learning with
Double Q-learning"; Wang et al. 2016, "Dueling Network Architectures"; Schulman et al. 2017, "Proximal Policy Optimization Algorithms"."""
from golden import draw, finish, integers, numbers, summary, weights  # first: it says what is missing

import torch
import torch.nn.functional as F

STEPS, BATCH, ACTIONS = 10, 6, 3

DQN = """
inputs:
  state: {shape: [5], dtype: float32}
  action: {shape: [], dtype: int32}
  reward: {shape: [], dtype: float32}
  is_over: {shape: [], dtype: int32}
  next_state: {shape: [5], dtype: float32}
  weight: {shape: [], dtype: float32}
blocks:
  dueling:
    layers:
      - FullyConnected: {name: body, units: 8, activation: Tanh}
      - FullyConnected: {name: value, units: 1}
      - FullyConnected: {name: advantage, input: body, units: 3}
      - ReduceMean: {name: mean, axes: [1], keep_dims: true}
      - Elementwise: {name: values, expression: value + advantage - mean}
networks:
  online: [{dueling: {name: dueling}}]
  target: [{dueling: {name: dueling}}]
layers:
  - Call: {name: q, network: online, input: state}
  - Call: {name: next_q, network: target, input: next_state}
  - Call: {name: next_choice, network: online, input: next_state}
  - TDError: {name: td_error, input: [q, action, reward, is_over, next_q, next_choice], discount: 0.9}
cost:
  - Huber: {predictions: td_error, targets: 0, sample_weights: weight}
"""
PPO = """
inputs:
  state: {shape: [5], dtype: float32}
  action: {shape: [], dtype: int32}
  advantage: {shape: [], dtype: float32}
  return: {shape: [], dtype: float32}
  log_probability: {shape: [], dtype: float32}
layers:
  - FullyConnected: {name: body, input: state, units: 8, activation: Tanh}
  - FullyConnected: {name: value, units: 1}
  - FullyConnected: {name: policy, input: body, units: 3}
cost:
  - ClippedPolicyGradient: {logits: policy, actions: action, advantages: advantage, log_probabilities: log_probability, clip: 0.3}
  - MeanSquaredError: {predictions: value, targets: return, weight: 0.5}
  - PolicyEntropy: {logits: policy, weight: -0.02}
"""
STATE, NUMBER, ACTION = numbers(BATCH, 5, within=2.0), numbers(BATCH), integers(BATCH, below=ACTIONS)


def layer(name, size, units):
    return {f"{name}/W": weights(size, units), f"{name}/b": numbers(units, within=0.1)}


class Training:
    """The steps of one kind of learning: `cost(variables, batch)`, before which `before_step(variables, step)` runs."""

    def __init__(self, name, model, inputs, variables, frozen, cost, before_step=lambda variables, step: None):
        self.name, self.model, self.inputs, self.variables, self.frozen = name, model, inputs, variables, frozen
        self.cost, self.before_step = cost, before_step

    def run(self):
        v = {key: draw(f"{self.name}/{key}", spec).requires_grad_(not key.startswith(self.frozen or " "))
             for key, spec in self.variables.items()}
        adam = torch.optim.Adam([value for value in v.values() if value.requires_grad], lr=0.02)
        costs = []
        for step in range(STEPS):
            self.before_step(v, step)
            cost = self.cost(v, {x: draw(f"{self.name}/step{step}/{x}", spec) for x, spec in self.inputs.items()})
            adam.zero_grad()
            cost.backward()
            adam.step()
            costs.append(float(cost))
        return {"model": self.model, "optimizer": "Adam: {learning_rate: 0.02}", "frozen": self.frozen, "inputs": self.inputs,
                "variables": self.variables, "costs": costs,
                "after": {key: summary(f"{self.name}/after/{key}", value) for key, value in v.items()}}


def values_of(v, network, state):
    body = torch.tanh(state @ v[f"{network}/dueling/body/W"] + v[f"{network}/dueling/body/b"])
    value, advantage = (body @ v[f"{network}/dueling/{part}/W"] + v[f"{network}/dueling/{part}/b"] for part in ("value", "advantage"))
    return value + advantage - advantage.mean(1, keepdim=True)


def dqn_cost(v, x):
    with torch.no_grad():
        best = values_of(v, "online", x["next_state"]).argmax(1, keepdim=True)
        next_value = values_of(v, "target", x["next_state"]).gather(1, best).squeeze(1)
        target = x["reward"] + 0.9 * (1 - x["is_over"]).double() * next_value
    done = values_of(v, "online", x["state"]).gather(1, x["action"].unsqueeze(1)).squeeze(1)
    return (x["weight"] * F.huber_loss(done, target, reduction="none")).mean()


def copy_to_target(v, step):
    if step % 4 == 0:
        for name in v:
            if name.startswith("online/"):
                v["target/" + name.removeprefix("online/")].copy_(v[name].detach())


def ppo_cost(v, x):
    body = torch.tanh(x["state"] @ v["body/W"] + v["body/b"])
    value = (body @ v["value/W"] + v["value/b"]).squeeze(1)
    policy = torch.distributions.Categorical(logits=body @ v["policy/W"] + v["policy/b"])
    ratio = (policy.log_prob(x["action"]) - x["log_probability"]).exp()
    surrogate = torch.minimum(ratio * x["advantage"], ratio.clamp(0.7, 1.3) * x["advantage"])
    return -surrogate.mean() + 0.5 * F.mse_loss(value, x["return"]) - 0.02 * policy.entropy().mean()


DUELING = {"body": (5, 8), "value": (8, 1), "advantage": (8, ACTIONS)}
TRAININGS = [
    Training("dqn", DQN,
             {"state": STATE, "action": ACTION, "reward": NUMBER, "is_over": integers(BATCH, below=2), "next_state": STATE,
              "weight": numbers(BATCH, around=1.0, within=0.5)},
             {key: spec for network in ("online", "target") for part, sizes in DUELING.items()
              for key, spec in layer(f"{network}/dueling/{part}", *sizes).items()},
             "target", dqn_cost, copy_to_target),
    Training("ppo", PPO,
             {"state": STATE, "action": ACTION, "advantage": NUMBER, "return": NUMBER,
              "log_probability": numbers(BATCH, around=-1.1, within=0.4)},
             layer("body", 5, 8) | layer("value", 8, 1) | layer("policy", 8, ACTIONS), "", ppo_cost),
]
for training in TRAININGS:
    finish(training.name + ".json", training.run())
