"""Loads real Keras on TensorFlow, quiet and repeatable."""

import os
from types import SimpleNamespace


def load() -> SimpleNamespace:
    """Keras 3, Keras 2 and TensorFlow. TensorFlow reads the environment when it is imported, so it is imported
    here. One thread, deterministic operations and TensorFlow's own kernels, so that a recording
    repeats."""
    os.environ.update(KERAS_BACKEND="tensorflow", TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0",
                      CUDA_VISIBLE_DEVICES="-1")
    import keras
    import tensorflow
    import tf_keras

    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    tensorflow.config.experimental.enable_op_determinism()
    keras.utils.set_random_seed(0)
    return SimpleNamespace(keras=keras, keras2=tf_keras, tf=tensorflow)
