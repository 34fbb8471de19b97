"""The results as tables."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import re
import statistics
import sys

import closed
import overload
from changes import Changes

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "train"))
from report import commit, cpu_model, instruction_set  # noqa: E402

MIB = 1024 * 1024
PACKAGES = ["tensorflow-cpu", "keras", "torch", "flask", "waitress", "gunicorn", "fastapi", "uvicorn", "uvloop", "pillow"]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f}"


def closed_loop(connections: int, servers: list, scores: dict[str, closed.Score]) -> str:
    """The fastest first. The ratio is ours over theirs, best turn against best turn; latencies are the best turn's."""
    many = "1 connection" if connections == 1 else f"{connections} connections"
    lines = [f"### {many}", "",
             "| who | requests/s, best | median | p50, ms | p99, ms | errors | ours is | peak memory | first answer after |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    ours = scores.get("trainyard")
    for server in sorted(servers, key=lambda server: -scores[server.name].best(connections).per_second):
        score = scores[server.name]
        best = score.best(connections)
        ratio = f"{ours.best(connections).per_second / best.per_second:.2f}×" if ours and score is not ours else "–"
        lines.append(
            f"| {server.name} | {best.per_second:,.1f} | {score.median(connections):,.1f} | {milliseconds(best.p50)} "
            f"| {milliseconds(best.p99)} | {score.errors(connections)} | {ratio} "
            f"| {server.peak / MIB:,.0f} MiB | {server.first_answer:.2f} s |")
    return "\n".join([*lines, ""])


def overloaded(outcomes: list[overload.Outcome]) -> str:
    """The best turn by goodput for each share of the peak."""
    lines = ["| who | load | asked/s | good/s, best | of the peak | median | 429/s | p50, ms | p99, ms | overdue | late "
             "| errors |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for outcome in outcomes:
        for share, turns in outcome.turns.items():
            best = outcome.best(share)
            median = statistics.median(turn["goodput"] / peak for turn, peak in zip(turns, outcome.peaks))
            seconds = best["planned"] / best["rate"]
            lines.append(
                f"| {outcome.server} | {share:.0%} | {best['rate']:,.0f} | {best['goodput']:,.1f} | {outcome.kept(share):.3f} "
                f"| {median:.3f} | {best['statuses'].get('429', 0) / seconds:,.0f} | {milliseconds(best['p50'])} "
                f"| {milliseconds(best['p99'])} | {best['overdue']} | {best['late']} "
                f"| {sum(overload.errors(turn) for turn in turns)} |")
    return "\n".join([*lines, ""])


def changed(named: dict[str, Changes]) -> str:
    lines = ["| what | times | answers | errors | unread after the signal | seconds, median | worst |",
             "|---|---:|---:|---:|---:|---:|---:|"]
    for what, seen in named.items():
        lines.append(f"| {what} | {seen.count} | {seen.answered:,} | {seen.errors} | {seen.unread} "
                     f"| {statistics.median(seen.seconds or [0]):.3f} | {max(seen.seconds, default=0):.3f} |")
    remarks = [f"- {what}: {remark}" for what, seen in named.items() for remark in seen.remarks[:20]]
    return "\n".join([*lines, "", *remarks, ""])


def bars(met: list[tuple[str, str, str, bool]]) -> str:
    lines = ["| what | asked | measured | met |", "|---|---:|---:|---|"]
    lines += [f"| {what} | {asked} | {measured} | {'yes' if good else '**no**'} |" for what, asked, measured, good in met]
    return "\n".join([*lines, ""])


def document(parts: list[str], facts: dict[str, str]) -> str:
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    facts = {
        "machine": f"{cpu_model()} ({instruction_set()}), {os.cpu_count()} cores, {system}",
        "commit": commit(),
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
                    + f", wrk {closed.version()}, Python {platform.python_version()}",
        **facts,
    }
    listed = [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join([f"# Serving, side by side, {datetime.date.today()}", "", *listed, "", *parts])


def file_name() -> str:
    machine = re.sub(r"[^a-z0-9]+", "-", f"{cpu_model()} {instruction_set()}".lower()).strip("-")
    return f"{datetime.date.today()}-serving-{machine}.md"
