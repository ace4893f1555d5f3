#!/usr/bin/env python3
"""Makes mnist_convnet.json and cifar_resnet.json: ten training steps in PyTorch of the networks of configs/mnist-convnet.yaml and
configs/cifar-resnet.yaml. With --check: compares the files instead. With --float32: prints how far PyTorch's own training in
single precision is from them; the tolerances for floats are based on that."""
import sys

from golden import draw, finish, integers, numbers, summary, weights  # first: it says what is missing

import torch
import torch.nn.functional as F

STEPS = 10


class Training:
    """One network with its variables, under tpack's names; subclasses define the network."""

    config = name = ""
    overrides = []
    inputs = {}
    trained = {}     # draws of the variables that are trained
    averages = {}    # of those that are not
    regularized = ()
    l2 = 0.0

    def logits(self, image):
        raise NotImplementedError

    def optimizer(self, parameters):
        raise NotImplementedError

    def draw_variables(self, dtype=torch.float64):
        self.v = {name: draw(f"{self.name}/{name}", spec).to(dtype) for name, spec in {**self.trained, **self.averages}.items()}

    def run(self, dtype=torch.float64):
        """The content of the golden file."""
        self.draw_variables(dtype)
        parameters = {name: self.v[name].requires_grad_() for name in self.trained}
        optimizer = self.optimizer(list(parameters.values()))
        losses, gradients = [], {}
        for step in range(1, STEPS + 1):
            fed = {x: draw(f"{self.name}/step{step}/{x}", spec) for x, spec in self.inputs.items()}
            optimizer.zero_grad()
            loss = self.cost(fed["image"].to(dtype).permute(0, 3, 1, 2), fed["label"])
            loss.backward()
            losses.append(loss.item())
            gradients[str(step)] = {name: summary(f"{self.name}/step{step}/gradient/{name}", p.grad)
                                    for name, p in parameters.items()}
            optimizer.step()
        after = {name: summary(f"{self.name}/after/{name}", value) for name, value in self.v.items()}
        return {"config": self.config, "overrides": self.overrides, "inputs": self.inputs,
                "variables": {**self.trained, **self.averages}, "losses": losses, "gradients": gradients, "after": after}

    def cost(self, image, label):
        decay = sum(self.v[name].square().sum() for name in self.regularized)
        return F.cross_entropy(self.logits(image), label) + self.l2 / 2 * decay


def bias(*shape):
    return numbers(*shape, within=0.1)


class MnistConvnet(Training):
    """tensorpack's examples/basics/mnist-convnet without its dropout, because PyTorch draws other random numbers."""

    name = "mnist_convnet"
    config = "configs/mnist-convnet.yaml"
    overrides = ["model.layers.Dropout.rate=0"]
    inputs = {"image": integers(4, 28, 28, 1, below=256, dtype="uint8"), "label": integers(4, below=10)}
    trained = {
        "conv0/W": weights(32, 1, 3, 3), "conv0/b": bias(32),
        "conv1/W": weights(32, 32, 3, 3), "conv1/b": bias(32),
        "conv2/W": weights(32, 32, 3, 3), "conv2/b": bias(32),
        "conv3/W": weights(32, 32, 3, 3), "conv3/b": bias(32),
        "fc0/W": weights(32 * 7 * 7, 512), "fc0/b": bias(512),
        "fc1/W": weights(512, 10), "fc1/b": bias(10),
    }
    regularized = ("fc0/W", "fc1/W")
    l2 = 1e-5

    def logits(self, image):
        def conv(x, name):
            return F.relu(F.conv2d(x, self.v[f"{name}/W"], self.v[f"{name}/b"], padding=1))

        x = F.max_pool2d(conv(image * 2 / 255 - 1, "conv0"), 2)
        x = F.max_pool2d(conv(conv(x, "conv1"), "conv2"), 2)
        x = conv(x, "conv3").flatten(1)
        x = F.relu(x @ self.v["fc0/W"] + self.v["fc0/b"])
        return x @ self.v["fc1/W"] + self.v["fc1/b"]

    def optimizer(self, parameters):
        return torch.optim.Adam(parameters, lr=1e-3)


