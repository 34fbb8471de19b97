"""The chart makes the objects that our program makes.

A test of `exec`, which needs no Helm, holds the program's builders against the same recordings; so the
two cannot drift apart. `record.py` writes them."""

import json
import pathlib

from chart import CI, ROOT, S1, Chart
from check import Check

FOLDER = ROOT / "crates" / "exec" / "tests" / "chart"
# A page without a volume, of which nothing is said.
BARE = {"run": {"data": "mnist-sample", "model": "mnist-cnn", "serve": {}}}
# Images are named, and versions left out, so that a release of ours changes no recording.
CASES = {
    "s1": [S1, {"image": "localhost/trainyard:dev"}],
    "run": [CI / "run-values.yaml"],
    "page": [CI / "page-values.yaml"],
    "page-bare": [BARE, {"image": "localhost/trainyard:dev"}],
}
LEFT_OUT = ["app.kubernetes.io/version", "helm.sh/chart", "trainyard/sum"]


def recorded(chart: Chart, name: str) -> str:
    """The objects of a case, as they are written down."""
    own, page = chart.parts(*CASES[name])
    join = json.loads(own["Secret"]["stringData"]["join.json"])
    # Each install has its own.
    own["Secret"]["stringData"]["join.json"] = json.dumps({**join, "secret": "0" * 64})
    if page:
        page["Secret"]["stringData"]["token"] = "0" * 32
    found = sorted([*own.values(), *page.values()], key=lambda one: (one["kind"], one["metadata"]["name"]))
    objects = [without(one, LEFT_OUT) for one in found]
    return json.dumps(objects, indent=1, sort_keys=True) + "\n"


def without(value: object, names: list[str]) -> object:
    """An object without fields of these names, and without annotations where none are left."""
    if isinstance(value, dict):
        kept = {key: without(inner, names) for key, inner in value.items() if key not in names}
        return {key: inner for key, inner in kept.items() if key != "annotations" or inner}
    if isinstance(value, list):
        return [without(inner, names) for inner in value]
    return value


def path(name: str) -> pathlib.Path:
    return FOLDER / f"{name}.json"


def checks(chart: Chart) -> list[Check]:
    def as_recorded(name: str):
        def prove() -> None:
            got, wanted = recorded(chart, name), path(name).read_text()
            assert got == wanted, f"{path(name)} says otherwise; where that is right, run record.py"

        return prove

    return [Check(f"objects are those that our program makes: {name}", as_recorded(name)) for name in CASES]
