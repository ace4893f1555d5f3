#!/usr/bin/env bash
# Installs tpack from BUILD to a temporary folder, builds the plugin against it as a project of its own, and trains with what
# the plugin brings.   run.sh BUILD_FOLDER
set -euo pipefail
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/build" -j 2
mkdir "$work/run"
cp "$here"/*.yaml "$work/run/"
cp "$work/build/example_plugin.so" "$work/run/plugin.so"
chmod 644 "$work/run/plugin.so"
cd "$work/run"
tpack=$work/prefix/bin/tpack

"$tpack" check stripes.yaml >/dev/null
"$tpack" train stripes.yaml
"$tpack" train k-means.yaml
"$tpack" train k-means.yaml --resume auto --set max_epoch=4
if [ -n "${TPACK_DATASET:-}" ]; then "$tpack" train k-means-mnist.yaml; else echo "TPACK_DATASET is not set: no MNIST"; fi
