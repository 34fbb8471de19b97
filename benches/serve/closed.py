"""The closed loop: wrk sends the next request of a connection when the last one is answered."""

import json
import os
import pathlib
import statistics
import subprocess
from dataclasses import dataclass, field

from pictures import KIND, Pictures
from servers import Server, held_on

SCRIPT = pathlib.Path(__file__).with_name("upload.lua")
WARM_UP_SECONDS = 1


@dataclass
class Turn:
    per_second: float
    p50: float
    p99: float
    errors: int


@dataclass
class Score:
    """One server's turns, by number of connections."""

    turns: dict[int, list[Turn]] = field(default_factory=dict)

    def best(self, connections: int) -> Turn:
        return max(self.turns[connections], key=lambda turn: turn.per_second)

    def median(self, connections: int) -> float:
        return statistics.median(turn.per_second for turn in self.turns[connections])

    def errors(self, connections: int) -> int:
        return sum(turn.errors for turn in self.turns[connections])


def turn(server: Server, pictures: Pictures, connections: int, seconds: int, cores: set[int] | None = None) -> Turn:
    shown = wrk(server, pictures, connections, seconds, cores)
    server.wait_until_idle()
    good = shown["requests"] - shown["refused"]
    errors = shown["broken"] + shown["timeouts"] + shown["refused"]
    return Turn(good / shown["seconds"], shown["p50"], shown["p99"], errors)


def warm_up(server: Server, pictures: Pictures) -> None:
    wrk(server, pictures, 4, WARM_UP_SECONDS)
    server.wait_until_idle()


def wrk(server: Server, pictures: Pictures, connections: int, seconds: int, cores: set[int] | None = None) -> dict:
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s",
               "--timeout", "60s", "--script", SCRIPT, server.url, "--", pictures.file, KIND]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          preexec_fn=held_on(cores or os.sched_getaffinity(0)))
    if done.returncode or not done.stdout.strip():
        raise SystemExit(f"wrk exited {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def version() -> str:
    """It says so beside its usage."""
    return subprocess.run(["wrk", "--version"], capture_output=True, text=True, check=False).stdout.split()[1]
