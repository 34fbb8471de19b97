"""The uploads: digits as PNG files in forms, written down for the generators of load, and what the model says of them."""

import io
import json
import pathlib
import subprocess

import numpy as np
from PIL import Image

BOUNDARY = "trainyard-benches-serve"
KIND = f"multipart/form-data; boundary={BOUNDARY}"


def form(pixels: np.ndarray) -> bytes:
    """What a browser sends for `<input type=file name=file>`."""
    png = io.BytesIO()
    Image.fromarray(pixels).save(png, "PNG")
    head = (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="digit.png"\r\n'
            "Content-Type: image/png\r\n\r\n")
    return head.encode() + png.getvalue() + f"\r\n--{BOUNDARY}--\r\n".encode()


class Pictures:
    """Some training pictures of `mnist-sample`. Several, so that nobody gains by remembering an answer."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path, count: int = 50):
        self.binary = binary
        ask(binary, "split", "--data", "mnist-sample", "--n_container", "1", "--savedir", folder / "data")
        x = np.load(folder / "data" / "0.npz")["x"][:count]
        self.samples = folder / "samples.npz"
        np.savez(self.samples, x=x)
        self.bodies = [form(pixels.reshape(28, 28)) for pixels in x]
        # Both generators read it: before each body a line with its length.
        self.file = folder / "bodies"
        self.file.write_bytes(b"".join(b"%d\n%s" % (len(body), body) for body in self.bodies))

    def answers(self, model: pathlib.Path) -> np.ndarray:
        """What `trainyard predict` says, without a server."""
        return np.array(json.loads(ask(self.binary, "predict", model, self.samples, "--json"))["predictions"])


def ask(binary: pathlib.Path, *arguments) -> str:
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise SystemExit(f"{binary} {' '.join(map(str, arguments))} exited {done.returncode}: {done.stderr[-500:]}")
    return done.stdout
