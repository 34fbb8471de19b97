#!/usr/bin/env python3
"""Proves that the container image is what engines take, and that our binary trains in it."""

import argparse
import pathlib
import signal
import sys
import tempfile

import contents
import engine
import inside
from archive import Archive, make
from check import run

NAME = "localhost/trainyard:testbed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--only", default="", help="only checks whose names contain this")
    given = parser.parse_args()
    binary = given.bin.resolve()
    if not binary.is_file():
        parser.error(f"there is no binary at {binary}; build it with `cargo build --release`")
    # Taken down in order, containers are gone afterwards.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # The user of the image passes through here to what is mounted into it.
        folder.chmod(0o755)
        image = Archive(make(NAME, binary, folder / "image.tar"))
        checks = [
            *contents.checks(image, NAME, binary, folder),
            *inside.checks(image, binary, folder),
            *engine.checks(image, NAME, binary, folder),
        ]
        good = run([check for check in checks if given.only in check.name])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
