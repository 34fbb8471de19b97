#!/usr/bin/env python3
"""A long cable between two network cards: every packet takes 10 ms ± 2.5 ms each way, and one in two hundred is lost.

For kernels without netem. A host at its end has 20 ms ± 5 ms to another such host, and loses one in a hundred.
"""

import heapq
import random
import select
import socket
import sys
import time

DELAY, JITTER, LOSS = 0.010, 0.0025, 0.005
ETH_P_ALL = 0x0003
# The header says which checksums the card was to fill in; passed on, the next card does.
SOL_PACKET, PACKET_VNET_HDR = 263, 15
LARGEST = 1 << 17


def attach(card: str) -> socket.socket:
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    end.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    end.bind((card, 0))
    return end


def carry(ends: list[socket.socket]) -> None:
    """For ever. Packets of one direction stay in order."""
    underway: list[tuple[float, int, int, bytes]] = []
    latest, count = [0.0, 0.0], 0
    while True:
        wait = max(0.0, underway[0][0] - time.monotonic()) if underway else None
        ready, _, _ = select.select(ends, [], [], wait)
        now = time.monotonic()
        for end in ready:
            packet, (_, _, kind, *_) = end.recvfrom(LARGEST)
            if kind == socket.PACKET_OUTGOING or random.random() < LOSS:
                continue
            to = 1 - ends.index(end)
            latest[to] = max(latest[to], now + DELAY + random.uniform(-JITTER, JITTER))
            count += 1
            heapq.heappush(underway, (latest[to], count, to, packet))
        while underway and underway[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(underway)
            try:
                ends[to].send(packet)
            except OSError:
                pass  # The card is down or full: one more that is lost.


if __name__ == "__main__":
    carry([attach(card) for card in sys.argv[1:3]])
