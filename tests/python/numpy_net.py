"""A network for tests of files of weights: its values in PyTorch's layout, and its outputs, computed by NumPy in double precision."""
import numpy as np

EPSILON = 1e-5  # of the norm


def values():
    """conv1 (3 to 8 channels, 3x3), bn1, dw (depthwise 3x3), up (transposed 2x2, to 4 channels), fc1 (256 to 10), fc2 (10 to 10)."""
    random = np.random.default_rng(1)
    shapes = {"conv1.weight": (8, 3, 3, 3), "bn1.weight": (8,), "bn1.bias": (8,), "bn1.running_mean": (8,), "bn1.running_var": (8,),
              "dw.weight": (8, 1, 3, 3), "dw.bias": (8,), "up.weight": (8, 4, 2, 2), "up.bias": (4,), "fc1.weight": (10, 256),
              "fc1.bias": (10,), "fc2.weight": (10, 10), "fc2.bias": (10,)}
    all_values = {name: random.uniform(-0.5, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    all_values["bn1.running_var"] = np.abs(all_values["bn1.running_var"]) + np.float32(0.5)
    return all_values


def convolution(x, weight, groups):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    if groups == 1:
        return np.einsum("nchwij,ocij->nohw", windows, weight)
    return np.einsum("nchwij,cij->nchw", windows, weight[:, 0])


def outputs(v, x):
    v = {name: value.astype(np.float64) for name, value in v.items()}
    channels = (None, slice(None), None, None)
    x = convolution(x.astype(np.float64), v["conv1.weight"], 1)
    x = (x - v["bn1.running_mean"][channels]) / np.sqrt(v["bn1.running_var"][channels] + EPSILON)
    x = np.maximum(x * v["bn1.weight"][channels] + v["bn1.bias"][channels], 0)
    x = np.maximum(convolution(x, v["dw.weight"], 8) + v["dw.bias"][channels], 0)
    n, _, h, w = x.shape
    x = np.einsum("nchw,coij->nohiwj", x, v["up.weight"]).reshape(n, 4, 2 * h, 2 * w) + v["up.bias"][channels]
    x = np.maximum(x, 0).reshape(n, -1)
    x = np.maximum(x @ v["fc1.weight"].T + v["fc1.bias"], 0)
    return x @ v["fc2.weight"].T + v["fc2.bias"]


def keras_values(v):
    """The same in Keras' layout, under its names."""
    last = {"weight": "kernel", "bias": "bias", "running_mean": "moving_mean", "running_var": "moving_variance"}
    result = {}
    for name, value in v.items():
        layer, leaf = name.rsplit(".", 1)
        here = last[leaf] if layer != "bn1" or leaf.startswith("running") else {"weight": "gamma", "bias": "beta"}[leaf]
        if leaf == "weight":
            if layer == "dw":
                value = value.transpose(2, 3, 0, 1)
            elif value.ndim == 4:
                value = value.transpose(2, 3, 1, 0)  # a transposed convolution becomes [h, w, out, in], too
            elif layer == "fc1":
                value = value.reshape(10, 4, 8, 8).transpose(2, 3, 1, 0).reshape(256, 10)
            elif value.ndim == 2:
                value = value.T
        result[f"{layer}/{here}"] = np.ascontiguousarray(value)
    return result


def save_expected(path, v, named):
    """`named`: values by their names in the files."""
    x = np.random.default_rng(2).uniform(-1, 1, (5, 3, 4, 4)).astype(np.float32)
    np.savez(path, x=x, y=outputs(v, x).astype(np.float32), **named)
