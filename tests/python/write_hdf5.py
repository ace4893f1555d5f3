"""Writes datasets to a.h5 in the folder of the argument as h5py saves them. Exit 77: a package is missing."""
import pathlib
import sys

try:
    import h5py
    import numpy
except ImportError as error:
    print(error)
    sys.exit(77)

with h5py.File(pathlib.Path(sys.argv[1]) / "a.h5", "w") as file:
    file["flags"] = numpy.array([True, False, True])
    file["half"] = numpy.array([0.5, -2, 65504], dtype="float16")
    file.create_dataset("group/packed", data=numpy.arange(6, dtype="float64").reshape(3, 2), compression="gzip", shuffle=True)
