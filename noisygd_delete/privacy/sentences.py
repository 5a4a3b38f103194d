"""Sentences of the claims, by key and language.

They are the claims that documents make and the conditions under which figures hold: in English, and in the languages
of installed packages.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import check_choice
from ..extensions import extension_names, load_extension

# --- shown ---
#
# Format of an upper bound in every document and output: rounded up, in one form.
#
# Readers compare the digits of two documents, and rely on "at most". So no other code may format a bound:
# `tests/privacy/test_shown.py` compares every place that displays one.


DIGITS = 4  # significant digits of a displayed figure
WRITTEN = 10  # significant digits of a figure in a signed file


def round_up(bound: float, digits: int = DIGITS) -> float:
    """Return the smallest number with `digits` significant digits that is at least `bound`; infinity is unchanged.

    The digits are those of the shortest decimal that represents the double, so that 0.1 remains 0.1.
    """
    if not math.isfinite(bound):
        return bound
    return float(Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(repr(float(bound)))))


def format_bound(bound: float | None, *, percent: bool = False) -> str:
    """Return an upper bound as text: four digits, rounded up; ∞ if there is none.

    Args:
        bound: The bound; None or infinity if there is none.
        percent: Whether to format an advantage (between 0 and 1) as a percentage with one decimal.
    """
    if bound is None or bound == math.inf:
        return "∞"
    if percent:
        tenths = (Decimal(repr(float(bound))) * 100).quantize(Decimal("0.1"), rounding=ROUND_CEILING)
        return f"{min(tenths, Decimal('100.0'))} %"
    return _exponent(f"{round_up(bound):.{DIGITS}g}")


def format_number(number: float | None, digits: int = 6) -> str:
    """Return a chosen number, or one that is not a bound, as text.

    It is rounded to nearest and has the form of `format_bound` (1e-6, not 1e-06).
    """
    if number is None:
        return "–"
    return _exponent(f"{number:.{digits}g}")


def success_per_hundred(advantage: float) -> int:
    """Return the most even bets out of a hundred that the best observer wins: 50 + 50 · advantage, rounded up."""
    return min(100, 50 + math.ceil(50 * Fraction(repr(float(advantage)))))


def _exponent(text: str) -> str:
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", text)


ORIGINAL = "en"


def language_codes() -> tuple[str, ...]:
    """Return the codes of the available languages, English first; packages provide the others."""
    return (ORIGINAL, *(code for code in extension_names("languages") if code != ORIGINAL))


@cache
def load_catalogue(language: str) -> dict[str, Any]:
    """Return the sentences of claims in one language, by key.

    Raises:
        InvalidParameter: If no installed package provides the language.
    """
    if language == ORIGINAL:
        return tomllib.loads(files(__package__).joinpath("texts", "en.toml").read_text("utf-8"))
    return read_texts(language, "claims")


def read_texts(language: str, part: str) -> dict[str, Any]:
    """Return what an installed package says in a language.

    Args:
        language: Code of the language.
        part: "claims" of certificates, or "labels" of documents.

    Raises:
        InvalidParameter: If no installed package provides the language, and it is not English.
    """
    provider = load_extension("languages", language)
    if provider is not None:
        return dict(provider.read(language, part))
    if language != ORIGINAL:
        check_choice("language", language, language_codes())
    return {}


def format_condition(key: str, values: Mapping[str, Any]) -> str:
    """Return the condition under which a figure holds, in English."""
    words = load_catalogue(ORIGINAL)
    filled = {
        name: format_number(value, 12) if isinstance(value, float) else str(value) for name, value in values.items()
    }
    return fill_entry(words["claims"][key], values, filled)


_QUOTES = '“”„‟«»‹›「」『』〝〞〟＂"'


def without_quotes(text: str) -> str:
    """Return `text` with its quotation marks replaced by apostrophes, so that it can be quoted."""
    return "".join("’" if letter in _QUOTES else letter for letter in text)


def fill_entry(entry: Any, values: Mapping[str, Any], filled: Mapping[str, str]) -> str:
    """Return an entry with its {names} replaced.

    An entry with several variants is selected by a value: by its word, or by whether it is 1 ("one") or not ("many").

    Args:
        entry: A text, or variants with the name of the selecting value under "by".
        values: Values by name, which select variants.
        filled: Texts by name, which replace the {names}.
    """
    while not isinstance(entry, str):
        value = values[entry["by"]]
        entry = entry[value if isinstance(value, str) else "one" if value == 1 else "many"]
    first, *parts = entry.split("{")
    text = first
    for part in parts:
        name, rest = part.split("}")
        text += filled[name] + rest
    return text
