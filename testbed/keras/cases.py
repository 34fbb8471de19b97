"""What is recorded: small networks with one batch each, and optimizers with ten steps each.

A case is plain data in the run file's own words (layers with Keras' names and arguments), so that
the recorder builds it with real Keras and the Rust test builds it with our engine.
"""

import random

# The tensor numbers of a case's samples in `formula`; weights are numbered from the first on.
SAMPLES = 500


def networks() -> list[dict]:
    """Every network: the built-in ones, one for each thing that can go wrong, and random ones."""
    return [*builtin(), *chosen(), *sequences(), *(drawn(random.Random(seed), seed) for seed in range(12))]


def case(name: str, shape: list[int], layers: list[dict], **more) -> dict:
    """A network on a batch. `salt` shifts the formula; `input` is bytes (over 255), floats or ids. Where
    layers do not read just the one before, `reads` says what each does read; 0 is the input."""
    return {
        "name": name, "shape": shape, "layers": layers,
        "batch": 8, "input": "floats", "loss": "sparse_categorical_crossentropy", "reduction": "mean",
        "salt": 0, **more,
    }


def dense(units: int, activation: str = "linear", **more) -> dict:
    return {"Dense": {"units": units, "activation": activation, **more}}


def conv(filters: int, size, activation: str = "linear", **more) -> dict:
    return {"Conv2D": {"filters": filters, "kernel_size": size, "activation": activation, **more}}


def pool(size, **more) -> dict:
    return {"MaxPooling2D": {"pool_size": size, **more}}


def average(size, **more) -> dict:
    return {"AveragePooling2D": {"pool_size": size, **more}}


def depthwise(size, activation: str = "linear", **more) -> dict:
    return {"DepthwiseConv2D": {"kernel_size": size, "activation": activation, **more}}


def separable(filters: int, size, activation: str = "linear", **more) -> dict:
    return {"SeparableConv2D": {"filters": filters, "kernel_size": size, "activation": activation, **more}}


def embedding(words: int, size: int, **more) -> dict:
    return {"Embedding": {"input_dim": words, "output_dim": size, **more}}


def gru(units: int, **more) -> dict:
    return {"GRU": {"units": units, **more}}


def lstm(units: int, **more) -> dict:
    return {"LSTM": {"units": units, **more}}


def both(layer: dict, **more) -> dict:
    return {"Bidirectional": {"layer": layer, **more}}


def conv1d(filters: int, size: int, activation: str = "linear", **more) -> dict:
    return {"Conv1D": {"filters": filters, "kernel_size": size, "activation": activation, **more}}


def flatten() -> dict:
    return {"Flatten": {}}


def builtin() -> list[dict]:
    """The built-in networks without dropout: `network` is how a run file asks for what `layers`
    spell out. The summed loss has few hidden units only to keep the recording small."""
    def mlp(hidden: int) -> list[dict]:
        return [dense(hidden, "relu"), dense(10, "softmax")]

    cnn = [conv(32, [3, 3], "relu"), conv(64, [3, 3], "relu"), pool([2, 2]), flatten(),
           dense(10, "softmax")]
    return [
        case("mnist-mlp", [784], mlp(100), input="bytes", batch=16, network={"name": "mnist-mlp"}),
        case("mnist-mlp-sum", [784], mlp(10), input="bytes", batch=16, reduction="sum",
             network={"name": "mnist-mlp", "hidden_units": 10}),
        # With this salt no sum before a ReLU, and no two in a pool, are so close that rounding
        # decides which way the gradient goes.
        case("mnist-cnn", [28, 28, 1], cnn, input="bytes", salt=100,
             network={"name": "mnist-cnn", "dropout": [0, 0]}),
    ]


