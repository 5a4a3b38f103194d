"""Salted digests of held-out ids and subjects, so that a request for one of them gets a correct answer.

held-out.json  {"salt": 64 hexadecimal digits, "ids": [digest, ...], "subjects": [digest, ...], "folded_ids": [...],
                "folded_subjects": [...]}

A digest is BLAKE2b-128 of a name, or of its folded spelling (`fold_name`), keyed with the salt of the file. With the
file, a guessed name can be tested, and nothing else learned; it contains no part of a row. The store works without it: remove the file to forget these names
too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable

from ..errors import StoreCorrupt
from ..records import Id, limited_io
from ..records.similar import fold_name
from .disk import Disk, read_file
from .layout import Layout

_LIMIT = 1 << 26  # bytes
_SALT = 32


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
    if not layout.held_out.exists():
        return False, False
    kind = "subjects" if person else "ids"
    spellings = {kind: str(name), f"folded_{kind}": fold_name(name)}
    try:
        fields = limited_io.parse_json(read_file(layout.held_out, _LIMIT).decode())
        salt = bytes.fromhex(fields["salt"])
        held, folded = (_digest(salt, kind, text) in fields[kind] for kind, text in spellings.items())
    except (ValueError, TypeError, KeyError) as error:
        raise StoreCorrupt(
            f"{layout.held_out}: not a list of held-out names; remove it, or restore the store from a backup"
        ) from error
    return held, folded and not held


def _digest(salt: bytes, kind: str, name: str) -> str:
    text = f"{kind}\0{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16, key=salt).hexdigest()
