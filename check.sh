#!/usr/bin/env bash
# Installs what is missing, builds, and runs every check and test.
#
#   ./check.sh            everything that has to pass before a change lands
#   ./check.sh --quick    for the desk: format, scripts, the debug build, reference pages, clang-tidy of what changed, unit tests
#                         (under 5 minutes with a warm compiler cache)
#   ./check.sh --all      before an issue is closed: clang-tidy and both sanitizers on everything, the build without MPI, the fuzzers,
#                         and the tests timing-sensitive: signals that meet processes, pace, the memory of a process
#   ./check.sh --fuzz     only the fuzzers, 20 seconds for each parser, from the same random numbers each time
set -euo pipefail
cd "$(dirname "$0")"

mode=${1:-full}
case "$mode" in
  full | --quick | --all | --fuzz) ;;
  *) echo "usage: ./check.sh [--quick | --all | --fuzz]" >&2; exit 2 ;;
esac

start=$SECONDS
step() { echo; echo "== $* ($((SECONDS - start)) s)"; }
# build PRESET [OPTION OF CMAKE --BUILD ...]
build() {
  mkdir -p build
  cmake --preset "$1" -DTPACK_TESTS=ON >"build/$1-configure.log" 2>&1 || { cat "build/$1-configure.log"; exit 1; }
  cmake --build "build/$1" -j "$jobs" "${@:2}" | tee "build/$1-build.log"
  # GCC 12 at -O3 also warns of its own inlined headers, which are not ours.
  if grep -A3 -E "^(\.\./\.\./|$PWD/).*warning:" "build/$1-build.log"; then echo "warnings are errors" >&2; exit 1; fi
}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export TPACK_ALLOWED_SKIPS=$PWD/tests/allowed_skips.txt  # any other skip fails
jobs=$(nproc)

step "packages"
scripts/install_dependencies.sh --check
if [ "$mode" = --fuzz ]; then
  step "fuzzers"
  build fuzz --target tpack_fuzz
  tests/fuzz/run.sh --seed 1 20
  echo; echo "fuzzers passed ($((SECONDS - start)) s)"
  exit 0
fi
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
# What git does not track yet counts; what is deleted but not committed does not.
git ls-files --cached --others --exclude-standard --deduplicate '*.h' '*.cpp' |
  while read -r file; do if [ -e "$file" ]; then echo "$file"; fi; done |
  xargs -P "$jobs" -n 50 clang-format --dry-run -Werror

step "scripts"
python3 scripts/check_layering.py
python3 scripts/check_files.py
python3 scripts/check_dependencies.py

if [ "$mode" = --quick ]; then preset=dev; else preset=release; fi
step "build ($preset, gcc)"
build "$preset"

step "reference pages"
scripts/generate_docs.sh --check "build/$preset/tpack"

step "configs"
for config in configs/*.yaml bench/configs/*.yaml; do
  "build/$preset/tpack" check --no-data "$config" >/dev/null
  echo "ok $config"
done

step "clang-tidy"
case "$mode" in
  --quick) scripts/tidy.py ;;
  full) scripts/tidy.py --last-commit ;;
  --all) scripts/tidy.py --all ;;
esac

step "unit tests"
scripts/run_tests.py "build/$preset" -j "$jobs" -LE '^(end_to_end|timing_sensitive)$'
if [ "$mode" = --quick ]; then
  echo; echo "quick checks passed ($((SECONDS - start)) s)"
  exit 0
fi

step "README"
scripts/run_readme.sh

step "end to end"
scripts/run_tests.py build/release -j "$jobs" -L end_to_end

ranks='Mpi[.]|[Rr]anks'
export LSAN_OPTIONS=suppressions=$PWD/cmake/lsan.supp UBSAN_OPTIONS=print_stacktrace=1
if [ "$mode" = full ]; then
  # The tests of the folders whose files changed.
  changed=$(scripts/tidy.py --last-commit --list | sed -nE 's#^(lib|tests)/([a-z_]+)/.*#\2#p' | sort -u)
  suites=()
  for folder in $changed; do  # a program may have the tests of several
    lists=$(grep -lE "^tpack_tests\($folder\b|^tpack_tests\(\w+ FOLDERS( \w+)* $folder\b" tests/*/CMakeLists.txt || true)
    if [ -n "$lists" ]; then suites+=("$(basename "$(dirname "$lists")")"); fi
  done
  mapfile -t suites < <(printf '%s\n' ${suites[@]+"${suites[@]}"} | sort -u | sed '/^$/d')
  if [ "${#suites[@]}" -gt 0 ]; then
    step "address and undefined-behavior sanitizers (clang): ${suites[*]}"
    build asan --target "${suites[@]/#/test_}"
    scripts/run_tests.py build/asan -j "$jobs" -L "^($(IFS='|'; echo "${suites[*]}"))$" -E "$ranks|GoldenFiles"
  fi
else
  # Compiles as release does, so that the compiler cache has all but what sees MPI; only tests that can see it run.
  step "without MPI"
  build minimal --target tpack_program test_comm test_parallel test_train test_experiment test_run test_cli
  scripts/run_tests.py build/minimal -j "$jobs" -L '^(comm|parallel|train|experiment|run|cli)$'

  step "thread sanitizer (clang)"
  tsan=(core dataflow input comm parallel train callbacks)
  export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/cmake/tsan.supp"
  build tsan --target "${tsan[@]/#/test_}"
  scripts/run_tests.py build/tsan -j "$jobs" -L "^($(IFS='|'; echo "${tsan[*]}"))$"
  build tsan --target test_cpu  # of which the team of threads is what threads share
  scripts/run_tests.py build/tsan -j "$jobs" -R '^Team[.]'

  step "address and undefined-behavior sanitizers (clang)"
  build asan
  # Golden files are made by PyTorch, in which no sanitizer sees anything.
  scripts/run_tests.py build/asan -j "$jobs" -LE '^(end_to_end|timing_sensitive|scripts|bench)$' -E "$ranks|GoldenFiles"
  # What Open MPI keeps is told apart from ours by the whole stack only, which is slow to take.
  ASAN_OPTIONS=fast_unwind_on_malloc=0 scripts/run_tests.py build/asan -j "$jobs" -LE '^(end_to_end|timing_sensitive)$' -R "$ranks"

  step "fuzzers"
  build fuzz --target tpack_fuzz
  tests/fuzz/run.sh 30

  step "moments"
  scripts/run_tests.py build/release -L timing_sensitive
fi

echo; echo "all checks passed ($((SECONDS - start)) s)"
