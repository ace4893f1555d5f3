#!/usr/bin/env python3
"""Makes layers.json: results of layers, costs and metrics in PyTorch. With --check: compares the file instead."""
import math

from golden import finish, integers, numbers  # first: it says what is missing
from layer_golden import (CASES, affine_norm, avg_pool_same, batch_norm, batch_norm_with_averages, case, conv_transpose, results_of,
                          same)
from philox import normal, random_key, uniform_of

import torch
import torch.nn.functional as F

IMAGE = numbers(2, 3, 5, 4)       # odd height, even width
EVEN = numbers(2, 3, 8, 6)
MANY = numbers(2, 17, 7, 9)       # a number of channels that does not fill vectors of 8 or 16


def blur_pool(x, stride):
    line = torch.tensor([1, 2, 1], dtype=x.dtype) / 4
    window = torch.outer(line, line).expand(x.shape[1], 1, 3, 3)
    return F.conv2d(F.pad(x, (1, 1, 1, 1), "reflect"), window, stride=stride, groups=x.shape[1])


def squeeze_excite(x, v, units, activation, gate, bias=True):
    # As convolutions of 1x1 pixels, which torchvision has.
    y = F.adaptive_avg_pool2d(x, 1)
    for name, size, function in (("squeeze", units, activation), ("excite", x.shape[1], gate)):
        w = v.weight(f"squeeze_excite_0/{name}/W", y.shape[1], size)
        y = function(F.conv2d(y, w.T[:, :, None, None], v.bias(f"squeeze_excite_0/{name}/b", size) if bias else None))
    return x * y


@case("add", "Add", "- Add: {input: [x0, x1, x0]}", IMAGE, IMAGE)
def _(x0, x1, _):
    return x0 + x1 + x0


@case("identity", "Identity", "- Identity", IMAGE)
def _(x, _):
    return x * 1


@case("relu", "ReLU", "- ReLU", IMAGE)
def _(x, _):
    return F.relu(x)


@case("leaky_relu", "LeakyReLU", "- LeakyReLU: {alpha: 0.3}", IMAGE)
def _(x, _):
    return F.leaky_relu(x, 0.3)


@case("leaky_relu_default", "LeakyReLU", "- LeakyReLU", IMAGE)
def _(x, _):
    return F.leaky_relu(x, 0.2)


@case("tanh", "Tanh", "- Tanh", numbers(3, 7, within=3))
def _(x, _):
    return torch.tanh(x)


@case("gelu", "GELU", "- GELU", numbers(3, 7, within=4))
def _(x, _):
    return F.gelu(x)


@case("hard_sigmoid", "HardSigmoid", "- HardSigmoid", numbers(3, 7, within=5))
def _(x, _):
    return torch.clamp(x + 3, 0, 6) / 6  # F.hardsigmoid has 1/6 as a float, in double too


@case("hard_swish", "HardSwish", "- HardSwish", numbers(3, 7, within=5))
def _(x, _):
    return F.hardswish(x)


@case("hard_tanh", "HardTanh", "- HardTanh", numbers(3, 7, within=3))
def _(x, _):
    return F.hardtanh(x)


@case("log_sigmoid", "LogSigmoid", "- LogSigmoid", numbers(3, 7, within=60))
def _(x, _):
    return F.logsigmoid(x)


@case("mish", "Mish", "- Mish", numbers(3, 7, within=6))
def _(x, _):
    return F.mish(x)


@case("relu6", "ReLU6", "- ReLU6", numbers(3, 7, within=10))
def _(x, _):
    return F.relu6(x)


@case("selu", "SELU", "- SELU", numbers(3, 7, within=3))
def _(x, _):
    return F.selu(x)


@case("silu", "SiLU", "- SiLU", numbers(3, 7, within=6))
def _(x, _):
    return F.silu(x)


@case("softsign", "Softsign", "- Softsign", numbers(3, 7, within=6))
def _(x, _):
    return F.softsign(x)


@case("sigmoid", "Sigmoid", "- Sigmoid", numbers(3, 7, within=6))
def _(x, _):
    return torch.sigmoid(x)


@case("softmax", "Softmax", "- Softmax", numbers(3, 7, within=8))
def _(x, _):
    return F.softmax(x, dim=-1)


@case("normalize", "Normalize", "- Normalize: {scale: 0.3, offset: -0.7}", IMAGE)
def _(x, _):
    return x * 0.3 - 0.7


@case("normalize_bytes", "Normalize", "- Normalize", integers(2, 3, 4, 4, below=256, dtype="uint8"))
def _(x, _):
    return x.double() / 255


@case("pad", "Pad", "- Pad: {image: [1, 0, 2, 3], channels: [2, 1]}", IMAGE)
def _(x, _):
    return F.pad(x, (0, 3, 1, 2, 2, 1))    # left, right, top, bottom, channels


@case("resize", "Resize", "- Resize", IMAGE)
def _(x, _):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


@case("resize_to_a_size", "Resize", "- Resize: {size: [7, 3]}", MANY)
def _(x, _):
    return F.interpolate(x, (7, 3), mode="bilinear", align_corners=False)


@case("resize_with_corners", "Resize", "- Resize: {size: [3, 11], align_corners: true}", IMAGE)
def _(x, _):
    return F.interpolate(x, (3, 11), mode="bilinear", align_corners=True)


@case("resize_nearest", "Resize", "- Resize: {scale: [2, 3], method: nearest}", IMAGE)
def _(x, _):
    return F.interpolate(x, scale_factor=(2, 3), mode="nearest")


@case("resize_nearest_to_a_size", "Resize", "- Resize: {size: [7, 3], method: nearest}", IMAGE)
def _(x, _):
    return F.interpolate(x, (7, 3), mode="nearest")


@case("pixel_shuffle", "PixelShuffle", "- PixelShuffle: 2", numbers(2, 8, 3, 4))
def _(x, _):
    return F.pixel_shuffle(x, 2)


@case("fixed_unpooling", "FixedUnPooling", "- FixedUnPooling: [2, 3]", IMAGE)
def _(x, _):
    y = torch.zeros(x.shape[0], x.shape[1], x.shape[2] * 2, x.shape[3] * 3, dtype=x.dtype)
    y[:, :, ::2, ::3] = x
    return y


@case("dropout_in_inference", "Dropout", "- Dropout: {rate: 0.5}", IMAGE, phase="inference")
def _(x, _):
    return F.dropout(x, 0.5, training=False) * 1


@case("spatial_dropout_in_inference", "SpatialDropout", "- SpatialDropout: 0.5", IMAGE, phase="inference")
def _(x, _):
    return F.dropout2d(x, 0.5, training=False) * 1


def dropped(x, layer, rate, *drawn):
    kept = uniform_of(random_key(f"{layer}/RandomUniform"), math.prod(drawn)) >= rate
    return x * torch.from_numpy(kept).reshape(drawn + (1,) * (x.dim() - len(drawn))) / (1 - rate)


@case("spatial_dropout", "SpatialDropout", "- SpatialDropout: 0.25", numbers(3, 8, 2, 2))
def _(x, _):
    return dropped(x, "spatial_dropout_0", 0.25, 3, 8)


@case("drop_path", "DropPath", "- Residual: {layers: [Tanh, {DropPath: 0.4}]}", numbers(9, 3, 2, 2))
def _(x, _):
    return x + dropped(torch.tanh(x), "residual_0/drop_path_0", 0.4, 9)


@case("blur_pool", "BlurPool", "- BlurPool", IMAGE)
def _(x, _):
    return blur_pool(x, 2)


@case("blur_pool_of_other_strides", "BlurPool", "- BlurPool: [3, 1]", MANY)
def _(x, _):
    return blur_pool(x, (3, 1))


@case("blur_pool_of_small_images", "BlurPool", "[{Conv2D: {filters: 16}}, {BlurPool: {stride: 2}}, {Conv2D: {filters: 2}}]",
      numbers(1, 2, 2, 3))
def _(x, v):
    y = blur_pool(F.conv2d(x, v.weight("conv2d_0/W", 16, 2, 3, 3), v.bias("conv2d_0/b", 16), padding="same"), 2)
    return F.conv2d(y, v.weight("conv2d_1/W", 2, 16, 3, 3), v.bias("conv2d_1/b", 2), padding="same")


@case("global_max_pooling", "GlobalMaxPooling", "- GlobalMaxPooling", IMAGE)
def _(x, _):
    return F.adaptive_max_pool2d(x, 1).flatten(1)


def shuffled(x, groups):
    """torch.nn.ChannelShuffle, of which PyTorch before 2 has no gradient."""
    return x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)


@case("channel_shuffle", "ChannelShuffle", "- ChannelShuffle: 3", numbers(2, 6, 3, 4))
def _(x, _):
    return shuffled(x, 3)


@case("channel_shuffle_between_convolutions", "ChannelShuffle",
      "[{Conv2D: {filters: 32, groups: 2}}, {ChannelShuffle: 2}, {Conv2D: {filters: 4, groups: 2}}]", numbers(2, 2, 5, 4))
def _(x, v):
    y = F.conv2d(x, v.weight("conv2d_0/W", 32, 1, 3, 3), v.bias("conv2d_0/b", 32), padding="same", groups=2)
    y = shuffled(y, 2)
    return F.conv2d(y, v.weight("conv2d_1/W", 4, 16, 3, 3), v.bias("conv2d_1/b", 4), padding="same", groups=2)


@case("squeeze_excite", "SqueezeExcite", "- SqueezeExcite: {ratio: 2}", numbers(2, 6, 3, 4))
def _(x, v):
    return squeeze_excite(x, v, 3, F.relu, torch.sigmoid)


@case("squeeze_excite_of_units", "SqueezeExcite",
      "- SqueezeExcite: {units: 5, use_bias: false, activation: SiLU, gate: HardSigmoid}", MANY)
def _(x, v):
    return squeeze_excite(x, v, 5, F.silu, lambda y: torch.clamp(y + 3, 0, 6) / 6, bias=False)


def straight_through(x, rounded):
    return x + (rounded - x).detach()


def nearest_level(x, bits):
    steps = 2 ** bits - 1
    return straight_through(x, torch.round(x * steps) / steps)


def quantize_weight(x, bits):
    if bits == 1:
        return straight_through(x, torch.sign(x) * x.abs().mean())
    bounded = torch.tanh(x)
    return 2 * nearest_level(bounded / bounded.abs().amax() * 0.5 + 0.5, bits) - 1


# So many elements that they are not compared with finite differences, which see the steps; and numbers without a gradient.
@case("quantize_activation", "QuantizeActivation", "- QuantizeActivation: {bits: 3}", numbers(20, 16, around=0.5))
def _(x, _):
    return nearest_level(x.clamp(0, 1), 3)


@case("quantize_activation_of_constants", "QuantizeActivation",
      "[{RandomUniform: {name: u, shape: [4]}}, {QuantizeActivation: 1}, {Elementwise: x * x0}]", numbers(3, 4))
def _(x, _):
    return torch.from_numpy(uniform_of(random_key("u/RandomUniform"), 12).reshape(3, 4)).round() * x


@case("quantize_weight", "QuantizeWeight", "- QuantizeWeight: {bits: 2}", numbers(20, 16, within=2))
def _(x, _):
    return quantize_weight(x, 2)


@case("quantize_weight_of_one_bit", "QuantizeWeight", "- QuantizeWeight: {bits: 1}", numbers(20, 16, within=2))
def _(x, _):
    return quantize_weight(x, 1)


@case("quantize_weight_of_constants", "QuantizeWeight",
      "[{RandomNormal: {name: z, shape: [4]}}, {QuantizeWeight: 4}, {Elementwise: x * x0}]", numbers(3, 4))
def _(x, _):
    return quantize_weight(torch.from_numpy(normal(random_key("z/RandomNormal"), 12).reshape(3, 4)), 4) * x


