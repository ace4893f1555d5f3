#!/usr/bin/env bash
# Makes build/venv with the Python packages that some tests read tpack's files with (the product itself needs no Python).
# Prints the interpreter's path; prints nothing where the packages cannot be had, and those tests then skip.
set -uo pipefail
cd "$(dirname "$0")/.."

venv=build/venv
wanted="numpy h5py pillow tensorboard lmdb tensorpack pyzmq msgpack msgpack-numpy tfrecord webdataset onnx safetensors"
ready() { "$venv/bin/python" -c 'import numpy, h5py, PIL, tensorboard, lmdb, msgpack_numpy, zmq, tfrecord, webdataset, onnx, safetensors; import importlib.metadata as m; m.version("tensorpack")' 2>/dev/null; }

if ! ready; then
  mkdir -p build
  python3 -m venv "$venv" >&2 && "$venv/bin/pip" install --quiet $wanted >&2
fi
if ready; then echo "$PWD/$venv/bin/python"; fi
