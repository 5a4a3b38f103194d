"""CSV cut into cells by Arrow, as long as it is plain; the careful reader in `files` takes over at the first piece that is not.

Plain: a header in one line; UTF-8; lines that end in \\n or \\r\\n, all with as many cells as the header; quotes only around
whole cells of one line, none doubled; cells and lines within the careful reader's limits. So whatever is wrong with a file is found
and worded in one place, and what is read here is what would be read there: a test compares the two.
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
_PIECE = 1 << 22  # bytes cut at a time
_NEWLINE, _RETURN = b"\n\r"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Piece:
    """Whole rows of a file. `line` lines stand before the next piece, which begins at `end` (bytes)."""

    columns: dict[str, Any]  # Arrow's arrays of texts
    lines: NDArray[np.int64]  # each row's
    blank: int
    end: int
    line: int

    def texts(self, rows: slice) -> dict[str, TextColumn]:
        """The columns of some of the rows."""
        return {name: TextColumn(column[rows]) for name, column in self.columns.items()}


NOTHING = Piece({}, np.zeros(0, np.int64), blank=0, end=0, line=0)


def read_header(file: BinaryIO, longest: int) -> str | None:
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


def read_pieces(file: BinaryIO, delimiter: str, names: Sequence[str], longest: int) -> Iterator[Piece | None]:
    """The rows from here on, in pieces; None, and nothing after it, where the file ceases to be plain.

    Args:
        file: behind the header.
        longest: bytes of a line.
    """
    done, kept, more = Piece({}, NOTHING.lines, blank=0, end=file.tell(), line=1), b"", True
    while more:
        block = file.read(_PIECE)
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
    if data.startswith(_BOM):  # which Arrow would take off
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
    except pyarrow.ArrowException:  # ragged, or no UTF-8
        return None
    columns = {name: table.column(name).combine_chunks() for name in names}
    longest_cell = max((compute.max(compute.binary_length(texts)).as_py() or 0) for texts in columns.values())
    if len(table) != np.count_nonzero(~blank) or longest_cell > csv.field_size_limit():
        return None
    lines = before.line + 1 + np.flatnonzero(~blank)
    return Piece(columns, lines, int(np.count_nonzero(blank)), before.end + len(data), before.line + len(ends))
