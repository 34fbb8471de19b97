"""Random networks whose layers branch and meet again, for files."""

import random

import cases

ACTIVATIONS = ["linear", "relu", "sigmoid", "tanh", "elu", "selu", "softplus", "softsign", "gelu", "silu", "mish"]


def drawn(seed: int) -> dict:
    """A random graph: pictures of one size go through layers that keep it, join, and end in classes."""
    draw = random.Random(1000 + seed)
    shape = [draw.randint(4, 8), draw.randint(4, 8), draw.randint(1, 3)]
    layers, reads, channels, unread = [], [], [shape[2]], {0}

    def add(layer: dict, read: list[int], wide: int) -> None:
        layers.append(layer)
        reads.append(read)
        channels.append(wide)
        unread.difference_update(read)
        unread.add(len(layers))

    for _ in range(draw.randint(4, 10)):
        read = draw.randrange(len(channels))
        add(*kept(draw, read, channels))
    while len(unread) > 1:
        meeting = sorted(unread)
        draw.shuffle(meeting)
        add({"Concatenate": {}}, meeting, sum(channels[one] for one in meeting))
    last = len(layers)
    add(draw.choice([{"GlobalAveragePooling2D": {}}, {"GlobalMaxPooling2D": {}}, cases.flatten()]), [last], 0)
    add(cases.dense(draw.randint(2, 9), "softmax"), [last + 1], 0)
    return cases.case(f"graph-{seed}", shape, layers, reads=reads, batch=draw.randint(1, 9), salt=seed)


def kept(draw: random.Random, read: int, channels: list[int]) -> tuple[dict, list[int], int]:
    """A layer that keeps height and width, what it reads, and its channels."""
    wide = draw.randint(1, 6)
    size = [draw.randint(1, 4), draw.randint(1, 4)]
    how = {"padding": "same", "activation": draw.choice(ACTIVATIONS), "use_bias": draw.random() < 0.8}
    alike = [one for one in range(len(channels)) if channels[one] == channels[read] and one != read]
    kind = draw.choice(["conv", "separable", "depthwise", "pool", "average", "activation", "join", "norm", "groups",
                        "gaps", "drop"])
    if kind == "drop":
        return {"Dropout": {"rate": 0.5}}, [read], channels[read]
    if kind == "groups":
        groups = draw.choice([one for one in range(1, channels[read] + 1) if channels[read] % one == 0])
        return {"Conv2D": {"filters": wide * groups, "kernel_size": size, "groups": groups, **how}}, [read], wide * groups
    if kind == "gaps":
        rates = [draw.randint(1, 3), draw.randint(1, 3)]
        return {"Conv2D": {"filters": wide, "kernel_size": size, "dilation_rate": rates, **how}}, [read], wide
    if kind == "conv":
        return {"Conv2D": {"filters": wide, "kernel_size": size, **how}}, [read], wide
    if kind == "separable":
        return {"SeparableConv2D": {"filters": wide, "kernel_size": size, "depth_multiplier": 2, **how}}, [read], wide
    if kind == "depthwise":
        return {"DepthwiseConv2D": {"kernel_size": size, **how}}, [read], channels[read]
    if kind in ("pool", "average"):
        pool = {"pool": "MaxPooling2D", "average": "AveragePooling2D"}[kind]
        return {pool: {"pool_size": size, "strides": [1, 1], "padding": "same"}}, [read], channels[read]
    if kind == "join" and alike:
        return {"Add": {}}, [read, draw.choice(alike)], channels[read]
    if kind == "norm":
        return {draw.choice(["LayerNormalization", "UnitNormalization"]): {}}, [read], channels[read]
    return {"Activation": {"activation": draw.choice(ACTIVATIONS)}}, [read], channels[read]
