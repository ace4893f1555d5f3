#!/usr/bin/env python3
"""Makes optimizers.json: parameters after some steps of PyTorch's optimizers, and of formulas of papers for those that PyTorch 1.13
lacks. With --check: compares the file instead."""
import math

from golden import draw, finish, numbers, summary  # first: it says what is missing
import philox

import torch

SHAPES = {"a": [3], "b": [2]}
# The last gradients are so small that Adam's epsilon matters.
GRADIENT_SIZES = [1.0] * 12 + [1e-3] * 8
# Also no gradient at all, huge ones, and ones below every epsilon.
LONG_GRADIENT_SIZES = GRADIENT_SIZES + [0.0] * 5 + [30.0] * 10 + [1e-9] * 10 + [0.1] * 5
# Variables of several axes, and one that does not fit into a block of a sum.
MATRICES = {"a": [3, 4], "b": [5], "c": [2, 700]}
# Kernels of layers: wide, high, and of a convolution; a vector between them.
KERNELS = {"a": [3, 4], "b": [5], "c": [6, 2, 3, 3], "d": [9, 4]}
SIZES = {"gradient_sizes": GRADIENT_SIZES, "long_gradient_sizes": LONG_GRADIENT_SIZES}


def results_of(name, covers, yaml, make, process=None, limit=None, sizes="gradient_sizes", shapes=None):
    """One case: `make` returns the optimizer for a list of parameters; the gradients are drawn, then `process` changes them. `limit`:
    largest absolute value of the parameters after each step. `sizes`: the list of the file with the sizes of the gradients."""
    shapes = shapes or SHAPES
    key = f"optimizers/{name}"
    start = {p: numbers(*shape) for p, shape in shapes.items()}
    parameters = {p: draw(f"{key}/{p}", spec).requires_grad_() for p, spec in start.items()}
    optimizer = make(list(parameters.values()))
    for step, size in enumerate(SIZES[sizes]):
        for p, shape in shapes.items():
            parameters[p].grad = draw(f"{key}/step{step}/{p}", numbers(*shape, within=size))
        if process is not None:
            process(parameters.values())
        optimizer.step()
        if limit is not None:
            with torch.no_grad():
                for parameter in parameters.values():
                    parameter.clamp_(-limit, limit)
    which = {} if sizes == "gradient_sizes" else {"sizes": sizes}
    return {"name": name, "covers": covers, "yaml": yaml, **which, "parameters": start,
            "results": {p: summary(f"{key}/after/{p}", value) for p, value in parameters.items()}}


def clip_by_global_norm(parameters, norm):
    """TensorFlow's clip_by_global_norm; PyTorch's clip_grad_norm_ adds 1e-6 to the norm that it divides by."""
    total = torch.sqrt(sum(p.grad.square().sum() for p in parameters))
    for p in parameters:
        p.grad *= norm / max(total, norm)


def clip_by_norm(parameters, norm):
    """TensorFlow's clip_by_norm of each gradient."""
    for p in parameters:
        p.grad *= norm / max(p.grad.norm(), norm)


class Noise:
    """Adds the noise of Neelakantan et al. 2015, with the draws of the node `path`, to the gradients; `of` says to which."""
    def __init__(self, path, variance, decay, of=None):
        self.path, self.variance, self.decay, self.of, self.t = path, variance, decay, of, 0

    def __call__(self, parameters):
        begin = 0
        drawn = torch.from_numpy(philox.normal(philox.random_key(self.path, step=self.t), 4096))
        for i, p in enumerate(parameters):
            noise = drawn[begin:begin + p.numel()].reshape(p.shape)
            begin += (p.numel() + 15) // 16 * 16  # variables begin on a boundary of 16 elements
            if self.of is None or i in self.of:
                p.grad += math.sqrt(self.variance / (1 + self.t) ** self.decay) * noise
        self.t += 1


def scale(parameter, factor):
    parameter.grad *= factor


