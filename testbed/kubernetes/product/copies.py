"""Runs without storage: what the driver had is lost with its pod, and comes back from a worker's copy."""

import time

from check import Check
from kube import until

from .plain import numbers
from .yard import Run, Yard

# The user's own file is lost with the driver's pod too, and nobody sends it again.
FLEETING = """\
data: DATA
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: all_reduce, epochs: 600, batch: 20, threads: 1 }
evaluate: false
on:
  kubernetes:
    storage: none
    workers: { limits: { cpu: 100m } }
"""


def checks(yard: Yard) -> list[Check]:
    name = "without storage, a driver that is lost goes on from a worker's copy"
    return [Check(name, lambda: lost(yard))]


def lost(yard: Yard) -> None:
    file = yard.file("fleeting", FLEETING.replace("DATA", numbers(yard.folder / "fleeting.npz").name))
    with Run(yard, file) as run:
        run.until_all()
        run.until_more()
        until("a worker keeps a copy", lambda: "keeping a copy" in logs(run))
        run.until_more(500)
        pods, before, since = uids(run), run.newest(), time.monotonic()
        run.kube.delete("pod", f"--selector=trainyard/run={run.name},app.kubernetes.io/component=driver", "--wait=false")
        until("another driver goes on", lambda: later(run, since))
        print(f"        the driver and its folder were lost: it went on after {time.monotonic() - since:.1f} s")
        assert later(run, since)[-1]["resumed"], run.told()[-800:]
        run.until_more()
        assert uids(run) == pods, "workers were started again"
        run.finish()
        assert run.weights() == yard.expected(file), run.told()[-800:]
        assert before < run.newest()


def later(run: Run, since: float) -> list[dict]:
    """Drivers that began after a moment of this process."""
    moment = (time.time() - (time.monotonic() - since)) * 1000
    return [event for event in run.events("run_started") if event["ms"] > moment]


def logs(run: Run) -> str:
    names = [pod["metadata"]["name"] for pod in run.pods("worker")]
    return "".join(run.kube("logs", name) for name in names)


def uids(run: Run) -> set[str]:
    return {pod["metadata"]["uid"] for pod in run.pods("worker")}
