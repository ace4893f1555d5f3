#!/usr/bin/env python3
"""A network of torchvision with random weights, into FOLDER: NAME.pth; NAME.npz has images and their logits.

    write_torchvision_files.py FOLDER NAME SIDE
"""
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torchvision
except ImportError as missing:
    print(missing)
    sys.exit(77)


def main():
    folder, name, side = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    torch.manual_seed(1)
    options = {"init_weights": False, "transform_input": True} if name == "googlenet" else {}
    net = torchvision.models.get_model(name.replace("-", "_"), **options).eval()
    with torch.no_grad():
        for part in net.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.running_mean.uniform_(-0.1, 0.1)
                part.running_var.uniform_(0.5, 2)
                part.weight.uniform_(0.5, 1.5)
                part.bias.uniform_(-0.1, 0.1)
        for key, value in net.named_parameters():
            if key.endswith("layer_scale"):
                value.uniform_(0.5, 1.5)
        images = torch.randint(0, 256, (2, side, side, 3), dtype=torch.uint8)
        mean, deviation = torch.tensor([123.675, 116.28, 103.53]), torch.tensor([58.395, 57.12, 57.375])
        logits = net(((images.float() - mean) / deviation).permute(0, 3, 1, 2))
    torch.save(net.state_dict(), folder / f"{name}.pth")
    np.savez(folder / f"{name}.npz", image=images.numpy(), logits=logits.numpy())


if __name__ == "__main__":
    main()
