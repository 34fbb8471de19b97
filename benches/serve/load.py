"""Our own generator of load, `load/`: the open loop, and loops that write down what was answered."""

import json
import os
import pathlib
import subprocess

from pictures import KIND, Pictures
from servers import HOST, Server, held_on

CRATE = pathlib.Path(__file__).with_name("load")


def build() -> pathlib.Path:
    """Its program, where cargo puts it."""
    command = ["cargo", "build", "--release", "--quiet", "--message-format", "json", "--manifest-path", CRATE / "Cargo.toml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"cargo cannot build {CRATE}: {done.stderr.strip()[-1000:]}")
    return next(pathlib.Path(line["executable"]) for line in map(json.loads, done.stdout.splitlines())
                if line.get("executable"))


class Load:
    """A turn that has begun."""

    def __init__(self, program: pathlib.Path, server: Server, pictures: Pictures, cores: set[int] | None = None, **options):
        chosen = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self.process = subprocess.Popen(
            [program, f"{HOST}:{server.port}", server.route, KIND, pictures.file, *chosen], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=held_on(cores or os.sched_getaffinity(0)))

    def result(self) -> dict:
        out, errors = self.process.communicate(timeout=300)
        if self.process.returncode:
            raise SystemExit(f"the generator of load exited {self.process.returncode}: {errors.strip()[-500:]}")
        return json.loads(out)
