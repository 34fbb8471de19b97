"""Requests that no server should take, each with the statuses that say so."""

import base64
import json
import struct
import zlib
from dataclasses import dataclass, field

from client import written

TOKEN = "0123456789abcdef0123456789abcdef"
HOST = "127.0.0.1"
JSON = "application/json"
FORM = "multipart/form-data; boundary=x"


@dataclass(frozen=True)
class Bad:
    """A request to be refused. `weight` is how often it comes in ten thousand, where it is too dear to come as often as others."""

    name: str
    message: bytes = field(repr=False)
    statuses: tuple[int, ...]
    weight: int = 100
    # What HTTP itself refuses, before anybody could say why, has no sentence.
    spoken: bool = True


def asked(name: str, statuses: int | tuple[int, ...], content_type: str, body: bytes | str, **more) -> Bad:
    """A question by somebody who knows the token."""
    body = body.encode() if isinstance(body, str) else body
    headers = {"host": HOST, "authorization": f"Bearer {TOKEN}", "content-type": content_type, **more.pop("headers", {})}
    statuses = statuses if isinstance(statuses, tuple) else (statuses,)
    return Bad(name, written(more.pop("method", "POST"), more.pop("path", "/v1/predict"), headers, body), statuses, **more)


def every_kind() -> list[Bad]:
    return [*at_the_door(), *as_json(), *as_form(), *pictures(), *too_much(), *no_http()]


def at_the_door() -> list[Bad]:
    right = {"host": HOST, "authorization": f"Bearer {TOKEN}"}
    wrong = {"host": HOST, "authorization": f"Bearer {TOKEN[:-1]}0"}
    strange = {"origin": "http://elsewhere.example"}
    return [
        Bad("no token", written("POST", "/v1/predict", {"host": HOST}, b"{}"), (401,)),
        Bad("a wrong token", written("GET", "/v1/model", wrong), (401,)),
        Bad("a wrong cookie", written("GET", "/", {"host": HOST, "cookie": f"trainyard={TOKEN}"}), (401,)),
        Bad("a link that was never made", written("GET", f"/?token={TOKEN}", {"host": HOST}), (401,)),
        Bad("a wrong method", written("DELETE", "/v1/predict", right), (405,)),
        Bad("a method that nobody knows", written("BREW", "/healthz", right), (405,)),
        Bad("nowhere", written("GET", "/nowhere", right), (404,)),
        Bad("out of the folder", written("GET", "/ui/..%2f..%2fetc%2fpasswd", right), (404,)),
        Bad("a number without end", written("GET", f"/gallery/{'9' * 400}", right), (404,)),
        Bad("faces of a model that knows none", written("POST", "/v1/compare", right, b"{}"), (404,)),
        asked("a page of another site", 403, JSON, "{}", headers=strange),
    ]


def as_json() -> list[Bad]:
    zeros = [0] * 784
    return [
        asked("no JSON", 400, JSON, "{"),
        asked("nothing", 400, JSON, ""),
        asked("NaN", 400, JSON, '{"inputs": [[NaN]]}'),
        asked("bytes that are no text", 400, JSON, b'{"texts": ["\xff\xfe"]}'),
        asked("brackets without end", 422, JSON, '{"inputs": ' + "[" * 5000),
        asked("arrays too deep", 422, JSON, '{"inputs": ' + "[" * 20 + "1" + "]" * 20 + "}"),
        asked("ragged arrays", 422, JSON, '{"inputs": [[1, 2], [3]]}'),
        asked("a number too large", 422, JSON, '{"inputs": [1e39]}'),
        asked("words for numbers", 422, JSON, json.dumps({"inputs": ["one", None, True]})),
        asked("one number too few", 422, JSON, json.dumps({"inputs": zeros[1:]})),
        asked("an unknown field", 422, JSON, '{"input": [1]}'),
        asked("two questions in one", 422, JSON, '{"texts": ["a"], "images": ["b"]}'),
        asked("a text for digits", 422, JSON, '{"texts": ["seven"]}'),
        asked("no base64", 422, JSON, '{"images": ["?"]}'),
        asked("a picture of nothing", 422, JSON, json.dumps({"images": [base64.b64encode(png(28, 28)).decode()]})),
        asked("no numbers that anybody computes with", 422, JSON, json.dumps({"inputs": [3e38, -3e38] * 392})),
    ]


