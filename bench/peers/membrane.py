#!/usr/bin/env python3
"""The U-Net of configs/unet.yaml on electron micrographs, five folds, in tpack and in PyTorch: the IoU of both on the same pictures.

    TPACK_DATASET=DIR bench/peers/membrane.py [--folds 5] [--epochs 20] [--first N]         (with a Python that has torch, numpy and Pillow)

DIR/membrane has image/N.png and label/N.png (ISBI 2012). They are halved to 256 x 256 first, so that both see the same pixels. Both train with
flips and transposes, batches of 8, cross entropy and Dice loss, and Adam along a cosine; each has its own random numbers. Prints the mean
IoU of both classes over the pixels of the fold that was left out, after the last epoch, and the seconds of the training.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from PIL import Image

from models import UNet, segmentation_cost

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEPS = 15  # of an epoch: five passes over 24 pictures
CONFIG = """include: {root}/configs/unet.yaml
name: membrane
vars: {{classes: 2, epochs: {epochs}}}
data:
  train:
    - ImagePairs: {{list: {folder}/train{fold}.csv, images: image, masks: mask}}
    - AugmentImageComponent: [Flip, Flip: {{direction: vertical}}, RandomApplyAug: {{aug: Transpose, prob: 0.5}}, CenterCrop: 256]
    - BatchData: {{batch_size: 8}}
  validation:
    - ImagePairs: {{list: {folder}/test{fold}.csv, images: image, masks: mask, shuffle: false}}
    - AugmentImageComponent: [CenterCrop: 256]
    - BatchData: {{batch_size: 2, remainder: true}}
model:
  inputs:
    image: {{shape: [256, 256, 3], dtype: uint8, layout: HWC}}
    mask: {{shape: [256, 256], dtype: uint8}}
seed: {fold}
steps_per_epoch: {steps}
gates: {{validation_iou: ">= 0"}}
"""


def halve(folder):
    source = pathlib.Path(os.environ["TPACK_DATASET"]) / "membrane"
    names = sorted(file.stem for file in (source / "image").glob("*.png"))
    for name in names:
        Image.open(source / "image" / f"{name}.png").convert("L").resize((256, 256), Image.BOX).save(folder / f"image{name}.png")
        mask = Image.open(source / "label" / f"{name}.png").convert("L").resize((256, 256), Image.NEAREST)
        mask.point(lambda value: int(value > 127)).save(folder / f"mask{name}.png")
    return names


def of_tpack(fold, epochs, folder):
    config = folder / f"fold{fold}.yaml"
    config.write_text(CONFIG.format(root=ROOT, epochs=epochs, folder=folder, fold=fold, steps=STEPS))
    subprocess.run([str(ROOT / "build/release/tpack"), "train", str(config), "--log-dir", str(folder / f"log{fold}")], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stats = json.loads((folder / f"log{fold}" / "stats.json").read_text())
    return stats[-1]["validation_iou"]


def tensors(names, folder):
    images = numpy.stack([numpy.array(Image.open(folder / f"image{name}.png").convert("RGB")) for name in names])
    masks = numpy.stack([numpy.array(Image.open(folder / f"mask{name}.png")) for name in names])
    return torch.from_numpy(images).permute(0, 3, 1, 2).float() * 0.0078 - 1, torch.from_numpy(masks).long()


def of_pytorch(train, test, fold, epochs, folder):
    torch.manual_seed(fold)
    images, masks = (x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in tensors(train, folder))
    model = UNet(classes=2).to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), 0.003, eps=1e-8)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * STEPS)
    model.train()
    order = []
    for _ in range(epochs * STEPS):
        if len(order) < 8:
            order = torch.randperm(len(train)).tolist()
        batch, order = order[:8], order[8:]
        x, y = images[batch].clone(), masks[batch].clone()
        for i in range(8):
            for dims in ([-1], [-2]):
                if torch.rand(()) < 0.5:
                    x[i], y[i] = x[i].flip(dims), y[i].flip(dims)
            if torch.rand(()) < 0.5:
                x[i], y[i] = x[i].transpose(-1, -2).clone(), y[i].transpose(-1, -2).clone()
        loss = segmentation_cost(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    images, masks = tensors(test, folder)
    with torch.no_grad():
        predicted = torch.cat([model(images[i:i + 2]).argmax(1) for i in range(0, len(test), 2)])
    ious = [((predicted == k) & (masks == k)).sum() / ((predicted == k) | (masks == k)).sum() for k in range(2)]
    return float(sum(ious) / 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--first", type=int, help="train so many of the folds only")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    results = {"tpack": [], "PyTorch": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        names = halve(folder)
        order = numpy.random.default_rng(1).permutation(len(names))
        for fold in range(arguments.first or arguments.folds):
            test = [names[i] for i in order[fold::arguments.folds]]
            train = [name for name in names if name not in test]
            for part, members in (("train", train), ("test", test)):
                rows = "".join(f"image{member}.png,mask{member}.png\n" for member in members)
                (folder / f"{part}{fold}.csv").write_text("image,mask\n" + rows)
            for tool in results:
                begin = time.monotonic()
                iou = of_tpack(fold, arguments.epochs, folder) if tool == "tpack" else of_pytorch(train, test, fold, arguments.epochs, folder)
                results[tool].append(iou)
                print(f"fold {fold}: {tool:8} IoU {iou:.4f}, {time.monotonic() - begin:.0f} s", flush=True)
    for tool, ious in results.items():
        print(f"{tool:8} {statistics.mean(ious):.4f} (from {min(ious):.4f} to {max(ious):.4f})")


if __name__ == "__main__":
    main()
