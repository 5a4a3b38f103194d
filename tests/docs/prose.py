"""What the tests of the documentation read in a page of Markdown: its prose, its links, its anchors, its grade."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """The sentences of a page: without code, tables, headings, pictures and addresses."""
    text = FENCE.sub("", re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL))
    lines = [line for line in text.splitlines() if not re.match(r"\s*(\||#|    |!\[|:::)", line)]
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(lines))
    return re.sub(r"`[^`\n]*`|[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", plain)


def words(text: str) -> int:
    """Words of a page as `wc -w` counts them: code and tables are read too."""
    return len(text.split())


def syllables(word: str) -> int:
    """Groups of vowels, less a silent e at the end: what readability formulas count."""
    groups = len(re.findall(r"[aeiouy]+", word.lower()))
    silent = re.search(r"[^aeiouyl]e$", word.lower()) is not None and groups > 1
    return max(1, groups - silent)


def grade(text: str) -> float:
    """The Flesch-Kincaid grade (Kincaid et al. 1975): years at school that a reader of the prose needs; list items end sentences."""
    spoken = re.sub(r"\n\s*(?:[*-]|\d+\.) ", ". ", prose(text))
    spoken = re.sub(r"\n\n+", ". ", spoken)
    sentences = [part for part in re.split(r"[.!?:;]+(?=\s|$)", spoken) if re.search(r"[a-zA-Z]", part)]
    counted = re.findall(r"[a-zA-Z]+(?:['’][a-z]+)?", spoken)
    return 0.39 * len(counted) / len(sentences) + 11.8 * sum(map(syllables, counted)) / len(counted) - 15.59


def cells(text: str) -> list[list[str]]:
    """The rows of all tables of a page, heads among them, without the lines of dashes below those."""
    found = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [row for row in found if not set("".join(row)) <= set("-:")]


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
