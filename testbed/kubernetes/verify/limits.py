"""Limits that are set for pods are kept by the kernel."""

import functools
import time

from check import Check
from kube import Kube, until

from .objects import pod

LIMITS = {"cpu": "200m", "memory": "125Mi"}
BURN = "while :; do :; done"
TOO_MUCH = "exec dd if=/dev/zero of=/dev/null bs=300M count=1"
# Much longer than the tenth of a second for which the kernel deals out time.
LOOK_SECONDS = 4
# Version 1 of control groups, or version 2.
USAGE = "cd /sys/fs/cgroup; cat cpuacct/cpuacct.usage cpu/cpu.stat 2>/dev/null || cat cpu.stat"


def checks() -> list[Check]:
    cases = Limits()
    proofs = {
        "with a limit of 200m, no more CPU": cases.cpu,
        "with a limit of 125Mi, no more memory": cases.memory,
    }
    return [Check(name, prove) for name, prove in proofs.items()]


class Limits:
    @functools.cached_property
    def kube(self) -> Kube:
        kube = Kube("alice")
        kube.delete("pod/burn", "pod/greedy")
        limited = {"resources": {"limits": LIMITS}}
        kube.apply(pod("burn", BURN, container=limited))
        kube.apply(pod("greedy", TOO_MUCH, restartPolicy="Never", container=limited))
        return kube

    def cpu(self) -> None:
        self.kube.wait("condition=Ready", "pod/burn")
        # Both looks lie within the time, so that a slow machine makes the share smaller, never larger.
        before, first = time.monotonic(), self.cpu_used()
        time.sleep(LOOK_SECONDS)
        last, after = self.cpu_used(), time.monotonic()
        self.kube.delete("pod/burn")
        share = (last["seconds"] - first["seconds"]) / (after - before)
        assert share < 0.23, f"{share:.3f} of a CPU is used"
        assert last["held back"] > first["held back"], "the kernel did not have to hold it back"

    def cpu_used(self) -> dict[str, float]:
        """Seconds of CPU that the pod has had, and how often it was held back."""
        lines = self.kube("exec", "burn", "--", "sh", "-c", USAGE).splitlines()
        told = dict(line.split() for line in lines if " " in line)
        seconds = int(told["usage_usec"]) / 1e6 if "usage_usec" in told else int(lines[0]) / 1e9
        return {"seconds": seconds, "held back": int(told["nr_throttled"])}

    def memory(self) -> None:
        ended = until("the greedy pod has ended", self.end_of_greedy)
        assert ended["reason"] == "OOMKilled", ended

    def end_of_greedy(self) -> dict | None:
        states = self.kube.get("pod", "greedy")["status"].get("containerStatuses", [])
        return states[0]["state"].get("terminated") if states else None
