"""What our tool does on the cluster."""

import pathlib

from check import Check

from . import copies, faults, limits, plain, seeds
from .yard import Yard


def checks(binary: pathlib.Path) -> list[Check]:
    yard = Yard(binary)
    return [check for part in (plain, seeds, limits, copies, faults) for check in part.checks(yard)]
