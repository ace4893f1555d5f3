#!/usr/bin/env python3
"""Writes the CSV files of configs/regression.yaml, configs/multi-label.yaml and docs/tables.md, from known functions of random numbers.

    scripts/make_tables.py [FOLDER]          the default is data/tables

regression-train.csv (1,000 rows) and regression-test.csv (500): y = 10 sin(pi a b) + 20 (c - 1/2)^2 + 10 d + 5 e, with a to j uniform in
[0, 1]; f to j do not matter. To the y of training, noise with a standard deviation of 1 is added; that of the test file is the function
itself. Source: Friedman 1991, "Multivariate adaptive regression splines", section 4.3.

voyages.csv (1,000 rows) and voyages-new.csv (500, without the last column): passengers of a ferry with an id, a name, numbers, categories,
a date, and gaps in some columns; `delayed` is yes for those that a storm or a long queue held up, and for a few others.

series.csv (600 rows): a level that swings with a period of 12, rises, and is disturbed.

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


def passenger(rng, number):
    age = rng.randrange(1, 85)
    fare = round(math.exp(rng.gauss(3, 0.6)), 2)
    kind = rng.choices(["car", "foot", "bicycle"], [5, 4, 1])[0]
    port = rng.choice(["Aren", "Bude", "Cley"])
    month, day = rng.randrange(1, 13), rng.randrange(1, 29)
    storm = month in (11, 12, 1, 2) and port == "Bude"
    risk = 0.04 + 0.75 * storm + 0.5 * (kind == "car" and fare < 15) + 0.3 * (age > 70)
    names = f"{rng.choice('ABCDEFGHIKLM')}. {rng.choice(['Adler', 'Berg', 'Cole', 'Dahl', 'Eder'])}-{number}"
    return [number, names, "" if rng.random() < 0.15 else age, fare, kind, "" if rng.random() < 0.05 else port,
            f"2024-{month:02}-{day:02}", "yes" if rng.random() < risk else "no"]


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
    rng = random.Random("series")
    with open(folder / "series.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["step", "level"])
        writer.writerows([step, f"{10 + step / 100 + 3 * math.sin(step * math.pi / 6) + rng.gauss(0, 0.3):.4f}"] for step in range(600))
    rng = random.Random("voyages")
    voyages = [passenger(rng, number) for number in range(1, 1501)]
    header = ["id", "name", "age", "fare", "kind", "port", "date", "delayed"]
    for name, rows, columns in (("voyages", voyages[:1000], 8), ("voyages-new", voyages[1000:], 7)):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows(row[:columns] for row in [header, *rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(__file__).resolve().parent.parent / "data" / "tables"
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default)
    write(parser.parse_args().folder)
