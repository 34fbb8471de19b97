"""Runs on the cluster, and the same runs on this machine to hold them against."""

import contextlib
import functools
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from kube import STRICT, Kube, cluster, until

IMAGE = "localhost/trainyard:testbed"
ROOT = pathlib.Path(__file__).resolve().parents[3]


class Yard:
    """The binary, its image on every node, and a folder for runs of this machine."""

    def __init__(self, binary: pathlib.Path):
        self.binary = binary
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    @functools.cached_property
    def image(self) -> str:
        archive = self.folder / "image.tar"
        make = ["cargo", "xtask", "image", "--tag", IMAGE, "--out", str(archive), "--bin", str(self.binary)]
        subprocess.run(make, cwd=ROOT, check=True, capture_output=True)
        cluster("load", str(archive))
        return IMAGE

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(f"name: {name}\n{text}")
        return path

    def environment(self, user: str = "admin") -> dict[str, str]:
        config = next(word for word in Kube(user).begin if word.startswith("--kubeconfig="))
        own = {"TRAINYARD_RUNS": str(self.folder / "runs"), "TRAINYARD_OFFLINE": "1"}
        return os.environ | own | {"KUBECONFIG": config.partition("=")[2]}

    def ask(self, *arguments: str | pathlib.Path, user: str = "admin", code: int | None = 0) -> str:
        """What the binary prints, standard error after it, where it ends with this code."""
        command = [self.binary, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(user), capture_output=True, text=True)
        told = done.stdout + done.stderr
        assert code in (None, done.returncode), f"trainyard {arguments[0]} ended with {done.returncode}: {told[-1500:]}"
        return told

    @functools.cache
    def expected(self, file: pathlib.Path) -> str:
        """The weights' hash of the same file on this machine."""
        self.ask("run", file, "--no-serve")
        return json.loads(self.ask("report", file.stem, "--json"))["weights_sha256"]


class Run:
    """A run on the cluster. Used in a `with`, nothing of it is left at the end."""

    def __init__(self, yard: Yard, file: pathlib.Path, *flags: str, user: str = "admin", namespace: str = STRICT):
        self.yard, self.file, self.user = yard, file, user
        self.place = ["--on", "kubernetes", "--namespace", namespace]
        self.kube = Kube("admin", namespace)
        self.flags = [*flags] if "--image" in flags else ["--image", yard.image, *flags]

    def __enter__(self) -> "Run":
        self.begin()
        return self

    def begin(self) -> None:
        """Starts the client, for the first time or again."""
        self.log = open(self.yard.folder / f"{self.file.stem}.log", "w+")
        command = [self.yard.binary, "run", self.file, *self.place, *self.flags, "--json"]
        # Where there is no volume, what was made is brought here.
        place = {"cwd": self.yard.folder, "env": self.yard.environment(self.user)}
        self.client = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, **place)

    def leave(self) -> None:
        """Ends the client. The run is the cluster's."""
        self.client.kill()
        self.client.wait()
        self.log.close()

    def __exit__(self, *_: object) -> None:
        self.leave()
        self.kube.delete("job,pvc,pod", f"--selector=trainyard/name={self.file.stem}")
        cluster("volumes")

    @property
    def name(self) -> str:
        return f"{self.file.stem}-1"

    def ask(self, verb: str, *arguments: str, code: int = 0) -> str:
        return self.yard.ask(verb, self.name, *arguments, *self.place, user=self.user, code=code)

    def why(self) -> str:
        """What `why` says, whether it can be told or not: a driver may begin or end while it is asked."""
        return self.yard.ask("why", self.name, *self.place, user=self.user, code=None)

    def told(self) -> str:
        """What the client has printed."""
        return pathlib.Path(self.log.name).read_text()

    def events(self, kind: str = "") -> list[dict]:
        lines = [json.loads(line) for line in self.told().splitlines() if line.startswith('{"v"')]
        return [event for event in lines if kind in ("", event["event"])]

    def step(self) -> int:
        return max((event["step"] for event in self.events("progress")), default=0)

    def until_step(self, step: int) -> None:
        until(f"step {step} is reached: {self.told()[-800:]}", lambda: self.step() >= step or self.ended())
        assert not self.ended(), f"it ended too early: {self.told()[-800:]}"

    def until_more(self, steps: int = 200) -> None:
        """It goes on."""
        self.until_step(self.step() + steps)

    def until_all(self, processes: int = 3, after: int = 0) -> dict:
        """A group of so many was formed after a certain event."""

        # Others may have followed it since.
        def formed() -> dict | None:
            groups = [event for event in self.events("formed") if event["seq"] > after]
            found = next((group for group in groups if len(group["processes"]) == processes), None)
            assert found or not self.ended(), f"it ended before: {self.told()[-800:]}"
            return found

        return until(f"a group of {processes}: {self.told()[-800:]}", formed)

    def newest(self) -> int:
        return max((event["seq"] for event in self.events()), default=0)

    def ended(self) -> bool:
        return self.client.poll() is not None

    def finish(self, code: int = 0) -> None:
        self.client.wait(timeout=600)
        assert self.client.returncode == code, f"ended with {self.client.returncode}: {self.told()[-1500:]}"

    def weights(self) -> str:
        return self.events("published")[-1]["weights_sha256"]

    def pods(self, part: str) -> list[dict]:
        """The pods of a part that run, by their places."""
        pods = self.kube.pods(f"trainyard/run={self.name},app.kubernetes.io/component={part}")
        running = [pod for pod in pods if pod["status"]["phase"] == "Running" and lasts(pod)]
        return sorted(running, key=lambda pod: pod["metadata"]["name"])


def lasts(pod: dict) -> bool:
    return "deletionTimestamp" not in pod["metadata"]


def node(pod: dict) -> str:
    return pod["spec"]["nodeName"]


def uid(pod: dict) -> str:
    return pod["metadata"]["uid"]


def kill(pod: dict) -> None:
    """`kill -9` for what runs in a pod's container."""
    send(pod, signal.SIGKILL)


def send(pod: dict, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        for number in processes(pod):
            os.kill(number, what)


def processes(pod: dict) -> list[int]:
    """What runs in a pod's container. Nodes' processes are this machine's too."""
    mark, found = uid(pod), []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark in (process / "cgroup").read_text():
                if "trainyard" in (process / "cmdline").read_text():
                    found.append(int(process.name))
        except OSError:
            pass  # It ended while we looked.
    return found