@case("quantized_network", "QuantizeWeight", '''
[{Conv2D: {filters: 8, kernel_transform: {QuantizeWeight: 1}, activation: {QuantizeActivation: 2}}},
 {Conv2DTranspose: {filters: 3, kernel_transform: {QuantizeWeight: 3}, use_bias: false}},
 {FullyConnected: {units: 4, kernel_transform: Tanh}}]
''', MANY)
def _(x, v):
    w = quantize_weight(v.weight("conv2d_0/W", 8, 17, 3, 3), 1)
    y = nearest_level(F.conv2d(x, w, v.bias("conv2d_0/b", 8), padding="same").clamp(0, 1), 2)
    w = quantize_weight(v.weight("conv2d_transpose_0/W", 8, 3, 3, 3), 3)
    y = F.conv_transpose2d(y, w, padding=1)
    return y.flatten(1) @ torch.tanh(v.weight("fully_connected_0/W", 189, 4)) + v.bias("fully_connected_0/b", 4)


@case("max_pooling", "MaxPooling", "- MaxPooling: {window: 2}", IMAGE)
def _(x, _):
    return F.max_pool2d(x, 2)


@case("max_pooling_overlapping", "MaxPooling", "- MaxPooling: {window: 3, stride: 2}", MANY)
def _(x, _):
    return F.max_pool2d(x, 3, 2)


@case("max_pooling_same", "MaxPooling", "- MaxPooling: {window: 3, stride: 2, padding: same}", IMAGE)
def _(x, _):
    return F.max_pool2d(same(x, (3, 3), (2, 2), value=-float("inf")), 3, 2)


# All are below zero: if padding with zeros took part in the maximum, the results would differ.
@case("max_pooling_same_negative", "MaxPooling", "- MaxPooling: {window: [2, 3], stride: [2, 1], padding: same}",
      numbers(2, 3, 7, 6, around=-2))
def _(x, _):
    return F.max_pool2d(same(x, (2, 3), (2, 1), value=-float("inf")), (2, 3), (2, 1))


@case("avg_pooling", "AvgPooling", "- AvgPooling: {window: 2}", IMAGE)
def _(x, _):
    return F.avg_pool2d(x, 2)


@case("avg_pooling_overlapping", "AvgPooling", "- AvgPooling: {window: [3, 2], stride: [2, 1]}", MANY)
def _(x, _):
    return F.avg_pool2d(x, (3, 2), (2, 1))


@case("avg_pooling_same", "AvgPooling", "- AvgPooling: {window: 3, stride: 2, padding: same}", IMAGE)
def _(x, _):
    return avg_pool_same(x, (3, 3), (2, 2))


@case("avg_pooling_same_even", "AvgPooling", "- AvgPooling: {window: 3, stride: 2, padding: same}", EVEN)
def _(x, _):
    return avg_pool_same(x, (3, 3), (2, 2))


@case("avg_pooling_same_stride_1", "AvgPooling", "- AvgPooling: {window: 3, stride: 1, padding: same}", EVEN)
def _(x, _):
    return F.avg_pool2d(x, 3, 1, padding=1, count_include_pad=False)


# Padding as numbers: on all sides as PyTorch has it, and of another size on each side.
@case("max_pooling_padding", "MaxPooling", "- MaxPooling: {window: 3, stride: 2, padding: 1}", numbers(2, 3, 8, 6, around=-2))
def _(x, _):
    return F.max_pool2d(x, 3, 2, padding=1)


@case("avg_pooling_padding", "AvgPooling", "- AvgPooling: {window: 3, stride: 2, padding: [1, 0]}", EVEN)
def _(x, _):
    return F.avg_pool2d(x, 3, 2, padding=(1, 0), count_include_pad=False)


@case("global_avg_pooling", "GlobalAvgPooling", "- GlobalAvgPooling", IMAGE)
def _(x, _):
    return F.adaptive_avg_pool2d(x, 1).flatten(1)


@case("scale_like_of_logarithms", "ScaleLike", "- ScaleLike: {data: x0, log: true}", numbers(6, 5))
def _(x, v):
    mean, deviation = of_data = v.average("scale_like_0/of_data", 2, 5)
    v.after["scale_like_0/of_data"] = of_data
    return torch.expm1(x * deviation + mean)


@case("scale_like", "ScaleLike", "- ScaleLike: x0", numbers(6, 5))
def _(x, v):
    mean, deviation = of_data = v.average("scale_like_0/of_data", 2, 5)
    v.after["scale_like_0/of_data"] = of_data
    return x * deviation + mean


@case("table_input", "TableInput", "- TableInput: {width: 3, frequencies: 2}", numbers(4, 3))
def _(x, v):
    phase = 2 * torch.pi * x[:, :, None] * v.weight("table_input_0/frequencies", 3, 2)
    waves = torch.cat([torch.sin(phase), torch.cos(phase)], -1)
    embedded = F.relu(waves @ v.weight("table_input_0/W", 4, 3) + v.bias("table_input_0/b", 3))
    return torch.cat([x, embedded.flatten(1)], 1)


@case("batch_norm", "BatchNorm", "- BatchNorm", numbers(4, 3, 3, 2))
def _(x, v):
    return batch_norm(x, v, "batch_norm_0")


@case("batch_norm_many_channels", "BatchNorm", "- BatchNorm: {momentum: 0.75, epsilon: 0.01}", MANY)
def _(x, v):
    return batch_norm(x, v, "batch_norm_0", momentum=0.75, epsilon=0.01)


@case("batch_norm_of_vectors", "BatchNorm", "- BatchNorm: {center: false, scale: false}", numbers(6, 5))
def _(x, v):
    return batch_norm(x, v, "batch_norm_0", center=False, scale=False)


def batch_norm_of_parts(x, v, name, size):
    channels = x.shape[1]
    beta, gamma = v.bias(f"{name}/beta", channels), v.positive(f"{name}/gamma", channels)
    parts = x.split(size)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    for which, values in (("mean", [part.mean(axes) for part in parts]),
                          ("variance", [part.var(axes, unbiased=False) for part in parts])):
        average = v.average(f"{name}/{which}/EMA", channels)
        v.after[f"{name}/{which}/EMA"] = average * 0.9 + torch.stack(values).mean(0).detach() * 0.1
    return torch.cat([F.batch_norm(part, None, None, gamma, beta, training=True) for part in parts])


@case("batch_norm_of_parts", "BatchNorm", "- BatchNorm: {virtual_batch_size: 2}", numbers(6, 3, 3, 2))
def _(x, v):
    return batch_norm_of_parts(x, v, "batch_norm_0", 2)


@case("batch_norm_of_parts_of_vectors", "BatchNorm", "- BatchNorm: {virtual_batch_size: 4}", numbers(8, 5))
def _(x, v):
    return batch_norm_of_parts(x, v, "batch_norm_0", 4)


def batch_renorm(x, v, name, rmax, dmax):
    channels = x.shape[1]
    beta, gamma = v.bias(f"{name}/beta", channels), v.positive(f"{name}/gamma", channels)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    mean, variance = x.mean(axes), x.var(axes, unbiased=False)
    mean_average, variance_average = (v.average(f"{name}/{which}/EMA", channels) for which in ("mean", "variance"))
    v.after[f"{name}/mean/EMA"] = mean_average * 0.99 + mean.detach() * 0.01
    v.after[f"{name}/variance/EMA"] = variance_average * 0.99 + variance.detach() * 0.01
    deviation, deviation_average = torch.sqrt(variance + 1e-5), torch.sqrt(variance_average + 1e-5)
    r = (deviation / deviation_average).clamp(1 / rmax, rmax).detach()
    d = ((mean - mean_average) / deviation_average).clamp(-dmax, dmax).detach()
    columns = [1, -1] + [1] * (x.dim() - 2)
    y = (x - mean.reshape(columns)) / deviation.reshape(columns) * r.reshape(columns) + d.reshape(columns)
    return y * gamma.reshape(columns) + beta.reshape(columns)


# So many elements that it is not compared with finite differences, which see r and d change.
@case("batch_renorm", "BatchRenorm", "- BatchRenorm: {rmax: 2, dmax: 0.3}", MANY)
def _(x, v):
    return batch_renorm(x, v, "batch_renorm_0", 2, 0.3)


@case("batch_renorm_within_wide_limits", "BatchRenorm", "- BatchRenorm", MANY)
def _(x, v):
    return batch_renorm(x, v, "batch_renorm_0", 3, 5)


@case("batch_renorm_without_correction", "BatchRenorm", "- BatchRenorm: {rmax: 1, dmax: 0}", numbers(4, 3, 3, 2))
def _(x, v):
    return batch_norm(x, v, "batch_renorm_0", momentum=0.99)


@case("batch_renorm_in_inference", "BatchRenorm", "- BatchRenorm", MANY, phase="inference")
def _(x, v):
    return batch_norm_with_averages(x, v, "batch_renorm_0")


@case("batch_norm_in_inference", "BatchNorm", "- BatchNorm: {epsilon: 0.01}", IMAGE, phase="inference")
def _(x, v):
    return batch_norm_with_averages(x, v, "batch_norm_0", epsilon=0.01)


@case("batch_norm_frozen", "BatchNorm", "- BatchNorm: {training: false}", IMAGE)
def _(x, v):
    return batch_norm_with_averages(x, v, "batch_norm_0")


@case("conv2d", "Conv2D", "- Conv2D: {filters: 4}", IMAGE)
def _(x, v):
    return F.conv2d(x, v.weight("conv2d_0/W", 4, 3, 3, 3), v.bias("conv2d_0/b", 4), padding="same")


@case("conv2d_even_kernel", "Conv2D", "- Conv2D: {filters: 4, kernel: [4, 2]}", IMAGE)
def _(x, v):
    return F.conv2d(x, v.weight("conv2d_0/W", 4, 3, 4, 2), v.bias("conv2d_0/b", 4), padding="same")


@case("conv2d_stride_2", "Conv2D", "- Conv2D: {filters: 4, stride: 2}", IMAGE)
def _(x, v):
    return F.conv2d(same(x, (3, 3), (2, 2)), v.weight("conv2d_0/W", 4, 3, 3, 3), v.bias("conv2d_0/b", 4), stride=2)


@case("conv2d_stride_2_even", "Conv2D", "- Conv2D: {filters: 4, stride: 2}", EVEN)
def _(x, v):
    return F.conv2d(same(x, (3, 3), (2, 2)), v.weight("conv2d_0/W", 4, 3, 3, 3), v.bias("conv2d_0/b", 4), stride=2)


@case("conv2d_stride_above_kernel", "Conv2D", "- Conv2D: {filters: 4, kernel: 1, stride: 2}", MANY)
def _(x, v):
    return F.conv2d(x, v.weight("conv2d_0/W", 4, 17, 1, 1), v.bias("conv2d_0/b", 4), stride=2)


@case("conv2d_many_channels", "Conv2D", "- Conv2D: {filters: 20, kernel: 5, stride: [3, 2], activation: ReLU}", MANY)
def _(x, v):
    return F.relu(F.conv2d(same(x, (5, 5), (3, 2)), v.weight("conv2d_0/W", 20, 17, 5, 5), v.bias("conv2d_0/b", 20),
                           stride=(3, 2)))


@case("conv2d_groups", "Conv2D", "- Conv2D: {filters: 6, kernel: [3, 2], groups: 3, use_bias: false}", IMAGE)
def _(x, v):
    return F.conv2d(x, v.weight("conv2d_0/W", 6, 1, 3, 2), padding="same", groups=3)


@case("conv2d_dilation", "Conv2D", "- Conv2D: {filters: 2, dilation: 2}", EVEN)
def _(x, v):
    return F.conv2d(x, v.weight("conv2d_0/W", 2, 3, 3, 3), v.bias("conv2d_0/b", 2), padding="same", dilation=2)


