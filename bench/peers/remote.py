#!/usr/bin/env python3
"""Samples from another process: RemoteData against the same flow in one process, against tensorpack's ZMQ, and against a link of 1 Gbit/s.

    bench/peers/remote.py JPEGS [--tpack PROGRAM] [--rounds 3] [--link]

JPEGS is a folder of photographs. Two loads: the photographs, encoded, single samples; and batches of 128 images of
CIFAR's size and their labels. The photographs are also decoded at the client
(random crop of 224, flip, batches of 32; tensorpack by OpenCV in two threads). tpack's servers have mapped files (LMDB and npz), tensorpack's have
lists in memory. With --link, server and client are in network namespaces that are
joined by a pair of virtual devices, which tc limits to 1 Gbit/s (needs root and iproute2). Prints medians of the rounds, in turn. The
peer needs a Python with tensorpack, pyzmq and OpenCV. Nothing else may run.
"""
import argparse
import contextlib
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

BATCH, IMAGES = 128, 50000
GBIT = 125e6  # bytes per second
DECODE = """
    - AugmentImageComponent: [{GoogleNetRandomCropAndResize: 224}, Flip]
    - BatchData: 32"""

PEER_SERVER = """
import contextlib, pathlib, sys
import numpy as np
with contextlib.redirect_stdout(sys.stderr):
    from tensorpack.dataflow import DataFromList, send_dataflow_zmq
    if sys.argv[1] == "photos":
        files = sorted(pathlib.Path(sys.argv[2]).rglob("*.*"))
        points = [[np.frombuffer(f.read_bytes(), np.uint8), i % 1000] for i, f in enumerate(files) if f.is_file()]
    else:
        arrays = np.load(sys.argv[2])
        points = [[arrays["image"][i:i + 128], arrays["label"][i:i + 128]] for i in range(0, 12800, 128)]
    send_dataflow_zmq(DataFromList(points, shuffle=False), sys.argv[3])
"""
PEER_CLIENT = """
import contextlib, itertools, sys, time
with contextlib.redirect_stdout(sys.stderr):
    from tensorpack.dataflow import RemoteDataZMQ
    flow = RemoteDataZMQ(sys.argv[1])
    flow.reset_state()
items = iter(flow)
count, size = int(sys.argv[2]), 0
for _ in itertools.islice(items, count // 4): pass
begin = time.monotonic()
for image, label in itertools.islice(items, count): size += image.nbytes
print(time.monotonic() - begin, size)
"""

PEER_DECODER = """
import contextlib, itertools, sys, time
import cv2
with contextlib.redirect_stdout(sys.stderr):
    from tensorpack.dataflow import BatchData, MultiThreadMapData, RemoteDataZMQ, imgaug
    cv2.setNumThreads(1)
    changes = imgaug.AugmentorList([imgaug.GoogleNetRandomCropAndResize(target_shape=224), imgaug.Flip(horiz=True)])
    def decoded(point):
        image = cv2.imdecode(point[0], cv2.IMREAD_COLOR)
        size.append(point[0].nbytes)
        return changes.augment(image), point[1]
    size = []
    flow = BatchData(MultiThreadMapData(RemoteDataZMQ(sys.argv[1]), num_thread=2, map_func=decoded, buffer_size=64, strict=False), 32)
    flow.reset_state()
items = iter(flow)
batches = int(sys.argv[2]) // 32
for _ in itertools.islice(items, batches // 4): pass
begin, before = time.monotonic(), len(size)
for _ in itertools.islice(items, batches): pass
print(time.monotonic() - begin, batches * 32 * sum(size[before:]) // (len(size) - before), flush=True)
import os
os._exit(0)  # its threads do not end
"""


class Here:
    """Both processes on this machine, over loopback."""
    name, address = "loopback", "127.0.0.1"

    def server(self):
        return []

    client = server


class Link:
    """Two network namespaces, joined by virtual devices with a limit."""
    name, address = "1 Gbit/s", "10.98.0.1"
    spaces = {"tpack-s": "10.98.0.1", "tpack-c": "10.98.0.2"}

    def __enter__(self):
        run = lambda *words: subprocess.run(words, check=True)
        for space in self.spaces:
            run("ip", "netns", "add", space)
        run("ip", "link", "add", "tpack-s0", "netns", "tpack-s", "type", "veth", "peer", "name", "tpack-c0", "netns", "tpack-c")
        for space, address in self.spaces.items():
            inside = ["ip", "netns", "exec", space]
            run(*inside, "ip", "addr", "add", f"{address}/24", "dev", f"{space}0")
            run(*inside, "ip", "link", "set", f"{space}0", "up")
            run(*inside, "tc", "qdisc", "add", "dev", f"{space}0", "root", "tbf", "rate", "1gbit", "burst", "256kb", "latency", "50ms")
        return self

    def __exit__(self, *_):
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space])

    def server(self):
        return ["ip", "netns", "exec", "tpack-s"]

    def client(self):
        return ["ip", "netns", "exec", "tpack-c"]


