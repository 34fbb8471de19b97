"""A check and its outcome."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """Something to prove. `prove` returns nothing when it holds, raises `Skip` when it cannot be
    told here, and raises anything else when it does not hold."""

    name: str
    prove: Callable[[], None]


class Skip(Exception):
    """Why a check cannot be told here."""


def run(checks: Iterable[Check]) -> bool:
    """Proves each in turn, prints what came of it and closes with the counts."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for check in checks:
        begun = time.monotonic()
        outcome, reason = told(check)
        counts[outcome] += 1
        print(f"{outcome:8}{check.name}{took(begun)}{': ' if reason else ''}{reason}", flush=True)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return counts["failed"] == 0


def took(begun: float) -> str:
    """How long, where somebody waited for it."""
    seconds = time.monotonic() - begun
    return f" ({seconds:.0f} s)" if seconds >= 5 else ""


def told(check: Check) -> tuple[str, str]:
    try:
        check.prove()
    except Skip as reason:
        return "skipped", str(reason)
    except Exception as problem:  # noqa: BLE001 - whatever is wrong, the other checks still run
        return "failed", f"{type(problem).__name__}: {problem}"
    return "passed", ""


def near(name: str, got, expected, tolerance: float, least: float = 0.0) -> None:
    """Every element within `tolerance` of the largest expected one, which counts as at least so much."""
    if got.shape != expected.shape:
        raise AssertionError(f"{name} has shape {got.shape}, expected {expected.shape}")
    largest = abs(expected).max(initial=least)
    error = abs(got - expected).max(initial=0)
    if not error <= tolerance * largest:
        raise AssertionError(f"{name} is {error / largest:.1e} of its largest value off, more than {tolerance:.0e}")
