"""Prints what h5py reads from a checkpoint. Exit 77: the package is missing."""
import sys

try:
    import h5py
except ImportError as error:
    print(error)
    sys.exit(77)


def show(name, item):
    if isinstance(item, h5py.Dataset):
        value = item[()]
        print(name, repr(value.decode()) if isinstance(value, bytes) else f"{value.dtype} {value.tolist()}")


sys.stdout.reconfigure(encoding="utf-8")
with h5py.File(sys.argv[1], "r") as file:
    root = dict(file.attrs)
    print(root["format"].decode(), root["format_version"], "step", root["step"], "epoch", root["epoch"],
          "complete", root["complete"])
    file.visititems(show)
