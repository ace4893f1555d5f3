#!/usr/bin/env python3
"""Odd and damaged image files of seven formats: what tpack reads from them, next to what Pillow reads.

    bench/peers/odd_images.py [--files 800] [--seed 1] [--only JPEG,PNG] [--keep FOLDER] [--decoder PROGRAM] [--list]

Runs with a Python that has Pillow 13, NumPy and OpenCV, after `cmake --build build/release --target decode_files`. Of each format it
makes --files files with a fixed seed: odd ones by encoders and by hand, then changed ones of these (odd_files.py, damaged_files.py).
tpack must not crash, take more than five seconds or much more memory than the image, and must give an error or the pixels of Pillow, upright
and as RGB: those of JPEG, WebP and YCbCr may differ by 1, because decoders round differently. Where Pillow rejects a file or reads it
otherwise, the pixels must be those that the file was made of (by 1), or those of OpenCV (OPENCV_OFF), or REASONS has the reason. --keep writes the
files that fail to a folder, --list also prints each file that the two read differently. Exit 1: something is wrong.
"""
import argparse
import collections
import io
import logging
import os
import pathlib
import random
import re
import select
import subprocess
import sys
import tempfile
import time
import warnings

os.environ["OPENCV_LOG_LEVEL"] = "OFF"  # before it is imported
import cv2  # noqa: E402
import numpy
from PIL import Image, ImageFile

import damaged_files

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 5
OPENCV_OFF = {"JPEG": 1, "WebP": 1, "TIFF": 1, "BMP": 7}  # it rounds 16 bits to 8, and shifts 5 bits to 8
MOST_ODD = 450


