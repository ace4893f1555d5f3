#!/usr/bin/env python3
"""ResNet-20 of bench/configs/cifar-resnet20.yaml in PyTorch: the same network, data, augmentation, optimizer and schedule, own random
numbers.

    TPACK_CIFAR=DIR bench/peers/cifar.py --epochs 8 [--seed 1]
    TPACK_CIFAR=DIR tpack train bench/configs/cifar-resnet20.yaml --set vars.epochs=8

DIR has the folders of scripts/unpack_cifar10.sh. Runs with a Python that has torch and torchvision. Prints the accuracy on the test images
after each epoch.
"""
import argparse
import math
import os
import pathlib
import time

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


def augmented(pixels):
    """Pad 4, crop, flip, and in half of the images a black square of 8 x 8 pixels."""
    count = len(pixels)
    padded = F.pad(pixels, (4, 4, 4, 4))
    rows = torch.randint(0, 9, (count, 1)) + torch.arange(32)
    columns = torch.randint(0, 9, (count, 1)) + torch.arange(32)
    flipped = torch.rand(count) < 0.5
    columns[flipped] = columns[flipped].flip(1)
    at = torch.arange(count)[:, None, None]
    out = padded.permute(0, 2, 3, 1)[at, rows[:, :, None], columns[:, None, :]]
    for i in torch.nonzero(torch.rand(count) < 0.5).flatten().tolist():
        y, x = torch.randint(0, 25, (2,)).tolist()
        out[i, y:y + 8, x:x + 8] = 0
    return out.permute(0, 3, 1, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=75)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    pixels, labels = images_of("train")
    test_pixels, test_labels = images_of("test")
    net = resnet(3).to(memory_format=torch.channels_last)
    weights = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() == 1]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": 3e-4}, {"params": others}], lr=0.2, momentum=0.9)
    steps = len(pixels) // 128
    warmup = 3

    def scaled(batch):
        return (batch.float() / 128 - 0.943).contiguous(memory_format=torch.channels_last)

    for epoch in range(options.epochs):
        begin = time.monotonic()
        net.train()
        order = torch.randperm(len(pixels))
        for step in range(steps):
            at = epoch + step / steps
            rate = at / warmup if at < warmup else (1 + math.cos(math.pi * (at - warmup) / (options.epochs - warmup))) / 2
            for group in optimizer.param_groups:
                group["lr"] = 0.2 * rate
            chosen = order[step * 128:(step + 1) * 128]
            loss = F.cross_entropy(net(scaled(augmented(pixels[chosen]))), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            right = sum((net(scaled(test_pixels[i:i + 250])).argmax(1) == test_labels[i:i + 250]).sum().item()
                        for i in range(0, len(test_pixels), 250))
        print(f"epoch {epoch + 1}: {right / len(test_pixels):.4f}, {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
