#!/usr/bin/env python3
"""Ten tables: five folds of tpack's config and of LightGBM's defaults on the same folds.

    TPACK_DATASET=... bench/peers/tables.py [NAME ...]          (with a Python that has lightgbm, pandas and scikit-learn)

The folds are those of `tpack train --folds 5` (out_of_fold.csv says which row was in which). Prints for each table the metric of the
validation parts, mean over folds: accuracy, or R2 for a number.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import lightgbm
import numpy
import pandas
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import accuracy_score, r2_score

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.environ["TPACK_DATASET"]
TABLES = {  # file, how pandas reads it, the column to predict, columns that are row numbers or names, whether it is a number
    "titanic": ("tables/titanic.csv", {}, "Survived", ["PassengerId", "Name", "Ticket"], False),
    "adult": ("tables/adult-train.csv", {"header": None, "skipinitialspace": True, "na_values": "?"}, 14, [], False),
    "wine": ("tables/winequality-white.csv", {"header": None}, 11, [], False),
    "heart": ("libsvm/heart_scale", None, None, [], False),
    "german": ("tables/german.csv", {"header": None}, 20, [], False),
    "iris": ("tables/iris.csv", {"header": None}, 4, [], False),
    "housing": ("tables/housing.data", {"header": None, "sep": r"\s+"}, 13, [], True),
    "mpg": ("tables/mpg.csv", {}, "mpg", ["name"], True),
    "diamonds": ("tables/diamonds.csv", {}, "price", [], True),
    "abalone": ("tables/abalone.csv", {"header": None}, 8, [], True),
}


def table_of(name):
    """The features, the targets and the lines of the file that rows stand in."""
    file, reading, target, left_out, _ = TABLES[name]
    if reading is None:
        features, targets = load_svmlight_file(os.path.join(DATA, file))
        return pandas.DataFrame(features.toarray()), pandas.Series(targets), 1
    rows = pandas.read_csv(os.path.join(DATA, file), **reading)
    targets = rows.pop(target)
    rows = rows.drop(columns=left_out)
    for column in rows:
        if not pandas.api.types.is_numeric_dtype(rows[column]):
            rows[column] = rows[column].astype("category")
    rows.columns = [str(column) for column in rows.columns]
    return rows, targets, 1 if reading.get("header", 0) is None else 2


def folds_of(folder, first_line):
    """The fold of each row of the table."""
    with open(os.path.join(folder, "out_of_fold.csv")) as file:
        places = [(int(row["file"].rsplit(":", 1)[1]) - first_line, int(row["fold"])) for row in csv.DictReader(file)]
    return dict(places)


def lightgbm_metrics(name, rows, targets, folds):
    is_number = TABLES[name][4]
    numbers = numpy.array([folds.get(i, -1) for i in range(len(rows))])
    metrics = []
    for fold in sorted(set(folds.values())):
        train, test = (numbers != fold) & (numbers >= 0), numbers == fold
        if is_number:
            model = lightgbm.LGBMRegressor(verbose=-1).fit(rows[train], targets[train])
            metrics.append(r2_score(targets[test], model.predict(rows[test])))
        else:
            model = lightgbm.LGBMClassifier(verbose=-1).fit(rows[train], targets[train].astype(str))
            metrics.append(accuracy_score(targets[test].astype(str), model.predict(rows[test])))
    return metrics


def main():
    warnings.filterwarnings("ignore")
    program = os.environ.get("TPACK", os.path.join(ROOT, "build/release/tpack"))
    print(f"{'table':10} {'metric':9} {'tpack':>7} {'LightGBM':>9} {'difference':>10}")
    for name in sys.argv[1:] or TABLES:
        folder = tempfile.mkdtemp()
        config = os.path.join(ROOT, "bench/tables", name + ".yaml")
        subprocess.run([program, "train", config, "--folds", "5", "--log-dir", folder + "/folds"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        metric = "r2" if TABLES[name][4] else "accuracy"
        with open(folder + "/folds/folds.json") as file:
            own = json.load(file)["statistics"]["validation_" + metric]["values"]
        rows, targets, first_line = table_of(name)
        peer = lightgbm_metrics(name, rows, targets, folds_of(folder + "/folds", first_line))
        shutil.rmtree(folder)
        mean, other = numpy.mean(own), numpy.mean(peer)
        print(f"{name:10} {metric:9} {mean:7.4f} {other:9.4f} {mean - other:+10.4f}", flush=True)


main()
