#!/usr/bin/env python3
"""Tests that the C++ and YAML blocks of docs/plugins.md and docs/cpp.md are in files that are built and run."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def text_of(*folders):
    """The text of all C++ and all YAML files of folders of tests/, by language."""
    sources = {"cpp": "", "yaml": ""}
    languages = {".cpp": "cpp", ".h": "cpp", ".yaml": "yaml"}
    for folder in folders:
        for path in sorted((ROOT / "tests" / folder).iterdir()):
            if path.suffix in languages:
                sources[languages[path.suffix]] += path.read_text()
    return sources


class Pages(unittest.TestCase):
    def check(self, page, *folders):
        sources = text_of(*folders)
        blocks = re.findall(r"^```(cpp|yaml)\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 6)
        for language, block in blocks:
            self.assertIn(block, sources[language])

    def test_plugins_shows_code_that_is_built(self):
        self.check("docs/plugins.md", "plugin")

    def test_cpp_shows_code_that_is_built(self):
        self.check("docs/cpp.md", "plugin", "standalone")


if __name__ == "__main__":
    unittest.main()
