"""docs/literature.md: every work once, with its source, what it has that is not here, and how far it was read."""

from __future__ import annotations

import re

import pytest

from tests.docs.prose import ROOT, cells

PAGE = (ROOT / "docs" / "literature.md").read_text()
CELLS = ["work", "what it says", "what it has that is not here", "what is here instead", "known from"]
READ = {"abstract", "its package, run", "its statements, checked"}
NAMED = """Cohen, Kohen, Nissim & Stemmer; Van Waerebeke; Allouah; Mehta; Nori; Qiao; Guo & Cao; Inane; Fichtenberger; Huang & Canonne; Ullah & Arora;
Kalinin; Dvijotham; Pandey; Cortild & Cartis; Dolgova & Stich; Bertran; Regehr; Benarroch, Atif & Cappé; Chourasia & Shah; Guo et al.;
Gavish & Donoho"""


def works(page: str) -> list[list[str]]:
    head, *rows = cells(page)
    return rows if head == CELLS else []


def faults(page: str) -> list[str]:
    """Works without a source, an open cell, a place that is not there, or named twice or not at all."""
    found, rows = [], works(page)
    for row in rows:
        name = row[0]
        found += [] if len(row) == len(CELLS) and all(row) else [f"{name}: a cell is open"]
        found += [] if re.search(r"\(https://arxiv\.org/abs/\d{4}\.\d{4,5}\)", name) else [f"{name}: no source"]
        found += [] if row[-1] in READ else [f"{name}: was it read?"]
        here = row[3] if len(row) == len(CELLS) else ""
        found += [] if re.search(r"\]\([\w#.-]+\)|`[\w.]+/[^`]+`", here) else [f"{name}: nothing to look at here"]
        for place in re.findall(r"`((?:benchmarks|examples|proofs_check|noisygd_delete)/[^`]+)`", " ".join(row)):
            found += [] if (ROOT / place).exists() else [f"{name}: no {place}"]
    for author in re.split(r";\s+", NAMED):
        times = sum(row[0].startswith(author) for row in rows)
        found += [] if times == 1 else [f"{author}: {times} times"]
    sources = re.findall(r"arxiv\.org/abs/([\d.]+)", page)
    found += [f"{source}: twice" for source in set(sources) if sources.count(source) > 1]
    return found


def test_every_work_is_named_once_with_its_source_and_how_far_it_was_read() -> None:
    assert len(works(PAGE)) == len(re.split(r";\s+", NAMED))
    assert faults(PAGE) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("([2404.01712](https://arxiv.org/abs/2404.01712))", ""),
        ("| Allouah et al.", "| Someone else"),
        ("| exact answers, in a tree of state |", "| |"),
        ("when) | abstract |", "when) | the works of others |"),
        ("[public maps](which_model.md#a-public-map) alone", "public maps alone"),
        ("`benchmarks/results/capacity.md`", "`benchmarks/results/capacities.md`"),
    ],
)
def test_a_work_without_ground_is_seen(old: str, new: str) -> None:
    assert old in PAGE
    assert len(faults(PAGE.replace(old, new, 1))) == 1


def test_what_other_pages_say_of_a_work_is_said_here_too() -> None:
    """An arXiv number that README or a page links to is one of the table's, but for code and lectures that were read themselves."""
    known = set(re.findall(r"arxiv\.org/abs/([\d.]+\d)", PAGE))
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    linked = {number for page in pages for number in re.findall(r"arxiv\.org/abs/([\d.]+\d)", page.read_text())}
    assert linked <= known