def as_form() -> list[Bad]:
    head = '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
    return [
        asked("a form that is cut short", 400, FORM, head + "abc"),
        asked("a form without a boundary", 400, "multipart/form-data", head),
        asked("a field without a head", 400, FORM, "--x\r\nabc\r\n--x--"),
        asked("a field of another name", 400, FORM, head.replace("file", "other") + "abc\r\n--x--"),
        asked("an empty form", 422, FORM, "--x--"),
        asked("a form with no picture in it", 422, FORM, head + "abc\r\n--x--", path="/upload"),
        asked("a form of other fields", 400, "application/x-www-form-urlencoded", "a=b&c=%zz", path="/"),
        asked("a text of bytes", 400, "application/x-www-form-urlencoded", "review=%ff"),
        asked("another type", 415, "text/plain", "seven"),
        asked("no type", 415, "", "seven"),
    ]


def pictures() -> list[Bad]:
    good = png(28, 28)
    return [
        asked("half a picture", 422, "image/png", good[: len(good) // 2]),
        asked("a picture with a changed byte", 422, "image/png", good[:40] + bytes([good[40] ^ 1]) + good[41:]),
        asked("a head of a picture", 422, "image/jpeg", b"\xff\xd8\xff\xe0"),
        asked("a GIF of nothing", 422, "image/gif", b"GIF89a" + bytes(7)),
        asked("noise", 422, "image/bmp", b"BM" + bytes(range(256))),
        # Bombs: small files that claim to be large, or are when they are unpacked.
        asked("a picture that claims to be gigantic", 422, "image/png", png(60_000, 60_000, lines=b"\0")),
        asked("a portable picture that claims to be gigantic", 422, "image/x-portable-graymap", b"P5\n65000 65000\n255\n"),
        asked("a small picture with gigantic contents", 422, "image/png", png(28, 28, lines=bytes(100_000_000)), weight=2),
        asked("a gigantic text in a picture", 422, "image/png", png(28, 28, text=bytes(50_000_000)), weight=2),
        asked("a large picture of nothing", 422, "image/png", png(6000, 6000), weight=1),
    ]


def too_much() -> list[Bad]:
    tiny = base64.b64encode(b"tiny").decode()
    return [
        asked("a length that is too much", 413, JSON, b"", headers={"content-length": str(1 << 40)}, weight=20),
        asked("more than is taken, in pieces", 413, JSON, chunked(17 << 20), headers=pieces(), weight=1),
        asked("too many pictures", 413, JSON, json.dumps({"images": [tiny] * 1025}), weight=10),
    ]


def pieces() -> dict[str, str | None]:
    """No length, but pieces."""
    return {"transfer-encoding": "chunked", "content-length": None}


def chunked(size: int) -> bytes:
    piece = 1 << 20
    return b"".join(b"%x\r\n%s\r\n" % (piece, b" " * piece) for _ in range(size // piece)) + b"0\r\n\r\n"


def no_http() -> list[Bad]:
    right = f"GET / HTTP/1.1\r\nhost: {HOST}\r\n"
    garbage = {"bytes": bytes(range(256)) + b"\r\n\r\n", "zeros": bytes(64) + b"\r\n\r\n", "another version": b"GET / HTTP/9\r\n\r\n",
               "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",
               "a length that is none": f"{right}content-length: many\r\n\r\n".encode(),
               "two lengths": f"{right}content-length: 1\r\ncontent-length: 2\r\n\r\n".encode()}
    long = written("GET", "/", {"host": HOST, "x-long": "a" * 1_000_000})
    return [
        *(Bad(f"garbage: {name}", message, (400,), 10, spoken=False) for name, message in garbage.items()),
        Bad("a head without end", long, (431,), 5, spoken=False),
    ]


def png(width: int, height: int, lines: bytes | None = None, text: bytes | None = None) -> bytes:
    """A grey picture of nothing; `lines` are its contents unless they are what they should be."""
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    more = chunk(b"zTXt", b"x\0\0" + zlib.compress(text)) if text else b""
    contents = zlib.compress(bytes((1 + width) * height) if lines is None else lines)
    return b"\x89PNG\r\n\x1a\n" + head + more + chunk(b"IDAT", contents) + chunk(b"IEND", b"")
