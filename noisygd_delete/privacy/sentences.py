"""The sentences of the claims, by key: what papers claim, and under which conditions a figure holds, in every language that has a file."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import check_choice

# --- shown ---
#
# How an upper bound is written, in every paper and answer: rounded up, in one form.
#
# A reader who compares two papers compares digits; a reader who relies on one relies on "at most". So no other code may
# format a bound: `tests/privacy/test_shown.py` compares every place that shows one.


DIGITS = 4  # of a figure that people read
WRITTEN = 10  # of a figure in a signed file


def round_up(bound: float, digits: int = DIGITS) -> float:
    """The least number of so many significant digits that is not below `bound`; infinity stays.

    The digits are those of the shortest decimal that names the double, so that 0.1 stays 0.1.
    """
    if not math.isfinite(bound):
        return bound
    return float(Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(repr(float(bound)))))


def format_bound(bound: float | None, *, percent: bool = False) -> str:
    """A bound in words: four digits, rounded up; ∞ where there is none.

    Args:
        percent: an advantage (between 0 and 1) as a percentage with one decimal.
    """
    if bound is None or bound == math.inf:
        return "∞"
    if percent:
        tenths = (Decimal(repr(float(bound))) * 100).quantize(Decimal("0.1"), rounding=ROUND_CEILING)
        return f"{min(tenths, Decimal('100.0'))} %"
    return _exponent(f"{round_up(bound):.{DIGITS}g}")


def format_number(number: float | None, digits: int = 6) -> str:
    """A number that somebody chose, or that is no bound: rounded to nearest, in the form of `shown` (1e-6, not 1e-06)."""
    if number is None:
        return "–"
    return _exponent(f"{number:.{digits}g}")


def success_per_hundred(advantage: float) -> int:
    """Out of a hundred even bets, how many the best observer wins at most: 50 + 50 · advantage, rounded up."""
    return min(100, 50 + math.ceil(50 * Fraction(repr(float(advantage)))))


def _exponent(text: str) -> str:
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", text)


_FOLDER = Path(__file__).parent / "texts"


def language_codes() -> tuple[str, ...]:
    """The codes of the languages that the catalogue is written in."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


@cache
def load_catalogue(language: str) -> dict[str, Any]:
    """The sentences of one language, by key.

    Raises:
        InvalidParameter: there is no file for it.
    """
    check_choice("language", language, language_codes())
    return tomllib.loads((_FOLDER / f"{language}.toml").read_text("utf-8"))


def format_condition(key: str, values: Mapping[str, Any]) -> str:
    """Under what a figure holds, in English."""
    words = load_catalogue("en")
    filled = {
        name: format_number(value, 12) if isinstance(value, float) else str(value) for name, value in values.items()
    }
    return fill_entry(words["claims"][key], values, filled)


_QUOTES = '“”„‟«»‹›「」『』〝〞〟＂"'


def without_quotes(text: str) -> str:
    """Return a text for quotation marks: its own become apostrophes, so that none ends the quotation."""
    return "".join("’" if letter in _QUOTES else letter for letter in text)


def fill_entry(entry: Any, values: Mapping[str, Any], filled: Mapping[str, str]) -> str:
    """An entry with its {names} in place; one of several by a value: by its word, or by whether it is one or many."""
    while not isinstance(entry, str):
        value = values[entry["by"]]
        entry = entry[value if isinstance(value, str) else "one" if value == 1 else "many"]
    first, *parts = entry.split("{")
    text = first
    for part in parts:
        name, rest = part.split("}")
        text += filled[name] + rest
    return text
