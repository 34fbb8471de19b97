"""JAX: the whole step compiled, called from Python or scanned over batches; and its answers."""

from collections.abc import Callable
from functools import partial

import settings

# Scanned convolutions take seconds a step, as with TensorFlow's XLA.
FORMS = {"mnist-mlp": ["jit", "scan"], "mnist-cnn": ["jit"]}
ANSWERING = {"mnist-mlp": ["jit"], "mnist-cnn": ["jit"]}


def prepare(setting: settings.Setting, form: str) -> tuple[Callable[[int], None], str]:
    import jax

    prepared = answering if setting.answers else training
    return prepared(jax, setting, form), jax.__version__


def answering(jax, setting: settings.Setting, form: str) -> Callable[[int], None]:
    x, _ = settings.samples(setting)
    batches, weights = [jax.device_put(batch) for batch in x], initial(jax, setting.network)
    answer = jax.jit(lambda x: jax.nn.softmax(logits(jax, setting.network, weights, None, x)))

    def passes(count: int) -> None:
        for _ in range(count):
            for batch in batches:
                jax.block_until_ready(answer(batch))

    return passes


def training(jax, setting: settings.Setting, form: str) -> Callable[[int], None]:
    jax.config.update("jax_default_prng_impl", "rbg")  # dropout's masks at the price of the fastest generator
    x, y = (jax.device_put(array) for array in settings.samples(setting))
    weights = initial(jax, setting.network)
    means, squares = (jax.tree.map(jax.numpy.zeros_like, weights) for _ in range(2))
    state = (weights, means, squares, jax.numpy.int32(0))
    step = partial(adam_step, jax, partial(loss_of, jax, setting.network))

    def whole_pass(state, x, y):
        return jax.lax.scan(lambda state, batch: (step(state, *batch), None), state, (x, y))[0]

    if form == "scan":
        compiled, calls = jax.jit(whole_pass, donate_argnums=0), [(x, y)]
    else:
        compiled, calls = jax.jit(step, donate_argnums=0), list(zip(x, y))

    def passes(count: int) -> None:
        nonlocal state
        for _ in range(count):
            for call in calls:
                state = compiled(state, *call)
        jax.block_until_ready(state)

    return passes


def initial(jax, network: str) -> list:
    """Kernels and biases in turn."""
    shapes = {"mnist-mlp": [(784, 100), (100, 10)], "mnist-cnn": [(3, 3, 1, 32), (3, 3, 32, 64), (9216, 10)]}[network]
    keys = jax.random.split(jax.random.key(0), len(shapes))
    draw = jax.nn.initializers.glorot_uniform()
    return [tensor for key, shape in zip(keys, shapes) for tensor in (draw(key, shape), jax.numpy.zeros(shape[-1]))]


def loss_of(jax, network: str, weights: list, number, x, y):
    """The mean loss of a batch; `number` of the step is what dropout is drawn from."""
    found = jax.nn.log_softmax(logits(jax, network, weights, jax.random.key(number), x))
    return -jax.numpy.take_along_axis(found, y[:, None], 1).mean()


def logits(jax, network: str, weights: list, key, x):
    """Without a key, nothing is dropped."""
    if network == "mnist-cnn":
        x = features(jax, weights[:4], key, x)
    else:
        x = jax.nn.relu(x @ weights[0] + weights[1])
    return x @ weights[-2] + weights[-1]


def features(jax, weights: list, key, x):
    def conv(x, kernel, bias):
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(y + bias)

    def drop(key, x, rate):
        return jax.numpy.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)

    x = conv(conv(x, *weights[:2]), *weights[2:])
    x = jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    if key is None:
        return x.reshape(x.shape[0], -1)
    first, second = jax.random.split(key)
    return drop(second, drop(first, x, 0.25).reshape(x.shape[0], -1), 0.5)


def adam_step(jax, loss, state, x, y):
    """One step of Adam at Keras' defaults."""
    weights, means, squares, number = state
    gradients = jax.grad(loss)(weights, number, x, y)
    number = number + 1
    rate = 1e-3 * jax.numpy.sqrt(1 - 0.999**number) / (1 - 0.9**number)
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
    squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, gradients)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jax.numpy.sqrt(v) + 1e-7), weights, means, squares)
    return weights, means, squares, number
