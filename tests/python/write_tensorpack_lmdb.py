"""Writes pickle.lmdb and msgpack.lmdb into the folder of the argument by tensorpack's own LMDBSerializer. Exit 77: a package is missing."""
import contextlib
import os
import pathlib
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
folder = pathlib.Path(sys.argv[1])
if len(sys.argv) == 2:  # the format is chosen when tensorpack is imported
    for form in ("pickle", "msgpack"):
        done = subprocess.run([sys.executable, __file__, folder, form], env={**os.environ, "TENSORPACK_SERIALIZE": form},
                              capture_output=True, text=True)
        print(done.stdout + done.stderr[-2000:] if done.returncode else "", end="")
        if done.returncode:
            sys.exit(done.returncode)
    sys.exit(0)
try:
    import numpy
    import lmdb  # noqa: F401
    import msgpack  # noqa: F401
    import msgpack_numpy  # noqa: F401
    with contextlib.redirect_stdout(sys.stderr):
        from tensorpack.dataflow import DataFromList, LMDBSerializer
except ImportError as error:
    print(error)
    sys.exit(77)

samples = [[numpy.arange(6, dtype="float32").reshape(2, 3) + i, i, numpy.asfortranarray(numpy.arange(4).reshape(2, 2))] for i in range(2)]
with contextlib.redirect_stdout(sys.stderr):
    LMDBSerializer.save(DataFromList(samples, shuffle=False), str(folder / f"{sys.argv[2]}.lmdb"))
