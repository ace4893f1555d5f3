"""The networks of networks.py in PyTorch, with the cost and the optimizer of their configs.

Where tpack and PyTorch would do the same by different means, these models take what is cheapest for PyTorch:

- Convolutions of stride 2 pad the same number of pixels on each side. tpack pads as TensorFlow does, for which PyTorch would
  need a copy of the input.
- Activations work in place, and ReLU comes after pooling, where it has a quarter of the work and the same result.
- L2 is the optimizer's weight decay, which gives the same gradient as a term of the cost.
- Learning rates stay as they are in the first step.
"""
import dataclasses
import typing

import torch
import torch.nn.functional as F
from torch import nn


def conv(inputs, outputs, kernel, stride=1, bias=False, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=(kernel - 1) // 2, groups=groups, bias=bias)


def relu(x):
    return F.relu(x, inplace=True)


def initialize(model, mode):
    """Kernels as He et al. 2015, with the given fan for convolutions; biases 0."""
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(layer.weight, mode=mode if isinstance(layer, nn.Conv2d) else "fan_in", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return model


class MnistConvnet(nn.Module):
    """configs/mnist-convnet.yaml."""

    def __init__(self, kernel=3, filters=32):
        super().__init__()
        self.conv = nn.ModuleList(conv(inputs, filters, kernel, bias=True) for inputs in (1, filters, filters, filters))
        self.fc0 = nn.Linear(filters * 7 * 7, 512)
        self.dropout = nn.Dropout(0.5)
        self.fc1 = nn.Linear(512, 10)
        initialize(self, "fan_in")

    def forward(self, x):
        x = relu(F.max_pool2d(self.conv[0](x), 2))
        x = relu(self.conv[1](x))
        x = relu(F.max_pool2d(self.conv[2](x), 2))
        x = relu(self.conv[3](x)).flatten(1)
        return self.fc1(self.dropout(relu(self.fc0(x))))


class PreactBranch(nn.Module):
    """Two convolutions with their normalizations; the first block has none before them."""

    def __init__(self, inputs, outputs, stride=1, preact=True):
        super().__init__()
        self.preact_bn = nn.BatchNorm2d(inputs) if preact else None
        self.conv1 = conv(inputs, outputs, 3, stride)
        self.conv1_bn = nn.BatchNorm2d(outputs)
        self.conv2 = conv(outputs, outputs, 3)
        self.added_channels = (outputs - inputs) // 2  # on each side of the shortcut's
        self.stride = stride

    def forward(self, x):
        branch = x if self.preact_bn is None else relu(self.preact_bn(x))
        branch = self.conv2(relu(self.conv1_bn(self.conv1(branch))))
        if self.stride > 1:
            x = F.pad(F.avg_pool2d(x, self.stride), (0, 0, 0, 0, self.added_channels, self.added_channels))
        return branch.add_(x)


class PreactResnet(nn.Module):
    """models/preact-resnet.yaml: 6n + 2 layers."""

    def __init__(self, n):
        super().__init__()
        self.conv0 = conv(3, 16, 3)
        self.conv0_bn = nn.BatchNorm2d(16)
        blocks = [PreactBranch(16, 16, preact=False)]
        blocks += [PreactBranch(16, 16) for _ in range(n - 1)]
        for width in (32, 64):
            blocks.append(PreactBranch(width // 2, width, stride=2))
            blocks += [PreactBranch(width, width) for _ in range(n - 1)]
        self.blocks = nn.Sequential(*blocks)
        self.bnlast = nn.BatchNorm2d(64)
        self.linear = nn.Linear(64, 10)
        initialize(self, "fan_out")

    def forward(self, x):
        x = self.blocks(relu(self.conv0_bn(self.conv0(x))))
        return self.linear(relu(self.bnlast(x)).mean((2, 3)))


class Bottleneck(nn.Module):
    """He et al. 2015, figure 5; the stride is in the 3x3 convolution."""

    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1 = conv(inputs, channels, 1)
        self.conv1_bn = nn.BatchNorm2d(channels)
        self.conv2 = conv(channels, channels, 3, stride)
        self.conv2_bn = nn.BatchNorm2d(channels)
        self.conv3 = conv(channels, channels * 4, 1)
        self.conv3_bn = nn.BatchNorm2d(channels * 4)
        self.shortcut = None
        if inputs != channels * 4:
            self.shortcut = nn.Sequential(conv(inputs, channels * 4, 1, stride), nn.BatchNorm2d(channels * 4))

    def forward(self, x):
        branch = relu(self.conv1_bn(self.conv1(x)))
        branch = relu(self.conv2_bn(self.conv2(branch)))
        branch = self.conv3_bn(self.conv3(branch))
        return relu(branch.add_(x if self.shortcut is None else self.shortcut(x)))


class ResNet50(nn.Module):
    """bench/configs/resnet50.yaml."""

    def __init__(self):
        super().__init__()
        self.conv0 = conv(3, 64, 7, stride=2)
        self.conv0_bn = nn.BatchNorm2d(64)
        blocks, inputs = [], 64
        for group, (channels, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
            for block in range(count):
                blocks.append(Bottleneck(inputs, channels, stride=2 if group > 0 and block == 0 else 1))
                inputs = channels * 4
        self.blocks = nn.Sequential(*blocks)
        self.linear = nn.Linear(2048, 1000)
        initialize(self, "fan_out")

    def forward(self, x):
        x = F.max_pool2d(relu(self.conv0_bn(self.conv0(x))), 3, stride=2, padding=1)
        return self.linear(self.blocks(x).mean((2, 3)))


class VGG16(nn.Module):
    """bench/configs/vgg16.yaml."""

    def __init__(self):
        super().__init__()
        layers, inputs = [], 3
        for channels, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            for index in range(count):
                layers.append(conv(inputs, channels, 3, bias=True))
                layers += [nn.MaxPool2d(2)] if index == count - 1 else []
                layers.append(nn.ReLU(inplace=True))
                inputs = channels
        self.convs = nn.Sequential(*layers)
        self.fc0 = nn.Linear(512 * 7 * 7, 4096)
        self.fc1 = nn.Linear(4096, 4096)
        self.logits = nn.Linear(4096, 1000)
        self.dropout = nn.Dropout(0.5)
        initialize(self, "fan_in")

    def forward(self, x):
        x = self.convs(x).flatten(1)
        x = self.dropout(relu(self.fc0(x)))
        x = self.dropout(relu(self.fc1(x)))
        return self.logits(x)


def normalized(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    """A list: a convolution, its normalization, and an activation that works in place."""
    layers = [conv(inputs, outputs, kernel, stride, groups=groups), nn.BatchNorm2d(outputs)]
    return layers + ([activation(inplace=True)] if activation else [])


class InvertedResidual(nn.Sequential):
    """Sandler et al. 2018, figure 4d."""

    def __init__(self, inputs, outputs, stride):
        wide = 6 * inputs
        super().__init__(*normalized(inputs, wide, 1, activation=nn.ReLU6),
                         *normalized(wide, wide, 3, stride, groups=wide, activation=nn.ReLU6),
                         *normalized(wide, outputs, 1))
        self.has_shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        branch = super().forward(x)
        return branch.add_(x) if self.has_shortcut else branch


class MobileNetV2(nn.Module):
    """bench/configs/mobilenet-v2.yaml."""

    def __init__(self):
        super().__init__()
        layers = normalized(3, 32, 3, stride=2, activation=nn.ReLU6)
        layers += normalized(32, 32, 3, groups=32, activation=nn.ReLU6)
        layers += normalized(32, 16, 1)
        inputs = 16
        for channels, count, stride in ((24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)):
            for block in range(count):
                layers.append(InvertedResidual(inputs, channels, stride if block == 0 else 1))
                inputs = channels
        layers += normalized(320, 1280, 1, activation=nn.ReLU6)
        self.layers = nn.Sequential(*layers)
        self.linear = nn.Linear(1280, 1000)
        initialize(self, "fan_out")

    def forward(self, x):
        return self.linear(self.layers(x).mean((2, 3)))


class ShuffleUnit(nn.Module):
    """Ma et al. 2018, figures 3c and 3d: half of the outputs from each branch. With stride 1, the left one is a part of the input."""

    def __init__(self, inputs, half, stride):
        super().__init__()
        self.left = None
        if stride > 1:
            self.left = nn.Sequential(*normalized(inputs, inputs, 3, stride, groups=inputs),
                                      *normalized(inputs, half, 1, activation=nn.ReLU))
        self.right = nn.Sequential(*normalized(half if self.left is None else inputs, half, 1, activation=nn.ReLU),
                                   *normalized(half, half, 3, stride, groups=half),
                                   *normalized(half, half, 1, activation=nn.ReLU))

    def forward(self, x):
        left, right = x.chunk(2, 1) if self.left is None else (self.left(x), x)
        return F.channel_shuffle(torch.cat((left, self.right(right)), 1), 2)


class ShuffleNetV2(nn.Module):
    """bench/configs/shufflenet-v2.yaml."""

    def __init__(self):
        super().__init__()
        layers = [*normalized(3, 24, 3, stride=2, activation=nn.ReLU), nn.MaxPool2d(3, stride=2, padding=1)]
        inputs = 24
        for channels, count in ((116, 4), (232, 8), (464, 4)):
            for unit in range(count):
                layers.append(ShuffleUnit(inputs, channels // 2, stride=2 if unit == 0 else 1))
                inputs = channels
        layers += normalized(464, 1024, 1, activation=nn.ReLU)
        self.layers = nn.Sequential(*layers)
        self.linear = nn.Linear(1024, 1000)
        initialize(self, "fan_out")

    def forward(self, x):
        return self.linear(self.layers(x).mean((2, 3)))


class Convs(nn.Sequential):
    """Two convolutions with their normalizations, as the block of the same name in configs/unet.yaml."""

    def __init__(self, inputs, filters):
        super().__init__(*normalized(inputs, filters, 3, activation=nn.ReLU), *normalized(filters, filters, 3, activation=nn.ReLU))


class UNet(nn.Module):
    """configs/unet.yaml; variables begin as PyTorch makes them."""

    def __init__(self, classes, width=16):
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.down = nn.ModuleList(Convs(inputs, filters) for inputs, filters in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * filters, filters, 2, 2) for filters in widths[:3])
        self.merge = nn.ModuleList(Convs(2 * filters, filters) for filters in widths[:3])
        self.logits = conv(width, classes, 1, bias=True)

    def forward(self, x):
        kept = []
        for level, convs in enumerate(self.down):
            x = convs(x if level == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for level in (2, 1, 0):
            x = self.merge[level](torch.cat([self.up[level](x), kept[level]], 1))
        return self.logits(x)


def segmentation_cost(logits, masks):
    """Cross entropy and Dice loss. Shapes: [N, classes, H, W], [N, H, W] -> []."""
    logs = F.log_softmax(logits, 1)
    p = logs.exp()
    facts = masks[:, None] == torch.arange(logits.shape[1])[:, None, None]
    right, sizes = (p * facts).sum((2, 3)), p.sum((2, 3)) + facts.sum((2, 3))
    return F.nll_loss(logs, masks) + 1 - ((right + 1) / (sizes / 2 + 1)).mean()


class Perceptron(nn.Module):
    """bench/configs/perceptron.yaml."""

    def __init__(self):
        super().__init__()
        self.fc = nn.ModuleList(nn.Linear(2048, 2048) for _ in range(3))
        self.logits = nn.Linear(2048, 10)
        initialize(self, "fan_in")

    def forward(self, x):
        x = x.flatten(1)
        for layer in self.fc:
            x = relu(layer(x))
        return self.logits(x)


@dataclasses.dataclass(frozen=True)
class Training:
    """A network with all that a step needs besides data. What is regularized: the weights whose name begins with `decayed`."""

    make: type
    arguments: dict
    scale: float  # of the input's bytes
    offset: float
    optimizer: type
    hyper: dict
    l2: float = 0.0  # the cost has l2 / 2 times the sum of squares
    decayed: str = ""
    cost: typing.Callable = F.cross_entropy

    def model(self):
        return self.make(**self.arguments)

    def regularized(self, model):
        """The weights that L2 is for: kernels, not biases or normalizations."""
        return [p for name, p in model.named_parameters() if self.l2 > 0 and p.dim() > 1 and name.startswith(self.decayed)]

    def make_optimizer(self, model, **implementation):
        decayed = self.regularized(model)
        chosen = set(map(id, decayed))
        groups = [{"params": decayed, "weight_decay": self.l2}, {"params": [p for p in model.parameters() if id(p) not in chosen]}]
        return self.optimizer([group for group in groups if group["params"]], **self.hyper, **implementation)


_MNIST = {"make": MnistConvnet, "scale": 2 / 255, "offset": -1.0, "optimizer": torch.optim.Adam, "hyper": {"lr": 1e-3},
          "l2": 1e-5, "decayed": "fc"}
_MOMENTUM = {"optimizer": torch.optim.SGD, "hyper": {"lr": 0.01, "momentum": 0.9}}
_RANDOM_IMAGES = {"scale": 1 / 128, "offset": -1.0, **_MOMENTUM}

TRAININGS = {
    "mnist-convnet": Training(arguments={}, **_MNIST),
    "mnist-convnet-5x5-48": Training(arguments={"kernel": 5, "filters": 48}, **_MNIST),
    "cifar-resnet-32": Training(PreactResnet, {"n": 5}, 1 / 128, -0.943, l2=2e-4, **_MOMENTUM),
    "resnet50": Training(ResNet50, {}, **_RANDOM_IMAGES),
    "vgg16": Training(VGG16, {}, **_RANDOM_IMAGES),
    "mobilenet-v2": Training(MobileNetV2, {}, **_RANDOM_IMAGES),
    "shufflenet-v2": Training(ShuffleNetV2, {}, **_RANDOM_IMAGES),
    "unet": Training(UNet, {"classes": 4}, 0.0078, -1.0, torch.optim.Adam, {"lr": 3e-3}, cost=segmentation_cost),
    "perceptron": Training(Perceptron, {}, **_RANDOM_IMAGES),
}
