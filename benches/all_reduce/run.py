#!/usr/bin/env python3
"""How long one all-reduce takes: our links, a bare socket, and PyTorch's gloo, in turn on the same cores.

Run it with a Python that has PyTorch (the one that `testbed/keras/setup.sh --rivals` prints), after

    cargo build --release --package trainyard-collective --example all_reduce
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
SIZES = {"1MiB": 1 << 20, "10MiB": 10 << 20, "100MiB": 100 << 20}
# Milliseconds a turn should last, roughly, at a gigabyte a second.
TURN_BYTES = 64 << 20


class Gloo:
    """Warm processes that wait for their turn at their standard input."""

    def __init__(self, ranks: int, folder: str):
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
        command = [sys.executable, str(HERE / "rival.py")]
        self.processes = [
            subprocess.Popen([*command, str(rank), str(ranks), f"{folder}/meeting"], env=environment, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for rank in range(ranks)
        ]
        self.version = [json.loads(process.stdout.readline()) for process in self.processes][0]

    def turn(self, size: int, times: int) -> list[float]:
        for process in self.processes:
            process.stdin.write(f"{size} {times}\n")
            process.stdin.flush()
        return [json.loads(process.stdout.readline()) for process in self.processes][0]

    def close(self) -> None:
        for process in self.processes:
            process.stdin.close()
            process.wait()


def ours(given: argparse.Namespace, size: int) -> dict[str, tuple[float, float]]:
    """A turn of every link of ours: best and median."""
    command = [given.bin, str(size), "--ranks", str(given.ranks), "--rounds", "2", "--json"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line["link"]: (line["best"], line["median"]) for line in map(json.loads, lines)}


def compete(given: argparse.Namespace, gloo: Gloo, size: int) -> dict[str, list[tuple[float, float]]]:
    seen: dict[str, list[tuple[float, float]]] = {}
    times = min(200, max(3, TURN_BYTES // size))
    gloo.turn(size, times)
    for number in range(given.rounds):
        print(f"  round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
        turn = ours(given, size)
        took = gloo.turn(size, 2 * times)
        turn["gloo"] = (min(took), statistics.median(took))
        for name, pair in turn.items():
            seen.setdefault(name, []).append(pair)
    return seen


def table(name: str, given: argparse.Namespace, seen: dict[str, list[tuple[float, float]]]) -> str:
    """The best of the best, and the median of the medians, each beside gloo's and the bare socket's."""
    facts = {who: (min(best for best, _ in pairs), statistics.median(median for _, median in pairs))
             for who, pairs in seen.items()}

    def times(who: str, other: str) -> str:
        if other not in facts or who == other:
            return "–"
        return " / ".join(f"{facts[other][place] / facts[who][place]:.2f}" for place in (0, 1))

    lines = [f"### {name}, {given.ranks} processes", "",
             "| link | best, ms | median, ms | times as fast as gloo (best / median) | as the bare socket |",
             "|---|---:|---:|---:|---:|"]
    for who, (best, median) in sorted(facts.items(), key=lambda fact: fact[1][1]):
        lines.append(f"| {who} | {best * 1e3:.3f} | {median * 1e3:.3f} | {times(who, 'gloo')} | {times(who, 'raw')} |")
    return "\n".join([*lines, ""])


def cpu_model() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="target/release/examples/all_reduce", help="our example, built with --release")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["1MiB", "100MiB"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9, help="turns of each (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        gloo = Gloo(given.ranks, folder)
        load = os.getloadavg()[0]
        print(f"{cpu_model()}, {os.cpu_count()} cores, load {load:.1f} before the start; PyTorch {gloo.version}\n")
        for name in given.sizes:
            print(table(name, given, compete(given, gloo, SIZES[name])), flush=True)
        gloo.close()


if __name__ == "__main__":
    main()
