"""A model swapped and a server sent away under load: nothing may be lost."""

import json
import os
import pathlib
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np

from load import Load
from pictures import KIND, Pictures
from servers import Failed, Ours

CONNECTIONS = 32
# How far an answer may be from what the model says without a server.
NEAR = 1e-4
SWAP_WAIT = 30
DRAIN_WAIT = 60
MAX_SWAPS = 10_000


@dataclass
class Changes:
    """What was seen in all swaps or drains."""

    count: int = 0
    answered: int = 0
    errors: int = 0
    # Sent after the signal, on a connection that the server was about to close: clients send those again.
    unread: int = 0
    seconds: list[float] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def swap(binary: pathlib.Path, program: pathlib.Path, pictures: Pictures, models: list[pathlib.Path], given) -> Changes:
    """The file is replaced and SIGHUP sent, again and again, each time as soon as the new model answers."""
    told = [pictures.answers(model) for model in models]
    seen = Changes()
    with tempfile.TemporaryDirectory() as folder:
        served, answers = pathlib.Path(folder, "served.safetensors"), pathlib.Path(folder, "answers")
        shutil.copy(models[0], served)
        server = Ours(binary, served)
        try:
            server.wait_for_answer(pictures.bodies[0], KIND)
            load = Load(program, server, pictures, connections=CONNECTIONS, seconds=given.seconds + 2, settle=0,
                        answers=answers)
            # Bounded, should the generator never end.
            while load.process.poll() is None and seen.count < MAX_SWAPS:
                seen.count += 1
                which = seen.count % 2
                seen.seconds.append(swap_once(server, pictures, served, models[which], told[which][0]))
            count(seen, load.result(), answers, told)
        except Failed as problem:
            seen.errors += 1
            seen.remarks.append(str(problem))
        finally:
            server.close()
    return seen


def swap_once(server: Ours, pictures: Pictures, served: pathlib.Path, model: pathlib.Path, told: np.ndarray) -> float:
    """Seconds until the new model answers."""
    fresh = served.with_name("fresh.safetensors")
    shutil.copy(model, fresh)
    os.replace(fresh, served)
    server.signal(signal.SIGHUP)
    begun = time.perf_counter()
    while not near(server.answer(pictures.bodies[0], KIND)["predictions"][0], told):
        if time.perf_counter() - begun > SWAP_WAIT:
            raise Failed(f"the new model does not answer {SWAP_WAIT} s after SIGHUP")
    return time.perf_counter() - begun


def count(seen: Changes, result: dict, answers: pathlib.Path, told: list[np.ndarray]) -> None:
    """Every answer must be that of one model, and both must have answered."""
    seen.answered += result["statuses"].get("200", 0)
    seen.errors += result["sent"] - seen.answered
    by_model = [0] * len(told)
    for line in answers.read_text().splitlines():
        body, times, answer = line.split("\t", 2)
        fitting = [near(json.loads(answer).get("predictions", [[]])[0], model[int(body)]) for model in told]
        if True in fitting:
            by_model[fitting.index(True)] += int(times)
        else:
            seen.errors += int(times)
            seen.remarks.append(f"an answer of neither model: {answer[:200]}")
    seen.remarks.append(f"answers by model: {' and '.join(f'{times:,}' for times in by_model)}")
    if 0 in by_model:
        seen.errors += 1


def drain(binary: pathlib.Path, program: pathlib.Path, pictures: Pictures, model: pathlib.Path, given) -> Changes:
    """SIGTERM while all connections are busy: whatever was sent before it is answered, and the exit is 0."""
    seen = Changes()
    for _ in range(given.drains):
        server = Ours(binary, model)
        try:
            server.wait_for_answer(pictures.bodies[0], KIND)
            load = Load(program, server, pictures, connections=CONNECTIONS, seconds=DRAIN_WAIT, settle=0)
            # Not the same moment each time, so that the signal meets requests at every stage.
            time.sleep(0.5 + 0.037 * seen.count)
            sent = server.signal(signal.SIGTERM)
            exited = server.process.wait(DRAIN_WAIT)
            seen.seconds.append(time.time() - sent)
            judge(seen, load.result(), sent, exited)
        finally:
            server.close()
    return seen


def judge(seen: Changes, result: dict, sent: float, exited: int) -> None:
    seen.count += 1
    seen.answered += result["statuses"].get("200", 0)
    wrong = {f"status {status}": times for status, times in result["statuses"].items() if status != "200"}
    for failure in result["told"]:
        after = failure["sent"] >= sent
        if after and failure["what"] == "Refused":
            continue
        if after and failure["what"] == "Closed":
            seen.unread += 1
            continue
        what = f"{failure['what']}, sent {failure['sent'] - sent:+.4f} s from the signal"
        wrong[what] = wrong.get(what, 0) + 1
    if exited:
        wrong[f"exit {exited}"] = 1
    seen.errors += sum(wrong.values())
    seen.remarks += [f"{what} ({times})" for what, times in wrong.items()]


def near(answer: list[float], told: np.ndarray) -> bool:
    return len(answer) == len(told) and float(np.abs(np.array(answer) - told).max()) <= NEAR
