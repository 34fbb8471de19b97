#!/usr/bin/env python3
"""Proves what Helm makes of our chart."""

import argparse
import pathlib
import sys
import tempfile

import notes
import objects
import recordings
import rendered
import runfiles
import wrong
from chart import Chart
from check import Check, Skip, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--helm", default="", help="Helm; without it all checks are skipped")
    parser.add_argument("--only", default="", help="only checks whose names contain this")
    given = parser.parse_args()
    binary = given.bin.resolve()
    if not binary.is_file():
        parser.error(f"there is no binary at {binary}; build it with `cargo build --release`")
    with tempfile.TemporaryDirectory() as folder:
        chart = Chart(given.helm, pathlib.Path(folder))
        suites = [
            objects.checks(chart),
            runfiles.checks(chart, binary),
            recordings.checks(chart),
            rendered.checks(chart, binary),
            wrong.checks(chart),
            notes.checks(chart),
        ]
        checks = [check for checks in suites for check in checks if given.only in check.name]
        if not given.helm:
            checks = [Check(check.name, skip) for check in checks]
        good = run(checks)
    sys.exit(0 if good else 1)


def skip() -> None:
    raise Skip("Helm is not here")


if __name__ == "__main__":
    main()
