#!/usr/bin/env python3
"""Runs the commands of docs/metrics.md, and tests what the page promises.

    metrics_page_test.py TPACK

tests/golden/make_metrics.py and tests/layers test the values of metrics on larger data.
"""
import csv
import json
import math
import random
import re
import unittest

import png
from program import ROOT, ProgramTest, words_of

TEXT = (ROOT / "docs/metrics.md").read_text()
PAGE = words_of("metrics.md")
# Rows of the table `Which one` -> the fields that a metric needs there, and those that some need in addition.
FIELDS = {
    "scores of one of several classes": ("logits: s, labels: y", {"Precision": "average: macro", "Recall": "average: weighted", "FBeta": "beta: 2", "InTopK": "k: 2"}),
    "binary labels for each output": ("logits: r, labels: n", {"F1": "average: binary", "FBeta": "average: binary, beta: 2"}),
    "numbers": ("predictions: r, targets: t", {}),
    "embeddings": ("embeddings: s, labels: y", {}),
    "images": ("predictions: i, targets: j", {"PSNR": "data_range: 1", "SSIM": "data_range: 1"}),
    "any": ("", {"Mean": "output: out_r", "Expression": "expression: abs(y - 1) < 10"}),
}
# Scores s, labels y; numbers or scores r, yes or no n, targets t; images i and j.
EACH_FORM = """tpack: 1
max_epoch: 1
data:
  train:
    - FakeData:
        size: 8
        names: [s, y, r, n, t, i, j]
        shapes: [[3], [], [2], [2], [2], [12, 12, 1], [12, 12, 1]]
        dtype: [float32, int32, float32, float32, float32, float32, float32]
    - BatchData: {batch_size: 4}
model:
  inputs:
    s: {shape: [3]}
    y: {shape: [], dtype: int32}
    r: {shape: [2]}
    n: {shape: [2]}
    t: {shape: [2]}
    i: {shape: [12, 12, 1], layout: HWC}
    j: {shape: [12, 12, 1], layout: HWC}
  layers:
    - Identity: {name: out_s, input: s}
    - Identity: {name: out_r, input: r}
    - Identity: {name: out_i, input: i}
    - FullyConnected: {name: z, units: 2, input: r}
  cost: [MeanSquaredError: {predictions: z, targets: t}]
  metrics:
METRICSoptimizer: SGD
"""
# A model whose output `s` is the component x of the data; what it trains does not matter.
SCORES = """tpack: 1
name: m
max_epoch: 1
engine: {threads: 1, algorithm: heuristic}
data:
  train: FLOW
  validation: FLOW
model:
  layers: [{Identity: {name: s, input: x}}, {FullyConnected: {name: z, units: 1, input: x}}]
  cost: [{Expression: {expression: z * z}}]
  metrics: [METRIC]
optimizer: {SGD: {learning_rate: 1.0e-9}}
callbacks: [ModelSaver: {keep: 1}]
"""
# Figures of scores that are columns: metric -> [fields, scores, labels, value]. NaN is null in JSON; infinite, too.
SCORED = {
    # two classes: labels all positive, all negative
    "AUC|all labels are positive, or all are negative": [("logits: s, labels: n", [[1], [2]], [[1], [1]], None), ("logits: s, labels: n", [[1], [2]], [[0], [0]], None)],
    "AveragePrecision|no label is positive": [("logits: s, labels: n", [[1], [2]], [[0], [0]], 0)],
    # Class 2 has no sample: of 0 against 1, all is in order.
    "AUC|a class without samples": [("logits: s, labels: y", [[5, 0, 9], [0, 5, 9], [5, 1, 8]], [0, 1, 0], 1)],
    "AveragePrecision|a class without samples": [("logits: s, labels: y, average: weighted", [[5, 0, 0], [0, 5, 1], [5, 1, 2]], [0, 1, 0], 1)],
    "Precision|no sample is predicted as the class": [("logits: s, labels: y, class: 1", [[5, 0, 0], [5, 1, 0]], [0, 1], 0)],
    "Recall|none belongs to it": [("logits: s, labels: y, class: 1", [[5, 0, 0], [0, 1, 0]], [0, 0], 0)],
    "F1|no sample is predicted as the class": [("logits: s, labels: y, class: 1", [[5, 0, 0], [5, 1, 0]], [0, 1], 0)],
    "FBeta|no sample is predicted as the class": [("logits: s, labels: y, class: 1, beta: 2", [[5, 0, 0], [5, 1, 0]], [0, 1], 0)],
    # Precision of 0 is 1/2, of 1 is 0; 2 is neither predicted nor actual.
    "Precision|a class that is neither predicted nor actual": [("logits: s, labels: y, average: macro", [[5, 0, 0], [5, 1, 0]], [0, 1], 0.25)],
    "BalancedAccuracy|a class without samples": [("logits: s, labels: y", [[5, 0, 0], [0, 5, 0], [0, 5, 0]], [0, 1, 0], 0.75)],
    "MatthewsCorrelation|all predictions, or all labels, belong to one class": [
        ("logits: s, labels: y", [[5, 0, 0], [5, 1, 0]], [0, 1], 0), ("logits: s, labels: y", [[5, 0, 0], [0, 1, 0]], [0, 0], 0)],
    "CohenKappa|all predictions and labels are of the same class": [("logits: s, labels: y", [[5, 0, 0], [5, 1, 0]], [0, 0], None)],
    "RecallAtK|no class has two samples": [("embeddings: s, labels: y", [[5, 0, 0], [0, 5, 0], [0, 0, 5]], [0, 1, 2], None),
                                           ("embeddings: s, labels: y, k: 2", [[5, 0, 0], [5, 1, 0]], [0, 0], None)],
    "PSNR|an image is exactly its target": [("predictions: s, targets: n, data_range: 1", [[1], [1]], [[1], [1]], None)],
    "R2|the targets are all equal": [("predictions: s, targets: n", [[2], [2]], [[2], [2]], 1), ("predictions: s, targets: n", [[2], [3]], [[2], [2]], 0)],
    "ExplainedVariance|the targets are all equal": [("predictions: s, targets: n", [[5], [5]], [[2], [2]], 1), ("predictions: s, targets: n", [[5], [6]], [[2], [2]], 0)],
}
# Sentences of the page -> the same.
STATED = {
    "is a share, 0.1 for 10 %": [("MeanAbsolutePercentageError", "predictions: s, targets: n", [[11], [18]], [[10], [20]], 0.1)],
    "which for two classes is twice that": [("Brier", "logits: s, labels: y", [[0, 1], [1, 0]], [1, 1], 2 * (math.e**-2 + 1) / (1 + math.e**-1)**2 / 2),
                                            ("Brier", "logits: s, labels: n", [[1], [-1]], [[1], [1]], (math.e**-2 + 1) / (1 + math.e**-1)**2 / 2)],
    "the ratios of the images, not the ratio of the mean error": [("PSNR", "predictions: s, targets: n, data_range: 1", [[0.1], [0.01]], [[0], [0]], 30)],
    "`F1` and `FBeta` expect class numbers unless": [("F1", "logits: s, labels: y", [[5, 0], [0, 5], [5, 1]], [0, 1, 1], 2 / 3)],
    "all labels of a sample are right": [("ExactMatch", "logits: s, labels: n", [[3, -3], [3, 3]], [[1, 0], [1, 0]], 0.5)],
    "Samples that are alone in their class are left out": [("RecallAtK", "embeddings: s, labels: y", [[5, 0, 0], [5, 1, 0], [0, 0, 5]], [0, 0, 1], 1)],
    "equal scores are ties": [("AUC", "logits: s, labels: n", [[1], [1], [0]], [[1], [0], [0]], 0.75)],
}


