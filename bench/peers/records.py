#!/usr/bin/env python3
"""Sequential reading of files of records without decoding: tpack against the libraries of the formats, in turn, page cache warm.

    bench/peers/records.py DATA [--tpack PROGRAM] [--rounds 3]

DATA has photos.lmdb, photos.tfrecord and photos.tar, which `tpack data convert` wrote from one flow of JPEGs (make them with
`--make FOLDER`, a folder of JPEGs, which is repeated until there are --samples of them). Prints MB of stored bytes per second, the median
of the rounds, and what `cat FILE >/dev/null` gives. With --decoded, tpack alone: random crops of 224, flipped, in
batches of 32. Needs a Python with lmdb, tensorpack, tensorflow, webdataset and spdl; what is missing
is left out and named. Nothing else may run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python")

# Each prints the samples and the seconds of one pass; the first argument is the file.
PEERS = {
    "py-lmdb": (".lmdb", """
import lmdb
env = lmdb.open(path, subdir=False, readonly=True, lock=False, readahead=True)
def run():
    n = 0
    with env.begin(buffers=True) as txn:
        for key, value in txn.cursor():
            n += 1; total[0] += len(bytes(value))
    return n
"""),
    "tensorpack": (".lmdb", """
import contextlib, sys
with contextlib.redirect_stdout(sys.stderr):
    from tensorpack.dataflow import LMDBSerializer
    flow = LMDBSerializer.load(path, shuffle=False)
    flow.reset_state()
def run():
    n = 0
    for image, label in flow:
        n += 1; total[0] += image.nbytes
    return n
"""),
    "tf.data": (".tfrecord", """
import tensorflow as tf
def run():
    n = 0
    for record in tf.data.TFRecordDataset(path, buffer_size=8 << 20).prefetch(tf.data.AUTOTUNE).as_numpy_iterator():
        n += 1; total[0] += len(record)
    return n
"""),
    "tf.data, batches of 256": (".tfrecord", """
import tensorflow as tf
def run():
    n = 0
    for records in tf.data.TFRecordDataset(path, buffer_size=8 << 20).batch(256).prefetch(tf.data.AUTOTUNE):
        n += len(records)
    total[0] += os.path.getsize(path)
    return n
"""),
    "webdataset": (".tar", """
import webdataset
def run():
    n = 0
    for sample in webdataset.WebDataset(path, shardshuffle=False):
        n += 1; total[0] += len(sample.get("jpg") or sample.get("jpeg"))
    return n
"""),
    "spdl": (".tar", """
import spdl.io
def run():
    n = 0
    with open(path, "rb") as file:
        for name, content in spdl.io.iter_tarfile(file):
            if not name.endswith("cls"):
                n += 1; total[0] += len(content)
    return n
"""),
}
FRAME = """
import os, sys, time
path = sys.argv[1]
total = [0]
{body}
run()
total[0] = 0
begin = time.monotonic()
n = run()
print(n, time.monotonic() - begin, total[0])
"""
SOURCES = {".lmdb": "LMDBData: {{path: {}, shuffle: false}}", ".tfrecord": "TFRecord: {{files: {}, shuffle: false}}",
           ".tar": "WebDataset: {{files: {}, shuffle: false}}"}


def peer(python, body, path):
    """MB/s; None if it cannot run."""
    done = subprocess.run([python, "-c", FRAME.format(body=body), path], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    _, seconds, total = done.stdout.split()
    return int(total) / float(seconds) / 1e6


def tpack(program, path, folder, samples):
    config = pathlib.Path(folder) / "flow.yaml"
    config.write_text(f"tpack: 1\ndata:\n  train:\n    - {SOURCES[path.suffix].format(path)}\n")
    done = subprocess.run([program, "data", "bench", config, "--json", "--samples", str(samples)], capture_output=True, text=True, check=True)
    rates = json.loads(done.stdout)
    return max(rates[k]["samples_per_s"] for k in ("one_worker", "all_workers")) * os.path.getsize(path) / samples / 1e6


def decoded(program, source, folder, samples):
    """Images per second from a source through crop, flip and batches."""
    config = pathlib.Path(folder) / "decoded.yaml"
    config.write_text(f"""tpack: 1
data:
  train:
    - {source}
    - AugmentImageComponent: [{{GoogleNetRandomCropAndResize: 224}}, Flip]
    - BatchData: 32
""")
    done = subprocess.run([program, "data", "bench", config, "--json", "--samples", str(samples)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["all_workers"]["samples_per_s"]


def compare_decoded(options, program):
    """The rate through each format next to that from the files themselves."""
    sources = {"files": f"ImageFolder: {{dir: {options.data / 'photos'}}}"}
    for ending, source in SOURCES.items():
        sources[ending] = source.format(options.data / f"photos{ending}").replace(", shuffle: false", "")
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, source in sources.items():
                rates.setdefault(name, []).append(decoded(program, source, folder, options.decoded))
    files = statistics.median(rates["files"])
    for name, values in rates.items():
        print(f"{name:10} {statistics.median(values):8.0f} images/s, {statistics.median(values) / files:.3f} of the files")


def cat(path):
    begin = time.monotonic()
    subprocess.run(f"cat '{path}' >/dev/null", shell=True, check=True)
    return os.path.getsize(path) / (time.monotonic() - begin) / 1e6


def make(data, photos, samples, program):
    """Links to the photographs, as many as there shall be samples, and the files of each format."""
    files = sorted(p for p in pathlib.Path(photos).iterdir() if p.suffix.lower() in (".jpg", ".jpeg"))
    folder = data / "photos"
    for i in range(samples):
        name = folder / f"class{i % len(files) % 100:03}" / f"{i:06}.jpg"
        name.parent.mkdir(parents=True, exist_ok=True)
        if not name.exists():
            name.symlink_to(files[i % len(files)].resolve())
    config = data / "photos.yaml"
    config.write_text("tpack: 1\ndata:\n  train:\n    - ImageFolder: {dir: photos, shuffle: false}\n")
    for ending in SOURCES:
        if not (data / f"photos{ending}").exists():
            subprocess.run([program, "data", "convert", config, data / f"photos{ending}"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--tpack", default="build/release/tpack")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--make", metavar="FOLDER")
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--decoded", type=int, metavar="N", help="instead, N images from each format and from the files, decoded")
    options = parser.parse_args()
    program = str(pathlib.Path(options.tpack).resolve())
    if options.make:
        make(options.data, options.make, options.samples, program)
    if options.decoded:
        return compare_decoded(options, program)
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending in SOURCES:
            path = options.data / f"photos{ending}"
            cat(path)
            for _ in range(options.rounds):
                programs = [("cat", lambda p: cat(p)), ("tpack", lambda p: tpack(program, p, folder, options.samples))]
                programs += [(name, lambda p, body=body: peer(sys.executable, body, p)) for name, (of, body) in PEERS.items() if of == ending]
                for name, run in programs:
                    rates.setdefault((ending, name), []).append(run(path))
    for (ending, name), values in rates.items():
        numbers = [v for v in values if not isinstance(v, str)]
        print(f"{ending:10} {name:24} " + (f"{statistics.median(numbers):8.0f} MB/s" if numbers else f"left out: {values[0]}"))


if __name__ == "__main__":
    main()
