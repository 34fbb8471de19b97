#!/usr/bin/env python3
"""Trains for some minutes while processes are killed, stopped and sent away, and tells what was survived and how fast.

Every run must end with the weights of an undisturbed one, and whoever survives must keep its process; otherwise this
fails. The times are only told: they depend on the machine and on what else it does.
"""

import argparse
import pathlib
import random
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterable

import cost
from chaos import STRATEGIES, Seen, Yard, soak

# What is wanted of each kind of fault: (what is measured, seconds or steps at most).
WANTED = {
    "worker killed": {"found": 0.2, "resumed": 2.0},
    "server killed": {"found": 0.2, "resumed": 2.0},
    "worker stopped": {"found": 3.0},
    "worker sent away": {"steps lost": 0},
    "driver killed": {},
    "driver stopped": {"steps lost": 0},
}
COST = 0.02


def cell(values: list[float], wanted: float | None, digits: int) -> str:
    """`0.05 / 0.11`: the median and the worst."""
    if not values:
        return "–"
    text = f"{statistics.median(values):.{digits}f} / {max(values):.{digits}f}"
    return text if wanted is None or max(values) <= wanted else f"{text} (!)"


def rows(seen: Iterable[Seen]) -> list[str]:
    """A table of what happened, by strategy and kind of fault."""
    lines = ["| strategy | fault | times | found after s | resumed after s | progress told after s | steps lost |",
             "|---|---|---|---|---|---|---|"]
    kinds: dict[tuple[str, str], list[Seen]] = {}
    for one in seen:
        kinds.setdefault((one.strategy, one.fault), []).append(one)
    for (strategy, fault), group in kinds.items():
        wanted = WANTED[fault]

        def column(what: str, digits: int = 2) -> str:
            return cell([one.times[what] for one in group if what in one.times], wanted.get(what), digits)

        cells = [strategy, fault, str(len(group)), column("found"), column("resumed"), column("progress"),
                 column("steps lost", 0)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdicts(seen: list[Seen]) -> list[str]:
    """For each goal: the worst that was seen, and whether that is good enough."""
    lines = []
    for fault, goals in WANTED.items():
        for what, wanted in goals.items():
            values = [one.times[what] for one in seen if one.fault == fault and what in one.times]
            if values:
                met = "met" if max(values) <= wanted else "MISSED"
                lines.append(f"{fault}: {what} at most {max(values):.2f}, wanted {wanted}: {met}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path, help="our binary, built with --release")
    parser.add_argument("--seconds", type=float, default=120, help="how long, about; cost measured beside it")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="what the moments follow from")
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES), choices=STRATEGIES)
    parser.add_argument("--no-cost", action="store_true", help="leave out what it costs when nothing happens")
    given = parser.parse_args()
    # Ended in order, so that no process is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"the moments follow from seed {given.seed}", flush=True)
    chance = random.Random(given.seed)
    seen: list[Seen] = []
    with tempfile.TemporaryDirectory() as folder:
        yard = Yard(given.bin.resolve(), pathlib.Path(folder))
        for strategy in given.strategies:
            seen += soak(yard, strategy, given.seconds / len(given.strategies), chance)
        share = None if given.no_cost else cost.measure(yard)
    print("\nMedian / worst; (!) is more than wanted.\n")
    print("\n".join(rows(seen)), end="\n\n")
    print("\n".join(verdicts(seen)))
    if share is not None:
        met = "met" if share <= COST else "MISSED"
        print(f"cost without faults: {share:+.1%}, wanted at most {COST:.0%}: {met}")
    print(f"{len(seen)} faults survived, all weights as without them")


if __name__ == "__main__":
    main()
