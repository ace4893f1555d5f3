"""Writes arrays to the folder of the argument as NumPy saves them. Exit 77: the package is missing."""
import pathlib
import sys

try:
    import numpy
except ImportError as error:
    print(error)
    sys.exit(77)

folder = pathlib.Path(sys.argv[1])
count = numpy.arange(24)
types = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
arrays = {name: count.astype(name).reshape(4, 3, 2) for name in types}
arrays["bool"] = (count % 2 == 1).reshape(4, 3, 2)
arrays["fortran"] = numpy.asfortranarray(arrays["float32"])
arrays["labels"] = numpy.array([3, -1, 2, 0])
numpy.savez(folder / "stored.npz", **arrays)
numpy.savez_compressed(folder / "packed.npz", **arrays)
numpy.save(folder / "plain.npy", arrays["float64"])
numpy.save(folder / "transposed.npy", count.astype("float32").reshape(6, 4).T)
with open(folder / "version2.npy", "wb") as file:
    numpy.lib.format.write_array(file, arrays["int64"], version=(2, 0))
