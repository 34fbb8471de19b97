#!/usr/bin/env python3
"""Proves recordings and files against real Keras, numpy and safetensors."""

import argparse
import itertools
import pathlib
import sys
import tempfile

import backend
import files
import models
import recordings
import steps
from check import run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, help="our binary; without it, checks of its files are skipped")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only every second check: the first, third … with 0")
    given = parser.parse_args()
    binary = given.bin
    if binary and not binary.is_file():
        parser.error(f"there is no binary at {binary}; build it with `cargo build --release`")
    real = backend.load()
    with tempfile.TemporaryDirectory() as folder:
        ours = files.Binary(binary and binary.resolve(), pathlib.Path(folder))
        checks = [*recordings.checks(real), *files.checks(real, ours), *models.checks(real, ours),
                  *steps.checks(real, ours)]
        good = run(checks if given.half is None else itertools.islice(checks, given.half, None, 2))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
