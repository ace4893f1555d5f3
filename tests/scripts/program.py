"""The program in a temporary folder, for tests that run it."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TPACK = pathlib.Path(sys.argv.pop(1)).resolve() if sys.argv[1:] and not sys.argv[1].startswith("-") else ROOT / "build/release/tpack"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "tpack").symlink_to(TPACK)
        self.environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", TPACK_CACHE_DIR=str(self.folder / "cache"))

    def write(self, path, content):
        """A text, or bytes, in a file of the folder."""
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def run_commands(self, commands):
        """Exit code and output."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def output_of(self, command, code=0):
        """Output of a command that ends with that exit code."""
        found, output = self.run_commands(command)
        self.assertEqual(found, code, f"{command}\n{output}")
        return output

    def samples_of(self, flow, first=100):
        """The first samples of a flow as maps from components to numbers; of vectors, to lists of them. Components of other shapes are left
        out. Or the error."""
        self.write("samples.yaml", f"tpack: 1\ndata:\n  train:\n{flow}")
        command = f"tpack data inspect samples.yaml --json --samples {first} 2>log"
        code, output = self.run_commands(command)
        if code != 0:
            return (self.folder / "log").read_text()
        found = {c["name"]: re.search(r" \[(\d*)\]$", c["spec"]) for c in json.loads(output)[0]["spec"]}
        sizes = {name: match[1] for name, match in found.items() if match}
        parts = "".join(f'    - Compute: {{"{name}.{i}": "{name}[{i}]"}}\n' for name, size in sizes.items() if size for i in range(int(size)))
        self.write("samples.yaml", f"tpack: 1\ndata:\n  train:\n{flow}{parts}")
        samples = {}
        for row in json.loads(self.output_of(command))[0]["samples"]:
            samples.setdefault(row["item"], {})[row["component"]] = row["mean"]
        return [{name: [values[f"{name}.{i}"] for i in range(int(size))] if size else values[name] for name, size in sizes.items()}
                for values in samples.values()]


def words_of(page):
    """The text of a page of docs/ with one space between words."""
    return " ".join((ROOT / "docs" / page).read_text().split())


def configs_of(page):
    """The configs of a page of docs/, by the file name in their first line."""
    blocks = re.findall(r"^```yaml\n(# ([\w-]+\.yaml)\n.*?)^```$", (ROOT / "docs" / page).read_text(), re.MULTILINE | re.DOTALL)
    return {name: text for text, name in blocks}
