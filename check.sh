#!/usr/bin/env bash
# Installs what is missing, builds, and runs every check and test.
#
#   ./check.sh            everything that has to pass before a change lands (under 40 minutes on two cores with a warm cache)
#   ./check.sh --quick    format, scripts, the debug build, unit tests: for the desk (under 5 minutes with a warm cache)
#   ./check.sh --all      also clang-tidy over every source and the build without MPI
set -euo pipefail
cd "$(dirname "$0")"

mode=${1:-full}
case "$mode" in
  full | --quick | --all) ;;
  *) echo "usage: ./check.sh [--quick | --all]" >&2; exit 2 ;;
esac

start=$SECONDS
step() { echo; echo "== $* ($((SECONDS - start)) s)"; }
configure() { cmake --preset "$1" >"build/$1-configure.log" 2>&1 || { cat "build/$1-configure.log"; exit 1; }; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export TPACK_ALLOWED_SKIPS=$PWD/tests/allowed_skips.txt  # any other skip fails
jobs=$(nproc)

step "packages"
scripts/install_dependencies.sh --check
if [ -z "${TPACK_PYTHON:-}" ]; then TPACK_PYTHON=$(scripts/python_env.sh); fi
export TPACK_PYTHON
if [ -z "$TPACK_PYTHON" ]; then echo "tests that need Python packages will skip: they could not be installed"; fi
if [ "$mode" = --quick ]; then torch=$(scripts/torch_python.sh); else torch=$(scripts/torch_python.sh --install); fi
if [ -z "$torch" ]; then echo "tests that make golden files again will skip: no Python has PyTorch"; fi
if [ -z "${TPACK_DATASET:-}" ] && [ -d ../shared/datasets/mnist ]; then
  TPACK_DATASET=$(realpath ../shared/datasets)
  export TPACK_DATASET
fi
if [ -z "${TPACK_DATASET:-}" ]; then echo "tests on real data will skip: TPACK_DATASET is not set"; fi

step "format"
git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror

step "scripts"
python3 scripts/check_layering.py
python3 scripts/check_files.py
python3 scripts/check_dependencies.py

mkdir -p build
if [ "$mode" = --quick ]; then build=dev; else build=release; fi
step "build ($build, gcc)"
configure "$build"
cmake --build "build/$build" -j "$jobs" | tee "build/$build-build.log"
# GCC 12 at -O3 also warns of its own inlined headers, which are not ours.
if grep -A3 -E "^(\.\./\.\./|$PWD/).*warning:" "build/$build-build.log"; then echo "warnings are errors" >&2; exit 1; fi

step "unit tests"
scripts/run_tests.py "build/$build" -j "$jobs" -LE end_to_end
if [ "$mode" = --quick ]; then
  echo; echo "quick checks passed ($((SECONDS - start)) s)"
  exit 0
fi

step "reference pages"
scripts/generate_docs.sh --check

step "configs"
for config in configs/*.yaml; do
  build/release/tpack check --no-data "$config" >/dev/null
  echo "ok $config"
done

step "end to end"
scripts/run_tests.py build/release -L end_to_end

step "README"
scripts/run_readme.sh

ranks='Mpi[.]|[Rr]anks'
step "address and undefined-behaviour sanitizers (clang)"
configure asan
cmake --build build/asan -j "$jobs"
export LSAN_OPTIONS=suppressions=$PWD/cmake/lsan.supp UBSAN_OPTIONS=print_stacktrace=1
scripts/run_tests.py build/asan -j "$jobs" -LE end_to_end -E "$ranks"
# What Open MPI keeps is told apart from ours by the whole stack only, which is slow to take.
ASAN_OPTIONS=fast_unwind_on_malloc=0 scripts/run_tests.py build/asan -j "$jobs" -LE end_to_end -R "$ranks"

step "thread sanitizer"
configure tsan
tsan=(core dataflow input comm parallel train callbacks)
cmake --build build/tsan -j "$jobs" --target "${tsan[@]/#/test_}"
TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/cmake/tsan.supp" \
scripts/run_tests.py build/tsan -j "$jobs" -L "^($(IFS='|'; echo "${tsan[*]}"))$"

if [ "$mode" != --all ]; then
  echo; echo "all checks passed ($((SECONDS - start)) s)"
  exit 0
fi

step "clang-tidy of all"
scripts/tidy.py --all

step "without MPI"
configure minimal
cmake --build build/minimal -j "$jobs"
scripts/run_tests.py build/minimal -j "$jobs" -LE end_to_end

echo; echo "all checks passed ($((SECONDS - start)) s)"
