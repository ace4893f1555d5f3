#!/usr/bin/env python3
"""Tests the columns `when` and `notes` of docs/callbacks.md against the sources of the callbacks: which hooks each has, which are added
to every run, and which parameters it has. (tests/callbacks/callback_list_test.cpp tests names and ranks.)"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLBACKS = ROOT / "lib/callbacks"
STEP = {"before_run", "after_run", "trigger_step"}
# A phrase of the column `when` -> the callback has one of these hooks.
PHRASES = {r"`trigger`": {"trigger"}, r"before( and after| or after)? training": {"before_train"}, r"(and|or) after training": {"after_train"},
           r"at the end": {"after_train"}, r"during epochs": {"before_epoch", "after_epoch"}, r"after epochs": {"trigger_epoch"},
           r"\bsteps?\b": STEP}
# They have no hooks of their own: they make the callback inside.
SPELLINGS = {"EnableIf", "PeriodicCallback", "PeriodicTrigger"}
# Its hooks hand everything on to callbacks inside.
AROUND_OTHERS = {"SWA"}


def rows():
    """Of callbacks that exist here: (name, when, notes)."""
    for line in (ROOT / "docs/callbacks.md").read_text().partition("\n## Callbacks\n")[2].partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == 7 and cells[2].startswith("`"):
            yield cells[2].strip("`"), cells[3], cells[5]


def text_of(name):
    """The source of a callback, with the headers of lib/callbacks that it includes: its bases."""
    source = next(p.read_text() for p in sorted(CALLBACKS.glob("*.cpp")) if re.search(rf'TPACK_REGISTER\(Callback, \w+, "{name}"', p.read_text()))
    return source + "".join((ROOT / "lib" / header).read_text() for header in re.findall(r'#include "(callbacks/\w+\.h)"', source))


def hooks_of(text):
    return set(re.findall(r"void (\w+)\(Run& ?[^)]*\) (?:final|override)", text)) - {"compile"}


class CallbacksPage(unittest.TestCase):
    longMessage = False  # no sources in messages

    def test_says_when_each_callback_works(self):
        for name, when, _ in rows():
            if name in SPELLINGS:
                continue
            hooks = hooks_of(text_of(name))
            found = [(phrase, needed) for phrase, needed in PHRASES.items() if re.search(phrase, when)]
            for phrase, needed in found:
                self.assertTrue(needed & hooks, f"row {name}: 'when' is '{when}', but it has none of the hooks {sorted(needed)}")
            if name in AROUND_OTHERS:
                continue
            self.assertTrue(found, f"row {name}: 'when' is '{when}'; use one of the phrases {list(PHRASES)}")
            said = set().union(*(needed for _, needed in found))
            for kind in ({"trigger"}, STEP):
                missing = kind & hooks if not kind & said else set()
                self.assertFalse(missing, f"row {name}: 'when' is '{when}', which says nothing of its hook {', '.join(sorted(missing))}")

    def test_says_which_are_default_callbacks(self):
        defaults = set(re.findall(r'"(\w+)"', (CALLBACKS / "default_callbacks.cpp").read_text().partition("{")[2]))
        said = {name for name, _, notes in rows() if "a default callback" in notes}
        self.assertEqual(said, {name for name, _, _ in rows()} & defaults, "rows whose notes say 'a default callback', and those that are one")

    def test_names_parameters_that_there_are(self):
        common = (ROOT / "lib/train/callback.cpp").read_text()
        for name, _, notes in rows():
            for word in re.findall(r"`([a-z_]+)(?:: \w+)?`", notes):
                self.assertIn(f'"{word}"', text_of(name) + common, f"row {name}: it has no parameter '{word}'")


if __name__ == "__main__":
    unittest.main()
