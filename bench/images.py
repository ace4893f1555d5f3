#!/usr/bin/env python3
"""Loading of images next to training: memory over 50 passes, and how much of data and compute overlap.

    TPACK_DATASET=DIR bench/images.py memory [--passes 50]
    TPACK_DATASET=DIR bench/images.py overlap [--runs 3]

DIR/imagenet-sample has JPEGs. `memory` reads them again and again (random resized crop to 224, flip, batch 32), with a network that takes no
time, and prints the largest resident memory of each fifth of the passes, and what a batch takes. `overlap` trains networks of different cost
on the same batches: the steps per second of data alone (D), of the network alone (C), and of both, next to 1 / (1 / C + 1 / D), which two
cores reach if neither waits for the other and both are busy.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TPACK = ROOT / "build/release/tpack"
PHOTOS = pathlib.Path(os.environ["TPACK_DATASET"]) / "imagenet-sample"
BATCH = 32
NOTHING = """inputs: {label: {shape: [], dtype: int32}}
  layers: [Reshape: {name: x, shape: [1]}, Elementwise: {name: number, expression: x * 1.0}, FullyConnected: {name: y, units: 1}]
  cost: [MeanSquaredError: {predictions: y, targets: 0}]"""
NETWORK = """inputs: {{image: {{shape: [224, 224, 3], dtype: uint8, layout: HWC}}, label: {{shape: [], dtype: int32}}}}
  layers:
    - Normalize: {{scale: 0.0078, offset: -1}}
    - Conv2D: {{filters: {filters}, kernel: 7, stride: 4}}
    - ReLU
    - Conv2D: {{filters: {filters}, kernel: 3, stride: 2}}
    - ReLU
    - Conv2D: {{filters: {filters}, kernel: 3}}
    - GlobalAvgPooling
    - FullyConnected: {{name: y, units: 2}}
  cost: [SoftmaxCrossEntropy: {{logits: y, labels: label}}]"""


def config(folder, model, steps):
    (folder / "photos.txt").write_text("".join(f"{file} 0\n" for file in sorted(PHOTOS.iterdir())))
    (folder / "c.yaml").write_text(f"""tpack: 1
name: images
data:
  train:
    - ImageList: {folder}/photos.txt
    - AugmentImageComponent: [RandomResizedCrop: 224, Flip]
    - BatchData: {BATCH}
model:
  {model}
optimizer: {{SGD: {{learning_rate: 1.0e-9}}}}
max_epoch: 1
steps_per_epoch: {steps}
default_callbacks: []
""")
    return str(folder / "c.yaml")


def memory(folder, passes):
    images = len(list(PHOTOS.iterdir()))
    steps = images * passes // BATCH
    process = subprocess.Popen([str(TPACK), "train", config(folder, NOTHING, steps), "--log-dir", str(folder / "log")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sizes = []  # (second, bytes)
    began = time.monotonic()
    while process.poll() is None:
        try:
            pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
        except (FileNotFoundError, IndexError):
            break
        sizes.append((time.monotonic() - began, pages * os.sysconf("SC_PAGE_SIZE")))
        time.sleep(0.02)
    if process.wait() != 0:
        raise SystemExit("tpack failed")
    end = sizes[-1][0]
    print(f"{passes} passes over {images} photographs, {end:.1f} s; a batch has {BATCH * 224 * 224 * 3 / 1e6:.1f} MB")
    for fifth in range(5):
        part = [size for second, size in sizes if fifth * end / 5 <= second <= (fifth + 1) * end / 5]
        print(f"fifth {fifth + 1}: {max(part) / 1e6:.1f} MB at most, {statistics.median(part) / 1e6:.1f} in the middle")


def overlap(folder, runs):
    print("filters  data  network  both  1 / (1 / C + 1 / D)  share")
    for filters in (16, 32, 64, 96):
        rates = []  # data, network, both: steps per second
        for _ in range(runs):
            bench = subprocess.run([str(TPACK), "bench", config(folder, NETWORK.format(filters=filters), 100), "--json", "--steps", "100"],
                                   check=True, capture_output=True, text=True)
            rates.append([1000 / json.loads(bench.stdout)[part]["step_ms"] for part in ("data", "train", "both")])
        data, network, both = (statistics.median(rate) for rate in zip(*rates))
        ideal = 1 / (1 / data + 1 / network)
        print(f"{filters:7} {data:5.1f} {network:8.1f} {both:5.1f} {ideal:20.1f} {both / ideal:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("memory", "overlap"))
    parser.add_argument("--passes", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if arguments.what == "memory":
            memory(pathlib.Path(name), arguments.passes)
        else:
            overlap(pathlib.Path(name), arguments.runs)


if __name__ == "__main__":
    main()
