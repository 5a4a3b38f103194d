"""docs/methods.md says of every method every condition that its papers state; a page that is cut keeps the conditions of what it says."""

from __future__ import annotations

from noisygd_delete.privacy.sentences import load_catalogue
from tests.docs import conditions

PAGE = conditions.PAGE.read_text(encoding="utf-8")


def test_the_page_of_methods_has_every_condition_of_every_method() -> None:
    (section,) = conditions.SECTION.findall(PAGE)
    assert section.strip() == conditions.written(conditions.bank()).strip(), "python -m tests.docs.conditions"
    assert set(conditions.WORDS) <= set(load_catalogue("en")["claims"])
    assert set(conditions.WORDS) == set(conditions.rests(conditions.bank())), "every line is some method's"
