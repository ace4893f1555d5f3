#!/usr/bin/env python3
"""Tests bench/peers/compare.py: the table that it prints, and its refusals."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OWN, LARGE, CIFAR, BIG = "mnist-convnet", "mnist-convnet-5x5-48", "cifar-resnet-32", "resnet50"
BUILD = "PyTorch 9.9, CUDA libraries: none"


def tpack(speed, loss=0.30, rss=120):
    return {"name": "tpack", "samples_per_s": speed, "loss_81_to_100": loss, "peak_rss_mb": rss}


def peer(mode, speed, loss=0.30):
    return {"name": f"PyTorch {mode}", "build": BUILD, "samples_per_s": speed, "loss_81_to_100": loss, "peak_rss_mb": 790,
            "after_import_mb": 550}


class Runs:
    """The data of a file's lines. Plain is the faster peer on one network, channels_last on the others."""

    def __init__(self):
        self.rounds = {
            OWN: [[tpack(9000), peer("plain", 5000), peer("channels_last", 4000)], [tpack(9100), peer("plain", 5100)], [tpack(11000)]],
            LARGE: [[tpack(1300, rss=400), peer("plain", 800), peer("channels_last", 1000)]],
            CIFAR: [[tpack(400), peer("plain", 300), peer("channels_last", 350)]],
            BIG: [[tpack(12, loss=None), peer("plain", 5, loss=None)]],
        }
        self.losses = {OWN: {seed: [tpack(1, loss=0.30), peer("plain", 1)] for seed in (4, 5)}}
        self.probes = {}

    def lines(self):
        for network, rounds in self.rounds.items():
            for result in self.probes.get(network, []):
                yield network, "probe", 1, result
            for seed, results in enumerate(rounds, 1):
                for result in results:
                    yield network, "round", seed, result
            for seed, results in self.losses.get(network, {}).items():
                for result in results:
                    yield network, "loss", seed, result

    def compare(self, *names):
        """Exit code and output."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for line in self.lines():
                file.write(json.dumps(dict(zip(("network", "kind", "seed", "result"), line))) + "\n")
            file.flush()
            done = subprocess.run([sys.executable, ROOT / "bench/peers/compare.py", file.name, *names], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Compare(unittest.TestCase):
    def setUp(self):
        self.runs = Runs()

    def missed(self, *names):
        """The text of the lines about misses; checks that the exit code agrees with them."""
        code, output = self.runs.compare(*names)
        lines = [line.removeprefix("missed: ") for line in output.splitlines() if line.startswith("missed: ")]
        self.assertEqual(code, 1 if lines else 0, output)
        return lines

    def row(self, program):
        """The cells of the first row of that program."""
        code, output = self.runs.compare()
        line = next(line for line in output.splitlines() if line.startswith(program + " "))
        return line.removeprefix(program).split()

    def test_prints_medians_and_the_ratio_to_the_faster_peer(self):
        code, output = self.runs.compare()
        self.assertEqual(code, 0, output)
        self.assertEqual(self.row("tpack")[:3], ["9,100.0", "9,000.0", "11,000.0"])
        self.assertIn("tpack / best peer: 1.80 (PyTorch plain);", output)
        self.assertIn("tpack / best peer: 1.30 (PyTorch channels_last);", output)
        self.assertIn("tpack / best peer: 2.40 (PyTorch plain);", output)

    def test_prints_the_spread_of_the_losses_over_seeds(self):
        for seed, loss in ((4, 0.20), (5, 0.40)):
            self.runs.losses[OWN][seed][0] = tpack(1, loss=loss)
        self.assertEqual(self.row("tpack")[3:8], ["0.3000", "0.2000", "0.4000", "0.0707", "5"])  # three rounds, two more seeds
        self.assertEqual(self.row("PyTorch plain")[3:8], ["0.3000", "0.3000", "0.3000", "0.0000", "4"])
        # Standard error: 0.0707 / sqrt(5) of 0.3.
        self.assertIn("mean loss against its: +0.0%, standard error 10.5%", self.runs.compare()[1])

    def test_prints_no_losses_where_there_are_none(self):
        self.runs.rounds = {BIG: self.runs.rounds[BIG]}
        self.assertEqual(self.row("tpack")[3:8], ["-", "-", "-", "-", "0"])
        self.assertIn("mean loss against its: -, standard error -", self.runs.compare()[1])

    def test_prints_the_builds_and_what_of_the_memory_is_libraries(self):
        _, output = self.runs.compare()
        self.assertEqual(output.splitlines()[1], BUILD)
        self.assertEqual(self.row("PyTorch plain")[-2:], ["790", "550"])
        self.assertEqual(self.row("tpack")[-2:], ["120", "-"])

    def test_a_short_run_counts_for_nothing_but_the_choice(self):
        self.runs.probes[OWN] = [peer("compile", 99999), {"name": "PyTorch broken", "failed": "python ended with 1: no compiler"}]
        code, output = self.runs.compare()
        self.assertEqual(code, 0, output)
        self.assertIn("variants of the peer tried in short runs: 1", output)
        self.assertIn("left out: PyTorch broken: python ended with 1: no compiler", output)
        self.assertIn("tpack / best peer: 1.80 (PyTorch plain);", output)

    def test_refuses_a_ratio_below_the_floor_of_each_network(self):
        for network, speed, peers, floor in ((OWN, 8800, "1.74", 1.8), (LARGE, 1240, "1.24", 1.25), (CIFAR, 347, "0.99", 1.0),
                                             (BIG, 4.9, "0.98", 1.0)):
            self.runs = Runs()
            for results in self.runs.rounds[network]:
                results[0]["samples_per_s"] = speed
            self.assertEqual(self.missed(), [f"{network}: {peers} times the best peer's speed; must be at least {floor}"])

    def test_takes_a_ratio_on_the_floor(self):
        for results in self.runs.rounds[OWN]:
            results[0]["samples_per_s"] = 5050 * 1.8
        self.assertEqual(self.missed(), [])

    def test_refuses_losses_that_differ_either_way(self):
        for loss, difference in ((0.465, "+11.0%"), (0.135, "-11.0%")):  # of one seed of five; the others have 0.30
            self.runs.losses[OWN][4][0] = tpack(1, loss=loss)
            self.assertEqual(self.missed(), [f"{OWN}: the mean loss differs from the best peer's by {difference}; "
                                             "may be 10% at most"])
        self.runs.losses[OWN][4][0] = tpack(1, loss=0.435)
        self.assertEqual(self.missed(), [])

    def test_does_not_judge_losses_where_no_limit_is_stated(self):
        self.runs.rounds[CIFAR][0][0] = tpack(400, loss=0.6)
        self.assertEqual(self.missed(), [])

    def test_refuses_where_losses_to_judge_are_missing(self):
        for results in self.runs.rounds[OWN]:
            results[0]["loss_81_to_100"] = None
        del self.runs.losses[OWN]
        self.assertEqual(self.missed(), [f"{OWN}: the mean loss differs from the best peer's by -; may be 10% at most"])

    def test_refuses_too_much_memory(self):
        self.runs.rounds[OWN][0][0] = tpack(9000, rss=150)
        self.assertEqual(self.missed(), [f"{OWN}: peak memory 150 MB; must be below 150"])

    def test_refuses_a_network_that_was_named_and_not_measured(self):
        del self.runs.rounds[LARGE]
        self.assertEqual(self.missed(), [])
        self.assertEqual(self.missed(OWN, LARGE), [f"{LARGE}: not measured"])

    def test_refuses_a_network_without_a_peer(self):
        self.runs.rounds[LARGE] = [[tpack(1300)]]
        self.assertEqual(self.missed(), [f"{LARGE}: not measured"])

    def test_refuses_a_name_that_is_unknown(self):
        code, output = self.runs.compare("mnist-convnett")
        self.assertEqual(code, 2)
        self.assertIn("unknown network 'mnist-convnett'; known are mnist-convnet,", output)


if __name__ == "__main__":
    unittest.main()
