"""A run that is disturbed all the time, and what its events tell of it."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

STRATEGIES = {
    "all_reduce": "all_reduce",
    "average": "{ average: { sync_every: 40 } }",
    "parameter_server": "{ parameter_server: { servers: 2, mode: sync, accuracy_every: 0 } }",
}
RUN_FILE = """\
name: {name}
data: {{ from: mnist-sample, validation: 500 }}
model: {{ name: mnist-mlp, hidden_units: 32 }}
train: {{ workers: 3, strategy: {strategy}, epochs: {epochs}, batch: 20, threads: 1, checkpoint: {{ every: 1s }} }}
"""
# Anything that takes longer hangs.
PATIENCE = 120
# How long a process is stopped.
STOPPED = 10
# The share of its time that a run may take when nothing happens to it; it is trained twice.
UNDISTURBED = 0.3


@dataclass
class Seen:
    """A fault, and the seconds from then until it was found, until a group worked again and until that was told; or
    the steps that were done again."""

    strategy: str
    fault: str
    times: dict[str, float] = field(default_factory=dict)


class Yard:
    """A folder for runs, and the binary that makes them."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path):
        self.binary, self.folder = binary, folder
        self.environment = os.environ | {
            "TRAINYARD_OFFLINE": "1",
            "TRAINYARD_CACHE": str(folder / "cache"),
            "TRAINYARD_RUNS": str(folder / "runs"),
        }

    def file(self, name: str, strategy: str, epochs: int) -> pathlib.Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(RUN_FILE.format(name=name, strategy=STRATEGIES[strategy], epochs=epochs))
        return path

    def start(self, *arguments, **options) -> subprocess.Popen:
        command = [self.binary, *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True, **options)

    def ask(self, *arguments) -> str:
        process = self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, problem = process.communicate()
        if process.returncode:
            sys.exit(f"trainyard {arguments[0]} exited {process.returncode}: {problem.strip()[-1000:]}")
        return out

    def report(self, name: str) -> dict:
        return json.loads(self.ask("report", name, "--json"))


