#!/usr/bin/env python3
"""Makes sample_formulas.json: formulas over samples as NumPy computes them. With --check: compares the file instead."""
import random

from golden import draw, finish, integers, numbers  # first: it says what is missing

import numpy as np

COMPONENTS = {
    "x": numbers(4, within=2),
    "y": numbers(4, around=1.5, within=1),
    "m": numbers(3, 4, within=2),
    "column": numbers(3, 1, within=2),
    "w": numbers(around=3, within=1),
    "k": integers(below=7),
    "i": integers(4, below=10),
    "pixels": integers(2, 3, below=256, dtype="uint8"),
}
SAMPLE = {name: draw(f"formula/{name}", spec).numpy() for name, spec in COMPONENTS.items()}
x, y, m, column, w, k, i, pixels = SAMPLE.values()


def case(text, dtype, value):
    value = np.asarray(value)
    assert np.isfinite(value.astype(float)).all(), text
    return {"name": text, "dtype": dtype, "shape": list(value.shape), "values": [float(v) for v in value.reshape(-1)]}


def softplus(a):
    return np.log1p(np.exp(a))


CASES = [
    case("x + y", "float32", x + y),
    case("x - 2 * y / 3", "float32", x - 2 * y / 3),
    case("x * column", "float32", x * column),
    case("m + x", "float32", m + x),
    case("m * column - w", "float32", m * column - w),
    case("-x ** 2", "float32", -x ** 2),
    case("y ** -1.5", "float32", y ** -1.5),
    case("pow(y, x)", "float32", y ** x),
    case("2 ** 3 ** 2", "float32", 2 ** 3 ** 2),
    case("x // 0.5", "float32", x // 0.5),
    case("x % 0.75", "float32", np.mod(x, 0.75)),
    case("-x % -0.75", "float32", np.mod(-x, -0.75)),
    case("i + k", "int32", i + k),
    case("i - k * 2", "int32", i - k * 2),
    case("(i - 5) // 3", "int32", (i - 5) // 3),
    case("(i - 5) % 3", "int32", (i - 5) % 3),
    case("i / 4", "float32", i / 4),
    case("-i", "int32", -i),
    case("i + 0.5", "float32", i + 0.5),
    case("pixels - 255", "int32", pixels - 255),
    case("pixels / 255", "float32", pixels / 255),
    case("pixels", "uint8", pixels),
    case("k + 2147483648", "int64", k + 2147483648),
    case("x > 0", "bool", x > 0),
    case("-1 < x <= 1", "bool", (-1 < x) & (x <= 1)),
    case("i == 3", "bool", i == 3),
    case("i != k", "bool", i != k),
    case("x > 0 and y < 2", "bool", (x > 0) & (y < 2)),
    case("x > 1 or not y < 2", "bool", (x > 1) | ~(y < 2)),
    case("where(x > 0, x, y)", "float32", np.where(x > 0, x, y)),
    case("where(column > 0, i, 0)", "int32", np.where(column > 0, i, 0)),
    case("i if k > 100 else -1", "int32", np.int32(-1) + 0 * i),
    case("abs(x) + sign(x)", "float32", np.abs(x) + np.sign(x)),
    case("abs(i - 5)", "int32", np.abs(i - 5)),
    case("clip(x, -0.5, 0.5)", "float32", np.clip(x, -0.5, 0.5)),
    case("clip(i, 2, 6)", "int32", np.clip(i, 2, 6)),
    case("max(x, y, 1)", "float32", np.maximum(np.maximum(x, y), 1)),
    case("min(i, k)", "int32", np.minimum(i, k)),
    case("floor(x) + ceil(y)", "float32", np.floor(x) + np.ceil(y)),
    case("round(i / 2)", "float32", np.round(i / 2)),
    case("trunc(x * 3)", "float32", np.trunc(x * 3)),
    case("int(x * 3)", "int32", np.trunc(x * 3)),
    case("int(x > 0)", "int32", x > 0),
    case("float(i)", "float32", i),
    case("exp(x) + expm1(y)", "float32", np.exp(x) + np.expm1(y)),
    case("log(y) + log1p(w)", "float32", np.log(y) + np.log1p(w)),
    case("sqrt(y) * rsqrt(w)", "float32", np.sqrt(y) / np.sqrt(w)),
    case("sin(x) - cos(y)", "float32", np.sin(x) - np.cos(y)),
    case("tanh(x) + sigmoid(y)", "float32", np.tanh(x) + 1 / (1 + np.exp(-y))),
    case("softplus(x) + square(y)", "float32", softplus(x) + y ** 2),
    case("is_nan(x)", "bool", np.isnan(x)),
    case("sum(m)", "float32", m.sum()),
    case("sum(i)", "int32", i.sum()),
    case("sum(x > 0)", "int32", (x > 0).sum()),
    case("mean(pixels)", "float32", pixels.mean()),
    case("min(m) + max(m)", "float32", m.min() + m.max()),
    case("max(pixels)", "uint8", pixels.max()),
    case("any(x > 1.9)", "bool", (x > 1.9).any()),
    case("all(y > 0.1)", "bool", (y > 0.1).all()),
    case("argmax(m)", "int32", m.argmax()),
    case("norm(m)", "float32", np.linalg.norm(m)),
    case("x[0]", "float32", x[0]),
    case("x[-1]", "float32", x[-1]),
    case("x[1:3]", "float32", x[1:3]),
    case("x[:-1] - x[1:]", "float32", x[:-1] - x[1:]),
    case("x[2:100]", "float32", x[2:100]),
    case("x[3:1]", "float32", x[3:1]),
    case("m[1]", "float32", m[1]),
    case("m[:, 2]", "float32", m[:, 2]),
    case("m[-2:, 1:3]", "float32", m[-2:, 1:3]),
    case("m[0, -1] * m[2, 0]", "float32", m[0, -1] * m[2, 0]),
    case("pixels[1, 0:2]", "uint8", pixels[1, 0:2]),
    case("concat(x, w, i)", "float32", np.concatenate([x, [w], i])),
    case("concat(m, m[:1])", "float32", np.concatenate([m, m[:1]])),
    case("concat(k, 3)", "int32", np.array([k, 3])),
    case("concat(pixels[0], pixels[1, 1:])", "uint8", np.concatenate([pixels[0], pixels[1, 1:]])),
    case("(m - mean(m))[0]", "float32", (m - m.mean())[0]),
]


def rounded(value):
    return np.asarray(value).astype(np.float32).astype(np.float64)


BINARY = {"+": np.add, "-": np.subtract, "*": np.multiply}
CALLED = {"abs": np.abs, "sin": np.sin, "tanh": np.tanh, "square": np.square, "sqrt": lambda a: np.sqrt(np.abs(a))}
COMPARED = {"<": np.less, ">=": np.greater_equal}


def random_formula(rng, depth):
    """A text and the value that NumPy gives it; floats are rounded to float32 after each operation."""
    if depth == 0:
        name = rng.choice(["x", "y", "m", "column", "w", "0.5"])
        return name, np.asarray(0.5) if name == "0.5" else SAMPLE[name]
    left, a = random_formula(rng, depth - 1)
    way = rng.randrange(6)
    if way < 3:
        sign = rng.choice(list(BINARY))
        right, b = random_formula(rng, rng.randrange(depth))
        return f"({left} {sign} {right})", rounded(BINARY[sign](a, b))
    if way == 3:
        name = rng.choice(list(CALLED))
        return f"{name}(abs({left}))" if name == "sqrt" else f"{name}({left})", rounded(CALLED[name](a))
    if way == 4:
        sign = rng.choice(list(COMPARED))
        right, b = random_formula(rng, 0)
        return f"where({left} {sign} {right}, {left}, 2 * {right})", np.where(COMPARED[sign](a, b), a, rounded(2 * b))
    if a.ndim == 0:
        return f"-{left}", -a
    return f"{left}[{'-1' if a.ndim == 1 else '1:, 0'}]", a[-1] if a.ndim == 1 else a[1:, 0]


RNG = random.Random(11)
names = {one["name"] for one in CASES}
while len(CASES) < 160:
    try:
        text, value = random_formula(RNG, RNG.randrange(2, 4))
    except ValueError:  # shapes that do not broadcast
        continue
    has_name = any(letter.isalpha() for letter in text)
    if text not in names and has_name and len(text) < 100:
        names.add(text)
        CASES.append(case(text, "float32", value))
finish("sample_formulas.json", {"made_with": f"NumPy {np.__version__} in double precision", "components": COMPONENTS, "cases": CASES})