def table_below(heading):
    """The rows of the first table below a heading, without its header."""
    lines = TEXT[TEXT.index(f"## {heading}\n"):].split("\n| ", 1)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))] for line in lines]


class MetricsPage(ProgramTest):
    def check_with(self, metrics):
        self.write("which.yaml", EACH_FORM.replace("METRICS", metrics))
        return self.run_commands("tpack check which.yaml")

    def test_each_metric_is_for_the_outputs_of_its_row(self):
        rows = table_below("Which one")
        self.assertEqual(len(rows), len(FIELDS))
        for outputs, names in rows:
            fields, more = FIELDS[next(key for key in FIELDS if outputs.startswith(key))]
            fields = re.sub(r"\b([sri])\b", r"out_\1", fields)
            found = [name for name in re.findall(r"`(\w+)`", names) if name[0].isupper()]  # not fields such as `average`
            self.assertTrue(found)
            metrics = "".join(f"    - {name}: {{name: m_{name}, {', '.join(filter(None, (fields, more.get(name, ''))))}}}\n" for name in found)
            code, output = self.check_with(metrics)
            self.assertEqual(code, 0, outputs + "\n" + metrics + output)

    def test_a_cost_is_a_metric_of_the_same_name(self):
        self.assertIn("every cost that is a mean over samples, by the same name", PAGE)
        costs = ("SoftmaxCrossEntropy: {logits: out_s, labels: y}", "SigmoidCrossEntropy: {logits: out_r, labels: n}",
                 "Huber: {predictions: out_r, targets: t}", "TripletLoss: {embeddings: out_s, labels: y}")
        code, output = self.check_with("".join(f"    - {cost}\n" for cost in costs))
        self.assertEqual(code, 0, output)

    def value(self, metric, fields, scores, labels):
        """The figure of a metric over a file of scores and labels; or the error."""
        scores_of = [f"s{i}" for i in range(len(scores[0]))]
        labels_of = [f"n{i}" for i in range(len(labels[0]))] if isinstance(labels[0], list) else None
        rows = [[*score, *(label if labels_of else [label])] for score, label in zip(scores, labels)]
        self.write("m.csv", ",".join(scores_of + (labels_of or ["y"])) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        columns = f"x: [{', '.join(scores_of)}], " + (f"n: [{', '.join(labels_of)}]" if labels_of else "y: y")
        cast = "" if labels_of else "{MapData: {component: y, map: {Cast: int32}}}, "
        flow = f"[{{CSV: {{file: m.csv, shuffle: false, columns: {{{columns}}}}}}}, {cast}{{BatchData: {{batch_size: 2, remainder: true}}}}]"
        self.write("m.yaml", SCORES.replace("FLOW", flow).replace("METRIC", f"{metric}: {{name: m, {fields}}}"))
        code, output = self.run_commands("tpack train m.yaml --resume never")
        if code != 0:
            return output
        return json.loads(self.output_of("tpack eval train_log/m/checkpoints/model-*.h5 --data validation --json 2>log"))["m"]

    def assert_value(self, metric, fields, scores, labels, expected):
        found = self.value(metric, fields, scores, labels)
        if expected is None:
            self.assertIsNone(found, (metric, scores, labels))
        else:
            self.assertIsInstance(found, (int, float), found)
            self.assertAlmostEqual(found, expected, places=5, msg=(metric, fields, scores, labels))

    def test_figures_where_there_is_no_value(self):
        rows = table_below("Where there is no value")
        cases = " ".join(case for _, case, _ in rows)
        for words, checks in SCORED.items():
            metric, case = words.split("|")
            self.assertIn(case, cases)
            for check in checks:
                with self.subTest(words):
                    self.assert_value(metric, *check)
        tested = {words.split("|")[0] for words in SCORED}
        for metrics, case, _ in rows:
            self.assertTrue(metrics.startswith("the same") or set(re.findall(r"`(\w+)`", metrics)) <= tested, case)

    def test_figures_of_sentences(self):
        for words, checks in STATED.items():
            self.assertIn(words, PAGE)
            for check in checks:
                with self.subTest(words):
                    self.assert_value(*check)
        self.assertIn("PSNR", self.value("PSNR", "predictions: s, targets: n", [[0.1]], [[0]]), "needs data_range")
        for metric, fields in (("Precision", "logits: s, labels: y"), ("Recall", "logits: s, labels: y")):
            self.assertIsInstance(self.value(metric, fields, [[5, 0, 0], [0, 5, 0]], [0, 1]), str, "yes or no by default")


FLOWERS = ("setosa", "versicolor", "virginica")
IRIS = """tpack: 1
max_epoch: 8
split: 0.2
data:
  train:
    - CSV: {file: iris.csv, columns: {x: auto}, labels: {kind: kind}}
    - BatchData: {batch_size: 8}
  validation:
    - BatchData: {batch_size: 16, remainder: true}
model:
  layers:
    - FullyConnected: {name: logits, units: 3, input: x}
  cost:
    - SoftmaxCrossEntropy: {logits: logits, labels: kind}
  metrics:
    - Accuracy: {logits: logits, labels: kind}
optimizer: {Adam: {learning_rate: 0.01}}
callbacks: [ModelSaver: {keep: 1}, InferenceRunner: {data: validation}]
predict: {data: validation, outputs: {probability: {Softmax: logits}}}
"""


class MetricsPageRuns(ProgramTest):
    def train(self, text=IRIS, name="iris", options="", code=0):
        rng = random.Random(1)
        rows = [(rng.gauss(kind, 1), rng.gauss(-kind, 1), FLOWERS[kind]) for kind in (rng.randrange(3) for _ in range(150))]
        self.write("iris.csv", "a,b,kind\n" + "".join(f"{a:.3f},{b:.3f},{kind}\n" for a, b, kind in rows))
        self.write(f"{name}.yaml", text)
        output = self.output_of(f"tpack train {name}.yaml {options}", code)
        model = next((self.folder / "train_log" / name / "checkpoints").glob("model-*.h5"))
        model.rename(self.folder / f"{name}.h5")
        return output

    def test_the_config_of_the_page_trains(self):
        block = re.search(r"^```yaml\n(metrics:\n.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[1].replace("label}", "kind}").replace("label,", "kind,")
        metrics = "".join("  " + line + "\n" for line in block.replace("class: 3, name: recall_of_3", "class: 2, name: recall_of_2").splitlines())
        output = self.train(re.sub(r"  metrics:\n.*\n", metrics.replace("\\", ""), IRIS))
        for name in ("accuracy", "f1", "recall_of_2", "auc"):
            self.assertRegex(output, rf"validation_{name}: 0\.\d+")

    def test_commands_of_the_table(self):
        output = self.train()
        self.train(name="other", options="--set seed=2 --set max_epoch=2")
        for words in ("class", "precision", "setosa", "weighted mean", "actual \\ predicted"):
            self.assertIn(words, output)
        (self.folder / "model.h5").write_bytes((self.folder / "iris.h5").read_bytes())
        (self.folder / "new.csv").write_text("".join((self.folder / "iris.csv").read_text().splitlines(True)[:60]))
        commands = [cells[0].strip("`") for cells in table_below("By class, and the worst samples") if cells[0].startswith("`tpack")]
        self.assertGreaterEqual(len(commands), 11)
        for command in commands:
            with self.subTest(command):
                if "threshold" in command or "--images" in command:
                    continue  # below, for two classes
                command = command.replace("recall.yes", "recall.virginica").replace("--min accuracy=0.9", "--min accuracy=0.1").replace("=0.8", "=0.1")
                self.output_of(command)
        self.assertTrue((self.folder / "confusion.svg").read_text().lstrip().startswith("<svg"))
        self.assertIn("<svg", (self.folder / "bars.svg").read_text())
        plain = json.loads(self.output_of("tpack eval model.h5 --json --worst 5 --min accuracy=0.1 2>log"))
        self.assertLessEqual({"cost", "accuracy", "reports", "worst", "gates"}, set(plain))
        self.assertEqual(len(plain["worst"]), 5)
        self.assertEqual(self.run_commands("tpack eval model.h5 --min recall.setosa=1.1")[0], 8)
        self.assertEqual(self.run_commands("tpack eval model.h5 --max cost=0.001")[0], 8)
        self.assertEqual(self.run_commands("tpack eval model.h5 --max cost=100")[0], 0)
        compared = self.output_of("tpack eval model.h5 other.h5")
        for words in ("difference", "from", "to", "noise", "accuracy", "cross_entropy", "mean F1"):
            self.assertIn(words, compared)
        # The figures are those of the predictions.
        rows = list(csv.DictReader(self.output_of("tpack infer model.h5 --data validation --columns true,prediction 2>log").splitlines()))
        hits = sum(row["true"] == row["prediction"] for row in rows)
        self.assertAlmostEqual(plain["accuracy"], hits / len(rows), places=6)
        # On other data, without the files of the training.
        (self.folder / "iris.csv").unlink()
        self.output_of("tpack eval model.h5 new.csv")

    def test_gates_and_reports_are_in_the_folder_of_the_run(self):
        gates = re.search(r"^```yaml\n(callbacks:\n.*?gates:.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[1].replace("recall.yes", "recall.virginica")
        text = re.sub(r"callbacks:.*\n", gates.replace("callbacks:\n", "callbacks:\n  - ModelSaver: {keep: 1}\n"), IRIS)
        self.train(text.replace(">= 0.8", ">= 0.1"))
        found = json.loads((self.folder / "train_log/iris/gates.json").read_text())
        self.assertIn("validation_recall.virginica", json.dumps(found))
        reports = self.folder / "train_log/iris/reports"
        matrix = json.loads((reports / "validation_confusion.json").read_text())
        self.assertEqual([row["class"] for row in matrix["classes"]], list(FLOWERS))
        self.assertTrue((reports / "validation_confusion.svg").is_file())
        self.train(text.replace(">= 0.8", ">= 1.1"), options="--resume never", code=8)

    def test_the_worst_images_are_drawn_and_two_classes_have_a_threshold(self):
        for number in range(20):
            rng = random.Random(number)
            rows = [[100 * (number % 2) + rng.randrange(100) for _ in range(3 * 8)] for _ in range(8)]
            self.write(f"photos/{('no', 'yes')[number % 2]}/{number}.png", png.png(rows, png.COLORS))
        flow = "[{AugmentImageComponent: [Resize: 8]}, {BatchData: {batch_size: 4, remainder: true}}]"
        text = IRIS.replace("CSV: {file: iris.csv, columns: {x: auto}, labels: {kind: kind}}", "ImageFolder: photos\n    - AugmentImageComponent: [Resize: 8]")
        text = text.replace("units: 3, input: x", "units: 2").replace("labels: kind", "labels: label").replace("max_epoch: 8", "max_epoch: 1")
        text = re.sub(r"  validation:\n.*\n", f"  validation: {flow}\n", text).replace("  layers:\n", "  layers:\n    - Normalize: {scale: 0.01, input: image}\n")
        self.train(text, name="photos")
        self.output_of("tpack eval photos.h5 --worst 2 --images worst.png")
        png.read_png((self.folder / "worst.png").read_bytes())
        self.assertIn("threshold of yes", self.output_of("tpack eval photos.h5 --choose-threshold"))
        recalls = [json.loads(self.output_of(f"tpack eval photos.h5 --threshold {p} --json 2>log")) for p in (0, 1)]
        self.assertEqual([next(iter(found["reports"]))["classes"][1]["recall"] for found in recalls], [1, 0])

    def test_the_importance_of_columns(self):
        command = re.search(r"^```sh\n(tpack eval .*--importance.*)\n```$", TEXT, re.MULTILINE)[1]
        self.train()
        command = re.sub(r"train_log\S+", "iris.h5", command)
        output = self.output_of(command)
        self.assertRegex(output, r"(?m)^a ")
        self.assertTrue((self.folder / "importance.svg").is_file())


if __name__ == "__main__":
    unittest.main()
