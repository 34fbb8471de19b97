"""The seeds' own jobs on the cluster."""

from check import Check
from helm_chart import CHART, NO_VOLUMES, S1, Release
from kube import PLAIN, STRICT, output, until

from .yard import Run, Yard

# S2: split, three workers that train by themselves, the mean of their weights.
S2 = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: average, epochs: 2, batch: 100, threads: 1 }
"""


def checks(yard: Yard) -> list[Check]:
    proofs = {
        "S2: three workers' mean has the weights of one machine": lambda: mean(yard),
        "S1: its values as they are, in pods of 125Mi and 200m": lambda: servers(yard, PLAIN),
        "S1: without its volume, under the restricted standard": lambda: servers(yard, STRICT, NO_VOLUMES),
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
        pods = kube.pods("trainyard/run=mnist-1")
        killed = [reason(pod) for pod in pods if "OOMKilled" in reason(pod)]
        assert not killed, killed
        events = kube("logs", "job/mnist-1")
        assert '"process_lost"' not in events, events[-800:]
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

