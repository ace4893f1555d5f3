#!/usr/bin/env python3
"""Trains a network of models.py with PyTorch and prints speed, loss and memory as one JSON object.

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


def run(options, variant):
    """The result as a dictionary."""
    import torch

    from data import batches
    from models import TRAININGS

    # Before the first parallel work: threads take this setting from the one that starts them.
    torch.set_flush_denormal(True)
    torch.set_num_interop_threads(1)
    torch.set_num_threads(variant.threads)
    torch.manual_seed(options.seed)
    if options.precision == "high":
        torch.set_float32_matmul_precision("high")
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bf16")
    after_import_mb = peak_rss_mb()

    network, training = NETWORKS[options.network], TRAININGS[options.network]
    steps = network.warm_up + (options.steps or network.steps)
    layout = torch.channels_last if variant.layout == "channels_last" else torch.contiguous_format
    data = [(torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(memory_format=layout), torch.from_numpy(labels))
            for images, labels in batches(options.network, network.batch, steps, options.seed)]
    model = training.model().to(memory_format=layout)
    optimizer = training.make_optimizer(model, **OPTIMIZERS[variant.optimizer])

    def cost(images, labels):
        with autocast:
            return training.cost(model(images.float().mul_(training.scale).add_(training.offset)), labels)

    update = optimizer.step
    if variant.execution == "compile":
        cost = torch.compile(cost)
    if variant.optimizer == "compiled":
        update = torch.compile(update)

    losses, seconds = [], []  # losses without what weight decay stands for, as tpack's cost is
    for step in range(steps):
        if step == network.warm_up and variant.compiles:
            torch.compiler.set_stance("fail_on_recompile")
        images, labels = data[step % len(data)]
        began = time.perf_counter()
        loss = cost(images, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        update()
        seconds.append(time.perf_counter() - began)
        losses.append(loss.detach())

    return {
        "name": f"PyTorch {variant}",
        "precision": options.precision,
        "build": f"PyTorch {torch.__version__}, CUDA libraries: {torch.version.cuda or 'none'}",
        "samples_per_s": network.batch / statistics.median(seconds[network.warm_up:]),
        "loss_81_to_100": statistics.mean(float(loss) for loss in losses[80:100]) if steps >= 100 else None,
        "parameters": sum(p.numel() for p in model.parameters()),
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
