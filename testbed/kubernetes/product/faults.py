"""Faults in a run that trains: it goes on, survivors are not started again, and the weights are the same."""

import time

from check import Check
from kube import cluster, heal, until

from .yard import Run, Yard, kill, node, uid

# The driver is on the first node, so that the others can be lost; and so is its volume. Workers are held
# back, so that there is time for everything however fast the machine is.
LONG = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: all_reduce, epochs: 300, batch: 20, threads: 1 }
on:
  kubernetes:
    driver: { node_selector: { disktype: worker-1 } }
    workers: { limits: { cpu: 100m } }
"""
# The driver is wherever the cluster puts it, and bound to that node by its volume alone.
FREE = LONG.replace("    driver: { node_selector: { disktype: worker-1 } }\n", "").replace("epochs: 300", "epochs: 60")


def checks(yard: Yard) -> list[Check]:
    story = Story(yard)
    proofs = {
        "a pod that is deleted hands over what it holds: no step is lost": story.deleted,
        "a worker that is killed is replaced, and survivors are not started again": story.killed,
        "the driver's pod is deleted, and the next driver goes on with the same workers": story.driver,
        "the API server is started again, and nobody minds": story.apiserver,
        "a node's kubelet stops, and its pod works on": story.kubelet,
        "a node is cut off: its ranks run on survivors, and its pod is replaced": story.cut,
        "a node is killed: its ranks run on survivors, and its pod is replaced": story.lost,
        "a node is drained: no step is lost, and survivors are not started again": story.drained,
        "after all of it the weights are those of one machine": story.ended,
        "the driver's node is killed, on which its volume lies: it is waited for": lambda: beheaded(yard),
    }
    return [Check(name, prove) for name, prove in proofs.items()]


class Story:
    """One run, to which one thing happens after another."""

    def __init__(self, yard: Yard):
        self.yard, self.begun = yard, None

    @property
    def run(self) -> Run:
        if self.begun is None:
            heal()
            self.file = self.yard.file("faults", LONG)
            self.expected = self.yard.expected(self.file)
            self.begun = Run(self.yard, self.file).__enter__()
            self.begun.until_all()
        self.begun.until_more()
        return self.begun

    def workers(self) -> list[dict]:
        """All three, once they are there."""
        return until("three workers run", lambda: self.three())

    def three(self) -> list[dict] | None:
        pods = self.begun.pods("worker")
        return pods if len(pods) == 3 else None

    def deleted(self) -> None:
        run, pod = self.run, self.workers()[0]
        before = run.newest()
        run.kube.delete(f"pod/{pod['metadata']['name']}", "--wait=false")
        run.until_all(2, before)
        until("it left in order", lambda: [it for it in run.events("process_left") if it["seq"] > before])
        self.back(before, "a pod was deleted")

    def killed(self) -> None:
        run, pods = self.run, self.workers()
        before = run.newest()
        kill(pods[0])
        self.back(before, "a worker was killed")
        stayed = {uid(pod) for pod in pods[1:]}
        assert stayed <= {uid(pod) for pod in self.workers()}, "survivors were started again"

    def driver(self) -> None:
        run, pods = self.run, self.workers()
        before = run.newest()
        run.kube.delete("pod", f"--selector=trainyard/run={run.name},app.kubernetes.io/component=driver", "--wait=false")
        self.back(before, "the driver's pod was deleted")
        assert [event for event in run.events("run_started") if event["seq"] > before]
        same = {uid(pod) for pod in pods}
        assert same == {uid(pod) for pod in self.workers()}, "workers were started again"

    def apiserver(self) -> None:
        run = self.run
        cluster("apiserver", "restart")
        run.until_more(500)

    def kubelet(self) -> None:
        run, before = self.run, self.run.newest()
        cluster("node", "stop-kubelet", "2")
        run.until_more(500)
        cluster("node", "start-kubelet", "2")
        lost = [event for event in run.events("process_lost") if event["seq"] > before]
        assert not lost, lost

    def cut(self) -> None:
        self.without("cut", "mend")

    def lost(self) -> None:
        self.without("kill", "start")

    def away(self) -> str:
        """A node with a worker that is not the driver's. Where the scheduler puts all of them beside the driver, one is moved."""
        run = self.run
        if all(node(pod) == "node1" for pod in self.workers()):
            before = run.newest()
            run.kube("cordon", "node1")
            try:
                run.kube.delete(f"pod/{self.workers()[0]['metadata']['name']}", "--wait=false")
                self.back(before, "a worker was moved")
            finally:
                run.kube("uncordon", "node1")
        return max(node(pod) for pod in self.workers())

    def without(self, end: str, begin: str) -> None:
        run, place = self.run, self.away()
        number = place.removeprefix("node")
        on_it = [pod for pod in self.workers() if node(pod) == place]
        before, since = run.newest(), time.monotonic()
        cluster("node", end, number)
        try:
            run.until_all(3 - len(on_it), before)
            print(f"        node{number} {end}: survivors went on after {time.monotonic() - since:.1f} s")
            self.back(before, f"node{number} {end}")
        finally:
            cluster("node", begin, number)

    def drained(self) -> None:
        run, place, pods = self.run, self.away(), self.workers()
        stayed = [pod for pod in pods if node(pod) != place]
        before, step, trained = run.newest(), run.step(), run.events("formed")[-1]["processes"]
        since = lambda kind: [event for event in run.events(kind) if event["seq"] > before]  # noqa: E731
        try:
            run.kube("drain", place, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=120s")
            until("they left in order", lambda: len(since("process_left")) == len(pods) - len(stayed))
            self.back(before, f"{place} was drained")
            # A pod that was to replace one may have been sent to that node too, and be gone before it began.
            lost = [event for event in since("process_lost") if event["process"] in trained]
            assert not lost and not since("resumed"), since("")
            back = [group for group in since("formed") if group.get("step", 0) < step]
            assert not back, f"they went back from step {step}: {back}"
            now = self.workers()
            assert {uid(pod) for pod in stayed} <= {uid(pod) for pod in now}, "survivors were started again"
            assert place not in {node(pod) for pod in now}
        finally:
            run.kube("uncordon", place)

    def back(self, before: int, what: str) -> None:
        """All three train again."""
        since = time.monotonic()
        self.begun.until_all(3, before)
        print(f"        {what}: three work again after {time.monotonic() - since:.1f} s")
        self.begun.until_more()

    def ended(self) -> None:
        try:
            self.run.finish()
            assert self.begun.weights() == self.expected, self.begun.weights()
        finally:
            self.begun.__exit__()
            heal()


def beheaded(yard: Yard) -> None:
    file = yard.file("beheaded", FREE)
    try:
        with Run(yard, file) as run:
            run.until_all()
            run.until_more()
            [driver] = run.pods("driver")
            before, place = run.newest(), node(driver)
            waits_for_its_volume(run, place)
            since = time.monotonic()
            run.until_all(3, before)
            print(f"        {place} start: three work again after {time.monotonic() - since:.1f} s")
            assert [event for event in run.events("run_started") if event["seq"] > before]
            run.finish()
            assert run.weights() == yard.expected(file), run.weights()
    finally:
        heal()


def waits_for_its_volume(run: Run, place: str) -> None:
    since = time.monotonic()
    cluster("node", "kill", place[-1])
    try:
        words = "its volume lies on a node that it cannot be on now"
        until(f"`why` says that {words}", lambda: words in run.why(), 180)
        print(f"        {place} kill: `why` names the volume after {time.monotonic() - since:.1f} s")
        told = run.why()
        assert f"was on node {place}, which is not heard of any more" in told, told
        until(f"the client says that {words}", lambda: words in run.told())
    finally:
        cluster("node", "start", place[-1])
