#!/usr/bin/env python3
"""Trains a network of models.py with PyTorch's DistributedDataParallel over gloo and prints the speed as one JSON object.

Each process has one thread, a processor and an equal part of the batch. A timed step is that of pytorch.py. With --layout and
--execution unset, all their combinations run in turn, and the fastest counts.
"""
import argparse
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import time

from pytorch import KEEP_MEMORY

NAMES = {"cifar-resnet": "cifar-resnet-32"}  # of bench/scale_out.py


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--batch", type=int, default=128, help="of all processes together")
    parser.add_argument("--steps", type=int, default=50, help="steps to time")
    parser.add_argument("--layout", choices=["plain", "channels_last"])
    parser.add_argument("--execution", choices=["eager", "compile"])
    parser.add_argument("--rank", type=int, help="for the processes that this program starts")
    parser.add_argument("--port", type=int)
    return parser.parse_args()


def train(options):
    """Median seconds of a step, of this rank."""
    import torch
    import torch.distributed
    from torch.nn.parallel import DistributedDataParallel

    from data import batches
    from models import TRAININGS

    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[options.rank % len(processors)]})
    torch.set_flush_denormal(True)
    torch.set_num_interop_threads(1)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}", rank=options.rank,
                                         world_size=options.processes)
    network = NAMES.get(options.network, options.network)
    training = TRAININGS[network]
    warm_up, part = 10, options.batch // options.processes
    layout = torch.channels_last if options.layout == "channels_last" else torch.contiguous_format
    data = [(torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(memory_format=layout), torch.from_numpy(labels))
            for images, labels in batches(network, part, warm_up + options.steps, 1 + options.rank)]
    plain = training.model().to(memory_format=layout)
    optimizer = training.make_optimizer(plain, fused=True)
    model = DistributedDataParallel(plain, gradient_as_bucket_view=True)
    if options.execution == "compile":
        model = torch.compile(model)
    seconds = []
    for step in range(warm_up + options.steps):
        images, labels = data[step % len(data)]
        began = time.perf_counter()
        loss = training.cost(model(images.float().mul_(training.scale).add_(training.offset)), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - began)
    torch.distributed.destroy_process_group()
    return statistics.median(seconds[warm_up:])


def run(options, layout, execution):
    """Samples per second of all processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "GLIBC_TUNABLES": KEEP_MEMORY, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [subprocess.Popen([sys.executable, *sys.argv, "--rank", str(rank), "--port", str(port), "--layout", layout,
                               "--execution", execution], env=environment, stdout=subprocess.PIPE, text=True)
             for rank in range(options.processes)]
    outputs = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("a process of PyTorch failed")
    return options.batch / max(float(output) for output in outputs)


def main():
    options = parse()
    if options.rank is not None:
        print(train(options))
        return
    layouts = [options.layout] if options.layout else ["plain", "channels_last"]
    executions = [options.execution] if options.execution else ["eager", "compile"]
    found = {f"{layout}, {execution}": run(options, layout, execution)
             for layout, execution in itertools.product(layouts, executions)}
    best = max(found, key=found.get)
    print(json.dumps({"name": f"PyTorch DDP, {best}", "samples_per_s": found[best], "all": found}))


if __name__ == "__main__":
    main()
