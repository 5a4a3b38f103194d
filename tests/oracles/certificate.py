"""A verifier of certificates that knows only the written format: RFC 8785 by hand, Ed25519 and SHA-256 from libraries.

Source: RFC 8785 (JSON Canonicalization Scheme), sections 3.2.2.2 (strings), 3.2.2.3 (numbers, as ECMA-262's Number::toString),
3.2.3 (names in the order of their UTF-16 code units).
"""

from __future__ import annotations

import base64
import hashlib
from decimal import Decimal
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def canonical(value: Any) -> bytes:
    return _text(value).encode("utf-8")


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return str(value).lower()
    if isinstance(value, (int, float)):
        return number(float(value))
    if isinstance(value, str):
        return '"' + "".join(SHORT.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    names = sorted(value, key=_units)
    return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in names) + "}"


def _units(name: str) -> list[int]:
    """The UTF-16 code units of a name."""
    units = []
    for letter in name:
        code = ord(letter)
        units += [code] if code < 0x10000 else [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
    return units


def number(value: float) -> str:
    """ECMA-262 Number::toString: k digits s, value s × 10^(n−k)."""
    if value == 0:
        return "0"
    if value < 0:
        return "-" + number(-value)
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    s, k = "".join(map(str, digits)), len(digits)
    n = int(exponent) + k
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return s[:n] + "." + s[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    sign = "+" if n > 0 else "-"
    return s[0] + ("." + s[1:] if k > 1 else "") + "e" + sign + str(abs(n - 1))


def fault(paper: dict[str, Any]) -> str | None:
    """What is wrong with the signature; None if nothing is."""
    block = paper.get("signature", {})
    if block.get("algorithm") != "Ed25519 over canonical JSON (RFC 8785)":
        return "algorithm"
    raw = base64.b64decode(block["public_key"], validate=True)
    if hashlib.sha256(raw).hexdigest()[:16] != block["key_id"]:
        return "key_id"
    unsigned = {name: part for name, part in paper.items() if name != "signature"}
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(base64.b64decode(block["value"]), canonical(unsigned))
    except InvalidSignature:
        return "signature"
    return None


def signed(unsigned: dict[str, Any], key: Ed25519PrivateKey, algorithm: str, written: bytes) -> dict[str, Any]:
    """A document with its signature block over the given bytes."""
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    block = {
        "algorithm": algorithm,
        "key_id": hashlib.sha256(raw).hexdigest()[:16],
        "public_key": base64.b64encode(raw).decode(),
        "value": base64.b64encode(key.sign(written)).decode(),
    }
    return {**unsigned, "signature": block}


def as_javascript_writes_it(value: Any) -> Any:
    """The same JSON after a program that knows doubles only: 1.0 becomes 1."""
    if isinstance(value, dict):
        return {name: as_javascript_writes_it(part) for name, part in value.items()}
    if isinstance(value, list):
        return [as_javascript_writes_it(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value
