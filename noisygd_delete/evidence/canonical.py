"""One byte string per JSON value, by RFC 8785: what is signed and hashed, the same in every language.

Names in the order of their UTF-16 code units, no spaces, UTF-8, numbers as ECMAScript writes a double. What has no such form
(NaN, infinity, half a surrogate pair, a whole number that no double is) has no signature either.
"""

from __future__ import annotations

from typing import Any

import rfc8785

from ..errors import InvalidParameter

MOST_VALUES = 1_000_000  # in one document: a stranger's is to be answered in seconds, and no certificate comes near


def canonical(document: Any) -> bytes:
    """The bytes of a parsed JSON document.

    Raises:
        InvalidParameter: it has none, or more than `MOST_VALUES` values.
    """
    if _values(document) > MOST_VALUES:
        raise InvalidParameter(
            f"a document of more than {MOST_VALUES} values is not signed; give one with fewer releases"
        )
    try:
        try:
            return rfc8785.dumps(document)
        except rfc8785.IntegerDomainError:
            return rfc8785.dumps(_as_doubles(document))
    except (ValueError, OverflowError, RecursionError) as error:
        said = str(error)[:200] or type(error).__name__
        raise InvalidParameter(f"no canonical JSON (RFC 8785): {said}") from error


def _values(document: Any) -> int:
    """How many values a document holds, itself included; counting ends past `MOST_VALUES`."""
    found, left = 0, [document]
    while left and found <= MOST_VALUES:
        value = left.pop()
        found += 1
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, (list, tuple)):
            left.extend(value)
    return found


def _as_doubles(value: Any) -> Any:
    """Whole numbers beyond 2⁵³ as the doubles that they are: 1e20 is written without an exponent by most languages."""
    if isinstance(value, dict):
        return {name: _as_doubles(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_doubles(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53 and float(value) == value:
        return float(value)
    return value
