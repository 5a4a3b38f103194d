"""Footers that tie the files of a table to one another and to the ledger, to detect a file restored from a backup.

Every file of records ends in a footer, written twice, so that a torn write leaves the previous copy intact. It holds a
random stamp, shared by all files and drawn again with every edit. The footer of the ids also holds the length of the
ledger after the last transaction, and its last link. Nothing in it depends on a record.
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
    "Restore the whole store from one backup, then repeat the erasures made since: delete --reapply finds them by the list of "
    "erased ids that is kept outside (keygen --tombstones)"
)
_MAGIC = b"\xff" * 8 + b"tied\n\0\0\0"  # cannot begin a text, a row or a label
_FORM = struct.Struct("<16s16sQ32s")
_CHECK = 32  # bytes of the SHA-256 that follows


class FileFooter(NamedTuple):
    """The footer of a file of records.

    Attributes:
        stamp: The stamp of the last edit, shared by all files; 16 bytes.
        length: The number of ledger entries; 0 if not recorded.
        link: The last link of the ledger.
    """

    stamp: bytes
    length: int = 0
    link: str = START

    def at(self, place: int) -> list[tuple[int, bytes]]:
        """Return the footer as two (offset, bytes) writes, starting at `place`."""
        packed = _FORM.pack(_MAGIC, self.stamp, self.length, bytes.fromhex(self.link))
        whole = (packed + hashlib.sha256(packed).digest()).ljust(_ONE, b"\0")
        return [(place, whole), (place + _ONE, whole)]

    def at_end(self, path: Path) -> list[tuple[int, bytes]]:
        """Return the writes that replace the footer of a file; empty if the file has none."""
        return self.at(path.stat().st_size - SIZE) if tie_of(path) else []


def tie_of(path: Path) -> FileFooter | None:
    """Return the footer of a file of records; None if it has no valid one."""
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
    """Return the length of a file of records without its footer."""
    return path.stat().st_size - (SIZE if tie_of(path) else 0)


def files(layout: Layout) -> list[Path]:
    """Return the files of records that carry a footer, the ids last. An empty file has none."""
    found = (layout.features, layout.codes, layout.labels, layout.subjects, layout.long, layout.ids)
    return [path for path in found if path.is_file() and path.stat().st_size]


def attach(disk: Disk, layout: Layout, lengths: Mapping[Path, int], length: int = 0, link: str = START) -> None:
    """Write a footer with a new common stamp to every file of records, after the given number of bytes."""
    tie = FileFooter(secrets.token_bytes(16), length, link)
    for path in files(layout):
        disk.extend(path, lengths[path] + SIZE)
        disk.overwrite(path, tie.at(lengths[path]))


def renew_footer(layout: Layout, stamp: str) -> FileFooter:
    """Return the footer of the table after the edits of this stamp; the ledger's length is updated later."""
    known = tie_of(layout.ids)
    return FileFooter(bytes.fromhex(stamp)) if known is None else known._replace(stamp=bytes.fromhex(stamp))


def _tie_of_ids(layout: Layout) -> FileFooter | None:
    return tie_of(layout.ids) if layout.ids.is_file() else None


def note(disk: Disk, layout: Layout, length: int, link: str) -> None:
    """Record the length of the ledger in the footer of the ids, if there is one."""
    known = _tie_of_ids(layout)
    if known is not None and known[1:] != (length, link):
        disk.overwrite(layout.ids, known._replace(length=length, link=link).at_end(layout.ids))


def is_noted(layout: Layout, length: int, link: str) -> bool:
    """Return whether the footer of the ids records this length and link; True if there is no footer."""
    known = _tie_of_ids(layout)
    return known is None or known[1:] == (length, link)


def says(layout: Layout, length: int, link: str) -> bool:
    """Return whether the ids have a footer that records this length and link."""
    return _tie_of_ids(layout) is not None and is_noted(layout, length, link)


def check(layout: Layout, ledger: Ledger, begun: InFlight | None) -> None:
    """Raise `StoreCorrupt` unless the table matches the ledger.

    Args:
        layout: The paths of the store.
        ledger: The ledger.
        begun: The request in the journal, whose edits may be partly carried out.
    """
    if ledger.source is not None:
        return
    ties = {path: tie_of(path) for path in files(layout)}
    untied = [path for path, tie in ties.items() if tie is None] or [layout.ids] * (layout.ids not in ties)
    if untied and ledger.head.plan is None:  # a table that grows with a new plan gets a footer at its new end
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
    if begun is None and any(ledger.edits_at(place).total for place in range(max(1, known.length), ledger.length)):
        raise restored_footer_error(layout.ids)
    stamps = {known.stamp}
    if begun is not None and known.length == begun.base:
        stamps.add(bytes.fromhex(begun.stamp))
    for path, tie in ties.items():
        if tie is not None and tie.stamp not in stamps and not untied:
            raise restored_footer_error(path)


def restored_footer_error(path: Path) -> StoreCorrupt:
    """Return the error for records that do not match the ledger."""
    return StoreCorrupt(
        f"{path}: not the records of the ledger's last entry: some files were restored from a copy. {OWED}"
    )


# --- cells ---
#
# The head of a file of names, and the last bytes of its cells: the cell width and the number of names.
#
# No NumPy here: `status` counts records with it.


HEAD, MAGIC = 64, b"noisygd_delete names 1\n"
WORD_BYTES = 8
DAMAGED = "not the names of this table; restore the store from a backup"


def head_of(words: int) -> bytes:
    """Return the head of a file whose cells have this number of words."""
    return (MAGIC + str(words).encode() + b"\n").ljust(HEAD, b"\0")


def words_of(path: Path) -> int:
    """Return the number of words of a cell, according to the head.

    Raises:
        StoreCorrupt: If the file is missing, a link, or has no valid head.
    """
    if path.is_symlink() or not path.is_file():
        raise StoreCorrupt(f"{path}: missing, or a link; restore the store from a backup")
    magic, _, width = read_start(path, HEAD).rstrip(b"\0").rpartition(b"\n")[0].rpartition(b"\n")
    if magic + b"\n" != MAGIC or width not in {str(words).encode() for words in WIDTHS}:
        raise StoreCorrupt(f"{path}: {DAMAGED}")
    return int(width)


def cells_size(path: Path, slots: int) -> int:
    """Return the required length in bytes of a file of cells."""
    return HEAD + slots * words_of(path) * WORD_BYTES


def cells_held(path: Path) -> int:
    """Return the number of names, without holding the lock.

    The last byte of a cell is zero exactly if its slot is free.
    """
    width = words_of(path) * WORD_BYTES
    slots = (length_of(path) - HEAD) // width
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        last = mapped[HEAD + width - 1 : HEAD + slots * width : width]
    return slots - last.count(0)
