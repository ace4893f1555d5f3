#!/usr/bin/env bash
# Runs the fuzzers, several at once, after `cmake --build build/fuzz --target tpack_fuzz`:
#
#   tests/fuzz/run.sh [--runs N] [--seed N] SECONDS [NAME ...]
#
# Each parser (default: all) gets inputs for SECONDS, or N inputs if that is less; --seed makes them the same each time. build/fuzz-corpus/NAME keeps the inputs that
# reach new code, for the next call. Prints a line for each parser; exit code 1 if there is a finding, whose input it names. To run
# one again: TPACK_FUZZ=NAME build/fuzz/tests/fuzz/tpack_fuzz INPUT
set -euo pipefail
cd "$(dirname "$0")/../.."
program=build/fuzz/tests/fuzz/tpack_fuzz
corpora=build/fuzz-corpus

# one SECONDS RUNS SEED NAME [OPTION ...]  (SEED 0 is a new one)
# Leaks are looked for at the end, and entropic schedules are off: for parsers that allocate much, or reach much code, both take longer
# than the parser.
# On one processor, parsers start no threads, which take 10 to 50 times longer than the rest on a busy machine.
one() {
  local seconds=$1 runs=$2 seed=$3 name=$4 status=0
  local corpus=$corpora/$name log=$corpora/$name.log findings=$corpora/$name-finding cpu
  mkdir -p "$corpus"
  cpu=$(python3 -c 'import os, sys; all = sorted(os.sched_getaffinity(0)); print(all[int(sys.argv[1]) % len(all)])' \
    "${TPACK_FUZZ_SLOT:-0}")
  export TPACK_FUZZ=$name
  TPACK_FUZZ_SEEDS=$corpus "$program"
  taskset -c "$cpu" "$program" "$corpus" -max_total_time="$seconds" -runs="$runs" -timeout=30 -rss_limit_mb=1024 -malloc_limit_mb=512 \
    "${@:5}" -seed="$seed" -reduce_inputs=1 -entropic=0 -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$findings-" >"$log" 2>&1 || status=$?
  local count coverage input
  count=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f2 || true)
  input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
  if grep -q "ERROR: LeakSanitizer" "$log"; then input="a leak (-detect_leaks=1 finds the input)"; fi
  printf '%-15s %10s runs, coverage %5s, %s\n' "$name" "${count:-?}" "${coverage:-?}" \
    "$([ "$status" -eq 0 ] && echo "no finding" || echo "FINDING: ${input:-none written}, see $log")"
  [ "$status" -eq 0 ]
}

export ASAN_OPTIONS=quarantine_size_mb=32:malloc_context_size=8:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/cmake/lsan.supp
if [ "${1:-}" = --one ]; then
  one "${@:2}"
  exit
fi
runs=-1 seed=0
while [[ "${1:-}" = --runs || "${1:-}" = --seed ]]; do
  if [ "$1" = --runs ]; then runs=$2; else seed=$2; fi
  shift 2
done
if ! [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  sed -n 's/^# *//; 2,9p' "$0" >&2
  exit 2
fi
seconds=$1
shift
mkdir -p "$corpora"
for name; do
  "$program" | grep "^$name " >/dev/null || { echo "no parser '$name'" >&2; exit 2; }
done
"$program" | while read -r name options; do
  if [ $# -eq 0 ] || [[ " $* " = *" $name "* ]]; then echo "$seconds $runs $seed $name $options"; fi
done | xargs -P "$(nproc)" --process-slot-var=TPACK_FUZZ_SLOT -L 1 "$0" --one || exit 1
