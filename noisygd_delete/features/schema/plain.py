"""CSV cut into cells by numpy, as long as it is plain; the careful reader in `files` takes over at the first byte that is not.

Plain: a header in one line; UTF-8; lines that end in \\n or \\r\\n, all with as many cells as the header; quotes only around
whole cells, none doubled; cells and lines within the careful reader's limits. So whatever is wrong with a file is found and
worded in one place, and what is read here is what would be read there: a test compares the two.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from .text import PAD, SPACES, Places, TextColumn

DELIMITERS = (",", ";", "\t", "|")
_PIECE = 1 << 22  # bytes cut at a time
_NEWLINE, _RETURN, _QUOTE, _SPACE, _DOT = b'\n\r" .'
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Piece:
    """Whole rows of a file. `line` lines stand before it, and at `end` (bytes) the next piece begins."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]  # (rows, columns)
    ends: NDArray[np.int64]
    dots: Places
    bare: bool  # no cell has space around it
    lines: Places  # each row's, the last one where it has several
    blank: int
    end: int
    line: int

    @classmethod
    def nothing(cls) -> Piece:
        """What is read of a file before it is read."""
        nowhere = np.zeros((0, 1), np.int64)
        return cls(np.zeros(0, np.uint8), nowhere, nowhere, nowhere[:, 0], True, nowhere[:, 0], blank=0, end=0, line=0)

    def columns(self, names: list[str], rows: slice) -> dict[str, TextColumn]:
        return {
            name: TextColumn(self.buffer, self.starts[rows, column], self.ends[rows, column], self.dots, bare=self.bare)
            for column, name in enumerate(names)
        }


def header(file: BinaryIO, longest: int) -> str | None:
    """The first line, without its end, if it is a plain one; None leaves the file to the careful reader."""
    line = file.readline(longest)
    if not line.endswith(b"\n") or b'"' in line or b"\0" in line:
        return None
    line = line.removeprefix(_BOM).removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in line or not line.strip():
        return None
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def pieces(file: BinaryIO, delimiter: str, columns: int, longest: int) -> Iterator[Piece | None]:
    """The rows from here on, in pieces; None, and nothing after it, where the file ceases to be plain.

    Args:
        file: behind the header.
        longest: bytes of a line.
    """
    end, line, kept = file.tell(), 1, b""
    while True:
        block = file.read(_PIECE)
        whole, rest = _cut(kept + block)
        if not block:
            whole, rest = whole + rest + b"\n" * bool(rest), b""
        if len(rest) >= longest:
            yield None
            return
        if whole:
            piece = _cells(whole, ord(delimiter), columns, longest, end, line)
            yield piece
            if piece is None:
                return
            end, line = piece.end, piece.line
        if not block:
            return
        kept = rest


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """Whole rows, and what is left: cut at the last line end outside quotes."""
    at = data.rfind(b"\n")
    if b'"' in data:
        buffer = np.frombuffer(data, np.uint8)
        newlines = np.flatnonzero(buffer == _NEWLINE)
        outside = newlines[np.searchsorted(np.flatnonzero(buffer == _QUOTE), newlines) % 2 == 0]
        at = int(outside[-1]) if len(outside) else -1
    return data[: at + 1], data[at + 1 :]


def _cells(data: bytes, delimiter: int, columns: int, longest: int, end: int, line: int) -> Piece | None:
    if b"\0" in data or not _is_text(data):
        return None
    returns = data.count(b"\r")
    if returns != data.count(b"\r\n"):
        return None
    buffer = np.frombuffer(bytes(PAD) + data + bytes(PAD), np.uint8)
    quotes = np.cumsum(buffer == _QUOTE, dtype=np.int32) if b'"' in data else None  # up to and with each byte
    marks = np.flatnonzero((buffer == delimiter) | (buffer == _NEWLINE))
    if quotes is not None:
        marks = marks[quotes[marks] % 2 == 0]
    if not len(marks) or marks[-1] != PAD + len(data) - 1:  # the file ends within quotes
        return None
    starts = np.concatenate([[PAD], marks[:-1] + 1])
    ends, last = marks, buffer[marks] == _NEWLINE
    if returns:
        ends = marks - (last & (buffer[marks - 1] == _RETURN))
    first = np.concatenate([[True], last[:-1]])
    blank = first & last & (ends == starts)
    starts, ends, last = starts[~blank], ends[~blank], last[~blank]
    if len(ends) % columns:
        return None
    grid = last.reshape(-1, columns)
    if grid[:, :-1].any() or not grid[:, -1].all():
        return None
    if len(ends) and max(int((ends - starts).max()), 0) > csv.field_size_limit():
        return None
    if len(ends) and int((ends[columns - 1 :: columns] - starts[::columns]).max()) >= longest:
        return None
    newlines = np.flatnonzero(buffer == _NEWLINE)
    lines = line + 1 + np.searchsorted(newlines, marks[~blank][columns - 1 :: columns])
    if quotes is not None:
        unquoted = _unquoted(buffer, quotes, starts, ends)
        if unquoted is None:
            return None
        starts, ends = unquoted
    shape = (-1, columns)
    return Piece(
        buffer=buffer,
        starts=starts.reshape(shape),
        ends=ends.reshape(shape),
        dots=np.flatnonzero(buffer == _DOT) if b"." in data else np.zeros(0, np.int64),
        bare=_is_bare(data, delimiter) and len(newlines) == np.count_nonzero(last) + np.count_nonzero(blank),
        lines=lines,
        blank=int(np.count_nonzero(blank)),
        end=end + len(data),
        line=line + len(newlines),
    )


def _is_bare(data: bytes, delimiter: int) -> bool:
    """Whether there is no space but delimiters and the ends of lines, which may still stand within quotes."""
    return data.isascii() and not any(space in data for space in SPACES if space not in (delimiter, _NEWLINE, _RETURN))


def _is_text(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _unquoted(
    buffer: NDArray[np.uint8], quotes: NDArray[np.int32], starts: Places, ends: Places
) -> tuple[Places, Places] | None:
    """Cells without the quotes around them; None where quotes stand in any other place."""
    inside = quotes[ends - 1] - quotes[starts - 1]
    quoted = np.flatnonzero(inside)
    if (inside[quoted] != 2).any() or (buffer[ends[quoted] - 1] != _QUOTE).any():
        return None
    opening = starts[quoted]
    late = np.flatnonzero(buffer[opening] != _QUOTE)
    if len(late):  # only spaces may stand before the opening quote
        others = np.flatnonzero(buffer != _SPACE)
        opening[late] = others[np.searchsorted(others, opening[late])]
        if (buffer[opening] != _QUOTE).any():
            return None
    starts, ends = starts.copy(), ends.copy()
    starts[quoted], ends[quoted] = opening + 1, ends[quoted] - 1
    return starts, ends
