#!/usr/bin/env python3
"""What a second worker brings: one and two workers of ours, and of PyTorch's (DDP over gloo), in turn, a thread each.

Run it with a Python that has PyTorch (the one that `testbed/keras/setup.sh --rivals` prints), after `cargo build --release`.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "train"))
import report  # noqa: E402

BATCH = 100
OURS = {
    "trainyard, one": [],
    "trainyard, two, all_reduce": ["--workers", "2", "--strategy", "all_reduce"],
    "trainyard, two, average": ["--workers", "2", "--strategy", "average"],
}
# What the machine has to give: two of ours that know nothing of each other.
APART = "trainyard, two apart"
RIVALS = {"pytorch, one": 1, "pytorch, two, DDP over gloo": 2}
# About as long a turn as ours.
RIVAL_STEPS = 20


class Rival:
    """Warm processes that wait for their turn at their standard input."""

    def __init__(self, world: int, folder: str):
        command = [sys.executable, str(HERE / "rival.py")]
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
        self.processes = [
            subprocess.Popen([*command, str(rank), str(world), f"{folder}/meeting-{world}", str(BATCH)], text=True,
                             env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for rank in range(world)
        ]
        self.version = [json.loads(process.stdout.readline()) for process in self.processes][0]

    def turn(self) -> float:
        """Samples a second, of all together."""
        for process in self.processes:
            process.stdin.write(f"{RIVAL_STEPS}\n")
            process.stdin.flush()
        seconds = max(json.loads(process.stdout.readline()) for process in self.processes)
        return RIVAL_STEPS * BATCH * len(self.processes) / seconds

    def close(self) -> None:
        for process in self.processes:
            process.stdin.close()
            process.wait()


def ours(given: argparse.Namespace, workers: list[str], count: int = 1) -> float:
    """Samples a second, of `count` at the same time."""
    command = [given.bin, "bench", "mnist-cnn", "--batch", str(BATCH), "--threads", "1", *workers]
    command += ["--steps", str(given.steps), "--json"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return sum(json.loads(process.communicate()[0])["samples_per_second"] for process in processes)


def compete(given: argparse.Namespace, rivals: dict[str, Rival]) -> dict[str, list[float]]:
    seen: dict[str, list[float]] = {name: [] for name in [*OURS, APART, *rivals]}
    for number in range(given.rounds):
        print(f"  round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
        for name, workers in OURS.items():
            seen[name].append(ours(given, workers))
        seen[APART].append(ours(given, [], count=2))
        for name, rival in rivals.items():
            seen[name].append(rival.turn())
    return seen


def table(seen: dict[str, list[float]]) -> str:
    """What each reaches, and how many times what one of its kind does: round by round, the median and the range."""
    lines = ["| who | samples/s, median | best | times one | from | to |", "|---|---:|---:|---:|---:|---:|"]
    for name, speeds in seen.items():
        one = seen[f"{name.split(',')[0]}, one"]
        times = [speed / alone for speed, alone in zip(speeds, one)]
        found = "– | – | –" if speeds is one else f"{statistics.median(times):.2f} | {min(times):.2f} | {max(times):.2f}"
        lines.append(f"| {name} | {statistics.median(speeds):,.0f} | {max(speeds):,.0f} | {found} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="target/release/trainyard", help="our binary, built with --release")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=600, help="steps of ours in a turn (default: %(default)s)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rivals = {name: Rival(world, folder) for name, world in RIVALS.items()}
        version = next(iter(rivals.values())).version
        print(f"### mnist-cnn, batch {BATCH} for each worker, one thread each\n")
        print(f"{report.cpu_model()} ({report.instruction_set()}), {os.cpu_count()} cores, load "
              f"{os.getloadavg()[0]:.1f} before the start; commit {report.commit()}; PyTorch {version}; {given.rounds} rounds\n")
        print(table(compete(given, rivals)), flush=True)
        for rival in rivals.values():
            rival.close()


if __name__ == "__main__":
    main()
