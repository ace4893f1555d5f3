#!/usr/bin/env bash
# Training speed of configs/mnist-convnet.yaml against PyTorch, in turn on this machine: batch 128, fp32, two threads.
#
#   TPACK_DATASET=... PYTHON=/path/to/python bench/peers/mnist_convnet.sh [rounds [seeds]]
#
# PYTHON must have numpy and torch. Prints a table, kept in build/bench/mnist_convnet.txt. Each round runs tpack, PyTorch plain and
# PyTorch channels_last one after the other, with a seed of its own; speeds are medians over the rounds. Two networks: tensorpack's own
# (3x3, 32 filters), and a variant (5x5, 48 filters) that no special case was made for. Fails where speed, loss or memory miss what
# compare.py says.
set -euo pipefail
cd "$(dirname "$0")/../.."

rounds=${1:-3}
seeds=${2:-12}
"${PYTHON:=python3}" -c "import numpy, torch" || { echo "PYTHON must have numpy and torch" >&2; exit 2; }
: "${TPACK_DATASET:?say where mnist/ lies}"
export TPACK_DATASET OMP_NUM_THREADS=2
mkdir -p build/bench
out=build/bench/mnist_convnet.jsonl
: >"$out"

run() { # network round command...
  local network=$1 round=$2
  shift 2
  printf '{"network": "%s", "round": %d, "result": %s}\n' "$network" "$round" "$("$@" | tr -d '\n')" >>"$out"
}

run_all() { # label seed steps kernel filters
  run "$1" "$2" build/release/tpack bench configs/mnist-convnet.yaml --steps "$3" --json --set seed="$2" --set engine.threads=2 \
    --set "model.defaults.Conv2D={kernel: $4, filters: $5, activation: ReLU}"
  for mode in plain channels_last; do
    run "$1" "$2" "$PYTHON" bench/peers/mnist_convnet.py --mode "$mode" --seed "$2" --steps "$3" --kernel "$4" --filters "$5"
  done
}

for round in $(seq "$rounds"); do
  run_all "3x3, 32 filters" "$round" 300 3 32
  run_all "5x5, 48 filters" "$round" 300 5 48
done
# The loss of one seed says little: by a fifth up or down.
for seed in $(seq "$seeds"); do run_all "3x3, 32 filters, losses of $seeds seeds" "$seed" 100 3 32; done

"$PYTHON" bench/peers/compare.py "$out" | tee build/bench/mnist_convnet.txt
