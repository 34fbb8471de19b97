#!/usr/bin/env python3
"""Records small model files of Keras 2 and 3, for crates/model/tests/model/keras.rs.

All hold the same two networks, one a chain and one that branches, with the weights 0, 1/64, 2/64 and
so on in the order of their layers. They are packed: Keras pads its files with twenty times what is in them.
"""

import argparse
import gzip
import pathlib
import tempfile

import h5py
import numpy as np

import backend

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "crates/model/tests/keras"


def chain(keras):
    layers = keras.layers
    return keras.Sequential([
        layers.Input((5, 4, 1), name="pixels"),
        layers.Conv2D(2, 3, activation="relu", name="conv"),
        layers.MaxPooling2D(name="pool"),
        layers.Dropout(0.25, seed=3, name="drop"),
        layers.Flatten(name="flat"),
        layers.Dense(3, activation="softmax", kernel_initializer="he_normal", name="classes"),
    ], name="chain")


def branches(keras):
    layers = keras.layers
    start = layers.Input((4, 4, 2), name="pixels")
    left = layers.ReLU(name="relu")(layers.SeparableConv2D(3, 3, padding="same", name="separable")(start))
    right = layers.DepthwiseConv2D([2, 3], padding="same", use_bias=False, name="depthwise")(start)
    both = layers.Concatenate(name="both")([left, right])
    short = layers.Conv2D(5, 1, name="short", kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.25))(start)
    sum_ = layers.Add(name="sum")([short, both])
    rows = layers.Reshape((-1, 5), name="rows")(sum_)
    again = layers.Reshape((4, 4, 5), name="again")(rows)
    mean = layers.GlobalAveragePooling2D(name="mean")(again)
    sums = layers.Dense(3, kernel_initializer="orthogonal", name="sums")(mean)
    return keras.Model(start, layers.Softmax(name="classes")(sums), name="branches")


def numbered(model):
    """The model with its weights counted through."""
    at = 0
    for layer in model.layers:
        values = []
        for weight in layer.get_weights():
            values.append((np.arange(at, at + weight.size) / 64).reshape(weight.shape))
            at += weight.size
        layer.set_weights(values)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    return model


def in_pieces(path: pathlib.Path) -> None:
    """The names of layers as Keras writes them when they are many."""
    with h5py.File(path, "r+") as file:
        group = file["model_weights"]
        names = group.attrs["layer_names"]
        del group.attrs["layer_names"]
        group.attrs["layer_names0"], group.attrs["layer_names1"] = names[:2], names[2:]


def record(out: pathlib.Path) -> None:
    real = backend.load()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for version, keras in (("2", real.keras2), ("3", real.keras)):
            for model in (numbered(chain(keras)), numbered(branches(keras))):
                for ending in ("h5", "keras"):
                    model.save(path / f"{model.name}-{version}.{ending}")
        numbered(chain(real.keras)).save(path / "pieces-3.h5")
        in_pieces(path / "pieces-3.h5")
        real.keras.models.load_model(path / "pieces-3.h5")
        for file in path.iterdir():
            (out / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURES, help="folder to write (default: %(default)s)")
    record(parser.parse_args().out)


if __name__ == "__main__":
    main()
