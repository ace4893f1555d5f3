#!/usr/bin/env python3
"""Tests docs/config.md, docs/sweep.md and docs/tables.md with the program: their configs are valid, their commands run, and they print what the
pages show.

    config_page_test.py TPACK

A YAML block is a file, named in its first line. A text block is what the commands before it print.
"""
import json
import re
import subprocess
import unittest

from program import ROOT, ProgramTest


class ConfigPage(ProgramTest):
    def test_the_page_of_configs_shows_what_the_program_does(self):
        self.check_page("docs/config.md", least_blocks=13)

    def test_the_page_of_sweeps_shows_what_the_program_does(self):
        self.check_page("docs/sweep.md", least_blocks=3)

    def test_the_page_of_tables_shows_what_the_program_does(self):
        subprocess.run([ROOT / "scripts/make_tables.py", self.folder], check=True)
        self.check_page("docs/tables.md", least_blocks=4)
        answers = (self.folder / "answers.csv").read_text().splitlines()
        self.assertEqual(len(answers), 501)
        self.assertTrue(answers[1].startswith("voyages-new.csv:2,"), answers[1])
        submission = (self.folder / "submission.csv").read_text().splitlines()
        self.assertEqual(submission[0], "id,delayed")
        self.assertRegex(submission[1], r"^1001,(yes|no)$")
        folds = json.loads((self.folder / "train_log/voyages-folds/folds.json").read_text())
        accuracy = folds["statistics"]["validation_accuracy"]
        self.assertEqual(len(accuracy["values"]), 5)
        self.assertAlmostEqual(accuracy["mean"], sum(accuracy["values"]) / 5)
        # 77 % are on time.
        self.assertGreater(accuracy["mean"], 0.6)

    def check_page(self, path, least_blocks):
        page = (ROOT / path).read_text()
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), least_blocks)
        for number, (language, block) in enumerate(blocks):
            shown = blocks[number + 1][1] if blocks[number + 1:] and blocks[number + 1][0] == "text" else None
            if language == "yaml":
                name = re.match(r"# ([\w-]+\.yaml)\n", block)
                self.assertTrue(name, f"no file name in the first line:\n{block}")
                (self.folder / name[1]).write_text(block)
                code, output = self.run_commands(f"tpack check {name[1]}")
                has_errors = f"error: {name[1]}:" in page
                self.assertEqual(code, 2 if has_errors else 0, block + output)
            elif language == "sh":
                code, output = self.run_commands(block)
                if shown is None:
                    self.assertEqual(code, 0, block + output)
                else:
                    self.assertEqual(output, shown, block)
            else:
                self.assertEqual((language, blocks[number - 1][0]), ("text", "sh"), block)


if __name__ == "__main__":
    unittest.main()
