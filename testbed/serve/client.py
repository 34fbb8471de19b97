"""A client that says exactly what it is told, over connections that it keeps as long as the server does."""

import json
import socket
from dataclasses import dataclass

# A bound, not an expectation: the server's own limits are shorter.
WAIT_S = 120


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 is a connection that was closed without a word."""

    status: int
    headers: dict[str, str]
    body: bytes

    def sentence(self) -> str:
        """What a problem says of itself."""
        return json.loads(self.body)["error"]


CLOSED = Answer(0, {}, b"")


def written(method: str, path: str, headers: dict[str, str | None], body: bytes = b"") -> bytes:
    """A request as bytes. A length that is named is believed, and one that is None is left out."""
    headers = {"content-length": str(len(body)), **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items() if value is not None)]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Client:
    """One connection at a time to one server."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address, self.stream = address, None

    def say(self, message: bytes) -> Answer:
        """Sends bytes and reads one answer; over a new connection where the server closed the last one."""
        kept = self.stream is not None
        self.begin(message)
        answer = self.answer()
        return self.say(message) if answer is CLOSED and kept else answer

    def begin(self, message: bytes) -> None:
        if self.stream is None:
            self.stream = socket.create_connection(self.address, timeout=WAIT_S)
            self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.stream.sendall(message)
        except OSError:
            pass  # It may have answered before it read all, and what it said is read.

    def answer(self) -> Answer:
        head, rest = self._until(b"\r\n\r\n")
        if head is None:
            return CLOSED
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = self._exactly(int(headers.get("content-length", 0)), rest)
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(status.split(" ")[1]), headers, body)

    def close(self) -> None:
        if self.stream is not None:
            self.stream.close()
        self.stream = None

    def _until(self, end: bytes) -> tuple[bytes | None, bytes]:
        read = b""
        while end not in read:
            if not (more := self._more()):
                self.close()
                return None, b""
            read += more
        head, _, rest = read.partition(end)
        return head, rest

    def _exactly(self, length: int, read: bytes) -> bytes:
        while len(read) < length:
            if not (more := self._more()):
                raise AssertionError("an answer was cut short")
            read += more
        return read

    def _more(self) -> bytes:
        try:
            return self.stream.recv(1 << 16)
        except ConnectionError:
            return b""
