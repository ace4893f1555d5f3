#!/usr/bin/env python3
"""Trains networks with tpack and with PyTorch, in turn on this machine, and prints how they compare.

    TPACK_DATASET=DIR TPACK_CIFAR=DIR /path/to/python bench/peers/run.py [NETWORK ...] [--rounds N] [--precision fp32|bf16] [--eager]

The Python must have numpy, torch (2.6 or later) and, for CIFAR-10, pillow; a C++ compiler is needed for torch.compile. Needs a
machine with nothing else running. For each network:

1. PyTorch runs in every variant for a short time: memory layout, eager or compiled, implementation of the optimizer, how the C
   library keeps memory; with all processors, then the fastest ones with each smaller number of threads.
2. In each round tpack and the fastest variants train one after the other, with a seed of the round's own.
3. Where networks.py asks for it, tpack and the best variant train for 100 steps from more seeds, to compare losses.

With --eager, PyTorch runs in two variants only, which are within 5 % of the fastest on machine E of RESULTS.md. With --precision
bf16, tpack trains with that option and PyTorch with autocast. Otherwise tpack runs as it is without options: on all processors, with its data read next to the steps. Every run is a line of the output
file (build/bench/peers.jsonl), the table is next to it (peers.txt); compare.py makes the table, and says what tpack must reach.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys

import compare
from networks import NETWORKS, check_names
from variants import all_variants

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FINALISTS = 3
THREAD_PROBES = 2  # variants that are also tried with fewer threads


class Failed(Exception):
    """A program that ended with an error; says which and why."""


def output_of(words):
    done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise Failed(f"{pathlib.Path(words[0]).name} ended with {done.returncode}: {last}")
    return json.loads(done.stdout)


class Programs:
    """Runs tpack and PyTorch. Both time `steps` steps after the network's warm-up."""

    def __init__(self, tpack, precision="fp32", python=sys.executable):
        self._tpack = tpack
        self._python = python
        self._precision = precision

    def tpack(self, name, seed, steps):
        network = NETWORKS[name]
        words = [self._tpack, "bench", network.config, "--json", "--warm-up", network.warm_up, "--steps", steps,
                 "--precision", self._precision]
        for setting in (f"seed={seed}", *network.settings):
            words += ["--set", setting]
        result = output_of(words)
        return {"name": compare.TPACK, "precision": self._precision, "threads": result["threads"], **result["both"], "peak_rss_mb": result["peak_rss_mb"]}

    def peer(self, name, variant, seed, steps):
        return output_of([self._python, ROOT / "bench/peers/pytorch.py", name, "--seed", seed, "--steps", steps,
                          "--precision", self._precision, *variant.options()])


class Measurement:
    """One network. `write` takes each run as (kind, seed, result)."""

    def __init__(self, name, programs, write, threads, only_eager=False):
        self.name, self.network = name, NETWORKS[name]
        self.programs, self.write, self.threads, self.only_eager = programs, write, threads, only_eager

    def run(self, rounds):
        # tpack times its kernels when it meets a network for the first time; later runs read what it chose.
        self.programs.tpack(self.name, 1, 1)
        finalists = self.choose()
        speeds = {variant: [] for variant in finalists}
        for seed in range(1, rounds + 1):
            self.write("round", seed, self.programs.tpack(self.name, seed, self.network.steps))
            for variant, of in speeds.items():
                result = self.programs.peer(self.name, variant, seed, self.network.steps)
                self.write("round", seed, result)
                of.append(result["samples_per_s"])
        best = max(speeds, key=lambda variant: statistics.median(speeds[variant]))
        for seed in range(rounds + 1, self.network.loss_seeds + 1):
            steps = 100 - self.network.warm_up
            self.write("loss", seed, self.programs.tpack(self.name, seed, steps))
            self.write("loss", seed, self.programs.peer(self.name, best, seed, steps))

    def choose(self):
        """The fastest variants of short runs."""
        if self.only_eager:
            return [v for v in all_variants(self.threads) if (v.execution, v.optimizer, v.memory) == ("eager", "fused", "kept")]
        speeds = {}
        self.probe(all_variants(self.threads), speeds)
        for variant in self.fastest(speeds, THREAD_PROBES):
            self.probe([dataclasses.replace(variant, threads=fewer) for fewer in range(1, self.threads)], speeds)
        if not speeds:
            raise Failed(f"{self.name}: no variant of PyTorch runs")
        return self.fastest(speeds, FINALISTS)

    def probe(self, tried, speeds):
        for variant in tried:
            try:
                result = self.programs.peer(self.name, variant, 1, self.network.probe_steps)
                speeds[variant] = result["samples_per_s"]
            except Failed as failure:
                result = {"name": f"PyTorch {variant}", "failed": str(failure)}
            self.write("probe", 1, result)

    @staticmethod
    def fastest(speeds, count):
        return sorted(speeds, key=speeds.get, reverse=True)[:count]


def recorder(file, name):
    """Writes the runs of a network to the file, and says on stderr how far it is."""

    def write(kind, seed, result):
        print(json.dumps({"network": name, "kind": kind, "seed": seed, "result": result}), file=file, flush=True)
        outcome = result.get("failed") or f"{result['samples_per_s']:,.1f} samples/s"
        print(f"{name}, {kind} {seed}, {result['name']}: {outcome}", file=sys.stderr)

    return write


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"{', '.join(NETWORKS)}; default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--eager", action="store_true", help="PyTorch only eager, with the fused optimizer and memory kept: plain and channels_last")
    parser.add_argument("--tpack", default=ROOT / "build/release/tpack")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench/peers.jsonl")
    options = parser.parse_args()
    check_names(parser, options.networks)
    names = options.networks or list(NETWORKS)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    programs = Programs(os.path.abspath(options.tpack), options.precision)
    with open(options.out, "w") as file:
        for name in names:
            try:
                Measurement(name, programs, recorder(file, name), len(os.sched_getaffinity(0)), options.eager).run(options.rounds)
            except Failed as failure:
                sys.exit(f"error: {failure}")
    lines, reached = compare.report(compare.read(options.out.read_text().splitlines()), names)
    options.out.with_suffix(".txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
