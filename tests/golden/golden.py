"""What the scripts that make golden files share: drawing input tensors, summarizing results, writing and checking files.
Exit 77: a package is missing.

A golden file holds no tensors. An input tensor is described by a draw (shape and range); Python and C++ both compute its elements
from its key. A result is stored as [its norm, three dot products with vectors of numbers in [-1, 1)].
"""
import json
import math
import pathlib
import sys

try:
    import numpy  # noqa: F401 (philox needs it)
    import torch
except ImportError as error:
    print(error)
    sys.exit(77)
from philox import uniform

FOLDER = pathlib.Path(__file__).resolve().parent
PROJECTIONS = 3
# For --check: other versions of PyTorch and other processors may sum in another order.
CHECK_TOLERANCE = 1e-11


def numbers(*shape, around=0.0, within=1.0):
    """The draw of floats in [around - within, around + within), each of them a float32."""
    return {"shape": list(shape), "around": around, "within": within}


def integers(*shape, below, dtype="int32"):
    """The draw of integers in [0, below)."""
    return {"shape": list(shape), "below": below, "dtype": dtype}


def weights(*shape):
    """The draw of a weight, with the range of He et al. 2015: [filters, channels, kh, kw] or [in, units]."""
    fan_in = math.prod(shape[1:]) if len(shape) == 4 else shape[0]
    return numbers(*shape, within=math.sqrt(6 / fan_in))


def draw(key, spec):
    """The tensor of a draw: float64 with values that are exact in float32, or int64."""
    count = math.prod(spec["shape"])
    if "below" in spec:
        return torch.from_numpy(uniform(key, count) * spec["below"]).to(torch.int64).reshape(spec["shape"])
    values = spec["around"] + spec["within"] * (2 * uniform(key, count) - 1)
    return torch.from_numpy(values.astype("float32").astype("float64")).reshape(spec["shape"])


def summary(key, tensor):
    """A result as [norm, projection, projection, projection]."""
    flat = tensor.detach().to(torch.float64).reshape(-1)
    projections = [torch.dot(flat, draw(f"{key}/projection{k}", numbers(flat.numel()))) for k in range(PROJECTIONS)]
    return [float(value) for value in (torch.linalg.vector_norm(flat), *projections)]


def finish(name, content):
    """Writes the file; with --check, compares it instead and exits with 1 if it differs. Numbers that agree with those of the file
    stay as they are, so that a new case changes no other."""
    path = FOLDER / name
    content = {"made_with": f"PyTorch {torch.__version__} in double precision", **content}
    if sys.argv[1:] != ["--check"]:
        kept = _kept(json.loads(path.read_text()), content) if path.exists() else content
        path.write_text(_text(kept) + "\n")
        return
    found = list(_differences(name, json.loads(path.read_text()), json.loads(json.dumps(content))))
    print("\n".join(found[:20]) if found else f"{name}: is what the script makes")
    if found:
        print(f"to write the file again, run {sys.executable} {sys.argv[0]} without --check")
        sys.exit(1)


def _text(value, indent=""):
    """JSON in which short values and lists without objects are on one line."""
    if isinstance(value, dict) and value:
        inner = indent + " "
        flat = json.dumps(value)
        if len(flat) <= 100:
            return flat
        items = (f"{inner}{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + "\n" + indent + "}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        inner = indent + " "
        return "[\n" + ",\n".join(inner + _text(item, inner) for item in value) + "\n" + indent + "]"
    return json.dumps(value)


def _agree(committed, made):
    scale = max(map(abs, committed), default=0)
    return all(abs(a - b) <= CHECK_TOLERANCE * scale for a, b in zip(committed, made))  # a NaN differs


def _is_floats(value):
    return isinstance(value, list) and value and all(isinstance(item, float) for item in value)


def _is_case(value):
    return isinstance(value, dict) and "name" in value


def _kept(committed, made):
    """What is made, with the numbers of the file where both agree."""
    if isinstance(committed, dict) and isinstance(made, dict):
        return {key: _kept(committed.get(key), value) for key, value in made.items()} | (
            {"made_with": committed["made_with"]} if "made_with" in committed else {})
    if isinstance(committed, list) and isinstance(made, list) and all(_is_case(item) for item in committed + made):
        by_name = {case["name"]: case for case in committed}
        return [_kept(by_name.get(case["name"]), case) for case in made]
    both_floats = _is_floats(committed) and _is_floats(made) and len(committed) == len(made)
    return committed if both_floats and _agree(committed, made) else made


def _differences(where, committed, made):
    if where.endswith("/made_with"):
        return
    if isinstance(committed, dict) and isinstance(made, dict):
        for key in sorted(committed.keys() | made.keys()):
            if key not in committed or key not in made:
                yield f"{where}/{key}: is only in {'the file' if key in committed else 'what the script makes'}"
            else:
                yield from _differences(f"{where}/{key}", committed[key], made[key])
    elif isinstance(committed, list) and isinstance(made, list) and all(_is_case(item) for item in committed + made):
        yield from _differences(where, *({case["name"]: case for case in cases} for cases in (committed, made)))
    elif isinstance(committed, list) and isinstance(made, list) and len(committed) == len(made):
        if all(isinstance(item, float) for item in committed + made):
            if not _agree(committed, made):
                yield f"{where}: the file has {committed}, the script makes {made}"
        else:
            for i, (a, b) in enumerate(zip(committed, made)):
                yield from _differences(f"{where}/{i}", a, b)
    elif committed != made:
        yield f"{where}: the file has {committed}, the script makes {made}"
