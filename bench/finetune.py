#!/usr/bin/env python3
"""Fine-tuning on ten classes of 100 images each, against training from nothing, for several seeds.

    TPACK_CIFAR=DIR bench/finetune.py MOBILENET_V2.pth [--seeds 5] [--epochs 10] [--out build/bench/finetune]

DIR has the folders of scripts/unpack_cifar10.sh. Seed k trains on the k-th 100 images of each class, enlarged to 96 x 96, and is
validated on 1,000 others. Three ways, by docs/fine-tuning.md: all layers from the weights, only the head, and all layers from nothing
(with the learning rate 3e-3, the best of 3e-4, 1e-3 and 3e-3 in ten epochs of the first seed, and three times as many epochs). Prints the accuracy
after the last epoch, and writes curves.svg: mean, least and largest of the seeds after each epoch.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGES = 100  # of each class

WAYS = {  # what is added to configs/finetune.yaml
    "all layers": "",
    "only the head": "optimizer: !delete\nupdates:\n  main: {variables: logits, optimizer: {AdamW: {learning_rate: 3.0e-3}}}\n",
    "from nothing": "init: !delete\n",
}
SETTINGS = {
    "all layers": [],
    "only the head": ["callbacks=[InferenceRunner: {data: validation}]"],
    "from nothing": ["optimizer.AdamW.learning_rate_multipliers=!delete", "callbacks.ScheduledHyperParamSetter.values=[[0, 3.0e-3], [$(epochs), 3.0e-5]]"],
}
COLORS = {"all layers": "#1f77b4", "only the head": "#2ca02c", "from nothing": "#d62728"}


def make_images(folder, seed):
    """Links to the images of a seed."""
    source = pathlib.Path(os.environ["TPACK_CIFAR"])
    first = IMAGES * (seed - 1)
    for part, name in (("train", "train"), ("test", "val")):
        for path in sorted((source / part).iterdir()):
            to = folder / name / path.name
            to.mkdir(parents=True, exist_ok=True)
            for file in sorted(path.glob("*.jpg"))[first:first + IMAGES]:
                link = to / file.name
                if not link.exists():
                    link.symlink_to(file.resolve())


def train(options, way, seed, epochs):
    """Validation accuracy after each epoch."""
    photos = options.out / f"photos-{seed}"
    make_images(photos, seed)
    run = options.out / f"{way.replace(' ', '-')}-{seed}"
    config = options.out / f"{way.replace(' ', '-')}.yaml"
    config.write_text(f"include: {ROOT}/configs/finetune.yaml\n" + WAYS[way])
    words = [options.tpack, "train", config, "--log-dir", run, "--resume", "never", "--set", f"seed={seed}", "--set", "vars.side=96",
             "--set", f"vars.epochs={epochs}"]
    for setting in SETTINGS[way]:
        words += ["--set", setting]
    environment = {**os.environ, "TPACK_PHOTOS": str(photos), "TPACK_WEIGHTS": str(options.weights)}
    with open(options.out / f"{way.replace(' ', '-')}-{seed}.log", "w") as log:
        subprocess.run(list(map(str, words)), check=True, env=environment, stdout=log, stderr=log)
    return [epoch["validation_accuracy"] for epoch in json.loads((run / "stats.json").read_text())]


def curves(found):
    """An SVG: for each way a band from the least to the largest of the seeds, and the mean."""
    width, height, left, bottom = 640, 400, 50, 40
    last = max(len(runs[0]) for runs in found.values())

    def point(epoch, value):
        return f"{left + (width - left - 130) * epoch / last:.1f},{(height - bottom) * (1 - value) + 10 * value:.1f}"

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for share in range(0, 101, 20):
        x, y = point(0, share / 100).split(",")
        lines.append(f'<line x1="{left}" x2="{width - 130}" y1="{y}" y2="{y}" stroke="#ddd"/><text x="{left - 8}" y="{float(y) + 4}" text-anchor="end">{share} %</text>')
    for epoch in range(0, last + 1, max(1, last // 6)):
        x, y = point(epoch, 0).split(",")
        lines.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{epoch}</text>')
    lines.append(f'<text x="{(width - 80) / 2}" y="{height - 6}" text-anchor="middle">epoch</text>')
    for way, runs in found.items():
        by_epoch = list(zip(*runs))
        upper = [point(i + 1, max(values)) for i, values in enumerate(by_epoch)]
        lower = [point(i + 1, min(values)) for i, values in enumerate(by_epoch)]
        mean = [point(i + 1, statistics.mean(values)) for i, values in enumerate(by_epoch)]
        lines.append(f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{COLORS[way]}" opacity="0.2"/>')
        lines.append(f'<polyline points="{" ".join(mean)}" fill="none" stroke="{COLORS[way]}" stroke-width="2"/>')
        x, y = map(float, mean[-1].split(","))
        lines.append(f'<text x="{x + 6}" y="{y + 4}" fill="{COLORS[way]}">{way}</text>')
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--tpack", default=ROOT / "build/release/tpack")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench/finetune")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.weights = options.weights.resolve()
    options.out = options.out.resolve()
    found = {way: [] for way in WAYS}
    for seed in range(1, options.seeds + 1):
        for way in WAYS:
            found[way].append(train(options, way, seed, options.epochs * (3 if way == "from nothing" else 1)))
            print(f"seed {seed}, {way}: {found[way][-1][-1]:.4f}", file=sys.stderr, flush=True)
    print("| way | epochs | accuracy, mean | least | largest |\n|---|---|---|---|---|")
    for way, runs in found.items():
        last = [100 * run[-1] for run in runs]
        print(f"| {way} | {len(runs[0])} | {statistics.mean(last):.1f} % | {min(last):.1f} % | {max(last):.1f} % |")
    (options.out / "curves.svg").write_text(curves(found))


if __name__ == "__main__":
    main()
