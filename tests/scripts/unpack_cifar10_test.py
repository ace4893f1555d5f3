#!/usr/bin/env python3
"""Tests scripts/unpack_cifar10.sh on small archives."""
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "unpack_cifar10.sh"


class UnpackCifar10(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.caller = pathlib.Path(folder.name)

    def archive(self, *names):
        """cifar.tar.xz in the caller's folder."""
        for name in names:
            path = self.caller / "made" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"image")
        with tarfile.open(self.caller / "cifar.tar.xz", "w:xz") as tar:
            tar.add(self.caller / "made", "cifar10")

    def unpack(self, *words):
        return subprocess.run([SCRIPT, *words], cwd=self.caller, capture_output=True, text=True)

    def test_takes_paths_as_the_caller_names_them(self):
        self.archive("train/cat/1.jpg", "train/dog/2.jpg", "test/cat/3.jpg")
        done = self.unpack("cifar.tar.xz", "data/out")
        self.assertEqual((done.returncode, done.stdout), (0, "data/out: 2 + 1 images\n"), done.stderr)
        self.assertEqual((self.caller / "data/out/train/dog/2.jpg").read_bytes(), b"image")
        self.assertEqual([p.name for p in (self.caller / "data").iterdir()], ["out"])

    def test_refuses_an_archive_of_something_else(self):
        (self.caller / "test").mkdir()  # of the caller, not of the archive
        self.archive("notes.txt")
        done = self.unpack("cifar.tar.xz", "out")
        self.assertEqual((done.returncode, done.stderr), (3, "error: cifar.tar.xz holds no train/ and test/\n"))
        self.assertFalse((self.caller / "out").exists())

    def test_says_which_archive_is_missing(self):
        done = self.unpack("none.tar.xz", "out")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no archive 'none.tar.xz'", done.stderr)


if __name__ == "__main__":
    unittest.main()
