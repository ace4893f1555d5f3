#!/usr/bin/env python3
"""Tests scripts/new_component.py: new_component_test.py BUILD_FOLDER. Components of all kinds compile with the flags of that folder."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

from scratch import ROOT, ScratchTest

SCRIPT = "scripts/new_component.py"
KINDS = ["layer", "loss", "regression loss", "metric", "schedule", "initializer", "optimizer", "gradient processor", "callback", "trainer", "monitor", "input source",
         "source", "map", "tensor map", "stage", "environment", "augmentor", "op"]


def flags_of(target):
    """How the build folder compiles the sources of a target, without source and object file."""
    commands = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
    command = shlex.split(next(c["command"] for c in commands if f"/{target}.dir/" in c["command"]))
    return command[next(i for i, word in enumerate(command) if word.startswith("-")):command.index("-o")]


class NewComponent(ScratchTest):
    def new(self, kind, name):
        """Exit code, the files that were written, and the error. After the files it says what comes next."""
        done = subprocess.run([sys.executable, self.root / SCRIPT, kind, name], capture_output=True, text=True)
        return done.returncode, done.stdout.partition("\n\n")[0].split(), done.stderr.strip()

    def compile(self, files, target):
        """Compiles them together."""
        unit = self.root / "unit.cpp"
        unit.write_text("".join(f'#include "{self.root / file}"\n' for file in files))
        command = ["c++", f"-I{self.root / 'lib'}", f"-I{self.root / 'tests'}", *flags_of(target), "-O0", "-fsyntax-only", "-Werror", unit]
        done = subprocess.run(command, capture_output=True, text=True, cwd=sys.argv[1])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_writes_components_that_compile_and_are_not_done(self):
        sources, tests = [], []
        for kind in [*KINDS, "subcommand"]:
            name = "new-command" if kind == "subcommand" else "New" + kind.title().replace(" ", "")
            code, files, error = self.new(kind, name)
            self.assertEqual((code, error), (0, ""))
            self.assertLessEqual(len(files), {"op": 6, "callback": 4, "monitor": 4}.get(kind, 3))
            sources += [file for file in files if file.startswith("lib/") and file.endswith(".cpp")]
            tests += [file for file in files if file.endswith("_test.cpp")]
        code, lines = self.run_script("check_files.py")
        self.assertEqual({line.split(": ", 1)[1] for line in lines}, {"what scripts/new_component.py wrote and nobody filled in"})
        self.assertEqual({line.split(":")[0] for line in lines} - {"lib/ops/new_op.h"}, {*sources, *tests, "docs/callbacks.md"})
        self.compile(sources, "tpack_cli")
        self.compile(tests, "test_experiment")
        self.compile(["tests/ops/op_cases.h"], "test_ops")

    def test_knows_the_kinds_of_the_registry(self):
        kinds = set()
        for header in (ROOT / "lib").rglob("*.h"):
            kinds |= set(re.findall(r'kKind = "([^"]+)"', header.read_text()))
        # A loss is a cost and a metric; a model is a network in C++, a component of plugins.
        self.assertEqual(set(KINDS) - {"loss", "regression loss"}, kinds - {"cost", "model"})

    def test_refuses_kinds_that_are_not_there(self):
        self.assertEqual(self.new("laier", "X"), (1, [], f"error: unknown kind 'laier'; known: {', '.join(KINDS)}, subcommand"))

    def test_knows_what_others_call_a_kind(self):
        self.assertEqual(self.new("cost", "X")[2], f"error: unknown kind 'cost'; a cost is a loss here; known: {', '.join(KINDS)}, subcommand")

    def test_calls_classes_as_the_others_are_called(self):
        for kind, name, cls, path in [("callback", "LossPrinter", "LossPrinter", "callbacks/loss_printer"),
                                      ("layer", "L2Norm", "L2Norm", "layers/l2norm"),
                                      ("trainer", "ManyGPUTrainer", "ManyGpuTrainer", "train/many_gpu_trainer"),
                                      ("regression-loss", "LogCosh", "LogCosh", "costs/log_cosh"),
                                      ("layer", "Window", "WindowLayer", "layers/window"),  # there is a struct Window
                                      ("initializer", "Uniform", "UniformInitializer", "layers/uniform_initializer")]:
            self.assertEqual(self.new(kind, name)[0], 0)
            self.assertIn(f"class {cls} final", (self.root / f"lib/{path}.cpp").read_text())

    def test_adds_a_row_to_the_page_of_callbacks(self):
        self.new("callback", "LossPrinter")
        self.new("monitor", "Pager")
        page = (self.root / "docs/callbacks.md").read_text()
        callbacks, monitors = page.split("## Callbacks\n")[1].split("\n## Monitors\n")
        self.assertTrue(callbacks.endswith("| | `LossPrinter` | `trigger` | chief | fill in: what it does |\n"))
        self.assertTrue(monitors.endswith("| | `Pager` | | fill in: what it does |\n"))

    def test_refuses_names_that_are_taken_or_wrong(self):
        for kind, name, error in [
                ("layer", "Conv2D", "layer Conv2D exists; choose another name"),
                ("optimizer", "AdamOptimizer", "optimizer AdamOptimizer exists; choose another name"),
                ("loss", "Huber", "loss Huber exists; choose another name"),
                ("metric", "Huber", "metric Huber exists; choose another name"),
                ("loss", "Accuracy", "loss Accuracy exists; choose another name"),
                ("op", "MatMul", "op MatMul exists; choose another name"),
                ("subcommand", "plot", "subcommand plot exists; choose another name"),
                ("layer", "squareplus", "'squareplus' is not a name of a layer; use a name in PascalCase, such as Squareplus"),
                ("subcommand", "Prune", "'Prune' is not a name of a subcommand; use a name such as prune")]:
            self.assertEqual(self.new(kind, name), (1, [], f"error: {error}"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
