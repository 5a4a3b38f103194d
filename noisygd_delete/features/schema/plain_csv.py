r"""CSV cut into cells by Arrow while it is plain; the careful reader of `files` goes on at the first piece that is not.

Plain: a header in one line; UTF-8; lines that end in \n or \r\n, all with as many cells as the header; quotes only around
whole cells of one line, none doubled; cells and lines within the careful reader's limits. So all errors of a file are
found and worded in one place, and both readers give the same result: a test compares them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .arrow import TextColumn

DELIMITERS = (",", ";", "\t", "|")
_PLAIN_PIECE = 1 << 22  # bytes cut at a time
_NEWLINE, _RETURN = b"\n\r"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Piece:
    """Whole rows of a file.

    Attributes:
        columns: Arrow arrays of texts.
        lines: Line of each row.
        blank: Number of blank lines.
        end: Byte offset of the next piece.
        line: Number of lines before the next piece.
    """

    columns: dict[str, Any]  # Arrow's arrays of texts
    lines: NDArray[np.int64]  # each row's
    blank: int
    end: int
    line: int

    def texts(self, rows: slice) -> dict[str, TextColumn]:
        """Return the columns of some of the rows, by name."""
        return {name: TextColumn(column[rows]) for name, column in self.columns.items()}


NOTHING = Piece({}, np.zeros(0, np.int64), blank=0, end=0, line=0)


def read_header(file: BinaryIO, longest: int) -> str | None:
    """Return the first line, without byte-order mark and line end, if it is plain, else None.

    It is not plain, and left to the careful reader, if blank, longer than `longest` bytes, not UTF-8, or with a quote,
    a null byte or an inner carriage return.

    Args:
        file: Positioned at the start.
        longest: Maximum bytes of a line.
    """
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


def read_pieces(file: BinaryIO, delimiter: str, names: Sequence[str], longest: int) -> Iterator[Piece | None]:
    """Yield the rows from here on, in pieces; None, and nothing after it, where the file is no longer plain.

    Not plain are a NUL, a lone carriage return, a quote other than around a whole cell, a wrong number of cells, a line
    over `longest`, and invalid UTF-8. Blank lines are left out and counted.

    Args:
        file: Positioned after the header.
        delimiter: The delimiter.
        names: Names of the columns.
        longest: Maximum bytes of a line.
    """
    done, kept, more = Piece({}, NOTHING.lines, blank=0, end=file.tell(), line=1), b"", True
    while more:
        block = file.read(_PLAIN_PIECE)
        more = bool(block)
        data = kept + block
        data += b"\n" * (bool(data) and not more)
        cut = data.rfind(b"\n") + 1
        kept = data[cut:]
        if cut or len(kept) >= longest:
            piece = None if len(kept) >= longest else _read_rows(data[:cut], delimiter, names, longest, done)
            yield piece
            if piece is None:
                return
            done = piece


def _read_rows(data: bytes, delimiter: str, names: Sequence[str], longest: int, before: Piece) -> Piece | None:
    import pyarrow
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == _NEWLINE)
    lengths = np.diff(ends, prepend=-1) - 1
    blank = (lengths == 0) | ((lengths == 1) & (letters[ends - 1] == _RETURN))
    quotes = data.count(b'"')
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n") or lengths.max(initial=0) >= longest:
        return None
    if data.startswith(_BOM):  # which Arrow would remove
        return None
    if (
        quotes
        and 2 * len(re.findall(rb'(?<![^%b\n])"[^"\n]*"(?=[%b\r\n])' % ((delimiter.encode(),) * 2), data)) != quotes
    ):
        return None
    try:
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=delimiter),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string())),
        )
    except pyarrow.ArrowException:  # ragged, or not UTF-8
        return None
    columns = {name: table.column(name).combine_chunks() for name in names}
    longest_cell = max((compute.max(compute.binary_length(texts)).as_py() or 0) for texts in columns.values())
    if len(table) != np.count_nonzero(~blank) or longest_cell > csv.field_size_limit():
        return None
    lines = before.line + 1 + np.flatnonzero(~blank)
    return Piece(columns, lines, int(np.count_nonzero(blank)), before.end + len(data), before.line + len(ends))