def chosen() -> list[dict]:
    """One network for each layer option that a kernel may get wrong."""
    out = [flatten(), dense(5, "softmax")]
    dense_cases = [
        case(f"dense-{activation}", [19], [dense(23, activation), dense(7, activation), dense(6, "softmax")])
        for activation in ["linear", "relu", "sigmoid", "tanh", "softmax", "elu", "exponential", "hard_sigmoid",
                           "leaky_relu", "relu6", "selu", "softplus", "softsign", "gelu", "silu", "mish", "hard_silu",
                           "hard_tanh"]
    ]
    return dense_cases + [
        case("dense-no-bias", [9], [dense(33, "tanh", use_bias=False), dense(3, "softmax", use_bias=False)]),
        case("dense-one-sample", [21], [dense(8, "relu"), dense(4, "softmax")], batch=1),
        case("dense-sum", [21], [dense(8, "tanh"), dense(4, "softmax")], reduction="sum", batch=11),
        *(case(f"{loss}-{units}-{activation}", [17], [dense(8, "tanh"), dense(units, activation)], loss=loss, **more)
          for loss in ["binary_crossentropy", "mean_squared_error"] for units, activation, more in [
              (1, "sigmoid", {}), (1, "hard_sigmoid", {}), (5, "sigmoid", {"reduction": "sum", "salt": 7}),
              (5, "hard_sigmoid", {})]),
        case("mean_squared_error-softmax", [17], [dense(8, "tanh"), dense(5, "softmax")], loss="mean_squared_error"),
        case("categorical_crossentropy", [17], [dense(6, "softmax")], loss="categorical_crossentropy"),
        case("activation-alone", [12], [dense(17), {"Activation": {"activation": "sigmoid"}}, dense(6),
                                        {"Activation": {"activation": "softmax"}}]),
        case("conv-valid", [9, 8, 3], [conv(5, [3, 3], "relu"), conv(6, [2, 3], "tanh"), *out]),
        case("conv-same", [7, 6, 2], [conv(4, [3, 3], "relu", padding="same"),
                                      conv(3, [4, 2], padding="same"), *out]),
        case("conv-strides", [11, 10, 2], [conv(5, [3, 3], "sigmoid", strides=[2, 2]),
                                           conv(4, [2, 2], strides=[1, 2]), *out]),
        case("conv-strides-same", [10, 13, 1], [conv(6, [3, 3], "relu", strides=[2, 3], padding="same"),
                                                conv(4, [5, 5], strides=[2, 2], padding="same"), *out]),
        case("conv-1x1", [5, 5, 7], [conv(9, [1, 1], "relu"), conv(2, [1, 1], strides=[2, 2]), *out]),
        case("conv-no-bias", [6, 6, 3], [conv(8, [3, 3], "relu", use_bias=False), *out]),
        case("conv-groups", [7, 6, 4], [conv(6, [3, 2], "relu", groups=2, padding="same"),
                                        conv(9, [3, 3], "tanh", groups=3, strides=[2, 1]), conv(6, 1, groups=3, use_bias=False), *out]),
        case("conv-groups-channels", [6, 7, 3], [conv(6, [3, 3], "relu", groups=3),
                                                 conv(6, [2, 3], groups=6, padding="same", strides=[2, 2]), *out]),
        case("conv-dilated", [9, 8, 3], [conv(5, [3, 3], "relu", dilation_rate=[2, 1]), conv(4, [2, 3], dilation_rate=[1, 2]), *out]),
        case("conv-dilated-same", [7, 8, 2], [conv(6, [3, 2], "tanh", dilation_rate=2, padding="same"),
                                              conv(4, [3, 3], "relu", dilation_rate=[3, 2], groups=2, padding="same"),
                                              conv(2, 1, dilation_rate=2), *out]),
        case("pool-valid", [9, 11, 2], [conv(4, [2, 2]), pool([2, 2]), *out]),
        case("pool-same", [9, 7, 2], [conv(4, [3, 3], padding="same"), pool([2, 2], padding="same"), *out]),
        case("pool-overlap", [10, 9, 1], [conv(5, [3, 3]), pool([3, 3], strides=[2, 2]), *out]),
        case("pool-overlap-same", [8, 9, 1], [conv(5, [3, 3]), pool([3, 3], strides=[2, 1], padding="same"),
                                              conv(3, [2, 2]), *out]),
        case("pool-gaps", [12, 12, 1], [conv(3, [3, 3], "tanh"), pool([2, 2], strides=[3, 3]), *out]),
        case("average-valid", [9, 11, 2], [conv(4, [2, 2]), average([2, 3]), *out]),
        case("average-same", [8, 9, 1], [conv(5, [3, 3]), average([3, 3], strides=[2, 1], padding="same"), *out]),
        case("global-average", [7, 6, 2], [conv(40, [3, 3], "relu"), {"GlobalAveragePooling2D": {}}, out[1]]),
        case("global-max", [7, 6, 2], [conv(6, [3, 3], "tanh"), {"GlobalMaxPooling2D": {}}, out[1]], salt=3),
        case("global-kept", [6, 6, 3], [conv(6, [3, 3]), {"GlobalAveragePooling2D": {"keepdims": True}}, *out]),
        case("reshape", [4, 6, 2], [conv(6, [1, 1], "tanh"), {"Reshape": {"target_shape": [8, 3, 6]}},
                                    conv(3, [3, 3]), *out]),
        case("depthwise-valid", [8, 7, 5], [depthwise([3, 2], "tanh"), depthwise([2, 2], use_bias=False), *out]),
        case("depthwise-same", [7, 8, 35], [depthwise([3, 3], "relu", padding="same"),
                                            depthwise([4, 3], padding="same", strides=[2, 2]), *out]),
        case("depthwise-many", [6, 7, 3], [depthwise([3, 3], "sigmoid", depth_multiplier=3), *out]),
        case("depthwise-dilated", [8, 7, 3], [depthwise([3, 2], "relu", dilation_rate=2, padding="same", depth_multiplier=2),
                                              depthwise([2, 3], dilation_rate=[3, 2], use_bias=False), *out]),
        case("separable-dilated", [8, 7, 3], [separable(5, [3, 3], "relu", dilation_rate=2, padding="same"),
                                              separable(4, [2, 2], "tanh", dilation_rate=[2, 3], depth_multiplier=2), *out]),
        case("separable-same", [9, 8, 3], [separable(33, [3, 3], "relu", padding="same"),
                                           separable(4, [3, 3], padding="same", strides=[2, 2]), *out]),
        case("separable-many", [7, 7, 2], [separable(5, [3, 2], "tanh", depth_multiplier=2, use_bias=False), *out]),
        case("batch-norm", [7, 6, 3], [conv(5, [3, 3]), {"BatchNormalization": {}},
                                       {"Activation": {"activation": "relu"}}, *out], salt=2),
        case("batch-norm-options", [6, 5, 35], [{"BatchNormalization": {"momentum": 0.9, "epsilon": 0.01, "scale": False}},
                                                conv(4, [3, 3], "tanh"), {"BatchNormalization": {"center": False}}, *out]),
        case("batch-norm-frozen", [6, 5, 3], [conv(5, [3, 3], "tanh"), {"BatchNormalization": {"trainable": False}}, *out]),
        case("frozen", [6, 5, 3], [conv(5, [3, 3], "tanh", trainable=False), conv(4, [2, 2], "relu"),
                                   conv(4, [2, 2], "tanh", trainable=False), *out]),
        case("batch-norm-dense", [12], [dense(9, use_bias=False), {"BatchNormalization": {}}, dense(4, "softmax")], batch=32),
        case("layer-norm", [7, 6, 3], [conv(5, [3, 3]), {"LayerNormalization": {}},
                                       {"Activation": {"activation": "relu"}}, *out], salt=2),
        case("layer-norm-options", [6, 35], [{"LayerNormalization": {"epsilon": 0.01, "scale": False}}, dense(40, "gelu"),
                                             {"LayerNormalization": {"center": False}}, dense(3),
                                             {"LayerNormalization": {"center": False, "scale": False}}, *out]),
        case("layer-norm-frozen", [12], [dense(9), {"LayerNormalization": {"trainable": False}}, dense(4, "softmax")]),
        case("unit-norm", [4, 3, 7], [conv(19, [1, 1], "tanh"), {"UnitNormalization": {}}, flatten(), dense(6, "silu"),
                                      {"UnitNormalization": {}}, dense(5, "softmax")]),
        case("dense-last-axis", [4, 3, 7], [dense(9, "relu"), dense(5, "tanh"), *out]),
        case("rescaling", [5, 4, 3], [{"Rescaling": {"scale": 0.25, "offset": -0.5}}, conv(4, [3, 3], "tanh"),
                                      {"Rescaling": {"scale": 3.0}}, *out]),
        case("zero-padding", [5, 4, 3], [{"ZeroPadding2D": {"padding": [[1, 2], [0, 3]]}}, conv(4, [3, 3], "tanh"),
                                         {"ZeroPadding2D": {"padding": 1}}, conv(2, [2, 2]), *out]),
        case("add", [6, 5, 3], [conv(4, [3, 3], "relu", padding="same"), conv(4, [1, 1]), {"Add": {}},
                                {"Activation": {"activation": "tanh"}}, {"Add": {}}, *out],
             reads=[[0], [0], [1, 2], [3], [4, 3, 1], [5], [6]]),
        case("concatenate", [6, 5, 3], [conv(4, [3, 3], "tanh", padding="same"), conv(2, [1, 1], "relu"),
                                        {"Concatenate": {}}, conv(5, [2, 2]), *out],
             reads=[[0], [1], [2, 0, 1], [3], [4], [5]]),
        # The residual of small-xception.
        case("residual", [9, 9, 4], [separable(6, [3, 3], "relu", padding="same"), pool([3, 3], strides=[2, 2], padding="same"),
                                     conv(6, [1, 1], strides=[2, 2], padding="same"), {"Add": {}},
                                     {"GlobalAveragePooling2D": {}}, out[1]],
             reads=[[0], [1], [0], [2, 3], [4], [5]]),
    ]


