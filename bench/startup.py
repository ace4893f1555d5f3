#!/usr/bin/env python3
"""Start-up of the program: median wall time of 20 starts and the largest memory, against what they must stay under.

    TPACK_DATASET=... bench/startup.py [path/to/tpack]
"""
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STARTS = 20
COMMANDS = (  # words, most ms, most MB
    (["--help"], 50, 40),
    (["check", "configs/mnist-convnet.yaml"], 200, None),
)


def start(words):
    """Seconds and MB of one start."""
    began = time.perf_counter()
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss * 1024 / 1e6


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/tpack"))
    missed = False
    for words, most_ms, most_mb in COMMANDS:
        start([program, *words])  # reads the files once
        runs = [start([program, *words]) for _ in range(STARTS)]
        ms = 1000 * statistics.median(seconds for seconds, _ in runs)
        mb = max(memory for _, memory in runs)
        good = ms < most_ms and (most_mb is None or mb < most_mb)
        missed |= not good
        limits = f"under {most_ms} ms" + (f", {most_mb} MB" if most_mb else "")
        print(f"tpack {' '.join(words)}: {ms:.0f} ms, {mb:.0f} MB ({limits}){'' if good else ': MISSED'}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
