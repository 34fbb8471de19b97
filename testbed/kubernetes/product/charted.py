"""A release of the chart whose run ends on a page: it comes, answers, outlives upgrades, and goes with the release."""

import contextlib
import urllib.error
import urllib.request
from collections.abc import Iterator

from check import Check
from helm_chart import CHART, Release
from kube import PATIENCE, STRICT, cluster, output, until

from .yard import Yard, lasts, uid

# A run of seconds.
SERVED = """\
data: mnist-sample
model: { name: mnist-mlp, hidden_units: 32 }
train: { epochs: 1, batch: 50, threads: 1 }
serve: { port: 80 }
"""
# Bounds for the run, and for one answer.
RUN_S, ANSWER_S = 600, 60


def checks(yard: Yard) -> list[Check]:
    return [Check("the chart: a run ends on its page, and upgrades leave it up", lambda: page(yard))]


def page(yard: Yard) -> None:
    values = [f"--set-file=run={yard.file('chart-page', SERVED)}", f"--set=image={yard.image}", "--set=storage.pvc.keep=false"]
    with Release("chart-page", STRICT) as release:
        notes = output(*release.helm, "install", release.name, str(CHART), *values)
        assert f"trainyard open chart-page-1 --on kubernetes --namespace {STRICT}" in notes, notes
        release.kube("wait", "--for=condition=Complete", "job/chart-page-1", f"--timeout={RUN_S}s")
        # The driver lets the pod come before it leaves.
        assert release.page()["spec"]["replicas"] == 1, release.kube("logs", "job/chart-page-1")[-800:]
        up(release)
        token, before = release.token(), pods(release)
        output(*release.helm, "upgrade", release.name, str(CHART), *values)
        assert release.page()["spec"]["replicas"] == 1, "the upgrade has hidden the page"
        assert release.token() == token, "the token is another"
        up(release)
        assert pods(release) == before, "the upgrade has started the page anew"
        output(*release.helm, "uninstall", release.name)
        release.until_gone()
        until("the volume is gone", lambda: not release.left("pvc"))
        cluster("volumes")


def up(release: Release) -> None:
    """It is ready, and tells of its model to whoever knows the token, and to nobody else."""
    release.kube("rollout", "status", "deployment/chart-page-1-serve", f"--timeout={PATIENCE}s")
    with forwarded(release) as address:
        assert status(f"{address}/readyz") == 200
        assert status(f"{address}/v1/model") == 401
        assert status(f"{address}/v1/model", release.token()) == 200


def pods(release: Release) -> set[str]:
    """Those of the page, by their ids."""
    found = release.kube.pods("trainyard/run=chart-page-1,app.kubernetes.io/component=serve")
    return {uid(pod) for pod in found if lasts(pod)}


@contextlib.contextmanager
def forwarded(release: Release) -> Iterator[str]:
    """The page on this machine, through its Service."""
    process = release.kube.start("port-forward", "service/chart-page-1-serve", ":80")
    try:
        # Such as: Forwarding from 127.0.0.1:40123 -> 8080
        line = process.stdout.readline()
        assert line.startswith("Forwarding from 127.0.0.1:"), line
        yield f"http://{line.split()[2]}"
    finally:
        process.terminate()
        process.wait(timeout=ANSWER_S)


def status(address: str, token: str = "") -> int:
    """What a request is answered with."""
    asked = urllib.request.Request(address, headers={"authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_S) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with contextlib.closing(error):
            return error.code
