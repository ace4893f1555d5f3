#!/usr/bin/env python3
"""Tests what docs/tables.md promises with the program; config_page_test.py runs its blocks.

    tables_page_test.py TPACK

Each row of a table below has the words of the page that it tests, so that a change of the page asks for one here.
"""
import csv
import datetime
import gzip
import json
import math
import re
import statistics
import subprocess
import unittest

from program import ROOT, ProgramTest, configs_of, words_of

PAGE = words_of("tables.md")
MOMENTS = [datetime.datetime(2024, 5, 19, 9), datetime.datetime(2024, 12, 24, 21), datetime.datetime(2023, 2, 28, 0)]
HAS_TIME = ("%H", "%I", "%-H", "%-I")
# What the page writes -> how the moments are written.
DATES = {"2024-05-19": "%Y-%m-%d", "2024/5/19": "%Y/%-m/%-d", "19.05.2024": "%d.%m.%Y", "05/19/2024": "%m/%d/%Y", "19 May 2024": "%d %B %Y",
         "May 19, 2024": "%B %d, %Y", "20240519": "%Y%m%d", "2024-05,": "%Y-%m", "9:00,": "%Y-%m-%d %-H:%M", "09:00:30": "%Y-%m-%d %H:%M:%S",
         "9 PM": "%d.%m.%Y %-I %p", "09:00+02:00": "%Y-%m-%d %H:%M+02:00"}
# What the page writes -> the column (its field and two more), and what the field becomes with `scale: none`.
NUMBERS = {'`"1,234.5"`': ('"1,234.5"', "7", "9", 1234.5), "`$20000`": ("$20000", "$5", "$9", 20000), "`20 €`": ("20 €", "5 €", "9 €", 20),
           "`5%`, which is 0.05": ("5%", "7%", "20%", 0.05)}
BOOLS = {"true and false": ("true", "false"), "yes and no": ("yes", "no"), "t and f": ("t", "f"), "y and n": ("y", "n"), "1 and 0": ("1", "0")}
MISSING = ["", "NA", "N/A", "NaN", "null", "None", "?", "#N/A", "\\N"]
# Rows of train -> what `scale` makes of them.
SCALED = {
    "standardize": lambda x, train: (x - statistics.mean(train)) / statistics.pstdev(train),
    "log1p": lambda x, train: SCALED["standardize"](math.log1p(x), [math.log1p(v) for v in train]),
    "min_max": lambda x, train: (x - min(train)) / (max(train) - min(train)),
    "none": lambda x, train: x,
}
TABLE = "a,b,y\n1.5,2,0\n2.5,4,1\n7,6,0\n"
VALUES = [[1.5, 2], [2.5, 4], [7, 6]]
# Row of the table of files -> the file, its content, settings of CSV.
FILES = {
    "compressed with gzip": ("t.csv.gz", gzip.compress(TABLE.encode()), ""),
    "nothing if it is named `.tsv`": ("t.tsv", TABLE.replace(",", "\t"), ""),
    "else `delimiter: tab`": ("t.txt", TABLE.replace(",", "\t"), ", delimiter: tab"),
    '`delimiter: ";"` and `decimal: ","`': ("t.csv", TABLE.replace(",", ";").replace(".", ","), ', delimiter: ";", decimal: ","'),
    "a first line `sep=;`, as written by Excel | nothing": ("t.csv", "sep=;\n" + TABLE.replace(",", ";"), ""),
    "`encoding: latin1`": ("t.csv", TABLE.replace("y\n", "é\n", 1).encode("latin1"), ", encoding: latin1"),
    "or `utf-16`": ("t.csv", TABLE.encode("utf-16"), ", encoding: utf-16"),
    "nothing if it is named `.jsonl`": ("t.jsonl", '{"a": 1.5, "b": 2, "y": 0}\n{"b": 4, "a": 2.5, "y": 1}\n{"a": 7, "b": 6, "y": 0}\n', ""),
    "or `.ndjson`": ("t.ndjson", '{"a": 1.5, "b": 2, "y": 0}\n{"b": 4, "a": 2.5, "y": 1}\n{"a": 7, "b": 6, "y": 0}\n', ""),
    "else `format: jsonl`": ("t.txt", '{"a": 1.5, "b": 2, "y": 0}\n{"b": 4, "a": 2.5, "y": 1}\n{"a": 7, "b": 6, "y": 0}\n', ", format: jsonl"),
}
# Words of the page -> setting of `split`, and the ids of data.validation of 20 rows whose days go down, in 10 groups of 2.
SPLITS = {
    "{shares: 0.2, order: date}": [0, 1, 2, 3],
    "{shares: 0.2, order: rows}": [16, 17, 18, 19],
    "{column: part}": [3, 8, 13, 18],
}


