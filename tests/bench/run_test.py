#!/usr/bin/env python3
"""Tests bench/peers/run.py and variants.py: what runs, in which order, and what happens to variants that fail."""
import collections
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))

from networks import NETWORKS  # noqa: E402
from run import Failed, Measurement, Programs  # noqa: E402
from variants import CHOICES, Variant, all_variants  # noqa: E402

OWN, BIG = "mnist-convnet", "resnet50"
FAST = Variant("channels_last", "compile", "compiled", "kept", 2)


class FakePrograms:
    """Programs with the speeds of `speed`; None: the variant fails."""

    def __init__(self, speed):
        self.speed = speed
        self.runs = []  # (program, seed, steps)

    def tpack(self, _, seed, steps):
        self.runs.append(("tpack", seed, steps))
        return {"name": "tpack", "samples_per_s": 1.0, "loss_81_to_100": None, "peak_rss_mb": 1}

    def peer(self, _, variant, seed, steps):
        self.runs.append((variant, seed, steps))
        speed = self.speed(variant)
        if speed is None:
            raise Failed("python ended with 1: no compiler")
        return {"name": f"PyTorch {variant}", "samples_per_s": speed, "loss_81_to_100": None, "peak_rss_mb": 1}


def measure(speed, network=OWN, rounds=2, threads=2):
    """The fake programs, and what was written, by kind."""
    programs, written = FakePrograms(speed), collections.defaultdict(list)
    Measurement(network, programs, lambda kind, seed, result: written[kind].append((seed, result)), threads).run(rounds)
    return programs, written


def likes(best):
    """A speed that grows with each choice in common with `best`."""
    return lambda variant: 1 + sum(getattr(variant, name) == value for name, value in vars(best).items())


class Variants(unittest.TestCase):
    def test_have_every_choice_once(self):
        found = all_variants(2)
        self.assertEqual(len(set(found)), len(found))
        for name, choices in CHOICES.items():
            self.assertEqual({getattr(variant, name) for variant in found}, set(choices))

    def test_compile_the_optimizer_only_with_the_network(self):
        self.assertEqual({variant.execution for variant in all_variants(2) if variant.optimizer == "compiled"}, {"compile"})

    def test_have_names_of_their_own(self):
        found = all_variants(2) + all_variants(1)
        self.assertEqual(len(set(map(str, found))), len(found))


class Measurements(unittest.TestCase):
    def test_try_all_variants_on_all_processors_and_the_fastest_on_fewer(self):
        programs, _ = measure(likes(FAST), threads=4)
        probes = [variant for variant, _, steps in programs.runs if steps == NETWORKS[OWN].probe_steps]
        self.assertEqual(probes[:len(all_variants(4))], all_variants(4))
        fewer = probes[len(all_variants(4)):]
        self.assertEqual([variant.threads for variant in fewer], [1, 2, 3] * 2)
        self.assertEqual(fewer[0], Variant("channels_last", "compile", "compiled", "kept", 1))

    def test_go_on_with_the_three_fastest_variants_next_to_tpack(self):
        programs, written = measure(likes(FAST))
        steps = NETWORKS[OWN].steps
        rounds = [(program, seed) for program, seed, run_steps in programs.runs if run_steps == steps]
        self.assertEqual([program == "tpack" for program, _ in rounds], [True, False, False, False] * 2)
        self.assertEqual([seed for _, seed in rounds], [1] * 4 + [2] * 4)
        self.assertEqual(rounds[1][0], FAST)
        self.assertEqual(len(written["round"]), 8)

    def test_take_a_smaller_number_of_threads_that_is_faster(self):
        programs, _ = measure(lambda variant: 10 - variant.threads)
        self.assertEqual([program.threads for program, _, steps in programs.runs
                          if program != "tpack" and steps == NETWORKS[OWN].steps], [1, 1, 2] * 2)

    def test_compare_losses_of_the_seeds_that_rounds_have_not_had(self):
        programs, written = measure(likes(FAST))
        self.assertEqual([seed for seed, _ in written["loss"]], [seed for seed in range(3, NETWORKS[OWN].loss_seeds + 1) for _ in "12"])
        self.assertEqual({result["name"] for _, result in written["loss"]}, {"tpack", f"PyTorch {FAST}"})
        self.assertEqual({steps for _, seed, steps in programs.runs if seed > 2}, {100 - NETWORKS[OWN].warm_up})
        self.assertEqual(measure(likes(FAST), network=BIG)[1]["loss"], [])

    def test_write_why_a_variant_is_left_out(self):
        programs, written = measure(lambda variant: None if variant.compiles else 1)
        failed = [result for _, result in written["probe"] if "failed" in result]
        self.assertEqual(len(failed), sum(variant.compiles for variant in all_variants(2)))
        self.assertEqual(failed[0]["failed"], "python ended with 1: no compiler")
        self.assertFalse(any(variant.compiles for variant, _, steps in programs.runs
                             if variant != "tpack" and steps == NETWORKS[OWN].steps))

    def test_fail_where_no_variant_runs(self):
        with self.assertRaisesRegex(Failed, "mnist-convnet: no variant of PyTorch runs"):
            measure(lambda variant: None)


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = pathlib.Path(self.folder.name) / "program"

    def write(self, script):
        self.program.write_text("#!/bin/sh\n" + script)
        self.program.chmod(0o755)
        return str(self.program)

    def test_give_tpack_the_settings_of_the_network_and_take_the_step_with_its_data(self):
        words = pathlib.Path(self.folder.name) / "words"
        program = self.write(f'printf "%s\\n" "$@" >{words}\n'
                             'echo \'{"threads": 2, "train": {"samples_per_s": 9}, '
                             '"both": {"samples_per_s": 7, "step_ms": 1, "loss_81_to_100": 0.5}, "peak_rss_mb": 99}\'')
        result = Programs(program, "bf16").tpack("cifar-resnet-32", 3, 100)
        self.assertEqual(words.read_text().split("\n")[:-1],
                         ["bench", "configs/cifar-resnet.yaml", "--json", "--warm-up", "20", "--steps", "100",
                          "--precision", "bf16", "--set", "seed=3", "--set", "vars.n=5", "--set", "data.train.BatchData.batch_size=128"])
        self.assertEqual((result["samples_per_s"], result["loss_81_to_100"], result["peak_rss_mb"]), (7, 0.5, 99))

    def test_say_what_a_program_said_last(self):
        program = self.write("echo first >&2\necho 'error: no data' >&2\nexit 3")
        with self.assertRaisesRegex(Failed, "program ended with 3: error: no data"):
            Programs(program).tpack(OWN, 1, 1)


if __name__ == "__main__":
    unittest.main()
