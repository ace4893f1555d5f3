#!/usr/bin/env python3
"""Tests that the program configures without GoogleTest, and that tests never go missing silently."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NO_GTEST = "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"


class Configure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)

    def configure(self, *options):
        return subprocess.run(["cmake", "--preset", "release", "-B", self.build, *options], cwd=ROOT, capture_output=True, text=True)

    def test_demo_first_then_checks(self):
        demo = self.configure("-DTPACK_TESTS=OFF", NO_GTEST)
        self.assertEqual(demo.returncode, 0, demo.stderr)
        self.assertFalse((self.build / "CTestTestfile.cmake").exists())

        without = self.configure()
        self.assertEqual(without.returncode, 1)
        self.assertIn("tests need GoogleTest: scripts/install_dependencies.sh --check installs it", " ".join(without.stderr.split()))

        check = self.configure("-DCMAKE_DISABLE_FIND_PACKAGE_GTest=OFF")
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertTrue((self.build / "CTestTestfile.cmake").exists())


if __name__ == "__main__":
    unittest.main()
