#!/usr/bin/env python3
"""Tests bench/peers/compare.py: the table it prints, and what it refuses."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OWN, LARGE, SEEDS = "3x3, 32 filters", "5x5, 48 filters", "3x3, 32 filters, losses of 4 seeds"


def ours(speed, loss=0.30, rss=120):
    return {"both": {"samples_per_s": speed, "loss_81_to_100": loss}, "peak_rss_mb": rss}


def peer(mode, speed, loss=0.30):
    return {"name": f"PyTorch {mode}", "samples_per_s": speed, "loss_81_to_100": loss, "peak_rss_mb": 790}


def good_runs():
    """Network -> results. Plain is the faster peer on one network, channels_last on the other."""
    return {
        OWN: [ours(9000), ours(9100), ours(11000), peer("plain", 5000), peer("channels_last", 4000)],
        LARGE: [ours(1300, rss=400), peer("plain", 800), peer("channels_last", 1000)],
        SEEDS: [ours(1, loss=loss) for loss in (0.28, 0.32, 0.30, 0.30)] + [peer("plain", 1), peer("channels_last", 1)],
    }


def compare(runs):
    """Exit code and output for these runs."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for network, results in runs.items():
            for result in results:
                file.write(json.dumps({"network": network, "round": 1, "result": result}) + "\n")
        file.flush()
        done = subprocess.run([sys.executable, ROOT / "bench/peers/compare.py", file.name], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Compare(unittest.TestCase):
    def missed(self, runs):
        """The lines about what is missed; the exit code must go with them."""
        code, output = compare(runs)
        lines = [line for line in output.splitlines() if line.startswith("missed: ")]
        self.assertEqual(code, 1 if lines else 0, output)
        return lines

    def test_prints_medians_and_the_ratio_to_the_faster_peer(self):
        code, output = compare(good_runs())
        self.assertEqual(code, 0, output)
        self.assertIn("tpack                                    9100     9000    11000       0.3000          120", output)
        self.assertIn("tpack / best peer: 1.82; mean loss against the peers': +0.0%", output)
        self.assertIn("tpack / best peer: 1.30;", output)

    def test_refuses_a_ratio_below_the_floor_of_each_network(self):
        runs = good_runs()
        runs[OWN][1] = ours(8900)
        runs[OWN][2] = ours(8900)
        self.assertEqual(self.missed(runs), [f"missed: {OWN}: 1.78 times the best peer's speed; must be at least 1.8"])
        runs = good_runs()
        runs[LARGE][0] = ours(1240)
        self.assertEqual(self.missed(runs), [f"missed: {LARGE}: 1.24 times the best peer's speed; must be at least 1.25"])

    def test_takes_a_ratio_on_the_floor(self):
        runs = good_runs()
        runs[OWN][:3] = [ours(9000)]
        self.assertEqual(self.missed(runs), [])

    def test_refuses_losses_that_differ_over_the_most_seeds_either_way(self):
        for loss, difference in ((0.44, "+11.7%"), (0.16, "-11.7%")):
            runs = good_runs()
            runs[SEEDS][2] = ours(1, loss=loss)
            self.assertEqual(self.missed(runs), [f"missed: {SEEDS}: the mean loss differs from the peers' by {difference}; "
                                                 "may be 10% at most"])

    def test_does_not_judge_the_loss_of_a_few_seeds(self):
        runs = good_runs()
        runs[LARGE][0] = ours(1300, loss=0.5)
        self.assertEqual(self.missed(runs), [])

    def test_refuses_too_much_memory(self):
        runs = good_runs()
        runs[OWN][0] = ours(9000, rss=150)
        self.assertEqual(self.missed(runs), [f"missed: {OWN}: peak memory 150 MB; must be below 150"])

    def test_refuses_a_network_that_was_not_measured(self):
        runs = good_runs()
        del runs[LARGE]
        self.assertEqual(self.missed(runs), [f"missed: {LARGE}: not measured"])


if __name__ == "__main__":
    unittest.main()
