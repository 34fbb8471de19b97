#!/usr/bin/env python3
"""Trains our networks beside TensorFlow, PyTorch and JAX, or lets them answer, in turn on the same cores.

Run it with the Python that `testbed/keras/setup.sh --rivals` prints.
"""

import argparse
import contextlib
import importlib
import itertools
import os
import pathlib
import sys

import report
from contestants import Failed, Ours, Rival, Score
from settings import NETWORKS, Setting

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
RIVALS = ["tensorflow", "pytorch", "jax"]


def say(*words: str) -> None:
    print(*words, file=sys.stderr, flush=True)


def forms(rival: str, setting: Setting) -> list[str]:
    known = importlib.import_module(f"rivals.with_{rival}")
    return (known.ANSWERING if setting.answers else known.FORMS).get(setting.network, [])


def enter(given: argparse.Namespace, setting: Setting, room: contextlib.ExitStack) -> tuple[list, list[Score]]:
    """Starts everybody; returns who takes part, and the scores of those who could not start."""
    parts, fallen = [], []
    if given.bin:
        parts.append(Ours(given.bin.resolve(), setting))
    for name in given.rivals:
        for form in forms(name, setting):
            say(f"  starting {name} {form}")
            try:
                parts.append(Rival(name, form, setting))
                room.callback(parts[-1].close)
            except Failed as problem:
                fallen.append(Score(f"{name} {form}", note=f"left out: {problem}"))
    return parts, fallen


def compete(given: argparse.Namespace, setting: Setting) -> list[Score]:
    """One setting: everybody is warm, then takes turns."""
    with contextlib.ExitStack() as room:
        parts, fallen = enter(given, setting, room)
        for number in range(given.rounds):
            say(f"  round {number + 1} of {given.rounds}")
            for part in parts:
                part.round(given.seconds)
        return [part.score for part in parts] + fallen


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, help="our binary, built with --release; without it only rivals run")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--threads", nargs="+", type=int, default=[2, 1])
    parser.add_argument("--answers", nargs="+", type=int, default=[0],
                        help="answer so many samples at a time instead of training")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=RIVALS)
    parser.add_argument("--rounds", type=int, default=7, help="turns of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a turn (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, help="file to write (default: results/DATE-MACHINE.md)")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    tables, versions, load = [], {}, os.getloadavg()[0]
    for setting in itertools.starmap(Setting, itertools.product(given.networks, given.threads, given.answers)):
        say(str(setting))
        scores = compete(given, setting)
        versions.update({score.name.split()[0]: score.version for score in scores if score.version})
        tables.append(report.table(setting, scores))
        print(tables[-1], flush=True)
    out = given.out or RESULTS / report.file_name()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(report.document(tables, {
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
        "rounds": f"{given.rounds} in turn, about {given.seconds:g} s each",
        "load before the start": f"{load:.1f}",
    }))
    say(f"written to {out}")


if __name__ == "__main__":
    main()
