#!/usr/bin/env python3
"""Training speed next to busy processes, as a share of the speed on a quiet machine.

    TPACK_DATASET=... TPACK_CIFAR=... bench/neighbors.py [--tpack PROGRAM] [--rounds 3] [--set KEY=YAML ...]

Trains two configs next to 0, 1 and 2 processes that only count (a Python loop each), in turn, and prints the medians over the
rounds. Needs a machine with nothing else running. Fails where a share is below what it must reach on two cores.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST = {0: 1.0, 1: 0.5, 2: 0.3}  # of the quiet speed, by the number of neighbors
EXPERIMENTS = {  # name: config, settings, steps of an epoch
    "mnist-convnet": ("configs/mnist-convnet.yaml", [], 300),
    "cifar-resnet n=5, batch 128": ("configs/cifar-resnet.yaml",
                                    ["vars.n=5", "data.train.BatchData.batch_size=128"], 30),
}


def train(program, config, settings, steps):
    """Samples per second of the second of two epochs."""
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "train", os.path.join(ROOT, config), "--log-dir", folder + "/run", "--set", "max_epoch=2",
                 "--set", f"steps_per_epoch={steps}", "--set", "callbacks=[]"]
        for setting in settings:
            words += ["--set", setting]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(folder + "/run/stats.json") as file:
            return json.load(file)[-1]["samples_per_s"]


def next_to(neighbors, work):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(neighbors)]
    try:
        return work()
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=os.path.join(ROOT, "build/release/tpack"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=YAML")
    options = parser.parse_args()
    missed = False
    for name, (config, settings, steps) in EXPERIMENTS.items():
        speeds = {neighbors: [] for neighbors in LEAST}
        for _ in range(options.rounds):
            for neighbors, of in speeds.items():
                of.append(next_to(neighbors, lambda: train(options.tpack, config, settings + options.settings, steps)))
        quiet = statistics.median(speeds[0])
        for neighbors, of in speeds.items():
            share = statistics.median(of) / quiet
            missed |= share < LEAST[neighbors]
            print(f"{name}, {neighbors} neighbors: {statistics.median(of):,.0f} samples/s ({min(of):,.0f} to {max(of):,.0f}), "
                  f"{share:.2f} of the quiet speed (at least {LEAST[neighbors]}){': MISSED' if share < LEAST[neighbors] else ''}",
                  flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