@case("conv2d_valid", "Conv2D", "- Conv2D: {filters: 2, padding: valid, dilation: [2, 1], activation: Tanh}", IMAGE)
def _(x, v):
    return torch.tanh(F.conv2d(x, v.weight("conv2d_0/W", 2, 3, 3, 3), v.bias("conv2d_0/b", 2), dilation=(2, 1)))


@case("conv2d_padding", "Conv2D", "- Conv2D: {filters: 4, stride: 2, padding: 1}", EVEN)
def _(x, v):
    return F.conv2d(x, v.weight("conv2d_0/W", 4, 3, 3, 3), v.bias("conv2d_0/b", 4), stride=2, padding=1)


@case("conv2d_padding_of_each_side", "Conv2D", "- Conv2D: {filters: 4, kernel: [4, 3], stride: 2, padding: [[0, 3], [2, 1]]}", IMAGE)
def _(x, v):
    padded = F.pad(x, (2, 1, 0, 3))    # left, right, top, bottom
    return F.conv2d(padded, v.weight("conv2d_0/W", 4, 3, 4, 3), v.bias("conv2d_0/b", 4), stride=2)


@case("fully_connected", "FullyConnected", "- FullyConnected: {units: 4, activation: Sigmoid}", numbers(3, 5))
def _(x, v):
    return torch.sigmoid(x @ v.weight("fully_connected_0/W", 5, 4) + v.bias("fully_connected_0/b", 4))


@case("fully_connected_of_images", "FullyConnected", "- FullyConnected: {units: 2, use_bias: false}", IMAGE)
def _(x, v):
    return F.linear(x.flatten(1), v.weight("fully_connected_0/W", 60, 2).T)


ADAPTED = "- FullyConnected: {name: fc, units: 4, adapter_rank: 2, adapter_alpha: 3%s}"


def adapted(x, v, width):
    """W and b of a layer with an adapter are not trained; neither is the scale, whose value here is that of the file."""
    w, b, scale = v.average("fc/W", width, 4), v.average("fc/b", 4), v.average("fc/adapter/scale")
    v.after.update({"fc/W": w, "fc/b": b, "fc/adapter/scale": scale})
    return x @ w + b + scale * (x @ v.weight("fc/adapter/A", width, 2) @ v.weight("fc/adapter/B", 2, 4))


@case("fully_connected_with_an_adapter", "FullyConnected", ADAPTED % ", activation: Tanh", numbers(3, 5))
def _(x, v):
    return torch.tanh(adapted(x, v, 5))


@case("fully_connected_of_the_last_axis_with_an_adapter", "FullyConnected", ADAPTED % ", flatten: false", numbers(2, 3, 6))
def _(x, v):
    return adapted(x, v, 6)


@case("random_normal", "RandomNormal", "- RandomNormal: {shape: [3, 5], mean: 0.5, stddev: 2}", numbers(4, 2))
def _(x, _):
    drawn = normal(random_key("random_normal_0/RandomNormal"), 4 * 3 * 5).reshape(4, 3, 5)
    return torch.from_numpy(0.5 + 2 * drawn)


@case("conv2d_transpose", "Conv2DTranspose", "- Conv2DTranspose: {filters: 4}", IMAGE)
def _(x, v):
    return conv_transpose(x, v, "conv2d_transpose_0", 4, (3, 3), (1, 1))


@case("conv2d_transpose_doubled", "Conv2DTranspose",
      "- Conv2DTranspose: {filters: 4, kernel: 4, stride: 2, activation: Tanh}", IMAGE)
def _(x, v):
    return torch.tanh(conv_transpose(x, v, "conv2d_transpose_0", 4, (4, 4), (2, 2)))


@case("conv2d_transpose_odd_padding", "Conv2DTranspose",
      "- Conv2DTranspose: {filters: 2, kernel: [5, 3], stride: [2, 2], use_bias: false}", IMAGE)
def _(x, v):
    return conv_transpose(x, v, "conv2d_transpose_0", 2, (5, 3), (2, 2), bias=False)


@case("conv2d_transpose_valid", "Conv2DTranspose",
      "- Conv2DTranspose: {filters: 2, kernel: [5, 3], stride: [2, 3], padding: valid}", IMAGE)
def _(x, v):
    return conv_transpose(x, v, "conv2d_transpose_0", 2, (5, 3), (2, 3), valid=True)


@case("conv2d_transpose_padding", "Conv2DTranspose",
      "- Conv2DTranspose: {filters: 2, kernel: 4, stride: 2, padding: [1, 0], use_bias: false}", IMAGE)
def _(x, v):
    # PyTorch's kernel is [in, out, height, width]
    w = v.weight("conv2d_transpose_0/W", 3, 2, 4, 4)
    return F.conv_transpose2d(x, w, stride=2, padding=(1, 0))


# The pixels that no kernel reaches have the bias.
@case("conv2d_transpose_small_kernel", "Conv2DTranspose", "- Conv2DTranspose: {filters: 2, kernel: [2, 1], stride: 3}",
      IMAGE)
def _(x, v):
    return conv_transpose(x, v, "conv2d_transpose_0", 2, (2, 1), (3, 3))


@case("conv2d_transpose_small_kernel_valid", "Conv2DTranspose",
      "- Conv2DTranspose: {filters: 2, kernel: 1, stride: [2, 1], padding: valid}", IMAGE)
def _(x, v):
    return conv_transpose(x, v, "conv2d_transpose_0", 2, (1, 1), (2, 1), valid=True)


@case("conv2d_transpose_many_channels", "Conv2DTranspose",
      "- Conv2DTranspose: {filters: 20, kernel: 4, stride: 2, activation: ReLU}", MANY)
def _(x, v):
    return F.relu(conv_transpose(x, v, "conv2d_transpose_0", 20, (4, 4), (2, 2)))


@case("conv2d_of_transpose", "Conv2DTranspose",
      "[{Conv2DTranspose: {filters: 17, stride: 2, activation: LeakyReLU}}, {Conv2D: {filters: 3, stride: 2}}]",
      numbers(1, 2, 3, 4))
def _(x, v):
    y = F.leaky_relu(conv_transpose(x, v, "conv2d_transpose_0", 17, (3, 3), (2, 2)), 0.2)
    return F.conv2d(same(y, (3, 3), (2, 2)), v.weight("conv2d_0/W", 3, 17, 3, 3), v.bias("conv2d_0/b", 3), stride=2)


@case("layer_norm", "LayerNorm", "- LayerNorm", IMAGE)
def _(x, v):
    return affine_norm(x, v, "layer_norm_0", (1, 2, 3))


@case("layer_norm_of_vectors", "LayerNorm", "- LayerNorm: {epsilon: 0.01, center: false}", numbers(4, 6))
def _(x, v):
    return affine_norm(x, v, "layer_norm_0", (1,), epsilon=0.01, center=False)


@case("layer_norm_many_channels", "LayerNorm", "- LayerNorm: {scale: false}", MANY)
def _(x, v):
    return affine_norm(x, v, "layer_norm_0", (1, 2, 3), scale=False)


@case("instance_norm", "InstanceNorm", "- InstanceNorm: {epsilon: 0.01}", IMAGE)
def _(x, v):
    return affine_norm(x, v, "instance_norm_0", (2, 3), epsilon=0.01)


@case("instance_norm_many_channels", "InstanceNorm", "- InstanceNorm: {center: false, scale: false}", MANY)
def _(x, v):
    return affine_norm(x, v, "instance_norm_0", (2, 3), center=False, scale=False)


@case("instance_norm_between_convolutions", "InstanceNorm",
      "[{Conv2D: {filters: 17, use_bias: false}}, InstanceNorm, LeakyReLU, {Conv2D: {filters: 3, stride: 2}}]", IMAGE)
def _(x, v):
    y = F.conv2d(x, v.weight("conv2d_0/W", 17, 3, 3, 3), padding="same")
    y = F.leaky_relu(affine_norm(y, v, "instance_norm_0", (2, 3)), 0.2)
    return F.conv2d(same(y, (3, 3), (2, 2)), v.weight("conv2d_1/W", 3, 17, 3, 3), v.bias("conv2d_1/b", 3), stride=2)


@case("group_norm", "GroupNorm", "- GroupNorm: {groups: 2, epsilon: 0.01}", numbers(2, 6, 4, 3))
def _(x, v):
    beta, gamma = v.bias("group_norm_0/beta", 6), v.positive("group_norm_0/gamma", 6)
    return F.group_norm(x, 2, gamma, beta, 0.01)


@case("group_norm_of_vectors", "GroupNorm", "- GroupNorm: {groups: 3, scale: false}", numbers(4, 12))
def _(x, v):
    return F.group_norm(x, 3, torch.ones(12, dtype=x.dtype), v.bias("group_norm_0/beta", 12))


@case("group_norm_between_convolutions", "GroupNorm",
      "[{Conv2D: {filters: 32, use_bias: false}}, {GroupNorm: {groups: 4}}, ReLU, {Conv2D: {filters: 3, stride: 2}}]", MANY)
def _(x, v):
    y = F.conv2d(x, v.weight("conv2d_0/W", 32, 17, 3, 3), padding="same")
    beta, gamma = v.bias("group_norm_0/beta", 32), v.positive("group_norm_0/gamma", 32)
    y = F.relu(F.group_norm(y, 4, gamma, beta))
    return F.conv2d(same(y, (3, 3), (2, 2)), v.weight("conv2d_1/W", 3, 32, 3, 3), v.bias("conv2d_1/b", 3), stride=2)


@case("group_norm_of_sequences", "GroupNorm", "- GroupNorm: {groups: 2, center: false, scale: false}", numbers(2, 4, 5))
def _(x, _):
    return F.group_norm(x, 2)


@case("lrn", "LRN", "- LRN", numbers(1, 7, 3, 4, within=3))
def _(x, _):
    return F.local_response_norm(x, 5)


@case("lrn_of_an_even_size", "LRN", "- LRN: {size: 4, alpha: 0.3, beta: 0.6, k: 2}", numbers(1, 7, 3, 4, within=3))
def _(x, _):
    return F.local_response_norm(x, 4, 0.3, 0.6, 2)


@case("lrn_of_a_square_root", "LRN", "- LRN: {size: 3, alpha: 3, beta: 0.5, k: 0.5}", numbers(1, 7, 3, 4, within=3))
def _(x, _):
    return F.local_response_norm(x, 3, 3, 0.5, 0.5)


@case("lrn_many_channels", "LRN", "- LRN: {size: 31, alpha: 2}", MANY)
def _(x, _):
    return F.local_response_norm(x, 31, 2)


@case("prelu", "PReLU", "- PReLU", IMAGE)
def _(x, v):
    return F.prelu(x, v.bias("p_relu_0/alpha").reshape(1))


@case("prelu_of_channels", "PReLU", "[{Conv2D: {filters: 17, activation: {PReLU: {per_channel: true}}}}, "
      "{PReLU: {per_channel: true}}]", IMAGE)
def _(x, v):
    y = F.conv2d(x, v.weight("conv2d_0/W", 17, 3, 3, 3), v.bias("conv2d_0/b", 17), padding="same")
    return F.prelu(F.prelu(y, v.bias("conv2d_0/alpha", 17)), v.bias("p_relu_0/alpha", 17))


@case("maxout", "Maxout", "- Maxout: 3", numbers(2, 6, 5, 3))
def _(x, _):
    return x.unflatten(1, (2, 3)).amax(2)


@case("maxout_of_vectors", "Maxout", "- Maxout", numbers(3, 8))
def _(x, _):
    return x.unflatten(1, (4, 2)).amax(2)


@case("elu", "ELU", "- ELU", numbers(3, 7, within=3))
def _(x, _):
    return F.elu(x)


