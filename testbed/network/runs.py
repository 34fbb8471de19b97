"""Runs over hosts: a driver, workers that were started by hand, and what the events tell of them."""

import json
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable

from hosts import Host, Network

# How long anything may take. Nothing is asserted of seconds: this only ends what hangs.
PATIENCE = 300.0

STRATEGIES = {
    "all_reduce": "all_reduce",
    "average": "{ average: { sync_every: 40 } }",
    "parameter_server": "{ parameter_server: { servers: 1, mode: sync, accuracy_every: 0 } }",
}

RUN_FILE = """\
name: {name}
data: {{ from: mnist-sample, validation: 500 }}
model: {{ name: mnist-mlp, hidden_units: 32 }}
train: {{ workers: 3, strategy: {strategy}, epochs: {epochs}, batch: 20, threads: 1, checkpoint: {{ every: 300ms }} }}
"""


class Yard:
    """A folder for runs, and the binary that makes them."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path):
        self.binary, self.folder = binary, folder
        self.runs, self.number = folder / "runs", 0
        self.environment = os.environ | {
            "TRAINYARD_OFFLINE": "1",
            "TRAINYARD_CACHE": str(folder / "cache"),
            "TRAINYARD_RUNS": str(self.runs),
        }
        self.hashes: dict[tuple[str, int], str] = {}

    def file(self, name: str, strategy: str, epochs: int) -> pathlib.Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(RUN_FILE.format(name=name, strategy=STRATEGIES[strategy], epochs=epochs))
        return path

    def ask(self, *arguments: str | pathlib.Path) -> str:
        """What the binary prints, run to success on this machine."""
        command = [self.binary, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"trainyard {arguments[0]} exited {done.returncode}: {done.stderr.strip()[-1000:]}")
        return done.stdout

    def expected(self, strategy: str, epochs: int) -> str:
        """The weights' hash of a run of one machine that nothing happens to."""
        if (strategy, epochs) not in self.hashes:
            name = f"undisturbed-{strategy.replace('_', '-')}-{epochs}"
            self.ask("run", self.file(name, strategy, epochs))
            self.hashes[strategy, epochs] = json.loads(self.ask("report", name, "--json"))["weights_sha256"]
        return self.hashes[strategy, epochs]


class TooEarly(AssertionError):
    """A run ended before something could happen to it."""


class Worker:
    """A worker that was started by hand on a host."""

    def __init__(self, host: Host, process: subprocess.Popen, log: pathlib.Path):
        self.host, self.process, self.log = host, process, log

    @property
    def pid(self) -> int:
        return self.process.pid


