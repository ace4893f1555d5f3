#!/usr/bin/env python3
"""Trains a network of models.py or gans.py with PyTorch and prints speed, loss and memory as one JSON object.

A timed step is: bytes to floats, forward, cost, backward, optimizer. It is the work of the step that `tpack bench` times as
"both", but for the data, which lie in memory, in order, before the first step. No step reads a result back.
"""
import argparse
import dataclasses
import json
import os
import resource
import statistics
import sys
import time

from networks import NETWORKS
from variants import CHOICES, Variant

# The C library gives large blocks back to the system when they are freed, and each step then takes thousands of page faults.
KEEP_MEMORY = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1000000000000:glibc.malloc.hugetlb=1"
PRECISIONS = ("fp32", "high", "bf16")  # as they are; products in high precision; autocast
OPTIMIZERS = {"fused": {"fused": True}, "foreach": {"foreach": True}, "compiled": {"foreach": True}}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    for name, choices in CHOICES.items():
        parser.add_argument(f"--{name}", choices=choices, default=choices[0])
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--steps", type=int, help="steps to time")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def peak_rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


class How:
    """What a variant means to PyTorch."""

    def __init__(self, torch, variant, precision):
        self.layout = torch.channels_last if variant.layout == "channels_last" else torch.contiguous_format
        self.compiled = torch.compile if variant.execution == "compile" else lambda f: f
        self.compiled_update = torch.compile if variant.optimizer == "compiled" else lambda f: f
        self.optimizer = OPTIMIZERS[variant.optimizer]
        self.autocast = torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16")


class Supervised:
    """A network with one cost. `networks` are what is trained; `step` trains on a batch and returns its cost, without what weight
    decay stands for, as tpack's cost is."""

    def __init__(self, training, how):
        model = training.model().to(memory_format=how.layout)
        self.networks = [model]
        self.optimizer = training.make_optimizer(model, **how.optimizer)
        self.update = how.compiled_update(self.optimizer.step)

        def cost(images, labels):
            with how.autocast:
                return training.cost(model(images.float().mul_(training.scale).add_(training.offset)), labels)

        self.cost = how.compiled(cost)

    def step(self, images, labels):
        loss = self.cost(images, labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.update()
        return loss.detach()


def run(options, variant):
    """The result as a dictionary."""
    import torch

    from data import batches
    from gans import GANS
    from models import TRAININGS

    # Before the first parallel work: threads take this setting from the one that starts them.
    torch.set_flush_denormal(True)
    torch.set_num_interop_threads(1)
    torch.set_num_threads(variant.threads)
    torch.manual_seed(options.seed)
    if options.precision == "high":
        torch.set_float32_matmul_precision("high")
    after_import_mb = peak_rss_mb()

    name, network = options.network, NETWORKS[options.network]
    how = How(torch, variant, options.precision)
    steps = network.warm_up + (options.steps or network.steps)
    data = [(torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(memory_format=how.layout), torch.from_numpy(labels))
            for images, labels in batches(name, network.batch, steps, options.seed)]
    session = GANS[name](how) if name in GANS else Supervised(TRAININGS[name], how)

    losses, seconds = [], []
    for step in range(steps):
        if step == network.warm_up and variant.compiles:
            torch.compiler.set_stance("fail_on_recompile")
        batch = data[step % len(data)]
        began = time.perf_counter()
        losses.append(session.step(*batch))
        seconds.append(time.perf_counter() - began)

    return {
        "name": f"PyTorch {variant}",
        "precision": options.precision,
        "build": f"PyTorch {torch.__version__}, CUDA libraries: {torch.version.cuda or 'none'}",
        "samples_per_s": network.batch / statistics.median(seconds[network.warm_up:]),
        "loss_81_to_100": statistics.mean(float(loss) for loss in losses[80:100]) if steps >= 100 else None,
        "parameters": sum(p.numel() for model in session.networks for p in model.parameters()),
        "after_import_mb": after_import_mb,
        "peak_rss_mb": peak_rss_mb(),
    }


def main():
    options = parse()
    if options.memory == "kept" and os.environ.get("GLIBC_TUNABLES") != KEEP_MEMORY:
        # The C library reads this once, when the process starts.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "GLIBC_TUNABLES": KEEP_MEMORY})
    variant = Variant(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Variant)})
    print(json.dumps(run(options, variant)))


if __name__ == "__main__":
    main()
