"""What run files come out, and that our program reads them."""

import json
import pathlib
import subprocess

from chart import S1, Chart
from check import Check
from objects import NATIVE, same

LIMITS = {"cpu": "200m", "memory": "125Mi"}
# The whole run file of S1's values.
WANTED = {
    "name": "mnist",
    "data": {"from": "mnist", "validation": 5000},
    "model": {"name": "mnist-mlp"},
    "train": {
        "workers": 2,
        "strategy": {"parameter_server": {"servers": 2, "mode": "async"}},
        "batch": 20,
        "learning_rate": 0.001,
        "steps": 200,
    },
    "on": {
        "kubernetes": {
            "image": "localhost/trainyard:dev",
            "storage": "none",
            "driver": {"requests": {"memory": "128Mi"}},
            "workers": {"limits": LIMITS, "port": 9000},
            "servers": {"limits": LIMITS, "port": 8000},
            "pod": {
                "volumes": [{"name": "logs", "hostPath": {"path": "/tmp/mnist"}}],
                "containers": [
                    {
                        "env": [{"name": "TRAINYARD_LOG_DIR", "value": "/tmp/mnist-log"}],
                        "volumeMounts": [{"name": "logs", "mountPath": "/tmp/mnist-log"}],
                    }
                ],
            },
        }
    },
}
# Data on a volume, more of everything, and no volume for logs.
MORE = {
    "worker": {"number": 5, "port": 9090, "limit": {"cpu": 1, "memory": 134217728}, "env": {"A": "x", "B": 2}},
    "ps": {"number": 3, "port": 8080, "limit": {"cpu": 0.5, "memory": None}, "env": {"A": "x", "C": False}},
    "hyperparams": {"trainsteps": 0, "hiddenunits": 1000, "datadir": "/data/mnist", "logdir": "/tmp/logs"},
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "mnist"}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data/", "readOnly": True}],
}


class RunFiles:
    def __init__(self, chart: Chart, binary: pathlib.Path):
        self.chart, self.binary = chart, binary

    def plan(self, *values: dict | pathlib.Path) -> list[dict]:
        """The tasks that our program makes of the run file."""
        text = self.chart.objects(*values)["ConfigMap"]["data"]["run.yaml"]
        path = self.chart.folder / "run.yaml"
        path.write_text(text)
        done = subprocess.run([self.binary, "plan", path, "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["tasks"]

    def s1(self) -> None:
        same(self.chart.run_file(S1, {"image": "localhost/trainyard:dev"}), WANTED)
        prepare, train, evaluate = self.plan(S1)
        same((train["processes"], train["servers"]["processes"]), (2, 2))
        told = train["role"]["worker"]["train"]
        same((told["model"]["hidden_units"], told["steps"], told["batch"]), (100, 200, 20))

    def more(self) -> None:
        found = self.chart.run_file(MORE)
        same(found["data"], {"from": "mnist", "validation": 5000, "mirror": "/data/mnist"})
        kubernetes = found["on"]["kubernetes"]
        same(kubernetes["workers"], {"port": 9090, "limits": {"cpu": "1", "memory": "134217728"}})
        same(kubernetes["servers"], {"port": 8080, "limits": {"cpu": "0.5"}})
        env = {one["name"]: one["value"] for one in kubernetes["pod"]["containers"][0]["env"]}
        same(env, {"A": "x", "B": "2", "C": "false", "TRAINYARD_LOG_DIR": "/tmp/logs"})
        train = self.plan(MORE)[1]
        same((train["processes"], train["servers"]["processes"]), (5, 3))
        told = train["role"]["worker"]["train"]
        same((told["model"]["hidden_units"], told["steps"]), (1000, 0))

    def data(self) -> None:
        for given, wanted in [
            ("mnist-sample", {"from": "mnist-sample"}),
            ({"from": "mnist", "mirror": "http://files.example/mnist"}, None),
        ]:
            same(self.chart.run_file(S1, {"data": given})["data"], wanted or given)
            self.plan(S1, {"data": given})
        unmounted = {"hyperparams": {"datadir": "/tmp/mnist-data"}}
        same(self.chart.run_file(S1, unmounted)["data"], WANTED["data"])

    def native(self) -> None:
        found = self.chart.run_file(NATIVE)
        same(found["name"], "mnist")
        same(found["on"]["kubernetes"]["service_account"], "robot")
        same(self.plan(NATIVE)[1]["processes"], 3)
        # Values of the chart are for what the file does not say.
        other = {"serviceAccount": "other", "image": "registry.example/newer:6", "worker": {"number": 9}}
        changed = self.chart.run_file(NATIVE, other)
        same(changed["on"]["kubernetes"]["service_account"], "robot")
        same(changed["on"]["kubernetes"]["image"], "registry.example/newer:6")
        same(changed["train"], found["train"])

    def text(self) -> None:
        """As `--set-file run=FILE` gives it; there, too, Helm takes a bare `on` for true."""
        file = "name: x\ndata: mnist-sample\nmodel: mnist-cnn\ntrain: {epochs: 1}\non: {kubernetes: {storage: {claim: mine}}}\n"
        found = self.chart.run_file({"run": file})
        same(found["on"]["kubernetes"]["storage"], {"claim": "mine"})
        same({key: found[key] for key in ("name", "model", "train")}, {"name": "mnist", "model": "mnist-cnn", "train": {"epochs": 1}})
        assert "true" not in found, found
        self.plan({"run": file})


def checks(chart: Chart, binary: pathlib.Path) -> list[Check]:
    proofs = RunFiles(chart, binary)
    return [
        Check("the run file of S1's values", proofs.s1),
        Check("the run file of other values", proofs.more),
        Check("what to learn from", proofs.data),
        Check("a run file as a value", proofs.native),
        Check("a run file as text", proofs.text),
    ]
