"""Alternative spellings of a listed value.

Typed values have no unique text, and a model must not depend on which one a program chose.

In a pair such as no and yes, each may be written as any word of its truth value (a database writes t, Python True,
MySQL 1); in a list with numbers, 3 may be written 3.0 or 3.00. Listed texts always match themselves. The rule is one
regular expression per value, so that every consumer of a model applies the same one: tables here, model.py and the
graph elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_NO, _YES = ("false", "f", "no", "n", "off"), ("true", "t", "yes", "y", "on")
_TRUTH = ((*_NO, "0"), (*_YES, "1"))
_SPELLED = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?")
_MOST = 1000  # values of a list whose numbers are compared as such


@lru_cache(maxsize=256)
def make_spelling_patterns(listed: tuple[str, ...]) -> tuple[str, ...]:
    """Return one regular expression (of Python and of RE2) per listed value, to match a cell's whole stripped text.

    It matches the value, a number with other trailing zeros, or, in a pair of no and yes, any word of that truth value.

    () if every value has one spelling. In lists of more than 1000, and for a number listed twice, trailing zeros do not
    vary.
    """
    numbers = [_number(value) if len(listed) <= _MOST else None for value in listed]
    others = [[] if number is None or numbers.count(number) > 1 else [number] for number in numbers]
    for place, (words, digit) in zip(_pair(listed), ((_NO, "0"), (_YES, "1")), strict=False):
        others[place] += [rf"(?i:{'|'.join(words)})", rf"{digit}(?:\.0*)?"]
    if not any(others):
        return ()
    return tuple("|".join([re.escape(value), *more]) for value, more in zip(listed, others, strict=True))


def place_of(text: str, listed: tuple[str, ...]) -> int:
    """Return the index of the first value whose pattern (`make_spelling_patterns`) matches a stripped text.

    len(listed) if none matches, and always where no value has a second spelling: look for the text itself first.
    """
    for place, spelling in enumerate(make_spelling_patterns(listed)):
        if text and re.fullmatch(spelling, text):
            return place
    return len(listed)


def _pair(listed: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the no and yes values of a list of two."""
    values = {value.lower(): place for place, value in enumerate(listed) if value}
    found = [[place for value, place in values.items() if value in words] for words in _TRUTH]
    if len(values) != 2 or [len(places) for places in found] != [1, 1]:
        return ()
    return found[0][0], found[1][0]


def _number(value: str) -> str | None:
    """Return the expression of a number's spellings with more or fewer trailing zeros."""
    parts = _SPELLED.fullmatch(value)
    if parts is None:
        return None
    sign, whole, fraction = parts[1], parts[2], (parts[3] or "").rstrip("0")
    return rf"{sign}{whole}\.{fraction}0*" if fraction else rf"{sign}{whole}(?:\.0*)?"


def fold_spelling(text: str) -> str:
    """Return a text without what its readers do not see: case, and whether a letter is composed (NFC) or not (NFD)."""
    return unicodedata.normalize("NFC", text).casefold()