class CifarResnet(Training):
    """tensorpack's cifar10-resnet with n = 1: three blocks of two convolutions, with pre-activation."""

    name = "cifar_resnet"
    config = "configs/cifar-resnet.yaml"
    inputs = {"image": integers(2, 32, 32, 3, below=256, dtype="uint8"), "label": integers(2, below=10)}
    convolutions = {
        "conv0": (16, 3), "res1_0/res/conv1": (16, 16), "res1_0/res/conv2": (16, 16),
        "res2_0/res/conv1": (32, 16), "res2_0/res/conv2": (32, 32),
        "res3_0/res/conv1": (64, 32), "res3_0/res/conv2": (64, 64),
    }
    norms = {
        "conv0_bn": 16, "res1_0/res/conv1_bn": 16, "res2_0/res/preact_bn": 16, "res2_0/res/conv1_bn": 32,
        "res3_0/res/preact_bn": 32, "res3_0/res/conv1_bn": 64, "bnlast": 64,
    }
    trained = {
        **{f"{name}/W": weights(*channels, 3, 3) for name, channels in convolutions.items()},
        **{f"{name}/beta": bias(channels) for name, channels in norms.items()},
        **{f"{name}/gamma": numbers(channels, around=1.0, within=0.5) for name, channels in norms.items()},
        "linear/W": weights(64, 10), "linear/b": bias(10),
    }
    averages = {
        **{f"{name}/mean/EMA": bias(channels) for name, channels in norms.items()},
        **{f"{name}/variance/EMA": numbers(channels, around=1.0, within=0.5) for name, channels in norms.items()},
    }
    regularized = tuple(f"{name}/W" for name in (*convolutions, "linear"))
    l2 = 2e-4

    def logits(self, image):
        x = self.relu_bn(self.conv(image * (1 / 128) - 0.943, "conv0"), "conv0_bn")
        x = x + self.branch(x, "res1_0/res")
        for block in ("res2_0/res", "res3_0/res"):
            branch = self.branch(self.relu_bn(x, f"{block}/preact_bn"), block, stride=2)
            added = x.shape[1] // 2
            x = branch + F.pad(F.avg_pool2d(x, 2), (0, 0, 0, 0, added, added))
        return self.relu_bn(x, "bnlast").mean((2, 3)) @ self.v["linear/W"] + self.v["linear/b"]

    def branch(self, x, block, stride=1):
        return self.conv(self.relu_bn(self.conv(x, f"{block}/conv1", stride), f"{block}/conv1_bn"), f"{block}/conv2")

    def conv(self, x, name, stride=1):
        # "same" as in TensorFlow: with stride 2, an even image gets one row below and one column to the right.
        padded = F.pad(x, (1, 1, 1, 1)) if stride == 1 else F.pad(x, (0, 1, 0, 1))
        return F.conv2d(padded, self.v[f"{name}/W"], stride=stride)

    def relu_bn(self, x, name):
        """PyTorch averages the unbiased variance, tpack the one that normalizes: so the averages are written out."""
        with torch.no_grad():
            for which, batch in (("mean", x.mean((0, 2, 3))), ("variance", x.var((0, 2, 3), unbiased=False))):
                average = self.v[f"{name}/{which}/EMA"]
                average.copy_(0.9 * average + 0.1 * batch)
        gamma, beta = self.v[f"{name}/gamma"], self.v[f"{name}/beta"]
        return F.relu(F.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-5))

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def largest_error(exact, rounded):
    """The largest difference in all results below, relative to the norm (results) or the value (losses)."""
    if isinstance(exact, dict):
        return max(largest_error(exact[key], rounded[key]) for key in exact)
    return max(abs(a - b) for a, b in zip(exact, rounded)) / exact[0]


def main():
    for training in (MnistConvnet(), CifarResnet()):
        content = training.run()
        if sys.argv[1:] == ["--float32"]:
            rounded = training.run(torch.float32)
            for what in ("losses", "gradients", "after"):
                print(f"{training.name}: {what} {largest_error(content[what], rounded[what]):.1e}")
        else:
            finish(f"{training.name}.json", content)


if __name__ == "__main__":
    main()
