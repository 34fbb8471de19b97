"""Runs that end on a page: S2 from data to page, brought here by `open`, with a volume and without."""

import contextlib
import http.cookiejar
import json
import pathlib
import struct
import subprocess
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator

from check import Check
from kube import until

from .plain import left
from .yard import Run, Yard, lasts, uid

# Split, three workers that train by themselves, the mean of their weights, a page.
S2 = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { workers: 3, strategy: average, epochs: 4, batch: 20, threads: 1 }
serve: {}
"""
BARE = S2 + "on: { kubernetes: { storage: none } }\n"
# Digits that are asked about, and how many of them are right.
DIGITS, RIGHT = 50, 40
# A bound for one answer.
ANSWER_S = 60


def checks(yard: Yard) -> list[Check]:
    proofs = {
        "S2 from data to page: the run is done, and its page answers here": on_a_volume,
        "a page without a volume has its model all the same": without_a_volume,
    }
    return [Check(name, lambda prove=prove: prove(yard)) for name, prove in proofs.items()]


def on_a_volume(yard: Yard) -> None:
    file = yard.file("page", S2)
    with Run(yard, file) as run:
        run.finish()
        assert f"trainyard open {run.name}" in run.told(), run.told()[-800:]
        run.kube.wait("condition=Complete", f"job/{run.name}")
        with opened(yard, run) as link:
            proven(yard, run, link)
            # The volume is the page's now, so that questions go there.
            run.ask("get", "model", "--to", str(yard.folder / "page-model"))
            shown = yard.ask("inspect", yard.folder / "page-model" / "models" / "train" / "model.safetensors")
            assert run.weights()[:12] in shown, shown
            before = {uid(pod) for pod in serving(run)}
            run.kube("rollout", "restart", f"deployment/{run.name}-serve")
            run.kube("rollout", "status", f"deployment/{run.name}-serve", "--timeout=120s")
            until("another pod serves", lambda: {uid(pod) for pod in serving(run)} and
                  not before & {uid(pod) for pod in serving(run)})
        # A link that is asked for now, of the pod that serves now.
        with opened(yard, run) as link:
            proven(yard, run, link)
        run.ask("rm")
        until("all of it is gone", lambda: not left(run, "jobs,pods,deployments,services,secrets,pvc,networkpolicies"))


def without_a_volume(yard: Yard) -> None:
    file = yard.file("bare", BARE)
    with Run(yard, file) as run:
        run.finish()
        # The driver only stays for whoever fetches the model; the page does without it.
        run.kube.delete("pod", f"--selector=trainyard/run={run.name},app.kubernetes.io/component=driver")
        with opened(yard, run) as link:
            proven(yard, run, link)


@contextlib.contextmanager
def opened(yard: Yard, run: Run) -> Iterator[str]:
    """The page of a run on this machine: the link that `open` prints."""
    command = [yard.binary, "open", run.name, "--no-browser", *run.place]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=yard.folder, env=yard.environment())
    try:
        told = []
        for line in process.stderr:
            told.append(line)
            if f"{run.name} is at http://127.0.0.1:" in line:
                break
        assert told and " is at " in told[-1], "".join(told)
        yield told[-1].rpartition(" is at ")[2].strip()
    finally:
        process.terminate()
        assert process.wait(timeout=ANSWER_S) == 0, process.returncode


def proven(yard: Yard, run: Run, link: str) -> None:
    """Only who comes by the link is answered, by the model that one machine trains, and mostly right."""
    expected = yard.expected(run.file)
    base = link.partition("?")[0]
    with contextlib.closing(refused(f"{base}v1/model")) as answer:
        assert answer.code == 401, answer.code
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    with browser.open(link, timeout=ANSWER_S) as page:
        assert b"<html" in page.read().lower()
    with browser.open(f"{base}v1/model", timeout=ANSWER_S) as answer:
        about = json.load(answer)
    assert about["weights_sha256"] == run.weights() == expected, about["weights_sha256"]
    assert about["metrics"]["test"]["accuracy"] > 0.85, about["metrics"]
    right = 0
    for picture, label in digits(yard.folder / "runs" / run.name / "data" / "prepare" / "test.npz"):
        asked = urllib.request.Request(f"{base}v1/predict", picture, {"content-type": "image/png"})
        with browser.open(asked, timeout=ANSWER_S) as answer:
            right += json.load(answer)["classes"] == [label]
    print(f"        {right} of {DIGITS} digits are read right")
    assert right >= RIGHT, right


def refused(address: str) -> urllib.error.HTTPError:
    try:
        urllib.request.urlopen(address, timeout=ANSWER_S).close()
    except urllib.error.HTTPError as error:
        return error
    raise AssertionError(f"{address} answers strangers")


def digits(path: pathlib.Path) -> Iterator[tuple[bytes, int]]:
    """Test samples as pictures, each with its label. They are shuffled by class, so some of all are taken."""
    with zipfile.ZipFile(path) as archive:
        (x, _), (y, kind) = values(archive.read("x.npy")), values(archive.read("y.npy"))
    labels = [number for (number,) in struct.iter_unpack({"|u1": "B", "<i4": "<i", "<i8": "<q"}[kind], y)]
    every = len(labels) // DIGITS
    for at in range(0, DIGITS * every, every):
        yield png(x[at * 784:(at + 1) * 784]), labels[at]


def values(array: bytes) -> tuple[bytes, str]:
    """What is in an array as numpy writes it, and of which kind."""
    length = struct.unpack("<H", array[8:10])[0]
    head = array[10:10 + length].decode()
    return array[10 + length:], head.partition("'descr': '")[2].partition("'")[0]


def png(pixels: bytes) -> bytes:
    """28 rows of 28 grey pixels as PNG."""
    lines = b"".join(b"\0" + pixels[row * 28:(row + 1) * 28] for row in range(28))
    head = struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def serving(run: Run) -> list[dict]:
    """The pods that serve."""
    pods = run.kube.pods(f"trainyard/run={run.name},app.kubernetes.io/component=serve")
    return [pod for pod in pods if lasts(pod)]
