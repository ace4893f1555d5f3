#!/usr/bin/env bash
# clang-tidy over the sources that changed since origin/main; over all of them with --all or where there is no origin/main.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --all ] || ! git rev-parse --verify -q origin/main >/dev/null; then
  files=$(git ls-files 'lib/*.cpp' 'app/*.cpp')
else
  files=$(git diff --name-only --diff-filter=d "$(git merge-base HEAD origin/main)" -- 'lib/*.cpp' 'app/*.cpp')
fi
if [ -z "$files" ]; then echo "clang-tidy: no source changed"; exit 0; fi
# The precompiled header of gcc is of no use to clang: the flags come from the clang build.
cmake --preset asan -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
echo "$files" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/asan --quiet
