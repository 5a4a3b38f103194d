"""How much there is to read: the whole, the guide, and nothing twice."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from tests.docs.prose import ROOT, prose, words

yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
DOCS = ROOT / "docs"
# pages of the site; the threat model, the note and what a repository has for contributors are documents of their own;
# article.md, literature.md and conformance.md are tables in which one row is looked up
APART = {"article.md", "literature.md", "conformance.md", "threat-model.md", "releasing.md", "note.md", "paper.md"}
APART |= {"CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.name not in APART)]
WRITTEN = [page for page in PAGES if page.parent.name != "commands"]  # those are made of the parser, option by option
# upper bounds on the words of all pages, of the guide, and of the first page
LIMIT = 32_930
PATH = 8_550
FIRST = 900


def navigation() -> list[object]:
    return next(iter(yaml.safe_load_all((ROOT / ".ci" / "mkdocs.yml").read_text())))["nav"]


def guide_pages() -> list[str]:
    """The pages of the site's first section: what a reader reads from beginning to end."""
    (section,) = (entry["Guide"] for entry in navigation() if isinstance(entry, dict) and "Guide" in entry)
    return list(section)


def sentences(text: str) -> list[str]:
    """Sentences of twelve words and more of the prose of a page, as one line each."""
    joined = re.sub(r"\s+", " ", re.sub(r"\n\s*(?:[*-]|\d+\.) ", " ¶ ", re.sub(r"\n\n+", " ¶ ", prose(text))))
    parts = re.split(r"(?<=[.!?:;]) |¶", joined)
    return [part.strip() for part in parts if len(part.split()) >= 12]


def test_the_documentation_is_within_its_limit() -> None:
    assert sum(words(page.read_text()) for page in PAGES) <= LIMIT
    assert words((ROOT / "README.md").read_text()) <= FIRST


def test_the_guide_has_at_most_ten_pages() -> None:
    pages = guide_pages()
    assert pages[0] == "index.md"
    assert len(pages) <= 10
    assert sum(words((DOCS / page).read_text()) for page in pages) <= PATH
    linked = (DOCS / "index.md").read_text()
    assert [page for page in pages[1:] if f"({page})" not in linked] == []


def test_no_page_says_a_sentence_of_another() -> None:
    said: dict[str, set[str]] = defaultdict(set)
    for page in WRITTEN:
        for sentence in sentences(page.read_text()):
            said[sentence].add(page.name)
    assert {sentence: pages for sentence, pages in said.items() if len(pages) > 1} == {}
    assert len(said) > 400
    assert sentences("One two three four five six seven eight nine ten eleven\ntwelve. No.") == [
        "One two three four five six seven eight nine ten eleven twelve."
    ]