def sequences() -> list[dict]:
    """Networks that read sequences: of numbers, and of ids of words, among them 0."""
    out = dense(5, "softmax")
    every = {"return_sequences": True}
    words = [embedding(23, 6)]
    masked = [embedding(19, 5, mask_zero=True)]
    numbers = [
        case("gru", [7, 4], [gru(9), out]),
        case("gru-every-step", [6, 3], [gru(5, **every), gru(4, **every), flatten(), out]),
        case("gru-wide", [3, 33], [gru(34), out], batch=27),
        case("gru-reset-before", [7, 4], [gru(6, reset_after=False, **every), gru(5, reset_after=False), out]),
        case("gru-no-bias", [5, 4], [gru(6, use_bias=False, **every), gru(5, use_bias=False, reset_after=False), out]),
        case("gru-backwards", [5, 4], [gru(6, go_backwards=True, **every), gru(5, go_backwards=True), out]),
        case("lstm", [7, 4], [lstm(6, **every), lstm(5), out]),
        case("lstm-no-bias", [4, 3], [lstm(4, use_bias=False, go_backwards=True, **every), flatten(), out]),
    ]
    numbers += [
        case("conv1d", [11, 3], [conv1d(5, 3, "relu"), conv1d(6, 4, "tanh", strides=2), flatten(), out]),
        case("conv1d-same", [10, 2], [conv1d(35, 4, "gelu", padding="same"), conv1d(3, 3, padding="same", strides=3), flatten(), out]),
        case("conv1d-causal", [9, 3], [conv1d(5, 3, "tanh", padding="causal"), conv1d(4, 4, padding="causal", strides=2),
                                       conv1d(3, 1, padding="causal", use_bias=False), flatten(), out]),
        case("conv1d-dilated", [12, 3], [conv1d(5, 3, "tanh", padding="causal", dilation_rate=2),
                                         conv1d(6, 2, "relu", padding="causal", dilation_rate=4),
                                         conv1d(4, 3, padding="same", dilation_rate=3), conv1d(3, 2, dilation_rate=5), flatten(), out]),
        case("conv1d-groups", [9, 4], [conv1d(6, 3, "relu", groups=2), conv1d(6, 2, "tanh", groups=6, strides=2, padding="causal"),
                                       conv1d(4, 2, groups=2, padding="same", dilation_rate=2), flatten(), out]),
        case("pool1d", [13, 4], [conv1d(5, 2), {"MaxPooling1D": {}}, {"AveragePooling1D": {"pool_size": 3, "strides": 2}}, flatten(), out]),
        case("pool1d-same", [11, 2], [conv1d(5, 2, "tanh"), {"MaxPooling1D": {"pool_size": 3, "strides": 1, "padding": "same"}},
                                      {"AveragePooling1D": {"pool_size": 4, "padding": "same"}}, flatten(), out]),
        case("global-max-1d", [8, 3], [conv1d(6, 3, "tanh"), {"GlobalMaxPooling1D": {}}, out]),
        case("global-average-1d", [8, 3], [conv1d(6, 3, "relu"), {"GlobalAveragePooling1D": {"keepdims": True}}, flatten(), out]),
    ]
    for mode in ["concat", "sum", "ave", "mul"]:
        numbers.append(case(f"both-{mode}", [6, 4], [both(gru(5, **every), merge_mode=mode),
                                                     both(lstm(4), merge_mode=mode), out]))
    texts = [
        case("embedding", [6], [*words, flatten(), out]),
        case("embedding-gru", [8], [*words, gru(7), out], reduction="sum"),
        case("mask-gru", [9], [*masked, {"Activation": {"activation": "tanh"}}, gru(6, **every), gru(4), out]),
        case("mask-gru-every-step", [9], [*masked, gru(6, reset_after=False, **every), flatten(), out]),
        case("mask-lstm", [9], [*masked, lstm(6, **every), lstm(4, go_backwards=True), out]),
        case("mask-both", [9], [*masked, both(gru(4, **every)), both(lstm(3, **every), merge_mode="sum"),
                                both(gru(5)), out]),
        case("small-bigru", [12], [embedding(50, 10), both(gru(8, **every)), both(gru(8)), dense(1, "sigmoid")],
             loss="binary_crossentropy", batch=13),
    ]
    return [*numbers, *({**text, "input": "ids"} for text in texts)]


