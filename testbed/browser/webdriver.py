"""Chromium, driven over W3C WebDriver: JSON over HTTP to chromedriver, and DevTools where WebDriver lacks something."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Bounds, not expectations: a loaded machine may be slow.
START_S = 60
ANSWER_S = 120
# A page that has not come to what is waited for by then never will.
WAIT_S = 60
BETWEEN_S = 0.05

# The key under which WebDriver names elements.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

FLAGS = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1"]


def why_not() -> str | None:
    """Why there is no browser here."""
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"{' and '.join(missing)} not found; Debian has chromium and chromium-driver" if missing else None


class Driver:
    """A chromedriver and one browser of it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(["chromedriver", "--port=0", "--allowed-ips="], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.port = self._port()
        # Chromium refuses root with its sandbox on.
        flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": flags, "binary": shutil.which("chromium")},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        self.session = ""
        self.session = "/session/" + self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def _port(self) -> int:
        for line in self.process.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return int(found[1])
        raise RuntimeError("chromedriver ended before it listened")

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *_) -> None:
        try:
            self.ask("DELETE", "", None)
        finally:
            self.process.terminate()
            self.process.wait(START_S)

    def ask(self, method: str, path: str, body: dict | None = None):
        """A command of WebDriver's."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        sent = None if method in ("GET", "DELETE") else json.dumps(body or {})
        connection.request(method, self.session + path, sent, {"content-type": "application/json"})
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{path}: {value['error']}: {value['message'].splitlines()[0]}")
        return value

    def devtools(self, command: str, **arguments):
        """A command of the DevTools protocol."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": arguments})

    def go(self, address: str) -> None:
        self.ask("POST", "/url", {"url": address})

    def address(self) -> str:
        return self.ask("GET", "/url")

    def script(self, text: str, *arguments):
        """What a function with this body returns; a promise is waited for."""
        return self.ask("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def find(self, selector: str) -> dict:
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})

    def click(self, selector: str) -> None:
        self.ask("POST", f"/element/{self.find(selector)[ELEMENT]}/click")

    def type(self, selector: str, text: str) -> None:
        """Types into an element; into an input for files, paths with a newline between them."""
        self.ask("POST", f"/element/{self.find(selector)[ELEMENT]}/value", {"text": text})

    def act(self, *sources: dict) -> None:
        """Keys, pointers and fingers, as WebDriver's actions."""
        self.ask("POST", "/actions", {"actions": list(sources)})
        self.ask("DELETE", "/actions")

    def log(self, kind: str) -> list[dict]:
        """What was logged since the last time."""
        return self.ask("POST", "/se/log", {"type": kind})

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("GET", "/screenshot"))

    def until(self, text: str, *arguments):
        """Waits until a function with this body returns something, and returns that."""
        return patiently(lambda: self.script(text, *arguments), text)

    def source(self) -> str:
        """The document as HTML, which is told where scripts are off, too."""
        return self.ask("GET", "/source")


def patiently(look: Callable[[], T], what: str) -> T:
    """What is seen once there is something to see."""
    end = time.monotonic() + WAIT_S
    while not (value := look()):
        if time.monotonic() > end:
            raise AssertionError(f"after {WAIT_S} s there was nothing of: {what}")
        time.sleep(BETWEEN_S)
    return value
