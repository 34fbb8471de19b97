"""An uploaded picture as S2's server reads it: grey, 28 × 28, from 0 to 1."""

import numpy as np
from PIL import Image

SIDE = 28


def pixels(file) -> np.ndarray:
    """One sample, [1, 28, 28, 1]. What S2 calls ANTIALIAS is LANCZOS today."""
    picture = Image.open(file).convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    return np.asarray(picture, np.float32).reshape(1, SIDE, SIDE, 1) / 255
