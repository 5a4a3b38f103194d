"""No text of ours, in either language, offers a figure in place of deletion; docs/conformance.md alone quotes those that do."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

FOLDERS = ("noisygd_delete", "packages/compliance/noisygd_delete_compliance", "docs", "examples", "benchmarks")
TEXTS = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
TEXTS = [path for path in TEXTS if path.suffix in (".md", ".toml", ".html", ".js") and path.stem != "conformance"]
DELETION = r"(?:the )?(?:delet|eras)(?:e|es|ing|ion|ions|ure|ures)\b"
OFFERS = re.compile(
    rf"(?<!never )(?<!not )\b(?:instead of|in place of|rather than|without|as an alternative to|replaces?|saves?) {DELETION}"
    r"|\b(?:no need|need not|needn't|not necessary) to (?:delete|erase)\b|\bneed not be (?:deleted|erased)\b"
    r"|\b(?:statt|anstatt|anstelle|ersetzt) (?:(?:der|die|einer|eine|zu) )?(?:Löschung|löschen)|\bohne zu löschen",
    re.IGNORECASE,
)


def offers(text: str) -> list[str]:
    return OFFERS.findall(re.sub(r"\s+", " ", text))


def test_no_text_offers_a_figure_in_place_of_deletion() -> None:
    assert {path.suffix for path in TEXTS if "templates" in path.parts or "privacy" in path.parts} >= {".toml", ".html"}
    found = {str(path.relative_to(ROOT)): offers(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize(
    "text", ["the bound saves\nerasing the row", "rows need not be erased", "statt der Löschung", "ohne zu löschen"]
)
def test_a_text_that_does_is_seen(text: str) -> None:
    assert offers(text)
    assert not offers("never instead of deletion; not rather than erasing")
