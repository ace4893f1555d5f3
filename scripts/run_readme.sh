#!/usr/bin/env bash
# Runs every command block of README.md (```sh), but ./check.sh itself, from the top of the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

blocks=$(mktemp -d)
trap 'rm -rf "$blocks" mine.yaml' EXIT
rm -rf train_log/mine train_log/mine-*  # of an earlier time
awk -v dir="$blocks" '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > sprintf("%s/%02d.sh", dir, n) }' README.md
for block in "$blocks"/*.sh; do
  sed -i '/^ *\.\/check\.sh/d' "$block"
  echo "--- README block $(basename "$block" .sh)"
  cat "$block"
  bash -euo pipefail "$block" </dev/null
done
echo "README: every block ran"
