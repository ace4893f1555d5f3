#!/usr/bin/env python3
"""Image files to batches: tpack, tensorpack, torchvision's DataLoader with v2 transforms and SPDL, in turn, on two processors.

    TPACK_DATASET=DIR TPACK_CIFAR=DIR bench/peers/images.py [--runs 3] [--only rrc,mnist]

DIR has imagenet-sample/ and mnist/; TPACK_CIFAR the folders of scripts/unpack_cifar10.sh. Runs with a Python that has torch, torchvision,
spdl and numpy; TPACK_TENSORPACK names one that has tensorpack and OpenCV. Prints images per second and processor seconds of 1,000 images, the
median run: each program reads a number of batches, then three times as many, and the differences count, so that starts do not. A peer that
is not installed, or does not have an operation, is left out and says so.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# name -> batch, batches of the short run, augmentors of tpack
PIPELINES = {
    "rrc": (32, 40, "[RandomResizedCrop: 224, Flip]"),
    "rand_augment": (32, 25, "[RandomResizedCrop: 224, Flip, ColorJitter: {brightness: 0.4, contrast: 0.4, saturation: 0.4}, RandAugment]"),
    "short_side": (32, 30, "[ResizeShortestEdge: {size: 256}, RandomCrop: 224, Flip]"),
    "cifar": (128, 80, "[CenterPaste: 40, RandomCrop: 32, Flip]"),
    "mnist": (128, 15000, ""),
    "masks": (16, 30, "[RandomCrop: 256, Flip, ColorJitter: {brightness: 0.4, contrast: 0.4, saturation: 0.4}]"),
}
PEERS = ("tpack", "torchvision", "tensorpack", "spdl")


# ---- files -----------------------------------------------------------------------------------------------------------------------

def photographs():
    folder = pathlib.Path(os.environ["TPACK_DATASET"]) / "imagenet-sample"
    return sorted(str(file) for file in folder.iterdir())


def cifar():
    folder = pathlib.Path(os.environ["TPACK_CIFAR"]) / "train"
    return sorted(str(file) for file in folder.glob("*/*.jpg"))


def make_masks(folder):
    """The photographs of at least 256 x 256 pixels, and masks of two classes: what is bright."""
    from PIL import Image
    for name in ("photos", "masks"):
        (folder / name).mkdir()
    for file in photographs():
        image = Image.open(file)
        if min(image.size) < 256:
            continue
        shutil.copy(file, folder / "photos")
        image.convert("L").point(lambda value: int(value > 127)).save(folder / "masks" / (pathlib.Path(file).stem + ".png"))


def mnist_arrays():
    import gzip
    import numpy
    folder = pathlib.Path(os.environ["TPACK_DATASET"]) / "mnist"
    images = numpy.frombuffer(gzip.open(next(folder.glob("train-images*"))).read(), numpy.uint8, offset=16)
    labels = numpy.frombuffer(gzip.open(next(folder.glob("train-labels*"))).read(), numpy.uint8, offset=8)
    return images.reshape(-1, 28, 28), labels


# ---- tpack -----------------------------------------------------------------------------------------------------------------------

def tpack_config(pipeline, folder):
    batch, _, augmentors = PIPELINES[pipeline]
    source = {"cifar": f"ImageFolder: {{dir: {os.environ.get('TPACK_CIFAR')}/train}}",
              "mnist": f"Mnist: {{dir: {os.environ.get('TPACK_DATASET')}/mnist}}",
              "masks": f"ImagePairs: {{images: {folder}/photos, masks: {folder}/masks}}"}.get(
                  pipeline, f"ImageList: {folder}/photos.txt")
    maps = f"\n    - AugmentImageComponent: {augmentors}" if augmentors else ""
    # Nothing looks at the images, so that the step takes no time.
    layers = "Reshape: {name: x, shape: [1]}"
    inputs = "label: {shape: [], dtype: int32}"
    if pipeline == "masks":
        layers = "Slice: {axis: 1, begin: 0, end: 1}, Slice: {axis: 2, begin: 0, end: 1}, Reshape: {name: x, shape: [1]}"
        inputs = "mask: {shape: [256, 256], dtype: uint8}"
    return f"""tpack: 1
data:
  train:
    - {source}{maps}
    - BatchData: {batch}
model:
  inputs: {{{inputs}}}
  layers: [{layers}, Elementwise: {{name: number, expression: x * 1.0}}, FullyConnected: {{name: y, units: 1}}]
  cost: [MeanSquaredError: {{predictions: y, targets: 0}}]
