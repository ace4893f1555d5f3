#!/usr/bin/env python3
"""Single layers, forward and backward, in tpack and in PyTorch, in turn on this machine, as a table.

    /path/to/python bench/peers/layers.py [LAYER ...] [--rounds N]

The Python must have torch. Each network is: x times a trained number for each channel, the layer, the mean of the result; so the layer
has a gradient of its input and of its variables, which SGD updates. PyTorch runs plain, channels_last and compiled with
channels_last, each in a process of its own; the best of them counts. Needs a machine with nothing else running.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VARIANTS = ("plain", "channels_last", "compile")


@dataclasses.dataclass(frozen=True)
class Layer:
    tpack: str  # YAML
    torch: str  # an expression: a module, or a function of x
    shape: tuple = (16, 64, 56, 56)  # of a batch


def conv(filters, kernel, groups=1):
    return f"Conv2D: {{filters: {filters}, kernel: {kernel}, groups: {groups}}}"


LAYERS = {
    "Conv2D 3x3": Layer(conv(64, 3), "nn.Conv2d(64, 64, 3, padding=1)"),
    "Conv2D 1x1": Layer(conv(256, 1), "nn.Conv2d(64, 256, 1)"),
    "Conv2D depthwise 3x3": Layer(conv(64, 3, groups=64), "nn.Conv2d(64, 64, 3, padding=1, groups=64)"),
    "Conv2D 3x3, 8 groups": Layer(conv(64, 3, groups=8), "nn.Conv2d(64, 64, 3, padding=1, groups=8)"),
    "Conv2DTranspose 2x2": Layer("Conv2DTranspose: {filters: 32, kernel: 2, stride: 2}", "nn.ConvTranspose2d(64, 32, 2, 2)"),
    "FullyConnected 1024": Layer("FullyConnected: {units: 1024}", "nn.Sequential(nn.Flatten(), nn.Linear(1024, 1024))", (128, 1024, 1, 1)),
    "BatchNorm": Layer("BatchNorm", "nn.BatchNorm2d(64)"),
    "BatchNorm, virtual_batch_size 8": Layer("BatchNorm: {virtual_batch_size: 8}", "GhostNorm(64, 8)"),
    "LayerNorm": Layer("LayerNorm", "nn.GroupNorm(1, 64)"),
    "GroupNorm": Layer("GroupNorm: {groups: 8}", "nn.GroupNorm(8, 64)"),
    "InstanceNorm": Layer("InstanceNorm", "nn.InstanceNorm2d(64, affine=True)"),
    "LRN": Layer("LRN", "nn.LocalResponseNorm(5)"),
    "PReLU": Layer("PReLU", "nn.PReLU(64)"),
    "GELU": Layer("GELU", "nn.GELU()"),
    "Maxout": Layer("Maxout: 2", "lambda x: x.unflatten(1, (32, 2)).amax(2)"),
    "SqueezeExcite": Layer("SqueezeExcite: {units: 16}", "SqueezeExcite(64, 16)"),
    "ChannelShuffle": Layer("ChannelShuffle: 4", "nn.ChannelShuffle(4)"),
    "MaxPooling": Layer("MaxPooling: 2", "nn.MaxPool2d(2)"),
    "AvgPooling": Layer("AvgPooling: 2", "nn.AvgPool2d(2)"),
    "BlurPool": Layer("BlurPool", "BlurPool(64)"),
    "GlobalAvgPooling": Layer("GlobalAvgPooling", "lambda x: x.mean((2, 3))"),
    "GlobalMaxPooling": Layer("GlobalMaxPooling", "lambda x: x.amax((2, 3))"),
    "Dropout": Layer("Dropout: 0.5", "nn.Dropout(0.5)"),
    "SpatialDropout": Layer("SpatialDropout: 0.5", "nn.Dropout2d(0.5)"),
    "Resize": Layer("Resize", "nn.Upsample(scale_factor=2, mode='bilinear')"),
    "Softmax": Layer("Softmax", "lambda x: x.flatten(1).softmax(1)", (256, 1000, 1, 1)),
}


def write_config(layer, path):
    count, *shape = layer.shape
    path.write_text(f"""tpack: 1
seed: 1
data:
  train: [{{FakeData: {{shapes: [{shape}], dtype: [float32], names: [x], size: {count}, random: false}}}}, BatchData: {count}]
