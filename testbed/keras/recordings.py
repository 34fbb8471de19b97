"""Proves that the committed recordings are what real Keras computes."""

from collections.abc import Iterator
from types import SimpleNamespace

from safetensors.numpy import load_file

import cases
import record
import results
from check import Check, near


def checks(real: SimpleNamespace) -> Iterator[Check]:
    gradients = load_file(record.FIXTURES / "gradients.safetensors")
    steps = load_file(record.FIXTURES / "optimizers.safetensors")

    def definitions() -> None:
        committed = (record.FIXTURES / "cases.json").read_text()
        assert committed == record.definitions(), "cases.json is not what cases.py says; run record.py"

    def same(fresh: dict, committed: dict, tolerance: float, share: float = 0.0) -> None:
        least = share * max(abs(committed[name]).max(initial=0) for name in fresh)
        for name, value in fresh.items():
            near(name, value, committed[name], tolerance, least)

    yield Check("the committed cases are those of cases.py", definitions)
    for case in cases.networks():
        # Sums may cancel: a bias before a normalization has no gradient at all.
        share = 0.01 if any("BatchNormalization" in layer for layer in case["layers"]) else 0.0
        yield Check(f"{case['name']}: loss and gradients as recorded",
                    lambda case=case, share=share: same(results.network(real, case, "float64"), gradients, 1e-6, share))
        yield Check(f"{case['name']}: Keras in float32 meets the bar set for us",
                    lambda case=case, share=share: same(results.network(real, case, "float32"), gradients, 1e-5, share))
    for case in cases.optimizers():
        yield Check(f"{case['name']}: ten steps as recorded",
                    lambda case=case: same(results.optimizer(real, case), steps, 1e-6))
