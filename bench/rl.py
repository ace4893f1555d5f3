#!/usr/bin/env python3
"""Trains the configs of reinforcement learning with several seeds and prints, for each run, the mean reward over the last 100 episodes, that
of 100 episodes with the best action in each step, and the minutes it took. Fails if a run misses a gate of its config.

    bench/rl.py [--tpack PROGRAM] [--seeds 1 2 3] [--set KEY=VALUE ...] [CONFIG ...]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIGS = ("catch-dqn", "cartpole-dqn", "cartpole-ppo", "cartpole-a3c")


def last_values(folder):
    """The newest value of each statistic of a run."""
    values = {}
    for record in json.loads((folder / "stats.json").read_text()):
        values |= record
    return values


def train(tpack, config, seed, settings, folder):
    """The row of the table, and whether the run ended well."""
    begin = time.monotonic()
    options = [word for setting in [f"seed={seed}", *settings] for word in ("--set", setting)]
    command = [tpack, "train", ROOT / "configs" / f"{config}.yaml", "--log-dir", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    minutes = (time.monotonic() - begin) / 60
    if done.returncode not in (0, 8):
        sys.exit(f"{config}, seed {seed}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    last = last_values(folder)
    rewards = [f"{last[name]:.2f}" for name in ("mean_reward", "greedy_reward")]
    return [config, str(seed), *rewards, f"{last['episodes']:,.0f}", f"{minutes:.2f}", "yes" if done.returncode == 0 else "no"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", nargs="*", metavar="CONFIG", help=f"default: {' '.join(CONFIGS)}")
    parser.add_argument("--tpack", default=ROOT / "build/release/tpack")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--set", dest="settings", action="append", default=[], help="as of `tpack train`")
    options = parser.parse_args()
    header = ["config", "seed", "mean reward", "greedy reward", "episodes", "minutes", "solved"]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header), flush=True)
    solved = True
    with tempfile.TemporaryDirectory() as folder:
        for config in options.configs or CONFIGS:
            for seed in options.seeds:
                row = train(options.tpack, config, seed, options.settings, pathlib.Path(folder) / f"{config}-{seed}")
                print("| " + " | ".join(row) + " |", flush=True)
                solved = solved and row[-1] == "yes"
    sys.exit(0 if solved else 1)


if __name__ == "__main__":
    main()
