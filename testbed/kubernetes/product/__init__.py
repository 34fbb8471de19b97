"""What our tool does on the cluster."""

import pathlib

from check import Check

from . import charted, copies, faults, limits, plain, rights, seeds, serving, speed
from .yard import Yard


def checks(binary: pathlib.Path) -> list[Check]:
    yard = Yard(binary)
    parts = (plain, seeds, serving, charted, speed, limits, rights, copies, faults)
    return [check for part in parts for check in part.checks(yard)]