optimizer: {{SGD: {{learning_rate: 1.0e-9}}}}
max_epoch: 1
steps_per_epoch: BATCHES
default_callbacks: []
"""


def run_tpack(pipeline, batches, folder):
    config = folder / f"{pipeline}.yaml"
    config.write_text(tpack_config(pipeline, folder).replace("BATCHES", str(batches)))
    subprocess.run([str(ROOT / "build/release/tpack"), "train", str(config), "--log-dir", str(folder / "log"), "--resume", "never"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# ---- peers: each in a process of its own, which reads so many batches ---------------------------------------------------------------

def read_torchvision(pipeline, batches, folder):
    import torch
    import torchvision
    from torchvision import tv_tensors
    from torchvision.io import ImageReadMode, decode_image, read_file
    from torchvision.transforms import v2
    batch = PIPELINES[pipeline][0]
    jitter = v2.ColorJitter(0.4, 0.4, 0.4)
    transform = {
        "rrc": v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]),
        "rand_augment": v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(), jitter, v2.RandAugment()]),
        "short_side": v2.Compose([v2.Resize(256, antialias=True), v2.RandomCrop(224, pad_if_needed=True), v2.RandomHorizontalFlip()]),
        "cifar": v2.Compose([v2.RandomCrop(32, padding=4), v2.RandomHorizontalFlip()]),
        "masks": v2.Compose([v2.RandomCrop(256), v2.RandomHorizontalFlip(), jitter]),
    }.get(pipeline)
    with_pillow = os.environ.get("DECODER") == "pillow"

    def image_of(file, mode=ImageReadMode.RGB):
        if not with_pillow:
            return decode_image(read_file(file), mode)
        from PIL import Image
        return Image.open(file).convert("RGB" if mode == ImageReadMode.RGB else "L")

    def done(image):
        return v2.functional.pil_to_tensor(image) if with_pillow else image

    class Files(torch.utils.data.Dataset):
        def __init__(self, files):
            self.files = files

        def __len__(self):
            return len(self.files)

        def __getitem__(self, i):
            return done(transform(image_of(self.files[i])))

    class Pairs(Files):
        def __getitem__(self, i):
            mask = pathlib.Path(self.files[i].replace("/photos/", "/masks/")).with_suffix(".png")
            image, mask = transform(tv_tensors.Image(decode_image(read_file(self.files[i]), ImageReadMode.RGB)),
                                    tv_tensors.Mask(decode_image(read_file(str(mask)), ImageReadMode.GRAY)))
            return image, mask

    workers = 2
    sampler = None
    if pipeline == "mnist":
        images, labels = (torch.from_numpy(array.copy()) for array in mnist_arrays())
        # Whole batches by one index: the fastest way that DataLoader has.
        data = torch.utils.data.TensorDataset(images, labels)
        order = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), batch, drop_last=True)
        loader = torch.utils.data.DataLoader(data, sampler=order, batch_size=None, num_workers=0)
    else:
        files = {"cifar": cifar, "masks": lambda: sorted(str(file) for file in (folder / "photos").iterdir())}.get(pipeline, photographs)()
        data = (Pairs if pipeline == "masks" else Files)(files)
        loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True, num_workers=workers, persistent_workers=True,
                                             drop_last=True, prefetch_factor=4)
    count = 0
    while count < batches:
        for _ in loader:
            count += 1
            if count == batches:
                break


def read_tensorpack(pipeline, batches, folder):
    import cv2
    from tensorpack.dataflow import BatchData, DataFromList, MultiThreadMapData, RepeatedData, imgaug
    cv2.setNumThreads(0)
    batch = PIPELINES[pipeline][0]
    augmentors = {
        "rrc": [imgaug.GoogleNetRandomCropAndResize(target_shape=224), imgaug.Flip(horiz=True)],
        "short_side": [imgaug.ResizeShortestEdge(256), imgaug.RandomCrop(224), imgaug.Flip(horiz=True)],
        "cifar": [imgaug.CenterPaste((40, 40)), imgaug.RandomCrop(32), imgaug.Flip(horiz=True)],
    }
    if pipeline == "mnist":
        images, labels = mnist_arrays()
        flow = DataFromList([[image, label] for image, label in zip(images, labels)], shuffle=True)
        flow = BatchData(RepeatedData(flow, -1), batch)
    elif pipeline in augmentors:
        files = [[file] for file in (cifar() if pipeline == "cifar" else photographs())]
        augment = imgaug.AugmentorList(augmentors[pipeline])
        # Threads: OpenCV works without Python's lock.
        flow = MultiThreadMapData(RepeatedData(DataFromList(files, shuffle=True), -1), num_thread=2, buffer_size=4 * batch,
                                  map_func=lambda sample: [augment.augment(cv2.imread(sample[0], cv2.IMREAD_COLOR))])
        flow = BatchData(flow, batch)
    else:
        sys.exit("tensorpack has no such operations")
    flow.reset_state()
    for count, _ in enumerate(flow, 1):
        if count == batches:
            break
    os._exit(0)


def read_spdl(pipeline, batches, folder):
    import spdl.io
    from spdl.pipeline import PipelineBuilder
    batch = PIPELINES[pipeline][0]
    if pipeline not in ("rrc", "short_side", "cifar"):
        sys.exit("SPDL has no such operations")
    files = cifar() if pipeline == "cifar" else photographs()

    def filters(width, height):
        flip = ",hflip" if random.random() < 0.5 else ""
        if pipeline == "cifar":
            return f"pad=40:40:4:4,crop=32:32:{random.randint(0, 8)}:{random.randint(0, 8)}{flip},format=rgb24"
        if pipeline == "short_side":
            scale = 256 / min(width, height)
            w, h = max(256, round(width * scale)), max(256, round(height * scale))
            return (f"scale={w}:{h}:flags=bilinear,crop=224:224:{random.randint(0, w - 224)}:{random.randint(0, h - 224)}{flip},format=rgb24")
        for _ in range(10):
            area = width * height * random.uniform(0.08, 1)
            ratio = 2.718281828 ** random.uniform(-0.28768, 0.28768)
            w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
            if 0 < w <= width and 0 < h <= height:
                break
        else:
            w = h = min(width, height)
        return f"crop={w}:{h}:{random.randint(0, width - w)}:{random.randint(0, height - h)},scale=224:224:flags=bilinear{flip},format=rgb24"

    def decode(file):
        packets = spdl.io.demux_image(file)
        return spdl.io.decode_packets(packets, filter_desc=filters(packets.width, packets.height))

    def source():
        while True:
            yield from random.sample(files, len(files))

    pipe = (PipelineBuilder().add_source(source()).pipe(decode, concurrency=2).aggregate(batch)
            .pipe(lambda frames: spdl.io.to_numpy(spdl.io.convert_frames(frames))).add_sink(4).build(num_threads=3))
    with pipe.auto_stop():
        for count, _ in enumerate(pipe.get_iterator(), 1):
            if count == batches:
                break
    os._exit(0)


# ---- timing ------------------------------------------------------------------------------------------------------------------------

def seconds(peer, pipeline, batches, folder, decoder):
    """Of the whole program: wall, processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    if peer == "tpack":
        run_tpack(pipeline, batches, folder)
    else:
        python = os.environ.get("TPACK_TENSORPACK", sys.executable) if peer == "tensorpack" else sys.executable
        subprocess.run([python, __file__, "--read", peer, pipeline, str(batches), str(folder)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=dict(os.environ, DECODER=decoder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rate(peer, pipeline, folder, decoder="turbo"):
    batch, short, _ = PIPELINES[pipeline]
    first, second = (seconds(peer, pipeline, short * times, folder, decoder) for times in (1, 3))
    images = 2 * short * batch
    return images / (second[0] - first[0]), (second[1] - first[1]) / images * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(PIPELINES))
    parser.add_argument("--peers", default=",".join(PEERS))
    arguments = parser.parse_args()
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:2]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_masks(folder)
        (folder / "photos.txt").write_text("".join(f"{file} 0\n" for file in photographs()))
        for pipeline in arguments.only.split(","):
            results = {}
            for _ in range(arguments.runs):
                for peer in arguments.peers.split(","):
                    for decoder in ("turbo", "pillow") if peer == "torchvision" and pipeline not in ("mnist", "masks") else ("turbo",):
                        key = f"{peer} ({decoder})" if decoder == "pillow" else peer
                        runs = results.setdefault(key, [])
                        if runs is None:
                            continue
                        try:
                            runs.append(rate(peer, pipeline, folder, decoder))
                        except subprocess.CalledProcessError:
                            results[key] = None
            for key, runs in results.items():
                if not runs:
                    print(f"{pipeline:14} {key:22} left out: not installed, or without these operations")
                    continue
                images, processor = (statistics.median(run[i] for run in runs) for i in (0, 1))
                spread = f"{min(run[0] for run in runs):,.0f} to {max(run[0] for run in runs):,.0f}"
                print(f"{pipeline:14} {key:22} {images:10,.0f} images/s ({spread}), {processor:.2f} s per 1,000", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--read":
        globals()["read_" + sys.argv[2]](sys.argv[3], int(sys.argv[4]), pathlib.Path(sys.argv[5]))
    else:
        main()
