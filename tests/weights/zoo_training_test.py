#!/usr/bin/env python3
"""Each page of the zoo learns eight pictures of noise by heart: the smallest network of the page, from nothing.

    zoo_training_test.py path/to/tpack [NETWORK ...]
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

TPACK = os.path.abspath(sys.argv[1])
CLASSES, IMAGES, SIDE = 4, 8, 64
EPOCHS, STEPS = 4, 20
SLOW = {"squeezenet1-0": 8}  # epochs


def tpack(*words):
    return subprocess.run([TPACK, *map(str, words)], capture_output=True, text=True)


def smallest_of_pages():
    networks = json.loads(tpack("list", "zoo", "--json").stdout)
    found = {}
    for network in networks:
        known = found.setdefault(network["page"], network)
        if network["parameters"] < known["parameters"]:
            found[network["page"]] = network
    return sorted(network["name"] for network in found.values())


def write_noise(folder):
    """Pictures in the format PPM."""
    rng = random.Random(1)
    for index in range(IMAGES):
        path = folder / str(index % CLASSES) / f"{index}.ppm"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"P6 {SIDE} {SIDE} 255\n".encode() + rng.randbytes(SIDE * SIDE * 3))


class ZooTraining(unittest.TestCase):
    def test_each_page_learns_one_batch(self):
        names = sys.argv[2:] or smallest_of_pages()
        self.assertGreater(len(names), 0)
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            write_noise(folder / "noise")
            for name in names:
                with self.subTest(name):
                    self.expect_learned(folder, name)

    def expect_learned(self, folder, name):
        config = folder / f"{name}.yaml"
        config.write_text(f"tpack: 1\nname: {name}\nseed: 1\ninclude: zoo:{name}\nvars: {{classes: {CLASSES}, side: {SIDE}}}\n"
                          "engine: {algorithm: heuristic}\n"
                          f"data: {{train: [{{ImageFolder: {{dir: {folder}/noise}}}}, {{AugmentImageComponent: [{{Resize: {SIDE}}}]}}, {{BatchData: {IMAGES}}}]}}\n"
                          "optimizer: {Adam: {learning_rate: 3.0e-4}}\n"
                          f"steps_per_epoch: {STEPS}\nmax_epoch: {SLOW.get(name, EPOCHS)}\n")
        done = tpack("train", config, "--log-dir", folder / name)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        epochs = json.loads((folder / name / "stats.json").read_text())
        first, last = epochs[0], epochs[-1]
        print(f"{name}: cost {first['cost']:.3f}, then {last['cost']:.3f}, accuracy {last['accuracy']:.2f}", flush=True)
        self.assertLess(last["cost"], 0.5 * first["cost"])
        self.assertGreater(last["accuracy"], 0.7)  # with drop-out; guesses: 0.25


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
