#!/usr/bin/env python3
"""Trains S2's network on the whole of MNIST for several seeds and prints the mean test accuracy."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# S2's settings. What the mean must reach after one and after two epochs.
RUN_FILE = """\
name: accuracy
data: { from: mnist }
model: mnist-cnn
train: { batch: 100, epochs: 1 }
"""
BARS = {1: 0.977, 2: 0.982}
TIMEOUT = 1800


def accuracy(given: argparse.Namespace, folder: pathlib.Path, epochs: int, seed: int) -> float:
    """Runs the file from beginning to end and reads its report."""
    def trainyard(*arguments: str) -> str:
        command = [given.bin.resolve(), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode:
            sys.exit(f"trainyard {' '.join(arguments)} exited {done.returncode}: {done.stderr.strip()[-1000:]}")
        return done.stdout

    sets = [f"train.epochs={epochs}", f"seed={seed}"]
    if given.mirror:
        sets.append(f"data.mirror={given.mirror.resolve()}")
    trainyard("run", "run.yaml", "--fresh", *(word for assignment in sets for word in ("--set", assignment)))
    report = json.loads(trainyard("report", "accuracy", "--json"))
    reached = report["metrics"]["test"]["accuracy"]
    print(f"epochs {epochs}, seed {seed}: {reached:.4f} in {report['seconds']:.0f} s", flush=True)
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path, help="our binary, built with --release")
    parser.add_argument("--mirror", type=pathlib.Path, help="a folder with MNIST's files; else they are fetched")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--epochs", nargs="+", type=int, default=list(BARS), choices=BARS)
    given = parser.parse_args()

    missed = False
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "run.yaml").write_text(RUN_FILE)
        for epochs in given.epochs:
            bar = BARS[epochs]
            mean = statistics.mean(accuracy(given, pathlib.Path(folder), epochs, seed) for seed in given.seeds)
            missed |= mean < bar
            print(f"epochs {epochs}, mean of {len(given.seeds)} seeds: {mean:.4f} (the bar is {bar})", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
