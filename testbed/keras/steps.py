"""One training step here and in Keras changes every weight alike: of our built-in networks, and of random graphs."""

import json
import pathlib
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

import formula
import graphs
import models
import results
from check import Check, near
from files import Binary

# Name, shape of a sample, the first number that no value reaches, classes, samples. Numbers from 0 to 1 are
# pictures that were scaled, whole ones bytes or ids of words; without classes, samples are triplets.
NETWORKS = [
    ("mnist-mlp", (28, 28, 1), 1, 10, 20),
    ("mnist-cnn", (28, 28, 1), 1, 10, 10),
    ("small-xception", (30, 30, 3), 256, 2, 8),
    ("imdb-bigru", (40,), 10_000, 2, 6),
    ("facenet-small", (28, 23, 1), 256, 0, 4),
    ("facenet", (80, 80, 3), 256, 0, 2),
]
ALPHA = 0.4

# Samples are drawn so many times, and those are taken with which the network is steadiest.
SEEDS = range(5, 10)

# From how many pixels on a picture is made of squares, and how large these are.
COARSE, SQUARE = 60, 20

# Layers that do something else each time.
AT_RANDOM = ("Dropout", "RandomFlip", "RandomRotation")


def checks(real: SimpleNamespace, binary: Binary) -> Iterator[Check]:
    for network in NETWORKS:
        yield Check(f"{network[0]} is the same network in Keras, and learns the same in a step",
                    lambda network=network: built_in(real, binary, *network))
    for seed in range(20):
        yield Check(f"graph-{seed} learns the same in a step as in Keras",
                    lambda seed=seed: drawn(real, binary, graphs.drawn(seed)))


def built_in(real: SimpleNamespace, binary: Binary, name: str, shape: tuple, below: int, classes: int,
             count: int) -> None:
    # A network of triplets is unsteady for another reason, which coarse pictures mend.
    seeds = SEEDS if classes else SEEDS[:1]
    batches = [samples(shape, below, count if classes else 3 * count, seed) for seed in seeds]
    y = labels(count, classes) if classes else None
    give(binary, batches[0], y)
    start = trained(binary, name, "begun", 1e-6, not classes)
    model = real.keras.models.load_model(start, compile=False)
    x = max(batches, key=lambda x: margin(real.keras, model, x)) if len(batches) > 1 else batches[0]
    give(binary, x, y)
    if classes:
        near("our answer", models.predicted(binary, start), np.asarray(model(x, training=False)), 1e-5)
    learns_alike(real, binary, model, x, y)


def give(binary: Binary, x: np.ndarray, y: np.ndarray | None) -> None:
    """Puts samples where our program finds them: with labels, or as triplets."""
    if y is None:
        triplets = x.reshape(-1, 3, *x.shape[1:])
        np.savez(binary.folder / "x.npz", triplets, triplets)
    else:
        np.savez(binary.folder / "x.npz", x=x, y=y)


def margin(keras, model, x: np.ndarray) -> float:
    """How far from its edge every ReLU stays in Keras. Where one is on it, the last digit decides whether a gradient
    passes, both ways are right, and the steps are far apart."""
    calm = calmed(keras, model, "float64")
    edges = [layer.input for layer in calm.layers
             if type(layer).__name__ == "Activation" and layer.activation.__name__ == "relu"]
    if not edges:
        return 0.0
    values = keras.Model(calm.inputs, edges)(x.astype(np.float64), training=True)
    # What is nothing but zeros before, as where a ReLU came already, is zero here too.
    return min(np.abs(value[value != 0]).min() for value in map(np.asarray, values if len(edges) > 1 else [values]))


def drawn(real: SimpleNamespace, binary: Binary, case: dict) -> None:
    model, x = models.build(real.keras, case), results.samples(case)
    y = labels(case["batch"], model.output_shape[-1])
    np.savez(binary.folder / "x.npz", x=x, y=y)
    learns_alike(real, binary, model, x, y)


