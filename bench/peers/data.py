"""Data of the peers: bytes in memory, in the order in which they are trained on. Nothing here is timed, so data cost the peers
nothing, while tpack reads, decodes and augments next to its steps."""
import gzip
import os
import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def mnist(count, rng):
    """As {Mnist: {split: train}} gives it."""
    folder = pathlib.Path(os.environ["TPACK_DATASET"]) / "mnist"
    images = _read_idx(folder / "train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)
    labels = _read_idx(folder / "train-labels-idx1-ubyte.gz", 8)
    chosen = rng.permutation(len(images))[:count]
    return images[chosen], labels[chosen]


def cifar10(count, rng):
    """As configs/cifar-resnet.yaml gives it: pasted on a canvas of 36 x 36, cropped to 32 x 32 and flipped at random."""
    from PIL import Image

    folder = pathlib.Path(os.environ.get("TPACK_CIFAR") or ROOT / "data" / "cifar10") / "train"
    classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
    files = [(path, label) for label, name in enumerate(classes) for path in sorted((folder / name).glob("*.jpg"))]
    chosen = [files[i] for i in rng.permutation(len(files))[:count]]
    images = np.empty((len(chosen), 32, 32, 3), np.uint8)
    canvas = np.zeros((36, 36, 3), np.uint8)
    for image, (path, _) in zip(images, chosen):
        with Image.open(path) as file:
            canvas[2:34, 2:34] = file.convert("RGB")
        y, x = rng.randint(0, 5, 2)
        crop = canvas[y:y + 32, x:x + 32]
        image[:] = crop[:, ::-1] if rng.rand() < 0.5 else crop
    return images, np.array([label for _, label in chosen])


def random_images(count, rng, shape, classes, label_shape=()):
    """What the time of a step does not depend on."""
    return rng.randint(0, 256, (count, *shape)).astype(np.uint8), rng.randint(0, classes, (count, *label_shape))


def _read_idx(path, offset):
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=offset)


SOURCES = {"mnist-convnet": mnist, "mnist-convnet-5x5-48": mnist, "cifar-resnet-32": cifar10}
RANDOM = {  # shape of an image, classes, shape of a label
    "resnet50": ((224, 224, 3), 1000),
    "vgg16": ((224, 224, 3), 1000),
    "mobilenet-v2": ((224, 224, 3), 1000),
    "shufflenet-v2": ((224, 224, 3), 1000),
    "unet": ((64, 64, 3), 4, (64, 64)),
    "dcgan": ((28, 28, 1), 10),
    "wgan-gp": ((28, 28, 1), 10),
    "perceptron": ((32, 64, 1), 10),
}


def batches(network, size, count, seed):
    """At most `count` batches (bytes [size, H, W, C], int64 labels [size, ...]); after the last one the first comes again."""
    rng = np.random.RandomState(seed)
    if network in RANDOM:  # one batch; in tpack every sample is the same, or they are rendered
        images, labels = random_images(size, rng, *RANDOM[network])
    else:
        images, labels = SOURCES[network](size * count, rng)
    images, labels = np.ascontiguousarray(images), labels.astype(np.int64)
    return [(images[i:i + size], labels[i:i + size]) for i in range(0, len(images) - size + 1, size)]
