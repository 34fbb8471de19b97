"""What a driver, heartbeats and checkpoints cost when nothing happens: a run of one worker beside the same training
without a run."""

import json
import re
import statistics
import subprocess
import time

ROUNDS = 5
EPOCHS = 8
RUN_FILE = """\
name: cost
data: {{ from: mnist-sample, validation: 0 }}
model: mnist-cnn
train: {{ workers: 1, epochs: {epochs}, batch: 20, threads: 1 }}
"""


def measure(yard) -> float:
    """The share of time by which a run takes longer: the median of some rounds, in turn."""
    file = yard.folder / "cost.yaml"
    file.write_text(RUN_FILE.format(epochs=EPOCHS))
    model = yard.folder / "cost.safetensors"
    alone = ["train", "--data", "mnist-sample", "--model", "mnist-cnn", "--batch", 20, "--threads", 1,
             "--epoch", EPOCHS, "--savemodel", model]
    shares = []
    for _ in range(ROUNDS):
        bare = epochs_take(yard, lambda line: re.search(r"epoch \d+ ended", line), *alone)
        run = epochs_take(yard, is_epoch, "run", file, "--fresh", "--json")
        shares.append(run / bare - 1)
        print(f"  {EPOCHS - 1} epochs take {bare:.2f} s without a run, {run:.2f} s in one", flush=True)
    return statistics.median(shares)


def is_epoch(line: str) -> bool:
    return line.startswith("{") and json.loads(line)["event"] == "epoch"


def epochs_take(yard, ends_epoch, *arguments) -> float:
    """The seconds from the end of the first epoch to that of the last, as they are told."""
    process = yard.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    moments = [time.monotonic() for line in process.stdout if ends_epoch(line)]
    if process.wait() or len(moments) != EPOCHS:
        raise SystemExit(f"trainyard {arguments[0]} exited {process.returncode} after {len(moments)} epochs")
    return moments[-1] - moments[0]
