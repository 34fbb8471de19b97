"""Our server, as a process that this suite starts and ends, or one that runs already."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import urllib.request

# A bound for ending in order: there is nothing to drain.
END_S = 60


class Server:
    """`trainyard serve`, at a port that is free."""

    def __init__(self, binary: pathlib.Path, words: list[str], cache: pathlib.Path) -> None:
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        command = [str(binary), "serve", *words, "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.said: list[str] = []
        self.address = self._address()
        # A full pipe would stop it.
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()

    def _address(self) -> str:
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r"^serving .* at (http://\S+)", line):
                return found[1]
        raise RuntimeError(f"the server ended at once: {''.join(self.said).strip()}")

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert code == 0, f"the server ended with {code}: {''.join(self.said).strip()}"


class Running:
    """A server that somebody else started."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_) -> None:
        pass


def card(address: str) -> dict:
    """What a server says of its model."""
    with urllib.request.urlopen(address + "v1/model", timeout=END_S) as answer:
        return json.load(answer)
