#!/usr/bin/env python3
"""Tries the fix that each message names: takes it out of the message, applies it, and expects that the message is gone and the exit code is 0.

    fixes_test.py TPACK

A new message with a fix gets a row in FIXES. tests/experiment/other_words_list_test.cpp does the same for words of other tools.
"""
import dataclasses
import random
import re
import unittest

import png
from program import ProgramTest

SECTIONS = """model:
  layers:
    - FullyConnected: {units: 8, activation: ReLU, input: x}
    - FullyConnected: {name: scores, units: 2}
  cost:
    - SoftmaxCrossEntropy: {logits: scores, labels: late}
  metrics:
    - Accuracy: {logits: scores, labels: late}
optimizer:
  Adam: {learning_rate: 0.01}
max_epoch: 2
callbacks:
  - ModelSaver: {keep: 1}
  - InferenceRunner: {data: validation}
predict: {data: validation, outputs: {probability: {Softmax: scores}}}
"""
TABLE = """tpack: 1
split: 0.25
data:
  train:
    - CSV: {file: t.csv, columns: {x: auto}, labels: {late: late}}
    - BatchData: {batch_size: 8}
  validation:
    - BatchData: {batch_size: 8, remainder: true}
""" + SECTIONS
PHOTOS = """tpack: 1
split: 0.25
data:
  train:
    - ImageFolder: photos
    - AugmentImageComponent: [{Resize: 8}]
    - BatchData: {batch_size: 4}
  validation:
    - AugmentImageComponent: [{Resize: 8}]
    - BatchData: {batch_size: 4, remainder: true}
""" + SECTIONS.replace("labels: late", "labels: label").replace("    - FullyConnected: {units: 8, activation: ReLU, input: x}",
                                                                 "    - Normalize: {scale: 0.01, input: image}\n    - Conv2D: {filters: 4, activation: ReLU}")
MASKS = """tpack: 1
split: 0.25
data:
  train:
    - ImagePairs: {images: image, masks: mask, classes: [background, cell]}
    - AugmentImageComponent: [{RandomCrop: 8}]
    - BatchData: {batch_size: 4}
  validation:
    - AugmentImageComponent: [{CenterCrop: 8}]
    - BatchData: {batch_size: 4, remainder: true}
model:
  inputs:
    image: {shape: [8, 8, 3], dtype: uint8, layout: HWC}
    mask: {shape: [8, 8], dtype: uint8}
  layers:
    - Normalize: {scale: 0.01, input: image}
    - Conv2D: {name: scores, filters: 2}
  cost:
    - SoftmaxCrossEntropy: {logits: scores, labels: mask}
""" + SECTIONS[SECTIONS.index("optimizer:"):SECTIONS.index("predict:")]
FARES = TABLE.replace("x: auto}, labels: {late: late}", "x: auto, fare: fare}, types: {late: ignore}").replace("name: scores, units: 2}", "name: price, units: 1}").replace(
    "SoftmaxCrossEntropy: {logits: scores, labels: late}", "MeanSquaredError: {predictions: price, targets: fare}").replace(
    "Accuracy: {logits: scores, labels: late}", "R2: {predictions: price, targets: fare}").replace("{probability: {Softmax: scores}}", "[price]")
LIST = PHOTOS.replace("ImageFolder: photos", "ImageList: {file: list.csv, path: path, labels: {label: kind}}")
BATCH = "    - BatchData: {batch_size: 8}\n  validation"
MODEL = "run/checkpoints/model-10.h5"
MEANT = r"did you mean '(.+?)'\?"


@dataclasses.dataclass
class Fix:
    """`wrong` are the changes of a config that make the mistake, `says` is a part of the message, whose groups are the fix, and `then` the
    changes that it asks for, of the config or, as a text, another command."""
    base: str
    wrong: dict
    says: str
    then: object
    command: str = "tpack check c.yaml"


def option(says, then, command):
    """A fix of a command; MODEL and PHOTOS_MODEL are checkpoints."""
    return Fix(TABLE, {}, says, then, command)


