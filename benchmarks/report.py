"""How a measurement becomes a committed file: a heading with commit and command, then tables."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from noisygd_delete.evidence.atomic_write import check_output

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    """The commit that was measured, marked when the working tree differed from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!benchmarks/results")
    return git("rev-parse", "--short", "HEAD") + (" with local changes" if changed else "")


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(name: str, heading: str, command: str, body: str, measured: str) -> Path:
    """Write benchmarks/results/NAME.md. `measured` is the commit at the start of the run."""
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"{name}.md"
    page = check_output("result", str(target), begins=b"# ")
    page.write(f"# {heading}\n\nCommit {measured}; `{command}`.\n\n{body}\n")
    return target


@dataclass(frozen=True)
class Page:
    """The page of one run of a benchmark: its name, the command that makes it again, and the commit that the run began at."""

    name: str
    command: str
    commit: str

    def write(self, heading: str, body: str) -> Path:
        return write(self.name, heading, self.command, body, self.commit)


def begin(
    name: str,
    description: str | None,
    arguments: list[str],
    *,
    names: Iterable[str] | None = None,
    flags: Mapping[str, str] = MappingProxyType({}),
    prefix: str = "",
    **defaults: int,
) -> tuple[argparse.Namespace, Page]:
    """Read a benchmark's whole numbers (`--splits`, `--noises`, …), and the names of tables where `names` has the usual ones.

    `flags` are options without a value, each with its help: what they do is no part of the page.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=description)
    if names is not None:
        parser.add_argument("names", nargs="*", default=list(names))
    for option, default in defaults.items():
        parser.add_argument(f"--{option}", type=int, default=default)
    for flag, told in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=told)
    parsed = parser.parse_args(arguments)
    options = "".join(f" --{option} {getattr(parsed, option)}" for option in defaults)
    return parsed, Page(name, f"{prefix}python -m benchmarks {name}{options}", commit())
