#!/usr/bin/env python3
"""Reads a safetensors file by its own library, and compares it with expected.npz in the same folder."""
import pathlib
import sys

try:
    import numpy as np
    from safetensors.numpy import load_file
except ImportError as missing:
    print(missing)
    sys.exit(77)

path = pathlib.Path(sys.argv[1])
expected = np.load(path.parent / "expected.npz")
arrays = load_file(path)
for name, value in arrays.items():
    assert value.dtype == expected[name].dtype and np.array_equal(value, expected[name]), name
print(len(arrays), "arrays are equal")
