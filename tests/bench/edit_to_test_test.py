#!/usr/bin/env python3
"""Tests bench/edit_to_test.py with a fake cmake and fake test programs: it must edit headers, and restore them."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = {"lib/core/text.h": "// texts\n", "lib/tensor/dtype.h": "// types\n", "lib/graph/op.h": "// ops\n"}
# Records which headers are edited, then ends, fails or waits, depending on the file `how`.
CMAKE = """#!/bin/sh
grep -l kEdit lib/*/*.h | sed "s|^|$6 |" >>builds
if [ -s builds ]; then
  case $(cat how) in
    fail) exit 3 ;;
    wait) mkfifo fifo; echo >waits; read -r line <fifo ;;
  esac
fi
"""


class EditToTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in {**HEADERS, "bin/cmake": CMAKE, "b/tests/core/test_core": "#!/bin/sh\n",
                           "b/tests/tensor/test_tensor": "#!/bin/sh\n", "b/tests/graph/test_graph": "#!/bin/sh\n"}.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755)
        (self.root / "bench").mkdir()
        shutil.copy(ROOT / "bench/edit_to_test.py", self.root / "bench")

    def start(self, how):
        (self.root / "how").write_text(how)
        environment = dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}")
        return subprocess.Popen([sys.executable, self.root / "bench/edit_to_test.py", "--build=b", "--rounds=2"], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_headers(self):
        for name, text in HEADERS.items():
            self.assertEqual((self.root / name).read_text(), text)

    def test_builds_and_runs_after_each_edit(self):
        process = self.start("end")
        output, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, ""))
        self.assertEqual((self.root / "builds").read_text().splitlines(),
                         ["test_core lib/core/text.h"] * 2 + ["test_tensor lib/tensor/dtype.h"] * 2 + ["test_graph lib/graph/op.h"] * 2)
        self.assertRegex(output, r"^lib/core/text\.h: \d+\.\d s until test_core has run .*\n"
                                 r"lib/tensor/dtype\.h: \d+\.\d s until test_tensor has run .*\nlib/graph/op\.h: \d+\.\d s until test_graph")
        self.check_headers()

    def test_restores_the_header_where_the_build_fails(self):
        process = self.start("fail")
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("exit code 3", error)
        self.check_headers()

    def test_restores_the_header_when_it_is_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for name in ("fifo", "waits", "builds"):
                (self.root / name).unlink(missing_ok=True)
            os.mkfifo(self.root / "waits")
            process = self.start("wait")
            (self.root / "waits").read_text()  # the build has begun
            self.assertIn("kEdit", (self.root / "lib/core/text.h").read_text())
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0)
            self.check_headers()


if __name__ == "__main__":
    unittest.main()