@case("elu_alpha", "ELU", "- ELU: {alpha: 0.3}", IMAGE)
def _(x, _):
    return F.elu(x, 0.3)


@case("softplus", "Softplus", "- Softplus", numbers(3, 7, within=60))
def _(x, _):
    return torch.where(x > 36, x, torch.log1p(torch.exp(x.clamp(max=36))))


@case("concat", "Concat", "[{Conv2D: {name: c, filters: 16}}, {Concat: {input: [c, x0, x1, c]}}]", IMAGE,
      numbers(2, 1, 5, 4))
def _(x0, x1, v):
    c = F.conv2d(x0, v.weight("c/W", 16, 3, 3, 3), v.bias("c/b", 16), padding="same")
    return torch.cat([c, x0, x1, c], 1)


@case("concat_of_blocks", "Concat", "[{Conv2D: {name: c, filters: 16}}, {Concat: {input: [c, c]}}, {Conv2D: {filters: 2}}]",
      IMAGE)
def _(x, v):
    c = F.conv2d(x, v.weight("c/W", 16, 3, 3, 3), v.bias("c/b", 16), padding="same")
    return F.conv2d(torch.cat([c, c], 1), v.weight("conv2d_0/W", 2, 32, 3, 3), v.bias("conv2d_0/b", 2), padding="same")


@case("concat_of_rows", "Concat", "- Concat: {input: [x0, x1], axis: -2}", numbers(2, 3, 4), numbers(2, 1, 4))
def _(x0, x1, _):
    return torch.cat([x0, x1], 1)


@case("reshape", "Reshape", "[{FullyConnected: {units: 12}}, {Reshape: {shape: [2, -1, 3]}}, {Conv2D: {filters: 2}}]",
      numbers(3, 5))
def _(x, v):
    y = (x @ v.weight("fully_connected_0/W", 5, 12) + v.bias("fully_connected_0/b", 12)).reshape(3, 2, 2, 3)
    return F.conv2d(y, v.weight("conv2d_0/W", 2, 2, 3, 3), v.bias("conv2d_0/b", 2), padding="same")


@case("transpose", "Transpose", "- Transpose: {order: [0, -1, 1, 2]}", IMAGE)
def _(x, _):
    return x.permute(0, 3, 1, 2) * 1


@case("broadcast_to", "BroadcastTo", "[{Reshape: {shape: [3, 1, 1]}}, {BroadcastTo: {shape: [3, 2, 4]}}]", numbers(2, 3))
def _(x, _):
    return x[:, :, None, None].expand(2, 3, 2, 4) * 1


@case("broadcast_to_more_axes", "BroadcastTo", "- BroadcastTo: {shape: [2, 4, 3]}", numbers(2, 3))
def _(x, _):
    return x[:, None, None, :].expand(2, 2, 4, 3) * 1


@case("random_uniform", "RandomUniform",
      "[{RandomUniform: {name: u, shape: [3, 5], low: -1, high: 2}}, {Elementwise: x * x0}]", numbers(4, 3, 5))
def _(x, _):
    drawn = uniform_of(random_key("u/RandomUniform"), 4 * 3 * 5).reshape(4, 3, 5)
    return torch.from_numpy(-1 + 3 * drawn) * x


@case("random_bernoulli", "RandomBernoulli",
      "[{RandomBernoulli: {name: u, shape: [], probability: 0.3}}, {Elementwise: x * x0}]", numbers(40))
def _(x, _):
    return torch.from_numpy(uniform_of(random_key("u/RandomUniform"), 40) < 0.3) * x


@case("embedding", "Embedding", "[{Embedding: {input: x1, entries: 5, units: 4}}, {Elementwise: x * x0}]", numbers(6, 4),
      integers(6, below=5))
def _(x, numbers_of, v):
    return F.embedding(numbers_of, v.weight("embedding_0/W", 5, 4)) * x


@case("one_hot", "OneHot", "[{OneHot: {input: x1, classes: 4}}, {Elementwise: x * x0}]", numbers(3, 2, 4),
      integers(3, 2, below=4, dtype="uint8"))
def _(x, numbers_of, _):
    return F.one_hot(numbers_of, 4) * x


@case("arg_max", "ArgMax", "[{ArgMax: {axis: 1}}, {OneHot: {classes: 3}}, {Elementwise: x * x1}]", IMAGE,
      numbers(2, 5, 4, 3))
def _(x, other, _):
    return F.one_hot(x.argmax(1), 3) * other


@case("gather", "Gather", "- Gather: {input: [x0, x1], axis: -2}", numbers(2, 4, 3), integers(5, below=4))
def _(x, numbers_of, _):
    return x[:, numbers_of]


@case("matmul", "MatMul", "- MatMul: {input: [x0, x1]}", numbers(3, 4), numbers(4, 2))
def _(x0, x1, _):
    return x0 @ x1


@case("matmul_transposed", "MatMul", "- MatMul: {input: [x0, x1], transpose_a: true, transpose_b: true}", numbers(4, 3),
      numbers(2, 4))
def _(x0, x1, _):
    return x0.T @ x1.T


@case("more_functions", "Elementwise",
      '- Elementwise: "erf(x) + log1p(square(x)) * pow(square(x) + 0.5, x) + sin(3 * x) * cos(x) + sign(x) * round(2 * x) + is_nan(x)"',
      numbers(4, 6, within=2))
def _(x, _):
    return (torch.erf(x) + torch.log1p(x * x) * torch.pow(x * x + 0.5, x) + torch.sin(3 * x) * torch.cos(x)
            + torch.sign(x) * torch.round(2 * x))


@case("matmul_of_many", "MatMul", "- MatMul: {input: [x0, x1], transpose_b: true}", numbers(2, 3, 4, 5), numbers(3, 6, 5))
def _(x0, x1, _):
    return x0 @ x1.transpose(-1, -2)


@case("softmax_of_channels", "Softmax", "- Softmax: {axis: 1}", numbers(2, 3, 4, 5, within=3))
def _(x, _):
    return x.softmax(1)


@case("log_softmax", "LogSoftmax", "- LogSoftmax", numbers(4, 5, within=3))
def _(x, _):
    return x.log_softmax(-1)


@case("log_sum_exp", "LogSumExp", "- LogSumExp: {axes: [1, -1]}", numbers(2, 3, 4, within=3))
def _(x, _):
    return x.logsumexp((1, 2))


@case("reduce_any", "ReduceAny", "[{ReduceAny: {name: any, input: x0, axes: [1]}}, {Elementwise: {expression: any * x1}}]",
      integers(6, 2, below=2), numbers(6))
def _(x0, x1, _):
    return (x0 != 0).any(1) * x1


@case("reduce_prod", "ReduceProd", "- ReduceProd: {axes: [1, 2]}", numbers(3, 5, 2))
def _(x, _):
    return x.prod(1).prod(1)


@case("slice", "Slice", "- Slice: {axis: -1, begin: 1, end: -1}", numbers(2, 3, 5))
def _(x, _):
    return x[..., 1:-1]


@case("split", "Split",
      "[{Split: {name: s, axis: -1, sizes: [1, 4]}}, {Split: {name: h, input: s.1, axis: -1, parts: 2}}, {Add: {input: [h.1, h.0]}}, "
      "{Concat: {input: [add_0, s.0], axis: -1}}]", numbers(2, 3, 5))
def _(x, _):
    one, four = torch.split(x, [1, 4], -1)
    first, second = torch.chunk(four, 2, -1)
    return torch.cat([first + second, one], -1)


@case("stack", "Stack", "- Stack: {input: [x0, x1, x0], axis: 2}", numbers(2, 3), numbers(2, 3))
def _(x0, x1, _):
    return torch.stack([x0, x1, x0], 2)


@case("constant", "Constant", "[{Constant: {name: c, value: [1, 2, 3], shape: [3]}}, {Elementwise: {expression: c * x0}}]",
      numbers(2, 3))
def _(x, _):
    return x * torch.tensor([1.0, 2, 3])


@case("variable", "Variable",
      "[{Variable: {name: s, shape: [3], initializer: {Constant: 1}}}, {Elementwise: {expression: s * x0}}]", numbers(2, 3))
def _(x, v):
    return x * v.bias("s/value", 3)


@case("reshape_without_samples", "Reshape",
      "[{Variable: {name: s, shape: [6]}}, {Reshape: {name: m, shape: [2, -1]}}, {Elementwise: {expression: m * x0}}]",
      numbers(4, 2, 3))
def _(x, v):
    return x * v.bias("s/value", 6).reshape(2, 3)


@case("range", "Range", "[{Range: {name: r, axis: 1, start: 1, step: 0.5, input: x0}}, {Elementwise: {expression: r * x0}}]",
      numbers(2, 4))
def _(x, _):
    return x * (1 + 0.5 * torch.arange(4))


@case("fully_connected_of_the_last_axis", "FullyConnected", "- FullyConnected: {name: fc, units: 4, flatten: false, activation: Tanh}",
      numbers(2, 3, 5))
def _(x, v):
    return torch.tanh(x @ v.weight("fc/W", 5, 4) + v.bias("fc/b", 4))


@case("layer_norm_of_the_last_axis", "LayerNorm", "- LayerNorm: {name: ln, last_axes: 1}", numbers(2, 3, 5))
def _(x, v):
    return F.layer_norm(x, (5,), v.positive("ln/gamma", 5), v.bias("ln/beta", 5), 1e-5)


@case("where", "Where", "[{Elementwise: {name: c, expression: x > 0.1}}, {Where: {input: [c, x1, x0]}}]", numbers(3, 4),
      numbers(4))
def _(x0, x1, _):
    return torch.where(x0 > 0.1, x1, x0)


# So many elements that it is not compared with finite differences, from which it must differ.
@case("stop_gradient", "StopGradient", "[StopGradient, {Elementwise: x * x0}]", numbers(20, 16))
def _(x, _):
    return x.detach() * x


@case("stop_gradient_of_constants", "StopGradient",
      "[{RandomUniform: {name: u, shape: [4]}}, StopGradient, {Elementwise: x * x0}]", numbers(3, 4))
def _(x, _):
    return torch.from_numpy(uniform_of(random_key("u/RandomUniform"), 12).reshape(3, 4)) * x


@case("reduce_sum", "ReduceSum", "- ReduceSum: {axes: [1, -1]}", IMAGE)
def _(x, _):
    return x.sum((1, 3))


@case("reduce_mean", "ReduceMean", "[{ReduceMean: {axes: [0], keep_dims: true}}, {Elementwise: x0 - x}]", IMAGE)
def _(x, _):
    return x - x.mean(0, keepdim=True)


@case("reduce_mean_of_all", "ReduceMean", "[Tanh, ReduceMean]", IMAGE)
def _(x, _):
    return torch.tanh(x).mean()


@case("reduce_max", "ReduceMax", "- ReduceMax: {axes: [2, 3]}", IMAGE)
def _(x, _):
    return x.amax((2, 3))


@case("reduce_min", "ReduceMin", "- ReduceMin: {axes: [1], keep_dims: true}", IMAGE)
def _(x, _):
    return x.amin(1, keepdim=True)


@case("elementwise", "Elementwise", """- Elementwise: >-
    sqrt(abs(x)) * x1 + square(x1) / (2 + exp(-x)) - (tanh(x) if x1 > 0.2 else sigmoid(x) * max(x, x1, 0.1)) + rsqrt(2 + x)""",
      numbers(2, 3, 4), numbers(3, 1))
def _(x, y, _):
    chosen = torch.where(y > 0.2, torch.tanh(x), torch.sigmoid(x) * torch.maximum(x, y).clamp(min=0.1))
    return x.abs().sqrt() * y + y.square() / (2 + torch.exp(-x)) - chosen + (2 + x).rsqrt()


@case("elementwise_steps", "Elementwise", "- Elementwise: x * (x // 0.3 + x % 0.3 + floor(x) + (0 <= x < 0.5) + log(4 + x))",
      numbers(3, 4))
