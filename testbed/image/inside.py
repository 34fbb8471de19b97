"""Proves that our binary works in the image: alone, with the least rights, and by name."""

import contextlib
import functools
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import container
from archive import ROOT, Archive
from check import Check, Skip
from container import Bundle

EXAMPLE = ROOT / "examples/01-mnist-sample.yaml"
SHORT = ["--set", "train.epochs=1"]
# Two processes that meet at an address.
SMALL = """\
name: small
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 2, strategy: all_reduce, epochs: 1, batch: 100, threads: 1 }
"""
ENDLESS = SMALL.replace("epochs: 1", "steps: 0")
HOSTS = "127.0.0.1 localhost\n127.0.0.7 yard.test\n"


class Inside:
    def __init__(self, image: Archive, binary: pathlib.Path, folder: pathlib.Path):
        self.image, self.binary, self.folder = image, binary, folder

    @functools.cached_property
    def bundle(self) -> Bundle:
        reason = container.why_not()
        if reason:
            raise Skip(reason)
        return Bundle(self.image, self.folder / "bundle")

    def version(self) -> None:
        told = self.bundle.run("--version").split()
        expected = self.image.config["config"]["Labels"]["org.opencontainers.image.version"]
        assert told == ["trainyard", expected], f"{told}, and the label says {expected}"

    def trains(self) -> None:
        """The README's example, and the same outside: the same bits."""
        run = ["run", "--json", "--no-serve", *SHORT]
        there = self.bundle.run(*run, "/run.yaml", mounts={"/run.yaml": EXAMPLE.read_text()})
        command = [self.binary, *run, EXAMPLE, "--out", self.folder / "outside"]
        here = subprocess.run(command, capture_output=True, text=True, timeout=container.PATIENCE, check=True).stdout
        assert weights(there) == weights(here), f"{weights(there)} inside, {weights(here)} outside"

    def rights(self) -> None:
        """Looked at from outside while it trains. As the first process of its namespace it must hear SIGTERM."""
        running = self.bundle.start("run", "--json", "/run.yaml", mounts={"/run.yaml": ENDLESS})
        try:
            for line in running.process.stdout:
                if json.loads(line)["event"] == "progress":
                    break
            first = pathlib.Path(f"/proc/{running.pid()}")
            status = dict(line.split(":", 1) for line in (first / "status").read_text().splitlines())
            root = next(line.split() for line in (first / "mountinfo").read_text().splitlines()
                        if line.split()[4] == "/")
            running.signal("TERM")
        finally:
            _, out, _ = running.wait()
        assert json.loads(out.splitlines()[-1])["event"] == "run_stopped", out[-500:]
        assert status["Uid"].split() == status["Gid"].split() == ["65532"] * 4, (status["Uid"], status["Gid"])
        held = {kind: status[kind].strip() for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
        assert set(held.values()) == {"0" * 16}, held
        assert status["NoNewPrivs"].strip() == "1" and "ro" in root[5].split(","), root

    def read_only(self) -> None:
        running = self.bundle.start("run", "/run.yaml", "--out", "/tmp/runs", mounts={"/run.yaml": SMALL})
        code, _, talk = running.wait()
        assert code and "Read-only file system" in talk, f"it exited {code}: {talk}"

    def named(self, name: str, **more) -> None:
        """The driver listens at a name, and its workers call it."""
        mounts = {"/run.yaml": SMALL, **more.pop("mounts", {})}
        weights(self.bundle.run("run", "--json", "/run.yaml", "--listen", f"{name}:0", mounts=mounts, **more))

    def unknown(self) -> None:
        """That the others pass would mean little if everything did."""
        mounts = {"/run.yaml": SMALL, "/etc/hosts": HOSTS}
        code, _, talk = self.bundle.start("run", "/run.yaml", "--listen", "nobody.test:0", mounts=mounts).wait()
        assert code and "lookup" in talk, f"it exited {code}: {talk}"

    def served(self) -> None:
        assert self.bundle
        with name_server("trainer.test", "127.0.0.9") as network:
            mounts = {"/etc/resolv.conf": "nameserver 127.0.0.1\n"}
            self.named("trainer.test", mounts=mounts, network=network)


def checks(image: Archive, binary: pathlib.Path, folder: pathlib.Path) -> list[Check]:
    inside = Inside(image, binary, folder)
    return [
        Check("runc: --version", inside.version),
        Check("runc: the first example trains to the same weights as outside", inside.trains),
        Check("runc: no root, no capability, a root that cannot be written, and SIGTERM ends it", inside.rights),
        Check("runc: what cannot be written is told", inside.read_only),
        Check("runc: localhost is resolved by the image's own hosts", lambda: inside.named("localhost")),
        Check("runc: a name is resolved by /etc/hosts",
              lambda: inside.named("yard.test", mounts={"/etc/hosts": HOSTS})),
        Check("runc: a name is resolved by a name server", inside.served),
        Check("runc: a name that nobody knows is told", inside.unknown),
    ]


def weights(output: str) -> str:
    """What a run came to, by its events."""
    events = [json.loads(line) for line in output.splitlines()]
    assert events[-1]["event"] == "run_done", events[-1]
    return next(event["weights_sha256"] for event in events if event["event"] == "published")


@contextlib.contextmanager
def name_server(name: str, address: str) -> Iterator[str]:
    """The network namespace of a server that knows a name."""
    program = pathlib.Path(__file__).with_name("names.py")
    command = ["unshare", "--net", sys.executable, program, name, address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "ready\n", "the name server does not start"
            yield f"/proc/{server.pid}/ns/net"
        finally:
            server.kill()