def csv_of(columns):
    """A table of columns, and a column y of zeros."""
    rows = zip(*columns.values())
    return ",".join([*columns, "y"]) + "\n" + "".join(",".join([*row, "0"]) + "\n" for row in rows)


class TablesPage(ProgramTest):
    def values(self, settings="", file="t.csv", columns="x: auto", labels=""):
        """The samples of a table, in its order."""
        return self.samples_of(f"    - CSV: {{file: {file}, shuffle: false, columns: {{{columns}}}{labels}{settings}}}\n")

    def x_of(self, columns, settings="", types=""):
        self.write("t.csv", csv_of(columns))
        samples = self.values(f", scale: none, types: {{y: ignore{types}}}{settings}")
        self.assertIsInstance(samples, list, samples)
        return [sample["x"] for sample in samples]

    def assert_near(self, found, expected, message=None):
        self.assertEqual(len(found), len(expected), message)
        for f, e in zip(found, expected):
            self.assertAlmostEqual(f, e, delta=1e-5 * max(1, abs(e)), msg=message)

    def test_numbers_are_read_as_the_page_writes_them(self):
        for said, (field, second, third, value) in NUMBERS.items():
            with self.subTest(said):
                self.assertIn(said, PAGE)
                self.assert_near(self.x_of({"n": (field, second, third)})[0], [value])
        self.assertEqual(self.x_of({"n": ("5", "7", "", "90"), "k": ("1", "1", "4", "5")})[2][:2], [7, 1], "the median, and a mark")

    def test_two_words_are_a_bool(self):
        for said, (yes, no) in BOOLS.items():
            with self.subTest(said):
                self.assertIn(said, PAGE)
                self.assertEqual(self.x_of({"b": (yes, no, no, "", yes, no)}), [[1, 0], [0, 0], [0, 0], [0, 1], [1, 0], [0, 0]])

    def test_dates_are_read_as_the_page_writes_them(self):
        for said, form in DATES.items():
            with self.subTest(said):
                self.assertIn(said, PAGE)
                found = self.x_of({"d": [f'"{moment.strftime(form)}"' for moment in MOMENTS]})
                moments = [m - datetime.timedelta(hours=2 if "+" in form else 0) for m in MOMENTS]
                moments = [m.replace(day=1) if "%d" not in form and "%-d" not in form else m for m in moments]
                days = [m.toordinal() for m in moments]
                for row, moment in zip(found, moments):
                    angles = [(moment.month - 1) / 12, moment.isoweekday() / 7]
                    if any(part in form for part in HAS_TIME):
                        angles.append((moment.hour + moment.minute / 60) / 24)
                    expected = [SCALED["standardize"](moment.toordinal(), days)]
                    expected += [f(2 * math.pi * angle) for angle in angles for f in (math.sin, math.cos)]
                    self.assert_near(row, expected, form)

    def test_columns_are_not_read_that_name_rows(self):
        other = ("5", "7", "7", "8")
        for said, column in {"named `id`": {"id": ("9", "4", "4", "7")}, "`..._id`": {"ship_id": ("9", "4", "4", "7")},
                             "`...Id`": {"shipId": ("9", "4", "4", "7")}, "only one value": {"c": ("u", "u", "u", "u")},
                             "row numbers (each is one more": {"c": ("4", "5", "6", "7")},
                             "a first column of integers without a name": {"": ("9", "4", "4", "7")},
                             "texts that mostly occur once": {"c": ("Ann", "Bob", "Cid", "Dan")}}.items():
            with self.subTest(said):
                self.assertIn(said, PAGE)
                self.assertEqual(self.x_of({**column, "n": other}), [[5], [7], [7], [8]])
        self.assertEqual(self.x_of({"store_id": ("9", "4", "4", "7"), "n": other}, types=", store_id: category"),
                         [[0, 0, 1, 0, 5], [1, 0, 0, 0, 7], [1, 0, 0, 0, 7], [0, 1, 0, 0, 8]])

    def test_words_for_a_missing_value(self):
        self.assertIn("empty or NA, N/A, NaN, null, None, ?, #N/A or \\N", PAGE)
        for word in MISSING:
            with self.subTest(word):
                self.assertEqual(self.x_of({"n": ("5", "7", word, "90"), "k": ("1", "1", "4", "5")}),
                                 [[5, 0, 1], [7, 0, 1], [7, 1, 4], [90, 0, 5]])
        for word in ("unknown", "-"):
            with self.subTest(word):
                self.assertEqual(self.x_of({"n": (*[str(3 * i % 50) for i in range(30)], word)})[30][1], 1)
        self.assertEqual(self.x_of({"n": ("5", "-999", "90", "7"), "k": ("1", "-999", "4", "5")}, ", na_values: {n: -999}"),
                         [[5, 0, 1], [7, 1, -999], [90, 0, 4], [7, 0, 5]])

    def test_missing_values_become_what_the_config_says(self):
        column = {"n": ("5", "", "9", "3", "3"), "p": ("Aren", "Bude", "", "Bude", "Bude")}
        for rule, number in {"30": [30], "mean": [5, 1], "median": [4, 1], "most_common": [3, 1]}.items():
            with self.subTest(rule):
                self.assertEqual(self.x_of(column, f", missing: {{n: {rule}, p: Aren}}")[1:3], [[*number, 0, 1, 0], [9, *[0] * len(number[1:]), 1, 0, 0]])
                self.write("t.csv", csv_of(column))
                self.assertEqual(self.values(f", missing: {{n: {rule}}}", columns="n: n")[1], {"n": number[0]}, "a named column")

    def test_numbers_have_the_scale_of_the_table(self):
        train = [1, 2, 4, 53]
        self.write("t.csv", "a,y\n" + "".join(f"{v},0\n" for v in train))
        for scale, function in SCALED.items():
            with self.subTest(scale):
                self.assertIn(f"| `{scale}` |", PAGE)
                found = [sample["x"][0] for sample in self.values(f", types: {{y: ignore}}, scale: {scale}")]
                self.assert_near(found, [function(v, train) for v in train])
        ranks = [sample["x"][0] for sample in self.values(", types: {y: ignore}, scale: quantile")]
        self.assertEqual(ranks, sorted(ranks))
        self.assertAlmostEqual(ranks[0], -ranks[3], places=5)
        self.assertEqual([s["x"] for s in self.values(", types: {y: ignore}, scale: {a: log1p}")],
                         [s["x"] for s in self.values(", types: {y: ignore}, scale: log1p")])
        self.assertEqual([s["x"] for s in self.values(", types: {y: ignore}, scale: none, clip: {a: [2, 9]}")], [[2], [2], [4], [9]])
        self.assertEqual(max(s["x"][0] for s in self.values(", types: {y: ignore}, clip: 0.5")), 0.5)

    def test_files_are_read_as_the_table_says(self):
        for said, (file, content, settings) in FILES.items():
            with self.subTest(said):
                self.assertIn(said, PAGE)
                self.write(file, content)
                samples = self.values(settings, file=file, columns="x: [a, b]")
                self.assertIsInstance(samples, list, samples)
                self.assertEqual([sample["x"] for sample in samples], VALUES)
        for name, rows in (("part-1.csv", "a,b\n1,2\n"), ("part-2.csv", "b,a\n4,3\n")):
            self.write("data/" + name, rows)
        for file in ("data/part-*.csv", "[data/part-1.csv, data/part-2.csv]"):
            self.assertEqual([s["x"] for s in self.values(file=file, columns="x: [a, b]")], [[1, 2], [3, 4]], "columns in any order")
        self.write("n.csv", "5.1,3.5\n4.9,3.0\n")
        self.assertEqual([s["x"] for s in self.values(", header: false", file="n.csv", columns='x: ["0", "1"]')][0][1], 3.5)
        self.assertIn("looks like data", self.values(file="n.csv", columns="x: auto"))

    def test_json_lines_have_columns_of_keys(self):
        self.write("t.jsonl", '{"size": {"w": 2}, "code": [5, 6], "f": true, "k": true}\n{"size": {"w": 3}, "code": [7, 8], "f": false, "k": false}\n')
        self.assertEqual(self.values(file="t.jsonl", columns='w: size.w, code: ["code[.].*"], f: f', labels=", labels: {k: k}"),
                         [{"w": 2, "code": [5, 6], "f": 1, "k": 1}, {"w": 3, "code": [7, 8], "f": 0, "k": 0}])
        self.write("t.jsonl", '{"a": 1}\n{"b": 5, "a": null}\n{"a": 9, "b": 5}\n')
        self.assertEqual([s["x"] for s in self.values(", missing: -1", file="t.jsonl", columns="x: [a, b]")], [[1, -1], [-1, 5], [9, 5]])

    def test_split_makes_the_parts_of_the_table(self):
        days = [f"2024-01-{28 - i}" for i in range(20)]
        parts = ["validation" if i % 5 == 3 else "train" for i in range(20)]
        kinds = ["yes" if i % 4 == 0 else "no" for i in range(20)]
        self.write("t.csv", "n,name,date,part,delayed\n" + "".join(f"{i},g{i // 2},{days[i]},{parts[i]},{kinds[i]}\n" for i in range(20)))

        def ids(split, part="validation", labels=""):
            self.write("split.yaml", f"tpack: 1\nsplit: {split}\ndata:\n  train:\n    - CSV: {{file: t.csv, shuffle: false, columns: {{n: n}}{labels}}}\n"
                       "  validation: {flow: []}\n" + ("  test: {flow: []}\n" if "test" in split else ""))
            samples = json.loads(self.output_of(f"tpack data inspect split.yaml --json --samples 100 --flow {part} 2>log"))[0]["samples"]
            return [row["mean"] for row in samples if row["component"] == "n"]

        for split, expected in SPLITS.items():
            with self.subTest(split):
                self.assertIn(split.split("order: rows")[0], PAGE)
                self.assertEqual(ids(split), expected)
        labels = ", labels: {delayed: delayed}"
        self.assertEqual(sorted(ids("0.2") + ids("0.2", "train")), list(range(20)))
        self.assertEqual(sum(i % 4 == 0 for i in ids("0.2", labels=labels)), 1, "the same shares of classes")
        self.assertNotEqual(ids("{shares: 0.2, seed: 1}"), ids("{shares: 0.2, seed: 3}"))
        three = "{shares: {validation: 0.15, test: 0.15}, seed: 3}"
        self.assertEqual([len(ids(three, part)) for part in ("train", "validation", "test")], [14, 3, 3])
        grouped = ids("{shares: 0.2, group: name}")
        self.assertEqual(len(grouped), 2 * len({i // 2 for i in grouped}))
        folds = [ids(f"{{folds: 5, fold: {fold}}}") for fold in range(5)]
        self.assertEqual([len(fold) for fold in folds], [4] * 5)
        self.assertEqual(sorted(sum(folds, [])), list(range(20)))
        hashed = "{shares: 0.2, group: name, hash: true}"
        before = ids(hashed)
        with open(self.folder / "t.csv", "a") as file:
            file.writelines(f"{i},g{i // 2},2024-02-01,train,no\n" for i in range(20, 60))
        self.assertEqual([i for i in ids(hashed) if i < 20], before, "new rows change no old ones")


MODEL = "train_log/voyages/checkpoints/max-validation_accuracy.h5"
# Word of --columns -> the header, and its field in a row (the text of the input, and the probabilities of no and yes).
COLUMNS = {
    "id": ("id", lambda row, p: row["id"]),
    "delayed": ("delayed", lambda row, p: "yes" if p[1] >= 0.5 else "no"),
    "late=prediction": ("late", lambda row, p: "yes" if p[1] >= 0.5 else "no"),
    "score": ("score", lambda row, p: max(p)),
    "probability.yes": ("probability.yes", lambda row, p: p[1]),
    "p=probability.no": ("p", lambda row, p: p[0]),
    "file": ("file", lambda row, p: f"voyages-new.csv:{int(row['id']) - 999}"),
    "index": ("index", lambda row, p: int(row["id"]) - 1001),
}


class TablesPageRuns(ProgramTest):
    """The model of the page, trained for three epochs."""

    def setUp(self):
        super().setUp()
        subprocess.run([ROOT / "scripts/make_tables.py", self.folder], check=True)
        for name, text in configs_of("tables.md").items():
            self.write(name, text)

    def train(self, config="voyages", options=""):
        return self.output_of(f"tpack train {config}.yaml --set max_epoch=3 {options}")

    def rows(self, command):
        return list(csv.DictReader(self.output_of(command + " 2>log").splitlines()))

    def test_infer_writes_the_columns_that_are_asked_for(self):
        self.train()
        words = ",".join(COLUMNS)
        new = list(csv.DictReader((self.folder / "voyages-new.csv").read_text().splitlines()))
        found = self.rows(f"tpack infer {MODEL} voyages-new.csv --columns probability,{words}")
        self.assertEqual(len(found), len(new))
        for row, answer in zip(new, found):
            p = [float(number) for number in answer["probability"].split()]
            for header, field in COLUMNS.values():
                expected = field(row, p)
                self.assertEqual(type(expected)(answer[header]), expected, header)
        # A threshold, from which on it is the second class.
        least = found[3]["probability.yes"]
        careful = self.rows(f"tpack infer {MODEL} voyages-new.csv --columns delayed --threshold {least}")
        self.assertEqual([row["delayed"] == "yes" for row in careful], [float(row["probability.yes"]) >= float(least) for row in found])
        # A column that the input has comes first; after a header, the name does.
        self.write("own.csv", (self.folder / "voyages-new.csv").read_text().replace("name", "score", 1))
        own = self.rows(f"tpack infer {MODEL} own.csv --columns score,s=score")
        self.assertEqual((own[0]["score"], own[0]["s"]), (new[0]["name"], found[0]["score"]))
        code, output = self.run_commands(f"tpack infer {MODEL} voyages-new.csv --columns id,true")
        self.assertEqual(code, 3)
        self.assertIn("unknown column 'delayed'", output)
        # Rows in another order of columns, packed, in a pipe, of the flow.
        with gzip.open(self.folder / "new.csv.gz", "wt") as file:
            writer = csv.DictWriter(file, list(reversed(new[0])))
            writer.writeheader()
            writer.writerows(new)
        answers = [row["delayed"] for row in found]
        self.assertEqual([row["delayed"] for row in self.rows(f"tpack infer {MODEL} new.csv.gz --columns delayed")], answers)
        self.assertEqual([row["delayed"] for row in self.rows(f"cat voyages-new.csv | tpack infer {MODEL} - --columns delayed")], answers)
        self.assertEqual(len(self.rows(f"tpack infer {MODEL} --data validation --columns true,delayed")), 200)

    def test_thresholds_are_chosen_as_the_table_says(self):
        self.train()
        rows = [(row["true"] == "yes", float(row["probability.yes"]))
                for row in self.rows(f"tpack infer {MODEL} --data validation --columns true,probability.yes")]

        def figures(threshold):
            said = [is_late for is_late, p in rows if p >= threshold]
            hits, late = sum(said), sum(is_late for is_late, _ in rows)
            precision = hits / len(said) if said else 0
            return {"recall": hits / late, "precision": precision, "f1": 2 * hits / (len(said) + late), "cost": 5 * (late - hits) + len(said) - hits}

        every = [figures(p) for _, p in rows]
        best = {"f1": max(f["f1"] for f in every), "recall=0.8": max(f["precision"] for f in every if f["recall"] >= 0.8),
                "precision=0.45": max(f["recall"] for f in every if f["precision"] >= 0.45), "cost=5": min(f["cost"] for f in every)}
        for goal, expected in best.items():
            with self.subTest(goal):
                self.assertIn(f"`{goal.split('=')[0]}", PAGE)
                chosen = json.loads(self.output_of(f"tpack eval {MODEL} --threshold-for {goal} --json 2>log"))["threshold"]
                found = figures(chosen["threshold"])
                for figure in ("recall", "precision", "f1"):
                    self.assertAlmostEqual(chosen[figure], found[figure], places=6)
                name = {"recall=0.8": "precision", "precision=0.45": "recall", "cost=5": "cost"}.get(goal, "f1")
                self.assertAlmostEqual(found[name], expected, places=6)
        same = [json.loads(self.output_of(f"tpack eval {MODEL} {option} --json 2>log"))["threshold"] for option in ("--threshold-for f1", "--choose-threshold")]
        self.assertEqual(*same)

    def test_eval_and_infer_need_no_files_of_the_training(self):
        self.train()
        (self.folder / "voyages.csv").rename(self.folder / "other.csv")
        output = self.output_of(f"tpack eval {MODEL} other.csv")
        for words in ("precision", "actual \\ predicted"):
            self.assertIn(words, output)

    def test_the_schema_of_a_table_is_a_source(self):
        source = self.output_of("tpack data schema voyages.csv --yaml").replace("      delayed: bool\n", "    labels: {delayed: delayed}\n")
        pasted = re.sub(r"    - CSV: .*\n", "".join(f"    {line}\n" for line in source.splitlines()), configs_of("tables.md")["voyages.yaml"], count=1)
        self.write("pasted.yaml", pasted)
        self.assertEqual(*(re.search(r"data.train: .*date: date", self.output_of(f"tpack check {name}.yaml"))[0] for name in ("pasted", "voyages")))

    def test_a_resumed_run_keeps_its_split(self):
        self.train()
        for split in ("0.3", "{shares: 0.2, seed: 4}", "{shares: 0.2, stratify: none}"):
            code, output = self.run_commands(f"tpack train voyages.yaml --resume auto --set split='{split}' --set max_epoch=4")
            self.assertEqual(code, 2, output)
            self.assertIn("the parts of the data would change", output)

    def test_rows_of_a_pipe_are_one_pass_and_no_resume(self):
        pipe = "cat voyages.csv | tpack train streamed.yaml --set data.train.0.Streamed.source.CSV.file='\"-\"'"
        self.output_of(f"{pipe} --set max_epoch=1")
        code, output = self.run_commands(f"{pipe} --set max_epoch=2 --resume auto")
        self.assertEqual((code, "its rows are only one pass, so the run cannot be resumed" in output), (3, True), output)
        code, output = self.run_commands(f"{pipe} --set max_epoch=9 --set name=long")
        self.assertEqual((code, "its rows are only one pass; lower steps_per_epoch or max_epoch" in output), (3, True), output)

    def test_infer_predicts_all_rows_of_a_filtered_flow(self):
        self.write("few.yaml", configs_of("tables.md")["computed.yaml"].replace("fare < 100", "fare < 20"))
        self.assertRegex(self.train("few"), r"(?s)steps per epoch +1[0-9]\b")
        self.assertEqual(len(self.rows("tpack infer train_log/few/checkpoints/max-validation_accuracy.h5 voyages-new.csv --columns id,delayed")), 500)

    def test_folds_have_the_files_of_the_page(self):
        command = "tpack train voyages.yaml --folds 3 --set max_epoch=2"
        first = self.output_of(command)
        self.assertIn("with the checkpoints of the best epochs; these were chosen on the same rows", first)
        out = list(csv.DictReader((self.folder / "train_log/voyages-folds/out_of_fold.csv").read_text().splitlines()))
        self.assertEqual(list(out[0]), ["file", "id", "true", "prediction", "score", "probability.no", "probability.yes", "fold"])
        self.assertEqual([row["id"] for row in out], [str(i) for i in range(1, 1001)])
        self.assertEqual({row["fold"] for row in out}, {"0", "1", "2"})
        statistics_of = lambda folder: json.loads((self.folder / folder / "folds.json").read_text())["statistics"]["validation_accuracy"]  # noqa: E731
        self.output_of(f"{command} --jobs 2 --log-dir two")
        self.assertEqual(statistics_of("two"), statistics_of("train_log/voyages-folds"), "two at a time are the same")
        self.assertIn("are not trained again", self.output_of(command))
        self.output_of(f"{command} --log-dir saved --set 'callbacks=[ModelSaver, {{InferenceRunner: {{data: validation}}}}]'")
        shares = [row["true"] == row["prediction"] for row in csv.DictReader((self.folder / "saved/out_of_fold.csv").read_text().splitlines())]
        self.assertAlmostEqual(statistics_of("saved")["mean"], sum(shares) / 1000, delta=2e-3, msg="of the same epoch as the table")


if __name__ == "__main__":
    unittest.main()
