"""How a measurement becomes a committed file: a heading with commit and command, then tables."""

from __future__ import annotations

import subprocess
from pathlib import Path

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
