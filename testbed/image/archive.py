"""The archive that `cargo xtask image` writes, read with nothing of ours."""

import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Building xtask on a busy machine takes longest. Nothing is asserted of seconds.
PATIENCE = 600


def make(name: str, binary: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Has the chore write an archive."""
    command = ["cargo", "xtask", "image", "--tag", name, "--out", out, "--bin", binary]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise AssertionError(f"cargo xtask image exited {done.returncode}: {done.stderr.strip()[-500:]}")
    return out


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Archive:
    """An image, as the OCI image layout says that it is to be read."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        with tarfile.open(path) as tar:
            self.entries = tar.getmembers()
            self.files = {entry.name: tar.extractfile(entry).read() for entry in self.entries if entry.isfile()}
        self.index = self.json("index.json")
        self.descriptor, = self.index["manifests"]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def json(self, name: str):
        return json.loads(self.files[name])

    def blob(self, descriptor: dict) -> bytes:
        """What a descriptor points at, if it is what the descriptor says."""
        data = self.files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert digest(data) == descriptor["digest"], f"{descriptor['digest']} holds {digest(data)}"
        assert len(data) == descriptor["size"], f"{descriptor['digest']} has {len(data)} bytes"
        return data

    def layers(self) -> list[bytes]:
        """The layers' archives, unpacked, from the bottom to the top."""
        return [gzip.decompress(self.blob(layer)) for layer in self.manifest["layers"]]

    def chain(self) -> str:
        """The digest by which engines know all layers together."""
        first, *others = self.config["rootfs"]["diff_ids"]
        for other in others:
            first = digest(f"{first} {other}".encode())
        return first

    def unpack(self, folder: pathlib.Path) -> pathlib.Path:
        """The root of the image, with its owners where we are root."""
        folder.mkdir()
        for layer in self.layers():
            command = ["tar", "--extract", "--numeric-owner", "--preserve-permissions", "--directory", folder]
            subprocess.run(command, input=layer, check=True)
        return folder


def members(layer: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        return tar.getmembers()
