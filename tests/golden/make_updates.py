#!/usr/bin/env python3
"""Makes two_updates.json: 20 steps in PyTorch of the two networks of two_updates.yaml: with batch normalization in both networks,
and without; with the generator in every other step, and with turns (rounds of two steps of the discriminator and one of the
generator). With --check: compares the file instead."""
from golden import draw, finish, numbers, summary, weights  # first: it says what is missing

import torch
import torch.nn.functional as F

STEPS, BATCH = 20, 8
NAMES = ("plain", "normalized", "turns")
DUE = {"plain": {"d": [0, 1], "g": [0]}, "normalized": {"d": [0, 1], "g": [0]}, "turns": {"d": [0, 1], "g": [2]}}
ROUND = {"plain": 2, "normalized": 2, "turns": 3}


class Networks:
    """A generator of 6 numbers from 4, and a discriminator of its output."""

    def __init__(self, name):
        self.name = name
        self.normalized = name == "normalized"
        self.trained = {
            "generator/fc0/W": weights(4, 8), "generator/fc0/b": numbers(8, within=0.1),
            "generator/fc1/W": weights(8, 6), "generator/fc1/b": numbers(6, within=0.1),
            "discriminator/fc0/W": weights(6, 8), "discriminator/fc0/b": numbers(8, within=0.1),
            "discriminator/fc1/W": weights(8, 1), "discriminator/fc1/b": numbers(1, within=0.1),
        }
        self.averages = {}
        if self.normalized:  # it replaces the biases before it
            for network in ("generator", "discriminator"):
                del self.trained[f"{network}/fc0/b"]
                self.trained[f"{network}/bn/0/batch_norm_0/beta"] = numbers(8, within=0.1)
                self.trained[f"{network}/bn/0/batch_norm_0/gamma"] = numbers(8, around=1.0, within=0.5)
                self.averages[f"{network}/bn/0/batch_norm_0/mean/EMA"] = numbers(8, within=0.1)
                self.averages[f"{network}/bn/0/batch_norm_0/variance/EMA"] = numbers(8, around=1.0, within=0.5)
        self.v = {name: draw(f"{self.key}/{name}", spec) for name, spec in {**self.trained, **self.averages}.items()}
        self.moving = ""  # the network whose averages move now

    @property
    def key(self):
        return f"two_updates/{self.name}"

    def dense(self, x, name):
        return x @ self.v[f"{name}/W"] + self.v.get(f"{name}/b", 0)

    def norm(self, x, network):
        if not self.normalized:
            return x
        if network == self.moving:
            with torch.no_grad():
                for which, batch in (("mean", x.mean(0)), ("variance", x.var(0, unbiased=False))):
                    average = self.v[f"{network}/bn/0/batch_norm_0/{which}/EMA"]
                    average.copy_(0.9 * average + 0.1 * batch)
        gamma, beta = self.v[f"{network}/bn/0/batch_norm_0/gamma"], self.v[f"{network}/bn/0/batch_norm_0/beta"]
        return F.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-5)

    def generate(self, z):
        return torch.tanh(self.dense(F.relu(self.norm(self.dense(z, "generator/fc0"), "generator")), "generator/fc1"))

    def score(self, x):
        hidden = F.leaky_relu(self.norm(self.dense(x, "discriminator/fc0"), "discriminator"), 0.2)
        return self.dense(hidden, "discriminator/fc1")

    def run(self):
        of = {network: {n: self.v[n].requires_grad_() for n in self.trained if n.startswith(network)}
              for network in ("generator", "discriminator")}
        optimizers = {"d": torch.optim.SGD(of["discriminator"].values(), lr=0.05, momentum=0.9),
                      "g": torch.optim.Adam(of["generator"].values(), lr=0.01)}
        costs = {"d": [], "g": []}
        for step in range(STEPS):
            z, real = (draw(f"{self.key}/step{step}/{x}", spec) for x, spec in self.inputs().items())
            for update, network in (("d", "discriminator"), ("g", "generator")):
                if step % ROUND[self.name] not in DUE[self.name][update]:
                    continue
                self.moving = network
                fake_score = self.score(self.generate(z))
                real_score = self.score(real)  # second, as in the file: averages move in this order
                if update == "d":
                    cost = (F.binary_cross_entropy_with_logits(real_score, torch.ones_like(real_score))
                            + F.binary_cross_entropy_with_logits(fake_score, torch.zeros_like(fake_score)))
                else:
                    cost = F.binary_cross_entropy_with_logits(fake_score, torch.ones_like(fake_score))
                optimizer = optimizers[update]
                optimizer.zero_grad()
                cost.backward(inputs=list(of[network].values()))
                optimizer.step()
                costs[update].append(cost.item())
        after = {name: summary(f"{self.key}/after/{name}", value) for name, value in self.v.items()}
        return {"variables": {**self.trained, **self.averages}, "costs": costs, "after": after}

    @staticmethod
    def inputs():
        return {"z": numbers(BATCH, 4), "real": numbers(BATCH, 6, around=0.3, within=0.4)}


finish("two_updates.json", {"config": "tests/golden/two_updates.yaml", "inputs": Networks.inputs(),
                            **{name: Networks(name).run() for name in NAMES}})