def _(x, _):
    steps = torch.floor(x.detach() / 0.3)
    return x * (steps + (x - steps * 0.3) + torch.floor(x) + ((0 <= x) & (x < 0.5)) + torch.log(4 + x))


@case("gradient", "Gradient",
      "[{FullyConnected: {name: fc, units: 4, activation: Softplus}}, {FullyConnected: {units: 1}}, {Gradient: x0}]",
      numbers(3, 5))
def _(x, v):
    y = F.softplus(x @ v.weight("fc/W", 5, 4) + v.bias("fc/b", 4), threshold=100)
    y = y @ v.weight("fully_connected_0/W", 4, 1)
    v.bias("fully_connected_0/b", 1)
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


# The penalty of WGAN-GP on a network of convolutions: its gradient with respect to weights is a second gradient.
@case("gradient_penalty", "Gradient", """
- Conv2D: {name: c0, filters: 4, stride: 2, activation: LeakyReLU}
- LayerNorm: {name: norm}
- Conv2DTranspose: {name: c1, filters: 3, stride: 2, activation: ELU}
- InstanceNorm: {name: instance}
- AvgPooling: {window: 2}
- Tanh
- FullyConnected: {name: score, units: 1}
- Gradient: {name: slope, wrt: x0}
- Elementwise: square(x)
- ReduceSum: {axes: [1, 2, 3]}
- Elementwise: square(sqrt(x) - 1)
""", numbers(2, 2, 4, 6))
def _(x, v):
    y = F.conv2d(same(x, (3, 3), (2, 2)), v.weight("c0/W", 4, 2, 3, 3), v.bias("c0/b", 4), stride=2)
    y = affine_norm(F.leaky_relu(y, 0.2), v, "norm", (1, 2, 3))
    y = F.elu(conv_transpose(y, v, "c1", 3, (3, 3), (2, 2)))
    y = torch.tanh(F.avg_pool2d(affine_norm(y, v, "instance", (2, 3)), 2))
    y = y.flatten(1) @ v.weight("score/W", 18, 1) + v.bias("score/b", 1)
    slope = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    return (slope.square().sum((1, 2, 3)).sqrt() - 1).square()


@case("repeat", "Repeat", "- Repeat: {count: 2, layers: [{FullyConnected: {units: $(3 + i), activation: Tanh}}]}",
      numbers(2, 3))
def _(x, v):
    for i in range(2):
        name = f"repeat_0/{i}/fully_connected_0"
        x = torch.tanh(x @ v.weight(f"{name}/W", 3, 3 + i) + v.bias(f"{name}/b", 3 + i))
    return x


@case("residual", "Residual",
      "- Residual: {layers: [{Conv2D: {filters: 2}}, Tanh], shortcut: [{Conv2D: {filters: 2, kernel: 1}}]}", IMAGE)
def _(x, v):
    branch = F.conv2d(x, v.weight("residual_0/conv2d_0/W", 2, 3, 3, 3), v.bias("residual_0/conv2d_0/b", 2), padding=1)
    shortcut = F.conv2d(x, v.weight("residual_0/shortcut/conv2d_0/W", 2, 3, 1, 1),
                        v.bias("residual_0/shortcut/conv2d_0/b", 2))
    return torch.tanh(branch) + shortcut


@case("with_defaults", "WithDefaults",
      "- WithDefaults: {defaults: {FullyConnected: {units: 3}}, layers: [FullyConnected, Tanh]}", numbers(2, 4))
def _(x, v):
    name = "with_defaults_0/fully_connected_0"
    return torch.tanh(x @ v.weight(f"{name}/W", 4, 3) + v.bias(f"{name}/b", 3))


# Numbers that get no gradient are integers, so that central differences agree.
VALUES = numbers(6, 4, within=2)
STEP = (integers(6, below=4), integers(6, below=3), integers(6, below=2))  # action, reward, is_over
WHOLE = integers(6, 4, below=9)


def td_error(values, action, reward, is_over, next_value):
    target = reward + 0.9 * (1 - is_over).double() * next_value
    return values.gather(1, action.unsqueeze(1)).squeeze(1) - target


@case("td_error", "TDError", """
- Elementwise: {name: next, input: x4, expression: 0.3 * x}
- TDError: {input: [x0, x1, x2, x3, next], discount: 0.9}
""", VALUES, *STEP, WHOLE)
def _(values, action, reward, is_over, following, _):
    return td_error(values, action, reward, is_over, 0.3 * following.max(1).values.double())


@case("double_td_error", "TDError", """
- Elementwise: {name: next, input: x4, expression: 0.3 * x}
- Elementwise: {name: choice, input: x5, expression: 0.3 * x}
- TDError: {input: [x0, x1, x2, x3, next, choice], discount: 0.9}
""", VALUES, *STEP, WHOLE, WHOLE)
def _(values, action, reward, is_over, following, choice, _):
    # The first of equal ones, which PyTorch does not promise.
    best = (choice == choice.max(1, keepdim=True).values).to(torch.int8).argmax(1, keepdim=True)
    return td_error(values, action, reward, is_over, 0.3 * following.gather(1, best).squeeze(1).double())


@case("cumulative_sum", "CumulativeSum", "- CumulativeSum: {axis: 1}", IMAGE)
def _(x, _):
    return x.cumsum(1)


@case("cumulative_sum_in_reverse", "CumulativeSum", "- CumulativeSum: {reverse: true}", IMAGE)
def _(x, _):
    return x.flip(3).cumsum(3).flip(3)


MODEL = """
inputs: {x0: {shape: [7]}, x1: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 6}}]
"""
SAMPLES, LABELS = numbers(5, 7, within=3), integers(5, below=6)


def scores(x, v):
    return x @ v.weight("fc/W", 7, 6) + v.bias("fc/b", 6)


@case("softmax_cross_entropy", "SoftmaxCrossEntropy",
      MODEL + "cost: [{SoftmaxCrossEntropy: {logits: fc, labels: x1}}]", SAMPLES, LABELS, form="model")
def _(x, labels, v):
    return {"cost": F.cross_entropy(scores(x, v), labels)}


def focal_loss(logits, labels, gamma):
    """PyTorch has no such function."""
    log_p = F.log_softmax(logits, 1).gather(1, labels.long()[:, None])
    return (-((1 - log_p.exp()) ** gamma) * log_p).mean()


@case("focal_loss", "FocalLoss", MODEL + "cost: [{FocalLoss: {logits: fc, labels: x1}}]", SAMPLES, LABELS, form="model")
def _(x, labels, v):
    return {"cost": focal_loss(scores(x, v), labels, 2)}


@case("focal_loss_of_gamma", "FocalLoss",
      MODEL + "cost: [{FocalLoss: {logits: fc, labels: x1, gamma: 0.5}}]", SAMPLES, LABELS, form="model")
def _(x, labels, v):
    return {"cost": focal_loss(scores(x, v), labels, 0.5)}


@case("sigmoid_cross_entropy", "SigmoidCrossEntropy", """
inputs: {x0: {shape: [7]}, x1: {shape: [6]}}
layers: [{FullyConnected: {name: fc, units: 6}}]
cost: [{SigmoidCrossEntropy: {logits: fc, labels: x1}}]
""", numbers(5, 7, within=9), numbers(5, 6, around=0.5, within=0.5), form="model")
def _(x, labels, v):
    return {"cost": F.binary_cross_entropy_with_logits(scores(x, v), labels)}


@case("sigmoid_cross_entropy_of_a_number", "SigmoidCrossEntropy",
      MODEL + "cost: [{SigmoidCrossEntropy: {logits: fc, labels: 1}}]", numbers(5, 7, within=50), LABELS, form="model")
def _(x, labels, v):
    y = scores(x, v)
    return {"cost": F.binary_cross_entropy_with_logits(y, torch.ones_like(y))}


SMOOTHED = "{logits: fc, labels: x1, label_smoothing: 0.1}"
CLASS_WEIGHTS = [1, 2, 0.5, 3, 0.25, 1.5]


@case("label_smoothing", "SoftmaxCrossEntropy", MODEL + f"cost: [{{SoftmaxCrossEntropy: {SMOOTHED}}}]", SAMPLES, LABELS,
      form="model")
def _(x, labels, v):
    return {"cost": F.cross_entropy(scores(x, v), labels, label_smoothing=0.1)}


@case("class_weights", "SoftmaxCrossEntropy",
      MODEL + f"cost: [{{SoftmaxCrossEntropy: {{logits: fc, labels: x1, class_weights: {CLASS_WEIGHTS}}}}}]",
      SAMPLES, LABELS, form="model")
def _(x, labels, v):
    weights = torch.tensor(CLASS_WEIGHTS)
    return {"cost": (weights[labels.long()] * F.cross_entropy(scores(x, v), labels, reduction="none")).mean()}


@case("class_weights_with_smoothing", "SoftmaxCrossEntropy",
      MODEL + f"cost: [{{SoftmaxCrossEntropy: {SMOOTHED[:-1]}, class_weights: {CLASS_WEIGHTS}}}}}]",
      SAMPLES, LABELS, form="model")
def _(x, labels, v):
    weights = torch.tensor(CLASS_WEIGHTS, dtype=x.dtype)
    return {"cost": F.cross_entropy(scores(x, v), labels, weight=weights, label_smoothing=0.1, reduction="none").mean()}


SOFT = """
inputs: {x0: {shape: [7]}, x1: {shape: [6]}}
layers: [{Softmax: {name: soft, input: x1}}, {FullyConnected: {name: fc, units: 6, input: x0}}]
"""


@case("soft_labels", "SoftmaxCrossEntropy",
      SOFT + "cost: [{SoftmaxCrossEntropy: {logits: fc, labels: soft}}]\nmetrics: [{Accuracy: {logits: fc, labels: soft}}]",
      SAMPLES, numbers(5, 6, within=2), form="model")
def _(x, labels, v):
    y = scores(x, v)
    hits = (y.argmax(1) == labels.argmax(1)).sum()
    return {"cost": F.cross_entropy(y, F.softmax(labels, 1)), "accuracy/sum": hits, "accuracy/weight": torch.tensor(float(len(labels)))}


@case("soft_labels_with_weights", "SoftmaxCrossEntropy",
      SOFT + f"cost: [{{SoftmaxCrossEntropy: {SMOOTHED.replace('x1', 'soft')[:-1]}, class_weights: {CLASS_WEIGHTS}}}}}]",
      SAMPLES, numbers(5, 6, within=2), form="model")
def _(x, labels, v):
    weights = torch.tensor(CLASS_WEIGHTS, dtype=x.dtype)
    return {"cost": F.cross_entropy(scores(x, v), F.softmax(labels, 1), weight=weights, label_smoothing=0.1)}


@case("ignore_label", "SoftmaxCrossEntropy", """
inputs: {x0: {shape: [7]}, x1: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 6}}]
cost: [{SoftmaxCrossEntropy: {logits: fc, labels: x1, ignore_label: 1}}]
""", SAMPLES, integers(5, below=3), form="model")
def _(x, labels, v):
    assert (labels == 1).any() and (labels != 1).any()
    return {"cost": F.cross_entropy(scores(x, v), labels, ignore_index=1)}


@case("smoothed_focal_loss", "FocalLoss", MODEL + f"cost: [{{FocalLoss: {SMOOTHED}}}]", SAMPLES, LABELS, form="model")
def _(x, labels, v):
    log_p = F.log_softmax(scores(x, v), 1)
    target = 0.9 * F.one_hot(labels.long(), 6).to(x.dtype) + 0.1 / 6
    return {"cost": -(target * (1 - log_p.exp()) ** 2 * log_p).sum(1).mean()}


