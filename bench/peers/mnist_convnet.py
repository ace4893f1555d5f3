#!/usr/bin/env python3
"""Trains tensorpack's mnist-convnet with PyTorch and prints speed, loss and memory as one JSON object.

The same work as configs/mnist-convnet.yaml: bytes to floats, four convolutions, dropout, L2 on the fully connected weights,
Adam. `--kernel 5 --filters 48` is the variant of bench/peers/mnist_convnet.sh.
"""
import argparse
import gzip
import json
import os
import pathlib
import resource
import statistics
import time

parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=["plain", "channels_last"], default="plain")
parser.add_argument("--kernel", type=int, default=3)
parser.add_argument("--filters", type=int, default=32)
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)


def read_idx(path, offset):
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=offset)


folder = pathlib.Path(os.environ["TPACK_DATASET"]) / "mnist"
images = read_idx(folder / "train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
labels = read_idx(folder / "train-labels-idx1-ubyte.gz", 8).astype(np.int64)


class LeNet(torch.nn.Module):
    def __init__(self, kernel, filters):
        super().__init__()
        conv = lambda c: torch.nn.Conv2d(c, filters, kernel, padding=kernel // 2)  # noqa: E731
        self.conv = torch.nn.ModuleList([conv(1), conv(filters), conv(filters), conv(filters)])
        self.fc0 = torch.nn.Linear(filters * 7 * 7, 512)
        self.fc1 = torch.nn.Linear(512, 10)
        for layer in [*self.conv, self.fc0, self.fc1]:
            torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            torch.nn.init.zeros_(layer.bias)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv[0](x)), 2)
        x = F.relu(self.conv[1](x))
        x = F.max_pool2d(F.relu(self.conv[2](x)), 2)
        x = F.relu(self.conv[3](x)).flatten(1)
        return self.fc1(F.dropout(F.relu(self.fc0(x)), 0.5))


model = LeNet(options.kernel, options.filters)
layout = torch.channels_last if options.mode == "channels_last" else torch.contiguous_format
model = model.to(memory_format=layout)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
order = np.random.RandomState(options.seed).permutation(len(images))

losses, seconds = [], []
for step in range(options.steps):
    chosen = order[np.arange(step * options.batch, (step + 1) * options.batch) % len(order)]
    batch, target = images[chosen], torch.from_numpy(labels[chosen])
    began = time.perf_counter()
    x = torch.from_numpy(batch).to(memory_format=layout).float() * (2 / 255) - 1
    loss = F.cross_entropy(model(x), target)
    loss = loss + 0.5e-5 * (model.fc0.weight.square().sum() + model.fc1.weight.square().sum())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    seconds.append(time.perf_counter() - began)

print(json.dumps({
    "name": f"PyTorch {torch.__version__} {options.mode}",
    "samples_per_s": options.batch / statistics.median(seconds[20:]),
    "loss_81_to_100": statistics.mean(losses[80:100]),
    "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
}))
