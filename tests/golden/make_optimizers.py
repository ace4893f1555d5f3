#!/usr/bin/env python3
"""Makes optimizers.json: parameters after some steps of PyTorch's optimizers. With --check: compares the file instead."""
from golden import draw, finish, numbers, summary  # first: it says what is missing

import torch

SHAPES = {"a": [3], "b": [2]}
# The last gradients are so small that Adam's epsilon matters.
GRADIENT_SIZES = [1.0] * 12 + [1e-3] * 8


def results_of(name, covers, yaml, make, process=None, limit=None):
    """One case: `make` returns the optimizer for a list of parameters; the gradients are drawn, then `process` changes them. `limit`:
    largest absolute value of the parameters after each step."""
    key = f"optimizers/{name}"
    start = {p: numbers(*shape) for p, shape in SHAPES.items()}
    parameters = {p: draw(f"{key}/{p}", spec).requires_grad_() for p, spec in start.items()}
    optimizer = make(list(parameters.values()))
    for step, size in enumerate(GRADIENT_SIZES):
        for p, shape in SHAPES.items():
            parameters[p].grad = draw(f"{key}/step{step}/{p}", numbers(*shape, within=size))
        if process is not None:
            process(parameters.values())
        optimizer.step()
        if limit is not None:
            with torch.no_grad():
                for parameter in parameters.values():
                    parameter.clamp_(-limit, limit)
    return {"name": name, "covers": covers, "yaml": yaml, "parameters": start,
            "results": {p: summary(f"{key}/after/{p}", value) for p, value in parameters.items()}}


def clip_by_global_norm(parameters, norm):
    """TensorFlow's clip_by_global_norm; PyTorch's clip_grad_norm_ adds 1e-6 to the norm that it divides by."""
    total = torch.sqrt(sum(p.grad.square().sum() for p in parameters))
    for p in parameters:
        p.grad *= norm / max(total, norm)


def scale(parameter, factor):
    parameter.grad *= factor


SGD, ADAM, ADAMW, RMSPROP = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop
CASES = [
    results_of("sgd", "SGD", "SGD: {learning_rate: 0.1}", lambda p: SGD(p, 0.1)),
    results_of("momentum", "Momentum", "Momentum: {learning_rate: 0.1, momentum: 0.8}",
               lambda p: SGD(p, 0.1, momentum=0.8)),
    results_of("nesterov", "Momentum", "Momentum: {learning_rate: 0.1, momentum: 0.8, nesterov: true}",
               lambda p: SGD(p, 0.1, momentum=0.8, nesterov=True)),
    results_of("adam", "Adam", "Adam", lambda p: ADAM(p)),
    # An epsilon of this size shows whether it is added before or after the correction.
    results_of("adam_with_large_epsilon", "Adam", "Adam: {learning_rate: 0.02, beta1: 0.8, beta2: 0.95, epsilon: 0.1}",
               lambda p: ADAM(p, 0.02, betas=(0.8, 0.95), eps=0.1)),
    results_of("global_norm_clip", "GlobalNormClip", "SGD: {learning_rate: 0.1, gradient: [GlobalNormClip: 0.5]}",
               lambda p: SGD(p, 0.1), lambda p: clip_by_global_norm(p, 0.5)),
    results_of("adamw", "AdamW", "AdamW", lambda p: ADAMW(p)),
    results_of("adamw_with_large_decay", "AdamW",
               "AdamW: {learning_rate: 0.02, beta1: 0.8, beta2: 0.95, epsilon: 0.1, weight_decay: 0.5}",
               lambda p: ADAMW(p, 0.02, betas=(0.8, 0.95), eps=0.1, weight_decay=0.5)),
    results_of("adamw_with_exclude", "AdamW", "AdamW: {learning_rate: 0.02, weight_decay: 0.5, exclude: [b]}",
               lambda p: ADAMW([{"params": p[:1]}, {"params": p[1:], "weight_decay": 0.0}], 0.02, weight_decay=0.5)),
    results_of("rmsprop", "RMSProp", "RMSProp", lambda p: RMSPROP(p)),
    results_of("rmsprop_with_momentum", "RMSProp",
               "RMSProp: {learning_rate: 0.02, decay: 0.8, epsilon: 0.1, momentum: 0.7}",
               lambda p: RMSPROP(p, 0.02, alpha=0.8, eps=0.1, momentum=0.7)),
    results_of("rmsprop_centered", "RMSProp", "RMSProp: {learning_rate: 0.02, epsilon: 0.01, centered: true}",
               lambda p: RMSPROP(p, 0.02, eps=0.01, centered=True)),
    results_of("rmsprop_centered_with_momentum", "RMSProp",
               "RMSProp: {decay: 0.8, epsilon: 0.1, momentum: 0.7, centered: true}",
               lambda p: RMSPROP(p, alpha=0.8, eps=0.1, momentum=0.7, centered=True)),
    results_of("scale_gradient", "ScaleGradient", "SGD: {learning_rate: 0.1, gradient: [ScaleGradient: {factors: {b: 3}}]}",
               lambda p: SGD(p, 0.1), lambda p: scale(list(p)[1], 3)),
    results_of("learning_rate_multipliers", "Adam", "Adam: {learning_rate: 0.02, learning_rate_multipliers: {b: 3, a: 0.5}}",
               lambda p: ADAM([{"params": p[:1], "lr": 0.01}, {"params": p[1:], "lr": 0.06}])),
    results_of("clipped_variables", "RMSProp", "RMSProp: {learning_rate: 0.05, clip_variables: 0.3}",
               lambda p: RMSPROP(p, 0.05), limit=0.3),
    results_of("value_clip", "ValueClip", "SGD: {learning_rate: 0.1, gradient: [ValueClip: 0.25]}",
               lambda p: SGD(p, 0.1), lambda p: torch.nn.utils.clip_grad_value_(p, 0.25)),
]
finish("optimizers.json", {"gradient_sizes": GRADIENT_SIZES, "cases": CASES})