def long(name, covers, yaml, make, process=None, shapes=None):
    return results_of(name, covers, yaml, make, process, sizes="long_gradient_sizes", shapes=shapes)


def of_matrices(name, covers, yaml, make, process=None):
    return long(name, covers, yaml, make, process, MATRICES)


class Formula:
    """An optimizer that computes `update(p, g, state, t)` for each parameter: the new value. A state begins with zeros. `of`: further
    arguments of each parameter, by its number."""
    def __init__(self, parameters, update, *of):
        self.parameters, self.update, self.of, self.t = parameters, update, of, 0
        self.states = [{} for _ in parameters]

    def step(self):
        self.t += 1
        with torch.no_grad():
            for i, (p, state) in enumerate(zip(self.parameters, self.states)):
                p.copy_(self.update(p.clone(), p.grad, State(state), self.t, *(values[i] for values in self.of)))


class Lookahead:
    """Algorithm 1 of Zhang et al. 2019 around an optimizer; `limit` of all parameters, also of the slow ones."""
    def __init__(self, parameters, make, steps, alpha, limit=math.inf):
        self.parameters, self.inner, self.steps, self.alpha, self.limit, self.t = parameters, make(parameters), steps, alpha, limit, 0
        self.slow = [p.detach().clone().clamp(-limit, limit) for p in parameters]

    def step(self):
        self.inner.step()
        self.t += 1
        with torch.no_grad():
            for p, slow in zip(self.parameters, self.slow):
                p.clamp_(-self.limit, self.limit)
                if self.t % self.steps == 0:
                    slow += self.alpha * (p - slow)
                    p.copy_(slow)


class State:
    """Tensors by name, zeros at first."""
    def __init__(self, values):
        self.values = values

    def mean(self, name, value, beta):
        self.values[name] = beta * self.values.get(name, torch.zeros_like(value)) + (1 - beta) * value
        return self.values[name]

    def get(self, name, like):
        return self.values.get(name, torch.zeros_like(like))


def nadam(p, g, state, t, lr=2e-3, beta1=0.9, beta2=0.999, epsilon=1e-8, momentum_decay=4e-3):
    """torch.optim.NAdam of PyTorch 2; that of 1.13 multiplies one factor twice. Dozat 2016."""
    def mu(step):
        return beta1 * (1 - 0.5 * 0.96 ** (step * momentum_decay))
    product = math.prod(mu(step) for step in range(1, t + 1))
    m, v = state.mean("m", g, beta1), state.mean("v", g * g, beta2)
    root = (v / (1 - beta2 ** t)).sqrt() + epsilon
    p = p - lr * (1 - mu(t)) / (1 - product) * g / root
    return p - lr * mu(t + 1) / (1 - product * mu(t + 1)) * m / root


def lion(p, g, state, _, decay, lr=1e-4, beta1=0.9, beta2=0.99):
    """Algorithm 2 of Chen et al. 2023."""
    direction = torch.sign(beta1 * state.get("m", g) + (1 - beta1) * g)
    state.mean("m", g, beta2)
    return p - lr * (direction + decay * p)


def decoupled_sgd(p, g, state, _, decay, lr, momentum, nesterov):
    """Algorithm 1 (SGDW) of Loshchilov and Hutter 2017, with the learning rate as the multiplier of the decay."""
    velocity = momentum * state.get("v", g) + g
    state.values["v"] = velocity
    return p - lr * (g + momentum * velocity if nesterov else velocity) - lr * decay * p


def trust_ratio(p, size, scale=1.0):
    """1 where one of the norms is 0."""
    return float(scale * p.norm() / size) if p.norm() > 0 and size > 0 else 1.0


def lars(p, g, state, _, adapts, lr, decay, momentum=0.9, trust=1e-3):
    """Algorithm 1 of You et al. 2017."""
    decay = decay if adapts else 0
    rate = lr * (trust_ratio(p, g.norm() + decay * p.norm(), trust) if adapts else 1)
    velocity = momentum * state.get("v", g) + rate * (g + decay * p)
    state.values["v"] = velocity
    return p - velocity