class Run:
    """A run and its driver. Used in a `with`, no process outlives it."""

    def __init__(self, yard: Yard, strategy: str, epochs: int):
        self.yard, self.strategy = yard, strategy
        self.name = f"soak-{strategy.replace('_', '-')}"
        self.file = yard.file(self.name, strategy, epochs)
        self.folder = yard.folder / "runs" / f"{self.name}-1"
        self.driver: subprocess.Popen | None = None
        self.stopped: list[tuple[float, int]] = []

    def __enter__(self) -> "Run":
        self.drive()
        return self

    def __exit__(self, *_) -> None:
        if self.driver.poll() is None:
            self.driver.kill()
            self.driver.wait()
        for pid in self.living().values():
            self.signal(pid, signal.SIGKILL)

    def drive(self) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.driver = self.yard.start("run", self.file, **quiet)

    def over(self) -> bool:
        return any(event["event"] == "run_done" for event in self.events())

    def events(self) -> list[dict]:
        path = self.folder / "events.jsonl"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def living(self, serves: bool | None = None) -> dict[int, int]:
        """The processes that train, or serve, now: their numbers and what the system calls them."""
        living = {}
        for event in self.events():
            if event.get("task") != "train":
                continue
            if event["event"] == "task_started" and serves in (None, event.get("serves", False)):
                living[event["process"]] = event["pid"]
            elif event["event"] in ("process_lost", "process_left"):
                living.pop(event["process"], None)
            elif event["event"] in ("task_done", "task_stopped"):
                living.clear()
        return living

    def signal(self, pid: int, number: int) -> None:
        """Signals a process of this run, and no other that has its number since."""
        try:
            if str(self.folder / "join.json") in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, number)
        except (FileNotFoundError, ProcessLookupError):
            pass

    def wake(self, now: float) -> None:
        """Lets those go on that were stopped long enough, if they are still there."""
        for until, pid in self.stopped:
            if until <= now:
                self.signal(pid, signal.SIGCONT)
        self.stopped = [one for one in self.stopped if one[0] > now]

    def until(self, what: str, found: Callable[[list[dict]], dict | None], since: float) -> dict | None:
        """The first event after a moment of which something holds. None where the run is over before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.wake(time.time())
            events = self.events()
            event = found([event for event in events if event["ms"] >= since * 1000])
            if event is not None:
                return event
            if any(event["event"] == "run_done" for event in events):
                return None
            time.sleep(0.005)
        sys.exit(f"{self.name}: it never happened that {what}")

    def until_whole(self, since: float) -> bool:
        """Waits until three processes train, and told so. False where the run is over before."""
        def whole(events: list[dict]) -> dict | None:
            formed = [place for place, event in enumerate(events) if event["event"] == "formed"]
            if not formed or len(events[formed[-1]]["processes"]) < 3:
                return None
            return first("progress")(events[formed[-1]:])
        return self.until("three train", whole, since) is not None


def first(kind: str, **values) -> Callable[[list[dict]], dict | None]:
    """Finds the first event of a kind with some values."""
    def find(events: list[dict]) -> dict | None:
        fits = lambda event: event["event"] == kind and all(event.get(k) == v for k, v in values.items())  # noqa: E731
        return next(filter(fits, events), None)
    return find


def soak(yard: Yard, strategy: str, seconds: float, chance: random.Random) -> list[Seen]:
    """Trains twice for the same weights: once in peace, once not."""
    epochs = calibrate(yard, strategy, seconds * UNDISTURBED)
    name = f"peace-{strategy.replace('_', '-')}"
    yard.ask("run", yard.file(name, strategy, epochs))
    expected = yard.report(name)["weights_sha256"]
    seen = []
    with Run(yard, strategy, epochs) as run:
        since = 0.0
        while run.until_whole(since):
            time.sleep(chance.uniform(0, 0.3))
            since = time.time()
            one = disturb(run, chance.choice(faults(strategy)), chance, since)
            if one is None:
                break
            times = ", ".join(f"{what} {value:.2f}" for what, value in one.times.items())
            print(f"  {strategy}: {one.fault}: {times}", flush=True)
            seen.append(one)
        if run.driver.wait(PATIENCE):
            sys.exit(f"{run.name}: its driver exited {run.driver.returncode}")
    report = yard.report(run.name)
    if report["state"] != "done" or report["weights_sha256"] != expected:
        sys.exit(f"{run.name}: {report['state']} with weights {report['weights_sha256']} instead of {expected}")
    check_survivors(run)
    print(f"{strategy}: {len(seen)} faults, {report['faults_survived']} processes lost, the same weights", flush=True)
    return seen


def calibrate(yard: Yard, strategy: str, seconds: float) -> int:
    """How many epochs take about that long."""
    few = 5
    yard.ask("run", yard.file("calibrate", strategy, few), "--fresh")
    path = max((yard.folder / "runs").glob("calibrate-*"), key=lambda path: path.stat().st_mtime)
    events = [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]
    epochs = [event["ms"] for event in events if event["event"] == "epoch"]
    return max(few, round(seconds / max(0.001, (epochs[-1] - epochs[0]) / 1000 / (few - 1))))


def faults(strategy: str) -> list[str]:
    kinds = ["worker killed"] * 3 + ["worker sent away"] * 2 + ["worker stopped", "driver killed", "driver stopped"]
    return kinds + ["server killed"] * 2 if strategy == "parameter_server" else kinds


def disturb(run: Run, fault: str, chance: random.Random, since: float) -> Seen | None:
    """Does something to a run, and waits until it has got over it. None where it was over before."""
    if fault == "driver killed":
        return kill_driver(run, since)
    if fault == "driver stopped":
        return stop_driver(run)
    living = run.living(serves=fault.startswith("server"))
    if not living:
        return None
    process = chance.choice(sorted(living))
    numbers = {"stopped": signal.SIGSTOP, "away": signal.SIGTERM, "killed": signal.SIGKILL}
    since = time.time()
    run.signal(living[process], numbers[fault.split()[-1]])
    if fault == "worker stopped":
        run.stopped.append((since + STOPPED, living[process]))
    kind = "process_left" if fault == "worker sent away" else "process_lost"
    found = run.until(f"process {process} is missed", first(kind, process=process), since)
    if found is None:
        return None
    formed = run.until("a group is formed", without(process), since)
    if formed is None:
        return None
    seen = Seen(run.strategy, fault, {"resumed": formed["ms"] / 1000 - since})
    if kind == "process_lost":
        seen.times["found"] = found["ms"] / 1000 - since
    progress = run.until("work goes on", first("progress"), formed["ms"] / 1000)
    if progress is not None:
        seen.times["progress"] = progress["ms"] / 1000 - since
    if fault == "worker sent away":
        seen.times["steps lost"] = steps_lost(run, formed)
    return seen


def without(process: int) -> Callable[[list[dict]], dict | None]:
    """Finds the first group that a process is not in."""
    def find(events: list[dict]) -> dict | None:
        fits = lambda event: event["event"] == "formed" and process not in event["processes"]  # noqa: E731
        return next(filter(fits, events), None)
    return find


def steps_lost(run: Run, formed: dict) -> float:
    """How many of the steps that were told of before a group was formed are done again in it."""
    before = [event["step"] for event in run.events() if event["event"] == "progress" and event["seq"] < formed["seq"]]
    step = formed.get("step")
    if step is None:
        resumed = run.until("the state is read", first("resumed"), formed["ms"] / 1000)
        step = resumed["step"] if resumed else 0
    return max(0, max(before, default=0) - step)


def kill_driver(run: Run, since: float) -> Seen | None:
    run.driver.kill()
    run.driver.wait()
    if run.over():
        return None
    run.drive()
    formed = run.until("a group is formed", first("formed"), since)
    return formed and Seen(run.strategy, "driver killed", {"resumed": formed["ms"] / 1000 - since})


def stop_driver(run: Run) -> Seen | None:
    """Asks the driver to stop, as Ctrl-C does, and runs the file again."""
    run.driver.terminate()
    run.driver.wait(PATIENCE)
    if run.over():
        return None
    since = time.time()
    run.drive()
    formed = run.until("a group is formed", first("formed"), since)
    if formed is None:
        return None
    times = {"resumed": formed["ms"] / 1000 - since, "steps lost": steps_lost(run, formed)}
    return Seen(run.strategy, "driver stopped", times)


def check_survivors(run: Run) -> None:
    """Nobody was restarted under its number, and no checkpoint was read while somebody held the state."""
    pids: dict[int, int] = {}
    held: dict[int, int | None] = {}
    for event in run.events():
        if event["event"] == "task_started" and pids.setdefault(event["process"], event["pid"]) != event["pid"]:
            sys.exit(f"{run.name}: process {event['process']} was restarted")
        if event["event"] == "formed":
            held[event["generation"]] = event.get("step")
        # Told by the group it is of: a driver may hear of it later.
        if event["event"] == "resumed" and held[event["generation"]] is not None:
            sys.exit(f"{run.name}: a checkpoint was read although the state was held: {event}")
