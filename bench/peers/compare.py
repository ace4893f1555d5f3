#!/usr/bin/env python3
"""Prints a table from the lines that run.py wrote: speeds, losses and memory of tpack and of its peers, and tpack against the
best peer. Exits with 1 where tpack misses what networks.py asks for, and says what.

    bench/peers/compare.py FILE [NETWORK ...]

A network that is named must be in the file; without names those in the file are judged. A line of the file is one run:
{"network": NAME, "kind": "probe" | "round" | "loss", "seed": N, "result": {...}}. Speeds and memory are those of rounds, losses
those of rounds and of runs that only compare losses. The best peer is the variant with the highest median speed.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import statistics
import sys

from networks import NETWORKS, check_names

TPACK = "tpack"
NO_VALUE = "-"


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


class Losses:
    """Mean losses of steps 81 to 100, one per seed."""

    def __init__(self, by_seed):
        self.values = list(by_seed.values())
        self.mean = statistics.mean(self.values) if self.values else math.nan
        self.deviation = statistics.stdev(self.values) if len(self.values) > 1 else math.nan

    @property
    def variance_of_mean(self):
        return self.deviation**2 / len(self.values) if len(self.values) > 1 else math.nan


class Program:
    """The runs of one program, in one variant, on one network."""

    def __init__(self, name):
        self.name = name
        self.speeds, self.peaks_mb, self.after_import_mb = [], [], None
        self.losses_by_seed = {}

    def add(self, kind, seed, result):
        if kind == "round":
            self.speeds.append(result["samples_per_s"])
            self.peaks_mb.append(result["peak_rss_mb"])
            self.after_import_mb = result.get("after_import_mb")
        if result["loss_81_to_100"] is not None:
            self.losses_by_seed[seed] = result["loss_81_to_100"]

    @property
    def speed(self):
        return statistics.median(self.speeds)

    @property
    def losses(self):
        return Losses(self.losses_by_seed)


class Comparison:
    """tpack and its peers on one network."""

    def __init__(self):
        self.programs = {}
        self.tried = {}  # name -> speed in a short run
        self.failed = {}  # name -> why
        self.builds = set()
        self.precision = "fp32"

    def add(self, kind, seed, result):
        name = result["name"]
        if "failed" in result:
            self.failed[name] = result["failed"]
            return
        if "build" in result:
            self.builds.add(result["build"])
        self.precision = result.get("precision", self.precision)
        if kind == "probe":
            self.tried[name] = result["samples_per_s"]
        else:
            self.programs.setdefault(name, Program(name)).add(kind, seed, result)

    @property
    def complete(self):
        """Whether rounds of tpack and of a peer are there."""
        ran = [program.name for program in self.programs.values() if program.speeds]
        return TPACK in ran and len(ran) > 1

    @property
    def tpack(self):
        return self.programs[TPACK]

    @property
    def best_peer(self):
        return max((p for p in self.programs.values() if p.name != TPACK and p.speeds), key=lambda p: p.speed)

    @property
    def ratio(self):
        return self.tpack.speed / self.best_peer.speed

    @property
    def loss_difference(self):
        """(relative difference of the mean losses, its standard error); NaN where there are too few."""
        ours, peers = self.tpack.losses, self.best_peer.losses
        return ours.mean / peers.mean - 1, math.sqrt(ours.variance_of_mean + peers.variance_of_mean) / peers.mean


def read(lines):
    """Comparisons by network."""
    found = collections.defaultdict(Comparison)
    for line in lines:
        entry = json.loads(line)
        found[entry["network"]].add(entry["kind"], entry["seed"], entry["result"])
    return dict(found)


def number(value, pattern):
    return NO_VALUE if value is None or math.isnan(value) else format(value, pattern)


COLUMNS = ("samples/s", "min", "max", "loss", "min", "max", "std", "seeds", "peak MB", "import MB")


def row(program):
    losses = program.losses
    low, high = (min(losses.values), max(losses.values)) if losses.values else (math.nan, math.nan)
    return (number(program.speed, ",.1f"), number(min(program.speeds), ",.1f"), number(max(program.speeds), ",.1f"),
            number(losses.mean, ".4f"), number(low, ".4f"), number(high, ".4f"), number(losses.deviation, ".4f"),
            str(len(losses.values)), number(max(program.peaks_mb), ".0f"), number(program.after_import_mb, ".0f"))


def table(name, comparison):
    """`loss` is the mean over the seeds; `import MB` is the part of the peak that is there once the libraries are loaded."""
    rows = [(p.name, row(p)) for p in comparison.programs.values() if p.speeds]
    width = max(len(name) for name, _ in rows)
    yield f"\n{name}, batch {NETWORKS[name].batch}"
    yield " ".join([" " * width, *(f"{column:>9}" for column in COLUMNS)])
    for program, cells in rows:
        yield " ".join([program.ljust(width), *(f"{cell:>9}" for cell in cells)])
    if comparison.tried:
        yield f"variants of the peer tried in short runs: {len(comparison.tried)}"
    for variant, reason in comparison.failed.items():
        yield f"left out: {variant}: {reason}"
    difference, error = comparison.loss_difference
    yield (f"tpack / best peer: {comparison.ratio:.2f} ({comparison.best_peer.name}); mean loss against its: "
           f"{number(difference, '+.1%')}, standard error {number(error, '.1%')}")


def misses(comparisons, names):
    """What tpack does not reach, a line each."""
    for name in names:
        if name not in comparisons or not comparisons[name].complete:
            yield f"{name}: not measured"
            continue
        network, comparison = NETWORKS[name], comparisons[name]
        least = network.least_ratio if comparison.precision == "fp32" else network.least_ratio_bf16
        if comparison.ratio < least:
            yield f"{name}: {comparison.ratio:.2f} times the best peer's speed; must be at least {least}"
        peak_mb = max(comparison.tpack.peaks_mb)
        if network.peak_rss_below_mb is not None and peak_mb >= network.peak_rss_below_mb:
            yield f"{name}: peak memory {peak_mb:.0f} MB; must be below {network.peak_rss_below_mb}"
        difference, _ = comparison.loss_difference
        if network.most_loss_difference is not None and not abs(difference) <= network.most_loss_difference:
            yield (f"{name}: the mean loss differs from the best peer's by {number(difference, '+.1%')}; "
                   f"may be {network.most_loss_difference:.0%} at most")


def report(comparisons, names):
    """The lines to print, and whether tpack reaches everything."""
    builds = sorted(set().union(*(comparison.builds for comparison in comparisons.values())))
    lines = [f"CPU: {cpu()}, {len(os.sched_getaffinity(0))} processors", *builds]
    for name, comparison in comparisons.items():
        if comparison.complete:
            lines += table(name, comparison)
    missed = list(misses(comparisons, names or comparisons))
    return lines + [f"missed: {line}" for line in missed], not missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    options = parser.parse_args()
    check_names(parser, options.networks)
    lines, reached = report(read(options.file.read_text().splitlines()), options.networks)
    print("\n".join(lines))
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
