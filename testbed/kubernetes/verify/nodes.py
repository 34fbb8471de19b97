"""Nodes that are lost and come back, and an API server that does."""

import functools
import pathlib
import tempfile

import image
from check import Check
from kube import PLAIN, Kube, cluster, heal, until

from .objects import deployment, on, pod

COUNT = "n=0; while :; do n=$((n+1)); echo $n; sleep 0.2; done"
# Without it, pods of a lost node are sent away after five seconds.
FAITHFUL = {"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}
FIRST_ON_2 = {
    "weight": 100,
    "preference": {"matchExpressions": [{"key": "disktype", "operator": "In", "values": ["worker-2"]}]},
}
PREFERS_2 = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [FIRST_ON_2]}}}


def checks() -> list[Check]:
    losses = Losses()
    proofs = {
        "a node that is killed is lost, its pod runs elsewhere, and it comes back": losses.killed,
        "a node that is cut off is lost, and back with the same pod when mended": losses.cut,
        "an image can be loaded on all nodes, on those too that come up later": losses.loaded,
        "a node without kubelet is lost, its pod lives on, and it is back with kubelet": kubelet,
        "an API server that is started again has the same objects, events and users": apiserver,
    }
    return [Check(name, prove) for name, prove in proofs.items()]


class Losses:
    """Two nodes are lost at the same time, as that takes a while."""

    @functools.cached_property
    def kube(self) -> Kube:
        kube = Kube("admin", PLAIN)
        heal()
        kube.delete("deployment/moves", "pod/faithful")
        kube.apply(deployment("moves", 1, COUNT, **PREFERS_2), pod("faithful", COUNT, **on(3), **FAITHFUL))
        kube.wait("condition=Available", "deployment/moves")
        kube.wait("condition=Ready", "pod/faithful")
        assert self.places(kube) == ["node2"], self.places(kube)
        self.before = life(kube, "faithful")
        cluster("node", "kill", "2")
        cluster("node", "cut", "3")
        with tempfile.TemporaryDirectory() as folder:
            image.save_busybox(pathlib.Path(folder), "loaded")
            cluster("load", f"{folder}/loaded.tar")
        return kube

    def places(self, kube: Kube) -> list[str]:
        """Where pods of the one that moves are ready, and not on their way out."""
        pods = [pod for pod in kube.pods("app=moves") if "deletionTimestamp" not in pod["metadata"]]
        return [pod["spec"]["nodeName"] for pod in pods if is_true(pod, "Ready")]

    def killed(self) -> None:
        kube = self.kube
        until("node2 is not ready", lambda: not is_ready(kube, "node2"))
        until("its pod is on node1", lambda: self.places(kube) == ["node1"])
        cluster("node", "start", "2")
        until("node2 is ready", lambda: is_ready(kube, "node2"))
        until("its old pod is gone", lambda: len(kube.pods("app=moves")) == 1)

    def cut(self) -> None:
        kube = self.kube
        until("node3 is not ready", lambda: not is_ready(kube, "node3"))
        cluster("node", "mend", "3")
        until("node3 is ready", lambda: is_ready(kube, "node3"))
        lives_on(kube, "faithful", self.before)

    def loaded(self) -> None:
        kube = self.kube
        heal()
        kube.delete(*(f"pod/loaded-{number}" for number in (1, 2, 3)))
        this = {"image": "localhost/loaded:1"}
        kube.apply(*(pod(f"loaded-{n}", "true", restartPolicy="Never", container=this, **on(n)) for n in (1, 2, 3)))
        for number in (1, 2, 3):
            kube.wait("jsonpath={.status.phase}=Succeeded", f"pod/loaded-{number}")


def kubelet() -> None:
    kube = Kube("admin", PLAIN)
    kube.delete("pod/unobserved")
    kube.apply(pod("unobserved", COUNT, **on(2), **FAITHFUL))
    kube.wait("condition=Ready", "pod/unobserved")
    before = life(kube, "unobserved")
    cluster("node", "stop-kubelet", "2")
    until("node2 is not ready", lambda: not is_ready(kube, "node2"))
    cluster("node", "start-kubelet", "2")
    until("node2 is ready", lambda: is_ready(kube, "node2"))
    lives_on(kube, "unobserved", before)


def apiserver() -> None:
    kube, alice = Kube(), Kube("alice")
    kube.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"key": "value"}})
    before = event_names(kube)
    assert before, "there are no events"
    cluster("apiserver", "stop")
    try:
        alice("get", "pods", "--request-timeout=5s")
    except RuntimeError:
        pass
    else:
        raise AssertionError("the API server answers although it was stopped")
    cluster("apiserver", "start")
    assert alice.get("configmap", "kept")["data"] == {"key": "value"}
    assert before <= event_names(kube), "events are lost"
    kube.delete("configmap/kept")
    # Not only the API server is back, the others have found it too.
    kube.delete("pod/after")
    kube.apply(pod("after", "true", restartPolicy="Never"))
    kube.wait("jsonpath={.status.phase}=Succeeded", "pod/after")


def event_names(kube: Kube) -> set[str]:
    return {event["metadata"]["name"] for event in kube.get("events", "--all-namespaces")["items"]}


def is_true(thing: dict, condition: str) -> bool:
    return any(c["type"] == condition and c["status"] == "True" for c in thing["status"].get("conditions", []))


def is_ready(kube: Kube, node: str) -> bool:
    return is_true(kube.get("node", node), "Ready")


def life(kube: Kube, name: str) -> tuple[str, str]:
    """By which a container is known from one that took its place."""
    status = kube.get("pod", name)["status"]["containerStatuses"][0]
    return status["containerID"], status["restartCount"]


def lives_on(kube: Kube, name: str, before: tuple[str, str]) -> None:
    """It is the same container, it is ready, and it counts on from where it was."""
    kube.wait("condition=Ready", f"pod/{name}")
    assert life(kube, name) == before, f"{name} was {before} and is {life(kube, name)}"
    counted = lambda: int(kube("logs", name, "--tail=1"))  # noqa: E731
    first = until(f"{name} can be asked", counted)
    until(f"{name} counts on", lambda: counted() > first)
