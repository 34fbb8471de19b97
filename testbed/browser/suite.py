#!/usr/bin/env python3
"""Proves with a real browser that people can try every kind of model on its page."""

import argparse
import pathlib
import signal
import sys
import tempfile
from collections.abc import Iterator

import door
import server
import webdriver
from check import Check, Skip, run
from digits import Digits
from everywhere import Everywhere
from faces import Faces
from models import Models
from numbers_form import Numbers
from page import Page
from pictures import Pictures
from texts import Texts

KINDS = {cases.kind: cases for cases in (Digits, Texts, Pictures, Faces, Numbers)}


class Suite:
    """The checks, kind after kind: each with a server of its own that lives while they run."""

    def __init__(self, driver: webdriver.Driver, given: argparse.Namespace, folder: pathlib.Path) -> None:
        self.driver, self.given, self.folder = driver, given, folder

    def of_kind(self, kind: str, address: str) -> list[Check]:
        page = Page(self.driver, address)
        brought = self.folder / "brought" / kind
        cases = KINDS[kind](page, brought)
        everywhere = Everywhere(page, cases, self.given.axe, self.given.shots)
        checks = [*cases.checks(), *everywhere.checks(), *door.without_scripts(page, kind, brought)]
        return [page.quietly(check) for check in checks]

    def running(self) -> Iterator[Check]:
        """Against a server that runs already."""
        address = self.given.url.rstrip("/") + "/"
        return iter(self.of_kind(server.card(address)["kind"], address))

    def started(self) -> Iterator[Check]:
        """Against our binary. What is not asked for is not trained."""
        models = Models(self.given.bin.resolve(), self.folder)
        for kind in KINDS:
            if any(self.asked(check) for check in self.of_kind(kind, "")):
                yield from self.served(kind, models)
        if self.asked(*door.Door(self.driver, None).checks()):
            yield from door.Door(self.driver, lambda: door.with_token(models.binary, models.words("digits"), self.folder)).checks()

    def served(self, kind: str, models: Models) -> Iterator[Check]:
        try:
            ours = server.Server(models.binary, models.words(kind), self.folder / "cache")
        except Exception as problem:  # noqa: BLE001 - other kinds may be served all the same
            yield Check(f"{kind}: a model is trained and served", raising(problem))
            return
        yield from self.of_kind(kind, ours.address)
        yield Check(f"{kind}: the server ends in order", lambda: ours.__exit__())

    def asked(self, check: Check) -> bool:
        return self.given.only in check.name


def raising(problem: Exception):
    def prove() -> None:
        raise problem
    return prove


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, help="our binary")
    parser.add_argument("--url", help="a server that runs already, in place of our binary")
    parser.add_argument("--axe", type=pathlib.Path, help="axe.js; without it, nothing is said of accessibility")
    parser.add_argument("--shots", type=pathlib.Path, help="a folder for pictures of the pages")
    parser.add_argument("--only", default="", help="only checks whose names contain this")
    given = parser.parse_args()
    # Taken down in order, no browser is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if given.shots:
        given.shots.mkdir(parents=True, exist_ok=True)
    if reason := webdriver.why_not():
        sys.exit(0 if run([Check("the pages in a browser", raising(Skip(reason)))]) else 1)
    with tempfile.TemporaryDirectory() as folder, webdriver.Driver() as driver:
        suite = Suite(driver, given, pathlib.Path(folder))
        checks = suite.running() if given.url else suite.started()
        good = run(check for check in checks if suite.asked(check) or check.name.endswith("ends in order"))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