model:
  inputs: {{x: {{shape: {shape}, layout: CHW}}}}
  layers:
    - Variable: {{name: scale, shape: [{shape[0]}, 1, 1], initializer: {{Constant: 1}}}}
    - Elementwise: {{name: scaled, input: x, expression: x * scale}}
    - {layer.tpack}
    - Reshape: {{name: flat, shape: [-1]}}
    - ReduceMean: {{name: mean, axes: [1]}}
  cost: [{{Expression: mean}}]
optimizer: {{SGD: {{learning_rate: 1.0e-4}}}}
max_epoch: 1
""")


def tpack_ms(program, name, folder, steps):
    config = folder / "layer.yaml"
    write_config(LAYERS[name], config)
    done = subprocess.run([program, "bench", config, "--json", "--warm-up", "5", "--steps", str(steps)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {name}: {done.stderr.strip()}")
    return json.loads(done.stdout)["train"]["step_ms"]


def peer(name, variant, steps):
    """Runs in a process of its own; prints ms of a step."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class SqueezeExcite(nn.Module):
        def __init__(self, channels, units):
            super().__init__()
            self.down, self.up = nn.Conv2d(channels, units, 1), nn.Conv2d(units, channels, 1)

        def forward(self, x):
            return x * torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3), keepdim=True)))))

    class BlurPool(nn.Module):
        def __init__(self, channels):
            super().__init__()
            row = torch.tensor([1.0, 2.0, 1.0]) / 4
            self.register_buffer("kernel", (row[:, None] * row).expand(channels, 1, 3, 3).clone())

        def forward(self, x):
            return F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), self.kernel, stride=2, groups=x.shape[1])

    class GhostNorm(nn.Module):
        """A normalization of each part of a batch, without moving averages, which cost little."""

        def __init__(self, channels, size):
            super().__init__()
            self.size, self.norm = size, nn.BatchNorm2d(channels)

        def forward(self, x):
            return torch.cat([self.norm(part) for part in x.split(self.size)])

    torch.manual_seed(1)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    layer = LAYERS[name]
    function = eval(layer.torch)  # pylint: disable=eval-used
    layout = torch.contiguous_format if variant == "plain" else torch.channels_last
    if isinstance(function, nn.Module):
        function.to(memory_format=layout)
    x = torch.randn(layer.shape).contiguous(memory_format=layout)
    scale = nn.Parameter(torch.ones(layer.shape[1], 1, 1))
    variables = [scale] + (list(function.parameters()) if isinstance(function, nn.Module) else [])
    optimizer = torch.optim.SGD(variables, 1e-4, fused=True)

    def cost():
        return function(x * scale).mean()

    if variant == "compile":
        cost = torch.compile(cost)
    seconds = []
    for _ in range(5 + steps):
        began = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        cost().backward()
        optimizer.step()
        seconds.append(time.perf_counter() - began)
    print(1000 * statistics.median(seconds[5:]))


def peer_ms(name, variant, steps):
    """Nothing where the variant fails."""
    memory = {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1000000000000:glibc.malloc.hugetlb=1"}
    done = subprocess.run([sys.executable, __file__, name, "--peer", variant, "--steps", str(steps)], capture_output=True, text=True,
                          env={**os.environ, **memory})
    return float(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"{', '.join(LAYERS)}; default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--tpack", default=ROOT / "build/release/tpack")
    parser.add_argument("--peer", choices=VARIANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.layers:
        if name not in LAYERS:
            parser.error(f"unknown layer '{name}'; known are {', '.join(LAYERS)}")
    if options.peer:
        peer(options.layers[0], options.peer, options.steps)
        return
    ratios = []
    print("| layer | shape | tpack, ms | PyTorch, ms | times as fast |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.layers or LAYERS:
            own, peers = [], {variant: [] for variant in VARIANTS}
            for _ in range(options.rounds):
                own.append(tpack_ms(options.tpack, name, pathlib.Path(folder), options.steps))
                for variant, of in peers.items():
                    if None not in of:
                        of.append(peer_ms(name, variant, options.steps))
            best = {variant: statistics.median(of) for variant, of in peers.items() if None not in of}
            fastest = min(best, key=best.get)
            mine = statistics.median(own)
            ratios.append(best[fastest] / mine)
            print(f"| {name} | {' x '.join(map(str, LAYERS[name].shape))} | {mine:.2f} | {best[fastest]:.2f} ({fastest}) | {ratios[-1]:.2f} |", flush=True)
    print(f"\nmedian {statistics.median(ratios):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
