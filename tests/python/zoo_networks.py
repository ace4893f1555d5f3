"""Networks of the zoo that torchvision does not have, in PyTorch, for write_zoo_files.py. The names of their weights are those of the
source. Those of timm were compared with timm 1.0.31 once: the same state dict gives the same outputs.
"""
import torch
from torch import nn
from torch.nn import functional

STAGES = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3)}


def conv(inputs, filters, kernel=1, stride=1, groups=1, bias=False):
    return nn.Conv2d(inputs, filters, kernel, stride, kernel // 2, groups=groups, bias=bias)


class Numbered(nn.Module):
    """Modules under names that are numbers or words, one after the other."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            self.add_module(name.lstrip("_"), part)

    def forward(self, x):
        for part in self.children():
            x = part(x)
        return x


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc1 = conv(channels, channels // 16, bias=True)
        self.fc2 = conv(channels // 16, channels, bias=True)

    def forward(self, x):
        means = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.fc2(functional.relu(self.fc1(means))))


class Bottleneck(nn.Module):
    def __init__(self, inputs, channels, stride, squeeze, deep):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, channels), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = conv(channels, channels, 3, stride), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = conv(channels, 4 * channels), nn.BatchNorm2d(4 * channels)
        self.se = SqueezeExcite(4 * channels) if squeeze else nn.Identity()
        self.downsample = nn.Identity()
        if inputs != 4 * channels and deep:
            pool = nn.AvgPool2d(stride) if stride > 1 else nn.Identity()
            self.downsample = nn.Sequential(pool, conv(inputs, 4 * channels), nn.BatchNorm2d(4 * channels))
        elif inputs != 4 * channels:
            self.downsample = nn.Sequential(conv(inputs, 4 * channels, 1, stride), nn.BatchNorm2d(4 * channels))

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        return functional.relu(self.se(self.bn3(self.conv3(y))) + self.downsample(x))


class ResNet(nn.Module):
    """timm's seresnet50 (squeeze) and resnet50d (deep)."""

    def __init__(self, blocks, squeeze=False, deep=False):
        super().__init__()
        self.conv1 = conv(3, 64, 7, 2)
        if deep:
            self.conv1 = nn.Sequential(conv(3, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU(), conv(32, 32, 3), nn.BatchNorm2d(32), nn.ReLU(),
                                       conv(32, 64, 3))
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for i, count in enumerate(blocks):
            channels = 64 * 2**i
            stage = []
            for j in range(count):
                stage.append(Bottleneck(inputs, channels, 2 if i > 0 and j == 0 else 1, squeeze, deep))
                inputs = 4 * channels
            self.add_module(f"layer{i + 1}", nn.Sequential(*stage))
        self.fc = nn.Linear(inputs, 1000)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class PreactBottleneck(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.is_first = inputs != 4 * channels or stride > 1
        if self.is_first:
            self.downsample = Numbered(conv=conv(inputs, 4 * channels, 1, stride))
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, channels)
        self.norm2, self.conv2 = nn.BatchNorm2d(channels), conv(channels, channels, 3, stride)
        self.norm3, self.conv3 = nn.BatchNorm2d(channels), conv(channels, 4 * channels)

    def forward(self, x):
        y = functional.relu(self.norm1(x))
        shortcut = self.downsample(y) if self.is_first else x
        y = functional.relu(self.norm2(self.conv1(y)))
        return shortcut + self.conv3(functional.relu(self.norm3(self.conv2(y))))


class ResNetV2(nn.Module):
    """timm's resnetv2_50 and resnetv2_101."""

    def __init__(self, blocks):
        super().__init__()
        self.stem = Numbered(conv=conv(3, 64, 7, 2), pool=nn.MaxPool2d(3, 2, 1))
        inputs, stages = 64, []
        for i, count in enumerate(blocks):
            stage = []
            for j in range(count):
                stage.append(PreactBottleneck(inputs, 64 * 2**i, 2 if i > 0 and j == 0 else 1))
                inputs = 256 * 2**i
            stages.append(Numbered(blocks=nn.Sequential(*stage)))
        self.stages = nn.Sequential(*stages)
        self.norm = nn.BatchNorm2d(inputs)
        self.head = Numbered(fc=conv(inputs, 1000, bias=True))

    def forward(self, x):
        x = functional.relu(self.norm(self.stages(self.stem(x))))
        return self.head(x.mean((2, 3), keepdim=True)).flatten(1)


class Separable(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv_dw, self.bn1 = conv(inputs, inputs, 3, stride, inputs), nn.BatchNorm2d(inputs)
        self.conv_pw, self.bn2 = conv(inputs, channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        x = functional.relu6(self.bn1(self.conv_dw(x)))
        return functional.relu6(self.bn2(self.conv_pw(x)))


class MobileNetV1(nn.Module):
    """timm's mobilenetv1_100."""

    def __init__(self):
        super().__init__()
        self.conv_stem, self.bn1 = conv(3, 32, 3, 2), nn.BatchNorm2d(32)
        inputs, stages = 32, []
        for i, count in enumerate((1, 2, 2, 6, 2)):
            stage = []
            for j in range(count):
                stage.append(Separable(inputs, 64 * 2**i, 2 if i > 0 and j == 0 else 1))
                inputs = 64 * 2**i
            stages.append(nn.Sequential(*stage))
        self.blocks = nn.Sequential(*stages)
        self.classifier = nn.Linear(inputs, 1000)

    def forward(self, x):
        return self.classifier(self.blocks(functional.relu6(self.bn1(self.conv_stem(x)))).mean((2, 3)))


def mlp(inputs, hidden):
    return Numbered(fc1=nn.Linear(inputs, hidden), act=nn.GELU(), fc2=nn.Linear(hidden, inputs))


class MixerBlock(nn.Module):
    def __init__(self, tokens, channels):
        super().__init__()
        self.norm1, self.mlp_tokens = nn.LayerNorm(channels, eps=1e-6), mlp(tokens, channels // 2)
        self.norm2, self.mlp_channels = nn.LayerNorm(channels, eps=1e-6), mlp(channels, channels * 4)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


class MlpMixer(nn.Module):
    """timm's mixer_b16_224 (side 224)."""

    def __init__(self, side):
        super().__init__()
        self.stem = Numbered(proj=nn.Conv2d(3, 768, 16, 16))
        self.blocks = nn.Sequential(*[MixerBlock((side // 16)**2, 768) for _ in range(12)])
        self.norm = nn.LayerNorm(768, eps=1e-6)
        self.head = nn.Linear(768, 1000)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(1))


class ShuffleUnit(nn.Module):
    def __init__(self, inputs, channels, groups, is_first):
        super().__init__()
        self.groups, self.is_down = groups, inputs != channels
        middle, outputs = channels // 4, channels - inputs if self.is_down else channels
        self.branch_main_1 = nn.Sequential(conv(inputs, middle, groups=1 if is_first else groups), nn.BatchNorm2d(middle), nn.ReLU(),
                                           conv(middle, middle, 3, 2 if self.is_down else 1, middle), nn.BatchNorm2d(middle))
        self.branch_main_2 = nn.Sequential(conv(middle, outputs, groups=groups), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.branch_main_2(nn.functional.channel_shuffle(self.branch_main_1(x), self.groups))
        if self.is_down:
            return torch.cat([functional.avg_pool2d(x, 3, 2, 1), functional.relu(y)], 1)
        return functional.relu(x + y)


class ShuffleNetV1(nn.Module):
    """Zhang et al. 2018, with the names of the authors' program (github.com/megvii-model/ShuffleNet-Series)."""

    def __init__(self, stem, channels, groups):
        super().__init__()
        self.first_conv = nn.Sequential(conv(3, stem, 3, 2), nn.BatchNorm2d(stem), nn.ReLU())
        inputs, units = stem, []
        for i, count in enumerate((4, 8, 4)):
            for _ in range(count):
                units.append(ShuffleUnit(inputs, channels * 2**i, groups, inputs == stem))
                inputs = channels * 2**i
        self.features = nn.Sequential(*units)
        self.classifier = nn.Sequential(nn.Linear(inputs, 1000, bias=False))

    def forward(self, x):
        x = self.features(functional.max_pool2d(self.first_conv(x), 3, 2, 1))
        return self.classifier(x.mean((2, 3)))


def same(x, kernel, stride, value=0.0):
    """Pads as TensorFlow does: of an odd number of rows or columns, one more at the end."""
    total = [max(0, (-(-side // stride) - 1) * stride + kernel - side) for side in x.shape[2:]]
    return functional.pad(x, (total[1] // 2, total[1] - total[1] // 2, total[0] // 2, total[0] - total[0] // 2), value=value)


class NormedConv(nn.Conv2d):
    def __init__(self, inputs, filters, kernel, stride=1):
        super().__init__(inputs, filters, kernel, stride, bias=False)
        self.bn = nn.BatchNorm2d(filters)

    def forward(self, x):
        return functional.relu(self.bn(super().forward(same(x, self.kernel_size[0], self.stride[0]))))


class InceptionUnit(nn.Module):
    def __init__(self, inputs, one, reduce3, three, reduce5, five, pool, kind):
        super().__init__()
        self.stride, self.kind = 1 if one else 2, kind
        self.conv1x1 = NormedConv(inputs, one, 1) if one else None
        self.conv3x3r, self.conv3x3 = NormedConv(inputs, reduce3, 1), NormedConv(reduce3, three, 3, self.stride)
        self.conv233r, self.conv233a = NormedConv(inputs, reduce5, 1), NormedConv(reduce5, five, 3)
        self.conv233b = NormedConv(five, five, 3, self.stride)
        self.poolproj = NormedConv(inputs, pool, 1) if pool else None
        self.outputs = one + three + five + (pool or inputs)

    def forward(self, x):
        parts = [self.conv1x1(x)] if self.conv1x1 else []
        parts += [self.conv3x3(self.conv3x3r(x)), self.conv233b(self.conv233a(self.conv233r(x)))]
        if self.kind == "max":
            pooled = functional.max_pool2d(same(x, 3, self.stride, -torch.inf), 3, self.stride)
        else:
            pooled = functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        return torch.cat(parts + [self.poolproj(pooled) if self.poolproj else pooled], 1)


class InceptionBN(nn.Module):
    """Ioffe and Szegedy 2015, with the names of tensorpack's example."""

    UNITS = {"incep3a": (64, 64, 64, 64, 96, 32, "avg"), "incep3b": (64, 64, 96, 64, 96, 64, "avg"),
             "incep3c": (0, 128, 160, 64, 96, 0, "max"), "incep4a": (224, 64, 96, 96, 128, 128, "avg"),
             "incep4b": (192, 96, 128, 96, 128, 128, "avg"), "incep4c": (160, 128, 160, 128, 160, 128, "avg"),
             "incep4d": (96, 128, 192, 160, 192, 128, "avg"), "incep4e": (0, 128, 192, 192, 256, 0, "max"),
             "incep5a": (352, 192, 320, 160, 224, 128, "avg"), "incep5b": (352, 192, 320, 192, 224, 128, "max")}

    def __init__(self, side):
        super().__init__()
        self.conv0, self.conv1, self.conv2 = NormedConv(3, 64, 7, 2), NormedConv(64, 64, 1), NormedConv(64, 192, 3)
        inputs = 192
        for name, sizes in self.UNITS.items():
            unit = InceptionUnit(inputs, *sizes)
            self.add_module(name, unit)
            inputs = unit.outputs
            if unit.stride == 2:  # an auxiliary classifier
                head = "loss1" if name == "incep3c" else "loss2"
                pixels = -(-side // (16 if head == "loss1" else 32))
                self.add_module(head + "conv", NormedConv(inputs, 128, 1))
                self.add_module(head + "fc", nn.Linear(128 * pixels**2, 1024))
                self.add_module(head + "logit", nn.Linear(1024, 1000))
        self.linear = nn.Linear(inputs, 1000)

    def forward(self, x):
        def halved(x):
            return functional.max_pool2d(same(x, 3, 2, -torch.inf), 3, 2)

        x = halved(self.conv2(self.conv1(halved(self.conv0(x)))))
        outputs = {}
        for name in self.UNITS:
            x = getattr(self, name)(x)
            head = {"incep3c": "loss1", "incep4e": "loss2"}.get(name)
            if head:
                y = getattr(self, head + "conv")(x).flatten(1)
                outputs[head + "logit"] = getattr(self, head + "logit")(functional.relu(getattr(self, head + "fc")(y)))
        self.auxiliary = outputs
        return self.linear(x.mean((2, 3)))


SHUFFLE_SIZES = {"x0-5": (12, 120), "x1-0": (24, 240), "x1-5": (24, 360), "x2-0": (48, 480)}


def network(name, side):
    """The network of the zoo with this name; None if it is one of torchvision."""
    if name.startswith("se-resnet"):
        return ResNet(STAGES[name[len("se-resnet"):]], squeeze=True)
    if name.startswith("resnet") and name.endswith("-d"):
        return ResNet(STAGES[name[len("resnet"):-2]], deep=True)
    if name.startswith("resnetv2-"):
        return ResNetV2(STAGES[name[len("resnetv2-"):]])
    if name == "mobilenet-v1":
        return MobileNetV1()
    if name == "mlp-mixer-b16":
        return MlpMixer(side)
    if name.startswith("shufflenet-v1-"):
        return ShuffleNetV1(*SHUFFLE_SIZES[name[len("shufflenet-v1-"):]], groups=3)
    if name == "inception-bn":
        return InceptionBN(side)
    return None


def colors(name):
    """Mean and deviation of the colors that the network expects."""
    if name.startswith(("resnetv2-", "mobilenet-v1", "mlp-mixer")):
        return [127.5] * 3, [127.5] * 3
    return [123.675, 116.28, 103.53], [128.0] * 3 if name == "inception-bn" else [58.395, 57.12, 57.375]
