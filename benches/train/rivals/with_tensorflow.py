"""Keras on TensorFlow: a compiled train step, called from Python or looped inside the graph; and its answers."""

from collections.abc import Callable

import settings

# XLA is left out for the convolutions: its gradients of them take seconds a step (0.4 steps/s
# called, 0.1 looped, against 8 without it in the same run).
FORMS = {
    "mnist-mlp": ["function", "function-xla", "loop", "loop-xla"],
    "mnist-cnn": ["function", "loop"],
    "small-xception": ["function", "loop"],
    "imdb-bigru": ["function", "function-xla"],
}
# `predict` is Keras' own.
ANSWERING = {
    "mnist-mlp": ["function", "function-xla", "predict"],
    "mnist-cnn": ["function", "function-xla", "predict"],
    "small-xception": ["function", "function-xla", "predict"],
    "imdb-bigru": ["function", "predict"],
}


def prepare(setting: settings.Setting, form: str) -> tuple[Callable[[int], None], str]:
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(setting.threads)
    tf.config.threading.set_inter_op_parallelism_threads(setting.threads)
    model = network(keras, setting.network)
    prepared = answering if setting.answers else training
    return prepared(tf, model, setting, form), tf.__version__


def answering(tf, model, setting: settings.Setting, form: str) -> Callable[[int], None]:
    x, _ = settings.samples(setting)
    ending = tf.nn.softmax if setting.work.classes > 2 else tf.nn.sigmoid
    compiled = tf.function(lambda x: ending(model(x, training=False)), jit_compile=form.endswith("-xla"))
    tensors = [tf.constant(batch) for batch in x]

    def passes(count: int) -> None:
        for _ in range(count):
            for batch, tensor in zip(x, tensors):
                if form == "predict":
                    model.predict(batch, batch_size=len(batch), verbose=0)
                else:
                    compiled(tensor).numpy()

    return passes


def training(tf, model, setting: settings.Setting, form: str) -> Callable[[int], None]:
    import keras

    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    x, y = (tf.constant(array) for array in settings.samples(setting))

    def losses(logits, y):
        if setting.work.classes == 2:
            return tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(y[:, None], tf.float32), logits)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)

    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.reduce_mean(losses(logits, y))
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
        return loss

    def whole_pass():
        loss = tf.constant(0.0)
        for i in tf.range(setting.work.batches):
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

    return passes


def network(keras, name: str):
    layers = keras.layers
    if name == "small-xception":
        return small_xception(keras)
    if name == "imdb-bigru":
        return keras.Sequential([
            layers.Input((500,), dtype="int32"), layers.Embedding(10_000, 100),
            layers.Bidirectional(layers.GRU(128, return_sequences=True)), layers.Bidirectional(layers.GRU(128)),
            layers.Dense(1),
        ])
    if name == "mnist-mlp":
        return keras.Sequential([layers.Input((784,)), layers.Dense(100, "relu"), layers.Dense(10)])
    return keras.Sequential([
        layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(), layers.Dropout(0.25), layers.Flatten(), layers.Dropout(0.5), layers.Dense(10),
    ])


def small_xception(keras):
    """S4's network, without the flips and turns that ours does in the same time."""
    layers = keras.layers
    image = layers.Input((30, 30, 3))
    x = layers.Rescaling(1 / 255)(image)
    for filters, strides in [(32, 2), (64, 1)]:
        x = layers.Conv2D(filters, 3, strides=strides, padding="same")(x)
        x = layers.ReLU()(layers.BatchNormalization()(x))
    for filters in [128, 256, 512, 728]:
        short = layers.Conv2D(filters, 1, strides=2, padding="same")(x)
        for _ in range(2):
            x = layers.SeparableConv2D(filters, 3, padding="same")(layers.ReLU()(x))
            x = layers.BatchNormalization()(x)
        x = layers.add([layers.MaxPooling2D(3, strides=2, padding="same")(x), short])
    x = layers.SeparableConv2D(1024, 3, padding="same")(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(image, layers.Dense(1)(x))
