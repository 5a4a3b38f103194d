"""docs/conformance.md: every row can be looked up, every source says how far it was read, and no text offers a figure in place of deletion."""

from __future__ import annotations

import re

import pytest

from tests.docs import options
from tests.docs.prose import ROOT, cells

PAGE = (ROOT / "docs" / "conformance.md").read_text()
HEAD = ["requirement", "here", "evidence", "left to the operator"]
# a text that we write, in either language; the page of standards quotes what the authorities object to
WRITTEN = {
    "noisygd_delete": "*",
    "packages/compliance/noisygd_delete_compliance": "*",
    "docs": "*.md",
    "examples": "*.md",
}
FILES = [*ROOT.glob("*.md"), *(path for folder, names in WRITTEN.items() for path in (ROOT / folder).rglob(names))]
TEXTS = [ROOT / "benchmarks" / "demonstration.html"]
TEXTS += [
    path for path in FILES if path.suffix in (".md", ".toml", ".html", ".js", ".css") and path.stem != "conformance"
]
DELETION = r"(?:the )?(?:delet|eras)(?:e|es|ing|ion|ions|ure|ures)\b"
OFFERS = re.compile(
    rf"(?<!never )(?<!not )\b(?:instead of|in place of|rather than|without|as an alternative to|replaces?|saves?) {DELETION}"
    r"|\b(?:no need|need not|needn't|not necessary) to (?:delete|erase)\b|\bneed not be (?:deleted|erased)\b"
    r"|\b(?:statt|anstatt|anstelle|ersetzt) (?:(?:der|die|einer|eine|zu) )?(?:Löschung|löschen)|\bohne zu löschen",
    re.IGNORECASE,
)


def sections(page: str) -> list[str]:
    return page.split("\n## ")[1:]


def rows(page: str) -> list[list[str]]:
    return [row for row in cells(page) if row != HEAD]


def faults(page: str) -> list[str]:
    """Rows that cannot be looked up or leave a cell open, and sections that do not say how far their source was read."""
    found = []
    known = options.children(options.program())
    for section in sections(page):
        if not re.search(r"read in\s+the\s+original", section, re.IGNORECASE):
            found.append(f"{section.splitlines()[0]}: was it read?")
    for row in rows(page):
        if len(row) != 4 or not all(row):
            found.append(f"{row[0]}: a cell is missing")
            continue
        places = re.findall(r"`([^`]+)`", row[2])
        if not places:
            found.append(f"{row[0]}: nothing to look at")
        for place in places:
            if place.startswith("noisygd-delete ") and place.split()[1] not in known:
                found.append(f"{row[0]}: no command {place}")
    return found


def offers(text: str) -> list[str]:
    """Phrases that set something in the place of a deletion."""
    return [match[0] for match in OFFERS.finditer(re.sub(r"\s+", " ", text))]


def test_every_row_can_be_looked_up() -> None:
    assert len(sections(PAGE)) == 7
    assert len(rows(PAGE)) >= 21
    assert faults(PAGE) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("`noisygd-delete budget`", "`noisygd-delete bugdet`"),
        ("| the cap; alerting; tuning on the data is not counted |", "| |"),
        ("was not read in the original", "was skimmed"),
    ],
)
def test_a_row_without_ground_is_seen(old: str, new: str) -> None:
    assert old in PAGE
    assert len(faults(PAGE.replace(old, new, 1))) == 1


def test_no_text_offers_a_figure_in_place_of_deletion() -> None:
    assert len(TEXTS) > 60
    assert {path.suffix for path in TEXTS} >= {".md", ".toml", ".html"}
    assert any("privacy" in path.parts for path in TEXTS), "the sentences of certificates"
    assert {str(path.relative_to(ROOT)): found for path in TEXTS if (found := offers(path.read_text()))} == {}
    assert "beside an erasure and never instead of deletion" in PAGE


@pytest.mark.parametrize(
    "text",
    [
        "publish a figure instead of deleting",
        "the bound saves\nerasing the row",
        "a certificate replaces the deletion",
        "rows need not be erased",
        "ein Nachweis statt der Löschung",
        "ohne zu löschen",
    ],
)
def test_a_text_that_does_is_seen(text: str) -> None:
    assert offers(text)
    assert offers("never instead of deletion; not rather than erasing") == []
