#!/usr/bin/env python3
"""Tests which files scripts/tidy.py considers changed, in small repositories."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = dict({key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
                   GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@example.com",
                   GIT_COMMITTER_NAME="A", GIT_COMMITTER_EMAIL="a@example.com")


class Changes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "upstream"
        for name in ("lib/core/text.cpp", "lib/core/text.h", "lib/core/queue.h", "lib/core/gone.cpp", "docs/a.md", "tests/core/a.cpp"):
            self.write(name, "begin")
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/tidy.py", self.root / "scripts")
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit()

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.root, env=ENVIRONMENT, check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=a change")

    def clone(self, *options):
        """Continues in a clone."""
        subprocess.run(["git", "clone", "--quiet", *options, self.root.as_uri(), self.folder / "clone"], env=ENVIRONMENT, check=True)
        self.root = self.folder / "clone"

    def listed(self, *options):
        """The first line, and the files."""
        done = subprocess.run([sys.executable, self.root / "scripts/tidy.py", "--list", *options], env=ENVIRONMENT, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, *files = done.stdout.splitlines()
        return first, files

    def test_takes_commits_since_main_and_what_is_not_committed_and_not_tracked(self):
        self.git("switch", "--quiet", "--create=topic")
        self.write("lib/core/text.h", "committed")
        self.commit()
        self.write("lib/core/queue.h", "edited")
        self.write("lib/core/new.cpp", "untracked")
        self.write("tests/core/a.cpp", "edited")
        self.write("docs/a.md", "edited")
        (self.root / "lib/core/gone.cpp").unlink()
        self.assertEqual(self.listed(), ("clang-tidy: 3 files changed (since main)",
                                         ["lib/core/new.cpp", "lib/core/queue.h", "lib/core/text.cpp"]))

    def test_prefers_the_main_of_the_origin(self):
        self.clone()
        self.write("lib/core/text.cpp", "committed")
        self.commit()
        self.assertEqual(self.listed(), ("clang-tidy: 1 files changed (since origin/main)", ["lib/core/text.cpp"]))

    def test_on_main_takes_what_is_not_committed(self):
        self.write("lib/core/text.cpp", "committed")
        self.commit()
        self.write("lib/core/queue.h", "edited")
        self.assertEqual(self.listed(), ("clang-tidy: 1 files changed (not committed)", ["lib/core/queue.h"]))

    def test_on_main_takes_the_last_commit_where_asked_to(self):
        self.write("lib/core/text.cpp", "committed")
        self.commit()
        self.clone()
        self.assertEqual(self.listed("--last-commit"), ("clang-tidy: 1 files changed (since HEAD~1, as no commit is ahead of main)",
                                                        ["lib/core/text.cpp"]))

    def test_leaves_out_what_is_no_source_of_lib_or_app(self):
        files = [str(self.root / name) for name in ("tests/core/a.cpp", "lib/core/text.cpp", "docs/a.md")]
        done = subprocess.run([sys.executable, self.root / "scripts/tidy.py", "--list", *files], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        left_out = "left out; only sources of lib/ and app/ are linted"
        self.assertEqual(done.stdout.splitlines(), [f"{files[0]}: {left_out}", f"{files[2]}: {left_out}", "lib/core/text.cpp"])

    def test_lints_nothing_where_all_files_are_left_out(self):
        self.write("lib/core/text.cpp", "edited")
        done = subprocess.run([sys.executable, self.root / "scripts/tidy.py", self.root / "docs/a.md"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_refuses_files_that_are_not_there(self):
        done = subprocess.run([sys.executable, self.root / "scripts/tidy.py", "lib/core/texts.cpp"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.strip()), (1, "error: lib/core/texts.cpp does not exist"))

    def test_says_so_where_a_shallow_clone_has_no_earlier_commit(self):
        self.write("lib/core/text.cpp", "committed")
        self.commit()
        self.clone("--depth=1")
        self.assertEqual(self.listed("--last-commit"),
                         ("clang-tidy: 0 files changed (not committed, as there is no earlier commit to compare with)", []))


if __name__ == "__main__":
    unittest.main()
