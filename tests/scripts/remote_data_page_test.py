#!/usr/bin/env python3
"""Tests that the program of docs/remote-data.md writes samples, and that its flow is served.

    remote_data_page_test.py TPACK
"""
import json
import re
import subprocess
import unittest

from program import ROOT, TPACK, ProgramTest

PAGE = (ROOT / "docs/remote-data.md").read_text()
PROGRAM = next(text for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "def write" in text)
FLOW = next(text for text in re.findall(r"^```yaml\n(data:.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "PipeData" in text)


class RemoteDataPage(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "photos").mkdir()
        for k in range(64):
            (self.folder / f"photos/{k % 10}-{k}.pgm").write_bytes(b"P5 4 4 255\n" + bytes([k] * 16))
        self.write("samples.py", PROGRAM)
        self.write("pipe.yaml", "tpack: 1\n" + FLOW)

    def rows(self, config):
        return json.loads(self.output_of(f"tpack data inspect {config} --json 2>log || (cat log; exit 1)"))[0]["samples"]

    def test_the_program_writes_samples_in_30_lines(self):
        self.assertLessEqual(len(PROGRAM.splitlines()), 30)
        specs = {row["component"]: row["spec"] for row in self.rows("pipe.yaml")}
        self.assertEqual(specs, {"image": "uint8 [32, 4, 4, 3]", "label": "int32 [32]"})

    def test_a_client_reads_the_same_from_a_server(self):
        address = f"ipc://{self.folder}/socket"
        self.write("client.yaml", f"tpack: 1\ndata: {{train: [RemoteData: [\"{address}\"], BatchData: 32]}}\n")
        server = subprocess.Popen([TPACK, "data", "serve", "pipe.yaml", "--bind", address], cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertIn(address, server.stdout.readline())
            self.assertEqual(self.rows("client.yaml"), self.rows("pipe.yaml"))
        finally:
            server.terminate()
            self.assertEqual(server.wait(), 128 + 15)
            server.stdout.close()


if __name__ == "__main__":
    unittest.main()
