"""The server beside its own description, `/openapi.json`: schemathesis asks whatever that allows, and much that it does not."""

import json
import pathlib
import subprocess
import urllib.request

from check import Check, Skip
from models import Models
from server import Server

HERE = pathlib.Path(__file__).resolve().parent
# A bound: it takes half a minute for each model.
LONGEST_S = 600
# The last lines say what was found.
TOLD = 60


class Contract:
    """The checks of one kind of model."""

    def __init__(self, models: Models, kind: str, program: pathlib.Path | None, folder: pathlib.Path) -> None:
        self.models, self.kind, self.program, self.folder = models, kind, program, folder

    def checks(self) -> list[Check]:
        return [
            Check(f"{self.kind}: the examples of the description are answered", self.examples),
            Check(f"{self.kind}: schemathesis finds nothing", self.described),
        ]

    def serve(self) -> Server:
        return Server(self.models.binary, self.models.words(self.kind), self.folder / "cache")

    def examples(self) -> None:
        with self.serve() as server:
            paths = json.load(urllib.request.urlopen(server.address + "openapi.json"))["paths"]
            for path in ("v1/predict", "upload"):
                body = paths[f"/{path}"]["post"]["requestBody"]["content"]["application/json"]
                for example in body["examples"].values():
                    request = urllib.request.Request(server.address + path, json.dumps(example["value"]).encode(),
                                                     {"content-type": "application/json"})
                    answers = json.load(urllib.request.urlopen(request))
                    assert len(answers["predictions"]) == len(answers["labels"]) == 1, answers

    def described(self) -> None:
        if self.program is None:
            raise Skip("schemathesis is not here; the lines above say why")
        with self.serve() as server:
            command = [self.program, "--config-file", HERE / "schemathesis.toml", "run", server.address + "openapi.json"]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=LONGEST_S)
        found = "\n".join((done.stdout + done.stderr).splitlines()[-TOLD:])
        assert done.returncode == 0, found
