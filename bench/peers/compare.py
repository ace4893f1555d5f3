#!/usr/bin/env python3
"""Prints a table from the lines that a script of this folder wrote: median speeds and mean losses over the rounds, and tpack
against the best peer."""
import collections
import json
import pathlib
import statistics
import sys


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


runs = collections.defaultdict(lambda: collections.defaultdict(list))
for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
    entry = json.loads(line)
    result = entry["result"]
    result = result if "name" in result else of_tpack(result)
    runs[entry["network"]][result["name"]].append(result)

print(f"CPU: {cpu()}")
for network, peers in runs.items():
    print(f"\n{network}")
    print(f"{'':34} {'samples/s':>10} {'min':>8} {'max':>8} {'loss 81-100':>12} {'peak RSS MB':>12}")
    medians, losses = {}, {}
    for name, results in peers.items():
        speeds = [r["samples_per_s"] for r in results]
        medians[name] = statistics.median(speeds)
        losses[name] = loss = statistics.mean(r["loss_81_to_100"] for r in results)
        rss = max(r["peak_rss_mb"] for r in results)
        print(f"{name:34} {medians[name]:10.0f} {min(speeds):8.0f} {max(speeds):8.0f} {loss:12.4f} {rss:12.0f}")
    best = max(speed for name, speed in medians.items() if name != "tpack")
    peer_loss = statistics.mean(loss for name, loss in losses.items() if name != "tpack")
    print(f"tpack / best peer: {medians['tpack'] / best:.2f}; mean loss against the peers': {losses['tpack'] / peer_loss - 1:+.1%}")
