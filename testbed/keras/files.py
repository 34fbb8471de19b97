"""Proves that files our binary writes are read by numpy, safetensors and Keras, and theirs by ours."""

import functools
import hashlib
import json
import pathlib
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
from safetensors import safe_open

import formula
from check import Check, Skip, near

TIMEOUT = 120


class Binary:
    """Our program, working in a folder of its own."""

    def __init__(self, path: pathlib.Path | None, folder: pathlib.Path):
        self.path, self.folder = path, folder

    def run(self, *arguments: str) -> str:
        if self.path is None:
            raise Skip("no binary was named")
        done = subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT)
        if done.returncode:
            words, told = " ".join(arguments), done.stderr.strip()[-2000:]
            raise AssertionError(f"trainyard {words} exited {done.returncode}: {told}")
        return done.stdout

    @functools.cached_property
    def shards(self) -> list[dict[str, np.ndarray]]:
        """The sample dataset split in three, as numpy reads it."""
        self.run("split", "--data", "mnist-sample", "--n_container", "3", "--savedir", "shards")
        return [dict(np.load(self.folder / f"shards/{i}.npz", allow_pickle=False)) for i in range(3)]

    @functools.cached_property
    def model(self) -> pathlib.Path:
        """A network trained for one epoch on data that numpy wrote."""
        self.write("small.npz", np.savez)
        self.run("train", "--data", "small.npz", "--model", "mnist-cnn", "--epoch", "1", "--batch", "20",
                 "--savemodel", "model.safetensors")
        return self.folder / "model.safetensors"

    def write(self, name: str, save) -> None:
        """A hundred pictures by formula, written by numpy."""
        pictures = formula.pixels(7, 100 * 28 * 28).reshape(100, 28, 28)
        save(self.folder / name, x=pictures, y=formula.labels(100, 10))


def checks(real: SimpleNamespace, binary: Binary) -> Iterator[Check]:
    yield Check("numpy reads the shards of `split`", lambda: shards(binary))
    yield Check("safetensors reads the model of `train`", lambda: tensors(binary))
    yield Check("Keras predicts from the model's tensors what `predict` does", lambda: predictions(real, binary))
    for save in (np.savez, np.savez_compressed):
        yield Check(f"`evaluate` reads what numpy.{save.__name__} writes", lambda save=save: evaluated(binary, save))


def shards(binary: Binary) -> None:
    sizes = [len(shard["x"]) for shard in binary.shards]
    assert sum(sizes) == 10_000 and max(sizes) - min(sizes) <= 1, f"the shards have {sizes} samples"
    for shard in binary.shards:
        assert shard["x"].dtype == np.uint8 and shard["x"].shape[1:3] == (28, 28), shard["x"].shape
        assert np.issubdtype(shard["y"].dtype, np.integer) and shard["y"].shape == (len(shard["x"]),)
        assert set(shard["y"].tolist()) == set(range(10)), "a digit is missing"


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def tensors(binary: Binary) -> None:
    found = read(binary.model)
    assert all(value.dtype == np.float32 for value in found.values())
    assert sum(value.size for value in found.values()) == 110_986, {n: v.shape for n, v in found.items()}
    told = json.loads(binary.run("inspect", str(binary.model), "--json"))["weights_sha256"]
    digest = hashlib.sha256(b"".join(value.tobytes() for value in in_order(found))).hexdigest()
    assert digest == told, f"inspect says {told}, the tensors hash to {digest}"


def in_order(found: dict[str, np.ndarray]) -> list[np.ndarray]:
    names = [f"{layer}/{part}" for layer in ("conv2d", "conv2d_1", "dense") for part in ("kernel", "bias")]
    return [found[name] for name in names]


def predictions(real: SimpleNamespace, binary: Binary) -> None:
    layers = real.keras.layers
    keras = real.keras.Sequential([
        layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10, activation="softmax"),
    ])
    keras.set_weights(in_order(read(binary.model)))
    pictures = np.load(binary.folder / "small.npz")["x"][..., None].astype(np.float32) / 255
    ours = json.loads(binary.run("predict", str(binary.model), "small.npz", "--json"))["predictions"]
    near("the predictions", np.array(ours, np.float32), keras(pictures).numpy(), 1e-5)


def evaluated(binary: Binary, save) -> None:
    name = f"{save.__name__}.npz"
    binary.write(name, save)
    json.loads(binary.run("evaluate", "--modelpath", str(binary.model), "--data", name, "--json"))
