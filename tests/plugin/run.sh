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
for part in dataflow_alone graph_alone learner_alone; do
  (cd "$work" && "$work/build/$part")
  ldd "$work/build/$part" >"$work/libraries"
  case $part in
    dataflow_alone) others="libmpi|hdf5|dnnl" ;;
    graph_alone) others="libmpi|hdf5|opencv" ;;
    learner_alone) others="libmpi|libtpack\.so" ;;
  esac
  if grep -E "$others" "$work/libraries"; then echo "error: $part needs these libraries" >&2; exit 1; fi
done
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

echo length,width,species >flowers.csv
for i in {0..199}; do echo "$((i % 7 + i % 2 * 10)),$((i % 5)),$([ $((i % 2)) = 0 ] && echo small || echo large)"; done >>flowers.csv
"$work/build/own_loop_of_config" flowers.yaml flowers.h5
"$tpack" eval flowers.h5 --data validation --min accuracy=0.9
"$tpack" check stripes.yaml >/dev/null
"$tpack" train stripes.yaml
"$tpack" train twins.yaml
"$tpack" eval train_log/twins/checkpoints/model-80.h5 --allow-plugins --min accuracy=0.95
"$tpack" train stripes.yaml --set name=soft_ramp --set 'model.layers.2={SoftRamp: {}}' --set max_epoch=6 \
  --set optimizer.Adam.learning_rate=0.02 2>&1 | tee soft_ramp.txt
[ "$(grep -c "op SoftRamp has no cpu kernel; its reference kernel runs instead" soft_ramp.txt)" = 1 ]
"$tpack" bench stripes.yaml --set 'model.layers.2={SoftRamp: {}}' --nodes 30 --steps 5 --warm-up 1 | tee nodes.txt
grep -q "SoftRamp (reference)" nodes.txt
"$tpack" train stripes.yaml --set name=squeeze_excitation --set 'model.layers.2={SqueezeExcitation: {reduction: 2}}' \
  --set 'model.layers.1={Conv2D: {name: conv, filters: 8, activation: ReLU}}'
for i in {0..199}; do                          # class 1 is right of a line
  x=$((i * 37 % 101 - 50)) y=$((i * 53 % 103 - 51))
  echo "$x $y $((x > y))"
done >points.txt
"$tpack" train points.yaml
echo "1 two 0" >>points.txt
refused 3 "points.txt: expected 'X Y CLASS' after 200 points" "$tpack" train points.yaml --log-dir train_log/bad-points
refused 2 "'width' of model Twins" "$tpack" check twins.yaml --set model.layers.Twins.width=0
"$tpack" train mean-image.yaml
"$tpack" bench mean-image.yaml --steps 5 --warm-up 1 | tee bench.txt
grep -q "step alone, one batch held fixed" bench.txt
"$tpack" check mean-image.yaml | tee check.txt
grep -q "memory: peak in training" check.txt
grep -q '"change"' train_log/mean-image/stats.json
# same_mean OTHER: the run in train_log/OTHER has the bits of the first one.
same_mean() {
  "$tpack" ckpt diff train_log/{mean-image,"$1"}/checkpoints/model-60.h5 >diff.txt || true
  ! grep -E "(model|optimizer)/" diff.txt
}
"$tpack" train mean-image.yaml --log-dir train_log/resumed --set max_epoch=2
"$tpack" train mean-image.yaml --log-dir train_log/resumed --resume auto
grep -q "resuming from .*/model-40.h5 " train_log/resumed/log.txt
same_mean resumed
if grep -q "^TPACK_MPI:BOOL=ON" "$build/CMakeCache.txt"; then
  "$tpack" train mean-image.yaml --log-dir train_log/ranks --procs 2 --set data.train.1.BatchData.batch_size=50
  same_mean ranks
fi
refused 2 "layer 'ReLU' is registered twice: in .*lib/layers/activations.cpp and in .*clash.cpp" \
  "$tpack" check stripes.yaml --set 'plugins=[plugin.so, clash.so]'
refused 2 "was built for another tpack" "$tpack" check stripes.yaml --set 'plugins=[plugin.so, outdated.so]'
refused 2 "unknown layer 'ClippedReLU'" "$tpack" check stripes.yaml --set 'plugins=[]'
refused 2 "callbacks.LargestWeight.variables: no variable matches 'convv' or is below it; did you mean 'conv'" \
  "$tpack" check stripes.yaml --set 'callbacks.LargestWeight.variables=[convv]'
refused 2 "allow-plugins" "$tpack" eval train_log/stripes/checkpoints/model-80.h5
"$tpack" eval train_log/stripes/checkpoints/model-80.h5 --allow-plugins --min accuracy=0.95
