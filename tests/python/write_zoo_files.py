#!/usr/bin/env python3
"""A network of the zoo in PyTorch with random weights, into FOLDER: NAME.pth; NAME.npz has images, their logits, and those of auxiliary
classifiers. It is torchvision's, or one of zoo_networks.py.

    write_zoo_files.py FOLDER NAME SIDE
"""
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torchvision
    import zoo_networks
except ImportError as missing:
    print(missing)
    sys.exit(77)


def main():
    folder, name, side = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    torch.manual_seed(1)
    net = zoo_networks.network(name, side)
    if net is None:
        options = {"init_weights": False, "transform_input": True} if name == "googlenet" else {}
        net = torchvision.models.get_model(name.replace("-", "_"), **options)
    net.eval()
    with torch.no_grad():
        for part in net.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.running_mean.uniform_(-0.1, 0.1)
                part.running_var.uniform_(0.5, 2)
                part.weight.uniform_(0.5, 1.5)
                part.bias.uniform_(-0.1, 0.1)
            elif isinstance(part, torch.nn.LayerNorm):
                part.weight.uniform_(0.5, 1.5)
                part.bias.uniform_(-0.1, 0.1)
        for key, value in net.named_parameters():
            if key.endswith("layer_scale"):
                value.uniform_(0.5, 1.5)
        images = torch.randint(0, 256, (2, side, side, 3), dtype=torch.uint8)
        mean, deviation = map(torch.tensor, zoo_networks.colors(name))
        logits = net(((images.float() - mean) / deviation).permute(0, 3, 1, 2))
    torch.save(net.state_dict(), folder / f"{name}.pth")
    np.savez(folder / f"{name}.npz", image=images.numpy(), logits=logits.numpy(),
             **{key: value.numpy() for key, value in getattr(net, "auxiliary", {}).items()})


if __name__ == "__main__":
    main()
