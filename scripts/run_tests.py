#!/usr/bin/env python3
"""Runs the tests of a build folder and prints what matters: the output of those that fail, those skipped and why, totals.

    scripts/run_tests.py build/dev [-j JOBS] [options of ctest that choose tests]

GoogleTest's tests run many to a process (starting one takes longer than most tests); where such a process crashes or hangs, its
remaining tests run one by one. All others run as ctest runs them, and disabled ones not at all. Exit status 1 if a test failed.

If TPACK_ALLOWED_SKIPS names a file, a skip for any other reason fails too. Each line of the file has the names of the build
folders that it is for (`asan,tsan`; `*` for all) and a regular expression for the whole reason.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TESTS_OF_A_PROCESS = 60  # at most; fewer where there are few, so that every job has some
TIMEOUT_S = 900  # of one process

Result = collections.namedtuple("Result", "name status text")  # status: passed, failed, skipped


def chosen_tests(folder, options):
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1", *options], capture_output=True, text=True)
    if listed.returncode != 0:
        sys.exit(listed.stderr)
    return [test for test in json.loads(listed.stdout)["tests"] if test.get("command") and not disabled(test)]


def disabled(test):
    return any(own["name"] == "DISABLED" and own["value"] for own in test["properties"])


def gtest_filter(test):
    """The name under which GoogleTest knows a test that runs alone; None for other tests."""
    words = [word for word in test["command"][1:] if word != "--gtest_also_run_disabled_tests"]  # CMake adds it to every test
    alone = len(words) == 1 and words[0].startswith("--gtest_filter=") and "*" not in words[0]
    return words[0].removeprefix("--gtest_filter=") if alone else None


def reason_of_skip(output):
    """The line that follows GoogleTest's `FILE:LINE: Skipped`."""
    found = re.search(r": Skipped\n(.*)", output)
    return found[1].strip() if found else output.strip().splitlines()[-1] if output.strip() else "no reason given"


def run_together(program, tests):
    """Results of those tests that the process came to, by their GoogleTest names."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        environment = dict(os.environ, GTEST_FILTER=":".join(gtest_filter(test) for test in tests), GTEST_OUTPUT=f"xml:{report}",
                           GTEST_COLOR="no")
        try:
            subprocess.run([program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S,
                           cwd=os.path.dirname(program))
        except subprocess.TimeoutExpired:
            pass
        if not report.exists():
            return {}
        found = {}
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            failures = [failure.text or failure.get("message") for failure in case.iter("failure")]
            skipped = case.find("skipped")
            if failures:
                found[name] = Result(name, "failed", "\n".join(failures))
            elif skipped is not None:
                found[name] = Result(name, "skipped", reason_of_skip(skipped.text or skipped.get("message") or ""))
            elif case.get("status") == "run":
                found[name] = Result(name, "passed", "")
        return found


def run_by_ctest(folder, tests):
    names = "|".join(re.escape(test["name"]) for test in tests)
    with tempfile.TemporaryDirectory() as reports:
        report = pathlib.Path(reports) / "report.xml"
        subprocess.run(["ctest", "--test-dir", str(folder), "--quiet", "--output-junit", str(report), "--test-output-size-passed",
                        "200000", "--test-output-size-failed", "200000", "-R", f"^({names})$"], stdout=subprocess.DEVNULL)
        results = []
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            name, output = case.get("name").split("  # GetParam()")[0], case.findtext("system-out") or ""
            if case.find("skipped") is not None:
                results.append(Result(name, "skipped", reason_of_skip(output)))
            elif case.find("failure") is not None:
                message = case.find("failure").get("message") or f"ended after {float(case.get('time')):.0f} s without a reason: its time limit?"
                results.append(Result(name, "failed", f"{message}\n{output}"))
            else:
                results.append(Result(name, "passed", ""))
        return results


def run_chunk(folder, program, tests):
    found = run_together(program, tests)
    left = [test for test in tests if gtest_filter(test) not in found]
    return list(found.values()) + (run_by_ctest(folder, left) if left else [])


def chunks(tests, jobs):
    """(program or None, tests): what runs in one process."""
    size = max(1, min(TESTS_OF_A_PROCESS, len(tests) // (4 * jobs) if jobs > 1 else TESTS_OF_A_PROCESS))
    programs, others = collections.defaultdict(list), []
    for test in tests:
        (programs[test["command"][0]] if gtest_filter(test) else others).append(test)
    for program, own in programs.items():
        for begin in range(0, len(own), size):
            yield program, own[begin:begin + size]
    for test in others:
        yield None, [test]


def allowed_reasons(folder):
    """The regular expressions of TPACK_ALLOWED_SKIPS for this build folder; None if every reason is allowed."""
    path = os.environ.get("TPACK_ALLOWED_SKIPS")
    if not path:
        return None
    lines = [line.split(maxsplit=1) for line in pathlib.Path(path).read_text().splitlines() if line and not line.startswith("#")]
    return [reason for folders, reason in lines if folders == "*" or folder.name in folders.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options, choice = parser.parse_known_args()
    folder = pathlib.Path(options.folder).resolve()
    tests = chosen_tests(folder, choice)
    if not tests:
        sys.exit(f"no tests in {folder} for {' '.join(choice)}")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run_chunk, folder, program, own) if program else pool.submit(run_by_ctest, folder, own)
                for program, own in chunks(tests, options.jobs)]
        results = [result for job in jobs for result in job.result()]

    failed = [result for result in results if result.status == "failed"]
    skipped = collections.defaultdict(list)
    for result in results:
        if result.status == "skipped":
            skipped[result.text].append(result.name)
    for result in failed:
        print(f"---- {result.name}:\n{result.text}")
    patterns = allowed_reasons(folder)
    refused = {reason for reason in skipped if patterns is not None and not any(re.fullmatch(p, reason) for p in patterns)}
    for reason, names in skipped.items():
        print(f"skipped ({reason}){', which is not allowed here' if reason in refused else ''}: {', '.join(names)}")
    passed = sum(result.status == "passed" for result in results)
    print(f"{passed} tests passed, {len(failed)} failed, {sum(map(len, skipped.values()))} skipped")
    for result in failed:
        print("failed:", result.name)
    missing = len(tests) - len(results)
    if missing:
        print(f"{missing} tests gave no result")
    sys.exit(1 if failed or refused or missing else 0)


if __name__ == "__main__":
    main()