def lamb(p, g, state, t, adapts, lr, decay, beta1=0.9, beta2=0.999, epsilon=1e-6):
    """Algorithm 2 of You et al. 2020."""
    m, v = state.mean("m", g, beta1), state.mean("v", g * g, beta2)
    step = m / (1 - beta1 ** t) / ((v / (1 - beta2 ** t)).sqrt() + epsilon) + (decay * p if adapts else 0)
    return p - lr * (trust_ratio(p, step.norm()) if adapts else 1) * step


def orthogonal(u, steps):
    """Newton-Schulz steps with the coefficients of Jordan et al. 2024; as the source, but in full precision."""
    x = u.T if u.shape[0] > u.shape[1] else u
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.T if u.shape[0] > u.shape[1] else x


def muon(p, g, state, t, kind, lr, decay, others_rate=1.0, momentum=0.95, nesterov=True, steps=5, original=False, beta1=0.9,
         beta2=0.999, epsilon=1e-8):
    """Jordan et al. 2024, as torch.optim.Muon of PyTorch 2.9, which 1.13 lacks. `kind`: "dense" [inputs, outputs], "conv" [outputs,
    inputs, height, width], or "other", by AdamW."""
    if kind == "other":
        m, v = state.mean("m", g, beta1), state.mean("v", g * g, beta2)
        step = m / (1 - beta1 ** t) / ((v / (1 - beta2 ** t)).sqrt() + epsilon)
        return p - lr * others_rate * (step + decay * p)
    m = state.mean("m", g, momentum)
    u = (momentum * m + (1 - momentum) * g if nesterov else m).reshape(p.shape[0], -1)
    u = u.T if kind == "dense" else u
    outputs, inputs = u.shape
    ratio = math.sqrt(max(1, outputs / inputs)) if original else 0.2 * math.sqrt(max(outputs, inputs))
    step = orthogonal(u, steps)
    return p - lr * decay * p - lr * ratio * (step.T if kind == "dense" else step).reshape(p.shape)


