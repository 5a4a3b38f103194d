"""How much there is to read: the whole, the guide, the first page, and each page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
DOCS = ROOT / "docs"
# pages of the site; the threat model, the note and what a repository has for contributors are documents of their own;
# article.md, literature.md and conformance.md are tables in which one row is looked up
APART = {"article.md", "literature.md", "conformance.md", "threat-model.md", "releasing.md", "note.md", "paper.md"}
APART |= {"CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.name not in APART)]
# upper bounds on the words of all pages, of the guide, of the first page, and of any page without a row for each thing that it lists
LIMIT, GUIDE, FIRST, EACH = 32_930, 8_550, 900, 1_500


def words(page: Path) -> int:
    return len(page.read_text().split())


def test_the_documentation_is_within_its_limits() -> None:
    assert sum(words(page) for page in PAGES) <= LIMIT
    assert words(ROOT / "README.md") <= FIRST
    lists = {"schema.md", "article.md", "threat-model.md", "note.md"}
    assert [page.name for page in DOCS.rglob("*.md") if page.name not in lists and words(page) > EACH] == []


def test_the_guide_has_at_most_ten_pages_that_its_first_one_links() -> None:
    navigation = next(iter(yaml.safe_load_all((ROOT / ".ci" / "mkdocs.yml").read_text())))["nav"]
    (guide,) = (entry["Guide"] for entry in navigation if isinstance(entry, dict) and "Guide" in entry)
    assert guide[0] == "index.md"
    assert len(guide) <= 10
    assert sum(words(DOCS / page) for page in guide) <= GUIDE
    linked = (DOCS / "index.md").read_text()
    assert [page for page in guide[1:] if f"({page})" not in linked] == []
