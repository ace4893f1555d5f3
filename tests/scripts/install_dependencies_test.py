#!/usr/bin/env python3
"""Tests which packages scripts/install_dependencies.sh installs, with a fake dpkg-query and apt-get."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "install_dependencies.sh"
DPKG_QUERY = """#!/bin/sh
for package; do :; done  # the last argument
grep -qx "$package" "$(dirname "$0")/installed" && echo 'install ok installed'
"""
APT_GET = """#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
"""


class InstallDependencies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = pathlib.Path(folder.name)
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("id", "#!/bin/sh\necho 0\n")):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)

    def run_script(self, *options, installed=()):
        (self.bin / "installed").write_text("".join(name + "\n" for name in installed))
        (self.bin / "calls").write_text("")
        return subprocess.run([SCRIPT, *options], env=dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}"),
                              capture_output=True, text=True)

    def packages(self, *options, installed=()):
        """The packages that apt-get is asked to install."""
        done = self.run_script(*options, installed=installed)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = (self.bin / "calls").read_text().splitlines()
        if not calls:
            return set()
        self.assertEqual([call.split()[0] for call in calls], ["update", "install"])
        words = calls[1].split()
        return set(words[words.index("--no-install-recommends") + 1:])

    def test_the_demo_needs_no_compiler_for_checks_and_no_test_library(self):
        needed = self.packages()
        self.assertIn("g++", needed)
        self.assertIn("libopenmpi-dev", needed)
        self.assertLessEqual({"liblmdb-dev", "libprotobuf-dev", "protobuf-compiler"}, needed)
        self.assertEqual({name for name in needed if name.startswith(("clang", "llvm", "libclang", "libgtest", "libgmock"))}, set())

    def test_the_checks_need_more(self):
        demo, check = self.packages(), self.packages("--check")
        self.assertLess(demo, check)
        self.assertLessEqual({"clang", "clang-format", "clang-tidy", "git", "libgtest-dev", "libgmock-dev"}, check - demo)

    def test_installs_only_what_is_missing(self):
        demo, check = self.packages(), self.packages("--check")
        self.assertEqual(self.packages(installed=demo - {"cmake"}), {"cmake"})
        self.assertEqual(self.packages("--check", installed=demo), check - demo)

    def test_does_nothing_where_all_is_installed(self):
        self.assertEqual(self.packages("--check", installed=self.packages("--check")), set())

    def test_refuses_an_unknown_option(self):
        done = self.run_script("--all")
        self.assertEqual((done.returncode, done.stderr), (2, "usage: scripts/install_dependencies.sh [--check]\n"))
        self.assertEqual((self.bin / "calls").read_text(), "")


if __name__ == "__main__":
    unittest.main()
