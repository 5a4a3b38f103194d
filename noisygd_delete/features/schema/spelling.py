"""How else a listed value may be written: typed values have no one text, and a model must not depend on which one a program chose.

Of a pair such as no and yes, each may be written as any word of a truth value (a database writes t, Python True, MySQL 1); of a list with
numbers, 3 may be written 3.0 or 3.00. Texts that are listed as they stand always mean themselves. The rule is one regular expression for
each value, so that every consumer of a model applies the same one: tables here, `reader` and the graph elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_NO, _YES = ("false", "f", "no", "n", "off"), ("true", "t", "yes", "y", "on")
_TRUTH = ((*_NO, "0"), (*_YES, "1"))
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?")
_MOST = 1000  # values of a list whose numbers are compared as such


@lru_cache(maxsize=256)
def spellings(listed: tuple[str, ...]) -> tuple[str, ...]:
    """One regular expression (of Python and of RE2) for each value of a list, which the whole stripped text of a cell must match; nothing
    where every value has one spelling."""
    numbers = [_number(value) if len(listed) <= _MOST else None for value in listed]
    others = [[] if number is None or numbers.count(number) > 1 else [number] for number in numbers]
    for place, (words, digit) in zip(_pair(listed), ((_NO, "0"), (_YES, "1")), strict=False):
        others[place] += [rf"(?i:{'|'.join(words)})", rf"{digit}(?:\.0*)?"]
    if not any(others):
        return ()
    return tuple("|".join([re.escape(value), *more]) for value, more in zip(listed, others, strict=True))


def place_of(text: str, listed: tuple[str, ...]) -> int:
    """The place of the value that a text writes, which is not listed as it stands; the list's length, if there is none."""
    for place, spelling in enumerate(spellings(listed)):
        if text and re.fullmatch(spelling, text):
            return place
    return len(listed)


def _pair(listed: Sequence[str]) -> tuple[int, ...]:
    """The places of the two values of which one says no and the other yes, where a list has no third one."""
    values = {value.lower(): place for place, value in enumerate(listed) if value}
    found = [[place for value, place in values.items() if value in words] for words in _TRUTH]
    if len(values) != 2 or [len(places) for places in found] != [1, 1]:
        return ()
    return found[0][0], found[1][0]


def _number(value: str) -> str | None:
    """The expression of a number's spellings with more or fewer zeros at its end."""
    parts = _NUMBER.fullmatch(value)
    if parts is None:
        return None
    sign, whole, fraction = parts[1], parts[2], (parts[3] or "").rstrip("0")
    return rf"{sign}{whole}\.{fraction}0*" if fraction else rf"{sign}{whole}(?:\.0*)?"
