"""The chart on a cluster: what API servers take, what upgrades leave alone, what uninstalling leaves behind.

No image is pulled and nothing is trained here: pods wait for an image that nobody has."""

import base64
import json
import pathlib

from check import Check
from kube import PLAIN, STRICT, Kube, cluster, output, until

CHART = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "chart"
S1 = f"--values={CHART / 'ci' / 's1-values.yaml'}"
NOWHERE = "--set=image=localhost/nowhere:1"
NO_VOLUMES = "--set=volumes=null,volumeMounts=null"
# Run files that end on a page: one of which all is said, and a short one.
PAGE = f"--values={CHART / 'ci' / 'page-values.yaml'}"
SHORT_PAGE = "--set=run.data=mnist-sample,run.model=mnist-cnn,run.serve.port=80"
KINDS = "jobs,pods,services,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,deployments,replicasets"


class Release:
    """A release of the chart, gone at the end of `with`, with the volumes that it kept."""

    def __init__(self, name: str, namespace: str, user: str = "admin"):
        self.name, self.kube = name, Kube(user, namespace)
        config = next(argument for argument in self.kube.begin if argument.startswith("--kubeconfig="))
        self.helm = [str(pathlib.Path(self.kube.program).with_name("helm")), config, f"--namespace={namespace}"]

    def __enter__(self) -> "Release":
        self.remove()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        output(*self.helm, "uninstall", self.name, "--ignore-not-found")
        if self.left("pvc"):
            self.kube.delete("pvc", f"--selector=trainyard/name={self.name}")
            cluster("volumes")

    def does(self, verb: str, *arguments: str) -> str:
        return output(*self.helm, verb, self.name, str(CHART), S1, NOWHERE, *arguments)

    def refusal(self, verb: str, *arguments: str) -> str:
        try:
            self.does(verb, *arguments)
        except RuntimeError as refused:
            return str(refused)
        raise AssertionError(f"{verb} is not refused")

    def left(self, kinds: str = KINDS) -> list[str]:
        """Everything of its runs that is there."""
        found = self.kube.get(kinds, f"--selector=trainyard/name={self.name}")["items"]
        return sorted(f"{one['kind']}/{one['metadata']['name']}" for one in found)

    def until_gone(self) -> None:
        until(f"nothing of {self.name} is left", lambda: not self.left())

    def secret(self) -> str:
        kept = self.kube.get(f"secret/{self.name}-1")["data"]["join.json"]
        return json.loads(base64.b64decode(kept))["secret"]

    def page(self) -> dict:
        """The Deployment of its page."""
        return self.kube.get(f"deployment/{self.name}-1-serve")

    def token(self) -> str:
        """What whoever asks the page must know."""
        kept = self.kube.get(f"secret/{self.name}-1-serve")["data"]["token"]
        return base64.b64decode(kept).decode()


def checks() -> list[Check]:
    proofs = {
        "the chart: an API server takes S1's values as they are": as_they_are,
        "the chart: an API server takes a page": with_a_page,
        "the chart: its pod is let in where the rules are strict": strict,
        "the chart: a hostPath is refused in words where the rules are strict": host_path,
        "the chart: a user without the right to make Roles installs it": without_roles,
        "the chart: an upgrade leaves a run alone, or is refused": upgrade,
        "the chart: an upgrade leaves a page as it is": upgrade_of_a_page,
        "the chart: another number is another run": another,
        "the chart: a Job that is not its own is left alone": strangers,
        "the chart: uninstalling leaves nothing": uninstall,
        "the chart: a volume that is to be kept is kept, and taken up again": kept,
        "the chart: a volume that is not to be kept is not": not_kept,
        "the chart: a volume by itself where there is a default class": by_itself,
    }
    return [Check(name, prove) for name, prove in proofs.items()]


def as_they_are() -> None:
    release = Release("chart-dry", PLAIN)
    text = release.does("template", "--kube-version=1.34.0")
    release.kube("apply", "--dry-run=server", "--filename=-", given=text)
    notes = release.does("install", "--dry-run=server")
    assert "kubectl logs --namespace trainyard-plain --follow job/chart-dry-1" in notes, notes


def with_a_page() -> None:
    release = Release("chart-dry", PLAIN)
    for values in (PAGE, SHORT_PAGE):
        text = release.does("template", "--kube-version=1.34.0", values)
        release.kube("apply", "--dry-run=server", "--validate=strict", "--filename=-", given=text)
        notes = release.does("install", "--dry-run=server", values)
        assert "trainyard open chart-dry-1 --on kubernetes --namespace trainyard-plain" in notes, notes


