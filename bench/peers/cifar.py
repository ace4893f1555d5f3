#!/usr/bin/env python3
"""Networks for CIFAR-10 in PyTorch: the same network, data, augmentation, optimizer and schedule as in tpack, own random numbers.

    TPACK_CIFAR=DIR bench/peers/cifar.py resnet20 --epochs 8 [--seed 1]
    TPACK_CIFAR=DIR tpack train bench/configs/cifar-resnet20.yaml --set vars.epochs=8

    TPACK_CIFAR=DIR bench/peers/cifar.py fast --epochs 8 [--bf16]
    TPACK_CIFAR=DIR tpack train configs/cifar10-fast.yaml

DIR has the folders of scripts/unpack_cifar10.sh. Runs with a Python that has torch and torchvision. Prints the accuracy on the test images
after each epoch.
"""
import argparse
import dataclasses
import math
import os
import pathlib
import time
import typing

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.io import ImageReadMode, decode_image, read_file


def images_of(part):
    """uint8 [N, 3, 32, 32], labels [N]."""
    folder = pathlib.Path(os.environ["TPACK_CIFAR"]) / part
    names = sorted(path.name for path in folder.iterdir())
    files = [(file, label) for label, name in enumerate(names) for file in sorted((folder / name).glob("*.jpg"))]
    pixels = torch.stack([decode_image(read_file(str(file)), ImageReadMode.RGB) for file, _ in files])
    return pixels, torch.tensor([label for _, label in files])


class Block(nn.Module):
    """The pre-activation block of models/preact-resnet.yaml."""

    def __init__(self, before, channels, first=False):
        super().__init__()
        self.wider = before != channels
        self.preact = nn.Identity() if first else nn.BatchNorm2d(before)
        self.first = first
        self.conv1 = nn.Conv2d(before, channels, 3, 2 if self.wider else 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)

    def forward(self, x):
        y = x if self.first else F.relu(self.preact(x))
        y = self.conv2(F.relu(self.bn(self.conv1(y))))
        if self.wider:
            more = x.shape[1] // 2
            x = F.pad(F.avg_pool2d(x, 2), (0, 0, 0, 0, more, more))
        return x + y


def resnet(n):
    blocks = []
    for before, channels in ((16, 16), (16, 32), (32, 64)):
        blocks += [Block(before if i == 0 else channels, channels, first=not blocks) for i in range(n)]
    net = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *blocks, nn.BatchNorm2d(64), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    for part in net.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_out")
    return net


class Group(nn.Sequential):
    """The block of configs/cifar10-fast.yaml."""

    def __init__(self, before, filters):
        super().__init__(nn.Conv2d(before, filters, 3, 1, 1, bias=False), nn.MaxPool2d(2), nn.BatchNorm2d(filters, momentum=0.2), nn.ReLU(),
                         nn.Conv2d(filters, filters, 3, 1, 1, bias=False), nn.BatchNorm2d(filters, momentum=0.2), nn.ReLU())


class Divided(nn.Module):
    def forward(self, x):
        return x / 8


def fast():
    net = nn.Sequential(nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32, momentum=0.2), nn.ReLU(), Group(32, 64), Group(64, 256),
                        Group(256, 256), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(256, 10, bias=False), Divided())
    for part in net.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_in")
    return net


def cosine_after_warmup(epoch, epochs):
    return epoch / 3 if epoch < 3 else (1 + math.cos(math.pi * (epoch - 3) / (epochs - 3))) / 2


def one_cycle(epoch, epochs):
    return 0.1 + 0.45 * epoch if epoch < 2 else 1 - 0.995 * (epoch - 2) / (epochs - 2)


@dataclasses.dataclass(frozen=True)
class Recipe:
    net: typing.Callable
    batch: int
    padding: int
    cutout: bool  # in half of the images, a black square of 8 x 8 pixels
    scale: float
    offset: float
    rate: float
    nesterov: bool
    decay: float
    smoothing: float
    schedule: typing.Callable


RECIPES = {
    "resnet20": Recipe(lambda: resnet(3), 128, 4, True, 1 / 128, -0.943, 0.2, False, 3e-4, 0, cosine_after_warmup),
    "fast": Recipe(fast, 512, 2, False, 0.0156863, -1.86, 0.4, True, 5e-4, 0.2, one_cycle),
}


def augmented(pixels, recipe):
    """Pads, crops, flips."""
    count = len(pixels)
    padded = F.pad(pixels, (recipe.padding,) * 4)
    rows = torch.randint(0, 2 * recipe.padding + 1, (count, 1)) + torch.arange(32)
    columns = torch.randint(0, 2 * recipe.padding + 1, (count, 1)) + torch.arange(32)
    flipped = torch.rand(count) < 0.5
    columns[flipped] = columns[flipped].flip(1)
    at = torch.arange(count)[:, None, None]
    out = padded.permute(0, 2, 3, 1)[at, rows[:, :, None], columns[:, None, :]]
    for i in torch.nonzero(torch.rand(count) < 0.5).flatten().tolist() if recipe.cutout else []:
        y, x = torch.randint(0, 25, (2,)).tolist()
        out[i, y:y + 8, x:x + 8] = 0
    return out.permute(0, 3, 1, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=RECIPES)
    parser.add_argument("--epochs", type=int, default=75)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bf16", action="store_true", help="with autocast")
    options = parser.parse_args()
    recipe = RECIPES[options.network]
    torch.manual_seed(options.seed)
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=options.bf16)
    pixels, labels = images_of("train")
    test_pixels, test_labels = images_of("test")
    net = recipe.net().to(memory_format=torch.channels_last)
    weights = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() == 1]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": recipe.decay}, {"params": others}], lr=recipe.rate, momentum=0.9,
                                nesterov=recipe.nesterov)
    steps = len(pixels) // recipe.batch

    def scaled(batch):
        return (batch.float() * recipe.scale + recipe.offset).contiguous(memory_format=torch.channels_last)

    for epoch in range(options.epochs):
        begin = time.monotonic()
        net.train()
        order = torch.randperm(len(pixels))
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate * recipe.schedule(epoch + step / steps, options.epochs)
            chosen = order[step * recipe.batch:(step + 1) * recipe.batch]
            with autocast:
                logits = net(scaled(augmented(pixels[chosen], recipe)))
            loss = F.cross_entropy(logits.float(), labels[chosen], label_smoothing=recipe.smoothing)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad(), autocast:
            right = sum((net(scaled(test_pixels[i:i + 250])).argmax(1) == test_labels[i:i + 250]).sum().item()
                        for i in range(0, len(test_pixels), 250))
        print(f"epoch {epoch + 1}: {right / len(test_pixels):.4f}, {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
