"""What is trained, the same for everybody."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Setting:
    """A network with its batch on a number of threads. Adam at Keras' defaults, mean loss."""

    network: str
    batch: int
    threads: int

    @property
    def batches(self) -> int:
        """How many batches are made beforehand and used in turn, so that nobody waits for data."""
        return 16 if self.network == "mnist-mlp" else 4

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.network}, batch {self.batch}, {threads}"


# The batch of each network: S1's and S2's.
NETWORKS = {"mnist-mlp": 20, "mnist-cnn": 100}


def samples(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Random pictures in [0, 1) and labels: [batches, batch, 28, 28, 1] (or 784) and [batches, batch]."""
    random = np.random.default_rng(0)
    shape = (784,) if setting.network == "mnist-mlp" else (28, 28, 1)
    x = random.random((setting.batches, setting.batch, *shape), dtype=np.float32)
    return x, random.integers(0, 10, (setting.batches, setting.batch), dtype=np.int32)
