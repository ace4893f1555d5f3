#!/usr/bin/env python3
"""How long it takes from an edit of a header to the end of its tests: seconds to build the test program, and to run it.

    bench/edit_to_test.py [--build build/dev] [--jobs N] [--rounds 3]

The build folder must be configured; the test programs are brought up to date before the clock starts. Each edit adds a constant of
a new name, so that no object comes from the compiler cache. The headers are restored, even after an interruption, and the test
programs then are out of date. The figures are those of a machine on which nothing else runs.
"""
import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EDITS = (("lib/core/text.h", "core"), ("lib/tensor/dtype.h", "tensor"), ("lib/graph/op.h", "graph"))  # header, folder of tests/


def run(*command):
    """Seconds of a command that must succeed."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}error: {' '.join(map(str, command))}: exit code {done.returncode}")
    return time.perf_counter() - began


def edit_to_test(header, build, test):
    """Seconds of the two commands after an edit of the header."""
    path = ROOT / header
    before = path.read_bytes()
    try:
        path.write_bytes(before + b"\nnamespace tpack { inline constexpr int kEdit%d = 0; }\n" % time.time_ns())
        return run(*build), run(*test)
    finally:
        path.write_bytes(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("interrupted"))  # so that the header is restored
    for header, folder in EDITS:
        build = ("cmake", "--build", options.build, "-j", str(options.jobs), "--target", f"test_{folder}")
        test = (ROOT / options.build / "tests" / folder / f"test_{folder}", "--gtest_brief=1")
        run(*build)
        rounds = [edit_to_test(header, build, test) for _ in range(options.rounds)]
        build_s, test_s = (statistics.median(seconds) for seconds in zip(*rounds))
        most_s = max(map(sum, rounds))
        print(f"{header}: {build_s + test_s:.1f} s until test_{folder} has run ({build_s:.1f} s build, {test_s:.1f} s tests; "
              f"at most {most_s:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
