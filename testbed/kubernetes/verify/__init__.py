"""Proves that the cluster is one: what tests of our own rely on is there and does what it should."""

from check import Check

from . import limits, nodes, rights, volumes, workloads


def checks() -> list[Check]:
    """Each with the name that says what it proves. Those that break something come last."""
    return [*workloads.checks(), *limits.checks(), *rights.checks(), *volumes.checks(), *nodes.checks()]
