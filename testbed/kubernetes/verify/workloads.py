"""Jobs, Services and pods, as alice has them, who has nothing but her namespace."""

import functools
import urllib.request

from check import Check
from kube import Kube, until

from .objects import deployment, indexed_job, on, pod, service

# Each says who it is, asks all three who they are, and stays until it is told to end.
ASK_AROUND = """
mkdir /tmp/web; echo "I am $JOB_COMPLETION_INDEX" > /tmp/web/index.html; httpd -p 8000 -h /tmp/web
for other in 0 1 2; do
    until wget -q -O - http://peers-$other.peers:8000/ 2>/dev/null; do sleep 0.2; done
done
until [ -e /tmp/end ]; do sleep 0.2; done
"""
SERVE = "echo from $(hostname) > /tmp/index.html; exec httpd -f -p 8000 -h /tmp"
NODE_PORT = 30080
WEB_PORT = {"port": 80, "targetPort": 8000, "nodePort": NODE_PORT}
NODE = "10.200.0.13"


def checks() -> list[Check]:
    cases = Workloads()
    proofs = {
        "an Indexed Job runs on three nodes, and its pods know each other by name": cases.job,
        "a program can be run in a pod": cases.execute,
        "a service answers by name, at its address and at a port of a node": cases.service,
        "a port of a pod can be forwarded": cases.port_forward,
        "events tell what happened to a pod": cases.events,
    }
    return [Check(name, prove) for name, prove in proofs.items()]


class Workloads:
    @functools.cached_property
    def kube(self) -> Kube:
        """With everything made at once, when the first is asked for."""
        kube = Kube("alice")
        kube.delete("job/peers", "service/peers", "deployment/web", "service/web", "pod/shell")
        kube.apply(
            service("peers", {"job-name": "peers"}, clusterIP="None", publishNotReadyAddresses=True),
            indexed_job("peers", 3, ASK_AROUND),
            deployment("web", 2, SERVE),
            service("web", {"app": "web"}, type="NodePort", ports=[WEB_PORT]),
            pod("shell", "sleep 3600", **on(2)),
        )
        return kube

    def job(self) -> None:
        expected = ["I am 0", "I am 1", "I am 2"]
        until("the Job has three pods", lambda: len(self.kube.pods("job-name=peers")) == 3)
        names = [pod["metadata"]["name"] for pod in self.kube.pods("job-name=peers")]
        for name in names:
            until(f"{name} has heard from all", functools.partial(self.has_said, name, expected))
        places = sorted(pod["spec"]["nodeName"] for pod in self.kube.pods("job-name=peers"))
        assert places == ["node1", "node2", "node3"], f"the pods are on {places}"
        for name in names:
            self.kube("exec", name, "--", "touch", "/tmp/end")
        self.kube.wait("condition=complete", "job/peers")

    def has_said(self, name: str, lines: list[str]) -> bool:
        return self.kube("logs", name).splitlines() == lines

    def execute(self) -> None:
        self.kube.wait("condition=Ready", "pod/shell")
        assert self.kube("exec", "shell", "--", "hostname").strip() == "shell"

    def service(self) -> None:
        self.kube.wait("condition=Available", "deployment/web")
        self.kube.wait("condition=Ready", "pod/shell")
        address = self.kube.get("service", "web")["spec"]["clusterIP"]
        ask = ["exec", "shell", "--", "wget", "-q", "-O", "-", "http://web/"]
        until("a pod reaches it by name", lambda: is_web(self.kube(*ask)))
        until("the machine reaches it", lambda: is_web(fetch(f"{address}:80")))
        until("a node's port leads to it", lambda: is_web(fetch(f"{NODE}:{NODE_PORT}")))

    def port_forward(self) -> None:
        self.kube.wait("condition=Available", "deployment/web")
        forward = self.kube.start("port-forward", "deployment/web", ":8000")
        try:
            # It says `Forwarding from 127.0.0.1:PORT -> 8000`.
            address = forward.stdout.readline().split()[2]
            assert is_web(fetch(address))
        finally:
            forward.kill()
            forward.wait()

    def events(self) -> None:
        about_shell = "--field-selector=involvedObject.name=shell"
        reasons = lambda: {event["reason"] for event in self.kube.get("events", about_shell)["items"]}  # noqa: E731
        until("all is told", lambda: {"Scheduled", "Created", "Started"} <= reasons())


def fetch(address: str) -> str:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        return direct.open(f"http://{address}/", timeout=10).read().decode()
    except OSError as problem:
        raise RuntimeError(f"{address}: {problem}") from problem


def is_web(answer: str) -> bool:
    return answer.startswith("from web-")
