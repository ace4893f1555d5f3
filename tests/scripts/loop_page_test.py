#!/usr/bin/env python3
"""Tests that the C++ of docs/concepts.md is that of the loop."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LoopPage(unittest.TestCase):
    def test_shows_the_code_of_the_loop(self):
        blocks = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "docs/concepts.md").read_text(), re.MULTILINE | re.DOTALL)
        self.assertTrue(any("void Loop::run_step" in block for block in blocks))
        for block in blocks:
            self.assertIn(block, (ROOT / "lib/train/loop.cpp").read_text())


if __name__ == "__main__":
    unittest.main()
