"""Clusters that refuse something: the run goes on or says exactly why not."""

from check import Check
from kube import STRICT, Kube, until

from .yard import Run, Yard

SMALL = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: all_reduce, epochs: 2, batch: 20, threads: 1 }
on:
  kubernetes:
"""


def checks(yard: Yard) -> list[Check]:
    proofs = {
        "a pod that fits no node is named, and the others go on without it": unschedulable,
        "an image that nobody has is named": no_image,
        "a quota that is exceeded is named, and the others go on without": quota,
        "a worker that needs more than its limit is named": no_memory,
        "doctor says what is missing before anything is begun": examined,
    }
    return [Check(name, lambda prove=prove: prove(yard)) for name, prove in proofs.items()]


def unschedulable(yard: Yard) -> None:
    nodes = "[ {disktype: worker-1}, {disktype: worker-2}, {disktype: nowhere} ]"
    file = yard.file("nowhere", SMALL + f"    workers: {{ node_selector: {nodes} }}\n")
    with Run(yard, file) as run:
        run.finish()
        delayed = run.events("delayed")
        assert delayed and "no node fits" in delayed[0]["reason"], delayed
        assert run.weights() == yard.expected(file)


def no_image(yard: Yard) -> None:
    file = yard.file("pictureless", SMALL + "    storage: none\n")
    with Run(yard, file, "--image", "localhost/nobody:1") as run:
        until("it says so", lambda: "cannot get the image localhost/nobody:1" in run.told())
        assert "cannot get the image" in run.ask("why")
        told = run.ask("rm", code=1)
        assert "pictureless-1 goes on" in told and "--force" in told, told
        run.ask("rm", "--force")
        until("it is gone", lambda: run.name not in run.yard.ask("ls", *run.place))


def quota(yard: Yard) -> None:
    kube = Kube()
    others = [pod for pod in kube.get("pods")["items"] if pod["status"]["phase"] in ("Pending", "Running")]
    hard = {"spec": {"hard": {"pods": str(len(others) + 3)}}}
    kube.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, **hard})
    try:
        file = yard.file("few", SMALL + "    storage: none\n")
        with Run(yard, file) as run:
            run.finish()
            delayed = run.events("delayed")
            assert delayed and "exceeded quota: few" in delayed[0]["reason"], run.told()[-800:]
            assert run.weights() == yard.expected(file)
    finally:
        kube.delete("resourcequota/few", f"--namespace={STRICT}")


def no_memory(yard: Yard) -> None:
    file = yard.file("hungry", SMALL + "    storage: none\n    workers: { limits: { memory: 6Mi } }\n")
    with Run(yard, file) as run:
        run.finish(1)
        lost = run.events("process_lost") + run.events("run_failed")
        assert any("more than its limit of 6Mi" in event["reason"] for event in lost), run.told()[-800:]


def examined(yard: Yard) -> None:
    file = yard.file("examined", SMALL + "    storage: pvc\n")
    place = ["--on", "kubernetes", "--namespace", STRICT, "--image", yard.image]
    told = yard.ask("doctor", file, *place)
    assert "wrong" not in told and "kubernetes.default is 10." in told, told
    told = yard.ask("doctor", file, *place, user="alice", code=1)
    assert "create roles" in told and "on.kubernetes.service_account" in told, told
    told = yard.ask("doctor", file, *place[:-1], "localhost/nobody:1", code=1)
    assert "cannot get the image localhost/nobody:1" in told, told
