#!/usr/bin/env python3
"""Images per second of tensorpack's first example of a dataflow, in tpack (configs/caffe-lmdb.yaml) and in tensorpack, in turn.

    /path/to/python bench/peers/caffe_lmdb.py DATABASE [DATABASE ...] [--rounds N]

CaffeLMDB, Resize to 225, gray, batches of 128, two workers, three batches ahead; no training. The records of the databases (folders of
LMDB that Caffe's convert_imageset wrote) are copied again and again into one large enough to read for a while. tensorpack runs with each
of its two kinds of worker processes. The Python must have lmdb, numpy, opencv-python-headless, protobuf and tensorpack; protoc is
needed, too. Needs a machine with nothing else running.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BATCH = 128


def copy_records(databases, count, folder):
    """Makes folder/train_lmdb and folder/test_lmdb (the same) of `count` records."""
    import lmdb

    values = []
    for path in databases:
        with lmdb.open(path, readonly=True, lock=False) as database, database.begin() as transaction:
            values += [value for _, value in transaction.cursor()]
    size = sum(map(len, values)) // len(values)
    with lmdb.open(str(folder / "train_lmdb"), map_size=4 * count * (size + 8192)) as database:
        with database.begin(write=True) as transaction:
            for number in range(count):
                transaction.put(f"{number:08}".encode(), values[number % len(values)])
    (folder / "test_lmdb").symlink_to("train_lmdb")
    return size


def tensorpack_flow(path, workers):
    """As tensorpack's documentation composes it. It downloads Caffe's message; here it finds tpack's, which is a part of that."""
    import cv2
    import numpy
    import tensorpack.dataflow as flows
    from tensorpack.dataflow import imgaug

    numpy.fromstring = numpy.frombuffer  # it calls a function that NumPy has removed
    flow = flows.CaffeLMDB(path)
    flow = flows.AugmentImageComponent(flow, [imgaug.Resize((225, 225))])
    flow = flows.MapData(flow, lambda point: [cv2.cvtColor(point[0], cv2.COLOR_BGR2GRAY)[:, :, None], point[1]])
    flow = flows.BatchData(flow, BATCH)
    if workers == "PrefetchData":
        return flows.MultiProcessRunner(flow, num_prefetch=3, num_proc=2)
    return flows.MultiProcessRunnerZMQ(flow, num_proc=2, hwm=3)


def time_tensorpack(options):
    """Prints images per second, once the workers have started."""
    flow = tensorpack_flow(options.databases[0], options.workers)
    flow.reset_state()

    def batches():
        while True:
            yield from flow

    source = batches()
    for _ in range(options.warm_up):
        next(source)
    begin = time.monotonic()
    for _ in range(options.batches):
        image, label = next(source)
    seconds = time.monotonic() - begin
    assert image.shape == (BATCH, 225, 225, 1) and label.shape == (BATCH,)
    print(options.batches * BATCH / seconds)
    sys.stdout.flush()
    for worker in multiprocessing.active_children():  # those of ZeroMQ would wait for a reader forever
        worker.kill()
    os._exit(0)


def tensorpack(options, folder, workers):
    environment = {**os.environ, "TENSORPACK_DATASET": str(folder)}
    caffe = folder / "caffe"
    caffe.mkdir(exist_ok=True)
    proto = ROOT / "lib/sources/format/caffe_datum.proto"
    (caffe / "caffe.proto").write_text(proto.read_text())
    subprocess.run(["protoc", "caffe.proto", "--python_out=."], cwd=caffe, check=True)
    command = [sys.executable, __file__, str(folder / "train_lmdb"), "--workers", workers, "--warm-up", str(options.warm_up), "--batches",
               str(options.batches)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return float(done.stdout.split()[-1])


def tpack(options, folder):
    """The step trains nothing, so only the data take time."""
    command = [options.tpack, "bench", str(ROOT / "configs/caffe-lmdb.yaml"), "--json", "--steps", str(options.batches), "--warm-up",
               str(options.warm_up), "--set", "trainer=NoOp"]
    done = subprocess.run(command, env={**os.environ, "TPACK_LMDB": str(folder)}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)["data"]["samples_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="+", metavar="DATABASE")
    parser.add_argument("--tpack", default=str(ROOT / "build/release/tpack"))
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=100, help="to time")
    parser.add_argument("--warm-up", type=int, default=10, help="batches before these")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", choices=["PrefetchData", "PrefetchDataZMQ"], help="for the processes that this program starts")
    options = parser.parse_args()
    if options.workers:
        return time_tensorpack(options)
    random.seed(1)
    with tempfile.TemporaryDirectory(prefix="caffe_lmdb-") as name:
        folder = pathlib.Path(name)
        size = copy_records(options.databases, options.records, folder)
        print(f"{options.records} records of {size / 1e3:.0f} KB")
        turns = {"tpack": lambda: tpack(options, folder)}
        for workers in ("PrefetchData", "PrefetchDataZMQ"):
            turns[f"tensorpack {workers}"] = lambda workers=workers: tensorpack(options, folder, workers)
        results = {program: [] for program in turns}
        for _ in range(options.rounds):
            for program in random.sample(list(turns), len(turns)):
                results[program].append(turns[program]())
                print(f"{program}: {results[program][-1]:,.0f} images/s", file=sys.stderr)
    for program, rates in results.items():
        print(f"{program:28} {statistics.median(rates):10,.0f} images/s ({min(rates):,.0f} to {max(rates):,.0f})")
    best = max(statistics.median(rates) for program, rates in results.items() if program != "tpack")
    print(f"tpack / best of tensorpack: {statistics.median(results['tpack']) / best:.2f}")


if __name__ == "__main__":
    main()
