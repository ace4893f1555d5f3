#!/usr/bin/env python3
"""Tests scripts/run_tests.py on a build folder with a fake GoogleTest program."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = '''#!{python}
"""Runs the tests that GTEST_FILTER or --gtest_filter names; the name of a test says what it does."""
import os, sys
names = next((word.split("=")[1] for word in sys.argv[1:] if word.startswith("--gtest_filter=")), os.environ.get("GTEST_FILTER"))
cases, code = "", 0
for name in names.split(":"):
    suite, test = name.split(".")
    with open(os.path.dirname(sys.argv[0]) + "/ran", "a") as ran:
        ran.write(name + (" " if name != names.split(":")[-1] else "\\n"))
    if test == "crashes":
        os.abort()
    skip = test.startswith("skips_") and "this machine lacks " + test.removeprefix("skips_")
    if skip:
        print("a_test.cpp:7: Skipped\\n" + skip + "\\n\\n[  SKIPPED ] " + name)
    inside = '<skipped message="a_test.cpp:7&#x0A;' + skip + '"/>' if skip else '<failure message="1 is not 2"/>' if test == "fails" else ""
    code = code or test == "fails"
    cases += '<testcase name="' + test + '" classname="' + suite + '" status="run">' + inside + "</testcase>"
if "GTEST_OUTPUT" in os.environ:
    with open(os.environ["GTEST_OUTPUT"].removeprefix("xml:"), "w") as report:
        report.write("<testsuites>" + cases + "</testsuites>")
sys.exit(code)
'''


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name) / "slim"
        self.build.mkdir()
        self.program = self.build / "test_pretended"
        self.program.write_text(PROGRAM.replace("{python}", sys.executable))
        self.program.chmod(0o755)

    def add(self, name, *options, properties=""):
        with open(self.build / "CTestTestfile.cmake", "a") as file:
            words = " ".join(f'"{word}"' for word in (self.program, f"--gtest_filter={name}", "--gtest_also_run_disabled_tests", *options))
            file.write(f'add_test("{name}" {words})\n')
            file.write(f'set_tests_properties("{name}" PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" {properties})\n')

    def run_tests(self, *names, allowed=None, options=()):
        """Exit code and printed lines."""
        for name in names:
            self.add(name)
        environment = {key: value for key, value in os.environ.items() if key != "TPACK_ALLOWED_SKIPS"}
        if allowed is not None:
            (self.build / "allowed").write_text(allowed)
            environment["TPACK_ALLOWED_SKIPS"] = str(self.build / "allowed")
        done = subprocess.run([sys.executable, ROOT / "scripts/run_tests.py", self.build, *options], env=environment, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def ran(self):
        """What ran, one line per process."""
        return (self.build / "ran").read_text().splitlines()

    def test_names_what_failed(self):
        code, lines = self.run_tests("A.passes", "A.fails")
        self.assertEqual((code, lines), (1, ["---- A.fails:", "1 is not 2", "1 tests passed, 1 failed, 0 skipped", "failed: A.fails"]))

    def test_runs_many_tests_in_one_process(self):
        self.assertEqual(self.run_tests("A.passes", "B.passes", "B.passes_too"), (0, ["3 tests passed, 0 failed, 0 skipped"]))
        self.assertEqual(self.ran(), ["A.passes B.passes B.passes_too"])

    def test_gives_every_job_some_of_few_tests(self):
        names = [f"A.passes_{number}" for number in range(8)]
        self.assertEqual(self.run_tests(*names, options=["-j", "2"]), (0, ["8 tests passed, 0 failed, 0 skipped"]))
        self.assertEqual(sorted(self.ran()), names)  # one to a process

    def test_runs_those_after_a_crash_one_by_one(self):
        code, lines = self.run_tests("A.passes", "A.crashes", "A.passes_too")
        self.assertEqual(code, 1)
        self.assertEqual(lines[-2:], ["2 tests passed, 1 failed, 0 skipped", "failed: A.crashes"])

    def test_says_that_a_test_ran_into_its_time_limit(self):
        with open(self.build / "CTestTestfile.cmake", "a") as file:
            file.write('add_test("sleeps" "sleep" "60")\nset_tests_properties("sleeps" PROPERTIES TIMEOUT 1)\n')
        code, lines = self.run_tests()
        self.assertEqual(code, 1)
        self.assertEqual(lines[0], "---- sleeps:")
        self.assertRegex(lines[1], r"^ended after \d+ s without a reason: its time limit\?$")

    def test_runs_no_disabled_test(self):
        self.add("A.DISABLED_fails", properties="DISABLED TRUE")
        self.assertEqual(self.run_tests("A.passes"), (0, ["1 tests passed, 0 failed, 0 skipped"]))
        self.assertEqual(self.ran(), ["A.passes"])

    def test_takes_any_skip_where_no_list_is_given(self):
        self.assertEqual(self.run_tests("A.skips_gold"), (0, ["skipped (this machine lacks gold): A.skips_gold",
                                                              "0 tests passed, 0 failed, 1 skipped"]))

    def test_takes_only_the_skips_of_a_list(self):
        code, lines = self.run_tests("A.skips_gold", "B.skips_silver", allowed="# metals\n\n* this machine lacks (gold|tin)\n")
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["skipped (this machine lacks gold): A.skips_gold",
                                 "skipped (this machine lacks silver), which is not allowed here: B.skips_silver",
                                 "0 tests passed, 0 failed, 2 skipped"])

    def test_a_pattern_is_for_the_whole_reason(self):
        self.assertEqual(self.run_tests("A.skips_gold", allowed="* this machine lacks\n")[0], 1)

    def test_a_line_is_for_the_build_folders_that_it_names(self):
        self.assertEqual(self.run_tests("A.skips_gold", allowed="small,slim this machine lacks gold\n")[0], 0)
        self.assertEqual(self.run_tests(allowed="small this machine lacks gold\n")[0], 1)

    def test_allows_a_test_that_ctest_runs_alone_the_same_skips(self):
        self.add("A.skips_gold", "--gtest_repeat=1")  # one more argument: this test does not run together with others
        self.assertEqual(self.run_tests(allowed="* this machine lacks tin\n")[0], 1)
        self.assertEqual(self.run_tests(allowed="* this machine lacks gold\n")[0], 0)


class AllowedSkips(unittest.TestCase):
    def test_each_reason_is_one_that_a_test_gives(self):
        """A reason that no test gives any longer would hide the next test that gives it."""
        sources = "".join(path.read_text() for path in sorted((ROOT / "tests").rglob("*")) if path.suffix in (".cpp", ".h", ".py"))
        lines = [line.split(maxsplit=1) for line in (ROOT / "tests/allowed_skips.txt").read_text().splitlines() if line and line[0] != "#"]
        self.assertGreater(len(lines), 5)
        for _, reason in lines:
            begin = reason.split(".*")[0].split(" No module")[0].removeprefix("(the|a) ").replace("\\", "")
            self.assertIn(begin, sources)


if __name__ == "__main__":
    unittest.main()
