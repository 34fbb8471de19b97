"""Our built-in networks in Keras: the same answers, and one training step changes every weight alike."""

import json
import pathlib
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

import formula
from check import Check, near
from files import Binary
from models import predicted

# Name, shape of a sample, the first number that no value reaches, classes, samples. Numbers from 0 to 1 are
# pictures that were scaled, whole ones bytes or ids of words.
NETWORKS = [
    ("mnist-mlp", (28, 28, 1), 1, 10, 20),
    ("mnist-cnn", (28, 28, 1), 1, 10, 10),
    ("small-xception", (30, 30, 3), 256, 2, 8),
    ("imdb-bigru", (40,), 10_000, 2, 6),
]

# Layers that do something else each time.
AT_RANDOM = ("Dropout", "RandomFlip", "RandomRotation")


def checks(real: SimpleNamespace, binary: Binary) -> Iterator[Check]:
    for network in NETWORKS:
        yield Check(f"{network[0]} is the same network in Keras, and learns the same in a step",
                    lambda network=network: one_step(real.keras, binary, *network))


def one_step(keras, binary: Binary, name: str, shape: tuple, below: int, classes: int, count: int) -> None:
    x, y = samples(shape, below, count), formula.labels(count, classes)
    if classes == 2:
        # As many of one as of the other would all but cancel each other out, and leave rounding.
        y[:-1] = 1
        y[-1] = 0
    np.savez(binary.folder / "x.npz", x=x, y=y)
    start = trained(binary, name, "begun", rate=1e-6)
    model = keras.models.load_model(start, compile=False)
    near("our answer", predicted(binary, start), np.asarray(model(x, training=False)), 1e-5)

    calmed(keras, model, "float32").save(binary.folder / "calm.keras")
    # In twice the digits, so that what is left between the two is ours.
    calm = calmed(keras, model, "float64")
    before = calm.get_weights()
    loss = "binary_crossentropy" if classes == 2 else "sparse_categorical_crossentropy"
    calm.compile(keras.optimizers.SGD(1.0), loss)
    found = calm.train_on_batch(x, y.reshape(-1, 1).astype(np.float32) if classes == 2 else y)
    ours = keras.models.load_model(trained(binary, "./calm.keras", "stepped", rate=1.0), compile=False)
    report = json.loads(binary.run("report", "stepped", "--json"))
    near("the loss", np.float32(report["metrics"]["train"]["loss"]), np.float32(found), 1e-5)
    for weight, was, here, there in zip(calm.weights, before, ours.get_weights(), calm.get_weights(), strict=True):
        step = np.abs(there - was).max()
        # A weight holds seven digits of its own, whatever it changes by.
        allowed = 1e-4 * step + 2.4e-7 * np.abs(was).max()
        off = np.abs(here - there).max()
        assert off <= allowed, f"{weight.path}: {off} apart after a step of {step}, {allowed} is allowed"


def samples(shape: tuple, below: int, count: int) -> np.ndarray:
    size = count * int(np.prod(shape))
    if len(shape) == 1:
        return formula.ids(5, size, below).reshape(count, *shape).astype(np.int32)
    scale = np.float32(1 / 255 if below == 1 else 1)
    return formula.pixels(5, size).reshape(count, *shape).astype(np.float32) * scale


def trained(binary: Binary, model: str, name: str, rate: float) -> pathlib.Path:
    """The model after one step of plain gradient descent on all samples, as Keras' file."""
    (binary.folder / f"{name}.yaml").write_text(
        f"name: {name}\ndata: ./x.npz\nmodel: {model}\n"
        f"train: {{ steps: 1, batch: 100, optimizer: {{ sgd: {{ learning_rate: {rate} }} }} }}\n"
        "evaluate: false\n")
    binary.run("run", f"{name}.yaml", "--fresh")
    file = binary.folder / f"{name}.keras"
    binary.run("convert", name, str(file))
    return file


def calmed(keras, model, dtype: str):
    """The same model without what happens at random."""
    def again(layer):
        if type(layer).__name__ in AT_RANDOM:
            return keras.layers.Dropout(0.0, name=layer.name, dtype=dtype)
        return type(layer).from_config(of_type(layer.get_config(), dtype))

    same = keras.models.clone_model(model, clone_function=again)
    same.set_weights(model.get_weights())
    return same


def of_type(config, dtype: str):
    """A configuration whose layers, and those within, compute with such numbers."""
    if isinstance(config, dict):
        return {key: dtype if key == "dtype" and value else of_type(value, dtype) for key, value in config.items()}
    return config
