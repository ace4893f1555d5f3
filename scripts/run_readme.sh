#!/usr/bin/env bash
# Runs every command block of README.md (```sh), but ./check.sh itself, from the top of the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

blocks=$(mktemp -d)
trap 'rm -rf "$blocks"' EXIT
awk -v dir="$blocks" '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > sprintf("%s/%02d.sh", dir, n) }' README.md
for block in "$blocks"/*.sh; do
  sed -i '/^ *\.\/check\.sh/d' "$block"
  echo "--- README block $(basename "$block" .sh)"
  cat "$block"
  bash -euo pipefail "$block" </dev/null
done
echo "README: every block ran"
