#!/usr/bin/env python3
"""Trains or answers in a process of its own, on command: one line of JSON in, one out.

Answers to {"seconds": S} with {"steps", "seconds", "peak_rss_bytes"} after training about that long.
Before that it says {"trained": STEPS, "version"} and, warmed up, {"steps_per_second"}.
"""

import argparse
import importlib
import json
import sys
import time

import settings

WARM_UP_SECONDS = 2.0


def peak_rss() -> int:
    """What /proc calls the high-water mark; getrusage would count the parent's memory in."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def timed(passes, count: int) -> float:
    start = time.perf_counter()
    passes(count)
    return time.perf_counter() - start


def seconds_per_pass(passes) -> float:
    """Warms up until WARM_UP_SECONDS are over; the last and longest stretch tells."""
    count, begun = 1, time.perf_counter()
    while True:
        seconds = timed(passes, count)
        if time.perf_counter() - begun >= WARM_UP_SECONDS:
            return seconds / count
        count *= 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rival", choices=["tensorflow", "pytorch", "jax"])
    parser.add_argument("form", help="a way of the rival's: see FORMS in rivals/")
    parser.add_argument("--network", choices=settings.NETWORKS, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--answers", type=int, default=0, help="samples to answer at a time, instead of training")
    given = parser.parse_args()

    rival = importlib.import_module(f"rivals.with_{given.rival}")
    setting = settings.Setting(given.network, given.threads, given.answers)
    passes, version = rival.prepare(setting, given.form)
    passes(1)
    say(trained=setting.work.batches, version=version)
    seconds = seconds_per_pass(passes)
    say(steps_per_second=setting.work.batches / seconds)
    for line in sys.stdin:
        count = max(1, round(json.loads(line)["seconds"] / seconds))
        say(steps=count * setting.work.batches, seconds=timed(passes, count), peak_rss_bytes=peak_rss())


def say(**answer) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
