#!/usr/bin/env python3
"""Makes the images that the cluster itself needs: pause, busybox and coredns, each of one program."""

import argparse
import hashlib
import io
import json
import pathlib
import platform
import shutil
import subprocess
import tarfile

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}
FOLDERS = {"bin": 0o755, "dev": 0o755, "etc": 0o755, "proc": 0o755, "sys": 0o755, "tmp": 0o1777}
ACCOUNTS = {
    "etc/passwd": b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
}
OCI = "application/vnd.oci.image"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="where the images are put")
    parser.add_argument("coredns", type=pathlib.Path, help="the program")
    given = parser.parse_args()
    save(given.folder, "pause", layer(busybox(), []), ["/bin/busybox", "sleep", "2147483647"])
    save_busybox(given.folder, "busybox")
    save(given.folder, "coredns", layer(given.coredns, []), ["/bin/coredns"])


def busybox() -> pathlib.Path:
    return pathlib.Path(shutil.which("busybox"))


def save_busybox(folder: pathlib.Path, name: str) -> None:
    applets = subprocess.run([busybox(), "--list"], capture_output=True, text=True, check=True).stdout.split()
    save(folder, name, layer(busybox(), applets), ["/bin/sh"])


def layer(program: pathlib.Path, names: list[str]) -> bytes:
    """A root file system: one program, other names for it, and what every program expects."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, mode in FOLDERS.items():
            add(tar, name, mode=mode, type=tarfile.DIRTYPE)
        for name, data in ACCOUNTS.items():
            add(tar, name, data)
        add(tar, f"bin/{program.name}", program.read_bytes(), mode=0o755)
        for name in names:
            if name != program.name:
                add(tar, f"bin/{name}", mode=0o777, type=tarfile.SYMTYPE, linkname=program.name)
    return out.getvalue()


def add(tar: tarfile.TarFile, name: str, data: bytes = b"", **properties) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    for key, value in properties.items():
        setattr(entry, key, value)
    tar.addfile(entry, io.BytesIO(data))


def save(folder: pathlib.Path, name: str, content: bytes, entrypoint: list[str]) -> None:
    """Writes `localhost/NAME:1` as an OCI archive: blobs named by their hashes, and an index."""
    machine = {"architecture": ARCHITECTURE[platform.machine()], "os": "linux"}
    config = encode({
        **machine,
        "config": {"Entrypoint": entrypoint, "Env": ["PATH=/bin"], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [digest(content)]},
    })
    manifest = encode({
        "schemaVersion": 2,
        "mediaType": f"{OCI}.manifest.v1+json",
        "config": described(config, f"{OCI}.config.v1+json"),
        "layers": [described(content, f"{OCI}.layer.v1.tar")],
    })
    named = {"io.containerd.image.name": f"localhost/{name}:1", "org.opencontainers.image.ref.name": "1"}
    index = {**described(manifest, f"{OCI}.manifest.v1+json"), "annotations": named, "platform": machine}
    with tarfile.open(folder / f"{name}.tar", "w") as tar:
        add(tar, "oci-layout", encode({"imageLayoutVersion": "1.0.0"}))
        add(tar, "index.json", encode({"schemaVersion": 2, "manifests": [index]}))
        for blob in (config, manifest, content):
            add(tar, f"blobs/sha256/{digest(blob).removeprefix('sha256:')}", blob)


def described(blob: bytes, kind: str) -> dict:
    return {"mediaType": kind, "digest": digest(blob), "size": len(blob)}


def digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def encode(value: dict) -> bytes:
    return json.dumps(value).encode()


if __name__ == "__main__":
    main()
