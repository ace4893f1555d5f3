#!/usr/bin/env python3
"""What Keras computes with the network of the package fer, into fer.json next to this file.

    KERAS_PYTHON tests/weights/real/make_fer.py FOLDER/fer/data/emotion_model.hdf5

Needs a Python with TensorFlow; fer.json was made with TensorFlow 2.21 and Keras 3.14.
"""
import json
import pathlib
import sys

import numpy as np


def image():
    """Shape: [1, 64, 64, 1], from -1 to 1."""
    i = np.arange(64 * 64)
    return ((7 * i * i + 3 * i) % 256 / 127.5 - 1).astype(np.float32).reshape(1, 64, 64, 1)


def main():
    import keras
    model = keras.models.load_model(sys.argv[1], compile=False)
    values = model.predict(image(), verbose=0)[0]
    pathlib.Path(__file__).with_name("fer.json").write_text(json.dumps([float(value) for value in values]) + "\n")


if __name__ == "__main__":
    main()
