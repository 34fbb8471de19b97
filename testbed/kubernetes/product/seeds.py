"""The seeds' own jobs on the cluster."""

import json
import pathlib
import time

from check import Check, Skip
from helm_chart import CHART, NO_VOLUMES, S1, Release
from kube import PLAIN, STRICT, output, until

from .yard import ROOT, Run, Yard

# S2: split, three workers that train by themselves, the mean of their weights.
S2 = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: average, epochs: 2, batch: 100, threads: 1 }
"""
# All of MNIST, as it was published.
MNIST = ROOT.parent / "shared" / "data" / "mnist"


def checks(yard: Yard) -> list[Check]:
    proofs = {
        "S2: three workers' mean has the weights of one machine": lambda: mean(yard),
        "S1: its values as they are, in pods of 125Mi and 200m": lambda: servers(yard, PLAIN),
        "S1: without its volume, under the restricted standard": lambda: servers(yard, STRICT, NO_VOLUMES),
        "S1: its values and all of MNIST, sent from this machine": lambda: servers_with_all(yard),
        "S2: all of MNIST, sent from this machine": lambda: mean_of_all(yard),
    }
    return [Check(name, prove) for name, prove in proofs.items()]


def mean(yard: Yard) -> None:
    file = yard.file("mean", S2)
    with Run(yard, file) as run:
        run.finish()
        assert run.weights() == yard.expected(file)
        nodes = {pod["spec"]["nodeName"] for pod in run.kube.pods(f"trainyard/run={run.name},trainyard/task=train")}
        assert len(nodes) == 3, f"three trainers on {nodes}"


def servers(yard: Yard, namespace: str, *values: str) -> None:
    with Release("mnist", namespace) as release:
        data = ["--set=data=mnist-sample", f"--set=image={yard.image}"]
        output(*release.helm, "install", "mnist", str(CHART), S1, *data, *values)
        kube = release.kube

        def done() -> bool:
            told = kube("logs", "job/mnist-1")
            assert '"run_failed"' not in told, told[-800:]
            return '"run_done"' in told

        until("it is done", done, 300)
        events = kube("logs", "job/mnist-1")
        assert '"process_lost"' not in events, events[-800:]
        fits(kube.pods("trainyard/run=mnist-1"))


def servers_with_all(yard: Yard) -> None:
    """The chart cannot send files, so its run file is run: all objects are made of it alone."""
    data = f"--set=data.from=mnist,data.validation=5000,data.mirror={whole_mnist()}"
    release = Release("mnist-all", PLAIN)
    shown = [S1, data, "--kube-version=1.34.0", "--show-only=templates/configmap.yaml"]
    text = output(*release.helm, "template", release.name, str(CHART), *shown)
    made = release.kube("create", "--dry-run=client", "--output=json", "--filename=-", given=text)
    file = yard.folder / f"{release.name}.yaml"
    file.write_text(json.loads(made)["data"]["run.yaml"])
    since = time.monotonic()
    with Run(yard, file, namespace=PLAIN) as run:
        run.finish()
        print(f"        S1 with all of MNIST: {time.monotonic() - since:.1f} s, {trained(run)}")
        assert not run.events("process_lost"), run.events("process_lost")
        fits(run.kube.pods(f"trainyard/run={run.name}"))


def mean_of_all(yard: Yard) -> None:
    mirror = whole_mnist()
    text = S2.replace("mnist-sample", f"{{ from: mnist, mirror: {mirror} }}").replace("epochs: 2", "epochs: 10")
    file = yard.file("mean-all", text)
    since = time.monotonic()
    with Run(yard, file) as run:
        run.finish()
        print(f"        S2 with all of MNIST: {time.monotonic() - since:.1f} s, {trained(run)}")
        assert run.weights() == yard.expected(file)
        killed = [reason(pod) for pod in run.kube.pods(f"trainyard/run={run.name}") if "OOMKilled" in reason(pod)]
        assert not killed and not run.events("process_lost"), killed


def whole_mnist() -> pathlib.Path:
    if not MNIST.is_dir():
        raise Skip(f"MNIST is not at {MNIST}")
    return MNIST


def trained(run: Run) -> str:
    """How much was learnt, and how well."""
    [prepared] = run.events("prepared")
    assert prepared["train"] + prepared["validation"] == 60000 and prepared["test"] == 10000, prepared
    return f"{run.step()} steps, accuracy {run.events('evaluated')[-1]['metrics']['accuracy']:.3f}"


def fits(pods: list[dict]) -> None:
    """All but the driver have S1's limits, and none needed more."""
    killed = [reason(pod) for pod in pods if "OOMKilled" in reason(pod)]
    assert not killed, killed
    limits = {limit(pod) for pod in pods if "driver" not in part(pod)}
    assert limits == {("200m", "125Mi")}, limits


def reason(pod: dict) -> str:
    states = [status.get("state", {}).get("terminated", {}) for status in pod["status"].get("containerStatuses", [])]
    return " ".join(state.get("reason", "") for state in states)


def part(pod: dict) -> str:
    return pod["metadata"]["labels"]["app.kubernetes.io/component"]


def limit(pod: dict) -> tuple[str, str]:
    limits = pod["spec"]["containers"][0]["resources"]["limits"]
    return limits["cpu"], limits["memory"]

