"""A hundred thousand bad requests: each is refused with a sentence, and the server is as it was before."""

import pathlib
import random
import re
import threading
import time
import urllib.parse

import samples
from bad import HOST, JSON, TOKEN, Bad, asked, every_kind
from check import Check
from client import Client, written
from server import Server

ALL = 100_000
# By then every kind came many times, and what is kept for later is there.
WARM = 20_000
CLIENTS = 4
# What memory may differ by, as the system hands it out in large pieces. To lose 300 bytes a request would be more.
MOST_GROWTH = 24 << 20
# Clients that say half of what they wanted to, while all others go on.
SLOW = 20
# A bound: slow clients are let go after 30 s.
LET_GO_S = 90


class Storm:
    """The checks, with a server of their own."""

    def __init__(self, binary: pathlib.Path, words: list[str], folder: pathlib.Path) -> None:
        token = folder / "token"
        token.write_text(TOKEN)
        token.chmod(0o600)
        self.server = Server(binary, [*words, "--token-file", str(token)], folder / "cache")
        address = urllib.parse.urlsplit(self.server.address)
        self.address = (address.hostname, address.port)
        self.right = asked("a right question", 200, "image/png", samples.seven(True))
        self.first = Client(self.address).say(self.right.message)
        self.kinds, self.wrong = every_kind(), []

    def checks(self) -> list[Check]:
        return [
            Check("every kind of bad request is refused, with a sentence where there is somebody to say it", self.each),
            Check(f"{ALL:,} bad requests change nothing: memory does not grow", self.all),
            Check("the server answers as before, nothing panicked, and nothing was its own fault", self.as_before),
            Check("it ends in order", lambda: self.server.__exit__()),
        ]

    def each(self) -> None:
        assert self.first.status == 200, self.first
        for bad in self.kinds:
            self.refuse(Client(self.address), bad)
        assert not self.wrong, f"{len(self.wrong)} kinds: {self.wrong[:5]}"

    def all(self) -> None:
        slow = [self.slow(number) for number in range(SLOW)]
        self.send(WARM, seed=1)
        warm, began = self.resident(), time.monotonic()
        self.send(ALL - WARM, seed=2)
        took = time.monotonic() - began
        self.let_go(slow)
        grown = self.resident() - warm
        print(f"        {(ALL - WARM) / took:,.0f} requests a second; {warm >> 20} MiB, grown by {grown / (1 << 20):.1f} MiB", flush=True)
        assert not self.wrong, f"{len(self.wrong)} answers: {self.wrong[:5]}"
        assert grown <= MOST_GROWTH, f"memory grew by {grown:,} bytes"

    def as_before(self) -> None:
        again = Client(self.address).say(self.right.message)
        assert again.body == self.first.body, f"{again} is not {self.first}"
        metrics = Client(self.address).say(written("GET", "/metrics", {"host": HOST, "authorization": f"Bearer {TOKEN}"}))
        counts = {code: int(count) for code, count in re.findall(r'code="(\d+)"} (\d+)', metrics.body.decode())}
        assert not any(code.startswith("5") for code in counts), counts
        said = "".join(self.server.said)
        assert "panick" not in said, said

    def send(self, count: int, seed: int) -> None:
        """So many requests, by several clients, each in an order of its own."""
        # Each kind comes as often as its weight says, so that no run is dearer than another.
        cheap = [bad for bad in self.kinds if bad.weight == 100]
        dear = [bad for bad in self.kinds if bad.weight < 100]
        drawn = [bad for bad in dear for _ in range(bad.weight * count // 10_000)]
        drawn += [cheap[number % len(cheap)] for number in range(count - len(drawn))]
        random.Random(seed).shuffle(drawn)
        threads = [threading.Thread(target=self.client, args=(drawn[first::CLIENTS],)) for first in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def client(self, drawn: list[Bad]) -> None:
        client = Client(self.address)
        try:
            for bad in drawn:
                self.refuse(client, bad)
        except Exception as problem:  # noqa: BLE001 - a thread has nobody who would hear it
            self.wrong.append(f"{type(problem).__name__}: {problem}")
        client.close()

    def refuse(self, client: Client, bad: Bad) -> None:
        answer = client.say(bad.message)
        good = answer.status in bad.statuses
        if good and bad.spoken:
            sentence = answer.sentence()
            good = sentence.endswith((".", "…", "?")) and not sentence[0].islower()
        if good and answer.status == 405:
            good = "allow" in answer.headers
        if good and answer.status == 401:
            good = answer.headers.get("www-authenticate", "").startswith("Bearer")
        if not good:
            self.wrong.append(f"{bad.name}: {answer.status} {answer.body[:200]!r}")

    def slow(self, number: int) -> Client:
        """Half a head, or a head and half a body."""
        client = Client(self.address)
        whole = asked("slow", 408, JSON, '{"inputs": [1]}').message
        client.begin(whole[: len(whole) - 5] if number % 2 else whole[:30])
        return client

    def let_go(self, slow: list[Client]) -> None:
        end = time.monotonic() + LET_GO_S
        for number, client in enumerate(slow):
            client.stream.settimeout(max(1, end - time.monotonic()))
            answer = client.answer()
            # Who has not even asked is told nothing.
            wanted = (408,) if number % 2 else (0, 408)
            if answer.status not in wanted:
                self.wrong.append(f"a slow client: {answer.status} {answer.body[:200]!r}")

    def resident(self) -> int:
        """Memory that the server has, in bytes."""
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) << 10
