#!/usr/bin/env python3
"""Tests that the flows of docs/data.md can be read, and what their comments say.

    data_page_test.py TPACK
"""
import json
import re
import unittest

from program import ROOT, ProgramTest

FLOWS = re.findall(r"^```yaml\n(data:.*?)^```$", (ROOT / "docs/data.md").read_text(), re.MULTILINE | re.DOTALL)


class DataPage(ProgramTest):
    def inspected(self, flow):
        self.write("flow.yaml", "tpack: 1\n" + flow)
        return json.loads(self.output_of("tpack data inspect flow.yaml --json --samples 2 2>log || (cat log; exit 1)"))

    def test_its_flows_can_be_read(self):
        self.assertGreaterEqual(len(FLOWS), 4)
        for flow in FLOWS:
            for found in self.inspected(flow):
                self.assertTrue(found["samples"], flow)

    def test_batches_are_padded_to_the_size_that_it_shows(self):
        flow = next(flow for flow in FLOWS if "PadBatch" in flow)
        shown = re.search(r"# (x .*)", flow)[1]
        specs = {(row["component"], row["spec"]) for row in self.inspected(flow)[0]["samples"]}
        for name, spec in re.findall(r"(\w+) (\w+ \[[^]]*\])", shown):
            self.assertIn((name, spec), specs)

    def test_the_cache_is_a_file(self):
        self.inspected(next(flow for flow in FLOWS if "CacheData" in flow))
        files = list((self.folder / "cache").glob("*.cache"))
        self.assertEqual(len(files), 1)
        before = files[0].stat().st_mtime_ns
        self.inspected(next(flow for flow in FLOWS if "CacheData" in flow))
        self.assertEqual(files[0].stat().st_mtime_ns, before, "it is not written again")


if __name__ == "__main__":
    unittest.main()
