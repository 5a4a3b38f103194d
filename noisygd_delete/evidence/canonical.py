"""Canonical JSON: one byte string per JSON value, by RFC 8785, which is signed and hashed; the same in every language.

Names are ordered by UTF-16 code units, without spaces, in UTF-8; numbers as ECMAScript writes a double. A value without
such a form (NaN, infinity, half a surrogate pair, an integer that no double equals) cannot be signed.
"""

from __future__ import annotations

from typing import Any

import rfc8785

from ..errors import InvalidParameter

MOST_VALUES = 1_000_000  # in one document: bounds the time spent on an untrusted one; no certificate is nearly as large


def canonical_bytes(document: Any) -> bytes:
    """Return the canonical bytes of a parsed JSON document (RFC 8785).

    Raises:
        InvalidParameter: If it has no canonical form, or more than `MOST_VALUES` values.
    """
    if _count_values(document) > MOST_VALUES:
        raise InvalidParameter(
            f"a document of more than {MOST_VALUES} values is not signed; give one with fewer releases"
        )
    try:
        try:
            return rfc8785.dumps(document)
        except rfc8785.IntegerDomainError:
            return rfc8785.dumps(_as_doubles(document))
    except (ValueError, OverflowError, RecursionError) as error:
        reason = str(error)[:200] or type(error).__name__
        raise InvalidParameter(f"no canonical JSON (RFC 8785): {reason}") from error


def _count_values(document: Any) -> int:
    """Return the number of values in a document, itself included; counting stops above `MOST_VALUES`."""
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
    """Return the document with exactly representable integers of magnitude 2⁵³ or more as floats.

    Most languages write 1e20 without an exponent.
    """
    if isinstance(value, dict):
        return {name: _as_doubles(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_doubles(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53 and float(value) == value:
        return float(value)
    return value
