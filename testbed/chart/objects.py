"""What objects a release has, and what its values change in them."""

import json
import re
import tomllib

from chart import CHART, CI, ROOT, S1, Chart
from check import Check

ALWAYS = {"ConfigMap", "Job", "NetworkPolicy", "Secret", "Service"}
RIGHTS = {"Role", "RoleBinding", "ServiceAccount"}
PAGE = {"Deployment", "NetworkPolicy", "Secret", "Service"}
NATIVE = CI / "run-values.yaml"
SERVED = CI / "page-values.yaml"
# The shortest file that ends on a page.
SHORT = {"run": {"data": "mnist-sample", "model": "mnist-cnn", "serve": {}}}


class Objects:
    def __init__(self, chart: Chart):
        self.chart = chart

    def lint(self) -> None:
        for values in ([], [f"--values={S1}"], [f"--values={NATIVE}"], [f"--values={SERVED}"]):
            self.chart.call("lint", "--strict", str(CHART), *values)

    def versions(self) -> None:
        ours = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
        told = self.chart.read((CHART / "Chart.yaml").read_text())[0]
        assert told["appVersion"] == ours, f"the chart is of {told['appVersion']}, the program {ours}"

    def packed(self) -> None:
        self.chart.call("package", str(CHART), f"--destination={self.chart.folder}")
        (packed,) = self.chart.folder.glob("trainyard-*.tgz")
        found = self.chart.read(self.chart.text(S1, chart=packed))
        assert {one["kind"] for one in found} == ALWAYS | RIGHTS

    def kinds(self) -> None:
        same(set(self.chart.objects()), ALWAYS | RIGHTS)
        same(set(self.chart.objects(S1)), ALWAYS | RIGHTS)
        for values in (S1, NATIVE, {"run": {**SHORT["run"], "serve": None}}, {"run": {"steps": {"a": {"train": {}, "serve": None}}}}):
            same(self.chart.page(values), {})
        for values in (SHORT, SERVED):
            own, page = self.chart.parts(values)
            same((set(own) - {"PersistentVolumeClaim"}, set(page)), (ALWAYS | RIGHTS, PAGE))

    def account(self) -> None:
        found = self.chart.objects(S1, {"serviceAccount": "robot"})
        same(set(found), ALWAYS)
        same(found["Job"]["spec"]["template"]["spec"]["serviceAccountName"], "robot")

    def names(self) -> None:
        for release, values, run in [
            ("mnist", {}, "mnist-1"),
            ("mnist", {"number": 7}, "mnist-7"),
            ("mnist", {"nameOverride": "wide"}, "mnist-wide-1"),
            ("9.lives", {"fullnameOverride": "cat"}, "cat-1"),
        ]:
            found = self.chart.objects(S1, values, release=release)
            own = {one["metadata"]["name"] for one in found.values()}
            same(own, {run, f"{run}-driver"})
            labels = {one["metadata"]["labels"]["trainyard/run"] for one in found.values()}
            same(labels, {run})
            same(json.loads(found["Secret"]["stringData"]["join.json"])["run"], run)
            page = self.chart.page(SHORT, values, release=release)
            same({one["metadata"]["name"] for one in page.values()}, {f"{run}-serve"})

    def secrets(self) -> None:
        def secret() -> str:
            return json.loads(self.chart.objects(S1)["Secret"]["stringData"]["join.json"])["secret"]

        one, other = secret(), secret()
        assert re.fullmatch("[0-9a-f]{64}", one), one
        assert one != other, "two installs have the same secret"
        tokens = [self.chart.page(SHORT)["Secret"]["stringData"]["token"] for _ in range(2)]
        assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens), tokens
        assert tokens[0] != tokens[1], "two installs have the same token"
        sums = [self.chart.objects(S1)["Job"]["metadata"]["annotations"]["trainyard/sum"] for _ in range(2)]
        same(sums[0], sums[1])
        assert sums[0] != self.chart.objects(S1, {"worker": {"number": 3}})["Job"]["metadata"]["annotations"]["trainyard/sum"]

    def page(self) -> None:
        """What a page is given where its file does not say, and what it is not."""
        given = {"serve": {"port": 9090, "limits": {"memory": "1Gi"}}, "service": "NodePort"}
        page = self.chart.page(SHORT, given)
        same(page["Deployment"]["spec"]["replicas"], 0)
        same(page["Service"]["spec"]["type"], "NodePort")
        (container,) = page["Deployment"]["spec"]["template"]["spec"]["containers"]
        same(container["ports"][0]["containerPort"], 9090)
        same(container["resources"], {"limits": {"memory": "1Gi"}, "requests": {"memory": "128Mi"}})
        said = self.chart.page(SERVED, given)
        same(said["Service"]["spec"]["type"], "LoadBalancer")
        (container,) = said["Deployment"]["spec"]["template"]["spec"]["containers"]
        same(container["resources"], {"limits": {"memory": "1Gi"}, "requests": {"cpu": "100m"}})
        same(container["args"][1], "/runs/mnist-1/models/narrow")
        # What is of one's own machine does not travel.
        assert not {"host", "token_file"} & set(self.chart.run_file(SERVED)["steps"]["try-it"]["serve"])
        # Files without a page have no trace of it.
        assert not {"serve", "service"} & set(self.chart.run_file(S1, {"service": "NodePort"})["on"]["kubernetes"])

    def rights(self) -> None:
        """The driver may do more only where there is a page."""
        usual = self.chart.objects(S1)["Role"]["rules"]
        patch = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["patch"]}
        create = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}
        same(self.chart.objects(SHORT)["Role"]["rules"], [*usual, patch, create])
        same(self.chart.objects(SHORT, {"storage": "pvc"})["Role"]["rules"], [*usual, patch])
        same(set(self.chart.objects(SHORT, {"serviceAccount": "robot"})), ALWAYS)

    def storage(self) -> None:
        for storage, volume, claimed, kept in [
            ("none", {"emptyDir": {}}, None, None),
            # Without a cluster there is no class to be seen.
            ("auto", {"emptyDir": {}}, None, None),
            ("pvc", claim("mnist-1"), "1Gi", True),
            ({"pvc": {"size": "30Gi", "class": "fast"}}, claim("mnist-1"), "30Gi", True),
            ({"pvc": {"keep": False}}, claim("mnist-1"), "1Gi", False),
            ({"claim": "mine"}, claim("mine"), None, None),
        ]:
            found = self.chart.objects(S1, {"storage": storage})
            runs = named(found["Job"]["spec"]["template"]["spec"]["volumes"], "runs")
            same(runs, {"name": "runs", **volume})
            if claimed is None:
                assert "PersistentVolumeClaim" not in found, storage
                continue
            made = found["PersistentVolumeClaim"]
            same(made["spec"]["resources"]["requests"]["storage"], claimed)
            same(made["spec"].get("storageClassName"), "fast" if "class" in str(storage) else None)
            same("helm.sh/resource-policy" in made["metadata"].get("annotations", {}), kept)

    def images(self) -> None:
        other = {"image": {"repository": "registry.example/ty", "tag": "5"}}
        given = [
            ({}, None),
            ({"image": "localhost/trainyard:dev"}, "localhost/trainyard:dev"),
            ({"worker": other, "ps": other}, "registry.example/ty:5"),
            ({"worker": other, "ps": other, "image": "registry.example/ty:5"}, "registry.example/ty:5"),
            ({"worker": {"image": {"tag": "1.7.0-gpu"}}}, None),
            ({"worker": {"image": {"repository": "docker.io/cheyang/distributed-tf"}}}, None),
        ]
        usual = "trainyard:" + self.chart.read((CHART / "Chart.yaml").read_text())[0]["appVersion"]
        for values, wanted in given:
            same(self.chart.run_file(S1, values)["on"]["kubernetes"]["image"], wanted or usual)
            same(self.chart.pod(S1, values)["spec"]["containers"][0]["image"], wanted or usual)
        for role in ("worker", "ps"):
            same(self.chart.run_file({role: other})["on"]["kubernetes"]["image"], "registry.example/ty:5")
        always = {"image": {**other["image"], "pullPolicy": "Always"}}
        container = self.chart.pod(S1, {"worker": always, "ps": always})["spec"]["containers"][0]
        same(container["imagePullPolicy"], "Always")

    def pods(self) -> None:
        spec = self.chart.pod(S1, {"pod": {"imagePullSecrets": [{"name": "pull"}]}})["spec"]
        same(spec["imagePullSecrets"], [{"name": "pull"}])
        same(named(spec["volumes"], "logs"), {"name": "logs", "hostPath": {"path": "/tmp/mnist"}})
        (container,) = spec["containers"]
        same(named(container["volumeMounts"], "logs"), {"name": "logs", "mountPath": "/tmp/mnist-log"})
        same(named(container["env"], "TRAINYARD_LOG_DIR")["value"], "/tmp/mnist-log")
        whole = self.chart.pod(S1, {"pod": {"metadata": {"annotations": {"team": "a"}}}})
        same(whole["metadata"]["annotations"], {"team": "a"})
        same(named(whole["spec"]["volumes"], "logs"), named(spec["volumes"], "logs"))


def checks(chart: Chart) -> list[Check]:
    proofs = Objects(chart)
    return [
        Check("Helm finds nothing to mend", proofs.lint),
        Check("the chart is of the program's version", proofs.versions),
        Check("a packed chart is whole", proofs.packed),
        Check("a release has these objects and no others", proofs.kinds),
        Check("a named service account: no rights are made", proofs.account),
        Check("a release is a run, and has its name", proofs.names),
        Check("secrets and tokens differ from install to install; the sum of a run does not", proofs.secrets),
        Check("what a page is given", proofs.page),
        Check("what the driver of a run with a page may do", proofs.rights),
        Check("where a run's folder lies", proofs.storage),
        Check("which image pods have", proofs.images),
        Check("what is merged into the driver's pod", proofs.pods),
    ]


def claim(name: str) -> dict:
    return {"persistentVolumeClaim": {"claimName": name}}


def named(entries: list[dict], name: str) -> dict:
    (found,) = [entry for entry in entries if entry["name"] == name]
    return found


def same(got: object, wanted: object) -> None:
    assert got == wanted, f"{got!r}, not {wanted!r}"