@case("pos_weight", "SigmoidCrossEntropy", """
inputs: {x0: {shape: [7]}, x1: {shape: [6]}}
layers: [{FullyConnected: {name: fc, units: 6}}]
cost: [{SigmoidCrossEntropy: {logits: fc, labels: x1, pos_weight: [1, 2, 0.5, 3, 0.25, 1.5]}}]
""", numbers(5, 7, within=9), numbers(5, 6, around=0.5, within=0.5), form="model")
def _(x, labels, v):
    return {"cost": F.binary_cross_entropy_with_logits(scores(x, v), labels, pos_weight=torch.tensor(CLASS_WEIGHTS))}


@case("normalize_per_channel", "Normalize", "[{Normalize: {mean: [0.5, -1, 2], deviation: [2, 0.25, 3]}}]", numbers(2, 3, 4, 5))
def _(x, v):
    return (x - torch.tensor([0.5, -1, 2])[:, None, None]) / torch.tensor([2, 0.25, 3])[:, None, None]


@case("normalize_columns", "Normalize", "[{Normalize: {scale: [1, 2, 3], offset: [0, 1, -1]}}]", numbers(4, 3))
def _(x, v):
    return x * torch.tensor([1.0, 2, 3]) + torch.tensor([0.0, 1, -1])


@case("sigmoid_ignore_label", "SigmoidCrossEntropy", """
inputs: {x0: {shape: [7]}, x1: {shape: [6], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 6}}, {Elementwise: {name: label, input: x1, expression: x - 1}}]
cost: [{SigmoidCrossEntropy: {logits: fc, labels: label, ignore_label: -1, label_smoothing: 0.1}}]
""", SAMPLES, integers(5, 6, below=3), form="model")
def _(x, labels, v):
    counts = labels != 0
    assert counts.any() and not counts.all()
    smooth = 0.9 * (labels - 1).to(x.dtype) + 0.05
    losses = F.binary_cross_entropy_with_logits(scores(x, v), smooth, reduction="none")
    return {"cost": losses[counts].mean()}


PIXELS = """
inputs: {x0: {shape: [3, 4, 5], layout: CHW}, x1: {shape: [4, 5], dtype: DTYPE}}
layers: [{Conv2D: {name: c, filters: FILTERS, kernel: 1}}]
"""
PICTURES = numbers(2, 3, 4, 5, within=2)


def pixel_scores(x, v, filters):
    return F.conv2d(x, v.weight("c/W", filters, 3, 1, 1), v.bias("c/b", filters))


@case("softmax_cross_entropy_of_pixels", "SoftmaxCrossEntropy",
      PIXELS.replace("DTYPE", "uint8").replace("FILTERS", "6") +
      f"cost: [{{SoftmaxCrossEntropy: {{logits: c, labels: x1, ignore_label: 2, class_weights: {CLASS_WEIGHTS}}}}}]",
      PICTURES, integers(2, 4, 5, below=6, dtype="uint8"), form="model")
def _(x, labels, v):
    labels = labels.long()
    assert (labels == 2).any()
    losses = F.cross_entropy(pixel_scores(x, v, 6), labels, ignore_index=2, reduction="none")
    return {"cost": (torch.tensor(CLASS_WEIGHTS)[labels] * losses).sum() / (labels != 2).sum()}


def boundary_pixels(areas, counts):
    """Pixels of an area that touch one of another, by hand; those that do not count are of any area."""
    n, c, h, w = areas.shape
    out = torch.zeros_like(areas)
    for i, k, y, x in areas.nonzero().tolist():
        for near_y in range(max(y - 1, 0), min(y + 2, h)):
            for near_x in range(max(x - 1, 0), min(x + 2, w)):
                if counts[i, near_y, near_x] and not areas[i, k, near_y, near_x]:
                    out[i, k, y, x] = 1
    return out


@case("boundary_f1", "BoundaryF1", PIXELS.replace("DTYPE", "uint8").replace("FILTERS", "3") +
      "cost: [{SoftmaxCrossEntropy: {logits: c, labels: x1, ignore_label: 3}}]\n"
      "metrics: [{BoundaryF1: {logits: c, labels: x1, ignore_label: 3, tolerance: 1}}]",
      PICTURES, integers(2, 4, 5, below=4, dtype="uint8"), form="model")
def _(x, labels, v):
    y, labels = pixel_scores(x, v, 3), labels.long()
    counts = labels != 3
    predicted, actual = (boundary_pixels(F.one_hot(numbers, 4).permute(0, 3, 1, 2)[:, :3].double() * counts[:, None], counts)
                         for numbers in (y.argmax(1), labels))
    total, terms = 0.0, 0
    for a, b in zip(predicted.reshape(-1, 4, 5), actual.reshape(-1, 4, 5)):
        ours, theirs = a.nonzero().tolist(), b.nonzero().tolist()
        if not ours and not theirs:
            continue
        near = lambda p, others: any(max(abs(p[0] - q[0]), abs(p[1] - q[1])) <= 1 for q in others)
        precision = sum(near(p, theirs) for p in ours) / max(len(ours), 1)
        recall = sum(near(p, ours) for p in theirs) / max(len(theirs), 1)
        total, terms = total + (2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0), terms + 1
    return {"cost": F.cross_entropy(y, labels, ignore_index=3), "boundary_f1/sum": torch.tensor(total, dtype=torch.float64),
            "boundary_f1/weight": torch.tensor(float(terms))}


def tversky(p, facts, false_positives, false_negatives, counts=1):
    """Of [N, C, H, W]; PyTorch has no such function."""
    right, wrong_yes, wrong_no = ((a * counts).sum((2, 3)) for a in (p * facts, p * (1 - facts), (1 - p) * facts))
    return (1 - (right + 1) / (right + false_positives * wrong_yes + false_negatives * wrong_no + 1)).mean()


@case("dice_loss", "DiceLoss", PIXELS.replace("DTYPE", "int32").replace("FILTERS", "6") + "cost: [{DiceLoss: {logits: c, labels: x1}}]",
      PICTURES, integers(2, 4, 5, below=5), form="model")
def _(x, labels, v):
    facts = F.one_hot(labels.long(), 6).permute(0, 3, 1, 2).to(x.dtype)
    return {"cost": tversky(F.softmax(pixel_scores(x, v, 6), 1), facts, 0.5, 0.5)}


@case("dice_loss_with_weights", "DiceLoss", PIXELS.replace("DTYPE", "int32").replace("FILTERS", "6") +
      "cost: [{DiceLoss: {logits: c, labels: x1, false_positives: 0.3, false_negatives: 0.7, ignore_label: 4}}]",
      PICTURES, integers(2, 4, 5, below=5), form="model")
def _(x, labels, v):
    assert (labels == 4).any()
    facts = F.one_hot(labels.long(), 6).permute(0, 3, 1, 2).to(x.dtype)
    return {"cost": tversky(F.softmax(pixel_scores(x, v, 6), 1), facts, 0.3, 0.7, (labels != 4)[:, None])}


@case("dice_loss_of_a_yes_or_no", "DiceLoss", PIXELS.replace("DTYPE", "int32").replace("FILTERS", "1") +
      "cost: [{DiceLoss: {logits: c, labels: x1}}]", PICTURES, integers(2, 4, 5, below=2), form="model")
def _(x, labels, v):
    return {"cost": tversky(torch.sigmoid(pixel_scores(x, v, 1)), labels[:, None].to(x.dtype), 0.5, 0.5)}


REGRESSION = """
inputs: {x0: {shape: [7]}, x1: {shape: [6]}}
layers: [{FullyConnected: {name: fc, units: 6}}]
"""
TARGETS = numbers(5, 6, within=3)


@case("mean_squared_error", "MeanSquaredError",
      REGRESSION + "cost: [{MeanSquaredError: {predictions: fc, targets: x1}}]", SAMPLES, TARGETS, form="model")
def _(x, targets, v):
    return {"cost": F.mse_loss(scores(x, v), targets)}


@case("mean_squared_error_of_a_number", "MeanSquaredError",
      MODEL + "cost: [{MeanSquaredError: {predictions: fc, targets: 0.5}}]", SAMPLES, LABELS, form="model")
def _(x, _, v):
    y = scores(x, v)
    return {"cost": F.mse_loss(y, torch.full_like(y, 0.5))}


@case("mean_absolute_error", "MeanAbsoluteError",
      REGRESSION + "cost: [{MeanAbsoluteError: {predictions: fc, targets: x1}}]", SAMPLES, TARGETS, form="model")
def _(x, targets, v):
    return {"cost": F.l1_loss(scores(x, v), targets)}


@case("huber", "Huber",
      REGRESSION + "cost: [{Huber: {predictions: fc, targets: x1, delta: 1.5}}]", SAMPLES, TARGETS, form="model")
def _(x, targets, v):
    return {"cost": F.huber_loss(scores(x, v), targets, delta=1.5)}


POLICY = """
inputs: {x0: {shape: [SIZE]}, x1: {shape: [], dtype: int32}, x2: {shape: [], dtype: int32}, x3: {shape: [], dtype: int32}}
layers:
  - FullyConnected: {name: fc, units: 6}
  - Elementwise: {name: advantage, input: x2, expression: x - 1.4}
  - Elementwise: {name: old, input: x3, expression: -1.2 - 0.3 * x}
"""
CHOICE = (integers(5, below=6), integers(5, below=4), integers(5, below=4))


def policy(x, v):
    return torch.distributions.Categorical(logits=x @ v.weight("fc/W", x.shape[1], 6) + v.bias("fc/b", 6))


@case("policy_gradient", "PolicyGradient", POLICY.replace("SIZE", "7") + """
cost: [{PolicyGradient: {logits: fc, actions: x1, advantages: advantage}}]
""", SAMPLES, *CHOICE, form="model")
def _(x, actions, advantages, _, v):
    return {"cost": -((advantages.double() - 1.4) * policy(x, v).log_prob(actions)).mean()}


# With a factor that gets no gradient: too large for central differences.
@case("weighted_policy_gradient", "PolicyGradient", POLICY.replace("SIZE", "70") + """
cost: [{PolicyGradient: {logits: fc, actions: x1, advantages: advantage, log_probabilities: old, limit: 1.1}}]
""", numbers(5, 70), *CHOICE, form="model")
def _(x, actions, advantages, old, v):
    now = policy(x, v).log_prob(actions)
    factor = (now.detach() + 1.2 + 0.3 * old.double()).exp().clamp(max=1.1)
    return {"cost": -((advantages.double() - 1.4) * factor * now).mean()}


@case("clipped_policy_gradient", "ClippedPolicyGradient", POLICY.replace("SIZE", "7") + """
cost: [{ClippedPolicyGradient: {logits: fc, actions: x1, advantages: advantage, log_probabilities: old, clip: 0.4}}]
""", SAMPLES, *CHOICE, form="model")
def _(x, actions, advantages, old, v):
    ratio = (policy(x, v).log_prob(actions) + 1.2 + 0.3 * old.double()).exp()
    advantages = advantages.double() - 1.4
    return {"cost": -torch.minimum(ratio * advantages, ratio.clamp(0.6, 1.4) * advantages).mean()}


@case("policy_entropy", "PolicyEntropy", """
inputs: {x0: {shape: [7]}}
layers: [{FullyConnected: {name: fc, units: 6}}]
cost: [{PolicyEntropy: {logits: fc, weight: -0.5}}]
""", SAMPLES, form="model")
def _(x, v):
    return {"cost": -0.5 * torch.distributions.Categorical(logits=scores(x, v)).entropy().mean()}


