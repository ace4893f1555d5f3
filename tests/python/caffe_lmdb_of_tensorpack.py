"""Prints what tensorpack's own CaffeLMDB reads from the database of the argument: label, sizes (height, width, channels) and checksum of
the pixels, in the order of the keys. Exit 77: a package is missing.

tensorpack downloads Caffe's message and compiles it; here it finds tpack's. It also calls a function that NumPy has removed.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zlib

warnings.simplefilter("ignore")
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
try:
    import lmdb  # noqa: F401
    import numpy
    import google.protobuf  # noqa: F401
    with contextlib.redirect_stdout(sys.stderr):
        from tensorpack.dataflow import CaffeLMDB
except ImportError as error:
    print(error)
    sys.exit(77)

numpy.fromstring = numpy.frombuffer
proto = pathlib.Path(__file__).resolve().parents[2] / "lib" / "sources" / "format" / "caffe_datum.proto"
with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
    os.environ["TENSORPACK_DATASET"] = folder
    caffe = pathlib.Path(folder) / "caffe"
    caffe.mkdir()
    (caffe / "caffe.proto").write_text(proto.read_text())
    subprocess.run(["protoc", "caffe.proto", "--python_out=."], cwd=caffe, check=True)
    flow = CaffeLMDB(sys.argv[1], shuffle=False)
    flow.reset_state()
    lines = [f"{label} {image.shape} {zlib.crc32(image.tobytes())}" for image, label in flow]
print("\n".join(lines))
