#!/usr/bin/env python3
"""Proves that the server bears whatever is sent to it, and that it is as its description says."""

import argparse
import pathlib
import sys
import tempfile
from collections.abc import Iterator

from check import Check, run
from contract import Contract
from models import Models
from storm import Storm

# What a model takes decides what is described, so there is one of each.
DESCRIBED = ("digits", "texts", "numbers")


def checks(given: argparse.Namespace, folder: pathlib.Path) -> Iterator[Check]:
    models = Models(given.bin.resolve(), folder)
    if given.only in "storm":
        yield from Storm(models.binary, models.words("digits"), folder).checks()
    for kind in DESCRIBED:
        if given.only in f"contract {kind}":
            yield from Contract(models, kind, given.schemathesis, folder).checks()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--schemathesis", type=pathlib.Path, help="the program; without it, nothing is said of the description")
    parser.add_argument("--only", default="", help="`storm`, `contract`, or `contract` and a kind of model")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        good = run(checks(given, pathlib.Path(folder)))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
