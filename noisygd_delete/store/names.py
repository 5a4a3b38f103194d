"""Ids and subjects on disk: one cell per slot, overwritten in place, so that no part of an erased name remains.

ids.names, subjects.names    a head of 64 bytes (the file type, and the number of words per cell), then the text cells
                             of `records.names`, slot by slot; a free slot's cell is all zeros
long.names                   names too long for a cell: pieces of 4096 bytes (slot + 1, kind of name, length, name), all
                             zeros where free; the file grows and is never shortened

The cell width is chosen by `init` from the names present then, and is fixed. Nothing is ever moved: changing a name
copies no other name, and no block that contains a name is released to the file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StoreCorrupt
from ..records import Id, Names
from ..records.names import ELSEWHERE, SHIFT, TAG, WORD
from .disk import Disk
from .file_footer import DAMAGED, HEAD, SIZE, FileFooter, head_of, words_of
from .layout import Layout

IDS, SUBJECTS = 1, 2
_LONG = 4096
_TIE = (1 << 32) - 1  # the first field of a piece at the former footer of a growing file
_LONG_HEAD = np.dtype([("slot", "<u4"), ("which", "<u2"), ("length", "<u2")])
_BLOCK = 1 << 14  # slots written or checked at a time


def names_files(layout: Layout, ids: Names, subjects: Names | None) -> Iterator[tuple[Path, Iterable[bytes]]]:
    """Yield the name files of a new table and their contents, all as text; the file of ids comes last."""
    ids = ids if ids.texts else Names.texts_of(ids)
    subjects = subjects if subjects is None or subjects.texts else Names.texts_of(subjects)
    long: list[bytes] = []
    for which, names in ((SUBJECTS, subjects), (IDS, ids)):
        long += [] if names is None else pieces(which, names.others)
    if subjects is not None:
        yield layout.subjects, _name_lines(subjects)
    yield layout.long, long
    yield layout.ids, _name_lines(ids)


def pieces(which: int, others: Mapping[int, Id]) -> list[bytes]:
    """Return the pieces of long.names for the ids or subjects of a new table that fit into no cell."""
    return [_piece(slot, which, str(name)) for slot, name in sorted(others.items())]


def _name_lines(names: Names) -> Iterator[bytes]:
    yield head_of(names.cells.shape[1])
    for first in range(0, len(names), _BLOCK):
        yield np.ascontiguousarray(names.cells[first : first + _BLOCK], WORD).tobytes()


def load(layout: Layout, which: int, slots: int) -> Names:
    """Return the names, mapped from their file, so that later edits of the file are visible.

    Raises:
        StoreCorrupt: If they are not text, or not those of a table with this number of slots.
    """
    path = _path(layout, which)
    cells = np.asarray(np.memmap(path, WORD, mode="r", offset=HEAD, shape=(slots, words_of(path))))
    names = Names(cells, texts=True, others=dict(_iterate_names(layout, which)))
    _check(path, names)
    return names


def _check(path: Path, names: Names) -> None:
    """Raise unless every cell is text followed by zeros, and long names exist exactly where cells refer to them."""
    elsewhere: list[int] = []
    room = names.cells.shape[1] * WORD.itemsize - 1  # bytes of text; the tag follows
    behind = np.arange(room) >= np.arange(room + 1)[:, None]  # for each length: the bytes between the text and the tag
    zeros, plain = _masks(np.where(behind, 0xFF, 0)), _masks(np.where(behind, 0xFF, 0x80))
    for first in range(0, len(names), _BLOCK):
        block = names.cells[first : first + _BLOCK]
        tags = (block[:, -1] >> TAG).astype(np.uint8)
        elsewhere += (first + np.flatnonzero(tags == ELSEWHERE)).tolist()
        lengths = np.maximum(tags, SHIFT) - SHIFT
        longest = int(lengths.max(initial=0))
        if longest > room:
            raise StoreCorrupt(f"{path}: {DAMAGED}")
        # most blocks of most tables have names of one length: one mask serves all
        which = longest if longest == lengths.min(initial=longest) else lengths
        if not (block & plain[which]).any():
            continue  # zeros after the text, and all of it is ASCII
        if (block & zeros[which]).any():
            raise StoreCorrupt(f"{path}: {DAMAGED}")
        letters = np.array(block).view(np.uint8).reshape(len(block), -1)
        letters[:, -1] = 0  # a truncated last character then fails to decode
        try:
            letters.tobytes().decode()
        except UnicodeDecodeError:
            raise StoreCorrupt(f"{path}: holds text that is none; restore the store from a backup") from None
    if elsewhere != sorted(names.others):
        raise StoreCorrupt(f"{path}: {DAMAGED}")


def _masks(of_bytes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return masks for the bytes of a cell except its tag, as words; shape (lengths, words)."""
    masks = np.zeros((len(of_bytes), of_bytes.shape[1] + 1), np.uint8)
    masks[:, :-1] = of_bytes
    return masks.view(WORD)


