"""docs/comparison.md: rows of known marks and whole, and names of ours that exist."""

from __future__ import annotations

import re

import pytest

import noisygd_delete
from noisygd_delete import errors
from tests.docs import options
from tests.docs.prose import ROOT, cells

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
THEIRS = {"BudgetAccountant", "BudgetError", "torchrun", "secure_mode=True"}
OURS = {*dir(noisygd_delete), *dir(errors), *re.findall(r"\w+", (ROOT / "docs" / "public-names.txt").read_text())}


def ours(name: str) -> bool:
    """Whether a name in code marks something of this package, or of a rival as the page names it."""
    if name in THEIRS or (ROOT / name.replace("*", "adult")).exists():
        return True
    first = re.split(r"[.=]", name, maxsplit=1)[0]
    return first in OURS or first in options.children(options.program())


def faults(page: str) -> list[str]:
    """Rows with other marks than yes, partly and no, or a note that is not there; names of nothing."""
    text = page[: page.index("## Where the others are better")]
    notes = set(re.findall(r"^(\d)\. ", page, re.MULTILINE))
    found = [f"what is {name}?" for name in re.findall(r"`([^`]+)`", text) if not ours(name)]
    for name, *marks, where in cells(text):
        if where != "where to look" and (
            len(marks) != 7 or not set(marks) <= {"Y", "p", "–"} or not {"Y", "p"} & set(marks)
        ):
            found.append(f"{name}: {marks}")
        if re.fullmatch(r"\d", where) and where not in notes:
            found.append(f"{name}: no note {where}")
    return found


def test_every_row_is_whole_and_every_name_is_there() -> None:
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
