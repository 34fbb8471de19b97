"""What real Keras computes for a case."""

from types import SimpleNamespace

import numpy as np

import cases
import formula

# An optimizer's weights lie in two variables, so that clipping by the norm of all shows.
LENGTHS = (37, 11)
STEPS = 10

LOSSES = {
    "sparse_categorical_crossentropy": lambda keras: keras.losses.SparseCategoricalCrossentropy,
    "categorical_crossentropy": lambda keras: keras.losses.CategoricalCrossentropy,
    "binary_crossentropy": lambda keras: keras.losses.BinaryCrossentropy,
    "mean_squared_error": lambda keras: keras.losses.MeanSquaredError,
}


def build(backend: SimpleNamespace, case: dict, dtype: str):
    """The case's network with weights by formula, and its weights in the order of the case's layers."""
    layers = backend.keras.layers
    weights = []
    values = [layers.Input(case["shape"], dtype=dtype)]
    for number, layer in enumerate(case["layers"]):
        (name, arguments), = layer.items()
        read = [values[value] for value in case["reads"][number]] if "reads" in case else [values[-1]]
        made = make(layers, name, arguments, dtype)
        values.append(made(read if len(read) > 1 else read[0]))
        weights += made.weights
    for number, variable in enumerate(weights):
        # A variance is not negative.
        value = formula.weight(case["salt"] + number, tuple(variable.shape))
        variable.assign(abs(value) if "moving_variance" in variable.name else value)
    return backend.keras.Model(values[0], values[-1]), weights


def make(layers, name: str, arguments: dict, dtype: str):
    """A layer; one that wraps another has it among its arguments."""
    inner = {key: make(layers, *next(iter(value.items())), dtype)
             for key, value in arguments.items() if key == "layer"}
    return getattr(layers, name)(**{**arguments, **inner}, dtype=dtype)


def samples(case: dict) -> np.ndarray:
    tensor = cases.SAMPLES + case["salt"]
    count = case["batch"] * int(np.prod(case["shape"]))
    if case["input"] == "bytes":
        x = formula.pixels(tensor, count).astype(np.float32) * np.float32(1 / 255)
    elif case["input"] == "ids":
        x = formula.ids(tensor, count, case["layers"][0]["Embedding"]["input_dim"])
    else:
        x = formula.floats(tensor, count)
    return x.reshape([case["batch"], *case["shape"]])


def network(backend: SimpleNamespace, case: dict, dtype: str) -> dict[str, np.ndarray]:
    """The loss of a batch as reduced, and the gradient of every weight, computed in `dtype`."""
    model, weights = build(backend, case, dtype)
    reduction = {"mean": "sum_over_batch_size", "sum": "sum"}[case["reduction"]]
    loss_of = LOSSES[case["loss"]](backend.keras)(reduction=reduction, dtype=dtype)
    before = [weight.numpy() for weight in weights]
    with backend.tf.GradientTape() as tape:
        loss = loss_of(targets(case, model.output_shape[-1]), model(samples(case).astype(dtype), training=True))
    gradients = tape.gradient(loss, [weight.value for weight in weights])
    results = {f"{case['name']}/loss": loss.numpy().reshape(1)}
    for number, (weight, gradient) in enumerate(zip(weights, gradients)):
        # What a pass itself moves has no gradient: what it has lost stands for it.
        moved = before[number] - weight.numpy()
        # An embedding's gradient names the rows it has.
        trained = is_trained(model, weight)
        results[f"{case['name']}/{number}"] = backend.tf.convert_to_tensor(gradient).numpy() if trained else moved
    return {name: value.astype(np.float32) for name, value in results.items()}


def is_trained(model, weight) -> bool:
    return any(weight is trained for trained in model.trainable_variables)


def targets(case: dict, outputs: int) -> np.ndarray:
    """The labels as the loss takes them; one output tells two classes apart."""
    labels = formula.labels(case["batch"], max(outputs, 2))
    if case["loss"] == "sparse_categorical_crossentropy":
        return labels
    return labels.reshape(-1, 1).astype(np.float64) if outputs == 1 else np.eye(outputs)[labels]


def optimizer(backend: SimpleNamespace, case: dict) -> dict[str, np.ndarray]:
    """The weights after each of ten steps."""
    keras = backend.keras
    (name, arguments), = case["optimizer"].items()
    clip = {{"norm": "global_clipnorm", "value": "clipvalue"}[k]: v for k, v in (case["clip"] or {}).items()}
    rules = {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam, "adamw": keras.optimizers.AdamW,
             "rmsprop": keras.optimizers.RMSprop}
    rule = rules[name](**arguments, **clip)
    cut = LENGTHS[0]
    start = formula.start(sum(LENGTHS))
    variables = [keras.Variable(part) for part in np.split(start, [cut])]
    rate, after = float(rule.learning_rate), []
    for step in range(STEPS):
        if case["halve_after"] is not None and step >= case["halve_after"]:
            rule.learning_rate = rate / 2
        rule.apply(np.split(formula.gradient(step, sum(LENGTHS)), [cut]), variables)
        after.append(np.concatenate([variable.numpy() for variable in variables]))
    return {case["name"]: np.stack(after)}
