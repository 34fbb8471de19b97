#!/usr/bin/env python3
"""names.py NAME ADDRESS: a name server that knows one name, alone in a network namespace.

Started under `unshare --net`, it brings up the loopback of its namespace, listens there at port 53, prints `ready` and
answers until it is killed.
"""

import fcntl
import socket
import struct
import sys

GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1
FOUND, UNKNOWN = 0x8180, 0x8183
HEADER = struct.Struct("!6H")
ADDRESS = 1


def main() -> None:
    name, address = sys.argv[1:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        bring_up(server)
        server.bind(("127.0.0.1", 53))
        print("ready", flush=True)
        while True:
            query, asker = server.recvfrom(4096)
            server.sendto(answer(query, name, address), asker)


def bring_up(any_socket: socket.socket) -> None:
    request = struct.pack("16sH14x", b"lo", 0)
    flags = struct.unpack_from("16sH", fcntl.ioctl(any_socket, GET_FLAGS, request))[1]
    fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", b"lo", flags | UP))


def answer(query: bytes, name: str, address: str) -> bytes:
    """The answer to a query with one question; what follows the question is left out."""
    number = HEADER.unpack_from(query)[0]
    end = query.index(b"\0", HEADER.size) + 5
    question = query[HEADER.size:end]
    asked, kind = labels(question), struct.unpack("!H", question[-4:-2])[0]
    if asked.lower() != name:
        return HEADER.pack(number, UNKNOWN, 1, 0, 0, 0) + question
    if kind != ADDRESS:
        return HEADER.pack(number, FOUND, 1, 0, 0, 0) + question
    # The name is that of the question, which begins at byte 12.
    record = struct.pack("!HHHIH", 0xC00C, ADDRESS, 1, 60, 4) + socket.inet_aton(address)
    return HEADER.pack(number, FOUND, 1, 1, 0, 0) + question + record


def labels(question: bytes) -> str:
    parts, at = [], 0
    while question[at]:
        parts.append(question[at + 1:at + 1 + question[at]].decode())
        at += 1 + question[at]
    return ".".join(parts)


if __name__ == "__main__":
    main()