def drawn(draw: random.Random, seed: int) -> dict:
    """A random stack of convolutions, pools and dense layers."""
    shape = [draw.randint(6, 13), draw.randint(6, 13), draw.randint(1, 4)]
    layers = []
    side = min(shape[:2])
    for _ in range(draw.randint(1, 3)):
        size = [draw.randint(1, min(4, side)), draw.randint(1, min(4, side))]
        strides = [draw.randint(1, 2), draw.randint(1, 2)]
        padding = draw.choice(["valid", "same"])
        if layers and draw.random() < 0.4:
            layers.append(pool(size, strides=strides, padding=padding))
        else:
            activation = draw.choice(["linear", "relu", "sigmoid", "tanh"])
            layers.append(conv(draw.randint(1, 12), size, activation, strides=strides, padding=padding))
        side = (side if padding == "same" else side - max(size) + 1) // max(strides)
        if side < 2:
            break
    layers.append(flatten())
    if draw.random() < 0.5:
        layers.append(dense(draw.randint(1, 20), draw.choice(["relu", "tanh"])))
    layers.append(dense(draw.randint(2, 12), "softmax"))
    return case(f"random-{seed}", shape, layers, batch=draw.randint(1, 12), salt=seed,
                reduction=draw.choice(["mean", "sum"]), input=draw.choice(["floats", "bytes"]))


