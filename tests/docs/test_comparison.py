"""docs/comparison.md: whole rows of known marks, notes that are there and used, and names of ours that exist."""

from __future__ import annotations

import re

import pytest

import noisygd_delete
from noisygd_delete import errors
from noisygd_delete.cli import parser
from tests.docs import options
from tests.docs.prose import ROOT, cells

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
THEIRS = {"BudgetAccountant", "BudgetError", "torchrun", "secure_mode=True"}


def tables(page: str) -> list[list[list[str]]]:
    """The tables of marks: rows of cells, the header first; the last table is of names."""
    found = [cells(block) for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)]
    return [table for table in found if table[0][-1] == "where to look"]


def ours(name: str) -> bool:
    """Whether a name in code marks something of this package, or of a rival as the page names it."""
    if name in THEIRS or (ROOT / name.replace("*", "adult")).exists():
        return True
    first = name.split(".", maxsplit=1)[0].split("=", maxsplit=1)[0]
    fields = set(re.findall(r"\w+", (ROOT / "docs" / "public-names.txt").read_text()))
    ours = {*options.children(parser()), *dir(noisygd_delete), *dir(errors), *fields}
    return first in ours


def faults(page: str) -> list[str]:
    found = []
    notes = set(re.findall(r"^(\d)\. ", page, re.MULTILINE))
    used = set()
    for header, *rows in tables(page):
        for row in (each for each in rows if each[0]):
            name, *marks, where = row
            found += [] if len(row) == len(header) else [f"{name}: {len(row)} cells for {len(header)}"]
            found += [f"{name}: {mark}" for mark in marks if mark not in {"Y", "p", "–"}]
            found += [f"{name}: no note {where}" for _ in [0] if re.fullmatch(r"\d", where) and where not in notes]
            found += [f"{name}: nobody has it" for _ in [0] if not {"Y", "p"} & set(marks)]
            used |= {where} & notes
    found += [f"note {note}: of no row" for note in sorted(notes - used)]
    text = page[: page.index("## Where the others are better")]
    found += [f"what is {name}?" for name in re.findall(r"`([^`]+)`", text) if not ours(name)]
    return found


def test_every_row_is_whole_and_every_name_is_there() -> None:
    assert [len(table) for table in tables(PAGE)] == [15]
    assert faults(PAGE) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| no secret state between requests | Y | – |", "| no secret state between requests | Y | ? |"),
        ("| scikit-learn estimators | Y | – |", "| scikit-learn estimators | Y |"),
        ("| p | – | – | 2 |", "| p | – | – | 9 |"),
        ("`verify-certificate`", "`verify-certficate`"),
        ("`BudgetExceeded`", "`BudgetExceded`"),
    ],
)
def test_a_row_without_ground_is_seen(old: str, new: str) -> None:
    assert old in PAGE
    assert faults(PAGE.replace(old, new, 1))
