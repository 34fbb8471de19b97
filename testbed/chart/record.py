#!/usr/bin/env python3
"""Writes down the objects that the chart makes, for the test of `exec` that compares them with ours.

usage: PYTHONPATH=testbed testbed/chart/record.py HELM"""

import pathlib
import sys
import tempfile

from chart import Chart
from recordings import CASES, path, recorded


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        chart = Chart(sys.argv[1], pathlib.Path(folder))
        for name in CASES:
            path(name).parent.mkdir(exist_ok=True)
            path(name).write_text(recorded(chart, name))


if __name__ == "__main__":
    main()