FIXES = [
    # Words
    Fix(TABLE, {"learning_rate": "learning_rat"}, MEANT, {"learning_rat:": "{0}:"}),
    Fix(TABLE, {"learning_rate": "lr"}, MEANT, {"lr:": "{0}:"}),
    Fix(TABLE, {"Adam:": "adam:"}, MEANT, {"adam:": "{0}:"}),
    Fix(TABLE, {"optimizer:": "optimiser:"}, MEANT, {"optimiser": "{0}"}),
    Fix(TABLE, {"max_epoch": "epochs"}, MEANT, {"epochs:": "{0}:"}),
    Fix(TABLE, {"- FullyConnected: {units": "- FulyConnected: {units"}, MEANT, {"FulyConnected": "{0}"}),
    Fix(TABLE, {"- FullyConnected: {units: 8": "- Dense: {units: 8"}, r"use (\w+: \{units: 10\})", {"Dense: {units: 8": "{0}", "10}": "10"}),
    Fix(TABLE, {"SoftmaxCrossEntropy:": "CrossEntropyLoss:"}, r"use (\w+): \{logits", {"CrossEntropyLoss": "{0}"}),
    Fix(TABLE, {"Accuracy:": "Acuracy:"}, MEANT, {"Acuracy": "{0}"}),
    Fix(TABLE, {"activation: ReLU": "activation: relu"}, MEANT, {"relu": "{0}"}),
    Fix(TABLE, {"logits: scores, labels: late}\n  metrics": "logits: scroes, labels: late}\n  metrics"}, MEANT, {"scroes": "{0}"}),
    Fix(TABLE, {"data: validation}\n": "data: valid}\n"}, MEANT, {"data: valid}": "data: {0}}"}),
    Fix(TABLE, {"callbacks:": "vars: {epochs: 3}\ngates: {validation_acc: '>= 0'}\ncallbacks:"}, MEANT, {"validation_acc:": "{0}:"}),
    Fix(TABLE, {"max_epoch: 2": "vars: {epochs: 3}\nmax_epoch: $(vars.epoch)"}, MEANT, {"vars.epoch)": "{0})"}),
    Fix(TABLE, {"data: validation}\n": "data: validation}\n  - EarlyStopping: {monitor: validation_cost}\n"}, r"use (EarlyStop: .*patience: 5\})",
        {"EarlyStopping: {monitor: validation_cost}": "{0}", "...": "validation_cost"}, "tpack train c.yaml"),
    Fix(PHOTOS, {"filters: 4": "filters: 4, kernel_size: 3"}, MEANT, {"kernel_size": "{0}"}),
    Fix(PHOTOS, {"[{Resize: 8}]": "[{RandomHorizontalFlip: 0.5}, {Resize: 8}]"}, r"use (Flip: \{.*\})", {"RandomHorizontalFlip: 0.5": "{0}"}),
    Fix(TABLE, {"callbacks:\n": "callbacks:\n  - MaxSaver: {monitor: validation_acuracy}\n"}, MEANT,
        {"  - MaxSaver: {monitor: validation_acuracy}\n": "", "data: validation}\n": "data: validation}\n  - MaxSaver: {monitor: {0}}\n"}),
    Fix(TABLE, {"callbacks:\n": "callbacks:\n  - MaxSaver: {monitor: validation_accuracy}\n"}, "move that callback before this one",
        {"  - MaxSaver: {monitor: validation_accuracy}\n": "", "data: validation}\n": "data: validation}\n  - MaxSaver: {monitor: validation_accuracy}\n"}),
    Fix(TABLE, {"units: 2}": "units: 2, adapter_rank: 3}"}, r"must be at most (\d+), or adapter_rank", {"rank: 3": "rank: {0}"}),
    Fix(TABLE, {"units: 2}": "units: 2, adapter_rank: 3}"}, r"or adapter_rank: (~) for a layer", {"rank: 3": "rank: {0}"}),
    Fix(TABLE, {"units: 2}": "units: 2, adapter_rank: 1, kernel_transform: Tanh}"}, r"for this layer with adapter_rank: (~)", {"rank: 1": "rank: {0}"}),
    # The sections and the flows
    Fix(TABLE, {"tpack: 1\n": ""}, "'(tpack: 1)' is missing; write it as the first line", {"split": "{0}\nsplit"}),
    Fix(TABLE, {"tpack: 1\n": "tpack: 2\n"}, "use '(tpack: 1)'", {"tpack: 2": "{0}"}),
    Fix(TABLE, {"split: 0.25\n": ""}, "add (split: 0.2)", {"\ndata:": "\n{0}\ndata:"}),
    Fix(TABLE, {"  validation:\n    - BatchData: {batch_size: 8, remainder: true}\n": ""}, r"as (validation: \[BatchData: 100\]) in `data`",
        {"model:": "  {0}\nmodel:", "BatchData: 100": "BatchData: {batch_size: 100, remainder: true}"}),
    Fix(TABLE, {"    - BatchData: {batch_size: 8}\n": ""}, r"end it with (BatchData: \{batch_size: \.\.\.\})", {"  validation": "    - {0}\n  validation", "...": "8"}),
    Fix(TABLE, {"size: 8}": "size: 800}"}, "set (remainder: true)", {"800": "800, {0}"}),
    Fix(TABLE, {", remainder: true": ""}, "set (remainder: true) in its BatchData", {"  validation:\n    - BatchData: {batch_size: 8": "  validation:\n    - BatchData: {batch_size: 8, {0}"}),
    Fix(PHOTOS, {"    - AugmentImageComponent: [{Resize: 8}]\n    - BatchData: {batch_size: 4}": "    - BatchData: {batch_size: 4}"},
        r"put (AugmentImageComponent: \[\{Resize: 224\}\]) before it", {"    - BatchData: {batch_size: 4}\n": "    - {0}\n    - BatchData: {batch_size: 4}\n", "224": "8"}),
    Fix(PHOTOS, {"    - ImageFolder: photos\n": "    - ImageFolder: photos\n    - Flip\n"}, r"write (AugmentImageComponent: \[Flip\])", {"- Flip": "- {0}"}),
    Fix(TABLE, {"    - BatchData: {batch_size: 8}\n": "    - Cast: {dtype: float32}\n    - BatchData: {batch_size: 8}\n"},
        r"write (MapData: \{component: \.\.\., map: \{Cast: \.\.\.\}\})", {"Cast: {dtype: float32}": "{0}", "component: ...": "component: x", "Cast: ...": "Cast: float32"}),
    Fix(PHOTOS, {"[{Resize: 8}]\n    - BatchData: {batch_size: 4}\n": "[{Resize: 8}]\n    - PadBatch: 4\n"}, "nothing to pad; write (BatchData: 4)", {"PadBatch: 4": "{0}"}),
    Fix(PHOTOS, {"[{Resize: 8}]\n    - BatchData: {batch_size: 4}\n": "[{Resize: 8}]\n    - BatchDataByShape: 4\n"}, "in every sample; write (BatchData: 4)",
        {"BatchDataByShape: 4": "{0}"}),
    Fix(TABLE, {"    - BatchData: {batch_size: 8}\n": "    - CacheData\n    - BatchData: {batch_size: 8}\n"}, r"write (CacheData: \{shuffle: true\})", {"- CacheData": "- {0}"}),
    # The form of YAML
    Fix(TABLE, {"file: t.csv": "file:t.csv"}, "write '(file: t.csv)', with a space", {"file:t.csv": "{0}"}),
    Fix(TABLE, {"  - ModelSaver: {keep: 1}\n  - Inf": "  ModelSaver: {keep: 1}\n  Inf"}, "begin each item with '(- )'", {"  ModelSaver": "  {0}ModelSaver", "  Inf": "  {0}Inf"}),
    Fix(TABLE, {"    - Accuracy": "    Accuracy"}, "begin each item with '(- )'", {"    Accuracy": "    {0}Accuracy"}),
    Fix(TABLE, {"    - FullyConnected: {units: 8, activation: ReLU, input: x}\n    - FullyConnected: {name": "    FullyConnected: {input: x, name"}, "layers, found a map; begin each item with '(- )'",
        {"    FullyConnected": "    {0}FullyConnected"}),
    Fix(TABLE, {"- InferenceRunner: {data: validation}": "- InferenceRunner: validation"}, r"write (\{data: validation\})", {"InferenceRunner: validation": "InferenceRunner: {0}"}),
    Fix(TABLE, {"units: 8": "units: $(max(8, 4))"}, "put (quotes) around an expression", {"$(max(8, 4))": "'$(max(8, 4))'"}),
    Fix(TABLE, {"max_epoch: 2": "max_epoch: $(env.TPACK_NO_EPOCHS)"}, "or write '(env.TPACK_NO_EPOCHS or) DEFAULT'", {"env.TPACK_NO_EPOCHS": "{0} 3"}),
    Fix(TABLE, {"max_epoch: 2": "max_epoch: 2\nname: a/b"}, "for a path, use (--log-dir)", "sed -i /name:.a/d c.yaml; tpack train c.yaml {0} a/b"),
    Fix(TABLE, {"max_epoch: 2": "max_epoch: 2\ninit: kept/run/checkpoints/model-10.h5"}, r"write (\{from: .*\})", {"init: kept/run/checkpoints/model-10.h5": "init: {0}"}),
    Fix(TABLE, {"max_epoch: 2": "max_epoch: 2\ninit: []"}, r"write `(init: null)`", {"init: []": "{0}"}),
    Fix(TABLE, {"max_epoch: 2": "max_epoch: 2\nfreeze: [fuly_connected_0]"}, MEANT, {"fuly_connected_0": "{0}"}),
    Fix(TABLE, {"max_epoch: 2": "max_epoch: 2\nmax_epoch: 3"}, "duplicate key 'max_epoch'; first defined at c.yaml:(19):1", "sed -i {0}d c.yaml; tpack check c.yaml"),
    Fix(TABLE, {"name: scores": "name: late"}, "rename the layer", {"name: late": "name: scores"}),
    Fix(TABLE, {"outputs: {probability: {Softmax: scores}}": "outputs: [Softmax: scores]"}, r"write (\{NAME: \{LAYER: OUTPUT\}\})", {"[Softmax: scores]": "{0}", "NAME: {LAYER: OUTPUT": "p: {Softmax: scores"}),
    # Tables
    Fix(TABLE, {"late: late}": "late: Late}"}, MEANT, {"late: Late": "late: {0}"}),
    Fix(TABLE, {"x: auto}": "x: auto}, types: {agee: number}"}, MEANT, {"agee": "{0}"}),
    Fix(TABLE, {"x: auto}": "x: auto}, types: {age: numbr}"}, MEANT, {"numbr": "{0}"}),
    Fix(TABLE, {"t.csv": "semicolons.csv"}, r'set (delimiter: ";")', {"semicolons.csv": "semicolons.csv, {0}"}),
    Fix(TABLE, {"t.csv": "commas.csv, delimiter: ;", "x: auto": "x: [fare]"}, r'set (decimal: ",")', {"delimiter: ;": "delimiter: ;, {0}"}),
    Fix(TABLE, {"t.csv": "no-names.csv"}, r"set (header: false), and name columns by numbers", {"no-names.csv": "no-names.csv, {0}", "late: late}}": 'late: "4"}}'}),
    Fix(TABLE, {"t.csv": "latin.csv"}, "set (encoding: latin1)", {"latin.csv": "latin.csv, {0}"}),
    Fix(TABLE, {"t.csv": "utf-16.csv"}, "set (encoding: utf-16)", {"utf-16.csv": "utf-16.csv, {0}"}),
    Fix(TABLE, {"t.csv": "gaps.csv", "x: auto": "x: [age]"}, "set '(missing)'", {"gaps.csv": "gaps.csv, {0}: mean"}),
    Fix(TABLE, {"t.csv": "words.csv", "x: auto": "x: [age]"}, "'(na_values)' for words that mean a missing value", {"words.csv": "words.csv, {0}: old, missing: mean"}),
    Fix(TABLE, {"t.csv": "words.csv", "x: auto": "x: [age]"}, r"set (data\.train\.on_error) to (skip)", "tpack check c.yaml --set {0}={1} --set data.validation.on_error={1}"),
    Fix(TABLE, {"t.csv": "days.csv"}, r"set (dates: day_first)", {"days.csv": "days.csv, {0}"}),
    Fix(TABLE, {"split: 0.25": "split: {shares: 0.25, stratify: lat}"}, MEANT, {"stratify: lat": "stratify: {0}"}),
    Fix(TABLE, {"labels: late}\n  metrics": "labels: late, class_weights: {yess: 3}}\n  metrics"}, MEANT, {"yess": "{0}"}),
    Fix(TABLE, {"file: t.csv": "file: big.csv", "x: auto": "x: auto, fare: fare"}, "has no column that 'auto' can use.*set `(types)`", {"file: big.csv": "file: big.csv, {0}: {word: category}"}),
    Fix(TABLE, {"x: auto": "x: [age, fair]"}, r"unknown column 'fair'; .*columns id, age, kind, (fare), late", {"fair": "{0}"}),
    # Choosing rows
    Fix(TABLE, {BATCH: "    - Filter: late = 'yes'\n" + BATCH}, "use '(==)' to compare", {"late = ": "late {0} "}),
    Fix(TABLE, {BATCH: "    - Filter: late == yes\n" + BATCH}, "write it in quotes: ('yes')", {"late == yes": "late == {0}"}),
    Fix(TABLE, {BATCH: "    - Filter: late == 'yes' && 1 > 0\n" + BATCH}, "write '(and)', 'or', 'not'", {"&&": "{0}"}),
    Fix(TABLE, {BATCH: '    - Compute: {x: "x^2"}\n' + BATCH}, r"write (x \*\* )y", {"x^2": "{0}2"}),
    Fix(TABLE, {BATCH: "    - Filter: age > 10\n" + BATCH}, "add it to `columns: {(age: age)}`", {"x: auto": "x: auto, {0}"}),
    # Lists of pictures
    Fix(LIST, {"path: path, ": ""}, "set '(path)' to its column of paths", {"file: list.csv": "file: list.csv, {0}: path"}),
    Fix(LIST, {"path: path": "path: pth"}, MEANT, {"path: pth": "path: {0}"}),
    Fix(LIST, {", labels: {label: kind}": ""}, r"name some with '(labels)'.*such as (\{label: )species", {"path: path": "path: path, {0}: {1}kind}"}),
    Fix(LIST, {"{file: list.csv, path: path, labels: {label: kind}}": "list.csv"}, "if it is a CSV table, set '(path)' to its column of paths",
        {"ImageList: list.csv": "ImageList: {file: list.csv, {0}: path, labels: {label: kind}}"}),
    Fix(LIST, {"list.csv": "deep/list.csv"}, "set '(root)' to the base folder", {"file: deep/list.csv": "file: deep/list.csv, {0}: ."}),
    Fix(LIST, {"label: kind}": "label: kind}, columns: {age: age}"}, "set '(missing)'", {"age: age}": "age: age}, {0}: mean"}),
    Fix(PHOTOS, {"ImageFolder: photos": "ImageFolder: some-broken"}, r"set (data\.train\.on_error) to (skip)", "tpack check c.yaml --set {0}={1}"),
    Fix(PHOTOS, {"ImageFolder: photos": "ImageFolder: some-broken"}, r"write the flow as (\{on_error: replace, flow: \[)",
        "sed -i 's/^  train:/  train:\\n    on_error: replace\\n    flow:/; s/^    - /      - /' c.yaml; tpack train c.yaml", "tpack train c.yaml"),
    Fix(PHOTOS, {"    - BatchData: {batch_size: 4}\n": "    - BatchData: {batch_size: 4}\n    - AugmentImageComponent: [Flip]\n"}, "put the map before BatchData",
        {"    - BatchData: {batch_size: 4}\n    - AugmentImageComponent: [Flip]\n": "    - AugmentImageComponent: [Flip]\n    - BatchData: {batch_size: 4}\n"}),
    Fix(PHOTOS, {"    - BatchData: {batch_size: 4}\n": "    - MixUp: {alpha: 0.2}\n    - BatchData: {batch_size: 4}\n"}, "put it after BatchData",
        {"    - MixUp: {alpha: 0.2}\n    - BatchData: {batch_size: 4}\n": "    - BatchData: {batch_size: 4}\n    - MixUp: {alpha: 0.2}\n"}),
    Fix(PHOTOS, {"Resize: 8}]\n    - BatchData: {batch_size: 4, ": "Resize: 9}]\n    - BatchData: {batch_size: 4, "}, r"change the flow with AugmentImageComponent: \[(Resize: \[8, 8\])\]",
        {"Resize: 9": "{0}"}),
    # Shapes and costs
    Fix(PHOTOS, {"Normalize: {scale: 0.01, input: image}\n    - Conv2D: {": "Conv2D: {input: image, "}, "put a (Normalize) before it",
        {"- Conv2D: {input: image, ": "- {0}: {input: image}\n    - Conv2D: {"}),
    Fix(PHOTOS, {"model:": "model:\n  inputs:\n    image: {shape: [3, 8, 8], dtype: uint8, layout: CHW}\n    label: {shape: [], dtype: int32}"},
        r"(?s)write (shape: \[8, 8, 3\]).*write (layout: HWC)", {"shape: [3, 8, 8]": "{0}", "layout: CHW": "{1}"}),
    Fix(PHOTOS, {"model:": "model:\n  inputs:\n    image: {shape: [8, 8, 3], dtype: float32, layout: HWC}\n    label: {shape: [], dtype: int32}"},
        "write (dtype: uint8)", {"dtype: float32": "{0}"}),
    Fix(PHOTOS, {"model:": "model:\n  inputs:\n    image: {shape: [8, 8, 1], dtype: uint8, layout: HWC}\n    label: {shape: [], dtype: int32}"},
        "set (color: gray) in their source", {"ImageFolder: photos": "ImageFolder: {dir: photos, {0}}"}),
    Fix(PHOTOS, {"    - FullyConnected: {name: scores": "    - Flatten\n    - FullyConnected: {name: scores"}, r"write (Reshape: \{shape: \[-1\]\})", {"Flatten": "{0}"}),
    Fix(PHOTOS, {"FullyConnected: {name: scores, units: 2}": "Conv2D: {name: scores, filters: 2}"}, "add a (GlobalAvgPooling) and a (FullyConnected) layer",
        {"Conv2D: {name: scores, filters: 2}": "{0}\n    - {1}: {name: scores, units: 2}"}),
    Fix(PHOTOS, {"    - FullyConnected: {name: scores": "    - MaxPooling: 9\n    - FullyConnected: {name: scores"}, "use `(padding: same)`",
        {"MaxPooling: 9": "MaxPooling: {window: 9, {0}}"}),
    Fix(PHOTOS, {"units: 2}": "units: 3}"}, "set (units: 2) in the layer of the logits", {"units: 3": "{0}"}),
    Fix(PHOTOS, {"units: 2}": "units: 1}"}, "set (2) outputs in its layer", {"units: 1}": "units: {0}}"}),
    Fix(TABLE, {"units: 2}": "units: 2}\n    - Softmax: {name: p}", "logits: scores": "logits: p"}, "name the output before the softmax", {"logits: p": "logits: scores", "    - Softmax: {name: p}\n": ""}),
    Fix(TABLE, {"units: 2}": "units: 2}\n    - Softmax: {name: p}"}, "nothing uses the output of layer (p); connect it with `input`, or remove it", {"    - Softmax: {name: {0}}\n": ""}),
    Fix(TABLE, {"Accuracy: {": "Precision: {"}, "write (average: macro), micro", {"Precision: {": "Precision: {{0}, "}),
    Fix(TABLE, {"Accuracy: {": "InTopK: {"}, "use a smaller (k)", {"InTopK: {": "InTopK: {{0}: 1, "}),
    Fix(TABLE, {"late}\n  metrics": "late, ignore_label: -1}\n  metrics"}, "write (ignore_label: -1) in the metric", {"late}\noptimizer": "late, {0}}\noptimizer"}),
    Fix(TABLE, {"SoftmaxCross": "SigmoidCross", "Accuracy": "MultiLabelAccuracy", "Softmax: scores": "Sigmoid: scores"}, "give the layer of the output (1 unit)",
        {"units: 2": "units: 1"}),
    Fix(FARES, {"name: price, units: 1": "name: price, units: 2"}, "give the layer of the output (1 unit)", {"units: 2": "units: 1"}),
    Fix(TABLE, {"SoftmaxCross": "SigmoidCross", "units: 2": "units: 1", "Softmax: scores": "Sigmoid: scores"}, "use (MultiLabelAccuracy)", {"Accuracy:": "{0}:"}),
    Fix(TABLE, {"  - InferenceRunner: {data: validation}\n": "  - MaxSaver: {monitor: validation_accuracy}\n"}, r"add (InferenceRunner: \{data: validation\}) to the callbacks",
        {"  - MaxSaver": "  - {0}\n  - MaxSaver"}),
    Fix(FARES, {}, "put (ScaleLike: fare) after it, and use its output in the cost, the metrics and predict", {"name: price, units: 1}": "name: p, units: 1}\n    - {0}",
         "predictions: price": "predictions: scale_like_0", "[price]": "[scale_like_0]"}),
    Fix(FARES, {"predictions: price, targets: fare}\n  metrics": "logits: price, targets: fare}\n  metrics"}, MEANT, {"logits": "{0}"}),
    # Masks
    Fix(MASKS, {"masks: mask": "masks: gray"}, "write (threshold: 128)", {"masks: gray": "masks: gray, {0}"}, "tpack data check c.yaml"),
    Fix(MASKS, {"masks: mask": "masks: sevens"}, "or write (ignore: 7)", {"masks: sevens": "masks: sevens, {0}", "labels: mask": "labels: mask, ignore_label: 255"}, "tpack data check c.yaml"),
    Fix(MASKS, {"masks: mask": "masks: named"}, "set (suffix: _mask)", {"masks: named": "masks: named, {0}"}),
    Fix(MASKS, {"masks: mask": "masks: colors"}, r"set the color of each class: (colors: \[\[0, 0, 0\], \[255, 0, 0\]\])", {"masks: colors": "masks: colors, {0}"}, "tpack data check c.yaml"),
    Fix(MASKS, {"shape: [8, 8], dtype: uint8": "shape: [8, 8], dtype: int32"}, r"change the flow with (MapData: .*\}\})", {"    - BatchData": "    - {0}\n    - BatchData"}),
    Fix(MASKS, {"background, cell]": "background, cell, border]"}, "set units: (3) in the layer of the logits", {"filters: 2": "filters: {0}"}),
    Fix(PHOTOS, {"ImageFolder: photos": "ImageFolder: photos/cat"}, "write dir: (.*)", {"photos/cat": "{0}"}),
    # Commands
    option(MEANT, "tpack {0} c.yaml", "tpack trian c.yaml"),
    option(MEANT, "tpack bench c.yaml {0} 3", "tpack bench c.yaml --stepz 3"),
    option(MEANT, "tpack describe {0}", "tpack describe Dense"),
    option(MEANT, "tpack check c.yaml --set {0}=3", "tpack check c.yaml --set max_epochs=3"),
    option(MEANT, "tpack check c.yaml --set model.layers.{0}.units=2", "tpack check c.yaml --set model.layers.scoers.units=2"),
    option(r"it could be (\d) FullyConnected, 1 FullyConnected \((\w+)\); use its number or name", "tpack check c.yaml --set model.layers.{0}.units=9 --set model.layers.{1}.units=2",
           "tpack check c.yaml --set model.layers.FullyConnected.units=9"),
    option(r"write --set '(model.layers=!append \[)ITEM\]'", "tpack check c.yaml --set '{0}Identity: {{}}]' --set model.cost.0.logits=scores 2>&1 | grep valid",
           "tpack check c.yaml --set model.layers.7.units=9"),
    option(r"write (--set) (KEY=VALUE)", "tpack check c.yaml {0} max_epoch=4", "tpack check c.yaml --set max_epoch"),
    option(r"\((--resume auto)\)", "tpack train c.yaml --log-dir run {0}", "tpack train c.yaml --log-dir run"),
    option(r"\((--resume never)\)", "tpack train c.yaml --log-dir run {0}", "tpack train c.yaml --log-dir run"),
    option(r"or use another folder \((--log-dir) DIR\)", "tpack train c.yaml {0} other", "tpack train c.yaml --log-dir run"),
    option(r"(--resume) needs a value \((auto):", "tpack train c.yaml --log-dir run {0} {1}", "tpack train c.yaml --resume --log-dir run"),
    option(r"(--resume) needs a value \((auto):", "tpack train c.yaml --log-dir run {0} {1}", "tpack train c.yaml --log-dir run --resume"),
    option(MEANT, "tpack check {0}", "tpack check cc.yaml"),
    option(MEANT, "tpack check {0}", "tpack check c.yml"),
    option("to resume, use the same model", "tpack train c.yaml --log-dir run --resume auto", "tpack train c.yaml --log-dir run --resume auto --set model.layers.0.FullyConnected.units=9"),
    option(r"use it with `(tpack eval)` or `tpack infer`", "{0} MODEL", "tpack train MODEL"),
    option(r"resume its run", "tpack train c.yaml --log-dir run --resume MODEL", "tpack train MODEL"),
    option(r"such as (\S+model-10.h5)", "tpack eval {0}", "tpack eval run"),
    option(r"(--data) FLOW for the samples of a flow", "tpack infer MODEL {0} validation", "tpack infer MODEL"),
    option(MEANT, "tpack infer MODEL new.csv --columns {0},late", "tpack infer MODEL new.csv --columns idd,late"),
    option(MEANT, "tpack infer MODEL new.csv --columns id,probability.{0}", "tpack infer MODEL new.csv --columns id,probability.yess"),
    option(r"such as (\w+=prediction)", "tpack infer MODEL new.csv --columns id,{0}", "tpack infer MODEL new.csv --columns id,=prediction"),
    option(r"with (--skip-bad) this is not an error", "tpack infer MODEL bad.csv {0}", "tpack infer MODEL bad.csv"),
    option(r"with (--skip-bad) this is not an error", "tpack infer PHOTOS_MODEL broken.png photos/cat/0.png {0}", "tpack infer PHOTOS_MODEL broken.png photos/cat/0.png"),
    option(r"use `(tpack infer)`", "{0} MODEL new.csv", "tpack eval MODEL new.csv"),
    option(MEANT, "tpack eval MODEL --min {0}=0", "tpack eval MODEL --min acuracy=0"),
    option(MEANT, "tpack eval MODEL --min {0}=0", "tpack eval MODEL --min recall.yess=0"),
    option(r"use (--max)", "tpack eval MODEL {0} cost=50", "tpack eval MODEL --min cost=50"),
    option(r"write (--min) NAME=VALUE", "tpack eval MODEL {0} accuracy=0", "tpack eval MODEL --min accuracy"),
    option(r"known: train, (validation)", "tpack eval MODEL --data {0}", "tpack eval MODEL --data test"),
    option(r"with (--worst) N", "tpack eval PHOTOS_MODEL --images w.png {0} 2", "tpack eval PHOTOS_MODEL --images w.png"),
    option(r"write (f1), (recall=0.9), precision=0.9, or (cost=5)", "tpack eval MODEL --threshold-for {0}; tpack eval MODEL --threshold-for {1}; tpack eval MODEL --threshold-for {2}",
           "tpack eval MODEL --threshold-for f2"),
    option(MEANT, "tpack eval MODEL --importance {0}", "tpack eval MODEL --importance acuracy"),
    option(MEANT, "tpack data inspect c.yaml --flow {0}", "tpack data inspect c.yaml --flow valid"),
    option(r"write (--set) '(KEY=\[VALUE, VALUE\])'", "tpack sweep c.yaml {0} 'max_epoch=[1, 2]'", "tpack sweep c.yaml"),
    option(r"add (--trials) N and (--search random)", "tpack sweep c.yaml --set 'optimizer.Adam.learning_rate=[0.1..0.2]' {0} 2 {1}",
           "tpack sweep c.yaml --set 'optimizer.Adam.learning_rate=[0.1..0.2]'"),
    option(r"add (--set 'predict=.*?)LAYER(\}\}\}')", "tpack infer none/checkpoints/model-10.h5 new.csv {0}scores{1}", "tpack infer none/checkpoints/model-10.h5 new.csv"),
]


