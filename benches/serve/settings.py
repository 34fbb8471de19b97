"""Who is compared: which program, in which form, behind which server."""

import sys
from dataclasses import dataclass

MODULES = {"flask-keras": "with_flask", "fastapi-pytorch": "with_fastapi"}
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Setting:
    """A rival."""

    program: str
    form: str
    server: str
    workers: int = 1
    # That compute, of each worker.
    threads: int = 1

    @property
    def name(self) -> str:
        many = f" × {self.workers}" if self.workers > 1 else ""
        spread = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.program} {self.form}, {self.server}{many}{spread}"

    def command(self, port: int) -> list[str]:
        """Started in this folder, so that `rivals` is found."""
        module = f"rivals.{MODULES[self.program]}"
        run, app, where, many = [sys.executable, "-m"], f"{module}:app", f"{HOST}:{port}", str(self.workers)
        return {
            "own": [*run, module],
            "waitress": [*run, "waitress", "--threads", "4", "--listen", where, app],
            # Only its threaded workers keep connections; a worker is never taken for dead here.
            "gunicorn": [*run, "gunicorn", "--worker-class", "gthread", "--threads", "4", "--workers", many,
                         "--keep-alive", "75", "--timeout", "0", "--log-level", "warning", "--bind", where, app],
            "uvicorn": [*run, "uvicorn", "--host", HOST, "--port", str(port), "--workers", many, "--loop", "uvloop",
                        "--http", "httptools", "--no-access-log", "--log-level", "warning",
                        "--timeout-worker-healthcheck", "60", app],
        }[self.server]


# Each with the best of one worker and two. With both cores for one worker, threads wait for each other (PyTorch's
# by spinning), which pays only while nothing else runs.
RIVALS = [
    # As S2 does it, and the same behind a server made for it.
    Setting("flask-keras", "predict", "own", threads=2),
    Setting("flask-keras", "predict", "gunicorn", threads=2),
    Setting("flask-keras", "predict", "gunicorn", 2),
    Setting("flask-keras", "function", "own", threads=2),
    Setting("flask-keras", "function", "waitress", threads=2),
    Setting("flask-keras", "function", "gunicorn", threads=2),
    Setting("flask-keras", "function", "gunicorn", 2),
    Setting("fastapi-pytorch", "eager", "uvicorn", threads=2),
    Setting("fastapi-pytorch", "eager", "uvicorn"),
    Setting("fastapi-pytorch", "eager", "uvicorn", 2),
    Setting("fastapi-pytorch", "traced", "uvicorn", threads=2),
    Setting("fastapi-pytorch", "traced", "uvicorn"),
    Setting("fastapi-pytorch", "traced", "uvicorn", 2),
]
