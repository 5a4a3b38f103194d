"""docs/claims.md: every claim has a row of the proofs with the verdict that is said, and a test."""

from __future__ import annotations

import re

import pytest

from tests.docs.prose import ROOT, cells

PAGE = (ROOT / "docs" / "claims.md").read_text()
VERDICTS = ("holds", "holds with a repair", "fails")


def verdicts() -> dict[str, str]:
    """Key -> verdict, from the committed table of results."""
    rows = cells((ROOT / "proofs_check" / "RESULTS.md").read_text())
    return {row[0]: row[2] for row in rows if len(row) == 8 and row[2] in VERDICTS}


def claims(page: str) -> list[tuple[str, str, list[str], list[str]]]:
    """(claim, verdict, rows, tests) of every line of the page's tables."""
    rows = [row for row in cells(page) if len(row) == 4 and row[1] != "verdict"]
    return [(row[0], row[1], *(re.findall(r"`([^`]+)`", cell) for cell in row[2:])) for row in rows]


def faults(page: str, results: dict[str, str]) -> list[str]:
    """Claims whose row is not there or says something else, or that name no test."""
    found = []
    for claim, verdict, rows, tests in claims(page):
        found += [f"{claim}: nothing to look it up"] if not rows or not tests else []
        found += [f"{claim}: {row} is {results.get(row, 'no row')}" for row in rows if results.get(row) != verdict]
    return found


def test_every_claim_can_be_looked_up() -> None:
    assert len(claims(PAGE)) > 20
    assert len(verdicts()) > 100
    assert faults(PAGE, verdicts()) == []


def test_whatever_failed_is_told() -> None:
    """No statement of the paper that fails is left out of the page, but lemmas of others' proofs of removal, and lectures: docs/article.md has those."""
    told = {row for _, _, rows, _ in claims(PAGE) for row in rows}
    failed = {key for key, verdict in verdicts().items() if verdict == "fails" and not key.startswith(("Guo", "DP"))}
    assert len(failed) >= 5
    assert failed <= told


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| fails | `4.3` |", "| holds | `4.3` |", "4.3 is fails"),
        ("`S.gdp-bound`", "`S.gdp-bond`", "S.gdp-bond is no row"),
    ],
)
def test_a_claim_without_ground_is_seen(old: str, new: str, fault: str) -> None:
    assert old in PAGE
    (found,) = faults(PAGE.replace(old, new, 1), verdicts())
    assert found.endswith(fault)
