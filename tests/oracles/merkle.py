"""The tree of RFC 9162, section 2.1, as its text defines it: recursive, over the data themselves."""

from __future__ import annotations

import hashlib


def _split(size: int) -> int:
    """k: the largest power of two smaller than `size`."""
    k = 1
    while 2 * k < size:
        k *= 2
    return k


def tree_hash(data: list[bytes]) -> bytes:
    """MTH(D_n)."""
    if not data:
        return hashlib.sha256().digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = _split(len(data))
    return hashlib.sha256(b"\x01" + tree_hash(data[:k]) + tree_hash(data[k:])).digest()


def audit_path(place: int, data: list[bytes]) -> list[bytes]:
    """PATH(m, D_n)."""
    if len(data) == 1:
        return []
    k = _split(len(data))
    if place < k:
        return [*audit_path(place, data[:k]), tree_hash(data[k:])]
    return [*audit_path(place - k, data[k:]), tree_hash(data[:k])]
