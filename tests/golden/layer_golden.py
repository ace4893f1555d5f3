"""What a golden case of a layer, cost or metric is, and how its results are computed. make_layers.py has the table."""
import math

import torch
import torch.nn.functional as F
from golden import draw, numbers, summary, weights

CASES = []


class Variables:
    """The variables of one case, under tpack's names: drawn on first use, kept for their gradients."""

    def __init__(self, case):
        self.case = case
        self.specs = {}
        self.tensors = {}
        self.after = {}  # values after the step of variables that are not weights

    def weight(self, name, *shape):
        return self._make(name, weights(*shape))

    def bias(self, name, *shape):
        return self._make(name, numbers(*shape, within=0.25))

    def positive(self, name, *shape):
        return self._make(name, numbers(*shape, around=1.0, within=0.5))

    def average(self, name, *shape):
        """A variable that is not trained."""
        make = self.positive if name.endswith("variance/EMA") else self.bias
        return make(name, *shape).requires_grad_(False)

    def _make(self, name, spec):
        self.specs[name] = spec
        self.tensors[name] = draw(f"{self.case}/{name}", spec).requires_grad_()
        return self.tensors[name]


def case(name, covers, yaml, *inputs, phase="training", form="layers"):
    """Adds a case: `yaml` is a list of layers on x0, x1, ... or (form "model") a model section. The decorated function takes the
    inputs and the Variables, and returns the output, or a dict of outputs, of which the first is differentiated."""

    def add(function):
        CASES.append((name, {"covers": covers, "phase": phase, form: yaml.strip(),
                             "inputs": {f"x{i}": spec for i, spec in enumerate(inputs)}}, function))
        return function

    return add


def results_of(name, described, function):
    """The case as stored in the golden file."""
    variables = Variables(f"layers/{name}")
    inputs = {x: draw(f"layers/{name}/{x}", spec) for x, spec in described["inputs"].items()}
    floats = {x: tensor.requires_grad_() for x, tensor in inputs.items() if tensor.is_floating_point()}
    outputs = function(*inputs.values(), variables)
    if not isinstance(outputs, dict):
        outputs = {"output": outputs}
    # The gradient is that of the dot product of the first output with one more drawn vector.
    first = next(iter(outputs.values()))
    seed = draw(f"layers/{name}/seed", numbers(*first.shape))
    trained = {**floats, **{v: t for v, t in variables.tensors.items() if t.requires_grad}}
    gradients = {}
    if trained and first.requires_grad:
        found = torch.autograd.grad(first, list(trained.values()), seed, allow_unused=True)
        gradients = {f"gradient/{x}": gradient for x, gradient in zip(trained, found) if gradient is not None}
    after = {f"after/{v}": value for v, value in variables.after.items()}
    results = {key: summary(f"layers/{name}/{key}", value) for key, value in {**outputs, **gradients, **after}.items()}
    return {"name": name, **described, "variables": variables.specs, "results": results}


def same(x, size, stride, dilation=(1, 1), value=0.0):
    """Padding by TensorFlow's rule for "SAME", which PyTorch has for a stride of 1 only: as much as gives
    ceil(size / stride) outputs, with an odd row or column at the end. Source: TensorFlow's guide "Convolution"."""
    sides = []
    for length, k, s, d in zip(x.shape[2:], size, stride, dilation):
        outputs = math.ceil(length / s)
        total = max(0, (outputs - 1) * s + (k - 1) * d + 1 - length)
        sides.append((total // 2, total - total // 2))
    (top, bottom), (left, right) = sides
    return F.pad(x, (left, right, top, bottom), value=value)


def avg_pool_same(x, size, stride):
    """The mean over the elements of a window that are inside the image: PyTorch can only pad both sides equally, so the sum and
    the number of elements are pooled separately."""
    inside = same(torch.ones_like(x), size, stride)
    return F.avg_pool2d(same(x, size, stride), size, stride) / F.avg_pool2d(inside, size, stride)


def batch_norm(x, v, name, momentum=0.9, epsilon=1e-5, center=True, scale=True):
    """Batch normalization in training. PyTorch averages the unbiased variance, and its momentum is the weight of the new value;
    tpack averages the variance that normalizes, and its momentum is the weight of the old one. So the averages are written
    out here."""
    channels = x.shape[1]
    beta = v.bias(f"{name}/beta", channels) if center else None
    gamma = v.positive(f"{name}/gamma", channels) if scale else None
    axes = [axis for axis in range(x.dim()) if axis != 1]
    for which, batch in (("mean", x.mean(axes)), ("variance", x.var(axes, unbiased=False))):
        average = v.average(f"{name}/{which}/EMA", channels)
        v.after[f"{name}/{which}/EMA"] = average * momentum + batch.detach() * (1 - momentum)
    return F.batch_norm(x, None, None, gamma, beta, training=True, eps=epsilon)


def batch_norm_with_averages(x, v, name, epsilon=1e-5):
    channels = x.shape[1]
    beta, gamma = v.bias(f"{name}/beta", channels), v.positive(f"{name}/gamma", channels)
    mean, variance = (v.average(f"{name}/{which}/EMA", channels) for which in ("mean", "variance"))
    v.after.update({f"{name}/mean/EMA": mean, f"{name}/variance/EMA": variance})
    return F.batch_norm(x, mean, variance, gamma, beta, training=False, eps=epsilon)


def affine_norm(x, v, name, axes, epsilon=1e-5, center=True, scale=True):
    """Each sample normalized over `axes`, then one scale and offset for each channel."""
    y = (x - x.mean(axes, keepdim=True)) / torch.sqrt(x.var(axes, unbiased=False, keepdim=True) + epsilon)
    channels = [1, -1] + [1] * (x.dim() - 2)
    if scale:
        y = y * v.positive(f"{name}/gamma", x.shape[1]).reshape(channels)
    return y + v.bias(f"{name}/beta", x.shape[1]).reshape(channels) if center else y


def conv_transpose(x, v, name, filters, size, stride, valid=False, bias=True):
    """A transposed convolution with the output sizes of Keras. PyTorch gives the whole output; "same" takes its middle, with the
    odd row or column cut at the end, and pixels that no kernel reaches are zeros at the end."""
    y = F.conv_transpose2d(x, v.weight(f"{name}/W", x.shape[1], filters, *size), stride=stride)
    sides = []
    for n, k, s in zip(x.shape[2:], size, stride):
        cut = 0 if valid else max(k - s, 0)
        sides.append((-(cut // 2), cut // 2 - cut + max(s - k, 0)))
    (top, bottom), (left, right) = sides
    y = F.pad(y, (left, right, top, bottom))
    return y + v.bias(f"{name}/b", filters).reshape(-1, 1, 1) if bias else y
