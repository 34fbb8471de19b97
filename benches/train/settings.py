"""What is trained or answered, the same for everybody."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Work:
    """How a network is fed, as its seed feeds it."""

    batch: int
    # The shape of one sample and the first number no value reaches: 1.0 for floats, else whole numbers.
    shape: tuple[int, ...]
    below: float
    classes: int
    # How many batches are made beforehand and used in turn, so that nobody waits for data.
    batches: int = 4


NETWORKS = {
    "mnist-mlp": Work(20, (784,), 1.0, 10, batches=16),
    "mnist-cnn": Work(100, (28, 28, 1), 1.0, 10),
    "small-xception": Work(128, (30, 30, 3), 256, 2),
    "imdb-bigru": Work(100, (500,), 10_000, 2, batches=1),
}


@dataclass(frozen=True)
class Setting:
    """A network with its batch on a number of threads. Adam at Keras' defaults, mean loss."""

    network: str
    threads: int
    # Samples answered at a time; none where it is trained.
    answers: int = 0

    @property
    def work(self) -> Work:
        return NETWORKS[self.network]

    @property
    def batch(self) -> int:
        return self.answers or self.work.batch

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        what = "answers to" if self.answers else "batch"
        return f"{self.network}, {what} {self.batch}, {threads}"


def samples(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Random samples, [batches, batch, shape], and labels, [batches, batch]: pixels as floats, ids of words as integers."""
    random, work = np.random.default_rng(0), setting.work
    many = (work.batches, setting.batch)
    if work.below == 1.0:
        x = random.random((*many, *work.shape), dtype=np.float32)
    else:
        x = random.integers(0, int(work.below), (*many, *work.shape), dtype=np.int32)
    if len(work.shape) == 3:
        x = x.astype(np.float32)
    return x, random.integers(0, work.classes, many, dtype=np.int32)
