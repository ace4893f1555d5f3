#!/usr/bin/env python3
"""How fast runs end after SIGTERM, at random moments: while they train, wait for data, validate and save.

Each way of starting gets --times signals. A run must end with exit code 143 (mpirun: with another code than 0), and leave checkpoints
that are whole and from which `--resume` goes on. Prints the times from the signal to the end.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIG = ROOT / "bench/configs/interrupt.yaml"


def ways(tpack):
    ranks = ["--set", "trainer=Horovod"]
    return {
        "one process": ([tpack], [], {143}),
        "--procs 2": ([tpack], ["--procs", "2", *ranks], {143}),
        "mpirun -np 2": (["mpirun", "-np", "2", "--oversubscribe", tpack], ranks, set(range(1, 256))),
    }


def interrupt(tpack, way, folder):
    """Seconds from the signal to the end, and the phase that it met."""
    words, changes, allowed = ways(tpack)[way]
    run = folder / "run"
    log = folder / "out.txt"
    with open(log, "ab") as out:
        process = subprocess.Popen([*words, "train", str(CONFIG), "--log-dir", str(run), "--resume", "auto", *changes], stdout=out,
                                   stderr=out)
        text = log.read_text()
        begun = len(text)
        while "Epoch" not in log.read_text()[begun:]:  # the first epoch is done
            if process.poll() is not None:
                sys.exit(f"{way}: ended with {process.returncode} before the signal:\n{log.read_text()[-2000:]}")
            time.sleep(0.02)
        time.sleep(random.uniform(0, 4))
        start = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            sys.exit(f"{way}: still there after 60 s:\n{log.read_text()[-2000:]}")
        seconds = time.monotonic() - start
    text = log.read_text()[begun:]
    code = 128 - code if code < 0 else code
    if code not in allowed:
        sys.exit(f"{way}: exit code {code}:\n{text[-2000:]}")
    files = sorted(map(str, (run / "checkpoints").glob("*.h5")))
    if not files:
        sys.exit(f"{way}: no checkpoint")
    subprocess.run([tpack, "ckpt", "verify", *files], check=True, stdout=subprocess.DEVNULL)
    ending = re.findall(r"training was (interrupted[^,\n]*)", text)
    return seconds, ending[-1] if ending else "interrupted"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=str(ROOT / "build/release/tpack"))
    parser.add_argument("--times", type=int, default=50, help="signals for each way of starting")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("ways", nargs="*", help=f"of {', '.join(ways(''))}; default: all")
    options = parser.parse_args()
    random.seed(options.seed)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    for way in options.ways or ways(""):
        with tempfile.TemporaryDirectory(prefix="interrupt-") as folder:
            ends = [interrupt(options.tpack, way, pathlib.Path(folder)) for _ in range(options.times)]
        seconds = sorted(s for s, _ in ends)
        phases = {phase: sum(p == phase for _, p in ends) for phase in {p for _, p in ends}}
        print(f"{way}: {len(ends)} signals; seconds to the end: median {statistics.median(seconds):.2f}, "
              f"p99 {seconds[min(len(seconds) - 1, int(0.99 * len(seconds)))]:.2f}, largest {seconds[-1]:.2f}; {phases}", flush=True)


if __name__ == "__main__":
    main()