def adafactor(p, g, state, t, decay, lr=1e-2, power=0.8, epsilon=1.1920929e-7, least_size=1e-3, clip=1.0):
    """Shazeer and Stern 2018 as torch.optim.Adafactor of PyTorch 2.5, which 1.13 lacks; its default of epsilon is that of the type."""
    def moved(name, value):
        state.values[name] = torch.lerp(state.get(name, value), value, t ** -power)
        return state.values[name]
    if p.dim() > 1:
        rows = moved("rows", (g * g).mean(-1, keepdim=True))
        v = rows @ moved("columns", (g * g).mean(-2, keepdim=True)) / rows.mean(-2, keepdim=True).clamp(min=epsilon)
    else:
        v = moved("v", g * g)
    step = g * v.clamp(min=epsilon ** 2).rsqrt()
    size = max(least_size, float(p.norm()) / math.sqrt(p.numel()))
    step = step / max(1.0, float(step.norm()) / math.sqrt(p.numel()) / clip)
    return p - lr * decay * p - min(lr, 1 / math.sqrt(t)) * size * step


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
    long("sgd_with_decay", "SGD", "SGD: {learning_rate: 0.02, decoupled_weight_decay: 0.3, exclude: [b]}",
         lambda p: Formula(p, lambda *x: decoupled_sgd(*x, 0.02, 0, False), [0.3, 0])),
    long("momentum_with_decay", "Momentum", "Momentum: {learning_rate: 0.02, momentum: 0.8, decoupled_weight_decay: 0.3}",
         lambda p: Formula(p, lambda *x: decoupled_sgd(*x, 0.02, 0.8, False), [0.3, 0.3])),
    long("nesterov_with_decay", "Momentum",
         "Momentum: {learning_rate: 0.02, momentum: 0.8, nesterov: true, decoupled_weight_decay: 0.3, exclude: [a]}",
         lambda p: Formula(p, lambda *x: decoupled_sgd(*x, 0.02, 0.8, True), [0, 0.3])),
    long("adam_amsgrad", "Adam", "Adam: {learning_rate: 0.02, beta2: 0.9, amsgrad: true}",
         lambda p: ADAM(p, 0.02, betas=(0.9, 0.9), amsgrad=True)),
    long("adamw_amsgrad", "AdamW", "AdamW: {learning_rate: 0.02, beta2: 0.9, amsgrad: true}",
         lambda p: ADAMW(p, 0.02, betas=(0.9, 0.9), amsgrad=True)),
    long("adagrad", "Adagrad", "Adagrad", lambda p: torch.optim.Adagrad(p)),
    long("adagrad_with_initial_sum", "Adagrad", "Adagrad: {learning_rate: 0.1, initial_sum: 0.5, epsilon: 0.01}",
         lambda p: torch.optim.Adagrad(p, 0.1, initial_accumulator_value=0.5, eps=0.01)),
    long("adadelta", "Adadelta", "Adadelta", lambda p: torch.optim.Adadelta(p)),
    long("adadelta_with_large_epsilon", "Adadelta", "Adadelta: {learning_rate: 0.5, decay: 0.8, epsilon: 0.01}",
         lambda p: torch.optim.Adadelta(p, 0.5, rho=0.8, eps=0.01)),
    long("adamax", "Adamax", "Adamax", lambda p: torch.optim.Adamax(p)),
    long("adamax_with_large_epsilon", "Adamax", "Adamax: {learning_rate: 0.02, beta1: 0.8, beta2: 0.9, epsilon: 0.1}",
         lambda p: torch.optim.Adamax(p, 0.02, betas=(0.8, 0.9), eps=0.1)),
    long("nadam", "NAdam", "NAdam", lambda p: Formula(p, nadam)),
    long("nadam_with_large_epsilon", "NAdam",
         "NAdam: {learning_rate: 0.02, beta1: 0.8, beta2: 0.95, epsilon: 0.1, momentum_decay: 0.5}",
         lambda p: Formula(p, lambda *x: nadam(*x, 0.02, 0.8, 0.95, 0.1, 0.5))),
    long("radam", "RAdam", "RAdam", lambda p: torch.optim.RAdam(p)),
    long("radam_with_large_epsilon", "RAdam", "RAdam: {learning_rate: 0.02, beta1: 0.8, beta2: 0.95, epsilon: 0.1}",
         lambda p: torch.optim.RAdam(p, 0.02, betas=(0.8, 0.95), eps=0.1)),
    long("radam_that_is_never_reliable", "RAdam", "RAdam: {learning_rate: 0.02, beta2: 0.6}",
         lambda p: torch.optim.RAdam(p, 0.02, betas=(0.9, 0.6))),
    # In 50 equal steps, roundings of floats add up.
    results_of("lion", "Lion", "Lion", lambda p: Formula(p, lion, [0, 0])),
    long("lion_with_decay", "Lion",
         "Lion: {learning_rate: 0.02, beta1: 0.8, beta2: 0.95, weight_decay: 0.5, exclude: [b]}",
         lambda p: Formula(p, lambda *x: lion(*x, 0.02, 0.8, 0.95), [0.5, 0])),
    of_matrices("lars", "LARS", "LARS", lambda p: Formula(p, lambda *x: lars(*x, 1, 0), [True, False, True])),
    of_matrices("lars_with_decay", "LARS",
                "LARS: {learning_rate: 0.5, momentum: 0.7, trust: 0.02, weight_decay: 0.3, exclude: [a]}",
                lambda p: Formula(p, lambda *x: lars(*x, 0.5, 0.3, 0.7, 0.02), [False, False, True])),
    of_matrices("lars_of_all", "LARS", "LARS: {trust: 0.02, weight_decay: 0.3, adapt_vectors: true}",
                lambda p: Formula(p, lambda *x: lars(*x, 1, 0.3, trust=0.02), [True, True, True])),
    of_matrices("lamb", "LAMB", "LAMB", lambda p: Formula(p, lambda *x: lamb(*x, 1e-3, 0), [True, False, True])),
    of_matrices("lamb_with_decay", "LAMB",
                "LAMB: {learning_rate: 0.02, beta1: 0.8, beta2: 0.95, epsilon: 0.1, weight_decay: 0.3, exclude: [a]}",
                lambda p: Formula(p, lambda *x: lamb(*x, 0.02, 0.3, 0.8, 0.95, 0.1), [False, False, True])),
    of_matrices("lamb_of_all", "LAMB", "LAMB: {learning_rate: 0.02, weight_decay: 0.3, adapt_vectors: true}",
                lambda p: Formula(p, lambda *x: lamb(*x, 0.02, 0.3), [True, True, True])),
    long("adafactor", "Adafactor", "Adafactor", lambda p: Formula(p, adafactor, [0, 0, 0, 0]), shapes=KERNELS),
    long("adafactor_with_decay", "Adafactor",
         "Adafactor: {learning_rate: 0.3, decay: 0.5, epsilon: 0.01, least_size: 0.7, clip: 1.2, weight_decay: 0.1, exclude: [a]}",
         lambda p: Formula(p, lambda *x: adafactor(*x, 0.3, 0.5, 0.01, 0.7, 1.2), [0, 0.1, 0.1, 0.1]), shapes=KERNELS),
    long("lookahead", "Momentum", "Momentum: {learning_rate: 0.02, lookahead: {}}",
         lambda p: Lookahead(p, lambda q: SGD(q, 0.02, momentum=0.9), 5, 0.5)),
    long("lookahead_with_limit", "Adam", "Adam: {learning_rate: 0.02, clip_variables: 0.3, lookahead: {steps: 3, alpha: 0.8}}",
         lambda p: Lookahead(p, lambda q: ADAM(q, 0.02), 3, 0.8, 0.3)),
    long("muon", "Muon", "Muon", lambda p: Formula(p, lambda *x: muon(*x, 1e-3, 0.01), ["dense", "other", "conv", "dense"]),
         shapes=KERNELS),
    long("muon_original", "Muon",
         "Muon: {learning_rate: 0.002, adjust: original, others: [d], others_rate: 0.15, weight_decay: 0.3, nesterov: false, steps: 3, "
         "momentum: 0.8, beta1: 0.8, beta2: 0.95, epsilon: 0.1}",
         lambda p: Formula(p, lambda *x: muon(*x, 0.002, 0.3, 0.15, 0.8, False, 3, True, 0.8, 0.95, 0.1),
                           ["dense", "other", "conv", "other"]), shapes=KERNELS),
    of_matrices("variable_norm_clip", "VariableNormClip", "SGD: {learning_rate: 0.1, gradient: [VariableNormClip: 0.9]}",
                lambda p: SGD(p, 0.1), lambda p: clip_by_norm(p, 0.9)),
    of_matrices("variable_norm_clip_of_some", "VariableNormClip",
                "SGD: {learning_rate: 0.1, gradient: [VariableNormClip: {norm: 0.9, variables: [a, b]}]}",
                lambda p: SGD(p, 0.1), lambda p: clip_by_norm(list(p)[:2], 0.9)),
    of_matrices("gradient_noise", "GradientNoise", "Momentum: {learning_rate: 0.1, gradient: [GradientNoise]}",
                lambda p: SGD(p, 0.1, momentum=0.9), Noise("RandomNormal", 0.01, 0.55)),
    of_matrices("gradient_noise_of_some", "GradientNoise",
                "SGD: {learning_rate: 0.1, gradient: [GradientNoise: {variance: 1, decay: 0.1, variables: [b, c]}]}",
                lambda p: SGD(p, 0.1), Noise("RandomNormal", 1, 0.1, of=[1, 2])),
]
finish("optimizers.json", {**SIZES, "cases": CASES})
