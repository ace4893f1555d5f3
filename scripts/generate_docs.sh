#!/usr/bin/env bash
# Writes docs/reference/: a page for each kind of component, the sections of a config, the command line, and the JSON Schema.
# All of it comes from the program itself.
#
#   scripts/generate_docs.sh [--check] [TPACK]     --check: writes nothing, fails where a page differs
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
if [ "${1:-}" = --check ]; then check=true; shift; fi
tpack=${1:-build/release/tpack}

if ! [ -x "$tpack" ]; then
  echo "error: $tpack does not exist; build it (cmake --build build/release --target tpack_program), or name another program" >&2
  exit 1
fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 scripts/reference_pages.py "$tpack" "$fresh"
"$tpack" schema >"$fresh/schema.json"

if $check; then
  diff -ru docs/reference "$fresh" || { echo "docs/reference is out of date: run scripts/generate_docs.sh $tpack" >&2; exit 1; }
  echo "reference pages: ok"
else
  rm -rf docs/reference
  mkdir -p docs/reference
  cp "$fresh"/* docs/reference/
fi
