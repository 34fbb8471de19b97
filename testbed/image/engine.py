"""Proves that containerd, which most clusters run on, takes the archive, in both of its forms."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator

from archive import Archive
from check import Check, Skip

# How long anything may take. Nothing is asserted of seconds: this only ends what hangs.
PATIENCE = 120
# Nothing of the machine's own containerd is touched. Layers are unpacked into plain folders, which works everywhere.
CONFIG = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "{folder}/socket"
"""
UNPACK = ["--snapshotter", "native"]


def checks(image: Archive, name: str, binary: pathlib.Path, folder: pathlib.Path) -> list[Check]:
    def prove(form: str, path: pathlib.Path) -> None:
        with containerd(folder / form) as engine:
            accepted(engine, image, name, binary, path)

    return [
        Check("containerd: takes it as an OCI layout, under its name, and unpacks it",
              lambda: prove("oci", image.path)),
        Check("containerd: takes it as docker saves it, under its name, and unpacks it",
              lambda: prove("docker", docker_only(image.path, folder / "docker.tar"))),
    ]


class Containerd:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder

    def ctr(self, *words: str) -> str:
        command = ["ctr", "--address", str(self.folder / "socket"), "--namespace", "k8s.io", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise AssertionError(f"ctr {' '.join(words)} exited {done.returncode}: {done.stderr.strip()[-500:]}")
        return done.stdout


def accepted(engine: Containerd, image: Archive, name: str, binary: pathlib.Path, path: pathlib.Path) -> None:
    engine.ctr("images", "import", *UNPACK, str(path))
    names = engine.ctr("images", "list", "--quiet").split()
    assert names == [name], f"it is called {names}, not {name}"
    unpacked = engine.ctr("snapshots", *UNPACK, "list")
    assert image.chain() in unpacked, f"no layers with the digest {image.chain()}: {unpacked}"
    found = engine.folder.glob("root/*snapshotter*native/snapshots/*/usr/bin/trainyard")
    assert [file.read_bytes() for file in found] == [binary.read_bytes()], "the binary did not come out as it was"


def docker_only(archive: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """The archive without what makes it an OCI layout, as engines without that form see it."""
    with tarfile.open(archive) as whole, tarfile.open(out, "w") as part:
        for entry in whole.getmembers():
            if entry.name not in ("oci-layout", "index.json"):
                part.addfile(entry, whole.extractfile(entry) if entry.isfile() else None)
    return out


@contextlib.contextmanager
def containerd(folder: pathlib.Path) -> Iterator[Containerd]:
    """A daemon of our own, with everything that it keeps in one folder."""
    if os.geteuid() != 0:
        raise Skip("containerd needs root")
    for program in ("containerd", "ctr"):
        if shutil.which(program) is None:
            raise Skip(f"`{program}` is not here; install containerd")
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG.format(folder=folder))
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen(["containerd", "--config", folder / "config.toml"], stdout=log, stderr=log)
    try:
        engine = Containerd(folder)
        await_answer(engine, daemon)
        yield engine
    finally:
        daemon.terminate()
        try:
            daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def await_answer(engine: Containerd, daemon: subprocess.Popen) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            engine.ctr("version")
            return
        except AssertionError:
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"containerd does not answer: {(engine.folder / 'log').read_text()[-500:]}")
        time.sleep(0.1)
