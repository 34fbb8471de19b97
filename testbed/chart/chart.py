"""Our chart, as Helm renders it. Helm also reads the YAML, for Python has no reader of its own."""

import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "chart"
CI = CHART / "ci"
S1 = CI / "s1-values.yaml"
# A Helm that was built without its Makefile takes clusters for older than they are.
KUBERNETES = "--kube-version=1.34.0"

# A chart that prints YAML as JSON, a document a line.
READER = """\
{{- range splitList "\\n---\\n" (printf "\\n%s" .Values.text) }}
{{- with fromYaml . }}
---
{{ dict "object" . | toJson }}
{{- end }}
{{- end }}
"""
# One that prints the notes of ours.
NOTES = 'notes: {{ include "notes" . | toJson }}\n'


class Refused(Exception):
    """What Helm says when it refuses."""


class Chart:
    def __init__(self, helm: str, folder: pathlib.Path):
        self.helm, self.folder = helm, folder
        self.reader = folder / "reader"
        (self.reader / "templates").mkdir(parents=True)
        (self.reader / "Chart.yaml").write_text("{apiVersion: v2, name: reader, version: 0.0.0}\n")
        (self.reader / "templates" / "all.yaml").write_text(READER)

    def call(self, *arguments: str) -> str:
        done = subprocess.run([self.helm, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise Refused(done.stderr.strip() or done.stdout.strip())
        if "warning" in done.stderr:
            raise AssertionError(f"Helm warns: {done.stderr.strip()}")
        return done.stdout

    def text(self, *values: dict | pathlib.Path, release: str = "mnist", chart: pathlib.Path = CHART) -> str:
        """What Helm prints; values are files or mappings, later ones win."""
        files = [f"--values={self.file(value)}" for value in values]
        return self.call("template", release, str(chart), KUBERNETES, "--namespace=ml", *files)

    def objects(self, *values: dict | pathlib.Path, release: str = "mnist") -> dict[str, dict]:
        """The objects by their kinds, but for the page's."""
        return self.parts(*values, release=release)[0]

    def page(self, *values: dict | pathlib.Path, release: str = "mnist") -> dict[str, dict]:
        """The objects of the page by their kinds."""
        return self.parts(*values, release=release)[1]

    def parts(self, *values: dict | pathlib.Path, release: str = "mnist") -> tuple[dict[str, dict], dict[str, dict]]:
        """The objects of the run and those of its page. No two of either are of the same kind."""
        own, page = {}, {}
        for one in self.read(self.text(*values, release=release)):
            run = one["metadata"]["labels"]["trainyard/run"]
            part = own if one["metadata"]["name"] in (run, f"{run}-driver") else page
            assert part.setdefault(one["kind"], one) is one, f"two objects are a {one['kind']}"
        return own, page

    def run_file(self, *values: dict | pathlib.Path) -> dict:
        return self.read(self.objects(*values)["ConfigMap"]["data"]["run.yaml"])[0]

    def pod(self, *values: dict | pathlib.Path) -> dict:
        """The driver's."""
        return self.objects(*values)["Job"]["spec"]["template"]

    def notes(self, *values: dict | pathlib.Path) -> str:
        copy = self.folder / "notes"
        if not copy.exists():
            shutil.copytree(CHART, copy)
            told = (copy / "templates" / "NOTES.txt").read_text()
            (copy / "templates" / "_told.tpl").write_text('{{ define "notes" }}' + told + "{{ end }}")
            (copy / "templates" / "told.yaml").write_text(NOTES)
        documents = self.read(self.text(*values, chart=copy))
        return next(document["notes"] for document in documents if "notes" in document)

    def refusal(self, *values: dict | pathlib.Path, release: str = "mnist") -> str:
        try:
            self.text(*values, release=release)
        except Refused as refused:
            return str(refused)
        raise AssertionError("it is not refused")

    def read(self, text: str) -> list[dict]:
        """The documents of a YAML text."""
        path = self.file(text)
        lines = self.call("template", "reader", str(self.reader), f"--set-file=text={path}").splitlines()
        return [json.loads(line)["object"] for line in lines if line.startswith("{")]

    def file(self, given: dict | str | pathlib.Path) -> pathlib.Path:
        """A file with it, where it is none. JSON is YAML."""
        if isinstance(given, pathlib.Path):
            return given
        path = self.folder / f"given-{len(list(self.folder.iterdir()))}.yaml"
        path.write_text(given if isinstance(given, str) else json.dumps(given))
        return path
