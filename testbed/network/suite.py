#!/usr/bin/env python3
"""Proves that runs over several hosts survive what networks do."""

import argparse
import pathlib
import signal
import sys
import tempfile

import hosts
from cases import Cases
from check import Check, Skip, run
from runs import Yard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--only", default="", help="only checks whose names contain this")
    given = parser.parse_args()
    # Taken down in order, hosts are gone afterwards.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    names = ["driver", "one", "two", "three"]
    reason = hosts.why_not()
    network = hosts.Network(*names)
    with tempfile.TemporaryDirectory() as folder:
        checks = Cases(Yard(given.bin.resolve(), pathlib.Path(folder)), network).checks()
        checks = [check for check in checks if given.only in check.name]
        if reason:
            good = run([Check(check.name, lambda: skip(reason)) for check in checks])
        else:
            with network:
                good = run(checks)
    sys.exit(0 if good else 1)


def skip(reason: str) -> None:
    raise Skip(reason)


if __name__ == "__main__":
    main()
