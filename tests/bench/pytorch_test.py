#!/usr/bin/env python3
"""Tests that the peers of bench/peers do the work that tpack does: the same layers, the same weights under L2, the same data.

    pytorch_test.py path/to/tpack

Runs with TPACK_PYTHON if it is set. Exits with 77 if that Python lacks numpy or torch.
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
sys.path[:0] = [str(ROOT / "bench" / "peers"), str(ROOT / "tests" / "golden")]
try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"Python lacks what this test needs: {error}")
    sys.exit(77)

import data  # noqa: E402
import make_training as golden  # noqa: E402
from gans import GANS  # noqa: E402
from models import TRAININGS, MnistConvnet, PreactResnet, segmentation_cost  # noqa: E402
from networks import NETWORKS  # noqa: E402
from pytorch import How  # noqa: E402
from variants import Variant  # noqa: E402

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
    """The same for a PyTorch model, found by running it on an image."""
    found = []

    def note(layer, _, output):
        found.append((list(output.shape[1:]), sum(p.numel() for p in layer.parameters())))

    for layer in model.modules():
        if list(layer.parameters(recurse=False)):
            layer.register_forward_hook(note)
    with torch.no_grad():
        model.eval()(image)
    return found


def copy_variables(source, model):
    """Copies the values of tpack's variables, which have the order of the model's layers, into a model."""
    layers = [layer for layer in model.modules() if list(layer.parameters(recurse=False))]
    names = dict.fromkeys(name.rsplit("/", 1)[0] for name in source.trained)  # the layers' names, in the order of their kind
    for kind, weight, bias in ((torch.nn.BatchNorm2d, "gamma", "beta"), ((torch.nn.Conv2d, torch.nn.Linear), "W", "b")):
        of_kind = [name for name in names if f"{name}/{weight}" in source.trained]
        for name, layer in zip(of_kind, (layer for layer in layers if isinstance(layer, kind)), strict=True):
            value = source.v[f"{name}/{weight}"]
            layer.weight.data.copy_(value.T if isinstance(layer, torch.nn.Linear) else value)
            if layer.bias is not None:
                layer.bias.data.copy_(source.v[f"{name}/{bias}"])


class PaddedAsByTpack(torch.nn.Module):
    """A 3x3 convolution of stride 2 that pads an even image below and to the right."""

    def __init__(self, convolution):
        super().__init__()
        self.convolution = convolution
        convolution.padding = (0, 0)

    def forward(self, x):
        return self.convolution(torch.nn.functional.pad(x, (0, 1, 0, 1)))


class Models(unittest.TestCase):
    def test_have_the_layers_of_tpack(self):
        for name in TRAININGS:
            with self.subTest(name):
                report, layers = layers_of_tpack(name)
                model = TRAININGS[name].model()
                image = torch.zeros(1, *report["layers"][0]["shape"][1:])
                self.assertEqual(layers_of_pytorch(model, image), layers)
                self.assertEqual(sum(p.numel() for p in model.parameters()), report["parameters"])
                self.assertEqual(NETWORKS[name].batch, report["batch"])

    def test_compute_what_the_golden_networks_compute(self):
        """The networks of tests/golden, which tpack is compared with: the same except for paddings and dropout."""
        for name, source, model in (("mnist-convnet", golden.MnistConvnet(), MnistConvnet()),
                                    ("cifar-resnet-32", golden.CifarResnet(), PreactResnet(1))):
            source.draw_variables()
            model.double()
            copy_variables(source, model)
            if name == "mnist-convnet":
                model.dropout.p = 0.0
            else:
                for block in model.blocks:
                    if block.stride == 2:
                        block.conv1 = PaddedAsByTpack(block.conv1)
            image = golden.draw("peers/image", {**source.inputs["image"], "shape": [4, *source.inputs["image"]["shape"][1:]]})
            image = image.double().permute(0, 3, 1, 2)
            training = TRAININGS[name]
            ours = model(image * training.scale + training.offset)
            self.assertLess((ours - source.logits(image)).abs().max().item(), 1e-13, name)

    def test_decay_the_weights_that_the_configs_regularize(self):
        decayed = {"mnist-convnet": ["fc0.weight", "fc1.weight"], "mnist-convnet-5x5-48": ["fc0.weight", "fc1.weight"]}
        for name, training in TRAININGS.items():
            model = training.model()
            names = {id(p): parameter for parameter, p in model.named_parameters()}
            kernels = [names[id(layer.weight)] for layer in model.modules() if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear))]
            groups = training.make_optimizer(model).param_groups
            found = [names[id(p)] for group in groups if group["weight_decay"] > 0 for p in group["params"]]
            self.assertEqual(found, kernels if name == "cifar-resnet-32" else decayed.get(name, []), name)
            self.assertEqual(sum(len(group["params"]) for group in groups), len(names), name)

    def test_cost_of_pixels_is_cross_entropy_and_dice_loss(self):
        """Milletari et al. 2016 with probabilities, 1 added above and below the line."""
        torch.manual_seed(1)
        logits, masks = torch.randn(2, 3, 4, 5), torch.randint(0, 3, (2, 4, 5))
        p, facts = logits.softmax(1), torch.nn.functional.one_hot(masks, 3).permute(0, 3, 1, 2)
        dice = (2 * (p * facts).sum((2, 3)) + 2) / ((p + facts).sum((2, 3)) + 2)
        expected = torch.nn.functional.cross_entropy(logits, masks) + (1 - dice).mean()
        self.assertAlmostEqual(segmentation_cost(logits, masks).item(), expected.item(), 6)

    def test_give_every_parameter_a_gradient(self):
        """No in-place operation destroys what backward needs."""
        torch.manual_seed(1)
        for name, size in (("mnist-convnet", (2, 1, 28, 28)), ("cifar-resnet-32", (2, 3, 32, 32)), ("resnet50", (2, 3, 64, 64)),
                           ("mobilenet-v2", (2, 3, 64, 64)), ("shufflenet-v2", (2, 3, 64, 64)), ("unet", (2, 3, 64, 64)),
                           ("vgg16", (2, 3, 224, 224)), ("perceptron", (2, 1, 32, 64))):
            model = TRAININGS[name].model()
            outputs = model(torch.rand(size))
            TRAININGS[name].cost(outputs, torch.randint(0, outputs.shape[1], (2, *outputs.shape[2:]))).backward()
            without = [parameter for parameter, p in model.named_parameters() if p.grad is None or not p.grad.any()]
            self.assertEqual(without, [], name)


class AdversarialNetworks(unittest.TestCase):
    def test_have_the_parameters_of_tpack_and_train_each(self):
        for name, make in GANS.items():
            with self.subTest(name):
                torch.manual_seed(1)
                report, _ = layers_of_tpack(name)
                session = make(How(torch, Variant("plain", "eager", "fused", "returned", 1), "fp32"))
                parameters = [(f"{i}/{key}", p) for i, network in enumerate(session.networks) for key, p in network.named_parameters()]
                self.assertEqual(sum(p.numel() for _, p in parameters), report["parameters"])
                self.assertEqual(NETWORKS[name].batch, report["batch"])
                before = {key: p.detach().clone() for key, p in parameters}
                for _ in range(6):  # the generator of WGAN-GP trains in the sixth step
                    session.step(torch.randint(0, 256, (4, 1, 28, 28), dtype=torch.uint8), None)
                same = [key for key, p in parameters if torch.equal(p, before[key])]
                self.assertEqual(same, ["1/fc.bias"] if name == "wgan-gp" else [])  # it cancels in fake - real

    def test_cover_every_network_without_a_training(self):
        self.assertEqual(set(GANS), set(NETWORKS) - set(TRAININGS))


def write_mnist(folder, count):
    """Images whose pixels are all the number of the sample, modulo 256; the labels are its last digit."""
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
        bright = images[:, 16].mean(2) > 100  # a row of each image: 16 bright pixels, shifted by at most 2
        ends = [int(np.flatnonzero(row)[-1]) for row in bright]
        self.assertEqual({end in range(13, 18) for end in ends if end < 25}, {True})
        self.assertEqual({end < 25 for end in ends}, {True, False})  # flipped ones end at the right border, or 2 pixels before it
        self.assertGreater(len(set(ends)), 3)

    def test_makes_one_line_of_json(self):
        options = ["--steps", "2", "--layout", "channels_last", "--memory", "kept", "--threads", "1"]
        done = subprocess.run([sys.executable, ROOT / "bench/peers/pytorch.py", "mnist-convnet", *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["name"], "PyTorch channels_last, eager, optimizer fused, memory kept, 1 thread")
        self.assertEqual((result["parameters"], result["loss_81_to_100"]), (836522, None))
        self.assertLess(result["after_import_mb"], result["peak_rss_mb"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