def apply(disk: Disk, layout: Layout, which: int, changed: Mapping[int, Id | None], end: FileFooter) -> None:
    """Write the names of slots (None for a free slot) and the footers of the files. The operation is idempotent."""
    path = _path(layout, which)
    words = words_of(path)
    names = Names.texts_of(list(changed.values()), words)
    slots = list(changed)
    _apply_long(disk, layout, which, {slots[place]: str(name) for place, name in names.others.items()}, set(slots), end)
    width = words * WORD.itemsize
    cells = [(HEAD + slot * width, cell.tobytes()) for slot, cell in zip(slots, names.cells, strict=True)]
    disk.overwrite(path, [*cells, *end.at_end(path)])


def _apply_long(
    disk: Disk, layout: Layout, which: int, names: dict[int, str], slots: set[int], end: FileFooter
) -> None:
    """Erase the former long names of the slots and write the new ones.

    A partly erased piece counts as free and is erased too.
    """
    pieces = _pieces(layout)
    if not (len(pieces) or names):
        return
    cleared: list[int] = []
    free: list[int] = []
    for place, (piece, head) in enumerate(zip(pieces, _heads(pieces), strict=True)):
        if head["slot"] not in (0, _TIE) and not (head["which"] == which and int(head["slot"]) - 1 in slots):
            continue
        (cleared if piece.any() else free).append(place * _LONG)
    free += [pieces.nbytes + more * _LONG for more in range(len(names) - len(free))]
    written = [(at, _piece(slot, which, name)) for at, (slot, name) in zip(free, sorted(names.items()), strict=False)]
    size = max([pieces.nbytes, *(at + _LONG for at, _ in written)])
    if layout.long.stat().st_size < size + SIZE:
        disk.extend(layout.long, size + SIZE)
    disk.overwrite(layout.long, [*((at, bytes(_LONG)) for at in cleared), *written, *end.at(size)])


def pieces_in(layout: Layout) -> int:
    """Return the number of bytes that the pieces of long.names take."""
    return layout.long.stat().st_size // _LONG * _LONG


def _pieces(layout: Layout) -> NDArray[np.uint8]:
    size = layout.long.stat().st_size
    if not size:
        return np.zeros((0, _LONG), np.uint8)
    return np.memmap(layout.long, np.uint8, mode="r", shape=(size // _LONG, _LONG))


def _heads(pieces: NDArray[np.uint8]) -> NDArray[np.void]:
    return np.ascontiguousarray(pieces[:, : _LONG_HEAD.itemsize]).view(_LONG_HEAD)[:, 0]


def _piece(slot: int, which: int, name: str) -> bytes:
    text = name.encode()
    return (np.array([(slot + 1, which, len(text))], _LONG_HEAD).tobytes() + text).ljust(_LONG, b"\0")


def _iterate_names(layout: Layout, which: int) -> Iterator[tuple[int, Id]]:
    pieces = _pieces(layout)
    for piece, head in zip(pieces, _heads(pieces), strict=True):
        if head["slot"] and head["which"] == which:
            text = piece[_LONG_HEAD.itemsize :][: head["length"]].tobytes()
            try:
                yield int(head["slot"]) - 1, text.decode()
            except UnicodeDecodeError:
                raise StoreCorrupt(f"{layout.long}: holds text that is none; restore the store from a backup") from None


def _path(layout: Layout, which: int) -> Path:
    return layout.ids if which == IDS else layout.subjects


def stray(layout: Layout) -> bool:
    """Return whether a free piece of long.names is not blank."""
    pieces = _pieces(layout)
    return any(piece.any() for piece, head in zip(pieces, _heads(pieces), strict=True) if not head["slot"])
