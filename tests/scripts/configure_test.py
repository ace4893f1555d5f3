#!/usr/bin/env python3
"""Tests what CMake configures: with or without tests, and which sources are compiled together."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NO_GTEST = "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"


class Configure(unittest.TestCase):
    """Configuring takes seconds, so the tests share the first configuration: that of ./demo.sh, without GoogleTest."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.build = pathlib.Path(folder.name)
        cls.demo = cls.configure("-DTPACK_TESTS=OFF", NO_GTEST)
        cls.compile_commands = json.loads((cls.build / "compile_commands.json").read_text()) if cls.demo.returncode == 0 else []
        cls.demo_has_tests = (cls.build / "CTestTestfile.cmake").exists()

    @classmethod
    def configure(cls, *options):
        return subprocess.run(["cmake", "--preset", "release", "-B", cls.build, *options], cwd=ROOT, capture_output=True, text=True)

    def test_demo_first_then_checks(self):
        self.assertEqual(self.demo.returncode, 0, self.demo.stderr)
        self.assertFalse(self.demo_has_tests)

        without = self.configure("-DTPACK_TESTS=ON")
        self.assertEqual(without.returncode, 1)
        self.assertIn("tests need GoogleTest: scripts/install_dependencies.sh --check installs it", " ".join(without.stderr.split()))

        check = self.configure("-DTPACK_TESTS=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=OFF")
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertTrue((self.build / "CTestTestfile.cmake").exists())

    def test_compiles_each_source_once_and_names_none_by_an_absolute_path(self):
        compiled = []
        for entry in self.compile_commands:
            file = pathlib.Path(entry["file"])
            if file.is_relative_to(ROOT):
                compiled.append(file)
            elif not file.name.endswith(".pb.cc"):  # which protoc writes
                text = file.read_text()
                self.assertEqual(re.sub(r'#include "[a-z]\w*/[\w/]+\.cpp"\n', "", text), "", file)
                compiled += [ROOT / "lib" / name for name in re.findall('"(.*)"', text)]
        sources = [path for top in ("app", "lib") for path in (ROOT / top).rglob("*.cpp") if path.name != "no_mpi.cpp"]
        self.assertEqual(sorted(compiled), sorted(sources))


if __name__ == "__main__":
    unittest.main()
