"""Claims of the default class become directories of one node."""

import functools

from check import Check
from kube import Kube, cluster, until

from .objects import claim, on, pod

LIST = "ls -A /data; echo that is all; sleep 3600"
WRITE = "echo kept > /data/file && ls -ln /data/file && sleep 3600"


def checks() -> list[Check]:
    cases = Volumes()
    proofs = {
        "a claim is bound where its pod is, and a pod that is not root can write there": cases.bound,
        "a pod on another node has no such volume, and waits": cases.elsewhere,
        "a volume without a claim can be emptied and claimed again": cases.again,
    }
    return [Check(name, prove) for name, prove in proofs.items()]


class Volumes:
    @functools.cached_property
    def kube(self) -> Kube:
        kube = Kube("alice")
        kube.delete("pod/writer", "pod/elsewhere", "pod/reader")
        kube.delete("pvc/data", "pvc/again")
        kube.apply(claim("data"), pod("writer", WRITE, **on(2), **mounting("data")))
        return kube

    def bound(self) -> None:
        self.kube.wait("condition=Ready", "pod/writer")
        assert self.volume().startswith("node2-"), self.volume()
        # Those of the pod's `fsGroup`.
        until("a file is written", lambda: " 1000     2000 " in self.kube("logs", "writer"))

    def volume(self) -> str:
        return self.kube.get("pvc", "data")["spec"]["volumeName"]

    def elsewhere(self) -> None:
        self.kube.wait("condition=Ready", "pod/writer")
        self.kube.apply(pod("elsewhere", WRITE, **on(3), **mounting("data")))
        told = "didn't match PersistentVolume's node affinity"
        until("it is told why the pod waits", lambda: told in self.why("elsewhere"))
        assert self.kube.get("pod", "elsewhere")["status"]["phase"] == "Pending"
        self.kube.delete("pod/elsewhere")

    def why(self, name: str) -> str:
        conditions = self.kube.get("pod", name)["status"].get("conditions", [])
        return " ".join(condition.get("message", "") for condition in conditions)

    def again(self) -> None:
        self.kube.wait("condition=Ready", "pod/writer")
        name, admin = self.volume(), Kube()
        self.kube.delete("pod/writer")
        self.kube.delete("pvc/data")
        admin.wait("jsonpath={.status.phase}=Released", f"pv/{name}")
        cluster("volumes")
        admin.wait("jsonpath={.status.phase}=Available", f"pv/{name}")
        self.kube.apply(claim("again", name), pod("reader", LIST, **mounting("again")))
        self.kube.wait("condition=Ready", "pod/reader")
        until("it is empty", lambda: self.kube("logs", "reader") == "that is all\n")
        self.kube.delete("pod/reader")
        self.kube.delete("pvc/again")
        cluster("volumes")


def mounting(claimed: str) -> dict:
    """A pod with a claim at /data."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claimed}}
    return {"volumes": [volume], "container": {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}}
