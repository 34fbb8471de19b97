"""Keras' model files, both ways: what Keras saves, we predict from; what we write, Keras predicts from."""

import json
import pathlib
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

import cases
import graphs
import results
from check import Check, Skip, near
from files import Binary

# What tf-keras has no name for, or another function by this name.
NOT_IN_KERAS_2 = ("relu6", "leaky_relu", "hard_sigmoid", "hard_silu", "hard_tanh")


def checks(real: SimpleNamespace, binary: Binary) -> Iterator[Check]:
    networks = [*cases.networks(), *(graphs.drawn(seed) for seed in range(20))]
    for version, keras in (("Keras 3", real.keras), ("Keras 2", real.keras2)):
        for case in networks:
            for ending in ("h5", "keras"):
                yield Check(f"{case['name']}: {version}'s .{ending} predicts the same here, and back in {version}",
                            lambda keras=keras, case=case, ending=ending: both_ways(keras, binary, case, ending))
        for ending in ("h5", "keras"):
            yield Check(f"{version} trains a .{ending}, we train on, and {version} predicts as we do",
                        lambda keras=keras, ending=ending: trained_on(keras, binary, ending))
        for layout in ("h5", "npz"):
            yield Check(f"weights alone, as {version} has them in .{layout}, go onto layers we have",
                        lambda keras=keras, layout=layout: weights_alone(keras, binary, layout))
    yield Check("what we do not have is refused by name", lambda: refused(real, binary))


def build(keras, case: dict):
    """The network as Keras makes it: of a chain every other time a Sequential."""
    if keras.__name__ == "tf_keras" and any(name in json.dumps(case["layers"]) for name in NOT_IN_KERAS_2):
        raise Skip("tf-keras has no such activation")
    model, _ = results.build(SimpleNamespace(keras=keras), case, "float32")
    if "reads" in case or case["salt"] % 2:
        return model
    chain = keras.Sequential([keras.layers.Input(tuple(case["shape"])), *model.layers[1:]])
    return chain


def both_ways(keras, binary: Binary, case: dict, ending: str) -> None:
    model, x = build(keras, case), results.samples(case)
    expected = np.asarray(model(x))
    theirs = binary.folder / f"theirs.{ending}"
    model.save(theirs)
    np.savez(binary.folder / "x.npz", x=x)
    near("our answer", predicted(binary, theirs), expected, 1e-5)
    for other in ("h5", "keras"):
        ours = binary.folder / f"ours.{other}"
        binary.run("convert", str(theirs), str(ours))
        near(f"our answer from our own .{other}", predicted(binary, ours), expected, 1e-5)
        loaded = keras.models.load_model(ours, compile=False)
        near(f"Keras' answer from our .{other}", np.asarray(loaded(x)), expected, 1e-5)
        # A chain is a Sequential here, whatever it was.
        assert type(loaded).__name__ == ("Functional" if "reads" in case else "Sequential"), type(loaded)


def predicted(binary: Binary, model: pathlib.Path) -> np.ndarray:
    told = json.loads(binary.run("predict", str(model), "x.npz", "--json"))["predictions"]
    return np.array(told, np.float32)


def trained_on(keras, binary: Binary, ending: str) -> None:
    """Keras, then we, then Keras again, which compiles the model with the optimizer we used."""
    binary.write("small.npz", np.savez)
    small = np.load(binary.folder / "small.npz")
    x = small["x"][..., None].astype(np.float32) / 255
    layers = keras.layers
    model = keras.Sequential([layers.Input((28, 28, 1)), layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(),
                              layers.Dropout(0.1), layers.Flatten(), layers.Dense(10, activation="softmax")])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, small["y"], epochs=1, verbose=0)
    first, second = f"first.{ending}", f"second.{ending}"
    model.save(binary.folder / first)
    binary.run("train", "--data", "small.npz", "--model", first, "--epoch", "5", "--batch", "20",
               "--savemodel", second)
    loaded = keras.models.load_model(binary.folder / second)
    before, after = (one.evaluate(x, small["y"], verbose=0)[0] for one in (model, loaded))
    assert after < before, f"the loss went from {before} to {after}"
    assert type(loaded.optimizer).__name__ == "Adam", loaded.optimizer
    ours = json.loads(binary.run("predict", second, "small.npz", "--json"))["predictions"]
    near("the predictions", np.array(ours, np.float32), np.asarray(loaded(x)), 1e-5)
    loaded.fit(x, small["y"], epochs=1, verbose=0)


def weights_alone(keras, binary: Binary, layout: str) -> None:
    """The same layers twice with other weights; those of the one go onto the file of the other."""
    for case in (cases.networks()[2], graphs.drawn(3)):
        first, second = build(keras, case), build(keras, {**case, "salt": case["salt"] + 2})
        first.save(binary.folder / "layers.keras")
        weights = binary.folder / f"alone.weights.{layout}"
        if layout == "h5":
            second.save_weights(weights)
        else:
            np.savez(weights, *second.get_weights())
        binary.run("convert", str(weights), "joined.h5", "--onto", "layers.keras")
        x = results.samples(case)
        np.savez(binary.folder / "x.npz", x=x)
        near("the answer", predicted(binary, binary.folder / "joined.h5"), np.asarray(second(x)), 1e-5)
    if keras.__name__ == "tf_keras" and layout == "h5":
        second.save_weights(weights, save_format="h5")
        binary.run("convert", str(weights), "joined.h5", "--onto", "layers.keras")
        near("the answer", predicted(binary, binary.folder / "joined.h5"), np.asarray(second(x)), 1e-5)


def refused(real: SimpleNamespace, binary: Binary) -> None:
    layers = real.keras.layers
    for odd, words in [
        (layers.Lambda(lambda x: x, name="odd"), ("Lambda", "Dense")),
        (layers.PReLU(name="odd"), ("PReLU", "Dense")),
        (layers.Dense(3, activation="glu", name="odd"), ("glu", "sigmoid")),
        (layers.Dense(3, kernel_regularizer="l2", name="odd"), ("kernel_regularizer", "units")),
        (layers.LeakyReLU(negative_slope=0.5, name="odd"), ("negative_slope", "0.5", "0.2")),
        (layers.Dense(3, dtype="mixed_float16", name="odd"), ("mixed_float16", "float32")),
    ]:
        for ending in ("h5", "keras"):
            real.keras.Sequential([layers.Input((4,)), odd]).save(binary.folder / f"odd.{ending}")
            try:
                binary.run("inspect", f"odd.{ending}")
            except AssertionError as told:
                for word in (f"odd.{ending}", "`odd`", *words):
                    assert word in str(told), f"{word!r} is not in: {told}"
            else:
                raise AssertionError(f"{type(odd).__name__} was not refused")
