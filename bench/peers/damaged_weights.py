#!/usr/bin/env python3
"""Damages files of weights in many ways, and lets tpack read them: each must be read, or be an error that names the file.

    bench/peers/damaged_weights.py [--count 5000] [--seed 1] FILE ...

Damage: flipped bits (most in the first and the last 4,096 bytes, where formats have their tables), numbers of 2, 4 and 8 bytes that
become extreme, and files that are cut, that lose a part, or have a part twice. tpack must end with 0 or 4 within a minute, name the
file, and need no more memory than for the whole file and twice the size of the file. Bombs are written, too: a zip archive that
unpacks to 4 GB, pickles that name functions, that nest 100,000 tuples and that share a list a billion times, and tensors beyond the
file. Prints a line for each file, and how the outcomes divide. Exit code 1 if a file does not pass.
"""
import argparse
import io
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXTREME = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
EDGE = 4096


def place(rng, size):
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randrange(size)
    at = rng.randrange(min(EDGE, size))
    return at if kind == 1 or size < EDGE else size - 1 - at


def damaged(rng, whole):
    data = bytearray(whole)
    kind = rng.randrange(6)
    if kind < 2:
        for _ in range(rng.randint(1, 4)):
            data[place(rng, len(data))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        letter = rng.choice("<>") + rng.choice("HIQ")
        size = struct.calcsize(letter)
        at = min(place(rng, len(data)), len(data) - size)
        struct.pack_into(letter, data, at, rng.choice(EXTREME) & ((1 << 8 * size) - 1))
    elif kind == 3:
        del data[place(rng, len(data)):]
    else:
        at, length = place(rng, len(data)), rng.randrange(1, 64)
        part = data[at:at + length]
        data[at:at + length] = b"" if kind == 4 else part + part
    return bytes(data)


def bombs():
    """(ending, content)."""
    def archive(pickled, name="archive/data.pkl", **more):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(name, pickled)
            for key, value in more.items():
                file.writestr(key, value)
        return out.getvalue()

    calls = b"\x80\x02cposix\nsystem\nX\x1a\x00\x00\x00touch /tmp/tpack_was_executed\x85R."
    yield ".pth", archive(calls)
    yield ".pth", archive(b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b".")
    yield ".pth", archive(b"\x80\x02]q\x00" + b"".join(b"(h%ch%ctq%c" % (i, i, i + 1) for i in range(0, 30)) + b".")
    yield ".pth", archive(b"\x80\x02}.", name="../../data.pkl")
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open("a.npy", "w", force_zip64=True) as entry:
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824,), }"
            entry.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117) + b"\n")
            for _ in range(4096):
                entry.write(bytes(1 << 20))
    yield ".npz", zeros.getvalue()
    table = json.dumps({"a": {"dtype": "F32", "shape": [1 << 34], "data_offsets": [0, 1 << 36]}}).encode()
    yield ".safetensors", struct.pack("<Q", len(table)) + table
    yield ".safetensors", struct.pack("<Q", 1 << 62) + b"{"


def peak_of(tpack, path, out):
    """(exit code, text, peak MB)."""
    if out.exists():
        out.unlink()
    with tempfile.TemporaryFile() as text:
        process = subprocess.Popen([tpack, "ckpt", "convert", path, out], stdout=text, stderr=text)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        return process.returncode, text.read().decode(errors="replace"), usage.ru_maxrss / 1024


def check(tpack, files, most_mb):
    """Counts outcomes; what must not be is printed."""
    outcomes = {"read": 0, "refused": 0, "wrong": 0}
    most = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as folder:
        out = pathlib.Path(folder) / "out.npz"
        for index, (ending, content) in enumerate(files):
            path = pathlib.Path(folder) / f"damaged{ending}"
            path.write_bytes(content)
            code, text, peak = peak_of(tpack, path, out)
            most = max(most, peak)
            kind = {0: "read", 4: "refused"}.get(code, "wrong")
            if kind == "refused" and path.name not in text or peak > most_mb(len(content)):
                kind = "wrong"
            outcomes[kind] += 1
            if kind == "wrong":
                kept = ROOT / "build" / f"wrong-{index}{ending}"
                kept.write_bytes(content)
                print(f"{kept}: exit code {code}, {peak:.0f} MB: {text.strip()[:200]}", flush=True)
    return outcomes, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tpack", default=ROOT / "build/release/tpack")
    options = parser.parse_args()
    wrong = 0
    for path in options.files:
        whole = path.read_bytes()
        ending = path.suffix
        with tempfile.TemporaryDirectory() as folder:
            _, text, usual = peak_of(options.tpack, path, pathlib.Path(folder) / "out.npz")
        rng = random.Random(f"{options.seed} {path.name}")
        files = ((ending, damaged(rng, whole)) for _ in range(options.count))
        outcomes, most = check(options.tpack, files, lambda _: usual + 2 * len(whole) / 2**20 + 8)
        print(f"{path.name}: {len(whole) / 2**20:.2f} MB, whole {usual:.0f} MB of memory, damaged at most {most:.0f} MB, {outcomes}", flush=True)
        wrong += outcomes["wrong"]
    outcomes, most = check(options.tpack, bombs(), lambda size: 60 + 2 * size / 2**20)
    executed = pathlib.Path("/tmp/tpack_was_executed").exists()
    print(f"bombs: at most {most:.0f} MB, {outcomes}{', one was executed' if executed else ''}")
    sys.exit(1 if wrong or outcomes["wrong"] or executed else 0)


if __name__ == "__main__":
    main()
