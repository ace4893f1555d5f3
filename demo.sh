#!/usr/bin/env bash
# Installs what is missing, builds, trains a convolutional network on digits that it renders itself, lets it label images it has
# not seen, and says where to look.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1/4  packages and build"
scripts/install_dependencies.sh
mkdir -p build
# The demo needs no tests and no libraries for them; a build folder that has tests keeps them.
if [ -e build/release/CTestTestfile.cmake ]; then tests=ON; else tests=OFF; fi
cmake --preset release -DTPACK_TESTS=$tests >build/release-configure.log 2>&1 || { cat build/release-configure.log; exit 1; }
cmake --build build/release -j "$(nproc)" --target tpack_program
tpack=build/release/tpack

say "2/4  training (configs/digits.yaml): must reach 98 % on rendered digits with fonts it never saw, in under a minute"
rm -rf train_log/demo
began=$SECONDS
"$tpack" train configs/digits.yaml --log-dir train_log/demo --set 'gates={validation_accuracy: ">= 0.98"}'
took=$((SECONDS - began))
echo "trained in $took s$([ "$took" -lt 60 ] || echo ': more than a minute; do other programs use this machine?')"

say "3/4  labelling ten images from the test split"
"$tpack" data inspect configs/digits.yaml --flow validation --samples 10 --images train_log/demo/images >/dev/null
"$tpack" infer train_log/demo/checkpoints/max-validation_accuracy.h5 train_log/demo/images --format csv | tee train_log/demo/labels.csv
right=$(awk -F, 'NR > 1 { n = split($1, part, "/"); split(part[n], name, /[-.]/); if (name[2] == $2) right++ } END { print right + 0 }' train_log/demo/labels.csv)
echo "$right of 10 are right"
[ "$right" -ge 9 ] || { echo "error: fewer than 9 of 10 digits are right" >&2; exit 1; }

say "4/4  where to look"
cat <<'TEXT'
  train_log/demo/log.txt        what was printed
  train_log/demo/stats.json     every figure of every epoch (stats.csv for a spreadsheet)
  train_log/demo/events.*       the same for TensorBoard: tensorboard --logdir train_log
  train_log/demo/config.yaml    the config with every default written out
  build/release/tpack describe Conv2D        what a layer takes
  build/release/tpack config configs/digits.yaml --explain optimizer
TEXT
