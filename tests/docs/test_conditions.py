"""docs/methods.md says of every method every condition that its papers state; a page that is cut keeps the conditions of what it says."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from noisygd_delete.privacy.sentences import load_catalogue
from tests.bank import plan_by
from tests.docs import conditions

PAGE = conditions.PAGE.read_text(encoding="utf-8")


def test_the_page_of_methods_has_every_condition_of_every_method() -> None:
    (section,) = conditions.SECTION.findall(PAGE)
    assert section.strip() == conditions.written(conditions.bank()).strip(), "python -m tests.docs.conditions"
    assert set(conditions.WORDS) <= set(load_catalogue("en")["claims"])
    assert set(conditions.WORDS) == set(conditions.rests(conditions.bank())), "every line is some method's"


@dataclass(frozen=True)
class _Longer:
    """A mechanism that states one condition more, or one less."""

    keys: tuple[str, ...]

    def conditions(self) -> tuple[tuple[str, dict[str, object]], ...]:
        return tuple((key, {}) for key in self.keys)


def test_a_condition_that_a_method_gets_or_loses_is_seen() -> None:
    whole = conditions.bank()
    sharp = [key for key, _ in plan_by("noisy-gd").mechanism.conditions()]
    more, less = _Longer((*sharp, "time-unseen")), _Longer(tuple(sharp[:-1]))
    for other in (more, less):
        assert conditions.written({**whole, "noisy-gd": other}) != conditions.written(whole)  # type: ignore[dict-item]
    with pytest.raises(KeyError):
        conditions.written({**whole, "noisy-gd": _Longer((*sharp, "a-new-one"))})  # type: ignore[dict-item]
