#!/usr/bin/env python3
"""Tests that the peers of bench/peers do the work that tpack does: the same layers, the same weights under L2, the same data.

    pytorch_test.py path/to/tpack

Runs with TPACK_PYTHON where that is set. Exits with 77 where that Python lacks numpy or torch.
"""
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

python = os.environ.get("TPACK_PYTHON")
if python and sys.argv[1] != "--restarted":
    os.execvp(python, [python, __file__, "--restarted", *sys.argv[1:]])

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))
try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"Python lacks what this test needs: {error}")
    sys.exit(77)

import data  # noqa: E402
from models import TRAININGS  # noqa: E402
from networks import NETWORKS  # noqa: E402

TPACK = os.path.abspath(sys.argv[-1])


def layers_of_tpack(name):
    """(shape of a sample's output, number of parameters) of the layers that have parameters, in order."""
    network = NETWORKS[name]
    words = [TPACK, "check", network.config, "--no-data", "--json"]
    for setting in network.settings:
        words += ["--set", setting]
    report = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return report, [(layer["shape"][1:], layer["parameters"]) for layer in report["layers"] if layer["parameters"] > 0]


def layers_of_pytorch(model, image):
    """The same of a model, found by running it on an image."""
    found = []

    def note(layer, _, output):
        found.append((list(output.shape[1:]), sum(p.numel() for p in layer.parameters())))

    for layer in model.modules():
        if list(layer.parameters(recurse=False)):
            layer.register_forward_hook(note)
    with torch.no_grad():
        model.eval()(image)
    return found


class Models(unittest.TestCase):
    def test_have_the_layers_of_tpack(self):
        for name in NETWORKS:
            with self.subTest(name):
                report, layers = layers_of_tpack(name)
                model = TRAININGS[name].model()
                image = torch.zeros(1, *report["layers"][0]["shape"][1:])
                self.assertEqual(layers_of_pytorch(model, image), layers)
                self.assertEqual(sum(p.numel() for p in model.parameters()), report["parameters"])
                self.assertEqual(NETWORKS[name].batch, report["batch"])

    def test_decay_the_weights_that_the_configs_regularize(self):
        decayed = {"mnist-convnet": ["fc0.weight", "fc1.weight"], "mnist-convnet-5x5-48": ["fc0.weight", "fc1.weight"], "resnet50": []}
        for name, training in TRAININGS.items():
            model = training.model()
            names = {id(p): parameter for parameter, p in model.named_parameters()}
            kernels = [names[id(layer.weight)] for layer in model.modules() if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear))]
            groups = training.make_optimizer(model).param_groups
            found = [names[id(p)] for group in groups if group["weight_decay"] > 0 for p in group["params"]]
            self.assertEqual(found, decayed.get(name, kernels), name)
            self.assertEqual(sum(len(group["params"]) for group in groups), len(names), name)

    def test_learn(self):
        """Thirty steps on one batch of four at least halve the cost, so gradients arrive."""
        for name in ("mnist-convnet", "cifar-resnet-32"):
            torch.manual_seed(1)
            training = TRAININGS[name]
            model = training.model()
            optimizer = training.make_optimizer(model)
            size = (4, 1, 28, 28) if name == "mnist-convnet" else (4, 3, 32, 32)
            images, labels = torch.rand(size), torch.tensor([1, 2, 3, 4])
            costs = []
            for _ in range(30):
                cost = torch.nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                cost.backward()
                optimizer.step()
                costs.append(cost.item())
            self.assertLess(costs[-1], costs[0] / 2, name)


def write_mnist(folder, count):
    """Digits that are the number of the sample all over, modulo 256; the labels are its last digit."""
    (folder / "mnist").mkdir()
    images = np.repeat(np.arange(count) % 256, 28 * 28).astype(np.uint8).tobytes()
    labels = (np.arange(count) % 10).astype(np.uint8).tobytes()
    for name, header, content in (("images-idx3", (2051, count, 28, 28), images), ("labels-idx1", (2049, count), labels)):
        with gzip.open(folder / "mnist" / f"train-{name}-ubyte.gz", "wb") as file:
            file.write(struct.pack(f">{len(header)}I", *header) + content)


class Data(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_mnist(self.folder, 200)
        os.environ["TPACK_DATASET"] = str(self.folder)

    def test_is_a_permutation_that_the_seed_makes(self):
        first, again, other = (data.batches("mnist-convnet", 50, 4, seed) for seed in (1, 1, 2))
        numbers = [int(image[0, 0, 0]) for images, _ in first for image in images]
        self.assertEqual(sorted(numbers), list(range(200)))
        self.assertEqual([label for _, labels in first for label in labels], [number % 10 for number in numbers])
        self.assertTrue(all(np.array_equal(a, b) for (a, _), (b, _) in zip(first, again)))
        self.assertFalse(all(np.array_equal(a, b) for (a, _), (b, _) in zip(first, other)))

    def test_has_whole_batches_only(self):
        self.assertEqual([len(labels) for _, labels in data.batches("mnist-convnet", 128, 10, 1)], [128])

    def test_of_cifar_is_cropped_and_flipped(self):
        try:
            from PIL import Image
        except ImportError as error:
            self.skipTest(str(error))
        os.environ["TPACK_CIFAR"] = str(self.folder / "cifar")
        for label, name in enumerate(("cat", "dog")):
            (self.folder / "cifar/train" / name).mkdir(parents=True)
            for i in range(8):
                left_half = np.zeros((32, 32, 3), np.uint8)
                left_half[:, :16] = 200 + label
                Image.fromarray(left_half).save(self.folder / f"cifar/train/{name}/{i}.jpg", quality=100)
        [(images, labels)] = data.batches("cifar-resnet-32", 16, 1, 1)
        self.assertEqual(sorted(labels), [0] * 8 + [1] * 8)
        bright = images[:, 16].mean(2) > 100  # a row of each image: 16 bright pixels, moved by at most 2
        ends = [int(np.flatnonzero(row)[-1]) for row in bright]
        self.assertEqual({end in range(13, 18) for end in ends if end < 25}, {True})
        self.assertEqual({end < 25 for end in ends}, {True, False})  # flipped ones end at the right border, or 2 before
        self.assertGreater(len(set(ends)), 3)

    def test_makes_one_line_of_json(self):
        done = subprocess.run([sys.executable, ROOT / "bench/peers/pytorch.py", "mnist-convnet", "--steps", "2", "--layout", "channels_last",
                               "--memory", "kept", "--threads", "1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["name"], "PyTorch channels_last, eager, optimizer fused, memory kept, 1 thread")
        self.assertEqual((result["parameters"], result["loss_81_to_100"]), (836522, None))
        self.assertLess(result["after_import_mb"], result["peak_rss_mb"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
