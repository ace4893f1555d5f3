#!/usr/bin/env python3
"""Predictions of ResNet-50 by tpack, OpenVINO and PyTorch, in turn: images per second, the medians of several rounds.

    bench/peers/predictions.py --batches 1,32 --precision fp32

OpenVINO and PyTorch take the model of models.py. Each predicts random images in this process's processors, with as many threads.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpack", default=str(ROOT / "build" / "release" / "tpack"))
    parser.add_argument("--batches", default="1,32", help="batch sizes")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement of a peer")
    parser.add_argument("--steps", type=int, default=20, help="of each measurement of tpack")
    return parser.parse_args()


def tpack(options, batch):
    command = [options.tpack, "bench", str(ROOT / "bench/configs/resnet50.yaml"), "--predict", "--json", "--precision",
               options.precision, "--steps", str(options.steps), "--warm-up", "3", "--set", f"data.train.BatchData.batch_size={batch}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["samples_per_s"]


def speed(predict, batch, seconds):
    """Images per second by the median time of a call."""
    for _ in range(3):
        predict()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        began = time.perf_counter()
        predict()
        times.append(time.perf_counter() - began)
    return batch / statistics.median(times)


def openvino(model, options, batch):
    import numpy as np
    import openvino as ov
    import torch

    images = np.random.rand(batch, 3, 224, 224).astype(np.float32)
    converted = ov.convert_model(model, example_input=torch.from_numpy(images), input=[images.shape])
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": len(os.sched_getaffinity(0)),
                "INFERENCE_PRECISION_HINT": "bf16" if options.precision == "bf16" else "f32"}
    request = ov.Core().compile_model(converted, "CPU", settings).create_infer_request()
    return lambda: request.infer([images])


def pytorch(model, options, batch):
    import torch

    images = torch.rand(batch, 3, 224, 224).to(memory_format=torch.channels_last)
    model = model.to(memory_format=torch.channels_last)

    def predict():
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bf16"):
            model(images)
    return predict


def main():
    options = parse()
    import torch
    from models import TRAININGS

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    model = TRAININGS["resnet50"].model().eval()
    for batch in map(int, options.batches.split(",")):
        peers = {"OpenVINO": openvino(model, options, batch), "PyTorch": pytorch(model, options, batch)}
        found = {name: [] for name in ("tpack", *peers)}
        for _ in range(options.rounds):
            found["tpack"].append(tpack(options, batch))
            for name, predict in peers.items():
                found[name].append(speed(predict, batch, options.seconds))
        print(json.dumps({"batch": batch, "precision": options.precision,
                          **{name: round(statistics.median(all_), 1) for name, all_ in found.items()}}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
