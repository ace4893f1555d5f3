#!/usr/bin/env python3
"""Trains a GAN on rendered digits, and judges 1,000 of its samples by a classifier that was trained on rendered digits alone.

    bench/gan_quality.py [--tpack PROGRAM] [--config configs/digits-dcgan.yaml] [--checkpoint FILE] [--grid FILE]

Prints the seconds of training, the share of samples that the classifier is sure of, that of each class, the distance of samples to
their nearest training images, and what the classifier says of these images, which it has not seen. Needs a machine with nothing else running, NumPy and h5py (`scripts/python_env.sh` prints such a Python).
Fails where a figure misses what it must reach on two cores. With --checkpoint, a GAN that is trained already is judged; --grid writes its
last picture.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = 1000
SURE = 0.9  # probability of the best class of a sample that counts
TRAINING_IMAGES = 20000  # first ones of the GAN's data, among which the nearest image is searched
MOST_SECONDS, LEAST_SURE, LEAST_OF_CLASS = 300, 0.8, 0.04


class Tpack:
    def __init__(self, program):
        self.program = program

    def run(self, *words):
        result = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"tpack {' '.join(map(str, words))} ended with {result.returncode}:\n{result.stderr[-2000:]}")

    def train(self, config, folder):
        """The last checkpoint, and the seconds that training took."""
        begin = time.monotonic()
        self.run("train", config, "--log-dir", folder)
        seconds = time.monotonic() - begin
        step = json.loads((folder / "stats.json").read_text())[-1]["global_step"]
        return folder / "checkpoints" / f"model-{step}.h5", seconds

    def images(self, config, flow, count, folder):
        self.run("data", "inspect", config, "--flow", flow, "--samples", count, "--images", folder)
        return folder

    def infer(self, checkpoint, images, output):
        self.run("infer", checkpoint, images, "--format", "hdf5", "--output", output)
        with h5py.File(output) as file:
            names = [name.decode() for name in file["files"][()]]
            return {"probability": file["probability"][:], "pixels": file["pixels"][:], "files": names}


def distances_to_nearest(samples, images):
    """Root mean squares of the differences of pixels, 0 to 1."""
    samples, images = (x.reshape(len(x), -1).astype(np.float32) for x in (samples, images))
    squares = (images ** 2).sum(1)
    nearest = [np.argmin(squares - 2 * images @ sample) for sample in samples]
    return np.sqrt(((samples - images[nearest]) ** 2).mean(1))


def judge(tpack, gan, config, folder):
    """Figures of the samples, by name."""
    judge_config = ROOT / "bench/configs/digits-judge.yaml"
    classifier, _ = tpack.train(judge_config, folder / "judge")
    given = tpack.images(judge_config, "images", SAMPLES, folder / "given")  # `infer` draws a digit for each
    tpack.run("infer", gan, given, "--images", folder / "samples", "--format", "csv")
    samples = tpack.infer(classifier, folder / "samples", folder / "samples.h5")
    real = tpack.infer(classifier, tpack.images(config, "train", TRAINING_IMAGES, folder / "real"), folder / "real.h5")
    labels = [int(re.search(r"-(\d)\.png$", name).group(1)) for name in real["files"]]
    distances = distances_to_nearest(samples["pixels"], real["pixels"])
    classes = np.bincount(samples["probability"].argmax(1), minlength=10) / SAMPLES
    return {"samples": len(samples["probability"]),
            "sure": float((samples["probability"].max(1) >= SURE).mean()),
            "sure of real digits": float((real["probability"].max(1) >= SURE).mean()),
            "right about real digits": float((real["probability"].argmax(1) == labels).mean()),
            "share of each class": [round(float(share), 3) for share in classes],
            "least distance to a training image": float(distances.min()),
            "median distance": float(np.median(distances))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=str(ROOT / "build/release/tpack"))
    parser.add_argument("--config", default=str(ROOT / "configs/digits-dcgan.yaml"))
    parser.add_argument("--checkpoint", help="of a GAN that is trained already")
    parser.add_argument("--grid", help="where the last picture of SampleGrid goes")
    options = parser.parse_args()
    tpack = Tpack(options.tpack)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        gan, seconds = options.checkpoint, 0.0
        if gan is None:
            gan, seconds = tpack.train(options.config, folder / "gan")
            print(f"training: {seconds:.0f} s on {len(os.sched_getaffinity(0))} cores (must reach at most {MOST_SECONDS})")
            if options.grid:
                shutil.copy(max((folder / "gan/samples").iterdir()), options.grid)
        figures = judge(tpack, gan, options.config, folder)
        for what, value in figures.items():
            print(f"{what}: {value if isinstance(value, (int, list)) else round(value, 3)}")
    reached = (seconds <= MOST_SECONDS and figures["samples"] == SAMPLES and figures["sure"] >= LEAST_SURE
               and min(figures["share of each class"]) >= LEAST_OF_CLASS and figures["least distance to a training image"] > 0)
    print("reached" if reached else "MISSED")
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
