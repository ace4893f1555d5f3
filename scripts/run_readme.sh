#!/usr/bin/env bash
# Runs every command block of README.md (```sh), but ./check.sh itself, from the top of the checkout; and what it shows in Python
# (```python) with TPACK_PYTHON, where that is set.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

blocks=$(mktemp -d)
trap 'rm -rf "$blocks" mine.yaml' EXIT
rm -rf train_log/mine train_log/mine-* train_log/digits-records data/digits.lmdb*  # of an earlier time
awk -v dir="$blocks" '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > sprintf("%s/%02d.sh", dir, n) }' README.md
for block in "$blocks"/*.sh; do
  sed -i '/^ *\.\/check\.sh/d' "$block"
  echo "--- README block $(basename "$block" .sh)"
  cat "$block"
  bash -euo pipefail "$block" </dev/null
done
awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >"$blocks/shown.py"
echo "--- README block in Python"
cat "$blocks/shown.py"
if [ -n "${TPACK_PYTHON:-}" ]; then
  "$TPACK_PYTHON" "$blocks/shown.py"
else
  echo "skipped: TPACK_PYTHON is not set"
fi
echo "README: every block ran"
