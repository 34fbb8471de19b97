"""How soon a run trains once its pods are there."""

import os
import pathlib
import time

from check import Check
from kube import until

from .yard import Run, Yard, processes, uid

# So few steps that progress is told of each; so large that workers can be looked at before they leave.
STEPS = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 1024 }
train: { workers: 3, strategy: all_reduce, steps: 40, batch: 100, threads: 1 }
on: { kubernetes: { storage: none } }
"""
# It is a second on a machine that has nothing else to do.
LONGEST = 10


def checks(yard: Yard) -> list[Check]:
    return [Check("training begins soon after the last worker's container", lambda: soon(yard))]


def soon(yard: Yard) -> None:
    began: dict[str, float] = {}
    with Run(yard, yard.file("soon", STEPS)) as run:

        def seen() -> bool:
            for pod in run.kube.pods(f"trainyard/run={run.name},app.kubernetes.io/component=worker"):
                for process in processes(pod) if uid(pod) not in began else []:
                    began[uid(pod)] = begin_of(process)
            return len(began) == 3

        until("three workers were seen", seen)
        run.finish()
        first = run.events("progress")[0]
        assert first["step"] == 1, first
        formed = run.events("formed")[0]["ms"] / 1000 - max(began.values())
        step = first["ms"] / 1000 - max(began.values())
        print(f"        from the last worker's begin: a group after {formed:.2f} s, the first step after {step:.2f} s")
        assert step < LONGEST, step


def begin_of(process: int) -> float:
    """When a process began, in seconds since 1970, to a hundredth."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    since_boot = int(words[19]) / os.sysconf("SC_CLK_TCK")
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + since_boot
