"""Who takes part: our binary, and rivals in warm processes that wait stopped for their turn."""

import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

from settings import Setting

# Compiling a step takes a rival up to a minute on a busy machine. Nothing waits longer than this.
TIMEOUT = 300


@dataclass
class Score:
    """What a contestant has shown so far."""

    name: str
    version: str = ""
    steps_per_second: list[float] = field(default_factory=list)
    peak_rss: int = 0
    first_step: float = 0.0
    note: str = ""

    @property
    def best(self) -> float:
        return max(self.steps_per_second, default=0.0)

    @property
    def median(self) -> float:
        return statistics.median(self.steps_per_second) if self.steps_per_second else 0.0


class Failed(Exception):
    """Why a contestant cannot go on."""


class Ours:
    """`trainyard bench`, one process a round."""

    def __init__(self, binary: pathlib.Path, setting: Setting):
        self.command = [binary, "bench", setting.network, "--batch", str(setting.batch),
                        "--threads", str(setting.threads), "--json", *(["--predict"] if setting.answers else [])]
        self.setting, self.score = setting, Score("trainyard")
        self.score.version = self.ask([binary, "--version"]).split()[-1]
        begun = time.perf_counter()
        self.rate = self.bench(1)["samples_per_second"] / setting.batch
        self.score.first_step = time.perf_counter() - begun

    def round(self, seconds: float) -> None:
        shown = self.bench(max(3, round(self.rate * seconds)))
        self.rate = shown["samples_per_second"] / self.setting.batch
        self.score.steps_per_second.append(self.rate)
        self.score.peak_rss = max(self.score.peak_rss, shown["peak_rss_bytes"])

    def bench(self, steps: int) -> dict:
        return json.loads(self.ask([*self.command, "--steps", str(steps)]))

    def ask(self, command: list) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                              preexec_fn=pinned(self.setting.threads))
        if done.returncode:
            raise Failed(f"{command} exited {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout


class Rival:
    """A worker process, stopped by a signal except when it is its turn."""

    def __init__(self, name: str, form: str, setting: Setting):
        self.score = Score(f"{name} {form}")
        worker = pathlib.Path(__file__).with_name("worker.py")
        begun = time.perf_counter()
        self.errors = tempfile.TemporaryFile()
        # Unbuffered, so that a line that came early is seen by `select` and not held back here.
        self.process = subprocess.Popen(
            [sys.executable, worker, name, form, "--network", setting.network, "--threads", str(setting.threads),
             "--answers", str(setting.answers)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0,
            env=environment(setting.threads, form), preexec_fn=pinned(setting.threads))
        try:
            first = self.answer()
            first_pass = time.perf_counter() - begun
            self.score.version = first["version"]
            self.rate = self.answer()["steps_per_second"]
            # The worker speaks after a whole pass: all but one of its steps are taken off again.
            self.score.first_step = first_pass - (first["trained"] - 1) / self.rate
        except BaseException:
            self.close()
            raise
        self.process.send_signal(signal.SIGSTOP)

    def round(self, seconds: float) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(json.dumps({"seconds": seconds}).encode() + b"\n")
        shown = self.answer()
        self.process.send_signal(signal.SIGSTOP)
        self.score.steps_per_second.append(shown["steps"] / shown["seconds"])
        self.score.peak_rss = shown["peak_rss_bytes"]

    def answer(self) -> dict:
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
        if not ready:
            raise Failed(f"it said nothing for {TIMEOUT} s")
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise Failed(f"it ended: {self.errors.read().decode(errors='replace').strip()[-300:]}")
        return json.loads(line)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.errors.close()


def pinned(threads: int):
    """Holds a process on as many cores as it may have threads, before anything in it starts."""
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return lambda: os.sched_setaffinity(0, cores)


def environment(threads: int, form: str) -> dict[str, str]:
    """Thread counts in every word the rivals know, and silence."""
    count = str(threads)
    waiting = {"OMP_WAIT_POLICY": "passive"} if form.endswith("-passive") else {}
    return {
        **os.environ, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count,
        "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu", "TORCHINDUCTOR_COMPILE_THREADS": "1", **waiting,
    }
