#!/usr/bin/env python3
"""Tests scripts/update_error_texts.py with a program that writes what the test program would write."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class UpdateErrorTexts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.corpus = self.root / "tests/config/errors"
        self.corpus.mkdir(parents=True)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/update_error_texts.py", self.root / "scripts")
        for name in ("a", "b"):
            (self.corpus / f"{name}.yaml").write_text("tpack: 1\n")
            (self.corpus / f"{name}.txt").write_text(f"{name}.yaml:1:1: old\n")
        subprocess.run(["git", "init", "-q", self.root], check=True)
        subprocess.run(["git", "-C", self.root, "add", "."], check=True)

    def update(self, **found):
        """Exit code and output if the test program finds these texts, given by file name with _ instead of the dot."""
        program = self.root / "program"
        writes = [f"printf '{text}' >\"$TPACK_FOUND_ERROR_TEXTS/{name.replace('_', '.')}\"" for name, text in found.items()]
        program.write_text("#!/bin/sh\n" + "\n".join(writes) + "\nexit 1\n")
        program.chmod(0o755)
        done = subprocess.run([sys.executable, self.root / "scripts/update_error_texts.py", program], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_writes_and_shows_what_changed(self):
        code, output = self.update(a_txt="a.yaml:1:1: new\\n", b_txt="b.yaml:1:1: old\\n")
        self.assertEqual(code, 0, output)
        self.assertEqual((self.corpus / "a.txt").read_text(), "a.yaml:1:1: new\n")
        self.assertIn("-a.yaml:1:1: old\n+a.yaml:1:1: new\n", output)
        self.assertNotIn("+b.yaml:1:1: old", output)

    def test_tells_of_a_config_that_is_valid_now(self):
        code, output = self.update(a_txt="a.yaml:1:1: new\\n")
        self.assertEqual(code, 1)
        self.assertIn("no longer an error: b", output)

    def test_changes_nothing_if_the_program_finds_nothing(self):
        code, output = self.update()
        self.assertNotEqual(code, 0)
        self.assertIn("after 0 texts", output)
        self.assertEqual((self.corpus / "a.txt").read_text(), "a.yaml:1:1: old\n")


if __name__ == "__main__":
    unittest.main()
