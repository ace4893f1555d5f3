"""A copy of the files that the checking scripts read, for tests that break them."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class ScratchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for top in ("lib", "app", "tests", "bench", "cmake", "scripts", "docs"):
            shutil.copytree(ROOT / top, self.root / top, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / ".clang-format", self.root)  # what scripts write is formatted like the rest

    def replace(self, path, old, new):
        """Replaces every `old` in a file of the copy."""
        text = (self.root / path).read_text()
        self.assertIn(old, text)
        (self.root / path).write_text(text.replace(old, new))

    def run_script(self, name):
        """Exit code and lines of a script of the copy."""
        done = subprocess.run([sys.executable, self.root / "scripts" / name], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()
