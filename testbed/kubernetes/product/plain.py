"""Runs to which nothing happens: the same weights as on one machine, and everything a user asks of them."""

import pathlib
import struct
import zipfile

from check import Check
from kube import STRICT, Kube, cluster, until

from .yard import Run, Yard, node

PINNED = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: all_reduce, epochs: 2, batch: 20, threads: 1 }
on:
  kubernetes:
    storage: { pvc: { size: 500Mi } }
    workers: { node_selector: [ {disktype: worker-1}, {disktype: worker-2}, {disktype: worker-3} ] }
"""
OWN_FILES = """\
data: DATA
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 2, strategy: { parameter_server: { servers: 2, mode: sync } }, epochs: 1, batch: 20, threads: 1 }
evaluate: false
on: { kubernetes: { storage: none } }
"""


def checks(yard: Yard) -> list[Check]:
    proofs = {
        "all_reduce on three pinned nodes has the weights of one machine": pinned,
        "a user sees everything of a run that is over, and removes it": afterwards,
        "files of the user's machine are sent, and servers on pods give the same weights": own_files,
        "what is rendered is what a cluster takes": rendered,
        "a named service account means no roles, and the rights it needs suffice": rights,
        "a run is stopped in order, and the same command goes on with it": stopped,
        "deleting the Job removes all but the volume": deleted,
    }
    return [Check(name, lambda prove=prove: prove(yard)) for name, prove in proofs.items()]


def pinned(yard: Yard) -> None:
    file = yard.file("pinned", PINNED)
    with Run(yard, file) as run:
        run.finish()
        assert run.weights() == yard.expected(file), run.weights()
        places = {}
        for pod in run.kube.pods(f"trainyard/run={run.name},app.kubernetes.io/component=worker"):
            places[pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]] = node(pod)
        assert places == {f"{run.name}-train-{n}": f"node{n + 1}" for n in range(3)}, places
        # A Job whose pod came when all was done is not waited for long: the driver deletes it.
        until("every Job that is left is complete", lambda: all(map(complete, jobs(run))))


def jobs(run: Run) -> list[dict]:
    return run.kube.get("jobs", f"--selector=trainyard/run={run.name}")["items"]


def complete(job: dict) -> bool:
    conditions = job.get("status", {}).get("conditions", [])
    return any(one["type"] == "Complete" and one["status"] == "True" for one in conditions)


def afterwards(yard: Yard) -> None:
    file = yard.file("after", PINNED)
    with Run(yard, file) as run:
        run.finish()
        assert "done" in run.ask("status")
        assert "after-1 is done" in run.ask("why"), run.ask("why")
        # The driver still writes logs down when the result is told. Who came when all was done has none.
        trained = {process for group in run.events("formed") for process in group["processes"]}
        until("logs are whole", lambda: whole(run.ask("logs"), trained))
        assert "epoch 2 ended" in run.ask("logs", "train")
        assert run.weights() in run.ask("report", "--json")
        to = yard.folder / "fetched"
        run.ask("get", "model", "--to", str(to))
        shown = yard.ask("inspect", to / "models" / "train" / "model.safetensors")
        assert run.weights()[:12] in shown, shown
        assert "after-1" in yard.ask("ls", *run.place)
        run.ask("rm")
        until("all of it is gone", lambda: not left(run, "jobs,pods,services,secrets,pvc"))


def whole(logs: str, processes: set[int]) -> str:
    """These logs, if those of all processes are there to the end of training. The error says whose are missing."""
    absent = {process for process in processes if f"==> train, process {process}\n" not in logs}
    if absent or "epoch 2 ended" not in logs:
        raise RuntimeError(f"of processes {processes} {absent or 'none'} have no logs: {logs[-1500:]}")
    return logs


def own_files(yard: Yard) -> None:
    data = numbers(yard.folder / "own.npz")
    file = yard.file("own", OWN_FILES.replace("DATA", data.name))
    with Run(yard, file) as run:
        run.finish()
        assert run.weights() == yard.expected(file), run.told()[-800:]
        # Without a volume the driver stays, for somebody to fetch what it made.
        run.ask("get", "report", "--to", str(yard.folder / "own-report"))
        assert (yard.folder / "own-report" / "report.json").exists()


def numbers(path: pathlib.Path) -> pathlib.Path:
    """A small dataset as numpy writes it: 600 samples of 8 numbers in 3 classes."""
    def array(kind: str, shape: tuple, values: bytes) -> bytes:
        head = str({"descr": kind, "fortran_order": False, "shape": shape})
        head = head + " " * (63 - (len(head) + 10) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values

    count, size = 600, 8
    x = [((i * 7 + j * 3) % 11) / 11 + (i % 3) * 0.3 for i in range(count) for j in range(size)]
    y = [i % 3 for i in range(count)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", array("<f4", (count, size), struct.pack(f"<{count * size}f", *x)))
        archive.writestr("y.npy", array("<i8", (count,), struct.pack(f"<{count}q", *y)))
    return path


def rendered(yard: Yard) -> None:
    text = yard.ask("render", yard.file("shown", PINNED), "--image", yard.image, "--namespace", STRICT)
    Kube()("apply", "--dry-run=server", "--validate=strict", "--filename=-", given=text)


def rights(yard: Yard) -> None:
    kube = Kube()
    file = yard.file("named", PINNED + "    service_account: granted\n")
    text = yard.ask("render", yard.file("roles", PINNED), "--image", yard.image, "--namespace", STRICT)
    role = next(part for part in text.split("---\n") if "kind: Role\n" in part)
    kube("apply", "--filename=-", given=role)
    kube.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "granted"}})
    bind = ["rolebinding", "granted", "--role=roles-1", f"--serviceaccount={STRICT}:granted"]
    kube.delete("rolebinding/granted")
    kube("create", *bind)
    try:
        with Run(yard, file, user="alice") as run:
            run.finish()
            assert not left(run, "roles,rolebindings,serviceaccounts")
            assert run.weights() == yard.expected(file)
    finally:
        kube.delete("rolebinding/granted", "role/roles-1", "serviceaccount/granted")


def stopped(yard: Yard) -> None:
    # Held back, so that there is time to stop it however fast the machine is.
    slow = PINNED.replace("workers: { node", "workers: { limits: { cpu: 100m }, node")
    file = yard.file("halted", slow.replace("epochs: 2", "epochs: 40"))
    with Run(yard, file) as run:
        run.until_step(300)
        told = run.ask("rm", code=1)
        assert "halted-1 goes on" in told and "--force" in told, told
        run.ask("stop")
        run.client.wait(timeout=120)
        assert run.events("run_stopped") and run.events("task_stopped")[-1]["saved"], run.told()[-800:]
        run.begin()
        run.finish()
        assert "goes on where it was left" in run.told(), run.told()[:300]
        assert run.events("resumed") and run.weights() == yard.expected(file)


def deleted(yard: Yard) -> None:
    file = yard.file("gone", PINNED.replace("epochs: 2", "epochs: 2000"))
    with Run(yard, file) as run:
        run.until_step(100)
        run.kube.delete(f"job/{run.name}")
        kinds = "jobs,pods,services,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies"
        until("all of it is gone", lambda: not left(run, kinds))
        assert left(run, "pvc") == [run.name]
        cluster("volumes")


def left(run: Run, kinds: str) -> list[str]:
    found = run.kube.get(kinds, f"--selector=trainyard/run={run.name}")["items"]
    return [one["metadata"]["name"] for one in found]