class Run:
    """One run. Used in a `with`, all that was started for it ends with it."""

    def __init__(self, yard: Yard, network: Network, strategy: str, epochs: int):
        yard.number += 1
        self.yard, self.network, self.strategy, self.epochs = yard, network, strategy, epochs
        self.name = f"run{yard.number}"
        self.file = yard.file(self.name, strategy, epochs)
        self.folder = yard.runs / f"{self.name}-1"
        self.driver: subprocess.Popen | None = None
        self.workers: list[Worker] = []
        self.secrets: set[str] = set()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_) -> None:
        for process in [self.driver, *(worker.process for worker in self.workers)]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        # Those that the driver started have groups of their own.
        for event in self.events("task_started"):
            if event.get("ticks") is not None:
                end_if_ours(event["pid"], self.folder)

    def start(self, host: Host, log: str, *arguments: str | pathlib.Path) -> tuple[subprocess.Popen, pathlib.Path]:
        path = self.yard.folder / f"{self.name}-{log}.log"
        with path.open("a") as out:
            command = host.command(self.yard.binary, *arguments)
            folder, environment = self.yard.folder, self.yard.environment
            return subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out), path

    def drive(self) -> None:
        """Starts the driver, or another one."""
        host = self.network["driver"]
        listen = ["--listen", f"{host.address}:0", "--processes", "0"]
        self.driver, _ = self.start(host, "driver", "run", self.file, *listen)

    def kill_driver(self) -> None:
        self.driver.kill()
        self.driver.wait()

    def join(self, host: str) -> Worker:
        """Starts a worker on a host, with a copy of the run's `join.json`."""
        original = self.folder / "join.json"
        self.until("the driver listens", original.exists)
        copy = self.yard.folder / f"{self.name}-{host}-{len(self.workers)}.json"
        copy.write_bytes(original.read_bytes())
        self.secrets.add(json.loads(copy.read_text())["secret"])
        process, log = self.start(self.network[host], copy.stem, "worker", "--join", copy)
        self.workers.append(Worker(self.network[host], process, log))
        return self.workers[-1]

    def begin(self) -> list[Worker]:
        """A driver and a worker on each of three hosts, that train."""
        self.drive()
        self.until("the driver says that it waits for workers", lambda: bool(self.events("awaiting")))
        workers = [self.join(host) for host in ("one", "two", "three")]
        self.until_trained_by(workers)
        return workers

    def events(self, kind: str | None = None) -> list[dict]:
        path = self.folder / "events.jsonl"
        text = path.read_text() if path.exists() else ""
        events = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [event for event in events if kind in (None, event["event"])]

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"it never happened that {what}")
            if self.driver and self.driver.poll() is not None and not holds():
                raise TooEarly(f"the run ended before {what}: {self.said()[-600:]}")
            time.sleep(0.02)

    def number_of(self, worker: Worker) -> int | None:
        """The number that the driver gave a worker."""
        numbers = {event["process"] for event in self.events("task_started") if event["pid"] == worker.pid}
        assert len(numbers) <= 1, f"the worker on {worker.host.name} has had the numbers {numbers}"
        return numbers.pop() if numbers else None

    def group(self) -> set[int]:
        """The processes that have formed a group last and trained in it."""
        events = self.events()
        at = max((place for place, event in enumerate(events) if event["event"] == "formed"), default=None)
        if at is None or not any(event["event"] == "progress" for event in events[at:]):
            return set()
        return set(events[at]["processes"])

    def until_trained_by(self, workers: list[Worker]) -> None:
        who = " and ".join(worker.host.name for worker in workers)
        wanted = lambda: {self.number_of(worker) for worker in workers}  # noqa: E731
        self.until(f"the group is {who}", lambda: self.group() == wanted())

    def until_lost(self, worker: Worker) -> str:
        """Waits until the driver has given a worker up, and says why it did."""
        number = self.number_of(worker)
        found = lambda: [event for event in self.events("process_lost") if event["process"] == number]  # noqa: E731
        self.until(f"the worker on {worker.host.name} is given up", lambda: bool(found()))
        return found()[0]["reason"]

    def said(self) -> str:
        """What the drivers told the person at the terminal."""
        return (self.yard.folder / f"{self.name}-driver.log").read_text()

    def finish(self, *survivors: Worker) -> dict:
        """Waits for the end: the weights are those of an undisturbed run, and survivors were not restarted."""
        self.driver.wait(PATIENCE)
        assert self.driver.returncode == 0, f"the driver exited {self.driver.returncode}: {self.said()[-600:]}"
        report = json.loads(self.yard.ask("report", self.name, "--json"))
        assert report["state"] == "done", report["state"]
        expected = self.yard.expected(self.strategy, self.epochs)
        assert report["weights_sha256"] == expected, f"weights {report['weights_sha256']} instead of {expected}"
        for worker in survivors:
            worker.process.wait(PATIENCE)
            name, code = worker.host.name, worker.process.returncode
            assert code == 0, f"the worker on {name} exited {code}: {worker.log.read_text()[-600:]}"
            assert self.number_of(worker) is not None, f"the worker on {name} never took part"
        self.check_checkpoints()
        self.check_secrets()
        return report

    def check_checkpoints(self) -> None:
        """No checkpoint is read while somebody holds the state."""
        formed = {event["generation"]: event for event in self.events("formed")}
        for event in self.events("resumed"):
            group = formed[event["generation"]]
            assert "step" not in group, f"a checkpoint was read where the state was held: {group}"

    def check_secrets(self) -> None:
        """What must stay secret is in no log and no event, and is gone with the run."""
        for path in [*self.folder.rglob("*"), *self.yard.folder.glob(f"{self.name}-*.log")]:
            if path.is_file() and path.suffix in {".log", ".jsonl", ".json", ".yaml", ".key"}:
                text = path.read_text(errors="replace")
                assert not any(secret in text for secret in self.secrets), f"{path.name} holds the secret"
        left = [name for name in ("join.json", "driver.key") if (self.folder / name).exists()]
        assert not left, f"{left} are left when the run is over"


def end_if_ours(pid: int, run: pathlib.Path) -> None:
    """Ends a process of a run whose driver is gone. Another of the same number is left alone."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if str(run / "join.json").encode() in words:
            os.kill(pid, signal.SIGKILL)
    except (FileNotFoundError, ProcessLookupError):
        pass