# Outputs and inputs of shapes [N, 1] and [N] are both one value per sample.
@case("expression", "Expression", """
inputs: {x0: {shape: [7]}, x1: {shape: []}}
layers: [{FullyConnected: {name: fc, units: 1}}]
cost: [{Expression: "0.5 * square(fc) - max(x1 - fc, 0.25 * x1, -1) / (2 + exp(-fc)) + (fc if fc > x1 else tanh(3 * fc))"}]
""", SAMPLES, numbers(5, within=2), form="model")
def _(x, x1, v):
    y = (x @ v.weight("fc/W", 7, 1) + v.bias("fc/b", 1)).squeeze(1)
    largest = torch.maximum(torch.maximum(x1 - y, 0.25 * x1), torch.full_like(y, -1))
    return {"cost": (0.5 * y ** 2 - largest / (2 + torch.exp(-y)) + torch.where(y > x1, y, torch.tanh(3 * y))).mean()}


# The network is called twice: its weights get the sum of both gradients, its averages move with both batches in turn.
@case("call", "Call", """
inputs: {x0: {shape: [4]}, x1: {shape: [4]}}
networks:
  twin: [{FullyConnected: {name: fc, units: 3, use_bias: false}}, {BatchNorm: {name: bn}}, Tanh]
layers:
  - Call: {name: a, network: twin, input: x0}
  - Call: {name: b, network: twin, input: x1}
  - Add: {name: sum, input: [a, b]}
cost: [{SigmoidCrossEntropy: {logits: sum, labels: 0}}]
""", numbers(6, 4), numbers(6, 4, around=0.5), form="model")
def _(first, second, v):
    w = v.weight("twin/fc/W", 4, 3)
    beta, gamma = v.bias("twin/bn/beta", 3), v.positive("twin/bn/gamma", 3)
    mean, variance = v.average("twin/bn/mean/EMA", 3), v.average("twin/bn/variance/EMA", 3)
    total = 0
    for x in (first, second):
        y = x @ w
        mean = 0.9 * mean + 0.1 * y.detach().mean(0)
        variance = 0.9 * variance + 0.1 * y.detach().var(0, unbiased=False)
        total = total + torch.tanh(F.batch_norm(y, None, None, gamma, beta, training=True, eps=1e-5))
    v.after = {"twin/bn/mean/EMA": mean, "twin/bn/variance/EMA": variance}
    return {"cost": F.binary_cross_entropy_with_logits(total, torch.zeros_like(total))}


REGULARIZED = MODEL + """cost: [{SoftmaxCrossEntropy: {logits: fc, labels: x1}},
       {Regularize: {variables: ".*/W", l2: 0.02, l1: 0.003}}]"""


def with_terms(cost, labels, **terms):
    """Each term of a cost is a statistic of its own, weighted by the number of samples."""
    count = torch.tensor(float(len(labels)))
    statistics = {f"{name}/sum": value * count for name, value in terms.items()}
    return {"cost": cost, **statistics, **{f"{name}/weight": count for name in terms}}


@case("regularize", "Regularize", REGULARIZED, SAMPLES, LABELS, form="model")
def _(x, labels, v):
    entropy = F.cross_entropy(scores(x, v), labels)
    w = v.tensors["fc/W"]
    decay = 0.02 / 2 * w.square().sum() + 0.003 * w.abs().sum()
    return with_terms(entropy + decay, labels, softmax_cross_entropy=entropy, regularize=decay)


@case("regularize_in_inference", "Regularize", REGULARIZED, SAMPLES, LABELS, phase="inference", form="model")
def _(x, labels, v):
    entropy = F.cross_entropy(scores(x, v), labels)
    return with_terms(entropy, labels, softmax_cross_entropy=entropy)


# One term has a loss per sample, the other one per element. The weights of samples are integers, which get no gradient.
@case("weights", "SoftmaxCrossEntropy", """
inputs: {x0: {shape: [7]}, x1: {shape: [], dtype: int32}, x2: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 6}}]
cost:
  - SoftmaxCrossEntropy: {logits: fc, labels: x1, weight: 0.5, sample_weights: x2}
  - MeanSquaredError: {predictions: fc, targets: 0.3, weight: -0.25, sample_weights: x2}
  - Regularize: {variables: ".*/W", l2: 0.02, weight: 3}
""", SAMPLES, LABELS, integers(5, below=4), form="model")
def _(x, labels, weights, v):
    y = scores(x, v)
    count = len(labels)
    entropy = 0.5 * (weights * F.cross_entropy(y, labels, reduction="none")).sum() / count
    squares = -0.25 * (weights * (y - 0.3).square().mean(1)).sum() / count
    decay = 3 * 0.02 / 2 * v.tensors["fc/W"].square().sum()
    return with_terms(entropy + squares + decay, labels, softmax_cross_entropy=entropy, mean_squared_error=squares,
                      regularize=decay)


METRICS = MODEL + """cost: [{SoftmaxCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{Accuracy: {logits: fc, labels: x1}}, {InTopK: {logits: fc, labels: x1, k: 3}}]"""


def with_metrics(x, labels, v):
    y = scores(x, v)
    best = y.topk(3).indices
    count = torch.tensor(float(len(labels)))
    return {"cost": F.cross_entropy(y, labels),
            "accuracy/sum": (best[:, 0] == labels).sum(), "accuracy/weight": count,
            "in_top_k/sum": (best == labels[:, None]).any(1).sum(), "in_top_k/weight": count}


case("accuracy", "Accuracy", METRICS, numbers(40, 7), integers(40, below=6), form="model")(with_metrics)
case("in_top_k", "InTopK", METRICS, numbers(40, 7), integers(40, below=6), form="model")(with_metrics)


METRICS_OF_REGRESSION = REGRESSION + """cost: [{Huber: {predictions: fc, targets: x1}}]
metrics:
  - MeanSquaredError: {predictions: fc, targets: x1}
  - MeanAbsoluteError: {predictions: fc, targets: x1}
  - R2: {predictions: fc, targets: x1}
"""


@case("metrics_of_regression", "R2", METRICS_OF_REGRESSION, SAMPLES, TARGETS, form="model")
def _(x, targets, v):
    y = scores(x, v)
    elements, samples = torch.tensor(float(targets.numel())), torch.tensor(float(len(targets)))
    errors = (targets - y).square().sum(0)
    variation = targets.var(0, unbiased=False) * samples
    return {"cost": F.huber_loss(y, targets),
            "mean_squared_error/sum": F.mse_loss(y, targets, reduction="sum"), "mean_squared_error/weight": elements,
            "mean_absolute_error/sum": F.l1_loss(y, targets, reduction="sum"), "mean_absolute_error/weight": elements,
            "r2/sum": torch.stack([errors, targets.mean(0), variation]), "r2/weight": samples}


@case("exact_match", "ExactMatch", """
inputs: {x0: {shape: [7]}, x1: {shape: [2]}}
layers: [{FullyConnected: {name: fc, units: 2}}]
cost: [{SigmoidCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{ExactMatch: {logits: fc, labels: x1, threshold: 0.4}}]
""", numbers(25, 7), numbers(25, 2, around=0.5, within=0.5), form="model")
def _(x, labels, v):
    y = x @ v.weight("fc/W", 7, 2) + v.bias("fc/b", 2)
    right = ((torch.sigmoid(y) > 0.4) == (labels > 0.5)).all(1)
    return {"cost": F.binary_cross_entropy_with_logits(y, labels),
            "exact_match/sum": right.sum(), "exact_match/weight": torch.tensor(float(len(labels)))}


@case("expression_as_metric", "Expression", """
inputs: {x0: {shape: [7]}, x1: {shape: []}}
layers: [{FullyConnected: {name: fc, units: 1}}]
cost: [{MeanSquaredError: {predictions: fc, targets: x1}}]
metrics: [{Expression: {expression: "abs(fc - x1) < 1", name: within_1}}]
""", numbers(30, 7), numbers(30, within=2), form="model")
def _(x, x1, v):
    y = (x @ v.weight("fc/W", 7, 1) + v.bias("fc/b", 1)).squeeze(1)
    return {"cost": F.mse_loss(y, x1), "within_1/sum": ((y - x1).abs() < 1).sum(),
            "within_1/weight": torch.tensor(float(len(x1)))}


@case("multi_label_accuracy", "MultiLabelAccuracy", REGRESSION + """
cost: [{SigmoidCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{MultiLabelAccuracy: {logits: fc, labels: x1, threshold: 0.3}}]
""", numbers(20, 7), numbers(20, 6, around=0.5, within=0.5), form="model")
def _(x, labels, v):
    y = scores(x, v)
    right = (torch.sigmoid(y) > 0.3) == (labels > 0.5)
    return {"cost": F.binary_cross_entropy_with_logits(y, labels),
            "multi_label_accuracy/sum": right.sum(),
            "multi_label_accuracy/weight": torch.tensor(float(labels.numel()))}


@case("classification_error", "ClassificationError", MODEL + """cost: [{SoftmaxCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{ClassificationError: {logits: fc, labels: x1, k: 2}}]""", numbers(20, 7), integers(20, below=6), form="model")
def _(x, labels, v):
    y = scores(x, v)
    misses = (y.topk(2).indices != labels[:, None]).all(1)
    return {"cost": F.cross_entropy(y, labels), "classification_error/sum": misses.sum(),
            "classification_error/weight": torch.tensor(float(len(labels)))}


ANSWERS = REGRESSION + """
cost: [{SigmoidCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{Precision: {logits: fc, labels: x1, threshold: 0.4}}, {Recall: {logits: fc, labels: x1, threshold: 0.4}}, {Mean: {output: x1}}]
"""


def with_answers(x, labels, v):
    y = scores(x, v)
    given, expected = torch.sigmoid(y) > 0.4, labels > 0.5
    right = (given & expected).sum()
    return {"cost": F.binary_cross_entropy_with_logits(y, labels),
            "precision/sum": right, "precision/weight": given.sum(), "recall/sum": right, "recall/weight": expected.sum(),
            "mean/sum": labels.sum(), "mean/weight": torch.tensor(float(labels.numel()))}


for name in ("precision", "recall", "mean"):
    case(name, name.capitalize(), ANSWERS, numbers(20, 7), numbers(20, 6, around=0.5, within=0.5), form="model")(with_answers)


OF_CLASSES = MODEL + """cost: [{SoftmaxCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{%s}]"""


def of_classes(name, metric, more=""):
    """The decorator of a case of a metric of classes: a function of the scores, and of predicted and actual classes as one-hot."""
    def register(values):
        @case(name, metric, OF_CLASSES % f"{metric}: {{logits: fc, labels: x1{more}}}", numbers(20, 7), integers(20, below=6), form="model")
        def _(x, labels, v):
            y = scores(x, v)
            predicted, actual = (F.one_hot(numbers.long(), 6).double() for numbers in (y.argmax(1), labels))
            return {"cost": F.cross_entropy(y, labels), f"{name}/sum": values(y, predicted, actual),
                    f"{name}/weight": torch.tensor(float(len(labels)))}
    return register


def confusion_sums(y, predicted, actual):
    return torch.stack([(predicted * actual).sum(0), predicted.sum(0), actual.sum(0)])


of_classes("f1", "F1")(confusion_sums)
of_classes("iou", "IoU")(confusion_sums)
of_classes("f_beta", "FBeta", ", beta: 2")(confusion_sums)
of_classes("balanced_accuracy", "BalancedAccuracy")(confusion_sums)
of_classes("matthews_correlation", "MatthewsCorrelation")(confusion_sums)


@of_classes("cohen_kappa", "CohenKappa", ", weights: linear")
def _(y, predicted, actual):
    distance = (predicted.argmax(1) - actual.argmax(1)).abs().double().sum()
    return torch.cat([confusion_sums(y, predicted, actual).reshape(-1), distance.reshape(1)])


@of_classes("auc", "AUC")
def _(y, predicted, actual):
    return torch.cat([y, actual.argmax(1, keepdim=True).double()], 1)


