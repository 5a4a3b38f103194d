"""Salted digests of held-out ids and subjects, so that a request for one of them gets a correct answer.

held-out.json  {"salt": 64 hexadecimal digits, "ids": [digest, ...], "subjects": [digest, ...], "folded_ids": [...],
                "folded_subjects": [...]}

A digest is BLAKE2b-128 of a name, or of its folded spelling (`fold_name`), keyed with the salt of the file. With the
file, a guessed name can be tested, and nothing else learned; it contains no part of a row. A name that gets a row in the table leaves it. The store works without it: remove the file to forget these names
too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import StoreCorrupt
from ..records import Id, limited_io
from ..records.similar import fold_name
from .disk import Disk, read_file
from .layout import Layout

_LIMIT = 1 << 26  # bytes
_SALT = 32
_KINDS = ("ids", "subjects", "folded_ids", "folded_subjects")


def write_held_out(disk: Disk, layout: Layout, ids: Iterable[Id], subjects: Iterable[Id]) -> None:
    """Store digests of the names that a new store holds out for evaluation; write nothing without names."""
    named = {"ids": set(map(str, ids)), "subjects": set(map(str, subjects))}
    named |= {f"folded_{kind}": set(map(fold_name, names)) for kind, names in named.items()}
    if any(named.values()):
        salt = os.urandom(_SALT)
        digests = {kind: sorted(_digest(salt, kind, name) for name in names) for kind, names in named.items()}
        disk.replace(layout.held_out, json.dumps({"salt": salt.hex(), **digests}).encode())


def find_held_out(layout: Layout, name: Id, *, person: bool) -> tuple[bool, bool]:
    """Look up a record, or a person, among those held out for evaluation when the store was made.

    Returns:
        Whether this name was held out, and whether another spelling of it was.

    Raises:
        StoreCorrupt: If the file is not one that `write_held_out` wrote.
    """
    fields = _read(layout)
    if fields is None:
        return False, False
    held, folded = (text in fields[kind] for kind, text in _digests(fields, str(name), person=person).items())
    return held, folded and not held


def forget_held_out(disk: Disk, layout: Layout, ids: Iterable[Id | None], subjects: Iterable[Id | None]) -> None:
    """Forget names that get a row in the table, so that nothing is said of them as held out any more."""
    fields = _read(layout)
    if fields is None:
        return
    before = {kind: set(digests) for kind, digests in fields.items() if kind != "salt"}
    left = {kind: set(digests) for kind, digests in before.items()}
    for person, names in ((False, ids), (True, subjects)):
        for name in names:
            if name is not None:
                for kind, text in _digests(fields, str(name), person=person).items():
                    left[kind].discard(text)
    if left != before:
        kept = {kind: sorted(digests) for kind, digests in left.items()}
        disk.replace(layout.held_out, json.dumps({"salt": fields["salt"], **kept}).encode())


def _read(layout: Layout) -> dict[str, Any] | None:
    """Return the salt and the digests by kind; None without the file.

    Raises:
        StoreCorrupt: If the file is not one that `write_held_out` wrote.
    """
    if not layout.held_out.exists():
        return None
    try:
        fields = limited_io.parse_json(read_file(layout.held_out, _LIMIT).decode())
        bytes.fromhex(fields["salt"])
        return {kind: fields[kind] if kind == "salt" else frozenset(fields[kind]) for kind in ("salt", *_KINDS)}
    except (ValueError, TypeError, KeyError) as error:
        raise StoreCorrupt(
            f"{layout.held_out}: not a list of held-out names; remove it, or restore the store from a backup"
        ) from error


def _digests(fields: Mapping[str, Any], name: str, *, person: bool) -> dict[str, str]:
    """Return the digests of a name and of its folded spelling, by kind."""
    kind = "subjects" if person else "ids"
    spellings = {kind: name, f"folded_{kind}": fold_name(name)}
    return {kind: _digest(bytes.fromhex(fields["salt"]), kind, text) for kind, text in spellings.items()}


def _digest(salt: bytes, kind: str, name: str) -> str:
    text = f"{kind}\0{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16, key=salt).hexdigest()
