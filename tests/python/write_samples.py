"""Writes the samples of a pass for tpack's source PipeData: an image, an array and a label in each.

    PipeData: {command: [python3, write_samples.py]}
"""
import json
import os
import random
import sys


def write(**values):
    """Writes a sample. Bytes are a file of an image, a NumPy array is an array; numbers, lists and texts are themselves."""
    head, parts = {}, []
    for name, value in values.items():
        if isinstance(value, bytes):
            head[name] = {"bytes": len(value)}
            parts.append(value)
        elif hasattr(value, "tobytes"):
            head[name] = {"dtype": str(value.dtype), "shape": value.shape}
            parts.append(value.tobytes())
        else:
            head[name] = value
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + b"".join(parts))


seed, number_of_pass = int(os.environ["TPACK_SEED"]), int(os.environ["TPACK_PASS"])
order = list(range(20))
random.Random(f"{seed} {number_of_pass}").shuffle(order)
for k in order[int(os.environ["TPACK_SKIP"]):]:
    image = b"P5 4 4 255\n" + bytes([k] * 16)  # an image in PGM format
    write(image=image, numbers=[k, k / 2], label=k % 10)