@case("average_precision", "AveragePrecision", REGRESSION + """cost: [{SigmoidCrossEntropy: {logits: fc, labels: x1}}]
metrics: [{AveragePrecision: {logits: fc, labels: x1}}]""", numbers(20, 7), numbers(20, 6, around=0.5, within=0.5), form="model")
def _(x, labels, v):
    y = scores(x, v)
    return {"cost": F.binary_cross_entropy_with_logits(y, labels), "average_precision/sum": torch.cat([y, labels], 1),
            "average_precision/weight": torch.tensor(float(len(labels)))}


@of_classes("brier", "Brier")
def _(y, predicted, actual):
    return (F.softmax(y, 1) - actual).square().sum()


@of_classes("calibration_error", "CalibrationError", ", bins: 5")
def _(y, predicted, actual):
    confidence, right = F.softmax(y, 1).max(1).values, (predicted * actual).sum(1)
    bins = torch.ceil(confidence * 5).long() - 1
    return torch.stack([((confidence - right) * (bins == b)).sum() for b in range(5)])


MORE_METRICS_OF_REGRESSION = REGRESSION + """cost: [{MeanAbsolutePercentageError: {predictions: fc, targets: x1}}]
metrics:
  - RootMeanSquaredError: {predictions: fc, targets: x1}
  - MedianAbsoluteError: {predictions: fc, targets: x1}
  - ExplainedVariance: {predictions: fc, targets: x1}
"""


def with_more_of_regression(x, targets, v):
    y = scores(x, v)
    samples = torch.tensor(float(len(targets)))
    moments = [m for z in (targets - y, targets) for m in (z.mean(0), z.var(0, unbiased=False) * samples)]
    return {"cost": ((y - targets).abs() / targets.abs()).mean(),
            "root_mean_squared_error/sum": F.mse_loss(y, targets, reduction="sum"),
            "root_mean_squared_error/weight": torch.tensor(float(targets.numel())),
            "median_absolute_error/sum": (y - targets).abs(), "median_absolute_error/weight": samples,
            "explained_variance/sum": torch.stack(moments), "explained_variance/weight": samples}


for name in ("MeanAbsolutePercentageError", "RootMeanSquaredError", "MedianAbsoluteError", "ExplainedVariance"):
    case(f"regression_{name}", name, MORE_METRICS_OF_REGRESSION, SAMPLES, TARGETS, form="model")(with_more_of_regression)


@case("quantile", "Quantile", REGRESSION + "cost: [{Quantile: {predictions: fc, targets: x1, quantile: 0.8}}]", SAMPLES, TARGETS,
      form="model")
def _(x, targets, v):
    below = targets - scores(x, v)
    return {"cost": torch.maximum(0.8 * below, -0.2 * below).mean()}


@case("hinge", "Hinge", REGRESSION + "cost: [{Hinge: {logits: fc, labels: x1}}]", numbers(20, 7),
      numbers(20, 6, around=0.5, within=0.5), form="model")
def _(x, labels, v):
    signs = 2 * (labels > 0.5).double() - 1
    return {"cost": F.relu(1 - signs * scores(x, v)).mean()}


@case("poisson", "Poisson", REGRESSION + "cost: [{Poisson: {predictions: fc, targets: x1}}]", numbers(20, 7),
      numbers(20, 6, around=3, within=3), form="model")
def _(x, targets, v):
    return {"cost": F.poisson_nll_loss(scores(x, v), targets, log_input=True)}


@case("cosine_distance", "CosineDistance", REGRESSION + "cost: [{CosineDistance: {predictions: fc, targets: x1}}]", SAMPLES,
      TARGETS, form="model")
def _(x, targets, v):
    return {"cost": (1 - F.cosine_similarity(scores(x, v), targets, dim=1)).mean()}


@case("kl_divergence", "KLDivergence", REGRESSION.replace("layers: [", "layers: [{Softmax: {name: soft, input: x1}}, ").replace(
    "name: fc", "name: fc, input: x0") + "cost: [{KLDivergence: {logits: fc, targets: soft}}]", SAMPLES, TARGETS, form="model")
def _(x, targets, v):
    return {"cost": F.kl_div(F.log_softmax(scores(x, v), 1), F.softmax(targets, 1), reduction="batchmean")}


@case("ordinal_cross_entropy", "OrdinalCrossEntropy", """
inputs: {x0: {shape: [7]}, x1: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 6, input: x0}}]
cost: [{OrdinalCrossEntropy: {logits: fc, labels: x1}}]
""", numbers(20, 7), integers(20, below=7), form="model")
def _(x, labels, v):
    above = (labels[:, None] > torch.arange(6)).double()
    return {"cost": F.binary_cross_entropy_with_logits(scores(x, v), above, reduction="none").sum(1).mean()}


@case("ordinal_probabilities", "OrdinalProbabilities", "- OrdinalProbabilities", numbers(9, 4, within=2))
def _(x, _):
    above = torch.sigmoid(x)
    edges = torch.cat([torch.ones_like(x[:, :1]), above, torch.zeros_like(x[:, :1])], 1)
    parts = F.relu(edges[:, :-1] - edges[:, 1:])
    return parts / parts.sum(1, keepdim=True)


@case("gaussian_noise", "GaussianNoise", "- GaussianNoise: 0.5", numbers(4, 6))
def _(x, _):
    return x + 0.5 * torch.from_numpy(normal(random_key("gaussian_noise_0/RandomNormal"), 4 * 6).reshape(4, 6))


@case("gaussian_noise_in_inference", "GaussianNoise", "- GaussianNoise: 0.5", numbers(4, 6), phase="inference")
def _(x, _):
    return x * 1


RESTORED = """
inputs: {x0: {shape: SHAPE, layout: CHW}, x1: {shape: SHAPE, layout: CHW}}
layers: [{Conv2D: {name: c, filters: FILTERS, kernel: 1}}]
cost: [{MeanSquaredError: {predictions: c, targets: x1}}]
metrics: [{PSNR: {predictions: c, targets: x1, data_range: 2}}, {SSIM: {predictions: c, targets: x1, data_range: 2}}]
"""


def with_image_quality(x, target, v):
    images, channels = x.shape[:2]
    y = F.conv2d(x, v.weight("c/W", channels, channels, 1, 1), v.bias("c/b", channels))
    mse = (y - target).square().mean((1, 2, 3))
    line = torch.exp(-(torch.arange(11) - 5.0).double() ** 2 / (2 * 1.5 ** 2))
    window = (torch.outer(line, line) / line.sum() ** 2).expand(channels, 1, 11, 11)

    def of_windows(z):
        return F.conv2d(z, window, groups=channels)
    mean_y, mean_t = of_windows(y), of_windows(target)
    var_y, var_t = of_windows(y * y) - mean_y ** 2, of_windows(target * target) - mean_t ** 2
    covariance = of_windows(y * target) - mean_y * mean_t
    c1, c2 = (0.01 * 2) ** 2, (0.03 * 2) ** 2
    ssim = (2 * mean_y * mean_t + c1) * (2 * covariance + c2) / ((mean_y ** 2 + mean_t ** 2 + c1) * (var_y + var_t + c2))
    return {"cost": mse.mean(),
            "psnr/sum": (10 * torch.log10(4 / mse)).sum(), "psnr/weight": torch.tensor(float(images)),
            "ssim/sum": ssim.mean((2, 3)).sum(), "ssim/weight": torch.tensor(float(images * channels))}


for name in ("PSNR", "SSIM"):
    for size, images, channels, height, width in (("small", 1, 1, 11, 12), ("color", 2, 3, 16, 13)):
        case(f"quality_{size}_{name}", name,
             RESTORED.replace("SHAPE", f"[{channels}, {height}, {width}]").replace("FILTERS", str(channels)),
             numbers(images, channels, height, width), numbers(images, channels, height, width), form="model")(with_image_quality)


@case("l2_normalize", "L2Normalize", "- L2Normalize", numbers(4, 6))
def _(x, _):
    return F.normalize(x)


@case("l2_normalize_last_axis", "L2Normalize", "- L2Normalize: {axis: -1}", IMAGE)
def _(x, _):
    return F.normalize(x, dim=-1)


TRIPLETS = """
inputs: {x0: {shape: [7]}, x1: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 6, input: x0, use_bias: false}}]
cost: [{TripletLoss: {embeddings: fc, labels: x1, PARAMS}}]
"""


def triplet_loss(x, labels, v, mining, margin, normalize):
    """Plain loops over the anchors."""
    e = x @ v.weight("fc/W", 7, 6)
    if normalize:
        e = F.normalize(e)
    d = (e[:, None] - e[None]).square().sum(2).clamp_min(1e-30).sqrt()
    losses = []
    for a in range(len(x)):
        own = [d[a, i] for i in range(len(x)) if labels[i] == labels[a] and i != a]
        others = [d[a, i] for i in range(len(x)) if labels[i] != labels[a]]
        if not own or not others:
            continue
        if mining == "hard":
            losses.append(F.relu(margin + max(own) - min(others)))
        elif mining == "semi_hard":
            for near in own:
                farther = [far for far in others if far > near]
                losses.append(F.relu(margin + near - (min(farther) if farther else max(others))))
        else:
            losses += [margin + near - far for near in own for far in others if margin + near - far > 0]
    return {"cost": torch.stack(losses).mean()}


for mining in ("hard", "semi_hard", "all"):
    for margin, normalize in ((0.3, True), (2.0, False)):
        name = f"triplet_loss_{mining}" + ("" if normalize else "_of_lengths")
        params = f"mining: {mining}, margin: {margin}, normalize: {str(normalize).lower()}"
        case(name, "TripletLoss", TRIPLETS.replace("PARAMS", params), numbers(9, 7, within=2), integers(9, below=3), form="model")(
            lambda x, labels, v, *settings, given=(mining, margin, normalize): triplet_loss(x, labels, v, *given))


RETRIEVAL = TRIPLETS.replace("PARAMS", "mining: hard, margin: 0.5") + "metrics: [{RecallAtK: {embeddings: fc, labels: x1}}]"


@case("recall_at_k", "RecallAtK", RETRIEVAL, numbers(9, 7, within=2), integers(9, below=3), form="model")
def _(x, labels, v):
    rows = torch.cat([x @ v.weight("fc/W", 7, 6), labels[:, None].double()], 1)
    return {**triplet_loss(x, labels, v, "hard", 0.5, True), "recall_at_k/sum": rows, "recall_at_k/weight": torch.tensor(9.0)}


@case("contrastive_loss", "ContrastiveLoss", """
inputs: {x0: {shape: [7]}, x1: {shape: [5]}, x2: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 5, input: x0}}, {Tanh: {name: other, input: x1}}]
cost: [{ContrastiveLoss: {embeddings: [fc, other], same: x2}}]
""", numbers(8, 7), numbers(8, 5), integers(8, below=2), form="model")
def _(x, y, same, v):
    d = F.pairwise_distance(F.normalize((x @ v.weight("fc/W", 7, 5) + v.bias("fc/b", 5))), F.normalize(torch.tanh(y)), eps=0)
    return {"cost": 0.5 * torch.where(same == 1, d ** 2, F.relu(1 - d) ** 2).mean()}


@case("contrastive_loss_of_lengths", "ContrastiveLoss", """
inputs: {x0: {shape: [7]}, x1: {shape: [5]}, x2: {shape: [], dtype: int32}}
layers: [{FullyConnected: {name: fc, units: 5, input: x0}}]
cost: [{ContrastiveLoss: {embeddings: [fc, x1], same: x2, margin: 2.5, normalize: false}}]
""", numbers(8, 7), numbers(8, 5), integers(8, below=2), form="model")
def _(x, y, same, v):
    d = F.pairwise_distance((x @ v.weight("fc/W", 7, 5) + v.bias("fc/b", 5)), y, eps=0)
    return {"cost": 0.5 * torch.where(same == 1, d ** 2, F.relu(2.5 - d) ** 2).mean()}


finish("layers.json", {"cases": [results_of(*one) for one in CASES]})
