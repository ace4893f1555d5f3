#!/usr/bin/env python3
"""Prints a table from the lines that a script of this folder wrote: median speeds and mean losses over the rounds, and tpack
against the best peer. Exits with 1 where tpack misses what it must reach, and says what."""
import collections
import json
import pathlib
import statistics
import sys

# What the speed of tpack over that of the best peer must be at least, by network.
LEAST_RATIO = {"3x3, 32 filters": 1.8, "5x5, 48 filters": 1.25}
# The losses are compared where the most seeds were run, and memory in all runs, of tensorpack's own network.
OWN_NETWORK = "3x3, 32 filters"
MOST_LOSS_DIFFERENCE = 0.10
PEAK_RSS_BELOW_MB = 150


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def of_tpack(result):
    return {
        "name": "tpack",
        "samples_per_s": result["both"]["samples_per_s"],
        "loss_81_to_100": result["both"]["loss_81_to_100"],
        "peak_rss_mb": result["peak_rss_mb"],
    }


class Summary:
    """The runs of one program on one network."""

    def __init__(self, results):
        self.runs = len(results)
        self.speeds = [r["samples_per_s"] for r in results]
        self.speed = statistics.median(self.speeds)
        self.loss = statistics.mean(r["loss_81_to_100"] for r in results)
        self.peak_rss_mb = max(r["peak_rss_mb"] for r in results)


class Network:
    """tpack (`ours`) and its peers, by name, on one network."""

    def __init__(self, results_by_name):
        self.programs = {name: Summary(results) for name, results in results_by_name.items()}
        self.ours = self.programs["tpack"]
        peers = [summary for name, summary in self.programs.items() if name != "tpack"]
        self.ratio = self.ours.speed / max(peer.speed for peer in peers)
        self.loss_difference = self.ours.loss / statistics.mean(peer.loss for peer in peers) - 1


def read(lines):
    """Networks by name."""
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        entry = json.loads(line)
        result = entry["result"]
        result = result if "name" in result else of_tpack(result)
        runs[entry["network"]][result["name"]].append(result)
    return {name: Network(results) for name, results in runs.items()}


def table(name, network):
    yield f"\n{name}"
    yield f"{'':34} {'samples/s':>10} {'min':>8} {'max':>8} {'loss 81-100':>12} {'peak RSS MB':>12}"
    for program, s in network.programs.items():
        yield (f"{program:34} {s.speed:10.0f} {min(s.speeds):8.0f} {max(s.speeds):8.0f} {s.loss:12.4f} "
               f"{s.peak_rss_mb:12.0f}")
    yield f"tpack / best peer: {network.ratio:.2f}; mean loss against the peers': {network.loss_difference:+.1%}"


def misses(networks):
    """What tpack does not reach, a line each."""
    for name, least in LEAST_RATIO.items():
        if name not in networks:
            yield f"{name}: not measured"
        elif networks[name].ratio < least:
            yield f"{name}: {networks[name].ratio:.2f} times the best peer's speed; must be at least {least}"
    own = {name: network for name, network in networks.items() if name.startswith(OWN_NETWORK)}
    for name, network in own.items():
        if network.ours.peak_rss_mb >= PEAK_RSS_BELOW_MB:
            yield f"{name}: peak memory {network.ours.peak_rss_mb:.0f} MB; must be below {PEAK_RSS_BELOW_MB}"
    if own:
        name = max(own, key=lambda n: own[n].ours.runs)
        if abs(own[name].loss_difference) > MOST_LOSS_DIFFERENCE:
            yield (f"{name}: the mean loss differs from the peers' by {own[name].loss_difference:+.1%}; "
                   f"may be {MOST_LOSS_DIFFERENCE:.0%} at most")


def main(path):
    networks = read(pathlib.Path(path).read_text().splitlines())
    print(f"CPU: {cpu()}")
    for name, network in networks.items():
        print("\n".join(table(name, network)))
    missed = list(misses(networks))
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
