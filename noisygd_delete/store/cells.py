"""A file of names, as far as its head and its last bytes go: how wide a cell is, and how many names there are.

Needs no arrays: `status` counts records with it.
"""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path

from ..errors import StoreCorrupt
from ..records import WIDTHS
from .disk import read
from .tie import length_of

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
    magic, _, width = read(path, HEAD).rstrip(b"\0").rpartition(b"\n")[0].rpartition(b"\n")
    if magic + b"\n" != MAGIC or width not in {str(words).encode() for words in WIDTHS}:
        raise StoreCorrupt(f"{path}: {DAMAGED}")
    return int(width)


def size(path: Path, slots: int) -> int:
    """How long a file of cells must be."""
    return HEAD + slots * words_of(path) * WORD_BYTES


def held(path: Path) -> int:
    """How many names there are, for somebody who does not hold the lock: of a free slot's cell the last byte is zero, too."""
    width = words_of(path) * WORD_BYTES
    slots = (length_of(path) - HEAD) // width
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
        last = mapped[HEAD + width - 1 : HEAD + slots * width : width]
    return slots - last.count(0)
