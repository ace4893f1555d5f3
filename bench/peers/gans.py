"""The adversarial networks of networks.py in PyTorch, with the costs and the updates of their configs.

As in models.py, these do what is cheapest for PyTorch: convolutions of stride 2 pad the same number of pixels on each side,
activations work in place, and DCGAN's two costs share one pass through both networks, as `joint: true` does in tpack.
torch.compile takes the networks but for the critic of the gradient penalty, whose second derivatives it does not have.
"""
import torch
import torch.nn.functional as F
from torch import nn

from models import relu

NOISE = 64  # numbers that a generator draws from


def leaky(x, inplace=True):
    return F.leaky_relu(x, 0.2, inplace=inplace)


class Generator(nn.Module):
    """From [N, NOISE] to [N, 1, 28, 28]."""

    def __init__(self, width, use_bias):
        super().__init__()
        self.width = width
        self.fc = nn.Linear(NOISE, 49 * width, bias=use_bias)
        self.bn0 = nn.BatchNorm2d(width)
        self.up1 = nn.ConvTranspose2d(width, width // 2, 4, 2, 1, bias=use_bias)
        self.bn1 = nn.BatchNorm2d(width // 2)
        self.up2 = nn.ConvTranspose2d(width // 2, 1, 4, 2, 1)

    def forward(self, z):
        x = relu(self.bn0(self.fc(z).reshape(-1, self.width, 7, 7)))
        return torch.tanh(self.up2(relu(self.bn1(self.up1(x)))))


class Discriminator(nn.Module):
    """configs/digits-dcgan.yaml: from [N, 1, 28, 28] to [N, 1]."""

    def __init__(self, width):
        super().__init__()
        self.conv0 = nn.Conv2d(1, width // 2, 4, 2, 1)
        self.conv1 = nn.Conv2d(width // 2, width, 4, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 4, 2, 2, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.fc = nn.Linear(16 * 2 * width, 1)

    def forward(self, x):
        x = leaky(self.conv0(x))
        x = leaky(self.bn1(self.conv1(x)))
        return self.fc(leaky(self.bn2(self.conv2(x))).flatten(1))


class Critic(nn.Module):
    """configs/digits-wgan-gp.yaml: from [N, 1, 28, 28] to [N, 1]. Nothing works in place: the penalty differentiates the gradient."""

    def __init__(self):
        super().__init__()
        self.conv0 = nn.Conv2d(1, 16, 4, 2, 1)
        self.conv1 = nn.Conv2d(16, 32, 4, 2, 1)
        self.norm = nn.GroupNorm(1, 32)
        self.fc = nn.Linear(32 * 49, 1)

    def forward(self, x):
        x = leaky(self.conv0(x), inplace=False)
        return self.fc(leaky(self.norm(self.conv1(x)), inplace=False).flatten(1))


def apply(optimizer, gradients):
    for parameter, gradient in zip(optimizer.param_groups[0]["params"], gradients):
        parameter.grad = gradient
    optimizer.step()


class Adversarial:
    """As pytorch.Supervised; `step` takes bytes [N, 1, 28, 28] and no labels, and returns the cost of the step."""

    def __init__(self, generator, critic, how, **adam):
        self.networks = [network.to(memory_format=how.layout) for network in (generator, critic)]
        self.plain_critic = critic
        self.generator, self.critic = [how.compiled(network) for network in self.networks]
        self.autocast = how.autocast
        optimizers = [torch.optim.Adam(network.parameters(), **adam, **how.optimizer) for network in self.networks]
        for optimizer in optimizers:
            optimizer.step = how.compiled_update(optimizer.step)
        self.for_generator, self.for_critic = optimizers

    def step(self, images, _):
        return self.update(images.float().mul_(2 / 255).sub_(1))


class Dcgan(Adversarial):
    """configs/digits-dcgan.yaml."""

    def __init__(self, how):
        super().__init__(Generator(64, use_bias=False), Discriminator(64), how, lr=5e-4, betas=(0.5, 0.999))

    def update(self, images):
        with self.autocast:
            fake = self.generator(torch.randn(len(images), NOISE))
            fake_score, real_score = self.critic(fake), self.critic(images)
        fake_score, real_score = fake_score.float(), real_score.float()
        ones = torch.ones_like(fake_score)
        cost = F.binary_cross_entropy_with_logits(real_score, 0.9 * ones) + F.binary_cross_entropy_with_logits(fake_score, 0 * ones)
        of_critic = torch.autograd.grad(cost, list(self.networks[1].parameters()), retain_graph=True)
        of_generator = torch.autograd.grad(F.binary_cross_entropy_with_logits(fake_score, ones), list(self.networks[0].parameters()))
        apply(self.for_critic, of_critic)
        apply(self.for_generator, of_generator)
        return cost.detach()


class WganGp(Adversarial):
    """configs/digits-wgan-gp.yaml: each sixth batch trains the generator, the others the critic."""

    def __init__(self, how):
        super().__init__(Generator(32, use_bias=True), Critic(), how, lr=1e-4, betas=(0.5, 0.9))
        self.steps = 0

    def update(self, images):
        self.steps += 1
        z = torch.randn(len(images), NOISE)
        if self.steps % 6 == 0:
            with self.autocast:
                cost = -self.critic(self.generator(z)).float().mean()
            apply(self.for_generator, torch.autograd.grad(cost, list(self.networks[0].parameters())))
            return cost.detach()
        with self.autocast:
            with torch.no_grad():
                fake = self.generator(z).float()
            mixed = torch.lerp(images, fake, torch.rand(len(images), 1, 1, 1)).requires_grad_()
            slope, = torch.autograd.grad(self.plain_critic(mixed).float().sum(), mixed, create_graph=True)
            penalty = (slope.square().sum((1, 2, 3)).sqrt() - 1).square().mean()
            cost = (self.critic(fake) - self.critic(images)).float().mean() + 10 * penalty
        apply(self.for_critic, torch.autograd.grad(cost, list(self.networks[1].parameters())))
        return cost.detach()


GANS = {"dcgan": Dcgan, "wgan-gp": WganGp}
