"""What ties the files of a table to one another and to the ledger, so that one of them put back from a copy is seen.

Every file of records ends in a tie, written twice, so that one that was cut short leaves the one before: a stamp that all of them share, drawn anew with every edit, and in that of the ids how
long the ledger was after the last transaction, with its last link. Nothing in it depends on a record, and nothing of it is kept.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import StoreCorrupt
from ..records import WIDTHS
from .disk import Disk, read_start
from .entry import START
from .layout import Layout
from .ledger import Ledger

if TYPE_CHECKING:
    from .journal import InFlight

_ONE = 128
SIZE = 2 * _ONE
OWED = (
    "Put the whole store back from one backup, then erase again whoever was erased since: delete --reapply finds them by the list of "
    "erased ids that is kept outside (keygen --tombstones)"
)
_MAGIC = b"\xff" * 8 + b"tied\n\0\0\0"  # begins no text, and no number that a row or a label may have
_FORM = struct.Struct("<16s16sQ32s")
_CHECK = 32  # bytes of a SHA-256 behind it


class FileFooter(NamedTuple):
    """The end of a file of records."""

    stamp: bytes
    length: int = 0
    link: str = START

    def at(self, place: int) -> list[tuple[int, bytes]]:
        """The same as something to overwrite at this place of a file, in two writes."""
        packed = _FORM.pack(_MAGIC, self.stamp, self.length, bytes.fromhex(self.link))
        whole = (packed + hashlib.sha256(packed).digest()).ljust(_ONE, b"\0")
        return [(place, whole), (place + _ONE, whole)]

    def at_end(self, path: Path) -> list[tuple[int, bytes]]:
        """The same as something to overwrite in a file that ends in one; nothing in another."""
        return self.at(path.stat().st_size - SIZE) if tie_of(path) else []


def tie_of(path: Path) -> FileFooter | None:
    """What a file of records ends in; None where it is no tie."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) < SIZE:
            return None
        file.seek(-SIZE, os.SEEK_END)
        both = file.read(SIZE)
    for written in (both[:_ONE], both[_ONE:]):
        packed, digest = written[: _FORM.size], written[_FORM.size :][:_CHECK]
        magic, stamp, length, link = _FORM.unpack(packed)
        if magic == _MAGIC and hashlib.sha256(packed).digest() == digest:
            return FileFooter(stamp, length, link.hex())
    return None


def length_of(path: Path) -> int:
    """How long a file of records is without its tie."""
    return path.stat().st_size - (SIZE if tie_of(path) else 0)


def files(layout: Layout) -> list[Path]:
    """The files of records that bear one, the ids last. One that holds nothing needs none."""
    found = (layout.features, layout.labels, layout.subjects, layout.long, layout.ids)
    return [path for path in found if path.is_file() and path.stat().st_size]


def attach(disk: Disk, layout: Layout, lengths: Mapping[Path, int], length: int = 0, link: str = START) -> None:
    """Give every file of records a tie of one new stamp behind so many bytes of it."""
    tie = FileFooter(secrets.token_bytes(16), length, link)
    for path in files(layout):
        disk.extend(path, lengths[path] + SIZE)
        disk.overwrite(path, tie.at(lengths[path]))


def renew_footer(layout: Layout, stamp: str) -> FileFooter:
    """The tie of the table after the edits of this stamp: what it says of the ledger comes later."""
    known = tie_of(layout.ids)
    return FileFooter(bytes.fromhex(stamp)) if known is None else known._replace(stamp=bytes.fromhex(stamp))


def note(disk: Disk, layout: Layout, length: int, link: str) -> None:
    """Say in the ids how long the ledger is, where the table is here and tied."""
    known = tie_of(layout.ids) if layout.ids.is_file() else None
    if known is not None and known[1:] != (length, link):
        disk.overwrite(layout.ids, known._replace(length=length, link=link).at_end(layout.ids))


def is_noted(layout: Layout, length: int, link: str) -> bool:
    """Whether the ids say so, or there are none here that could."""
    known = tie_of(layout.ids) if layout.ids.is_file() else None
    return known is None or known[1:] == (length, link)


def says(layout: Layout, length: int, link: str) -> bool:
    """Whether there are ids here that say so."""
    return layout.ids.is_file() and tie_of(layout.ids) is not None and is_noted(layout, length, link)


def check(layout: Layout, ledger: Ledger, begun: InFlight | None) -> None:
    """Raise `StoreCorrupt` unless the table is the one that the ledger goes on from.

    Args:
        begun: what the journal holds: its edits may be done in part.
    """
    if ledger.source is not None:
        return
    ties = {path: tie_of(path) for path in files(layout)}
    untied = [path for path, tie in ties.items() if tie is None] or [layout.ids] * (layout.ids not in ties)
    if untied and ledger.head.plan is None:  # a table that grows with a new plan is tied again at its new end
        raise StoreCorrupt(f"{untied[0]}: missing, or not as long as the last edit left it. {OWED}")
    known = ties.get(layout.ids)
    if known is None:
        return
    if known.length > ledger.length:
        raise StoreCorrupt(
            f"{ledger.path}: has {ledger.length} entries, and the records were last edited or released when it had {known.length}: it was put "
            f"back from a copy. {OWED}"
        )
    if known.length and ledger.link(known.length) != known.link:
        raise restored_footer_error(layout.ids)
    if begun is None and any(ledger.edited(place).total for place in range(max(1, known.length), ledger.length)):
        raise restored_footer_error(layout.ids)
    stamps = {known.stamp}
    if begun is not None and known.length == begun.base:
        stamps.add(bytes.fromhex(begun.stamp))
    for path, tie in ties.items():
        if tie is not None and tie.stamp not in stamps and not untied:
            raise restored_footer_error(path)


def restored_footer_error(path: Path) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path}: not the records that the ledger goes on from: some of the files were put back from a copy, or others were. {OWED}"
    )


# --- cells ---
#
# A file of names, as far as its head and its last bytes go: how wide a cell is, and how many names there are.
#
# Needs no arrays: `status` counts records with it.


HEAD, MAGIC = 64, b"noisygd_delete names 1\n"
WORD_BYTES = 8
DAMAGED = "not the names of this table; restore the store from a backup"


def head_of(words: int) -> bytes:
    """What a file begins with whose cells have so many words."""
    return (MAGIC + str(words).encode() + b"\n").ljust(HEAD, b"\0")


def words_of(path: Path) -> int:
    """The words of a cell, as the head says.

    Raises:
        StoreCorrupt: it is none.
    """
    if path.is_symlink() or not path.is_file():
        raise StoreCorrupt(f"{path}: missing, or a link; restore the store from a backup")
    magic, _, width = read_start(path, HEAD).rstrip(b"\0").rpartition(b"\n")[0].rpartition(b"\n")
    if magic + b"\n" != MAGIC or width not in {str(words).encode() for words in WIDTHS}:
        raise StoreCorrupt(f"{path}: {DAMAGED}")
    return int(width)


def cells_size(path: Path, slots: int) -> int:
    """How long a file of cells must be."""
    return HEAD + slots * words_of(path) * WORD_BYTES


def cells_held(path: Path) -> int:
    """How many names there are, for somebody who does not hold the lock: of a free slot's cell the last byte is zero, too."""
    width = words_of(path) * WORD_BYTES
    slots = (length_of(path) - HEAD) // width
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        last = mapped[HEAD + width - 1 : HEAD + slots * width : width]
    return slots - last.count(0)
