#!/usr/bin/env python3
"""Makes layers.json: results of layers, costs and metrics in PyTorch. With --check: compares the file instead."""
from golden import finish, integers, numbers  # first: it says what is missing
from layer_golden import CASES, avg_pool_same, batch_norm, batch_norm_with_averages, case, results_of, same
from philox import normal, random_key

import torch
import torch.nn.functional as F

IMAGE = numbers(2, 3, 5, 4)       # odd height, even width
EVEN = numbers(2, 3, 8, 6)
MANY = numbers(2, 17, 7, 9)       # a number of channels that does not fill vectors of 8 or 16


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


@case("dropout_in_inference", "Dropout", "- Dropout: {rate: 0.5}", IMAGE, phase="inference")
def _(x, _):
    return F.dropout(x, 0.5, training=False) * 1


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


@case("global_avg_pooling", "GlobalAvgPooling", "- GlobalAvgPooling", IMAGE)
def _(x, _):
    return F.adaptive_avg_pool2d(x, 1).flatten(1)


@case("batch_norm", "BatchNorm", "- BatchNorm", numbers(4, 3, 3, 2))
def _(x, v):
    return batch_norm(x, v, "batch_norm_0")


@case("batch_norm_many_channels", "BatchNorm", "- BatchNorm: {momentum: 0.75, epsilon: 0.01}", MANY)
def _(x, v):
    return batch_norm(x, v, "batch_norm_0", momentum=0.75, epsilon=0.01)


@case("batch_norm_of_vectors", "BatchNorm", "- BatchNorm: {center: false, scale: false}", numbers(6, 5))
def _(x, v):
    return batch_norm(x, v, "batch_norm_0", center=False, scale=False)


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


@case("fully_connected", "FullyConnected", "- FullyConnected: {units: 4, activation: Sigmoid}", numbers(3, 5))
def _(x, v):
    return torch.sigmoid(x @ v.weight("fully_connected_0/W", 5, 4) + v.bias("fully_connected_0/b", 4))


@case("fully_connected_of_images", "FullyConnected", "- FullyConnected: {units: 2, use_bias: false}", IMAGE)
def _(x, v):
    return F.linear(x.flatten(1), v.weight("fully_connected_0/W", 60, 2).T)


@case("random_normal", "RandomNormal", "- RandomNormal: {shape: [3, 5], mean: 0.5, stddev: 2}", numbers(4, 2))
def _(x, _):
    drawn = normal(random_key("random_normal_0/RandomNormal"), 4 * 3 * 5).reshape(4, 3, 5)
    return torch.from_numpy(0.5 + 2 * drawn)


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


finish("layers.json", {"cases": [results_of(*one) for one in CASES]})
