"""Flask and Keras. S2 calls `predict` for each picture; `function` is the model as a `tf.function`, `function-xla` compiled.

S2 also saves the upload and answers with a page; here nothing is saved and the answer is JSON, to be compared.
Run as a program it is Flask's own server, which S2 uses; gunicorn and waitress import `app`.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from flask import Flask, jsonify, request

from rivals.pixels import SIDE, pixels


def answering(path: str, form: str):
    """From pixels to probabilities."""
    model = keras.models.load_model(path)
    if form == "predict":
        return lambda x: model.predict(x, verbose=0)
    shape = tf.TensorSpec((1, SIDE, SIDE, 1), tf.float32)
    compiled = tf.function(lambda x: model(x, training=False), [shape], jit_compile=form.endswith("-xla"))
    return lambda x: compiled(tf.constant(x)).numpy()


threads = int(os.environ["RIVAL_THREADS"])
tf.config.threading.set_intra_op_parallelism_threads(threads)
tf.config.threading.set_inter_op_parallelism_threads(threads)
answer = answering(os.environ["RIVAL_MODEL"] + ".keras", os.environ["RIVAL_FORM"])
answer(np.zeros((1, SIDE, SIDE, 1), np.float32))
app = Flask(__name__)


@app.post("/upload")
def upload():
    probabilities = answer(pixels(request.files["file"].stream))
    return jsonify(predictions=probabilities.tolist(), classes=probabilities.argmax(1).tolist())


if __name__ == "__main__":
    app.run(port=int(os.environ["RIVAL_PORT"]))
