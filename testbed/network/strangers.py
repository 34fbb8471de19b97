#!/usr/bin/env python3
"""Those who knock at a driver's door without belonging to its run: `strangers.py SPEECH ADDRESS:PORT`."""

import json
import pathlib
import socket
import ssl
import subprocess
import sys

# What each says, and what the driver's log then says of it.
SPEECHES = {
    "garbage": "does not speak trainyard's protocol",
    "another protocol": "speaks protocol 7, this program 1",
    "a wrong secret": "did not prove the run's secret; does it belong to another run?",
    "silence": "did not prove the run's secret within 5 seconds",
}
PATIENCE = 30


def driver_of(run) -> str:
    return json.loads((run.folder / "join.json").read_text())["address"]


def send(run, host, speech: str, address: str) -> subprocess.Popen:
    """Has a stranger on a host knock."""
    return subprocess.Popen(host.command(sys.executable, __file__, speech, address))


def seen_in_processes(secrets: set[str]) -> list[str]:
    """The processes whose command line or environment shows a secret."""
    seen = []
    for name in ("cmdline", "environ"):
        for path in pathlib.Path("/proc").glob(f"[0-9]*/{name}"):
            try:
                text = path.read_text(errors="replace")
            except OSError:
                continue  # It has ended.
            if any(secret in text for secret in secrets):
                seen.append(f"{path}")
    return seen


def speak(speech: str, address: str) -> None:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as plain:
        if speech == "garbage":
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
        elif speech != "silence":
            plain = private(plain)
            version = 7 if speech == "another protocol" else 1
            plain.sendall(b"TYRD" + version.to_bytes(2, "big") + bytes(32))
            plain.recv(38)
            plain.sendall(bytes(32))
        try:
            while plain.recv(1000):
                pass
        except OSError:
            pass  # Shown the door.


def private(plain: socket.socket) -> ssl.SSLSocket:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(plain)


if __name__ == "__main__":
    speak(*sys.argv[1:3])
