#!/usr/bin/env python3
"""Runs the commands of docs/zoo.md and docs/fine-tuning.md on small pictures, and tests what the pages promise.

    zoo_page_test.py TPACK
"""
import json
import random
import re
import unittest

import png
from program import ROOT, ProgramTest

ZOO = (ROOT / "docs/zoo.md").read_text()
TUNING = (ROOT / "docs/fine-tuning.md").read_text()
SMALL = "--set vars.classes=2 --set vars.side=32 --set vars.epochs=1 --set engine.algorithm=heuristic"
WEIGHTS = """tpack: 1
include: zoo:mobilenet-v2
vars: {classes: 3, side: 32}
engine: {algorithm: heuristic}
data: {train: [{FakeData: {shapes: [[32, 32, 3], []], dtype: [uint8, int32], names: [image, label], domain: [0, 3], size: 8}}, BatchData: 8]}
optimizer: SGD
max_epoch: 1
callbacks: [ModelSaver]
"""


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class ZooPage(ProgramTest):
    def write_photos(self, folder):
        rng = random.Random(1)
        for name, base in (("dark", 0), ("light", 150)):
            for i in range(20):
                pixels = [[base + rng.randrange(100) for _ in range(40 * 3)] for _ in range(40)]
                self.write(f"{folder}/{name}/{i}.png", png.png(pixels, png.COLORS))

    def test_the_table_has_all_networks(self):
        found = re.findall(r"^\| ([\w-]+) \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| (.+) \|$", ZOO, re.MULTILINE)
        networks = json.loads(self.output_of("tpack list zoo --json"))
        self.assertGreater(len(networks), 20)
        self.assertEqual(found, [(n["name"], f"{n['parameters']:,}", f"{n['gmacs']:.2f}", f"{n['top1']:.1f}", n["source"]) for n in networks])

    def test_an_unknown_network_is_an_error_with_the_nearest(self):
        self.write("a.yaml", "tpack: 1\ninclude: zoo:resnet8\n")
        error = self.output_of("tpack check a.yaml", 2)
        self.assertIn("a.yaml:2:10: no network 'resnet8' in the zoo; did you mean 'resnet18'?; `tpack list zoo` lists them", error)

    def test_the_config_of_the_page_is_valid(self):
        self.write_photos("flowers/train")
        self.write("flowers.yaml", "tpack: 1\n" + blocks(ZOO, "yaml")[0])
        self.assertIn("flowers.yaml is valid", self.output_of("tpack check flowers.yaml --set vars.classes=2 --set init=!delete"))

    def test_errors_in_a_network_name_its_page(self):
        self.write("a.yaml", "tpack: 1\ninclude: zoo:resnet18\nvars: {n1: two}\n")
        self.assertRegex(self.output_of("tpack check a.yaml", 2), r"zoo:resnet-basic\.yaml:\d+:\d+: ")

    def test_only_the_head_is_trained(self):
        for part in "train", "val":
            self.write_photos(f"photos/{part}")
        self.write("weights.yaml", WEIGHTS)
        self.output_of("tpack train weights.yaml --log-dir weights")
        text = next(b for b in blocks(TUNING, "yaml") if b.startswith("# head.yaml"))
        self.write("head.yaml", text.replace("configs/", f"{ROOT}/configs/") + "callbacks: [ModelSaver]\n")
        self.environment.update(TPACK_PHOTOS=str(self.folder / "photos"), TPACK_WEIGHTS=str(self.folder / "weights/checkpoints/model-1.h5"))
        self.assertRegex(self.output_of(f"tpack check head.yaml {SMALL}"), r"none: frozen +2,223,872")
        self.output_of(f"tpack train head.yaml {SMALL} --log-dir head")
        code, output = self.run_commands("tpack ckpt diff weights/checkpoints/model-1.h5 $(ls head/checkpoints/model-*.h5)")
        self.assertEqual(code, 1)
        different = set(re.findall(r"^model/(\S+)", output, re.MULTILINE))
        self.assertEqual(different, {"logits/W", "logits/b"}, output[:2000])

    def test_missing_weights_are_an_error_unless_the_data_may_be_missing_too(self):
        self.environment.update(TPACK_PHOTOS="photos", TPACK_WEIGHTS="none.pth")
        command = f"tpack check {ROOT}/configs/finetune.yaml {SMALL}"
        self.assertIn("finetune.yaml:29:14: 'from' of init: no such file", self.output_of(command, 2))
        self.assertIn("is valid", self.output_of(command + " --no-data"))

    def test_the_config_of_the_repository_trains_all(self):
        for part in "train", "val":
            self.write_photos(f"photos/{part}")
        self.write("weights.yaml", WEIGHTS)
        self.output_of("tpack train weights.yaml --log-dir weights")
        self.environment.update(TPACK_PHOTOS=str(self.folder / "photos"), TPACK_WEIGHTS=str(self.folder / "weights/checkpoints/model-1.h5"))
        output = self.output_of(f"tpack train {ROOT}/configs/finetune.yaml {SMALL} --log-dir all")
        self.assertIn("260 variables loaded", output)


if __name__ == "__main__":
    unittest.main()