@contextlib.contextmanager
def started(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def rate(program, source, folder, samples, prefix=(), tail=""):
    """Samples per second of a flow."""
    config = folder / "client.yaml"
    config.write_text(f"tpack: 1\ndata:\n  train:\n    - {source}{tail}\n")
    done = subprocess.run([*prefix, program, "data", "bench", config, "--json", "--samples", str(samples)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["all_workers"]["samples_per_s"]


def served(program, where, load, folder, port, samples, tail=""):
    config = folder / "server.yaml"
    config.write_text(f"tpack: 1\ndata:\n  train:\n    - {load['source']}{load['server']}\n")
    address = f"tcp://{where.address}:{port}"
    with started([*where.server(), program, "data", "serve", str(config), "--bind", address]):
        time.sleep(1)
        return rate(program, f"RemoteData: {{connect: [{address}]}}", folder, samples, where.client(), load["server"] + tail)


def peer(where, load, port, items, client=PEER_CLIENT):
    """Bytes per second of tensorpack; None if it cannot run."""
    # It binds where data arrive.
    address = f"tcp://{'10.98.0.2' if isinstance(where, Link) else where.address}:{port}"
    with started([*where.server(), sys.executable, "-c", PEER_SERVER, load["kind"], str(load["files"]), address]):
        done = subprocess.run([*where.client(), sys.executable, "-c", client, address, str(items)], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
        return None
    seconds, size = done.stdout.split()
    return int(size) / float(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jpegs", type=pathlib.Path)
    parser.add_argument("--tpack", default="build/release/tpack")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--link", action="store_true")
    options = parser.parse_args()
    program = str(pathlib.Path(options.tpack).resolve())
    files = sorted(f for f in options.jpegs.resolve().iterdir() if f.suffix.lower() in (".jpg", ".jpeg"))
    photo_bytes = sum(f.stat().st_size for f in files) / len(files)
    got = {}
    note = lambda *key, value: got.setdefault(key, []).append(value)
    with tempfile.TemporaryDirectory() as name, (Link() if options.link else contextlib.nullcontext(Here())) as where:
        folder = pathlib.Path(name)
        jpegs = folder / "photos"
        for i, file in enumerate(files):
            (jpegs / f"class{i % 100:02}").mkdir(parents=True, exist_ok=True)
            (jpegs / f"class{i % 100:02}" / file.name).symlink_to(file)
        stored = folder / "photos.lmdb"
        config = folder / "photos.yaml"
        config.write_text("tpack: 1\ndata:\n  train:\n    - ImageFolder: {dir: photos, shuffle: false}\n")
        subprocess.run([program, "data", "convert", config, stored], check=True, capture_output=True)
        rng = np.random.default_rng(1)
        arrays = folder / "cifar.npz"
        np.savez(arrays, image=rng.integers(0, 255, (IMAGES, 32, 32, 3), np.uint8), label=rng.integers(0, 10, IMAGES, np.int32))
        photos = {"kind": "photos", "files": jpegs, "server": "", "bytes": photo_bytes,
                  "source": f"LMDBData: {{path: '{stored}'}}\n    - RepeatedData: 1000"}
        cifar = {"kind": "cifar", "files": arrays, "server": f"\n    - BatchData: {BATCH}", "bytes": 32 * 32 * 3 + 4,
                 "source": f"Npz: {{file: '{arrays}'}}"}
        for turn in range(options.rounds):
            port = 9300 + 10 * turn
            for at, (load, samples) in enumerate(((photos, 20000), (cifar, 500000))):
                kind = load["kind"]
                if not options.link:
                    note(kind, "one process", value=rate(program, load["source"], folder, samples, tail=load["server"]) * load["bytes"])
                note(kind, "RemoteData", value=served(program, where, load, folder, port + at, samples) * load["bytes"])
                note(kind, "tensorpack", value=peer(where, load, port + 2 + at, samples // (BATCH if load is cifar else 1)))
            if not options.link:
                note("photos, decoded", "one process", value=rate(program, photos["source"], folder, 3000, tail=DECODE) * photo_bytes)
            note("photos, decoded", "tensorpack", value=peer(where, photos, port + 5, 3000, PEER_DECODER))
            note("photos, decoded", "RemoteData", value=served(program, where, photos, folder, port + 4, 3000, DECODE) * photo_bytes)
    for (kind, who), values in got.items():
        numbers = [v for v in values if v is not None]
        size = cifar["bytes"] if kind == "cifar" else photo_bytes
        if not numbers:
            print(f"{where.name:9} {kind:16} {who:12} could not run")
            continue
        middle = statistics.median(numbers)
        of_link = f", {middle / GBIT:.2f} of the link" if options.link else ""
        print(f"{where.name:9} {kind:16} {who:12} {middle / 1e6:8.0f} MB/s, {middle / size:9.0f} images/s{of_link}")


if __name__ == "__main__":
    main()