class Fixes(ProgramTest):
    def write_data(self):
        rng = random.Random(1)

        def table(cells, names="id,age,kind,fare,late"):
            return names + "\n" + "".join(",".join(map(str, cells(i))) + "\n" for i in range(60))

        late = [rng.choice(("yes", "no")) for _ in range(60)]
        usual = table(lambda i: (i, i * 7 % 90, "abc"[i * 5 % 3], f"{i * 37 % 5000}.5", late[i]))
        self.write("t.csv", usual)
        self.write("new.csv", "".join(line.rpartition(",")[0] + "\n" for line in usual.splitlines()[:6]))
        self.write("bad.csv", "id,age,kind,fare\n1,2,a,5\n2,x,b,7\n")
        self.write("semicolons.csv", usual.replace(",", ";"))
        self.write("commas.csv", usual.replace(",", ";").replace(".", ","))
        self.write("no-names.csv", usual.partition("\n")[2])
        self.write("latin.csv", usual.replace(",a,", ",ä,").encode("latin1"))
        self.write("utf-16.csv", usual.encode("utf-16"))
        self.write("gaps.csv", table(lambda i: (i, i % 9 if i % 8 else "", late[i]), "id,age,late"))
        self.write("words.csv", table(lambda i: (i, i % 9 if i % 8 else "old", late[i]), "id,age,late"))
        self.write("days.csv", table(lambda i: (f"0{i % 9 + 1}/0{i % 5 + 1}/2024", i % 7, late[i]), "when,fare,late"))
        self.write("big.csv", table(lambda i: (f"word{i}", i % 7, late[i]), "word,fare,late"))
        self.write("broken.png", "not an image")
        paths = "path,kind,age\n" + "".join(f"photos/{kind}/{i}.png,{kind},{i if i % 5 else ''}\n" for i in range(16) for kind in [("cat", "dog")[i % 2]])
        self.write("list.csv", paths)
        self.write("deep/list.csv", paths)
        self.write("some-broken/cat/broken.png", "not an image")
        for i in range(16):
            photo = png.png([[100 * (i % 2) + rng.randrange(100) for _ in range(30)] for _ in range(9)], png.COLORS)
            for folder in ("photos", "some-broken"):
                self.write(f"{folder}/{('cat', 'dog')[i % 2]}/{i}.png", photo)
            self.write(f"image/{i}.png", photo)
            mask = [[rng.randrange(2) for _ in range(10)] for _ in range(9)]
            self.write(f"mask/{i}.png", png.png(mask))
            self.write(f"named/{i}_mask.png", png.png(mask))
            self.write(f"sevens/{i}.png", png.png([[7 * p if x == 0 else p for x, p in enumerate(row)] for row in mask]))
            self.write(f"gray/{i}.png", png.png([[200 * p + x for x, p in enumerate(row)] for row in mask]))
            self.write(f"colors/{i}.png", png.png([[c for p in row for c in (255 * p, 0, 0)] for row in mask], png.COLORS))

    def changed(self, config, changes, groups=()):
        for old, new in changes.items():
            for i, group in enumerate(groups):
                old, new = old.replace(f"{{{i}}}", group), new.replace(f"{{{i}}}", group)
            self.assertIn(old, config)
            config = config.replace(old, new)
        return config

    def try_fix(self, fix):
        def run(command):
            self.run_commands("rm -rf run photos-run other none train_log" + ("; cp -r kept/* ." if fix.base == TABLE and not fix.wrong else ""))
            return self.run_commands(command.replace("PHOTOS_MODEL", "photos-run/checkpoints/model-6.h5").replace("MODEL", MODEL))

        wrong = self.changed(fix.base, fix.wrong)
        self.write("c.yaml", wrong)
        _, output = run(fix.command)
        found = re.search(fix.says, output)
        self.assertTrue(found, f"{fix.command}\n{fix.says}\n{output}")
        command = fix.command
        if isinstance(fix.then, str):
            command = fix.then
            for i, group in enumerate(found.groups()):
                command = command.replace(f"{{{i}}}", group)
            command = command.replace("{{", "{").replace("}}", "}") if "{{}}" in command else command
        else:
            self.write("c.yaml", self.changed(wrong, fix.then, found.groups()))
        code, after = run(command)
        self.assertEqual(code, 0, f"{output}\nafter the fix:\n{command}\n{(self.folder / 'c.yaml').read_text()}\n{after}")
        self.assertIsNone(re.search(fix.says, after), after)

    def test_fixes_work(self):
        self.write_data()
        no_predictions = TABLE.replace("predict: {data: validation, outputs: {probability: {Softmax: scores}}}\n", "")
        for folder, config in (("run", TABLE), ("photos-run", PHOTOS), ("none", no_predictions)):
            self.write("c.yaml", config)
            self.output_of(f"tpack train c.yaml --log-dir kept/{folder}")
        for fix in FIXES:
            with self.subTest(command=fix.command, wrong=str(fix.wrong), says=fix.says):
                self.try_fix(fix)


if __name__ == "__main__":
    unittest.main()
