#!/usr/bin/env python3
"""Tests scripts/check_dependencies.py on changed copies of the sources, which it must refuse."""
import unittest

from scratch import ScratchTest

SCRIPT = "check_dependencies.py"


class CheckDependencies(ScratchTest):
    def test_takes_what_is_linked_and_included(self):
        self.assertEqual(self.run_script(SCRIPT), (0, ["dependencies: ok"]))

    def test_refuses_a_library_that_only_tests_link(self):
        for module in ("checkpoint", "data_tools", "sources/hdf5", "weights"):
            self.replace(f"lib/{module}/CMakeLists.txt", "hdf5::hdf5", "")
        self.assertEqual(self.run_script(SCRIPT), (1, ["HDF5: declared, but nothing links hdf5::hdf5"]))

    def test_takes_no_comment_for_a_link(self):
        self.replace("lib/config/CMakeLists.txt", "LINKS yaml-cpp", ") # LINKS yaml-cpp")
        self.assertEqual(self.run_script(SCRIPT), (1, ["yaml-cpp: declared, but nothing links yaml-cpp"]))

    def test_refuses_a_library_that_only_tests_include(self):
        self.replace("lib/checkpoint/hdf5.h", "#include <hdf5.h>", "// as #include <hdf5.h> would")
        self.assertEqual(self.run_script(SCRIPT), (1, ["HDF5: declared, but no source includes it"]))

    def test_refuses_a_library_that_it_does_not_know(self):
        self.replace("cmake/dependencies.cmake", "find_package(PNG REQUIRED)", "find_package(PNG REQUIRED)\nfind_package(TIFF)")
        self.assertEqual(self.run_script(SCRIPT), (1, ["TIFF: declared, but unknown to scripts/check_dependencies.py"]))


if __name__ == "__main__":
    unittest.main()
