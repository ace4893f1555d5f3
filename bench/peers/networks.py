"""The networks that tpack and its peers train side by side, and what tpack must reach on them."""
import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Network:
    config: str  # of tpack
    settings: tuple = ()  # --set of tpack
    batch: int = 128
    warm_up: int = 20  # steps before the timed ones; includes compilation
    steps: int = 300  # timed, in each round
    probe_steps: int = 40  # timed, in the short run that chooses among a peer's variants
    loss_seeds: int = 0  # runs of 100 steps that only compare losses
    least_ratio: float = 1.0  # speed of tpack over that of the best peer
    least_ratio_bf16: float = 1.0  # the same in bf16, on a processor without AMX
    most_loss_difference: typing.Optional[float] = None  # of the mean loss of steps 81 to 100, relative to the best peer's
    peak_rss_below_mb: typing.Optional[float] = None  # of tpack


NETWORKS = {
    # tensorpack's own network, and a variant that no special case was made for.
    "mnist-convnet": Network(
        "configs/mnist-convnet.yaml", loss_seeds=12, least_ratio=1.8, least_ratio_bf16=1.8, most_loss_difference=0.10, peak_rss_below_mb=150),
    "mnist-convnet-5x5-48": Network(
        "configs/mnist-convnet.yaml", ("model.defaults.Conv2D={kernel: 5, filters: 48, activation: ReLU}",), least_ratio=1.25),
    "cifar-resnet-32": Network(
        "configs/cifar-resnet.yaml", ("vars.n=5", "data.train.BatchData.batch_size=128"), steps=100, probe_steps=15,
        least_ratio_bf16=1.4),
    "resnet50": Network("bench/configs/resnet50.yaml", batch=16, warm_up=5, steps=20, probe_steps=5, least_ratio_bf16=1.3),
    "vgg16": Network("bench/configs/vgg16.yaml", batch=8, warm_up=3, steps=10, probe_steps=3),
    "mobilenet-v2": Network("bench/configs/mobilenet-v2.yaml", batch=16, warm_up=5, steps=40, probe_steps=8),
    "shufflenet-v2": Network("bench/configs/shufflenet-v2.yaml", batch=16, warm_up=5, steps=40, probe_steps=8),
    "unet": Network("configs/unet.yaml", batch=16, warm_up=10, steps=60, probe_steps=10),
    # The median step of WGAN-GP is one of the critic, with the penalty.
    "dcgan": Network("configs/digits-dcgan.yaml", batch=64, warm_up=20, steps=60, probe_steps=15),
    "wgan-gp": Network("configs/digits-wgan-gp.yaml", batch=64, warm_up=24, steps=120, probe_steps=30),
    "perceptron": Network("bench/configs/perceptron.yaml", batch=256, warm_up=10, steps=50, probe_steps=10),
}


def check_names(parser, names):
    """Ends the program where one is unknown."""
    for name in names:
        if name not in NETWORKS:
            parser.error(f"unknown network '{name}'; known are {', '.join(NETWORKS)}")
