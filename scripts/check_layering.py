#!/usr/bin/env python3
"""Checks that every folder of lib/ includes only what docs/architecture.md allows it to."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder -> folders it may include; what those may include comes along.
MAY_INCLUDE = {
    "core": [],
    "system": ["core"],
    "config": ["system"],
    "tensor": ["system"],
    "fields": ["tensor"],
    "draw": ["tensor"],
    "environment": ["tensor"],
    "image": ["fields"],
    "table": ["fields"],
    "dataflow": ["image"],
    "sources": ["dataflow", "table", "checkpoint"],
    "records": ["sources"],
    "remote": ["records"],
    "agents": ["dataflow", "environment"],
    "graph": ["fields"],
    "checkpoint": ["tensor"],
    "comm": ["tensor"],
    "monitor": ["draw"],
    "ops": ["graph"],
    "nn": ["ops"],
    "model": ["nn"],
    "layers": ["model"],
    "costs": ["layers"],
    "metrics": ["costs"],
    "backend": ["ops"],
    "optim": ["backend"],
    "cpu": ["backend"],
    "testkit": ["backend"],
    "input": ["agents", "backend"],
    "parallel": ["optim", "comm"],
    "predict": ["metrics", "draw", "input", "checkpoint"],
    "learner": ["predict", "remote", "optim", "config"],
    "train": ["parallel", "predict", "monitor"],
    "callbacks": ["train"],
    "weights": ["learner"],
    "experiment": ["callbacks", "weights"],
    "run": ["experiment"],
    "data_tools": ["remote", "draw"],
    "infer": ["learner", "data_tools"],
    "evaluation": ["infer"],
    "reports": ["run"],
    "search": ["run"],
    "cli": ["search", "evaluation", "reports"],
}

# Third-party headers that only some folders may see.
ONLY_IN = {
    r"yaml-cpp/": ["config"],
    r"oneapi/dnnl": ["cpu"],
    r"hwy/": ["cpu", "tensor"],
    r"opencv2/": ["image", "dataflow", "sources", "data_tools"],
    r"(gif_lib|tiffio|webp/(decode|demux))\.h": ["image"],
    r"zmq\.h": ["remote"],
    r"lmdb\.h": ["sources", "records"],
    r"(zlib|zstd)\.h": ["table"],
    r"google/protobuf": ["sources", "records", "weights"],
    r"(hdf5|H5public)\.h": ["checkpoint", "sources/hdf5"],
    r"mpi\.h": ["comm"],
    r"Eigen/": ["train"],
    r"Spectra/": ["train"],
    r"hwloc\.h": ["parallel"],
    r"CLI/": ["cli"],
    r"curses\.h": ["cli"],
    r"spdlog/": ["system"],
    r"utf8proc\.h": ["core"],
}


def closure(folder):
    seen, todo = {folder}, list(MAY_INCLUDE[folder])
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += MAY_INCLUDE[name]
    return seen


def problems():
    for path in sorted((ROOT / "lib").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        inside = path.relative_to(ROOT / "lib")
        folder = inside.parts[0]
        if folder not in MAY_INCLUDE:
            yield f"{path}: folder {folder} is not in the table of scripts/check_layering.py"
            continue
        allowed = closure(folder)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            own = re.match(r'\s*#include "([^"/]+)/', line)
            if own and own.group(1) not in allowed:
                yield f"lib/{inside}:{number}: {folder} may not include {own.group(1)}"
            system = re.match(r"\s*#include <([^>]+)>", line)
            for pattern, folders in ONLY_IN.items():
                if system and re.match(pattern, system.group(1)):
                    if not any(str(inside).startswith(f + "/") for f in folders):
                        yield f"lib/{inside}:{number}: <{system.group(1)}> belongs to {', '.join(folders)}"


found = list(problems())
print("\n".join(found) if found else "layering: ok")
sys.exit(1 if found else 0)
