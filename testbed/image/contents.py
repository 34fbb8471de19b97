"""Proves that the archive keeps the OCI's rules and holds what it should, and no more."""

import pathlib
import stat

from archive import Archive, digest, make, members
from check import Check

MAX_BYTES = 50_000_000
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
USER = 65532
LABELS = {"org.opencontainers.image.title", "org.opencontainers.image.version", "org.opencontainers.image.licenses"}
# What an image may hold: loaders and libraries, what glibc reads, and us.
PLACES = ("lib", "lib64", "etc", "usr/bin/trainyard")


def checks(image: Archive, name: str, binary: pathlib.Path, folder: pathlib.Path) -> list[Check]:
    size = image.path.stat().st_size
    return [
        Check("the same binary gives the same bytes", lambda: again(image, name, binary, folder)),
        Check("every entry is without time, owner and chance", lambda: neutral(image)),
        Check("an OCI layout whose digests and sizes are true", lambda: layout(image)),
        Check("docker's manifest names the same blobs", lambda: docker(image, name)),
        Check("the config says who runs what", lambda: config(image)),
        Check("the files are those that are needed, and no shell", lambda: files(image, binary)),
        Check(f"{size / 1e6:.1f} MB are at most {MAX_BYTES / 1e6:.0f}", lambda: small(size)),
    ]


def again(image: Archive, name: str, binary: pathlib.Path, folder: pathlib.Path) -> None:
    second = make(name, binary, folder / "again.tar").read_bytes()
    assert second == image.path.read_bytes(), "two archives of one binary differ"


def neutral(image: Archive) -> None:
    for archive in [image.entries, *map(members, image.layers())]:
        names = [entry.name for entry in archive]
        assert names == sorted(names), f"not sorted: {names}"
        for entry in archive:
            assert entry.mtime == 0, f"{entry.name} has the time {entry.mtime}"
            owner = USER if entry.name == "runs" else 0
            assert (entry.uid, entry.gid) == (owner, owner), f"{entry.name} belongs to {entry.uid}:{entry.gid}"
            assert not entry.uname and not entry.gname, f"{entry.name} belongs to {entry.uname}:{entry.gname}"


def layout(image: Archive) -> None:
    assert image.json("oci-layout") == {"imageLayoutVersion": "1.0.0"}
    assert image.index["schemaVersion"] == image.manifest["schemaVersion"] == 2
    assert image.manifest["mediaType"] == image.descriptor["mediaType"]
    assert {layer["mediaType"] for layer in image.manifest["layers"]} == {LAYER}
    # `layers` reads blobs by their descriptors, which must be true.
    unpacked = [digest(layer) for layer in image.layers()]
    assert image.config["rootfs"] == {"type": "layers", "diff_ids": unpacked}, image.config["rootfs"]
    pointed = [image.descriptor, image.manifest["config"], *image.manifest["layers"]]
    expected = {"blobs/" + each["digest"].replace(":", "/") for each in pointed}
    blobs = {path for path in image.files if path.startswith("blobs/")}
    assert blobs == expected, f"blobs that nobody points at: {blobs - expected}"
    assert len(image.config["history"]) == len(unpacked)


def docker(image: Archive, name: str) -> None:
    entry, = image.json("manifest.json")
    path = "blobs/{}".format
    assert entry["RepoTags"] == [name]
    assert entry["Config"] == path(image.manifest["config"]["digest"].replace(":", "/"))
    assert entry["Layers"] == [path(layer["digest"].replace(":", "/")) for layer in image.manifest["layers"]]
    told = image.descriptor["annotations"]
    assert told["io.containerd.image.name"] == name
    assert told["org.opencontainers.image.ref.name"] == name.rsplit(":", 1)[1]


def config(image: Archive) -> None:
    told = image.config["config"]
    assert told["User"] == f"{USER}:{USER}" and told["Entrypoint"] == ["/usr/bin/trainyard"], told
    assert told["WorkingDir"] == "/runs" and "PATH=/usr/bin" in told["Env"], told
    assert set(told["Labels"]) == LABELS, told["Labels"]
    assert image.config["os"] == "linux"
    assert image.config["architecture"] == image.descriptor["platform"]["architecture"]


def files(image: Archive, binary: pathlib.Path) -> None:
    system, program = map(members, image.layers())
    assert [entry.name for entry in program if not entry.isdir()] == ["usr/bin/trainyard"]
    assert image.layers()[1].find(binary.read_bytes()) > 0, "it is not the binary that was named"
    for entry in system + program:
        assert entry.isfile() or entry.isdir(), f"{entry.name} is neither file nor folder"
        assert not entry.mode & (stat.S_ISUID | stat.S_ISGID), f"{entry.name} changes who runs it"
        assert entry.isdir() or entry.name.startswith(PLACES), f"nobody needs {entry.name}"
        assert not entry.mode & stat.S_IWOTH or entry.name == "tmp", f"everybody may write {entry.name}"
    modes = {entry.name: entry.mode for entry in system}
    assert modes["tmp"] == 0o1777 and modes["runs"] == 0o755, modes


def small(size: int) -> None:
    assert size <= MAX_BYTES, f"{size} bytes"
