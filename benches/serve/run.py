#!/usr/bin/env python3
"""Serves mnist-cnn beside Flask + Keras and FastAPI + PyTorch, in turn on the same cores, one PNG uploaded a request.

Run it with the Python that `testbed/keras/setup.sh --rivals` prints; it needs `wrk` and cargo.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

import load
import parts
import tables
from parts import say
from pictures import Pictures, ask
from settings import MODULES

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
PARTS = ["closed", "overload", "changes"]


def trained(binary: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """Two models that differ, so that a swap is seen; the first also as the rivals read it."""
    models = [folder / f"{name}.safetensors" for name in ("one", "other")]
    for seed, model in enumerate(models):
        ask(binary, "train", "--data", "mnist-sample", "--seed", str(seed), "--savemodel", model)
    for ending in (".keras", ".npz"):
        ask(binary, "convert", models[0], models[0].with_suffix(ending))
    return models


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="our binary, built with --release")
    parser.add_argument("--rivals", nargs="*", choices=MODULES, default=list(MODULES))
    parser.add_argument("--only-rivals", action="store_true", help="leave our own server out")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=4, help="length of a turn (default: %(default)s)")
    parser.add_argument("--drains", type=int, default=20, help="how often a server is sent away (default: %(default)s)")
    parser.add_argument("--apart", action="store_true", help="overload: server and load on cores of their own")
    parser.add_argument("--arrivals", choices=["poisson", "constant"], default="poisson")
    parser.add_argument("--peak-connections", type=int, default=32, help="of the closed loop that tells the peak")
    parser.add_argument("--open-connections", type=int, default=512, help="of the open loop (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, help="file to write (default: results/DATE-serving-MACHINE.md)")
    given = parser.parse_args()
    given.bin = given.bin.resolve()
    if not shutil.which("wrk"):
        parser.error("wrk is not here; install it (Debian's package is called wrk)")
    return given


def main() -> None:
    given = arguments()
    met, shown, before, scores = [], [], os.getloadavg()[0], {}
    program = load.build()
    with tempfile.TemporaryDirectory() as folder:
        models = trained(given.bin, pathlib.Path(folder))
        pictures = Pictures(given.bin, pathlib.Path(folder))
        if "closed" in given.parts or "overload" in given.parts:
            say("closed loop")
            text, scores = parts.closed_loops(given, models, pictures, met)
            shown += ["## Closed loop (wrk)", "", text]
        if "overload" in given.parts:
            say("overload")
            shown += ["## Open loop", "", parts.overloads(given, models, pictures, program, scores, met)]
        if "changes" in given.parts and not given.only_rivals:
            say("swaps and drains")
            shown += ["## Swap and drain under load", "", parts.swaps_and_drains(given, models, pictures, program, met)]
    text = tables.document([tables.bars(met), *shown], {
        # Where things lie on this machine is nobody's concern.
        "command": f"`benches/serve/run.py {shlex.join(re.sub('.*/', '', word) for word in sys.argv[1:])}`",
        "rounds": f"{given.rounds} in turn, {given.seconds} s each", "load before the start": f"{before:.1f}"})
    out = given.out or RESULTS / tables.file_name()
    out.write_text(text)
    print(text)
    say(f"written to {out}")
    sys.exit(0 if all(good for *_, good in met) else 1)


if __name__ == "__main__":
    main()
