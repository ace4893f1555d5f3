#!/usr/bin/env python3
"""Makes augmentors.json: what transforms of colors make of small images, by the formulas of Pillow, torchvision and tensorpack in double
precision, before rounding. With --check: compares the file instead."""
from golden import draw, finish, integers  # first: it says what is missing

import colorsys

import numpy as np

IMAGES = {
    "colors": integers(9, 8, 3, below=256, dtype="uint8"),
    "gray": integers(9, 8, 1, below=256, dtype="uint8"),
    "dark": integers(9, 8, 3, below=90, dtype="uint8"),
    "large": integers(40, 30, 1, below=100, dtype="uint8"),  # several pixels of each value
}


def gray_of(x):
    return x[..., :1] * 0.299 + x[..., 1:2] * 0.587 + x[..., 2:] * 0.114 if x.shape[-1] == 3 else x


def mixed(x, other, factor):
    return np.clip(other + factor * (x - other), 0, 255)


def saturation(x, factor):
    return mixed(x, gray_of(x), factor)


def gray_contrast(x, factor):
    return mixed(x, gray_of(x).mean(), factor)


def hue(x, degrees):
    def rotated(pixel):
        h, s, v = colorsys.rgb_to_hsv(*(pixel / 255))
        return np.array(colorsys.hsv_to_rgb((h + degrees / 360) % 1, s, v)) * 255

    return np.apply_along_axis(rotated, -1, x)


def sharpness(x, factor):
    smooth = x.copy()
    height, width, _ = x.shape
    rows = [x[i:height - 2 + i, j:width - 2 + j] * (5 if (i, j) == (1, 1) else 1) for i in range(3) for j in range(3)]
    smooth[1:-1, 1:-1] = sum(rows) / 13
    return mixed(x, smooth, factor)


def auto_contrast(x, _):
    low = x.min((0, 1))
    return (x - low) * 255 / (x.max((0, 1)) - low)


def equalize(x, _):
    out = x.copy()
    for c in range(x.shape[-1]):
        counts = np.bincount(x[..., c].astype(int).ravel(), minlength=256)
        step = (counts.sum() - counts[counts > 0][-1]) // 255
        if step > 0:
            table = (step // 2 + np.concatenate([[0], np.cumsum(counts)[:-1]])) // step
            out[..., c] = np.minimum(table, 255)[x[..., c].astype(int)]
    return out


def solarize(x, threshold):
    return np.where(x < threshold, x, 255 - x)


def posterize(x, bits):
    return x - x % 2 ** (8 - bits)


def gamma(x, exponent):
    return 255 * (x / 255) ** exponent


def invert(x, _):
    return 255 - x


def case(function, image, argument=0.0):
    x = draw(f"augment/{image}", IMAGES[image]).numpy().astype(float)
    return {"transform": function.__name__, "argument": argument, "image": image,
            "values": [round(float(v), 6) for v in function(x, argument).reshape(-1)]}


CASES = [
    case(saturation, "colors", 0.0),
    case(saturation, "colors", 1.7),
    case(saturation, "gray", 0.3),
    case(gray_contrast, "colors", 0.5),
    case(gray_contrast, "dark", 1.6),
    case(gray_contrast, "gray", 1.3),
    case(hue, "colors", 40.0),
    case(hue, "colors", -150.0),
    case(hue, "dark", 180.0),
    case(sharpness, "colors", 0.0),
    case(sharpness, "colors", 1.9),
    case(sharpness, "gray", 0.4),
    case(auto_contrast, "dark"),
    case(auto_contrast, "large"),
    case(equalize, "large"),
    case(equalize, "colors"),
    case(solarize, "colors", 100.0),
    case(posterize, "colors", 3.0),
    case(posterize, "gray", 1.0),
    case(gamma, "colors", 1 / 1.4),
    case(gamma, "dark", 2.0),
    case(invert, "colors"),
]

finish("augmentors.json", {"images": IMAGES, "cases": CASES})
