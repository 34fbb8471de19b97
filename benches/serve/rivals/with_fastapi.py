"""FastAPI and PyTorch, channels last. `eager`, or `traced` (TorchScript, optimized for inference).

The route is `async` and computes where it stands: so small a network is answered sooner than a thread is woken.
"""

import os

import numpy as np
import torch
from fastapi import FastAPI, UploadFile
from fastapi.responses import JSONResponse
from torch import nn

from rivals.pixels import pixels


def network(path: str) -> nn.Module:
    """mnist-cnn with the weights of our npz, whose pictures are channels last."""
    weights = np.load(path)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(9216, 10), nn.Softmax(1))
    for layer, name in [(model[0], "conv2d"), (model[2], "conv2d_1")]:
        set_to(layer.weight, weights[f"{name}/kernel"].transpose(3, 2, 0, 1))
        set_to(layer.bias, weights[f"{name}/bias"])
    dense = weights["dense/kernel"].reshape(12, 12, 64, 10).transpose(3, 2, 0, 1)
    set_to(model[6].weight, dense.reshape(10, 9216))
    set_to(model[6].bias, weights["dense/bias"])
    return model.eval().to(memory_format=torch.channels_last)


def set_to(parameter: nn.Parameter, values: np.ndarray) -> None:
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))


def prepared(model: nn.Module, form: str) -> nn.Module:
    example = torch.zeros(1, 1, 28, 28).to(memory_format=torch.channels_last)
    with torch.inference_mode():
        if form == "traced":
            model = torch.jit.optimize_for_inference(torch.jit.trace(model, example))
        for _ in range(3):
            model(example)
    return model


torch.set_num_threads(int(os.environ["RIVAL_THREADS"]))
torch.set_num_interop_threads(1)
model = prepared(network(os.environ["RIVAL_MODEL"] + ".npz"), os.environ["RIVAL_FORM"])
app = FastAPI()


@app.post("/upload")
async def upload(file: UploadFile) -> JSONResponse:
    x = torch.from_numpy(pixels(file.file)).permute(0, 3, 1, 2)
    with torch.inference_mode():
        probabilities = model(x)
    return JSONResponse({"predictions": probabilities.tolist(), "classes": probabilities.argmax(1).tolist()})
