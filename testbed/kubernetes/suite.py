#!/usr/bin/env python3
"""Proves the cluster, and what our tool does on it."""

import argparse
import pathlib
import sys

import helm_chart
import product
import verify
from check import Check, Skip, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("trainyard"), help="the binary")
    parser.add_argument("--only", default="", help="only checks whose names contain this")
    parser.add_argument("--skip", default="", metavar="REASON", help="why there can be no cluster here")
    given = parser.parse_args()
    checks = [*verify.checks(), *helm_chart.checks(), *product.checks(given.bin)]
    checks = [check for check in checks if given.only in check.name]
    if given.skip:
        checks = [Check(check.name, lambda: skip(given.skip)) for check in checks]
    sys.exit(0 if run(checks) else 1)


def skip(reason: str) -> None:
    raise Skip(reason)


if __name__ == "__main__":
    main()
