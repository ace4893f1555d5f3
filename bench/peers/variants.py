"""The ways to run a training in PyTorch, of which the fastest counts."""
import dataclasses
import itertools

# What an option may be. Plain: [N, C, H, W]. Optimizers: one kernel for all variables, one per operation, or what torch.compile
# makes of the latter. Memory that is freed goes back to the system (the C library's default) or is kept, in large pages.
CHOICES = {
    "layout": ("plain", "channels_last"),
    "execution": ("eager", "compile"),
    "optimizer": ("fused", "foreach", "compiled"),
    "memory": ("returned", "kept"),
}


@dataclasses.dataclass(frozen=True)
class Variant:
    layout: str
    execution: str
    optimizer: str
    memory: str
    threads: int

    @property
    def compiles(self):
        return self.execution == "compile" or self.optimizer == "compiled"

    def options(self):
        """Of pytorch.py."""
        return [word for name, value in vars(self).items() for word in (f"--{name}", str(value))]

    def __str__(self):
        return (f"{self.layout}, {self.execution}, optimizer {self.optimizer}, memory {self.memory}, {self.threads} "
                f"thread{'s' if self.threads > 1 else ''}")


def all_variants(threads):
    """Those with that many threads; who compiles the optimizer compiles the network too."""
    found = [Variant(*values, threads) for values in itertools.product(*CHOICES.values())]
    return [variant for variant in found if variant.execution == "compile" or not variant.compiles]
