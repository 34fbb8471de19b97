"""The results as tables."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

from contestants import Score
from settings import Setting

MIB = 1024 * 1024


def table(setting: Setting, scores: list[Score]) -> str:
    """One setting, the fastest first. The ratio is ours over theirs, best round against best round."""
    ours = next((score for score in scores if score.name == "trainyard"), None)
    lines = [
        f"### {setting}", "",
        "| who | batches/s, best | median | samples/s, best | ours is | peak memory | first one after |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for score in sorted(scores, key=lambda score: -score.best):
        ratio = f"{ours.best / score.best:.2f}×" if ours and score is not ours and score.best else "–"
        lines.append(
            f"| {score.name} | {score.best:,.1f} | {score.median:,.1f} | {score.best * setting.batch:,.0f} "
            f"| {ratio} | {score.peak_rss / MIB:,.0f} MiB | {score.first_step:.2f} s |")
    notes = [f"- {score.name}: {score.note}" for score in scores if score.note]
    return "\n".join([*lines, *([""] + notes if notes else []), ""])


def document(tables: list[str], facts: dict[str, str]) -> str:
    """The whole result with what is needed to repeat it."""
    system = f"{platform.system()} {platform.release()}"
    facts = {
        "machine": f"{cpu_model()} ({instruction_set()}), {os.cpu_count()} cores, {system}",
        "commit": commit(), "Python": platform.python_version(), **facts,
    }
    listed = [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join([f"# Side by side, {datetime.date.today()}", "", *listed, "", *tables])


def file_name() -> str:
    machine = re.sub(r"[^a-z0-9]+", "-", f"{cpu_model()} {instruction_set()}".lower()).strip("-")
    return f"{datetime.date.today()}-{machine}.md"


def cpu_model() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def instruction_set() -> str:
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return next((name for flag, name in [("avx512f", "AVX-512"), ("avx2", "AVX2")] if flag in flags), "no AVX2")


def commit() -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-C", pathlib.Path(__file__).parent, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = " with local changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return git("rev-parse", "--short", "HEAD") + changed
