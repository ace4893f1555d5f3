#!/usr/bin/env python3
"""Makes tables.json: columns of numbers as the scalers of scikit-learn scale them. With --check: compares the file instead."""
import sys

try:
    import sklearn
    from sklearn import preprocessing
except ImportError as error:
    print(error)
    sys.exit(77)
from golden import draw, finish, numbers

import numpy

LOG_STANDARDIZE = (preprocessing.FunctionTransformer(numpy.log1p), preprocessing.StandardScaler())


def ranks(count):
    """Up to 10,000 rows: of more, scikit-learn draws some."""
    return preprocessing.QuantileTransformer(n_quantiles=min(1000, count), output_distribution="normal")


def column(case):
    """The numbers of a case: a draw, of which the ends are cut off where there are many equal ones, or a list."""
    drawn = draw(case["name"], case["train"]).numpy() if isinstance(case["train"], dict) else numpy.array(case["train"])
    return numpy.float32(numpy.clip(drawn, *case.get("within", (-numpy.inf, numpy.inf)))).astype(numpy.float64)


def scaled(case, scalers):
    train = column(case).reshape(-1, 1)
    other = numpy.array(case["other"], dtype=numpy.float64).reshape(-1, 1)
    for scaler in scalers:
        scaler.fit(train)
        train, other = scaler.transform(train), scaler.transform(other)
    return {**case, "values": other.reshape(-1).tolist()}


FARES = [0.0, 4.0, 7.25, 7.25, 7.25, 8.05, 8.05, 10.5, 13.0, 13.0, 21.0, 26.55, 26.55, 71.25, 512.25]
ANY = [-1e6, -0.5, 0.0, 2.0, 7.25, 7.5, 8.05, 13.0, 26.55, 100.0, 512.25, 1e6]
ABOVE = [-0.5, 0.0, 2.0, 7.25, 8.05, 100.0, 1e6]
SPREAD = numbers(3000, around=2.0, within=5.0)
INSIDE = [-4.0, -3.0, -2.5, -1.0, 0.125, 1.0, 2.0, 3.5, 5.0, 6.5, 7.0, 8.0]

CASES = [
    scaled({"name": "standardize", "train": FARES, "other": ANY}, [preprocessing.StandardScaler()]),
    scaled({"name": "min_max", "train": FARES, "other": ANY}, [preprocessing.MinMaxScaler()]),
    scaled({"name": "log1p", "train": FARES, "other": ABOVE}, LOG_STANDARDIZE),
    scaled({"name": "quantile", "train": FARES, "other": ANY}, [ranks(len(FARES))]),
    scaled({"name": "quantile of many", "train": SPREAD, "other": INSIDE}, [ranks(3000)]),
    scaled({"name": "quantile of many equal ones", "train": SPREAD, "within": [-1.0, 3.5], "other": INSIDE}, [ranks(3000)]),
]

finish("tables.json", {"scaled_with": f"scikit-learn {sklearn.__version__}", "cases": CASES})