def optimizers() -> list[dict]:
    """Optimizers by Keras' names and arguments, with our names for clipping. `halve_after` halves
    the learning rate from that step on."""
    rules = {
        "sgd": {"sgd": {"learning_rate": 0.01}},
        "sgd-momentum": {"sgd": {"learning_rate": 0.05, "momentum": 0.9}},
        "sgd-nesterov": {"sgd": {"learning_rate": 0.02, "momentum": 0.8, "nesterov": True}},
        "adam": {"adam": {}},
        "adam-other": {"adam": {"learning_rate": 0.03, "beta_1": 0.7, "beta_2": 0.95, "epsilon": 1e-3}},
        "adamw": {"adamw": {}},
        "adamw-other": {"adamw": {"learning_rate": 0.03, "weight_decay": 0.7, "beta_1": 0.7, "epsilon": 1e-3}},
        "rmsprop": {"rmsprop": {}},
        "rmsprop-other": {"rmsprop": {"learning_rate": 0.02, "rho": 0.7, "epsilon": 1e-2}},
        "rmsprop-momentum": {"rmsprop": {"learning_rate": 0.005, "momentum": 0.6}},
    }
    variants = {
        "": {},
        "-norm": {"clip": {"norm": 1.5}},
        "-value": {"clip": {"value": 0.25}},
        "-halved": {"halve_after": 5},
    }
    return [
        {"name": name + suffix, "optimizer": rule, "clip": None, "halve_after": None, **variant}
        for name, rule in rules.items() for suffix, variant in variants.items()
    ]
