#!/usr/bin/env python3
"""Tests that the C++ and YAML blocks of docs/plugins.md are in the files of tests/plugin, which are built and run."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class PluginPage(unittest.TestCase):
    def test_shows_code_that_is_built(self):
        sources = {".cpp": "", ".yaml": ""}
        for path in sorted((ROOT / "tests/plugin").iterdir()):
            if path.suffix in sources:
                sources[path.suffix] += path.read_text()
        page = (ROOT / "docs/plugins.md").read_text()
        blocks = re.findall(r"^```(cpp|yaml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 6)
        for language, block in blocks:
            self.assertIn(block, sources["." + language])


if __name__ == "__main__":
    unittest.main()
