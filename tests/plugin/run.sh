#!/usr/bin/env bash
# Installs tpack from BUILD to a temporary folder, builds the plugins against it as a project of its own, and trains with what
# they bring.   run.sh BUILD_FOLDER
set -euo pipefail
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/build" -j 2
mkdir "$work/run"
cp "$here"/*.yaml "$work/build"/*.so "$work/run/"
chmod -R o-w "$work/run"
cd "$work/run"
tpack=$work/prefix/bin/tpack

# refused CODE TEXT COMMAND...: the command must end with that code and say that text.
refused() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >out 2>&1 || got=$?
  grep -q "$text" out && [ "$got" = "$code" ] && return
  echo "error: expected exit code $code and '$text', got $got:" >&2
  cat out >&2
  exit 1
}

"$tpack" check stripes.yaml >/dev/null
"$tpack" train stripes.yaml
"$tpack" train twins.yaml
"$tpack" eval train_log/twins/checkpoints/model-80.h5 --allow-plugins --min accuracy=0.95
"$tpack" train stripes.yaml --set name=soft_ramp --set 'model.layers.2={SoftRamp: {}}' --set max_epoch=6 \
  --set optimizer.Adam.learning_rate=0.02 2>&1 | tee soft_ramp.txt
[ "$(grep -c "op SoftRamp has no cpu kernel; its reference kernel runs instead" soft_ramp.txt)" = 1 ]
"$tpack" bench stripes.yaml --set 'model.layers.2={SoftRamp: {}}' --nodes 30 --steps 5 --warm-up 1 | tee nodes.txt
grep -q "SoftRamp (reference)" nodes.txt
refused 2 "'width' of model Twins" "$tpack" check twins.yaml --set model.layers.Twins.width=0
"$tpack" train k-means.yaml
"$tpack" bench k-means.yaml --steps 5 --warm-up 1 | tee bench.txt
grep -q "step alone, one batch held fixed" bench.txt
"$tpack" check k-means.yaml | tee check.txt
grep -q "memory: peak in training" check.txt
"$tpack" train k-means.yaml --resume auto --set max_epoch=4
grep -q "resuming from .*/model-60.h5 " train_log/k-means/log.txt
refused 2 "layer 'ReLU' is registered twice: in .*lib/layers/relu.cpp and in .*clash.cpp" \
  "$tpack" check stripes.yaml --set 'plugins=[plugin.so, clash.so]'
refused 2 "was built for another tpack" "$tpack" check stripes.yaml --set 'plugins=[plugin.so, outdated.so]'
refused 2 "unknown layer 'ClippedReLU'" "$tpack" check stripes.yaml --set 'plugins=[]'
refused 2 "allow-plugins" "$tpack" eval train_log/stripes/checkpoints/model-80.h5
"$tpack" eval train_log/stripes/checkpoints/model-80.h5 --allow-plugins --min accuracy=0.95
if [ -n "${TPACK_DATASET:-}" ]; then "$tpack" train k-means-mnist.yaml; else echo "TPACK_DATASET is not set: no MNIST"; fi
