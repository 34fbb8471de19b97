#!/usr/bin/env python3
"""Records what real Keras computes, for crates/engine/tests/keras.rs.

Gradients are computed in float64 and rounded: Keras' own float32 sums differ from machine to
machine by some 1e-6, and a test against them would measure their error beside ours. Optimizers
work element by element and are recorded in float32, bit for bit as Keras has them.
"""

import argparse
import json
import pathlib
import platform
from types import SimpleNamespace

import numpy as np
from safetensors.numpy import save_file

import backend
import cases
import results

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "crates/engine/tests/keras"


def gradients(real: SimpleNamespace, dtype: str = "float64") -> dict[str, np.ndarray]:
    return merge(results.network(real, case, dtype) for case in cases.networks())


def optimizers(real: SimpleNamespace) -> dict[str, np.ndarray]:
    return merge(results.optimizer(real, case) for case in cases.optimizers())


def definitions() -> str:
    """Every case as JSON, one a line, so that a change reads as a change of cases."""
    def listed(entries: list[dict]) -> str:
        return "[\n" + ",\n".join(f"    {json.dumps(entry)}" for entry in entries) + "\n  ]"

    return (f'{{\n  "networks": {listed(cases.networks())},\n'
            f'  "optimizers": {listed(cases.optimizers())}\n}}\n')


def versions(real: SimpleNamespace) -> dict[str, str]:
    return {
        "python": platform.python_version(), "keras": real.keras.__version__,
        "tensorflow": real.tf.__version__, "numpy": np.__version__,
    }


def merge(parts) -> dict[str, np.ndarray]:
    return {name: np.ascontiguousarray(value) for part in parts for name, value in part.items()}


def record(out: pathlib.Path) -> None:
    """Writes the cases, their results and the versions of what computed them."""
    out.mkdir(parents=True, exist_ok=True)
    real = backend.load()
    save_file(gradients(real), out / "gradients.safetensors")
    save_file(optimizers(real), out / "optimizers.safetensors")
    (out / "cases.json").write_text(definitions())
    (out / "recorded.json").write_text(json.dumps(versions(real), indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURES, help="folder to write (default: %(default)s)")
    record(parser.parse_args().out)


if __name__ == "__main__":
    main()