def strict() -> None:
    with Release("chart-strict", STRICT) as release:
        release.does("install", NO_VOLUMES)
        template = release.kube.get("job/chart-strict-1")["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "as-in-the-job"}, "spec": template["spec"]}
        release.kube.apply(pod, dry=True)
        until("the driver's pod is made", lambda: release.left("pods"))


def host_path() -> None:
    for user in ("admin", "alice"):
        said = Release("chart-host", STRICT, user).refusal("install", "--set=serviceAccount=default")
        wanted = f'namespace {STRICT} enforces the Pod Security Standard restricted, which forbids the hostPath volume "logs"'
        assert wanted in said, said


def without_roles() -> None:
    with Release("chart-alice", STRICT, "alice") as release:
        said = release.refusal("install", NO_VOLUMES)
        assert "roles.rbac.authorization.k8s.io" in said, said
        release.remove()
        release.does("install", NO_VOLUMES, "--set=serviceAccount=default")
        kinds = "jobs,secrets,configmaps,services,serviceaccounts"
        name = "chart-alice-1"
        wanted = [f"ConfigMap/{name}", f"Job/{name}", f"Secret/{name}", f"Service/{name}-driver"]
        assert release.left(kinds) == wanted, release.left(kinds)


def upgrade() -> None:
    with Release("chart-up", PLAIN) as release:
        release.does("install")
        secret, job = release.secret(), release.kube.get("job/chart-up-1")["metadata"]["uid"]
        release.does("upgrade")
        said = release.refusal("upgrade", "--set=worker.number=3")
        assert "chart-up-1 has begun and does not change" in said and "--set number=2" in said, said
        assert "workers: 2" in release.kube.get("configmap/chart-up-1")["data"]["run.yaml"]
        assert release.secret() == secret, "the secret is another"
        assert release.kube.get("job/chart-up-1")["metadata"]["uid"] == job, "the Job is another"


def upgrade_of_a_page() -> None:
    """Whether it is shown is the driver's to say; somebody else does it here."""
    with Release("chart-shown", PLAIN) as release:
        release.does("install", SHORT_PAGE)
        page, token = release.page(), release.token()
        assert page["spec"]["replicas"] == 0, "there is a page before there is a model"
        release.does("upgrade", SHORT_PAGE)
        assert release.page()["spec"]["replicas"] == 0, "the upgrade has shown the page"
        release.kube("scale", "deployment/chart-shown-1-serve", "--replicas=2")
        release.does("upgrade", SHORT_PAGE)
        assert release.page()["spec"]["replicas"] == 2, "the upgrade has hidden the page"
        assert release.page()["spec"]["template"] == page["spec"]["template"], "its pods are others"
        assert release.token() == token, "the token is another"
        said = release.refusal("upgrade", SHORT_PAGE, "--set=run.serve.port=81")
        assert "chart-shown-1 has begun and does not change" in said, said


def another() -> None:
    with Release("chart-two", PLAIN) as release:
        release.does("install")
        release.does("upgrade", "--set=number=2,worker.number=3")
        until("only the new run is there", lambda: release.left("jobs,secrets") == ["Job/chart-two-2", "Secret/chart-two-2"])
        assert "workers: 3" in release.kube.get("configmap/chart-two-2")["data"]["run.yaml"]


def strangers() -> None:
    release = Release("chart-other", PLAIN)
    container = {"name": "a", "image": "localhost/nowhere:1"}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "chart-other-1"}, "spec": spec}
    with release:
        try:
            release.kube.apply(job)
            said = release.refusal("install")
            assert "the Job chart-other-1 in namespace trainyard-plain is not of this chart" in said, said
        finally:
            release.kube.delete("job/chart-other-1")


def uninstall() -> None:
    """What the driver makes belongs to its Job; a ConfigMap that does stands for it."""
    with Release("chart-gone", PLAIN) as release:
        release.does("install")
        owner = release.kube.get("job/chart-gone-1")["metadata"]
        reference = {"apiVersion": "batch/v1", "kind": "Job", "name": owner["name"], "uid": owner["uid"]}
        labels = {"trainyard/name": "chart-gone"}
        metadata = {"name": "chart-gone-1-train", "labels": labels, "ownerReferences": [reference]}
        release.kube.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        assert "ConfigMap/chart-gone-1-train" in release.left()
        output(*release.helm, "uninstall", release.name)
        release.until_gone()


def kept() -> None:
    with Release("chart-kept", PLAIN) as release:
        release.does("install", "--set=storage=pvc")
        claim = release.kube.get("pvc/chart-kept-1")["metadata"]["uid"]
        output(*release.helm, "uninstall", release.name)
        release.until_gone()
        release.does("install", "--set=storage=pvc")
        assert release.kube.get("pvc/chart-kept-1")["metadata"]["uid"] == claim, "it is another volume"


def not_kept() -> None:
    with Release("chart-lost", PLAIN) as release:
        release.does("install", "--set=storage.pvc.keep=false")
        assert release.left("pvc"), "there is no volume"
        output(*release.helm, "uninstall", release.name)
        until("the volume is gone", lambda: not release.left("pvc"))
        cluster("volumes")


def by_itself() -> None:
    with Release("chart-auto", PLAIN) as release:
        release.does("install", "--set=storage=auto")
        assert release.left("pvc") == ["PersistentVolumeClaim/chart-auto-1"], release.left("pvc")
