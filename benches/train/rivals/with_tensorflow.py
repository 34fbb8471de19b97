"""Keras on TensorFlow: a compiled train step, called from Python or looped inside the graph."""

from collections.abc import Callable

import settings

# XLA is left out for the convolutions: its gradients of them take seconds a step (0.4 steps/s
# called, 0.1 looped, against 8 without it in the same run).
FORMS = {"mnist-mlp": ["function", "function-xla", "loop", "loop-xla"], "mnist-cnn": ["function", "loop"]}


def prepare(setting: settings.Setting, form: str) -> tuple[Callable[[int], None], str]:
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(setting.threads)
    tf.config.threading.set_inter_op_parallelism_threads(setting.threads)
    model, optimizer = network(keras, setting.network), keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    x, y = (tf.constant(array) for array in settings.samples(setting))

    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
        return loss

    def whole_pass():
        loss = tf.constant(0.0)
        for i in tf.range(setting.batches):
            loss = step(tf.gather(x, i), tf.gather(y, i))
        return loss

    xla = form.endswith("-xla")
    if form.startswith("loop"):
        compiled, calls = tf.function(whole_pass, jit_compile=xla), [()]
    else:
        compiled, calls = tf.function(step, jit_compile=xla), list(zip(tf.unstack(x), tf.unstack(y)))

    def passes(count: int) -> None:
        for _ in range(count):
            for call in calls:
                loss = compiled(*call)
        loss.numpy()

    return passes, tf.__version__


def network(keras, name: str):
    layers = keras.layers
    if name == "mnist-mlp":
        return keras.Sequential([layers.Input((784,)), layers.Dense(100, "relu"), layers.Dense(10)])
    return keras.Sequential([
        layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(), layers.Dropout(0.25), layers.Flatten(), layers.Dropout(0.5), layers.Dense(10),
    ])
