#!/usr/bin/env python3
"""Rewrites the expected errors of tests/config/errors after an intended change of messages, and shows what changed.

    scripts/update_error_texts.py [TEST_PROGRAM]    default: build/release/tests/experiment/test_experiment

NAME.txt has the facts of the errors of NAME.yaml. Read the difference before you commit it: a place, a name or a suggestion must not get lost.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "config" / "errors"


def found_texts(program):
    """What the test program finds now: content by the name of its file."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TPACK_FOUND_ERROR_TEXTS=folder)
        run = subprocess.run([program, "--gtest_filter=Files/*", "--gtest_brief=1"], env=environment, capture_output=True, text=True)
        found = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    if run.returncode < 0 or not found:
        sys.exit(f"{program} ended with {run.returncode} after {len(found)} texts:\n{run.stdout[-2000:]}{run.stderr}")
    return found


def main():
    program = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release/tests/experiment/test_experiment"
    if not program.exists():
        sys.exit(f"no such program '{program}'; build test_experiment first")
    found = found_texts(program.resolve())
    for name, text in found.items():
        (CORPUS / name).write_text(text)
    missing = [path.stem for path in sorted(CORPUS.glob("*.yaml")) if f"{path.stem}.txt" not in found]
    subprocess.run(["git", "-C", str(ROOT), "--no-pager", "diff", "--stat", "-p", "--", str(CORPUS)], check=True)
    if missing:
        sys.exit(f"no longer an error: {', '.join(missing)}")


if __name__ == "__main__":
    main()
