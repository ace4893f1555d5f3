#!/usr/bin/env python3
"""Runs the commands of docs/segmentation.md on small pictures, and tests what the page promises.

    segmentation_page_test.py TPACK
"""
import json
import random
import re
import unittest

import png
from program import ROOT, ProgramTest, words_of

PAGE = words_of("segmentation.md")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "docs/segmentation.md").read_text(), re.MULTILINE | re.DOTALL)
UNET = (ROOT / "configs/unet.yaml").read_text()
SIDE = 24
SMALL = "--set vars.width=2 --set max_epoch=1"
NEWEST = "$(ls train_log/*/checkpoints/max-validation_iou.h5)"


def block(language, beginning):
    """The block of the page that begins with a text."""
    return next(text for kind, text in BLOCKS if kind == language and text.startswith(beginning))


def section(config, name):
    """A top-level section of a config, with its name."""
    return re.search(rf"^{name}:.*?(?=^\S|\Z)", config, re.MULTILINE | re.DOTALL)[0]


class SegmentationPage(ProgramTest):
    def write_pair(self, number, image="cells/image", mask="cells/mask", white=1):
        """A noisy picture with a bright rectangle, and its mask."""
        rng = random.Random(number)
        left, top = rng.randrange(10), rng.randrange(10)
        cell = [[int(left <= x < left + 10 and top <= y < top + 10) for x in range(SIDE)] for y in range(SIDE)]
        rows = [[(150 if inside else 50) + rng.randrange(50) for inside in row for _ in range(3)] for row in cell]
        self.write(f"{image}/{number:03}.png", png.png(rows, png.COLORS))
        self.write(f"{mask}/{number:03}.png", png.png([[white * inside for inside in row] for row in cell]))

    def small(self, text):
        """Text of the page, for pictures of 24 pixels."""
        return re.sub(r"\b288\b", "24", re.sub(r"\b256\b", "16", text))

    def config(self, with_gates=False):
        """configs/unet.yaml with the flows and the model of the page, as it says."""
        flows, model = block("yaml", "split: 0.2"), block("yaml", "model:\n  inputs")
        config = UNET.replace(section(UNET, "data"), self.small(flows) + "\n").replace("classes: 4", "classes: 2")
        if not with_gates:
            config = config.replace(section(config, "gates"), "")
        self.write("base.yaml", config)
        return "include: base.yaml\nname: cells\n" + self.small(model)

    def train(self, more="", options=SMALL):
        for number in range(10):
            self.write_pair(number)
        self.write("cells.yaml", self.config() + more)
        return self.output_of(f"tpack train cells.yaml {options}")

    def masks_of(self, settings, count=1):
        """The pixels of the masks of ImagePairs."""
        found = self.samples_of(f"    - ImagePairs: {{{settings}, shuffle: false}}\n    - AugmentImageComponent: [{{CenterCrop: [1, 4]}}]\n"
                                "    - Compute: {a: \"mask[0]\"}\n")
        return found if isinstance(found, str) else [sample["a"] for sample in found[:count]]

    def test_the_shapes_are_learned_without_files(self):
        self.write("configs/unet.yaml", UNET)
        command = block("sh", "tpack train configs/unet.yaml").strip()
        code, output = self.run_commands(f"{command} {SMALL} --set steps_per_epoch=4")
        self.assertEqual(code, 8, "the gate of the shapes\n" + output)
        evaluated = self.output_of(f"tpack eval {NEWEST}")
        for words in ("precision", "recall", "F1", "actual \\ predicted", "pixels"):
            self.assertIn(words, output)
            self.assertIn(words, evaluated)

    def test_pictures_of_ones_own_become_masks(self):
        output = self.train()
        self.assertIn("data.train: 8 images", output)
        self.assertIn("data.validation: 2 images", output)
        self.assertIn("iou_of_cells", output)
        self.output_of("tpack data inspect cells.yaml --augment 8 --png sheet.png")
        self.assertTrue((self.folder / "sheet.png").is_file())
        worst = block("sh", "tpack eval").replace("train_log/unet/checkpoints/max-validation_iou.h5", NEWEST).replace("16", "2")
        self.output_of(worst)
        _, rows = png.read_png((self.folder / "worst.png").read_bytes())
        self.assertGreater(len(rows), SIDE)
        self.write("new/a.png", png.png([[90] * 3 * 32] * 20, png.COLORS))
        infer = block("sh", "tpack infer").replace("train_log/unet/checkpoints/max-validation_iou.h5", NEWEST)
        answers = self.output_of(infer)
        self.assertIn("out/000-a-mask.png", answers)
        kind, mask = png.read_png((self.folder / "out/000-a-mask.png").read_bytes())
        self.assertEqual((kind, len(mask), len(mask[0])), (png.PALETTE, 20, 32))
        self.assertLessEqual(set(sum(mask, [])), {0, 1})
        kind, overlay = png.read_png((self.folder / "out/000-a-mask-overlay.png").read_bytes())
        self.assertEqual((kind, len(overlay), len(overlay[0])), (png.COLORS, 20, 96))
        self.output_of(f"tpack infer {NEWEST} new --images contours --contours")
        found = json.loads((self.folder / "contours/000-a-mask.json").read_text())
        self.assertEqual((found["height"], found["width"]), (20, 32))
        for area in found["areas"]:
            self.assertLessEqual({"outline", "holes", "pixels"}, set(area))
        # The network halves the size three times.
        self.write("whole/a.png", png.png([[90] * 3 * 32] * 16, png.COLORS))
        self.output_of(f"tpack infer {NEWEST} whole --images full --full-size")
        code, output = self.run_commands(f"tpack infer {NEWEST} new --images full --full-size")
        self.assertNotEqual(code, 0, output)

    def test_the_other_network_and_mixed_pictures_are_trained(self):
        self.write("deeplab-small.yaml", (ROOT / "configs/deeplab-small.yaml").read_text())
        self.assertEqual(self.run_commands("tpack train deeplab-small.yaml --set max_epoch=1 --set steps_per_epoch=2")[0], 8, "its gate")
        self.assertIn("`CutMix` after `BatchData`", PAGE)
        flow = "[ImagePairs: {images: cells/image, masks: cells/mask, classes: [background, cell]}, AugmentImageComponent: [{RandomCrop: 16}], " \
               "BatchData: {batch_size: 8}, CutMix: {}]"
        self.train(f"data: {{train: {flow}}}\n")

    def test_masks_have_class_0_where_something_new_comes_in(self):
        self.write("image/1.png", png.png([[90] * 3 * SIDE] * SIDE, png.COLORS))
        self.write("mask/1.png", png.png([[1] * SIDE] * SIDE))
        for border, least in (("0", 0), ("edge", 90), ("reflect", 90)):
            self.write("turned.yaml", "tpack: 1\ndata:\n  train:\n    - ImagePairs: {images: image, masks: mask}\n"
                       f"    - AugmentImageComponent: [{{Rotation: {{max_deg: 90, border: {border}}}}}]\n")
            rows = json.loads(self.output_of("tpack data inspect turned.yaml --json --augment 4"))[0]["samples"]
            self.assertEqual([min(row["min"] for row in rows if row["component"] == name) for name in ("image", "mask")], [least, 0], border)

    def test_what_a_crop_cuts_off_has_class_0_and_a_warning(self):
        flows = "data:\n  validation:\n    - AugmentImageComponent: [{CenterCrop: 16}]\n    - BatchData: {batch_size: 8, remainder: true}\n"
        self.train(flows)
        output = self.output_of(f"tpack infer {NEWEST} cells/image --images out")
        self.assertRegex(output, "(?i)class 0")
        _, mask = png.read_png((self.folder / "out/000-000-mask.png").read_bytes())
        self.assertEqual(set(mask[0] + mask[23] + [row[0] for row in mask]), {0})

    def test_the_gates_of_the_shapes_are_to_be_deleted(self):
        self.assertIn("remove `gates`", PAGE)
        for number in range(10):
            self.write_pair(number)
        self.write("cells.yaml", self.config(with_gates=True))
        self.assertEqual(self.run_commands(f"tpack train cells.yaml {SMALL}")[0], 8)

    def test_one_channel_is_a_class_that_is_there_or_not(self):
        model = ("  cost:\n    - SigmoidCrossEntropy: {logits: logits, labels: mask}\n    - DiceLoss: {logits: logits, labels: mask}\n"
                 "  metrics:\n    - IoU: {logits: logits, labels: mask, average: binary}\n    - MultiLabelAccuracy: {logits: logits, labels: mask}\n")
        for number in range(10):
            self.write_pair(number)
        config = self.config()
        config = config[:config.index("  cost:")] + model + "predict: {data: validation, outputs: {mask: {Sigmoid: logits}}}\n"
        self.write("one.yaml", config)
        self.output_of(f"tpack train one.yaml {SMALL} --set vars.classes=1")
        self.output_of(f"tpack infer {NEWEST} cells/image --images gray")
        kind, gray = png.read_png((self.folder / "gray/000-000-mask.png").read_bytes())
        self.assertEqual((kind, len(gray)), (png.GRAY, 16), "the size of the output")
        self.output_of(f"tpack infer {NEWEST} cells/image --images out --overlays --contours")
        kind, mask = png.read_png((self.folder / "out/000-000-mask.png").read_bytes())
        self.assertEqual((kind, len(mask)), (png.PALETTE, SIDE))
        self.assertEqual(any(sum(mask, [])), any(p >= 128 for p in sum(gray, [])), "from 0.5 on")
        pixels = json.loads((self.folder / "out/000-000-mask.json").read_text())["areas"]
        self.assertEqual(sum(area["pixels"] for area in pixels), sum(sum(mask, [])))
        self.output_of(f"tpack infer {NEWEST} cells/image --images all --contours --threshold 0")
        pixels = json.loads((self.folder / "all/000-000-mask.json").read_text())["areas"]
        self.assertEqual(sum(area["pixels"] for area in pixels), SIDE * SIDE)

    def test_rare_classes_have_weights(self):
        self.train()
        for weights in ("balanced", "[1, 5]"):
            with self.subTest(weights):
                self.assertIn(f"`class_weights: {weights}`" if weights == "balanced" else f"`{weights}`", PAGE)
                output = self.output_of(f"tpack train cells.yaml {SMALL} --log-dir log --resume never --set 'model.cost=[SoftmaxCrossEntropy: "
                                        f"{{logits: logits, labels: mask, class_weights: {weights}}}]'")
                if weights == "balanced":  # 100 of 576 pixels are a cell: 576 / (2 * 476), 576 / (2 * 100)
                    self.assertIn("class_weights: background 0.605, cell 2.88", output)

    def test_masks_are_what_the_page_says(self):
        self.write("image/1.png", png.png([[9] * 12] * 1, png.COLORS))
        masks = {"palette indices": (png.png([[0, 1, 1, 0]], png.PALETTE, palette=(9, 9, 9, 1, 1, 1)), "", [0, 1, 1, 0]),
                 "gray values": (png.png([[0, 1, 1, 0]]), "", [0, 1, 1, 0]),
                 "with two classes, 255 is the second one": (png.png([[0, 255, 255, 0]]), "", [0, 1, 1, 0]),
                 "PNGs of 16 bits": (png.png([[0, 1, 1, 0]], bits=16), "", [0, 1, 1, 0]),
                 "`colors: [[0, 0, 0], [255, 0, 0]]`": (png.png([[255, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0]], png.COLORS), ", colors: [[0, 0, 0], [255, 0, 0]]",
                                                        [1, 0, 0, 1]),
                 "`ignore: 255`": (png.png([[0, 1, 255, 0]]), ", ignore: 255", [0, 1, 255, 0]),
                 "whatever the value in the files": (png.png([[0, 1, 7, 0]]), ", ignore: 7", [0, 1, 255, 0]),
                 "`threshold: 128`": (png.png([[0, 127, 128, 255]]), ", threshold: 128", [0, 0, 1, 1])}
        for said, (file, settings, expected) in masks.items():
            with self.subTest(said):
                self.assertIn(said, PAGE)
                self.write("mask/1.png", file)
                self.assertEqual(self.masks_of("images: image, masks: mask, classes: [background, cell]" + settings), [expected])
        self.write("mask/1.png", png.png([[0, 1, 7, 0]]))
        code, output = self.run_commands("tpack data check samples.yaml --set data.train.0.ImagePairs.threshold=null")
        self.assertEqual(code, 3)
        for word in ("mask/1.png", "7", "(2, 0)"):
            self.assertIn(word, output, "names file, value and pixel")
        self.write("one/1_mask.png", png.png([[0, 1, 1, 0]]))
        self.write("one/1.png", png.png([[9] * 12] * 1, png.COLORS))
        self.assertEqual(self.masks_of("images: one, masks: one, suffix: _mask"), [[0, 1, 1, 0]])
        self.write("cells.csv", "photo,mask\none/1.png,one/1_mask.png\n")
        self.assertEqual(self.masks_of("list: cells.csv, images: photo, masks: mask"), [[0, 1, 1, 0]])
        self.write("cell/1.png", png.png([[255, 255, 0, 0]]))
        self.write("border/1.png", png.png([[0, 255, 255, 0]]))
        self.write("image/2.png", png.png([[9] * 12] * 1, png.COLORS))
        self.write("cell/2.png", png.png([[255, 0, 0, 0]]))
        self.assertEqual(self.masks_of("images: image, masks: {cell: cell, border: border}", 2), [[1, 2, 2, 0], [1, 0, 0, 0]])

    def test_targets_move_with_their_images(self):
        self.write("noisy/1.png", png.png([[(7 * x + 31 * y) % 250 for x in range(3 * 70)] for y in range(70)], png.COLORS))
        self.write("clean/1.png", (self.folder / "noisy/1.png").read_bytes())
        flow = block("yaml", "    - ImagePairs: {images: noisy")
        self.write("targets.yaml", f"tpack: 1\ndata:\n  train:\n{flow}")
        for _ in range(2):
            samples = json.loads(self.output_of("tpack data inspect targets.yaml --json --augment 3 --samples 1"))[0]["samples"]
            by_name = {}
            for row in samples:
                by_name.setdefault(row["component"], []).append((row["min"], row["max"], row["mean"]))
            self.assertEqual(by_name["image"], by_name["target"])
        self.write("clean/1.png", png.png([[9] * 3 * 70] * 60, png.COLORS))
        self.assertIsInstance(self.samples_of(flow), str, "both have one size")


if __name__ == "__main__":
    unittest.main()
