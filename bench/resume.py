#!/usr/bin/env python3
"""Whether runs that are interrupted at random moments, and resumed each time, end with the bits of a run that was not.

Each config of the list is trained once without a stop, then in chains: SIGTERM after a random time, `--resume auto`, and so on up to
the end, until --times signals have met a run that trained. The last checkpoints must be equal (`tpack ckpt diff`). Exit status 1 if
one is not.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONVNET = ROOT / "tests/reliability/convnet.yaml"
# Validation, savers, schedules and a weight average.
CALLBACKS = ("callbacks=[ModelSaver: {keep: 2}, InferenceRunner: {data: validation}, MinSaver: {monitor: validation_cost}, "
             "ScheduledHyperParamSetter: {param: learning_rate, values: [[2, 0.002], [5, 0.001]]}, MovingAverageSummary, "
             "SWA: {start_epoch: 2, callbacks: [InferenceRunner: {data: swa}]}]")
COMMON = ["--set", "data.swa=validation", "--set", CALLBACKS, "--set", "max_epoch=8", "--set", "steps_per_epoch=60"]
CASES = {
    "Simple": (CONVNET, ["--set", "trainer=Simple", *COMMON]),
    "two towers": (CONVNET, ["--set", "trainer={SyncMultiGPU: 2}", *COMMON]),
    "two ranks": (CONVNET, ["--procs", "2", "--set", "trainer=Horovod", *COMMON]),
    "GAN": (ROOT / "tests/reliability/gan.yaml", ["--set", "max_epoch=60"]),
    "PPO": (ROOT / "configs/cartpole-ppo.yaml", ["--set", "max_epoch=8", "--set", "gates=!delete"]),
    "AsyncMultiGPU": (CONVNET, ["--set", "trainer={AsyncMultiGPU: 2}", *COMMON]),
    "DQN": (ROOT / "configs/catch-dqn.yaml", ["--set", "max_epoch=8", "--set", "gates=!delete"]),
}
UNORDERED = {"AsyncMultiGPU"}  # towers update without an order: no two runs are equal, so checkpoints are only verified


def train(tpack, case, run, stop_after=None):
    """Trains until the end, or to SIGTERM after so many seconds of training; True if it was interrupted."""
    config, changes = CASES[case]
    log = run.with_suffix(".txt")
    begun = log.stat().st_size if log.exists() else 0
    with open(log, "ab") as out:
        process = subprocess.Popen([tpack, "train", str(config), "--log-dir", str(run), "--resume", "auto", *changes], stdout=out,
                                   stderr=out)
        if stop_after is not None:
            while process.poll() is None and "the run" not in log.read_bytes()[begun:].decode(errors="replace"):
                time.sleep(0.005)
            time.sleep(stop_after)
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=120)
    if code not in (0, 143, -signal.SIGTERM):
        sys.exit(f"{case}: exit code {code}\n{log.read_text()[-3000:]}")
    return code != 0


def last_checkpoint(run):
    return max((run / "checkpoints").glob("model-*.h5"), key=lambda file: int(file.stem.split("-")[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=str(ROOT / "build/release/tpack"))
    parser.add_argument("--times", type=int, default=100, help="signals for each config")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; default: all")
    options = parser.parse_args()
    random.seed(options.seed)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    wrong = 0
    for case in options.cases or CASES:
        with tempfile.TemporaryDirectory(prefix="resume-") as folder:
            straight = pathlib.Path(folder) / "straight"
            start = time.monotonic()
            train(options.tpack, case, straight)
            seconds = time.monotonic() - start
            signals, chains, different = 0, 0, 0
            while signals < options.times:
                run = pathlib.Path(folder) / f"chain-{chains}"
                chains += 1
                while train(options.tpack, case, run, random.uniform(0, seconds / 4)):
                    signals += 1
                pair = [str(last_checkpoint(straight)), str(last_checkpoint(run))]
                words = ["verify", *map(str, (run / "checkpoints").glob("*.h5"))] if case in UNORDERED else ["diff", *pair]
                diff = subprocess.run([options.tpack, "ckpt", *words], capture_output=True, text=True)
                different += diff.returncode != 0
                if diff.returncode != 0:
                    print(diff.stdout[-2000:], diff.stderr[-500:])
        wrong += different
        print(f"{case}: {signals} signals in {chains} chains of {pathlib.Path(pair[0]).stem}; {chains - different} "
              f"{'are valid at their end' if case in UNORDERED else 'end with the same bits'}",
              flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
