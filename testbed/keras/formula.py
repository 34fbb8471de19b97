"""Weights, samples and gradients by an integer formula that the Rust test computes too.

Both sides make their numbers from the same hash, exactly, so that a recording holds results only.
`crates/engine/tests/keras/formula.rs` is the other side; a change here is a change there.
"""

import numpy as np


def mix(tensor: int, count: int) -> np.ndarray:
    """The hashes of elements 0..count of a tensor: 32 well-mixed bits each."""
    x = np.arange(count, dtype=np.uint32)
    x += np.uint32(tensor * 0x9E3779B9 & 0xFFFFFFFF)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return x


def floats(tensor: int, count: int) -> np.ndarray:
    """Values in [-1, 1) with 16 bits each, so that every one is exact in float32."""
    high = (mix(tensor, count) >> np.uint32(16)).astype(np.int32)
    return (high - 32768).astype(np.float32) / np.float32(32768)


def pixels(tensor: int, count: int) -> np.ndarray:
    """Bytes 0..255."""
    return (mix(tensor, count) >> np.uint32(24)).astype(np.uint8)


def ids(tensor: int, count: int, words: int) -> np.ndarray:
    """Ids below `words`, a quarter of them 0."""
    bits = mix(tensor, count)
    return np.where(bits & np.uint32(3) == 0, np.uint32(0), (bits >> np.uint32(16)) % np.uint32(words))


def labels(count: int, classes: int) -> np.ndarray:
    return (7 * np.arange(count) + 3) % classes


def scale(shape: tuple[int, ...]) -> np.float32:
    """A power of two that keeps sums near one: about 1/sqrt(inputs), and 1/16 for a bias."""
    if len(shape) == 1:
        return np.float32(1 / 16)
    inputs = int(np.prod(shape[:-1]))
    return np.float32(0.5 ** ((inputs.bit_length() - 1) // 2))


def weight(tensor: int, shape: tuple[int, ...]) -> np.ndarray:
    return (floats(tensor, int(np.prod(shape))) * scale(shape)).reshape(shape)


def start(count: int) -> np.ndarray:
    """Where optimizers begin: not far from zero, so that what they add shows in full."""
    return floats(1000, count) * np.float32(2.0**-10)


def gradient(step: int, count: int) -> np.ndarray:
    """What optimizers are fed in a step: of changing size, so that clipping sometimes acts, and
    with every seventh element zero."""
    values = floats(1001 + step, count) * np.float32(2.0 ** (step % 4 - 2))
    values[6::7] = 0
    return values
