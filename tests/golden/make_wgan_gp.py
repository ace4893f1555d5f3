#!/usr/bin/env python3
"""Makes wgan_gp.json: 10 steps in PyTorch of a critic with a gradient penalty and, in every other step, of its generator. With
--check: compares the file instead. Source: Gulrajani et al. 2017, "Improved Training of Wasserstein GANs"."""
from golden import draw, finish, numbers, summary, weights  # first: it says what is missing
from layer_golden import same
from philox import random_key, uniform_of

import torch
import torch.nn.functional as F

STEPS, BATCH, EVERY, PENALTY = 10, 4, 2, 10.0
INPUTS = {"z": numbers(BATCH, 5), "real": numbers(BATCH, 2, 6, 6, around=0.2, within=0.7)}

MODEL = """
inputs:
  z: {shape: [5], dtype: float32}
  real: {shape: [2, 6, 6], dtype: float32, layout: CHW}
networks:
  generator:
    - FullyConnected: {name: fc, units: 27}
    - Reshape: {shape: [3, 3, 3]}
    - InstanceNorm: {name: norm}
    - ELU
    - Conv2DTranspose: {name: up, filters: 2, kernel: 4, stride: 2, activation: Tanh}
  critic:
    - Conv2D: {name: conv0, filters: 4, stride: 2, activation: LeakyReLU}
    - Conv2D: {name: conv1, filters: 3}
    - LayerNorm: {name: norm}
    - LeakyReLU
    - FullyConnected: {name: fc, units: 1}
layers:
  - Call: {name: fake, network: generator, input: z}
  - RandomUniform: {name: part, shape: [1, 1, 1]}
  - Elementwise: {name: mixed, expression: real + x * (fake - real)}
  - Call: {name: mixed_score, network: critic}
  - Gradient: {name: slope, wrt: mixed}
  - Elementwise: square(x)
  - ReduceSum: {axes: [1, 2, 3]}
  - Elementwise: square(sqrt(x) - 1)
  - ReduceMean: {name: penalty}
  - Call: {name: real_score, network: critic, input: real}
  - Call: {name: fake_score, network: critic, input: fake}
  - ReduceMean: {name: mean_of_fakes}
  - ReduceMean: {name: mean_of_reals, input: real_score}
  - Elementwise: {name: critic_cost, expression: mean_of_fakes - x + 10 * penalty}
  - Elementwise: {name: generator_cost, expression: -mean_of_fakes}
"""

TRAINED = {
    "generator/fc/W": weights(5, 27), "generator/fc/b": numbers(27, within=0.1),
    "generator/norm/beta": numbers(3, within=0.1), "generator/norm/gamma": numbers(3, around=1.0, within=0.5),
    "generator/up/W": weights(3, 2, 4, 4), "generator/up/b": numbers(2, within=0.1),
    "critic/conv0/W": weights(4, 2, 3, 3), "critic/conv0/b": numbers(4, within=0.1),
    "critic/conv1/W": weights(3, 4, 3, 3), "critic/conv1/b": numbers(3, within=0.1),
    "critic/norm/beta": numbers(3, within=0.1), "critic/norm/gamma": numbers(3, around=1.0, within=0.5),
    "critic/fc/W": weights(27, 1), "critic/fc/b": numbers(1, within=0.1),
}
V = {name: draw(f"wgan_gp/{name}", spec).requires_grad_() for name, spec in TRAINED.items()}


def norm(x, name, axes):
    y = (x - x.mean(axes, keepdim=True)) / torch.sqrt(x.var(axes, unbiased=False, keepdim=True) + 1e-5)
    return y * V[f"{name}/gamma"].reshape(1, -1, 1, 1) + V[f"{name}/beta"].reshape(1, -1, 1, 1)


def generate(z):
    x = (z @ V["generator/fc/W"] + V["generator/fc/b"]).reshape(-1, 3, 3, 3)
    x = F.elu(norm(x, "generator/norm", (2, 3)))
    return torch.tanh(F.conv_transpose2d(x, V["generator/up/W"], V["generator/up/b"], stride=2, padding=1))


def score(x):
    x = F.conv2d(same(x, (3, 3), (2, 2)), V["critic/conv0/W"], V["critic/conv0/b"], stride=2)
    x = F.conv2d(F.leaky_relu(x, 0.2), V["critic/conv1/W"], V["critic/conv1/b"], padding="same")
    x = F.leaky_relu(norm(x, "critic/norm", (1, 2, 3)), 0.2)
    return x.flatten(1) @ V["critic/fc/W"] + V["critic/fc/b"]


def critic_cost(real, fake, step):
    part = torch.from_numpy(uniform_of(random_key("part/RandomUniform", step=step), BATCH)).reshape(-1, 1, 1, 1)
    mixed = real + part * (fake - real)
    slope = torch.autograd.grad(score(mixed).sum(), mixed, create_graph=True)[0]
    penalty = (slope.square().sum((1, 2, 3)).sqrt() - 1).square().mean()
    return score(fake).mean() - score(real).mean() + PENALTY * penalty


def run():
    of = {network: [value for name, value in V.items() if name.startswith(network)] for network in ("generator", "critic")}
    optimizers = {network: torch.optim.Adam(values, lr=2e-3, betas=(0.5, 0.9)) for network, values in of.items()}
    costs = []
    for step in range(STEPS):
        z, real = (draw(f"wgan_gp/step{step}/{x}", spec) for x, spec in INPUTS.items())
        for network in ("critic", "generator"):
            if network == "generator" and step % EVERY != 0:
                continue
            fake = generate(z)
            is_critic = network == "critic"
            cost = critic_cost(real, fake.detach().requires_grad_(), step) if is_critic else -score(fake).mean()
            optimizers[network].zero_grad()
            cost.backward(inputs=of[network])
            optimizers[network].step()
            if is_critic:
                costs.append(cost.item())
    return {"costs": costs, "after": {name: summary(f"wgan_gp/after/{name}", value) for name, value in V.items()}}


finish("wgan_gp.json", {"model": MODEL.strip(), "inputs": INPUTS, "variables": TRAINED, **run()})
