#!/usr/bin/env python3
"""Time and memory of a training step of networks of the zoo, as the rows of the README's table.

    bench/zoo.py [NETWORK ...] [--batch 16] [--steps 5]

Momentum, fp32, 224 x 224, one batch held fixed. Memory is what `tpack check` predicts for training, step time the median of
`tpack bench`. Needs a machine with nothing else running for the times.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN = ("resnet18", "resnet50", "convnext-tiny", "efficientnet-b0", "regnet-y-400mf", "mobilenet-v2", "mobilenet-v3-small",
         "shufflenet-v2-x1-0", "squeezenet1-1", "densenet121", "googlenet", "vgg16")


def output_of(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def write_config(path, name, batch):
    path.write_text(f"tpack: 1\ninclude: zoo:{name}\n"
                    "data: {train: [{FakeData: {shapes: [[224, 224, 3], []], dtype: [uint8, int32], names: [image, label], "
                    f"domain: [0, 10], size: {4 * batch}, random: false}}}}, BatchData: {batch}]}}\n"
                    "optimizer: {Momentum: {learning_rate: 0.01}}\nmax_epoch: 1\n")


def predicted_mb(tpack, config):
    text = output_of(tpack, "check", config, "--no-data")
    value, unit = re.search(r"memory: peak in training +([\d.]+) (\w+)", text).groups()
    return float(value) * {"kB": 1e-3, "MB": 1, "GB": 1e3}[unit]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"default: {', '.join(SHOWN)}")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--tpack", default=ROOT / "build/release/tpack")
    options = parser.parse_args()
    known = {network["name"]: network for network in json.loads(output_of(options.tpack, "list", "zoo", "--json"))}
    print("| network | parameters | GMACs | step, ms | images/s | memory, MB | top-1, % (published) |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.networks or SHOWN:
            network, config = known[name], pathlib.Path(folder) / "net.yaml"
            write_config(config, name, options.batch)
            memory = predicted_mb(options.tpack, config)
            result = json.loads(output_of(options.tpack, "bench", config, "--json", "--warm-up", 2, "--steps", options.steps))["train"]
            print(f"| {name} | {network['parameters']:,} | {network['gmacs']:.2f} | {result['step_ms']:.0f} | "
                  f"{result['samples_per_s']:.1f} | {memory:,.0f} | {network['top1']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
