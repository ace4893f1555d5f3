#!/usr/bin/env bash
# Training speed of configs/mnist-convnet.yaml against PyTorch, in turn on this machine: batch 128, fp32, two threads.
#
#   TPACK_DATASET=... PYTHON=/path/to/python bench/peers/mnist_convnet.sh [rounds]
#
# PYTHON must have numpy and torch. Prints a table and writes build/bench/mnist_convnet.json. Each round runs tpack, PyTorch plain and
# PyTorch channels_last one after the other; figures are medians over the rounds. Two networks: tensorpack's own
# (3x3, 32 filters), and a variant (5x5, 48 filters) that no special case was made for.
set -euo pipefail
cd "$(dirname "$0")/../.."

rounds=${1:-3}
: "${TPACK_DATASET:?say where mnist/ lies}" "${PYTHON:=python3}"
export TPACK_DATASET OMP_NUM_THREADS=2
mkdir -p build/bench
out=build/bench/mnist_convnet.jsonl
: >"$out"

run() { # network round command...
  local network=$1 round=$2
  shift 2
  printf '{"network": "%s", "round": %d, "result": %s}\n' "$network" "$round" "$("$@")" >>"$out"
}

for round in $(seq "$rounds"); do
  for network in "3 32" "5 48"; do
    read -r kernel filters <<<"$network"
    run "${kernel}x${kernel}, $filters filters" "$round" build/release/tpack bench configs/mnist-convnet.yaml --steps 300 --json \
      --set "model.defaults.Conv2D={kernel: $kernel, filters: $filters, activation: ReLU}" --set engine.threads=2
    for mode in plain channels_last; do
      run "${kernel}x${kernel}, $filters filters" "$round" "$PYTHON" bench/peers/mnist_convnet.py \
        --mode "$mode" --kernel "$kernel" --filters "$filters" --steps 300
    done
  done
done

"$PYTHON" bench/peers/compare.py "$out" | tee build/bench/mnist_convnet.txt
