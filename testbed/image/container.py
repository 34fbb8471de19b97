"""Containers of the image, run by runc alone: no daemon, no network but a loopback of their own.

They get the least that a strict cluster gives: a root that cannot be written, the image's user, no capability, no way
to more privileges, and one folder in memory for runs.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess

from archive import Archive

# How long anything may take. Nothing is asserted of seconds: this only ends what hangs.
PATIENCE = 300
HIDDEN = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sysrq-trigger", "/sys/firmware"]


def why_not() -> str:
    """Why there can be no containers here; empty where there can."""
    if os.geteuid() != 0:
        return "containers need root"
    if shutil.which("runc") is None:
        return "`runc` is not here; install it"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "true"], capture_output=True, text=True)
    return f"no namespace can be made here: {tried.stderr.strip()}" if tried.returncode else ""


class Bundle:
    """The unpacked image, from which containers are started one after another."""

    def __init__(self, image: Archive, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir()
        self.config = image.config["config"]
        image.unpack(folder / "rootfs")
        self.numbers = itertools.count()

    def start(self, *words: str, mounts: dict[str, str] | None = None, network: str = "") -> "Container":
        """Runs the image's entrypoint with these words. `mounts`: texts of files by their path; `network`: the path
        of a network namespace, where it is not to be one of its own."""
        return Container(self, list(words), mounts or {}, network)

    def run(self, *words: str, **more) -> str:
        """What it prints, when it succeeds."""
        container = self.start(*words, **more)
        code, out, talk = container.wait()
        if code:
            raise AssertionError(f"trainyard {' '.join(words)} exited {code}: {talk.strip()[-500:]}")
        return out


class Container:
    def __init__(self, bundle: Bundle, words: list[str], mounts: dict[str, str], network: str):
        self.name = f"trainyard-{os.getpid()}-{next(bundle.numbers)}"
        self.state = bundle.folder / "state"
        spec = specification(bundle, self.name, words, network)
        for number, (path, text) in enumerate(mounts.items()):
            file = bundle.folder / f"{self.name}-{number}"
            file.write_text(text)
            spec["mounts"].append({"destination": path, "source": str(file), "type": "bind", "options": ["bind", "ro"]})
        (bundle.folder / "config.json").write_text(json.dumps(spec))
        command = self.runc("run", "--bundle", str(bundle.folder), self.name)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def runc(self, *words: str) -> list[str]:
        return ["runc", "--root", str(self.state), *words]

    def pid(self) -> int:
        """Its first process, as we see it from outside."""
        told = subprocess.run(self.runc("state", self.name), capture_output=True, check=True).stdout
        return json.loads(told)["pid"]

    def signal(self, name: str) -> None:
        subprocess.run(self.runc("kill", self.name, name), check=True)

    def wait(self) -> tuple[int, str, str]:
        """Its exit code, output and talk. It is gone afterwards, whatever happened."""
        try:
            out, talk = self.process.communicate(timeout=PATIENCE)
            return self.process.returncode, out, talk
        finally:
            self.end()

    def end(self) -> None:
        subprocess.run(self.runc("delete", "--force", self.name), capture_output=True)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def specification(bundle: Bundle, name: str, words: list[str], network: str) -> dict:
    """The runtime's config of one container, from the image's config."""
    user, group = map(int, bundle.config["User"].split(":"))
    none = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}
    spaces = [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]
    own = ["nosuid", "nodev", "noexec", "mode=0755", f"uid={user}", f"gid={group}", "size=200m"]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": user, "gid": group}, "args": bundle.config["Entrypoint"] + words,
            "env": bundle.config["Env"], "cwd": bundle.config["WorkingDir"],
            "capabilities": none, "noNewPrivileges": True,
        },
        "root": {"path": "rootfs", "readonly": True},
        "hostname": "yard",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=64k"]},
            {"destination": "/runs", "type": "tmpfs", "source": "tmpfs", "options": own},
        ],
        "linux": {
            "namespaces": [*spaces, {"type": "network", **({"path": network} if network else {})}],
            "cgroupsPath": f"/{name}", "maskedPaths": HIDDEN, "readonlyPaths": ["/proc/sys", "/proc/irq", "/proc/bus"],
        },
    }
