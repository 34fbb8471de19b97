"""The parts of the comparison. Each returns its tables and adds to `met` what was asked, measured, and whether that will do."""

import contextlib
import pathlib
import sys

import changes
import closed
import overload
import tables
from pictures import KIND, Pictures
from servers import Failed, Ours, Rival, Server
from settings import RIVALS

CONNECTIONS = [1, 32]
# Ours over the best rival, by connections, and what must be left of the peak at the highest load.
AT_LEAST = {1: 3.0, 32: 5.0}
KEPT = 0.95


def say(*words: str) -> None:
    print(*words, file=sys.stderr, flush=True)


def agree(server: Server, pictures: Pictures, told) -> float:
    """How far its answers are from the model's, at most."""
    distance = 0.0
    for body, expected in zip(pictures.bodies, told):
        answer = server.answer(body, KIND)["predictions"][0]
        distance = max(distance, *(abs(one - other) for one, other in zip(answer, expected, strict=True)))
    if distance > changes.NEAR:
        raise Failed(f"{server.name} answers otherwise than the model: {distance:.6f} apart")
    return distance


def enter(given, models: list[pathlib.Path], pictures: Pictures, room: contextlib.ExitStack, cores=None, chosen=None):
    """Starts everybody, one after another, each checked and warm; those who cannot take part are told of."""
    told, servers, notes = pictures.answers(models[0]), [], []
    makers = [] if given.only_rivals else [("trainyard", lambda: Ours(given.bin, models[0], cores))]
    makers += [(setting.name, lambda setting=setting: Rival(setting, models[0].with_suffix(""), cores))
               for setting in RIVALS if setting.program in given.rivals]
    for name, make in makers:
        if chosen is not None and name not in chosen:
            continue
        say(f"  starting {name}")
        try:
            server = make()
            room.callback(server.close)
            server.wait_for_answer(pictures.bodies[0], KIND)
            say(f"    {agree(server, pictures, told):.1e} from the model at most")
            closed.warm_up(server, pictures)
            servers.append(server)
        except Failed as problem:
            notes.append(f"- left out: {problem}")
            say(notes[-1])
    return servers, notes


def closed_loops(given, models, pictures, met: list) -> tuple[str, dict[str, closed.Score]]:
    with contextlib.ExitStack() as room:
        servers, notes = enter(given, models, pictures, room)
        scores = {server.name: closed.Score() for server in servers}
        for number in range(given.rounds):
            say(f"  round {number + 1} of {given.rounds}")
            for connections in CONNECTIONS:
                for server in servers:
                    turn = closed.turn(server, pictures, connections, given.seconds)
                    scores[server.name].turns.setdefault(connections, []).append(turn)
        for server in servers:
            server.peak = server.peak_rss()
        shown = [tables.closed_loop(connections, servers, scores) for connections in CONNECTIONS]
    rivals = [score for name, score in scores.items() if name != "trainyard"]
    for connections in CONNECTIONS if "trainyard" in scores and rivals else []:
        ours = scores["trainyard"].best(connections).per_second
        ratio = ours / max(score.best(connections).per_second for score in rivals)
        wanted = AT_LEAST[connections]
        what = f"times the best rival's requests/s at {connections}"
        met.append((what, f"≥ {wanted:g}", f"{ratio:.2f}", ratio >= wanted))
    return "\n".join([*shown, *notes, ""] if notes else shown), scores


def overloads(given, models, pictures, program, scores: dict[str, closed.Score], met: list) -> str:
    """Ours, and the rival that was best at the most connections."""
    rivals = [name for name in scores if name != "trainyard"]
    best = sorted(rivals, key=lambda name: scores[name].best(CONNECTIONS[-1]).per_second)[-1:]
    chosen = [name for name in scores if name == "trainyard" or name in best]
    with contextlib.ExitStack() as room:
        servers, _ = enter(given, models, pictures, room, overload.cores(given.apart)[0], chosen)
        outcomes = {server.name: overload.Outcome(server.name) for server in servers}
        for number in range(given.rounds):
            say(f"  round {number + 1} of {given.rounds}")
            for server in servers:
                overload.round_of(server, outcomes[server.name], program, pictures, given)
    if "trainyard" in outcomes:
        share = overload.SHARES[-1]
        kept = outcomes["trainyard"].kept(share)
        errors = sum(overload.errors(turn) for turns in outcomes["trainyard"].turns.values() for turn in turns)
        met.append((f"goodput at {share:.0%} load, of the peak", f"≥ {KEPT:g}", f"{kept:.3f}", kept >= KEPT))
        met.append(("errors other than 429 under load", "0", str(errors), errors == 0))
    return tables.overloaded(list(outcomes.values()))


def swaps_and_drains(given, models, pictures, program, met: list) -> str:
    seen = {"swap (SIGHUP)": changes.swap(given.bin, program, pictures, models, given),
            "drain (SIGTERM)": changes.drain(given.bin, program, pictures, models[0], given)}
    met += [(f"errors: {what}", "0", str(one.errors), one.errors == 0) for what, one in seen.items()]
    return tables.changed(seen)
