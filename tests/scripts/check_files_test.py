#!/usr/bin/env python3
"""Tests scripts/check_files.py on changed copies of the sources, which it must refuse."""
import unittest

from scratch import ScratchTest

SCRIPT = "check_files.py"
COMPONENT = "lib/layers/normalize.cpp"


class CheckFiles(ScratchTest):
    def complaints(self):
        code, lines = self.run_script(SCRIPT)
        self.assertEqual(code, 1, lines)
        return lines

    def test_takes_the_sources(self):
        self.assertEqual(self.run_script(SCRIPT), (0, ["files: ok"]))

    def test_refuses_a_component_that_others_could_see(self):
        self.replace(COMPONENT, "\nnamespace {\n", "\n")
        self.replace(COMPONENT, "\n}  // namespace\n", "\n")
        names = [line.split()[1] for line in self.complaints()]
        self.assertEqual(names, ["NormalizeParams", "Normalize"])

    def test_refuses_a_component_before_or_after_the_anonymous_namespace(self):
        self.replace(COMPONENT, "\nnamespace {\n", "\nstruct Before {};\nclass Declared;\nnamespace {\n")
        self.replace(COMPONENT, "\n}  // namespace\n", "\n}  // namespace\n\nclass After final\n    : public Layer {\n};\n")
        names = [line.split()[1] for line in self.complaints()]
        self.assertEqual(names, ["Before", "After"])

    def test_refuses_a_second_type_of_the_same_name(self):
        self.replace("lib/comm/comm.h", "struct RankPart {", "struct Slice {")
        self.assertEqual(self.complaints(), ["lib/comm/comm.h and lib/ops/pad.h: both define a type Slice; give one of them another name"])


if __name__ == "__main__":
    unittest.main()
