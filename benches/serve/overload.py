"""More than a server can do: how much of its peak is left, and how it turns the rest away."""

import os
import pathlib
from dataclasses import dataclass, field

import closed
from load import Load
from pictures import Pictures
from servers import Server

SHARES = [0.5, 1.0, 2.0]
SETTLE_SECONDS = 1


@dataclass
class Outcome:
    """One server: its peak in the closed loop of each round, and what it did with shares of that."""

    server: str
    peaks: list[float] = field(default_factory=list)
    turns: dict[float, list[dict]] = field(default_factory=dict)

    @property
    def peak(self) -> float:
        return max(self.peaks)

    def best(self, share: float) -> dict:
        return max(self.turns[share], key=lambda turn: turn["goodput"])

    def kept(self, share: float) -> float:
        return self.best(share)["goodput"] / self.peak


def cores(apart: bool) -> tuple[set[int], set[int]]:
    """Those of the server and those of the load. Apart, the load takes nothing from the server."""
    every = sorted(os.sched_getaffinity(0))
    if not apart or len(every) < 2:
        return set(every), set(every)
    return set(every[:len(every) // 2]), set(every[len(every) // 2:])


def round_of(server: Server, outcome: Outcome, program: pathlib.Path, pictures: Pictures, given) -> None:
    """The closed loop first, whose speed sets the rates of this round."""
    _, generator = cores(given.apart)
    peak = closed.turn(server, pictures, given.peak_connections, given.seconds, generator).per_second
    outcome.peaks.append(peak)
    for share in SHARES:
        turn = Load(program, server, pictures, generator, rate=share * peak, seconds=given.seconds + SETTLE_SECONDS,
                    settle=SETTLE_SECONDS, connections=given.open_connections, arrivals=given.arrivals,
                    seed=len(outcome.peaks))
        outcome.turns.setdefault(share, []).append({"rate": share * peak, **turn.result()})
        server.wait_until_idle()


def errors(turn: dict) -> int:
    """Neither answered nor told to come back later."""
    wrong = sum(count for status, count in turn["statuses"].items() if status not in ("200", "429"))
    return wrong + sum(turn["failures"].values())
