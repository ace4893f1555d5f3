#!/usr/bin/env python3
"""Networks of Caffe (.caffemodel), into the folder of the argument; expected.npz has each array, an input and the outputs for it.

The messages are put together here by the field numbers of caffe.proto of Caffe 1.0, so that they do not depend on tpack's own .proto.
"""
import pathlib
import struct
import sys

try:
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)
import numpy_net


def varint(value):
    result = b""
    while value > 127:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def blob(value, old=False, double=False, unpacked=False):
    if old:
        sizes = b"".join(field(i + 1, size) for i, size in enumerate([1] * (4 - value.ndim) + list(value.shape)))
    else:
        sizes = field(7, field(1, b"".join(varint(size) for size in value.shape)))
    if double:
        return sizes + field(8, value.astype("<f8").tobytes())
    if unpacked:
        return sizes + b"".join(varint(5 << 3 | 5) + struct.pack("<f", number) for number in value.flatten())
    return sizes + field(5, value.astype("<f4").tobytes())


def layers_of(net, factor=4.0):
    """Names, types and arrays of layers, as Caffe has them: a norm is two layers, and its statistics are sums."""
    return [("conv1", "Convolution", [net["conv1.weight"]]),
            ("bn1", "BatchNorm", [net["bn1.running_mean"] * factor, net["bn1.running_var"] * factor, np.array([factor])]),
            ("scale1", "Scale", [net["bn1.weight"], net["bn1.bias"]]),
            ("dw", "Convolution", [net["dw.weight"], net["dw.bias"]]),
            ("up", "Deconvolution", [net["up.weight"], net["up.bias"]]),
            ("fc1", "InnerProduct", [net["fc1.weight"], net["fc1.bias"]]),
            ("fc2", "InnerProduct", [net["fc2.weight"], net["fc2.bias"]])]


def network(layers, transposed=(), **options):
    result = field(1, "net")
    result += field(100, field(1, "data") + field(2, "Input"))
    for name, kind, arrays in layers:
        arrays = [array.T if name in transposed and array.ndim == 2 else array for array in arrays]
        result += field(100, field(1, name) + field(2, kind) + b"".join(field(7, blob(array, **options)) for array in arrays)
                        + (field(117, field(6, 1)) if name in transposed else b""))
    return result


def old_network(layers):
    """Before May 2014."""
    numbers = {"Convolution": 4, "InnerProduct": 14, "Deconvolution": 39}
    return field(1, "net") + b"".join(
        field(2, field(4, name) + field(5, numbers[kind]) + b"".join(field(6, blob(array, old=True)) for array in arrays))
        for name, kind, arrays in layers if kind in numbers)


def main():
    folder = pathlib.Path(sys.argv[1])
    net = numpy_net.values()
    layers = layers_of(net)
    (folder / "net.caffemodel").write_bytes(network(layers))
    (folder / "double.caffemodel").write_bytes(network(layers, double=True))
    (folder / "unpacked.caffemodel").write_bytes(network(layers, unpacked=True))
    (folder / "transposed.caffemodel").write_bytes(network(layers, transposed=("fc1", "fc2")))
    (folder / "old.caffemodel").write_bytes(old_network(layers))
    (folder / "zero.caffemodel").write_bytes(network([("bn", "BatchNorm", [np.ones(2), np.ones(2), np.zeros(1)]),
                                                      ("relu", "PReLU", [np.full(2, 0.25)]), ("other", "LSTM", [np.ones((2, 3))])]))
    (folder / "short.caffemodel").write_bytes(field(100, field(1, "a") + field(2, "Scale") + field(7, field(7, field(1, varint(9))) + field(5, b"1234"))))
    (folder / "none.caffemodel").write_bytes(field(1, "net"))
    named = {name.replace("bn1.weight", "scale1.weight").replace("bn1.bias", "scale1.bias"): value for name, value in net.items()}
    numpy_net.save_expected(folder / "expected.npz", net, named)
    print("written")


main()
