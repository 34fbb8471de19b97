"""The chart makes the objects that `trainyard render` prints of the same run file, a page's among them."""

import json
import pathlib
import re
import subprocess

from chart import Chart
from check import Check
from objects import NATIVE
from recordings import without

# The short form, and what its pods are given in other ways.
SHORT = {"data": "mnist-sample", "model": "mnist-mlp", "train": {"epochs": 1}, "serve": {}}
OPEN = {"port": 9090, "limits": {"memory": "1Gi", "cpu": "2"}, "node_selector": {"pool": "web"}}
MERGED = {
    "metadata": {"annotations": {"example.org/cost": "7"}},
    "spec": {
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}],
        "containers": [{"env": [{"name": "HTTPS_PROXY", "value": "http://proxy.example:3128"}]}],
    },
}
# The long form: what is served is named, or found by needs, and through steps that do not train.
LOAD = {"load": {"prepare": {"data": "mnist-sample"}}}
TRAIN = {"needs": ["load"], "train": {"model": "mnist-mlp", "epochs": 1}}
NAMED = {**LOAD, "wide": TRAIN, "narrow": TRAIN, "page": {"needs": ["narrow", "wide"], "serve": {"model": "wide"}}}
NEEDED = {**LOAD, "fit": TRAIN, "try": {"needs": ["fit"], "evaluate": {}}, "page": {"needs": ["try", "fit"], "serve": {}}}
LONGEST = "a-" * 20
TEXT = """\
name: x
data: mnist-sample
model: mnist-mlp
serve: { host: 0.0.0.0, token_file: token, wait: 0.25s, queue: 65536 }
on: { kubernetes: { storage: { claim: mine } } }
"""

CASES = {
    "no page": [NATIVE],
    "a page without a volume": [{"run": SHORT}],
    "a page on a new volume": [{"run": SHORT, "storage": "pvc"}],
    "a page on a volume that is there": [{"run": SHORT, "storage": {"claim": "mine"}}],
    "a page with a named service account": [{"run": SHORT, "serviceAccount": "robot"}],
    "a page at a port of every node": [{"run": {**SHORT, "serve": {"port": 80}}, "service": "NodePort", "serve": OPEN}],
    "a page at an address of its own": [{"run": {**SHORT, "on": {"kubernetes": {"service": "LoadBalancer", "storage": "pvc"}}}}],
    "a page of which all is said": [
        {"run": {**SHORT, "serve": {"model": "train", "combine": "mean", "batch": 65536, "wait": "5ms", "queue": 1, "port": None}}}
    ],
    "a page with what is merged into all pods": [{"run": SHORT, "pod": MERGED, "storage": "pvc"}],
    "a page of the long form, of a model by name": [{"run": {"steps": NAMED}, "storage": "pvc"}],
    "a page of the long form, of a model by needs": [{"run": {"steps": NEEDED}, "storage": "pvc"}],
    "a page with long names": [
        {"run": {"steps": {**LOAD, "fit": TRAIN, LONGEST: {"needs": ["fit"], "serve": {}}}}, "fullnameOverride": LONGEST}
    ],
    "a page of a file as text": [{"run": TEXT}],
}
# What Helm adds for itself, what changes with a release, and what is compared elsewhere.
LEFT_OUT = [
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version",
    "helm.sh/chart",
    "helm.sh/resource-policy",
    "run.yaml",
    "trainyard/kubernetes",
    "trainyard/sum",
]


class Rendered:
    def __init__(self, chart: Chart, binary: pathlib.Path):
        self.chart, self.binary = chart, binary

    def compare(self, *values: dict | pathlib.Path) -> None:
        own, page = self.chart.parts(*values)
        path = self.chart.folder / "rendered.yaml"
        path.write_text(own["ConfigMap"]["data"]["run.yaml"])
        done = subprocess.run([self.binary, "render", path, "--namespace", "ml"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        wanted, got = by_name(self.chart.read(done.stdout)), by_name([*own.values(), *page.values()])
        assert got.keys() == wanted.keys(), f"{sorted(got)}, not {sorted(wanted)}"
        for name, one in wanted.items():
            assert got[name] == one, f"{name} is {json.dumps(got[name])}, not {json.dumps(one)}"


def by_name(objects: list[dict]) -> dict[str, dict]:
    return {f"{one['kind']}/{one['metadata']['name']}": told(without(one, LEFT_OUT)) for one in objects}


def told(one: dict) -> dict:
    """A secret is of so many digits, and another each time."""
    secrets = one.get("stringData", {})
    for name, text in secrets.items():
        join = json.loads(text) if name == "join.json" else {"secret": text}
        digits = len(join["secret"])
        assert re.fullmatch("[0-9a-f]+", join["secret"]), text
        secrets[name] = {**join, "secret": digits}
    return one


def checks(chart: Chart, binary: pathlib.Path) -> list[Check]:
    proofs = Rendered(chart, binary)
    return [
        Check(f"objects are those that render prints: {name}", lambda values=values: proofs.compare(*values))
        for name, values in CASES.items()
    ]
