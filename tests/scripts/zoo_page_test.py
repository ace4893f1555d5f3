#!/usr/bin/env python3
"""Runs the commands of docs/zoo.md and docs/fine-tuning.md on small pictures, and tests what the pages promise.

    zoo_page_test.py TPACK
"""
import json
import random
import re
import sys
import unittest

import png
from program import ROOT, TPACK, ProgramTest

sys.path.insert(0, str(ROOT / "bench"))
import zoo  # noqa: E402

ZOO = (ROOT / "docs/zoo.md").read_text()
README = (ROOT / "README.md").read_text()
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

    def cost_of(self, checkpoint):
        output = self.output_of(f"tpack eval {checkpoint} --set data.validation.RenderedDigits.size=250 --json 2>log")
        return json.loads(output)["cost"]

    def test_the_table_has_all_networks(self):
        found = re.findall(r"^\| ([\w-]+) \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| (.+) \|$", ZOO, re.MULTILINE)
        networks = json.loads(self.output_of("tpack list zoo --json"))
        self.assertGreater(len(networks), 20)
        self.assertEqual(found, [(n["name"], f"{n['parameters']:,}", f"{n['gmacs']:.2f}", f"{n['top1']:.1f}", n["source"]) for n in networks])

    def test_the_table_of_the_readme(self):
        rows = re.findall(r"^\| ([\w-]+) \| ([\d,]+) \| ([\d.]+) \| \d+ \| [\d.]+ \| ([\d,]+) \| ([\d.]+) \|$", README, re.MULTILINE)
        self.assertGreater(len(rows), 9)
        networks = {n["name"]: n for n in json.loads(self.output_of("tpack list zoo --json"))}
        for name, parameters, gmacs, memory, top1 in rows:
            with self.subTest(name):
                n = networks[name]
                self.assertEqual((parameters, gmacs, top1), (f"{n['parameters']:,}", f"{n['gmacs']:.2f}", f"{n['top1']:.1f}"))
                zoo.write_config(self.folder / "net.yaml", name, 16)
                predicted = zoo.predicted_mb(TPACK, self.folder / "net.yaml")
                # Kernels of other processors need other scratch memory.
                self.assertAlmostEqual(float(memory.replace(",", "")) / predicted, 1, delta=0.25)

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
        self.write("head.yaml", text.replace("configs/", f"{ROOT}/configs/"))
        self.environment.update(TPACK_PHOTOS=str(self.folder / "photos"), TPACK_WEIGHTS=str(self.folder / "weights/checkpoints/model-1.h5"))
        self.assertRegex(self.output_of(f"tpack check head.yaml {SMALL}"), r"none: frozen +2,223,872")
        self.output_of(f"tpack train head.yaml {SMALL} --log-dir head")
        code, output = self.run_commands("tpack ckpt diff weights/checkpoints/model-1.h5 $(ls head/checkpoints/model-*.h5)")
        self.assertEqual(code, 1)
        different = set(re.findall(r"^model/(\S+)", output, re.MULTILINE))
        self.assertEqual(different, {"logits/W", "logits/b"}, output[:2000])

    def test_adapters_are_trained_stripped_loaded_and_merged(self):
        small = "--set max_epoch=1 --set steps_per_epoch=4 --set data.validation.RenderedDigits.size=250 --set engine.algorithm=heuristic"
        self.output_of(f"tpack train {ROOT}/configs/digits.yaml {small} --log-dir base && cp base/checkpoints/model-4.h5 base.h5")
        text = next(b for b in blocks(TUNING, "yaml") if b.startswith("# adapters.yaml"))
        self.write("adapters.yaml", text.replace("configs/", f"{ROOT}/configs/"))
        trained, parameters = re.search(r"Here ([\d,]+) of ([\d,]+) parameters are trained", TUNING).groups()
        checked = self.output_of(f"tpack check adapters.yaml {small}")
        self.assertRegex(checked, rf"optimizer +cost +all +4 +{trained}\n")
        commands = next(b for b in blocks(TUNING, "sh") if b.startswith("tpack train adapters.yaml"))
        self.output_of(commands.replace("tpack train adapters.yaml", f"tpack train adapters.yaml {small}"))
        _, output = self.run_commands("tpack ckpt diff base.h5 tuned/checkpoints/model-4.h5")
        weights = sorted(set(re.findall(r"^model/(\S+)", output, re.MULTILINE)))
        adapters = [f"fc{i}/adapter/{part}" for i in (0, 1) for part in ("A", "B", "scale")]
        self.assertEqual(weights, adapters, output[:2000])
        tensors = {t["name"]: t["bytes"] for t in json.loads(self.output_of("tpack ckpt inspect adapters.h5 --json"))["tensors"]}
        self.assertEqual(sorted(tensors), [f"model/{name}" for name in adapters])
        self.assertEqual(sum(tensors.values()), 4 * (int(trained.replace(",", "")) + 2))  # and the scales
        base = sum(t["bytes"] for t in json.loads(self.output_of("tpack ckpt inspect base.h5 --json"))["tensors"]
                   if t["name"].startswith("model/") and not t["name"].endswith("/EMA"))
        self.assertEqual(base, 4 * int(parameters.replace(",", "")))

        # Both files together are the whole model; the merged one computes the same without adapters.
        self.write("again.yaml", text.replace("configs/", f"{ROOT}/configs/").replace("{from: base.h5}", "[{from: base.h5}, {from: adapters.h5}]"))
        self.output_of(f"tpack train again.yaml {small} --set 'optimizer={{SGD: {{learning_rate: 0}}}}' --log-dir again")
        _, output = self.run_commands("tpack ckpt diff again/checkpoints/model-4.h5 tuned/checkpoints/model-4.h5")
        self.assertEqual(re.findall(r"^model/(\S+)", output, re.MULTILINE), [])
        base, tuned, merged = (self.cost_of(file) for file in ("base.h5", "tuned/checkpoints/model-4.h5", "merged.h5"))
        self.assertAlmostEqual(merged / tuned, 1, delta=1e-5)
        self.assertGreater(abs(base / tuned - 1), 1e-3)

    def test_variables_to_keep_must_exist(self):
        self.output_of(f"tpack train {ROOT}/configs/digits-linear.yaml --set max_epoch=1 --set steps_per_epoch=1 --log-dir run")
        error = self.output_of("tpack ckpt strip --only fc1/W --only adapters run/checkpoints/model-1.h5 new.h5", 2)
        self.assertIn("--only: no variable matches 'adapters' or is below it", error)
        error = self.output_of("tpack ckpt merge-adapters run/checkpoints/model-1.h5 new.h5", 4)
        self.assertIn("model-1.h5: has no adapters", error)

    def test_missing_weights_are_an_error_unless_the_data_may_be_missing_too(self):
        self.environment.update(TPACK_PHOTOS="photos", TPACK_WEIGHTS="none.pth")
        command = f"tpack check {ROOT}/configs/finetune.yaml {SMALL}"
        self.assertIn("finetune.yaml:30:14: 'from' of init: no such file", self.output_of(command, 2))
        self.assertIn("is valid", self.output_of(command + " --no-data"))

    def test_the_config_of_the_repository_trains_all(self):
        for part in "train", "val":
            self.write_photos(f"photos/{part}")
        self.write("weights.yaml", WEIGHTS)
        self.output_of("tpack train weights.yaml --log-dir weights")
        self.environment.update(TPACK_PHOTOS=str(self.folder / "photos"), TPACK_WEIGHTS=str(self.folder / "weights/checkpoints/model-1.h5"))
        output = self.output_of(f"tpack train {ROOT}/configs/finetune.yaml {SMALL} --log-dir all")
        self.assertIn("260 variables loaded", output)

        # Features by the commands of the page.
        commands = next(b for b in blocks(TUNING, "sh") if "predict.outputs=[features]" in b)
        small = commands.replace("configs/", f"{ROOT}/configs/").replace("vars.classes=1000", "vars.classes=3 --set vars.side=32")
        output = self.output_of(small.replace("photos/ ", "photos/val/light/0.png photos/val/dark/1.png ").replace("--output features.h5", "--format jsonl"))
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        self.assertEqual([len(line["outputs"]["features"]) for line in lines], [1280, 1280])


if __name__ == "__main__":
    unittest.main()
