#!/usr/bin/env python3
"""A CSV of 100 numbers and a target to batches of 256 rows: tpack, pandas with PyTorch's DataLoader, LightGBM's loader and tf.data.

    bench/peers/csv_tables.py [--rows 1000000] [--runs 3]      (with a Python that has pandas, pyarrow and torch; lightgbm, tensorflow)

Prints seconds of wall and processor time from the start of the loader (after the imports) to the last batch: the median run, in turn. That
of tpack is the whole program, which trains a linear model on the batches. A peer that is not installed is left out, and says so. LightGBM
has no batches: the time is that of its Dataset with its bins.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BATCH = 256
CONFIG = """tpack: 1
data:
  train:
    - CSV: {{file: {file}, columns: {{x: ["x.*"], y: y}}, shuffle: false}}
    - BatchData: {{batch_size: {batch}, remainder: true}}
model:
  layers:
    - FullyConnected: {{name: out, units: 1, input: x}}
  cost:
    - MeanSquaredError: {{predictions: out, targets: y}}
optimizer: {{SGD: {{learning_rate: 0.0001}}}}
max_epoch: 1
callbacks: []
"""


def write_table(file, rows):
    import numpy
    rng = numpy.random.default_rng(1)
    with open(file, "w") as out:
        out.write(",".join(["y"] + [f"x{i}" for i in range(100)]) + "\n")
        for begin in range(0, rows, 10000):
            numbers = rng.standard_normal((min(10000, rows - begin), 101))
            out.write("\n".join(",".join("%.4f" % number for number in row) for row in numbers) + "\n")


def numbers_of(engine, file):
    import pandas
    return pandas.read_csv(file, dtype="float32", engine=engine).to_numpy()


def with_data_loader(numbers):
    """A sampler of whole batches, so that no sample is taken by itself: the fastest way that DataLoader has."""
    import torch
    from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset
    rows = torch.frombuffer(numbers.ravel(), dtype=torch.float32).reshape(numbers.shape)
    data = TensorDataset(rows[:, 1:], rows[:, 0])
    batches = BatchSampler(SequentialSampler(data), BATCH, drop_last=False)
    return sum(len(y) for _, y in DataLoader(data, sampler=batches, batch_size=None))


def pandas_c(file):
    return with_data_loader(numbers_of("c", file))


def pandas_pyarrow(file):
    return with_data_loader(numbers_of("pyarrow", file))


def lightgbm(file):
    import lightgbm as peer
    data = peer.Dataset(file, params={"header": True, "label_column": 0, "verbose": -1, "num_threads": os.cpu_count()})
    return data.construct().num_data()


def tf_data(file):
    import tensorflow as tf
    columns = [[0.0]] * 101
    lines = tf.data.TextLineDataset(file).skip(1).batch(BATCH)
    rows = lines.map(lambda text: tf.stack(tf.io.decode_csv(text, columns), 1), num_parallel_calls=tf.data.AUTOTUNE)
    return sum(int(row.shape[0]) for row in rows.prefetch(tf.data.AUTOTUNE))


PEERS = {"pandas, engine c": (pandas_c, ["pandas", "torch"]), "pandas, engine pyarrow": (pandas_pyarrow, ["pandas", "pyarrow", "torch"]),
         "LightGBM": (lightgbm, ["lightgbm"]), "tf.data": (tf_data, ["tensorflow"])}


def run_peer(name, file):
    """In this process: rows, wall and processor seconds."""
    function, modules = PEERS[name]
    for module in modules:
        __import__(module)
    wall, processor = time.monotonic(), time.process_time()
    rows = function(file)
    return rows, time.monotonic() - wall, time.process_time() - processor


def time_peer(name, file):
    done = subprocess.run([sys.executable, __file__, "--peer", name, "--file", file], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:]
        return None, last
    return json.loads(done.stdout.splitlines()[-1]), None


def time_tpack(program, config, rows):
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([program, "train", config, "--resume", "never"], capture_output=True, text=True, cwd=os.path.dirname(config))
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return rows, time.monotonic() - wall, processor


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer")
    parser.add_argument("--file")
    args = parser.parse_args()
    if args.peer:
        print(json.dumps(run_peer(args.peer, args.file)))
        return
    program = os.environ.get("TPACK", str(ROOT / "build/release/tpack"))
    with tempfile.TemporaryDirectory() as folder:
        file = args.file or os.path.join(folder, "table.csv")
        if not os.path.exists(file):
            write_table(file, args.rows)
        config = os.path.join(folder, "table.yaml")
        pathlib.Path(config).write_text(CONFIG.format(file=file, batch=BATCH))
        times = {"tpack": []}
        for _ in range(args.runs):
            times["tpack"].append(time_tpack(program, config, args.rows))
            for name in PEERS:
                result, why = time_peer(name, file)
                if result is None:
                    if name not in times:
                        print(f"{name} is left out: {why}", flush=True)
                        times[name] = []
                    continue
                assert result[0] == args.rows, (name, result)
                times.setdefault(name, []).append(result)
        size = os.path.getsize(file)
    print(f"{args.rows} rows, {size / 1e6:.0f} MB")
    for name, runs in times.items():
        if runs:
            wall, processor = (statistics.median(run[i] for run in runs) for i in (1, 2))
            print(f"{name:24} {wall:7.2f} s  {processor:7.2f} s of processors  {size / 1e6 / wall:6.0f} MB/s")


if __name__ == "__main__":
    main()
