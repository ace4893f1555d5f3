#!/usr/bin/env python3
"""Runs the tests of a build folder and prints what matters: the output of those that fail, those skipped and why, totals.

    scripts/run_tests.py build/dev [options of ctest]

Ends with ctest's exit status.
"""
import collections
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree


def reason_of_skip(output):
    """The line that follows GoogleTest's `FILE:LINE: Skipped`."""
    found = re.search(r": Skipped\n(.*)", output)
    return found[1].strip() if found else "no reason given"


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    report = folder / "tests.xml"
    report.unlink(missing_ok=True)
    # Full outputs, or the reports would lack their ends.
    command = ["ctest", "--test-dir", str(folder), "--quiet", "--no-tests=error", "--output-junit", str(report),
               "--test-output-size-passed", "200000", "--test-output-size-failed", "200000", *sys.argv[2:]]
    status = subprocess.run(command).returncode
    if not report.exists():
        print("ctest", *sys.argv[1:], "made no report", file=sys.stderr)
        return status or 1

    counts = collections.Counter()
    skipped = collections.defaultdict(list)
    failed = []
    for test in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = test.get("name").split("  # GetParam()")[0]
        output = test.findtext("system-out") or ""
        counts[test.get("status")] += 1
        if test.find("skipped") is not None:
            skipped[reason_of_skip(output)].append(name)
        elif test.find("failure") is not None:
            failed.append(name)
            print(f"---- {name}: {test.find('failure').get('message')}\n{output}")
    for reason, names in skipped.items():
        print(f"skipped ({reason}): {', '.join(names)}")
    print(f"{counts['run']} tests passed, {len(failed)} failed, {sum(map(len, skipped.values()))} skipped")
    for name in failed:
        print("failed:", name)
    return status


if __name__ == "__main__":
    sys.exit(main())