def learns_alike(real: SimpleNamespace, binary: Binary, model, x: np.ndarray, y: np.ndarray | None) -> None:
    """One step of size 1 from the model's weights, here and in Keras, there in twice the digits."""
    calmed(real.keras, model, "float32").save(binary.folder / "calm.keras")
    there = calmed(real.keras, model, "float64")
    before = there.get_weights()
    loss = step(real, there, x, y)
    file = trained(binary, "./calm.keras", "stepped", 1.0, y is None)
    here = real.keras.models.load_model(file, compile=False)
    report = json.loads(binary.run("report", "stepped", "--json"))
    near("the loss", np.float32(report["metrics"]["train"]["loss"]), np.float32(loss), 1e-5)
    after = there.get_weights()
    largest = max(np.abs(now - was).max() for was, now in zip(before, after, strict=True))
    for weight, was, ours, theirs in zip(there.weights, before, here.get_weights(), after, strict=True):
        change = np.abs(theirs - was).max()
        # A weight holds seven digits of its own, whatever it changes by. A bias that a normalization follows has
        # a gradient of nothing but rounding.
        allowed = 1e-4 * change + 2.4e-7 * np.abs(was).max() + 1e-6 * largest
        off = np.abs(ours - theirs).max()
        assert off <= allowed, f"{weight.path}: {off} apart after a step of {change}, {allowed} is allowed"


def step(real: SimpleNamespace, model, x: np.ndarray, y: np.ndarray | None) -> float:
    """Changes a model's weights by their gradients, and says what the loss was."""
    losses = real.keras.losses
    with real.tf.GradientTape() as tape:
        answers = model(x if len(model.input_shape) == 2 else x.astype(np.float64), training=True)
        if y is None:
            near_by, far = (real.tf.reduce_sum((answers[::3] - answers[other::3]) ** 2, -1) for other in (1, 2))
            loss = real.tf.reduce_mean(real.tf.maximum(near_by - far + ALPHA, 0))
        elif answers.shape[-1] == 1:
            loss = real.tf.reduce_mean(losses.binary_crossentropy(y[:, None].astype(np.float64), answers))
        else:
            loss = real.tf.reduce_mean(losses.sparse_categorical_crossentropy(y, answers))
    variables = model.trainable_variables
    gradients = tape.gradient(loss, [variable.value for variable in variables])
    for variable, gradient in zip(variables, gradients, strict=True):
        variable.assign(variable.numpy() - real.tf.convert_to_tensor(gradient).numpy())
    return float(loss)


def samples(shape: tuple, below: int, count: int, seed: int) -> np.ndarray:
    size = count * int(np.prod(shape))
    if len(shape) == 1:
        return formula.ids(seed, size, below).reshape(count, *shape).astype(np.int32)
    scale = np.float32(1 / 255 if below == 1 else 1)
    if shape[0] < COARSE:
        return formula.pixels(seed, size).reshape(count, *shape).astype(np.float32) * scale
    # To a deep network all pictures of noise are alike, and a normalization that makes much of little makes much of
    # rounding. Large squares differ.
    squares = samples((shape[0] // SQUARE, shape[1] // SQUARE, shape[2]), below, count, seed)
    return np.kron(squares, np.ones((1, SQUARE, SQUARE, 1), np.float32))


def labels(count: int, classes: int) -> np.ndarray:
    """The last class is there. Of two classes, as many of one as of the other would all but cancel each other
    out, and leave rounding."""
    y = formula.labels(count, classes)
    y[0] = classes - 1
    if classes == 2:
        y[1:] = [1] * (count - 2) + [0] * min(1, count - 1)
    return y


def trained(binary: Binary, model: str, name: str, rate: float, triplets: bool) -> pathlib.Path:
    """The model after one step of plain gradient descent on all samples, as Keras' file."""
    loss = "loss: triplet, " if triplets else ""
    (binary.folder / f"{name}.yaml").write_text(
        f"name: {name}\ndata: ./x.npz\nmodel: {model}\n"
        f"train: {{ steps: 1, batch: 100, {loss}optimizer: {{ sgd: {{ learning_rate: {rate} }} }} }}\n"
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
