"""The chart makes the objects that our program makes.

A test of `exec`, which needs no Helm, holds the program's builders against the same recordings; so the
two cannot drift apart. `record.py` writes them."""

import json
import pathlib

from chart import CI, ROOT, S1, Chart
from check import Check

FOLDER = ROOT / "crates" / "exec" / "tests" / "chart"
# Images are named, and versions left out, so that a release of ours changes no recording.
CASES = {
    "s1": [S1, {"image": "localhost/trainyard:dev"}],
    "run": [CI / "run-values.yaml"],
}
LEFT_OUT = ["app.kubernetes.io/version", "helm.sh/chart", "trainyard/sum"]


def recorded(chart: Chart, name: str) -> str:
    """The objects of a case, as they are written down."""
    found = chart.objects(*CASES[name])
    join = json.loads(found["Secret"]["stringData"]["join.json"])
    # Each install has its own.
    found["Secret"]["stringData"]["join.json"] = json.dumps({**join, "secret": "0" * 64})
    objects = [without(found[kind]) for kind in sorted(found)]
    return json.dumps(objects, indent=1, sort_keys=True) + "\n"


def without(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: without(inner) for key, inner in value.items() if key not in LEFT_OUT}
        return {key: inner for key, inner in kept.items() if key != "annotations" or inner}
    if isinstance(value, list):
        return [without(inner) for inner in value]
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
