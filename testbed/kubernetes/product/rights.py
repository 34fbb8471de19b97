"""The driver's rights: what each is for, and what is said where it is missing. All runs go on at once, for
most of them only wait."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from check import Check
from kube import STRICT, Kube, until

from .yard import Run, Yard, kill, send, uid

# Held back, so that there is time for everything however fast the machine is.
FILE = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 2, strategy: all_reduce, epochs: %(epochs)d, batch: 20, threads: 1 }
on:
  kubernetes:
    storage: none
    workers: { limits: { cpu: 100m%(limit)s }%(nodes)s }
"""
SHORT = {"epochs": 2, "limit": "", "nodes": ""}
LONG = SHORT | {"epochs": 5000}
# The cluster does not make their pods, for a reason that is told in events.
REFUSED = SHORT | {"limit": ", example.com/rare: 1"}
NOWHERE = SHORT | {"nodes": ", node_selector: [ {disktype: worker-1}, {disktype: nowhere} ]"}

Right = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """A run that lacks rights, and what it is like."""

    name: str
    lacks: list[Right]
    told: Callable[[Run], None]
    file: dict[str, object]


CASES = [
    Case("whole", [], lambda run: whole(run), LONG),
    Case("no-list-jobs", [("jobs", "list")], lambda run: fails(run, 'cannot list resource "jobs"'), SHORT),
    Case("no-list-pods", [("pods", "list")], lambda run: fails(run, 'cannot list resource "pods"'), SHORT),
    Case("no-jobs", [("jobs", "create")], lambda run: waits(run, 'cannot create resource "jobs"'), SHORT),
    Case("no-services", [("services", "create")], lambda run: waits(run, 'cannot create resource "services"'), SHORT),
    Case("no-hands", [("jobs", "patch"), ("pods", "delete"), ("events", "create")], lambda run: no_hands(run), LONG),
    Case("no-eyes", [("pods", "watch")], lambda run: no_eyes(run), SHORT),
    Case("no-end", [("pods/log", "get"), ("jobs", "delete")], lambda run: no_end(run), NOWHERE),
    Case("rare", [], lambda run: rare(run), REFUSED),
    Case("no-list-events", [("events", "list")], lambda run: no_reason(run, "list"), REFUSED),
    Case("no-watch-events", [("events", "watch")], lambda run: no_reason(run, "watch"), REFUSED),
]


def checks(yard: Yard) -> list[Check]:
    return [Check("every right of the driver's Role is needed, and named where it is missing", lambda: needed(yard))]


def needed(yard: Yard) -> None:
    kube = Kube()
    role = rendered(yard, kube)
    rights = [(resource, verb) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]]
    lacking = [right for case in CASES for right in case.lacks]
    assert sorted(rights) == sorted(lacking), f"the Role has {sorted(rights)}, and proofs are of {sorted(lacking)}"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "rare"}}
    kube.apply({**quota, "spec": {"hard": {"requests.example.com/rare": "0"}}})
    try:
        with started(yard, kube, role) as runs:
            made = kube.get("role/whole-1")["rules"]
            assert made == role["rules"], f"the Role of a run is {made}"
            for case in CASES:
                case.told(runs[case.name])
    finally:
        kube.delete("resourcequota/rare")


@contextlib.contextmanager
def started(yard: Yard, kube: Kube, role: dict) -> Iterator[dict[str, Run]]:
    """All cases' runs; nothing of them is left."""
    runs = {}
    try:
        for case in CASES:
            if case.lacks:
                grant(kube, role, case)
            account = f"    service_account: {case.name}\n" if case.lacks else ""
            runs[case.name] = Run(yard, yard.file(case.name, FILE % case.file + account))
            runs[case.name].begin()
        # A run that has a Role of its own has it once its driver's pod is made.
        until("it has begun", lambda: runs["whole"].pods("driver"))
        yield runs
    finally:
        for run in runs.values():
            run.leave()
        names = ",".join(case.name for case in CASES)
        # Workers whose driver went first would wait for another.
        kube.delete("job,pod", "--grace-period=1", f"--selector=trainyard/name in ({names})")
        kube.delete("rolebinding,role,serviceaccount", "--selector=testbed=rights")


