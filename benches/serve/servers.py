"""Servers in process groups of their own: ours and the rivals'."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time

from settings import HOST, Setting

HERE = pathlib.Path(__file__).resolve().parent
# Loading and compiling a model takes a rival up to half a minute on a busy machine.
START_SECONDS = 180
ANSWER_SECONDS = 60


class Failed(Exception):
    """Why a server cannot take part."""


class Server:
    """A running server that answers `POST route` of a form with a picture."""

    def __init__(self, name: str, route: str, cores: set[int] | None = None):
        self.name, self.route, self.port = name, route, 0
        self.cores = cores or os.sched_getaffinity(0)
        self.errors = tempfile.TemporaryFile()
        self.process: subprocess.Popen | None = None
        self.first_answer = 0.0

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}{self.route}"

    def spawn(self, command: list, **more) -> None:
        """A group of its own, so that its workers are found and ended with it."""
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, start_new_session=True, cwd=HERE, stdout=subprocess.DEVNULL,
                                        stderr=self.errors, preexec_fn=held_on(self.cores), **more)

    def wait_for_answer(self, body: bytes, kind: str) -> None:
        while True:
            try:
                self.answer(body, kind)
                self.first_answer = time.perf_counter() - self.begun
                return
            except (OSError, http.client.HTTPException) as problem:
                if self.process.poll() is not None or time.perf_counter() - self.begun > START_SECONDS:
                    raise Failed(f"{self.name} gives no answer ({problem}): {self.complaint()}") from problem
                time.sleep(0.01)

    def answer(self, body: bytes, kind: str) -> dict:
        link = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_SECONDS)
        try:
            link.request("POST", self.route, body, {"Content-Type": kind, "Accept": "application/json"})
            response = link.getresponse()
            text = response.read()
            if response.status != 200:
                raise Failed(f"{self.name} answers {response.status}: {text[:300]}")
            return json.loads(text)
        finally:
            link.close()

    def complaint(self) -> str:
        """What it wrote last. The place in the file is the server's, so it is left alone."""
        size = os.fstat(self.errors.fileno()).st_size
        return os.pread(self.errors.fileno(), 1000, max(0, size - 1000)).decode(errors="replace").strip()

    def members(self) -> list[pathlib.Path]:
        """The /proc folders of all its processes."""
        return [path for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()
                and (fields := stat_of(path)) and int(fields[2]) == self.process.pid]

    def peak_rss(self) -> int:
        """Bytes, of all its processes together; pages they share count for each."""
        found = [re.search(r"VmHWM:\s+(\d+)", text_of(path / "status")) for path in self.members()]
        return sum(int(match[1]) * 1024 for match in found if match)

    def wait_until_idle(self) -> None:
        """What a turn left unanswered is worked off before the next server's turn begins."""
        deadline, before = time.monotonic() + ANSWER_SECONDS, -1
        while time.monotonic() < deadline:
            ticks = sum(int(fields[11]) + int(fields[12]) for path in self.members() if (fields := stat_of(path)))
            if ticks == before:
                return
            before = ticks
            time.sleep(0.1)

    def signal(self, number: int) -> float:
        """Sends it to the first process alone; returns when, as seconds since 1970."""
        now = time.time()
        os.kill(self.process.pid, number)
        return now

    def close(self) -> None:
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
        self.errors.close()


class Rival(Server):
    def __init__(self, setting: Setting, model: pathlib.Path, cores: set[int] | None = None):
        super().__init__(setting.name, "/upload", cores)
        self.port = free_port()
        count = str(setting.threads)
        self.spawn(setting.command(self.port), env={
            **os.environ, "RIVAL_MODEL": str(model), "RIVAL_FORM": setting.form, "RIVAL_PORT": str(self.port),
            "RIVAL_THREADS": count, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count,
            "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"})


class Ours(Server):
    """`trainyard serve`, which says where it listens."""

    def __init__(self, binary: pathlib.Path, model: pathlib.Path, cores: set[int] | None = None):
        super().__init__("trainyard", "/v1/predict", cores)
        self.spawn([binary, "serve", model, "--port", "0"])
        while not (match := re.search(r"at http://[^:/ ]+:(\d+)/", self.complaint())):
            if self.process.poll() is not None or time.perf_counter() - self.begun > START_SECONDS:
                said = self.complaint()
                self.close()
                raise Failed(f"trainyard serve did not say where it listens: {said}")
            time.sleep(0.002)
        self.port = int(match[1])


def held_on(cores: set[int]):
    return lambda: os.sched_setaffinity(0, cores)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def stat_of(path: pathlib.Path) -> list[str]:
    """The fields after the name, from the state on; none where the process is gone."""
    return text_of(path / "stat").rpartition(")")[2].split()


def text_of(path: pathlib.Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
