#!/usr/bin/env python3
"""Files of weights as PyTorch writes them, into the folder of the argument; expected.npz has each tensor, an input and the outputs for it."""
import argparse
import pathlib
import sys

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    print(missing)
    sys.exit(77)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.body = nn.Sequential(nn.Conv2d(8, 6, 3, padding=1, groups=2), nn.ReLU())
        self.up = nn.ConvTranspose2d(6, 4, 2, stride=2)
        self.fc1 = nn.Linear(4 * 8 * 8, 10)
        self.fc2 = nn.Linear(10, 10)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.up(self.body(x)))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    net = Net().eval()
    with torch.no_grad():
        net.bn1.running_mean.uniform_(-1, 1)
        net.bn1.running_var.uniform_(0.5, 2)
        net.bn1.weight.uniform_(0.5, 2)
        net.bn1.bias.uniform_(-1, 1)
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(5, 3, 4, 4)
    seen = {}  # the outputs of some layers
    hooks = [getattr(net, name).register_forward_hook(lambda _, __, out, name=name: seen.update({name: out.numpy()}))
             for name in ("conv1", "bn1", "fc2")]
    with torch.no_grad():
        y = net(x)
    for hook in hooks:
        hook.remove()
    np.savez(folder / "layers.npz", image=x.numpy(), stem_body=x.numpy(), **seen)
    np.savez(folder / "channels-last.npz", image=x.numpy(), **{**seen, "conv1": seen["conv1"].transpose(0, 2, 3, 1)})
    np.savez(folder / "other-layers.npz", image=x.numpy(), **{**seen, "bn1": seen["bn1"] * 1.01, "fc2": seen["fc2"] + 1})
    net(x).sum().backward()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    optimizer.step()  # gives the optimizer a state
    net.load_state_dict(before)
    state = net.state_dict()
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    views = {"rows": base[1:3], "columns": base[:, 2:4], "transposed": base.t(), "parameter": nn.Parameter(base * 2), "count": torch.tensor(7),
             "flags": torch.tensor([True, False]), "double": base.double() / 3, "bytes": torch.arange(5, dtype=torch.uint8), "empty": torch.zeros(0, 3)}
    old = dict(_use_new_zipfile_serialization=False)
    torch.save(state, folder / "zip.pth")
    torch.save(state, folder / "stream.pth", **old)
    nested = {"epoch": 3, "args": argparse.Namespace(lr=0.1), "optimizer": optimizer.state_dict(),
              "state_dict": {f"module.{name}": value for name, value in state.items()}}
    torch.save(nested, folder / "nested.pth")
    torch.save(nested, folder / "nested-stream.pth", **old)
    torch.save(net, folder / "module.pth")
    torch.jit.script(net).save(str(folder / "script.pt"))
    torch.save({name: value.half() for name, value in state.items()}, folder / "half.pth")
    torch.save({name: value.bfloat16() for name, value in state.items() if value.is_floating_point()}, folder / "bfloat16.pth")
    torch.save(views, folder / "views.pth")
    torch.save(views, folder / "views-stream.pth", **old)
    expected = {name: value.numpy() for name, value in state.items()}
    expected.update({f"views.{name}": value.detach().float().numpy() for name, value in views.items()})
    np.savez(folder / "expected.npz", x=x.numpy(), y=y.numpy(), **expected)
    # The same weights as TensorFlow lays them out, under tensorpack's names.
    last = {"weight": "W", "bias": "b", "running_mean": "mean/EMA", "running_var": "variance/EMA"}
    tensorpack = {}
    for name, value in state.items():
        layer, leaf = name.rsplit(".", 1)
        value = value.numpy()
        if leaf == "num_batches_tracked":
            continue
        here = last[leaf] if not (layer == "bn1" and leaf in ("weight", "bias")) else {"weight": "gamma", "bias": "beta"}[leaf]
        if value.ndim == 4:
            value = value.transpose(2, 3, 1, 0)  # a transposed convolution becomes [h, w, out, in], too
        elif layer == "fc1" and value.ndim == 2:
            value = value.reshape(10, 4, 8, 8).transpose(2, 3, 1, 0).reshape(256, 10)
        elif value.ndim == 2:
            value = value.T
        tensorpack[layer.replace(".", "/") + "/" + here] = value
    np.savez_compressed(folder / "tensorpack.npz", **tensorpack)
    print("written")


main()