def rendered(yard: Yard, kube: Kube) -> dict:
    text = yard.ask("render", yard.file("role", FILE % SHORT), "--image", yard.image, "--namespace", STRICT)
    role = next(part for part in text.split("---\n") if "kind: Role\n" in part)
    return json.loads(kube("create", "--dry-run=client", "--output=json", "--filename=-", given=role))


def grant(kube: Kube, role: dict, case: Case) -> None:
    """An account that may do all but what the case lacks."""
    rules = []
    for rule in role["rules"]:
        verbs = [verb for verb in rule["verbs"] if (rule["resources"][0], verb) not in case.lacks]
        rules += [{**rule, "verbs": verbs}] if verbs else []
    metadata = {"name": case.name, "labels": {"testbed": "rights"}}
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": case.name, "namespace": STRICT}
    reference = {"apiGroup": group, "kind": "Role", "name": case.name}
    kube.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": rules},
        {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": metadata, "roleRef": reference, "subjects": [subject]},
    )


def whole(run: Run) -> None:
    """With all rights: one that does not answer is deleted and replaced, and the Job tells of it."""
    pod, before = frozen(run)
    until("its pod is gone", lambda: uid(pod) not in uids(run))
    run.until_all(2, before)
    assert {"RunStarted", "ProcessLost"} <= notices(run), notices(run)


def fails(run: Run, words: str) -> None:
    """The driver cannot begin, and says why; so does the cluster when its driver is gone."""
    until(f"it says {words}", lambda: words in run.told())
    until(f"`why` says {words}", lambda: words in run.why())


def waits(run: Run, words: str) -> None:
    """No worker comes, and `why` says why."""
    until(f"it says {words}", lambda: any(words in event["reason"] for event in run.events("delayed")))
    assert words in run.why(), run.why()
    assert not run.events("formed") and not run.pods("worker")


def no_hands(run: Run) -> None:
    pod, _ = frozen(run)
    patch = 'cannot patch resource "jobs"'
    until(f"it says {patch}", lambda: any(patch in event["reason"] for event in run.events("delayed")))
    logged(run, "a pod that does not answer is not deleted", 'cannot delete resource "pods"')
    logged(run, "what happens is not said on the run's Job", 'cannot create resource "events"')
    assert uid(pod) in uids(run) and len(uids(run)) == 2, "it was deleted or replaced"
    assert not notices(run), notices(run)
    kill(pod)


def no_eyes(run: Run) -> None:
    run.finish()
    logged(run, "how pods fare cannot be seen", 'cannot watch resource "pods"')
    assert "epoch 2" not in run.ask("logs", "train")


def no_end(run: Run) -> None:
    run.finish()
    logged(run, "what pods print is not kept", 'cannot get resource "pods/log"')
    logged(run, "is left behind", 'cannot delete resource "jobs"')
    assert "epoch 2" not in run.ask("logs", "train")
    run.kube.get(f"job/{run.name}-train-1")


def rare(run: Run) -> None:
    """With all rights: what keeps pods from being made is told."""
    until("it says why", lambda: any("exceeded quota: rare" in event["reason"] for event in run.events("delayed")))


def no_reason(run: Run, verb: str) -> None:
    logged(run, "what keeps pods from being made cannot be seen", f'cannot {verb} resource "events"')
    about = f"--field-selector=reason=FailedCreate,involvedObject.name={run.name}-train"
    until("the cluster says why", lambda: run.kube.get("events", about)["items"])
    assert not run.events("delayed"), run.events("delayed")


def frozen(run: Run) -> tuple[dict, int]:
    """A worker that is held up for good, and the newest event before that."""
    run.until_all(2)
    run.until_step(20)
    pod, before = run.pods("worker")[-1], run.newest()
    send(pod, signal.SIGSTOP)
    return pod, before


def logged(run: Run, lost: str, right: str) -> None:
    """The driver's log has a line that says both."""
    held = lambda line: lost in line and right in line  # noqa: E731
    until(f"it says {lost}: {right}", lambda: any(map(held, run.kube("logs", f"job/{run.name}").splitlines())))


def uids(run: Run) -> set[str]:
    pods = run.kube.pods(f"trainyard/run={run.name},app.kubernetes.io/component=worker")
    return {uid(pod) for pod in pods}


def notices(run: Run) -> set[str]:
    """What the driver said on its Job."""
    events = run.kube.get("events", f"--field-selector=involvedObject.name={run.name}")["items"]
    return {event["reason"] for event in events if event["source"].get("component") == "trainyard"}
