#!/usr/bin/env python3
"""Throughput of the same total batch on one process with all processors, on towers, on ranks, and with PyTorch DDP.

Each way trains in turn, in an order that changes from round to round; the figure is the median of the rounds. Run it on an idle
machine. PyTorch (the Python of TPACK_PYTHON) runs DistributedDataParallel over gloo, one process per tower with one thread each, in each
of the variants of bench/peers/ddp.py.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# config, batch, changes, steps of an epoch
NETWORKS = {
    "mnist-convnet": ("configs/mnist-convnet.yaml", 128, [], 300),
    "cifar-resnet": ("configs/cifar-resnet.yaml", 128, ["vars.n=5"], 20),
}


def ways(parts):
    """Name, options of tpack, changes of the config, and parts of the batch."""
    return [
        ("one process", [], [], 1),
        (f"{parts} towers", [], [f"trainer={{SyncMultiGPU: {{devices: {parts}}}}}"], parts),
        (f"{parts} ranks", ["--procs", str(parts)], ["trainer=Horovod"], parts),
    ]


def tpack(options, network, way, words, settings, parts):
    """Samples per second of all but the first epoch, by the name of the way."""
    config, batch, changes, steps = NETWORKS[network]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="scale_out-"))
    changed = changes + settings + [f"data.train.BatchData.batch_size={batch // parts}", f"steps_per_epoch={steps}",
                                    f"max_epoch={1 + options.epochs}", "callbacks=[ThroughputTracker]"]
    command = [options.tpack, "train", str(ROOT / config), "--log-dir", str(folder / "run"), *words]
    for change in changed:
        command += ["--set", change]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    records = json.loads((folder / "run" / "stats.json").read_text())
    shutil.rmtree(folder)
    return {way: statistics.median(record["samples_per_s"] for record in records[1:])}


def pytorch(options, network, parts):
    """Samples per second of DistributedDataParallel, by variant."""
    _, batch, _, steps = NETWORKS[network]
    command = [options.python, str(ROOT / "bench/peers/ddp.py"), network, "--processes", str(parts), "--batch", str(batch),
               "--steps", str(steps)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    return {f"PyTorch DDP, {variant}": rate for variant, rate in json.loads(done.stdout)["all"].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--tpack", default=str(ROOT / "build/release/tpack"))
    parser.add_argument("--python", default=os.environ.get("TPACK_PYTHON"), help="with PyTorch; without it only tpack runs")
    parser.add_argument("--parts", type=int, default=2, help="towers, ranks, and processes of PyTorch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3, help="timed epochs of each round")
    options = parser.parse_args()
    random.seed(1)
    for network in options.networks:
        results = {}
        for _ in range(options.rounds):
            turns = [lambda way=way: tpack(options, network, *way) for way in ways(options.parts)]
            if options.python:
                turns.append(lambda: pytorch(options, network, options.parts))
            random.shuffle(turns)
            for turn in turns:
                for name, rate in turn().items():
                    results.setdefault(name, []).append(rate)
                    print(f"{network}, {name}: {rate:,.0f} samples/s", file=sys.stderr)
        medians = {name: statistics.median(rates) for name, rates in results.items()}
        alone = medians["one process"]
        peers = {name: rate for name, rate in medians.items() if name.startswith("PyTorch")}
        for name in [way[0] for way in ways(options.parts)] + sorted(peers, key=peers.get, reverse=True):
            rates = results[name]
            text = f"{network:16} {name:32} {medians[name]:10,.0f} samples/s ({min(rates):,.0f} to {max(rates):,.0f})"
            print(f"{text}  {medians[name] / alone:5.3f} of one process", flush=True)


if __name__ == "__main__":
    main()
