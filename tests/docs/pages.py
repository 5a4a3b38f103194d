"""What the tests of the documentation read in a page of Markdown: its tables, links and anchors, and the tests that it names."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def cells(text: str) -> list[list[str]]:
    """The rows of all tables of a page, heads among them, without the lines of dashes below those."""
    found = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [row for row in found if not set("".join(row)) <= set("-:")]


def named(cell: str) -> list[str]:
    """What a cell has in code."""
    return re.findall(r"`([^`]+)`", cell)


def verdicts() -> dict[str, str]:
    """Row of the proofs -> verdict, from the committed table of results."""
    rows = cells((ROOT / "proofs_check" / "RESULTS.md").read_text(encoding="utf-8"))
    return {row[0]: row[2] for row in rows if len(row) == 8 and row[0] != "key"}


def links(text: str) -> list[str]:
    """Where the links and pictures of a page lead, those in code left out."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", FENCE.sub("", text)))


def anchors(text: str) -> set[str]:
    """The names that headings get, as GitHub and the site give them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    plain = [re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def dead(page: Path) -> list[str]:
    """Relative links of a page that lead nowhere in the repository: a file that is not there, or a heading that it has not."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        there = target == page or (target.exists() and target.is_relative_to(ROOT))
        if there and anchor and target.suffix == ".md":
            there = anchor in anchors(target.read_text(encoding="utf-8"))
        if not there:
            found.append(link)
    return found


def missing_tests(text: str) -> list[str]:
    """The tests that a page names, `tests/file.py::name`, and that are not there."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    sources = {file: (ROOT / file).read_text() if (ROOT / file).exists() else "" for file, _ in named}
    return [f"{file}::{name}" for file, name in named if f"def {name}(" not in sources[file]]
