"""Writes pickles of all protocols, and what is in them as text, to the folder of the argument. Exit 77: the package is missing."""
import collections
import os
import pathlib
import pickle
import sys

try:
    import numpy
except ImportError as error:
    print(error)
    sys.exit(77)


class Unknown:
    def __init__(self):
        self.x = 1


def array_text(a):
    order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    data = "".join(text(x) for x in a.flat) if a.dtype == object else a.tobytes(order).hex()
    dtype = "|O" if a.dtype == object else a.dtype.str
    return f"array({dtype} {list(a.shape)} {order} {data})"


def text(x):
    if isinstance(x, (str, numpy.str_)) and not isinstance(x, numpy.generic):
        return "t" + x.encode().hex()
    if isinstance(x, numpy.ndarray):
        return array_text(x)
    if isinstance(x, numpy.str_):
        return array_text(numpy.array(x))
    if isinstance(x, numpy.generic):
        x = x.item()
    if x is None or isinstance(x, bool):
        return str(x)
    if isinstance(x, int):
        return str(x) if -(2**63) <= x < 2**63 else "object(int)"
    if isinstance(x, float):
        return "f%.17g" % x
    if isinstance(x, (bytes, bytearray)):
        return "b" + x.hex()
    if isinstance(x, dict):
        return "{" + "".join(text(k) + ":" + text(v) + ";" for k, v in x.items()) + "}"
    if isinstance(x, (list, tuple, set, frozenset)):
        return "[" + "".join(text(v) + ";" for v in x) + "]"
    if isinstance(x, type) or callable(x):
        return f"object({x.__module__}.{x.__qualname__})"
    return f"object({type(x).__module__}.{type(x).__qualname__})"


shared = ["shared", 1]
defaults = collections.defaultdict(list)
defaults["a"].append(1)
ordered = collections.OrderedDict([("z", 1), ("a", [2])])
ordered.metadata = {"version": 1}
matrix = numpy.arange(6).reshape(2, 3)
numbers = [matrix.astype(t) for t in ["u1", "i1", "i2", ">i4", "i8", "u8", "f2", "f4", ">f8", "c8"]]
values = {
    "plain": [None, True, False, 0, 1, -1, 255, 256, 65535, 65536, -70000, 2**31, -2**31, 2**62, -2**63, 2**63, 2**200, 0.5, -1e300,
              float("inf"), 1 / 3],
    "texts": ["", "a", "\n'\\\"", "\x80\xe9", "\u20ac", "\U0001f600\\u0041", "x" * 300, b"", b"\x00\xff\n'", b"y" * 300, bytearray(),
              bytearray(b"\x80")],
    "lists": [[], (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [[[]]], {1}, frozenset([2]), set(), list(range(2000)), shared, shared],
    "dicts": [{}, {"a": 1}, {b"k": {"x": ()}, 3: 4, (1, "t"): None}, ordered, defaults, {i: str(i) for i in range(1500)}],
    "arrays": [*numbers, matrix > 2, numpy.asfortranarray(matrix), matrix.T, numpy.zeros((0, 3)), numpy.array(5.5), matrix[:, ::2],
               numpy.array(["a", "bcd"]), numpy.array([b"a", b"bcd"]), numpy.array([1, "x", None], dtype=object), matrix, matrix],
    "scalars": [numpy.float32(0.5), numpy.float64(1 / 3), numpy.int64(-5), numpy.uint8(200), numpy.bool_(True), numpy.float16(1.5),
                numpy.str_("abc")],
    "objects": [Unknown(), os.system, collections.Counter, 1j, slice(1, 2), range(3)],
}
folder = pathlib.Path(sys.argv[1])
for name, value in values.items():
    (folder / (name + ".txt")).write_text(text(value))
    for protocol in range(6):
        (folder / f"{name}.{protocol}").write_bytes(pickle.dumps(value, protocol))
