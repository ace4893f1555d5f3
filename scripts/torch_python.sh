#!/usr/bin/env bash
# Prints a Python that has PyTorch, with which tests make the golden files again (the product itself needs none):
# $TPACK_TORCH_PYTHON, that of the other tests, or Debian's. With --install Debian's python3-torch, a build for processors, is
# installed where none has it (135 MB to fetch; what pip installs brings gigabytes of CUDA). It goes with Debian's NumPy, so it
# is no part of build/venv. Prints nothing where there is none, and those tests then skip.
set -uo pipefail
cd "$(dirname "$0")/.."

debian=/usr/bin/python3
has_torch() { "$1" -c 'import numpy, torch, torchvision' >/dev/null 2>&1; }

for python in "${TPACK_TORCH_PYTHON:-}" "${TPACK_PYTHON:-}" "$PWD/build/venv/bin/python" "$debian"; do
  if [ -n "$python" ] && has_torch "$python"; then echo "$python"; exit; fi
done
if [ "${1:-}" = --install ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends python3-torch python3-torchvision >&2
  if has_torch "$debian"; then echo "$debian"; fi
fi
