#!/usr/bin/env python3
"""Writes the CSV files of configs/regression.yaml and configs/multi-label.yaml, from known functions of random numbers.

    scripts/make_tables.py [FOLDER]          the default is data/tables

regression-train.csv (1,000 rows) and regression-test.csv (500): y = 10 sin(pi a b) + 20 (c - 1/2)^2 + 10 d + 5 e, with a to j uniform in
[0, 1]; f to j do not matter. To the y of training, noise with a standard deviation of 1 is added; that of the test file is the function
itself. Source: Friedman 1991, "Multivariate adaptive regression splines", section 4.3.

tags-train.csv (1,000 rows) and tags-test.csv (500): points (x, y, z), uniform in [-1, 1], with 0 to 4 tags: near, above, right, steep.
"""
import argparse
import csv
import math
import pathlib
import random


def friedman(rng, is_train):
    values = [rng.random() for _ in range(10)]
    a, b, c, d, e = values[:5]
    y = 10 * math.sin(math.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e + (rng.gauss(0, 1) if is_train else 0)
    return [f"{value:.6f}" for value in (*values, y)]


def tagged_point(rng, _is_train):
    x, y, z = (rng.uniform(-1, 1) for _ in range(3))
    tags = (x * x + y * y + z * z < 0.7, z > 0, x + y > 0, abs(z) > abs(x))
    return [f"{value:.6f}" for value in (x, y, z)] + [str(int(tag)) for tag in tags]


TABLES = {
    "regression": ([*"abcdefghij", "y"], friedman),
    "tags": (["x", "y", "z", "near", "above", "right", "steep"], tagged_point),
}


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (header, row) in TABLES.items():
        for part, count in (("train", 1000), ("test", 500)):
            rng = random.Random(f"{name} {part}")
            with open(folder / f"{name}-{part}.csv", "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(header)
                writer.writerows(row(rng, part == "train") for _ in range(count))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(__file__).resolve().parent.parent / "data" / "tables"
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default)
    write(parser.parse_args().folder)