class Decoder:
    """tests/standalone/decode_files.cpp, started again after a crash."""

    def __init__(self, program):
        self._program = program
        self._process = None

    def read(self, path):
        """(kind, value, seconds, MB more than before); kind: image, error, failure or crash."""
        if self._process is None:
            self._process = subprocess.Popen([self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pathlib.Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")  # the peak of its memory begins again
        before = self._megabytes("VmRSS")
        start = time.monotonic()
        self._process.stdin.write(str(path).encode() + b"\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], 60)[0]:
            self._process.kill()
        kind, _, value = self._process.stdout.readline().decode("utf-8", "replace").rstrip("\n").partition(" ")
        seconds = time.monotonic() - start
        if not kind:
            code = self._process.wait()
            self._process = None
            return "crash", f"exit code {code}", seconds, 0
        if kind == "image":
            width, height = map(int, value.split())
            pixels = self._process.stdout.read(width * height * 3)
            value = numpy.frombuffer(pixels, numpy.uint8).reshape(height, width, 3)
        return kind, value, seconds, self._megabytes("VmHWM") - before

    def _megabytes(self, field):
        lines = pathlib.Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


TURNS = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
         6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_90}


def orientation_of(image):
    """Its method of turning; none for Exif data that Pillow cannot read. ImageOps.exif_transpose also writes these data again, and may
    fail at that."""
    try:
        orientation = image.getexif().get(274, 1)
    except SyntaxError:
        return None
    return TURNS.get(orientation) if isinstance(orientation, int) else None


def pillow(file, kind):
    """The upright RGB pixels and the mode of the file, or Pillow's error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(file))
            image.load()
            mode, turn = image.mode, orientation_of(image)
            image = image if turn is None else image.transpose(turn)
            if mode.startswith("I"):
                values = numpy.asarray(image).astype(int)
                gray = numpy.rint(values / 257) if kind == "PNM" else values >> 8
                return numpy.repeat(gray.astype(numpy.uint8)[..., None], 3, axis=2), mode
            return numpy.asarray(image.convert("RGB")), mode
    except Exception as error:  # of many types, which depend on the plugin
        return f"{type(error).__name__}: {error}", None


def opencv(file):
    """The RGB pixels as they are stored; nothing if OpenCV rejects the file."""
    try:
        return cv2.imdecode(numpy.frombuffer(file, numpy.uint8), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error:
        return None


def difference(ours, theirs):
    if ours.shape != theirs.shape:
        return f"{ours.shape[1]}x{ours.shape[0]} pixels, Pillow {theirs.shape[1]}x{theirs.shape[0]}"
    return f"off by {numpy.abs(ours.astype(int) - theirs).max()}"


def turned(pixels, turn):
    return numpy.asarray(Image.fromarray(pixels).transpose(turn))


def is_near(ours, theirs, most):
    return theirs is not None and ours.shape == theirs.shape and numpy.abs(ours.astype(int) - theirs).max() <= most


# Why Pillow rejects, or reads otherwise, what tpack reads: format, what the file was made of, Pillow's words, the reason.
REASONS = [
    ("BMP", "", "Unsupported BMP|invalid palette size", "Pillow does not have 2 bits, other masks, and palettes of too many colors"),
    ("BMP", "rle", "not enough image data", "Pillow wants runs for all pixels; what the runs leave out has the first color"),
    ("BMP", "rle", "mode P", "Pillow does not cut pixels that are copied beyond the end of a row"),
    ("TIFF", "tiles-", "mode (RGB|L|1),", "Pillow takes each offset for a tile, even if the image is less wide"),
    ("TIFF", "", "Invalid (tile )?dimensions", "Pillow wants numbers of 16 or 32 bits, libtiff also takes those of 8"),
    ("TIFF", "", "image file is truncated", "of an image of one strip, libtiff takes the rest of the file if its length is wrong"),
    ("TIFF", "", "conversion from La|unknown raw mode|UnidentifiedImageError", "Pillow does not have these channels, bits and planes together"),
    ("TIFF", "samples-4-1-16", "mode RGBA", "Pillow divides the upper 8 bits of colors by those of the alpha, tpack all 16"),
    ("TIFF", r"-16-.-2-\d+$", "mode RGB", "Pillow reads planes of 16 bits as if they had 8"),
    ("WebP", "", "could not create decoder", "Pillow also rejects reserved bits, other orders of chunks, and damage in later frames"),
    ("WebP", "", "failed to read next frame", "it has another libwebp"),
    ("JPEG", "True|restart-rows", "mode RGB, off by .{1,2}$", "it has another libjpeg-turbo, which smooths images without their last scans"),
    ("JPEG", "", "UnidentifiedImageError", "Pillow wants no other bytes between segments"),
    ("JPEG", "CMYK", "broken data stream", "Pillow also reads what comes after the pixels"),
    ("PNG", "turned", "UnidentifiedImageError", "Pillow fails at Exif data that are damaged, tpack ignores them"),
    ("PNM", "", "Channel value|invalid literal|Token too long",
     "after a comment in a number, Pillow reads on in the number, Netpbm and tpack begin the next one"),
    ("PNM", "}#a", "UnidentifiedImageError", "Pillow does not know a comment right after P1 to P6"),
]


def reason_of(kind, name, words):
    return next((why for of, made_of, said, why in REASONS if of == kind and re.search(made_of, name) and re.search(said, words)), None)


def judge(kind, name, file, made_of, answer):
    """(column of the table, what to say of it). `made_of`: pixels that are known, or None."""
    how, ours, seconds, megabytes = answer
    theirs, mode = pillow(file, kind)
    pixels = ours.size / 3e6 if how == "image" else 0
    if how in ("failure", "crash"):
        return "wrong", f"{how}: {ours}"
    if seconds > SECONDS:
        return "wrong", f"{seconds:.1f} s"
    if megabytes > 100 + 12 * pixels:
        return "wrong", f"{megabytes:.0f} MB for {pixels:.1f} megapixels"
    if how == "error":
        return ("both", "") if mode is None else ("tpack", ours)
    if mode is not None and is_near(ours, theirs, 1 if kind in ("JPEG", "WebP") or mode == "YCbCr" else 0):
        return "equal", ""
    words = theirs if mode is None else f"mode {mode}, {difference(ours, theirs)}"
    if made_of is not None:
        return "other" if is_near(ours, made_of, 1) else "wrong", words
    if is_near(ours, opencv(file), OPENCV_OFF.get(kind, 0)):
        return "other", words
    if mode is not None and re.search("damaged.*turned", name) and any(is_near(ours, turned(theirs, turn), 1) for turn in TURNS.values()):
        return "reason", f"Pillow reads Exif data no further than to damage ({words})"
    why = reason_of(kind, name, words)
    return ("wrong", words) if why is None else ("reason", f"{why} ({words})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(damaged_files.odd_files.FORMATS))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--decoder", default=ROOT / "build/release/tests/standalone/decode_files")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    logging.disable()
    sys.stderr = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the libraries of Pillow and OpenCV print their warnings
    decoder = Decoder(options.decoder)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.only.split(","):
            found = collections.Counter()
            for name, file, *made_of in damaged_files.odd_and_damaged(random.Random(f"{options.seed} {kind}"), kind, options.files, MOST_ODD):
                path = pathlib.Path(folder) / "image"
                path.write_bytes(file)
                column, what = judge(kind, name, file, made_of[0] if made_of else None, decoder.read(path))
                found[column] += 1
                if column == "wrong" or options.list and what:
                    print(f"{column}: {kind} {name}: {what}", flush=True)
                if column == "wrong" and options.keep:
                    options.keep.mkdir(exist_ok=True)
                    (options.keep / f"{kind}-{name}".replace("/", "_")).write_bytes(file)
            rows.append((kind, found))
    columns = {"equal": "as Pillow", "other": "as made, or as OpenCV", "reason": "Pillow differs, for a reason", "both": "reported by both",
               "tpack": "by tpack only", "wrong": "wrong"}
    print("\n| format | files | " + " | ".join(columns.values()) + " |\n" + "|---" * (2 + len(columns)) + "|")
    for kind, found in rows:
        print(f"| {kind} | {found.total():,} | " + " | ".join(str(found[column]) for column in columns) + " |")
    sys.exit(1 if any(found["wrong"] for _, found in rows) else 0)


main()
