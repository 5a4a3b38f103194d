"""Columns of text from files, in blocks: CSV (plain or gzip) and Parquet.

Guarantee: every cell of the file is returned as stripped text (a missing Parquet value as ""), every row has exactly
the columns of the header, and anything else raises one `InvalidSchema` naming the file, the line and the column.
Messages never quote a cell: cells are personal data, and messages end up in logs.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, cast
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidParameter, InvalidSchema, MissingDependency, UnreadableRows
from ...records import limited_io
from . import arrow
from .arrow import TextColumn
from .cells import FloatColumn, Fractions
from .index import Index, read_index
from .plain_csv import DELIMITERS, NOTHING, Piece, read_header, read_pieces

BLOCK_ROWS = 16_384
_LONGEST_LINE = 1 << 24
_LONGEST_HEADER = 2000  # characters of the header in a message
_MOST_COLUMNS = 100_000
_MOST_BLANK = 100_000  # lines
_MOST_HELD = 1 << 26  # characters of one block
_EXPANSION, _SMALL = 100, 1 << 24  # limits of a gzip file: times its size, or this many characters
_UNPACKED = 1 << 30  # bytes of a Parquet file's columns
_MOST_TEXT = 1 << 28  # bytes of text of a whole table, unless within _EXPANSION times its size
_OBJECT = 64  # bytes of a text in Python, beside its letters
_PIECE = 1 << 20
_SAMPLE = 1 << 16  # characters of the header that show its delimiter
_WORTH_ARROW = 1 << 22  # bytes of a CSV file: a shorter one is read before Arrow is imported
_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?[,;\t|]*', re.IGNORECASE)  # a first line for Excel, not part of the table
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


@dataclass(frozen=True)
class Table:
    """Rows of one file.

    Attributes:
        source: Name of the file for messages.
        columns: Texts of each column, by row.
        lines: Line of each row in the file.
        header: All columns of the file, if not all were read.
        index: Index that names the rows, of a Parquet file.
    """

    source: str
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int] | NDArray[np.int64]
    header: Sequence[str] = ()  # of the file, where not all of it was read
    index: Index | None = None  # that names the rows, of a Parquet file

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def memory(self) -> int:
        """Bytes that the cells take, approximately."""
        return sum(
            texts.nbytes
            if isinstance(texts, (TextColumn, FloatColumn))
            else _OBJECT * len(texts) + sum(map(len, texts))
            for texts in self.columns.values()
        )

    def column(self, name: str, purpose: str) -> Sequence[str]:
        """Return the stripped texts of the column `name`, by row.

        Args:
            name: Name of the column.
            purpose: Why it is needed, for the message.

        Raises:
            InvalidSchema: If there is no such column.
        """
        if name not in self.columns:
            header = ", ".join(self.header or self.columns)
            shown = header if len(header) <= _LONGEST_HEADER else f"{header[:_LONGEST_HEADER]} …"
            raise InvalidSchema(
                f"{self.source}: no column {name!r} ({purpose}); the header has {shown}. Correct the schema or the file"
            )
        return self.columns[name]

    def fault(self, bad: NDArray[np.bool_], column: str, problem: str) -> UnreadableRows:
        """Return, without raising it, the error for the marked cells of a column; it omits their text on purpose.

        Args:
            bad: (rows,), True for a cell in error.
            column: Name of the column.
            problem: What is wrong with the cells.
        """
        rows = np.flatnonzero(bad).tolist()
        return UnreadableRows(self.source, column, problem, rows, [int(self.lines[row]) for row in rows])

    def part(self, rows: Sequence[int]) -> Table:
        """Return a table of these rows only, in this order.

        Args:
            rows: Indices of rows, which may repeat.
        """

        def of(texts: Sequence[str]) -> Sequence[str]:
            if isinstance(texts, TextColumn):
                return texts.select(rows)
            kept = [texts[row] for row in rows]
            return Fractions(kept) if isinstance(texts, (FloatColumn, Fractions)) else kept

        columns = {name: of(texts) for name, texts in self.columns.items()}
        return replace(self, columns=columns, lines=[int(self.lines[row]) for row in rows])

    def blocks(self, rows: int, columns: Container[str]) -> Iterator[Table]:
        """Yield tables of at most `rows` consecutive rows, with those of the given columns that the table has."""

        def of(texts: Sequence[str], part: slice) -> Sequence[str]:
            if isinstance(texts, (TextColumn, FloatColumn)):
                return texts.part(part)
            return Fractions(texts[part]) if isinstance(texts, Fractions) else texts[part]

        kept = {name: texts for name, texts in self.columns.items() if name in columns}
        header = self.header or tuple(self.columns)
        for first in range(0, len(self), rows):
            part = slice(first, first + rows)
            taken = {name: of(texts, part) for name, texts in kept.items()}
            yield replace(self, columns=taken, lines=self.lines[part], header=header)


def read_table(path: str | Path, delimiter: str | None = None) -> Table:
    """Return the whole file, CSV or Parquet, as one table in memory.

    Args:
        path: The file.
        delimiter: See `read_blocks`.

    Raises:
        InvalidSchema: If the file is damaged, empty or ragged, or its texts are over 100 times as long as the file.
    """
    rows, held = FileRows(path, delimiter), 0
    for block in rows.blocks():
        held += sum(int(texts.lengths.sum()) for texts in block.columns.values() if isinstance(texts, TextColumn))
        if held > max(_MOST_TEXT, _EXPANSION * os.path.getsize(path)):
            raise InvalidSchema(
                f"{path}: its texts are over {_EXPANSION} times as long as the file; leave columns of long texts out of it"
            )
    return rows.first()


class GatheredTable:
    """Blocks of one file, to be joined into one table.

    Attributes:
        memory: Bytes that the cells take, approximately.
    """

    def __init__(self) -> None:
        self.memory = 0
        self._first: Table | None = None
        self._columns: dict[str, list[Sequence[str]]] = {}
        self._lines: list[NDArray[np.int64]] = []

    def __len__(self) -> int:
        return sum(map(len, self._lines))

    def add(self, block: Table) -> None:
        """Append the rows of a block, which has the columns of the first one."""
        if self._first is None:
            self._first = replace(block, columns={})
        self._lines.append(np.asarray(block.lines))
        self.memory += block.memory
        for name, texts in block.columns.items():
            self._columns.setdefault(name, []).append(texts)

    def table(self) -> Table:
        """Return all rows; to be called once, as the blocks are let go of column by column."""
        assert self._first is not None
        columns = {name: _join_texts(self._columns.pop(name)) for name in list(self._columns)}
        return replace(self._first, columns=columns, lines=np.concatenate(self._lines))


class FileRows:
    """The rows of a file, to be read several times: the first reading keeps those that fit in memory.

    Args:
        path: The file.
        delimiter: See `read_blocks`.
        columns: Columns to keep; None: all.
        memory: Bytes of cells to keep, if that is more than a block.

    Attributes:
        rows: Number of rows; 0 before they are read.
        kept: Number of first rows that fit, and were kept.
        table: All rows, if they were read and fit.
    """

    def __init__(
        self,
        path: str | Path,
        delimiter: str | None = None,
        columns: Container[str] | None = None,
        *,
        memory: float = math.inf,
    ) -> None:
        self.rows, self.kept, self.table = 0, 0, cast("Table | None", None)
        self._path, self._delimiter, self._columns, self._memory = path, delimiter, columns, memory
        self._first: Table | None = None

    def blocks(self, progress: Callable[[int], None] | None = None) -> Iterator[Table]:
        """Yield the rows in blocks, from the file unless all are in memory.

        Args:
            progress: Called with the number of rows read from the file so far.

        Raises:
            InvalidSchema: If the file is damaged, empty or ragged.
        """
        if self.table is not None:
            yield self.table
            return
        rows, kept, fits = 0, GatheredTable(), not self.rows
        for whole in read_blocks(self._path, self._delimiter, columns=self._columns):
            block = whole if self._columns is None else next(whole.blocks(len(whole), self._columns))
            yield block
            fits = fits and (not rows or kept.memory + block.memory <= self._memory)
            if fits:
                kept.add(block)
            rows += len(block)
            if progress is not None:
                progress(rows)
        if not self.rows:
            self.rows, self._first = rows, kept.table()
            self.kept = len(self._first)
            self.table = self._first if fits and kept.memory <= self._memory else None

    def first(self, progress: Callable[[int], None] | None = None) -> Table:
        """Read the file unless it has been read, and return the first rows: all, or as many blocks as fit, at least one.

        Args:
            progress: See `blocks`.
        """
        if self._first is None:
            for _ in self.blocks(progress):
                pass
        assert self._first is not None
        return self._first

    def forget_first(self) -> None:
        """Release first rows that are not all of them, which only a draft reads."""
        if self.table is None:
            self._first = None


def _join_texts(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    stored = [part for part in parts if isinstance(part, TextColumn)]
    if len(stored) == len(parts):
        return TextColumn.concatenate(stored)
    floats = [part for part in parts if isinstance(part, FloatColumn)]
    if len(floats) == len(parts):
        return FloatColumn.concatenate(floats)
    texts = list(chain.from_iterable(parts))
    return Fractions(texts) if isinstance(parts[0], (FloatColumn, Fractions)) else texts


def read_blocks(
    path: str | Path, delimiter: str | None = None, rows: int = BLOCK_ROWS, columns: Container[str] | None = None
) -> Iterator[Table]:
    """Yield the file in tables of at most `rows` rows, at least one table with at least one row.

    Parquet and gzip are recognised by their first bytes.

    Args:
        path: The file.
        delimiter: None: the one of , ; tab | that splits the header into the most columns.
        rows: Maximum rows of a table.
        columns: Columns to read of a Parquet file; None: all.

    Raises:
        InvalidParameter: If the delimiter is not a valid character.
        InvalidSchema: If the file is damaged, empty or ragged.
    """
    path = Path(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InvalidParameter("must be one character, no quote and no line break", delimiter=delimiter)
    try:
        with limited_io.open_plain(path, error=InvalidSchema) as file:
            start, size = file.read(4), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InvalidSchema(f"{path}: cannot be read ({error.strerror}); check the name and the permissions") from error
    if not start:
        raise InvalidSchema(f"{path}: the file is empty; expected a header line and one line per record")
    blocks = (
        _parquet(path, rows, size, columns)
        if start == _PARQUET
        else _csv(path, start[:2] == _GZIP, delimiter, rows, size)
    )
    empty = True
    for block in blocks:
        empty = False
        refuse_header(block)
        yield block
    if empty:
        raise InvalidSchema(f"{path}: a header but no records; expected one line per record")


def refuse_header(table: Table) -> None:
    """Check that no row repeats the header, as in concatenated files; from three columns on in any letter case.

    Tables of one column, and those with columns stored as numbers, are not checked.

    Args:
        table: The table.

    Raises:
        InvalidSchema: If a row repeats the header; names its line.
    """
    names = list(table.columns)
    if len(names) < 2 or any(isinstance(texts, (FloatColumn, Fractions)) for texts in table.columns.values()):
        return
    first, spellings = table.columns[names[0]], _cases(names[0])
    if isinstance(first, TextColumn):
        found = np.flatnonzero(first.positions(spellings) < len(spellings)).tolist()
    else:
        found = [row for row, text in enumerate(first) if text in spellings]
    for row in found:
        cells = [table.columns[name][row] for name in names]
        if cells == names or (
            len(names) > 2 and [cell.casefold() for cell in cells] == [name.casefold() for name in names]
        ):
            raise InvalidSchema(
                f"{table.source}, line {table.lines[row]}: the header again; take this line out of the file"
            )


def _cases(name: str) -> list[str]:
    return list(dict.fromkeys((name, name.lower(), name.upper(), name.capitalize(), name.title())))


def index_of(path: str | Path) -> Index | None:
    """Return the pandas index of a Parquet file, which may name its rows; None for CSV, or if there is none.

    Raises:
        InvalidSchema: If the file cannot be read.
    """
    with limited_io.open_plain(path, error=InvalidSchema) as file:
        if file.read(4) != _PARQUET:
            return None
    return next(iter(read_blocks(path, rows=1, columns=()))).index


def _csv(path: Path, compressed: bool, delimiter: str | None, rows: int, size: int) -> Iterator[Table]:
    """Yield plain CSV read by Arrow, if installed and worth its import; the rest cell by cell."""
    done = NOTHING
    if compressed:
        _check_expansion(path, size)
    try:
        with cast(BinaryIO, gzip.open(path, "rb")) if compressed else path.open("rb") as raw:
            first = read_header(raw, _LONGEST_LINE) if size >= _WORTH_ARROW and find_spec("pyarrow") else None
            first = None if first is not None and _SEPARATOR.fullmatch(first) else first
            mark = None if first is None else delimiter or _delimiter(first)
            names: list[str] = []
            with suppress(csv.Error):  # a name beyond its limits: reported by the careful reader
                names = [] if first is None else next(_reader([first], mark or ","), [])
            if names and mark in DELIMITERS:
                names = _header(str(path), names)
                for piece in read_pieces(raw, mark, names, _LONGEST_LINE):
                    blank = done.blank + (0 if piece is None else piece.blank)
                    if piece is None or blank > _MOST_BLANK:
                        break
                    for block in range(0, len(piece.lines), rows):
                        here = slice(block, block + rows)
                        yield Table(str(path), piece.texts(here), piece.lines[here])
                    done = replace(piece, blank=blank)
                else:
                    return
            raw.seek(done.end)
            yield from _parse_cells(path, raw, mark if done.end else delimiter, names if done.end else None, rows, done)
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidSchema(
            f"{path}, after line {done.line}: the file breaks off or is damaged; copy it again"
        ) from error


def _reader(lines: Iterable[str], delimiter: str) -> Any:
    return csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)


def _parse_cells(
    path: Path, raw: BinaryIO, delimiter: str | None, names: list[str] | None, rows: int, done: Piece
) -> Iterator[Table]:
    """Yield the rest of a file after `done`, with the header first if nothing is done."""
    line, blank, held = done.line, done.blank, 0
    coding = "utf-8" if done.end else "utf-8-sig"
    try:
        with io.TextIOWrapper(raw, encoding=coding, newline="") as file:
            lines_of_file = _lines(path, file, done.line)
            if names is None:
                first = next(lines_of_file, "")
                if "\0" in first[:2]:  # every second byte of ASCII in UTF-16
                    raise InvalidSchema(_utf8_error(path, compressed=isinstance(raw, gzip.GzipFile)))
                separator = _SEPARATOR.fullmatch(first.rstrip("\r\n"))
                if separator is not None:  # the line for spreadsheets before the header
                    delimiter, first = delimiter or separator[1], next(lines_of_file, "")
                    done = replace(done, line=1)
                reader = _reader(chain([first], lines_of_file), delimiter or _delimiter(first))
                names = _header(str(path), next(reader, []))
            else:
                reader = _reader(lines_of_file, delimiter or ",")
            cells: list[list[str]] = []
            lines: list[int] = []
            for row in reader:
                line = done.line + reader.line_num
                if row and len(row) != len(names):
                    raise InvalidSchema(
                        f"{path}, line {line}: {len(row)} cells where the header has {len(names)}; "
                        "quote cells that contain the delimiter, or give the delimiter"
                    )
                if row:
                    cells.append(row)
                    lines.append(line)
                    held += sum(map(len, row))
                else:
                    blank += 1
                    if blank > _MOST_BLANK:
                        raise InvalidSchema(f"{path}, line {line}: over {_MOST_BLANK} blank lines; this is not a table")
                if len(cells) == rows or held > _MOST_HELD:
                    yield _rows(path, names, cells, lines)
                    cells, lines, held = [], [], 0
            if cells:
                yield _rows(path, names, cells, lines)
    except UnicodeDecodeError as error:
        raise InvalidSchema(_utf8_error(path, compressed=isinstance(raw, gzip.GzipFile))) from error
    except csv.Error as error:
        raise InvalidSchema(f"{path}, near line {line + 1}: not CSV ({error}); check quotes and delimiter") from error
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidSchema(f"{path}, after line {line}: the file breaks off or is damaged; copy it again") from error


def _utf8_error(path: Path, *, compressed: bool) -> str:
    with cast(BinaryIO, gzip.open(path, "rb")) if compressed else path.open("rb") as raw:
        start = raw.read(2)
    codings = {
        BOM_UTF16_LE: "UTF-16",
        BOM_UTF16_BE: "UTF-16",
        start[:1] + b"\0": "UTF-16LE",
        b"\0" + start[1:]: "UTF-16BE",
    }
    coding = codings.get(start, "WINDOWS-1252")
    unpacked = f"gzip -dc {quote(str(path))} | " if compressed else ""
    names = chain(["utf-8.csv"], (f"utf-8-{number}.csv" for number in count(2)))
    made = next(
        name for name in names if not Path(name).exists()
    )  # nothing is overwritten, least of all the file itself
    command = f"{unpacked}iconv -f {coding} -t UTF-8{'' if compressed else ' ' + quote(str(path))} > {made}"
    return f'{path}: not UTF-8 text, {coding} perhaps; save it as UTF-8 ("CSV UTF-8" in Excel), or: {command}'


def _rows(path: Path, names: list[str], cells: list[list[str]], lines: list[int]) -> Table:
    texts = ([cell.strip() for cell in column] for column in zip(*cells, strict=True))
    return Table(str(path), dict(zip(names, texts, strict=True)), lines)


def _check_expansion(path: Path, size: int) -> None:
    """Reject a gzip file that unpacks to more than any table does.

    Unpacking it once for this takes less time than one look at the resulting cells.
    """
    left = max(_SMALL, _EXPANSION * size)
    with (
        suppress(EOFError, OSError, zlib.error),
        gzip.open(path, "rb") as file,
    ):  # damage is reported by the reader
        while piece := file.read(_PIECE):
            left -= len(piece)
            if left < 0:
                raise InvalidSchema(
                    f"{path}: unpacks to over {_EXPANSION} times its size, which no table does; if it is one after all, unpack "
                    "it and give the CSV file"
                )


def _lines(path: Path, file: io.TextIOBase, number: int) -> Iterator[str]:
    """Yield lines of bounded length, numbered after `number`: a file without line breaks must not fill memory."""
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise InvalidSchema(f"{path}, line {number}: longer than {_LONGEST_LINE} characters; this is not a table")
        yield line


def _delimiter(header: str) -> str:
    def columns(delimiter: str) -> int:
        return max(map(len, csv.reader([header[:_SAMPLE]], delimiter=delimiter)), default=0)

    return max(DELIMITERS, key=columns)


def _header(source: str, names: Sequence[str]) -> list[str]:
    if len(names) > _MOST_COLUMNS:
        raise InvalidSchema(f"{source}, line 1: {len(names)} columns; a table has at most {_MOST_COLUMNS}")
    names = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(names)]  # as pandas calls them
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if len(name) > _LONGEST_HEADER:
            raise InvalidSchema(f"{source}, line 1: column {position} has a name of {len(name)} characters; shorten it")
        composed = normalize("NFC", name)  # names that look the same are the same
        if composed in seen:
            raise InvalidSchema(f"{source}, line 1: two columns are called {name!r}; rename one")
        seen.add(composed)
    if not names:
        raise InvalidSchema(f"{source}, line 1: no header; the first line must name the columns")
    return names


def _parquet(path: Path, rows: int, size: int, wanted: Container[str] | None) -> Iterator[Table]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependency(
            f"{path} is a Parquet file and reading it needs pyarrow: pip install 'noisygd-delete[files]', or save it as CSV"
        ) from error
    start = 1
    try:
        # nothing is read ahead, nor a column of a group of rows at once: memory is that of a few batches
        schema = parquet.read_schema(path)
        header = _header(str(path), schema.names)
        names = [name for name in header if wanted is None or name in wanted]
        texts = [field.name for field in schema if arrow.is_text(field.type)]  # kept dictionary-encoded until accessed
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_PIECE, read_dictionary=texts) as file:
            _check_parquet(path, file.metadata, names, size)
            index = read_index(schema, file.metadata.num_rows)
            ranged = index is not None and index.step != 0 and (wanted is None or index.column in wanted)
            for batch in file.iter_batches(
                batch_size=rows, columns=[schema.names[header.index(name)] for name in names]
            ):
                for piece in arrow.split_batch(batch, _MOST_HELD):
                    columns = {name: _column(path, name, piece.column(place)) for place, name in enumerate(names)}
                    if index is not None and ranged:
                        columns[index.column] = _column(path, index.column, index.names_of(start - 1, piece.num_rows))
                    # a Parquet file has no lines; the number of the record, from 1, is given instead
                    yield Table(str(path), columns, range(start, start + piece.num_rows), header, index)
                    start += piece.num_rows
    except InvalidSchema:
        raise
    except (
        pyarrow.ArrowException,
        OSError,
        ValueError,
        OverflowError,
    ) as error:  # the last two: invalid text or dates
        raise InvalidSchema(f"{path}, after record {start - 1}: not a whole Parquet file; copy it again") from error


def _check_parquet(path: Path, metadata: Any, names: Sequence[str], size: int) -> None:
    """Reject a file whose metadata declares more data than any table of its size has."""
    # of whole groups: for a column with damaged statistics, Arrow 26 terminates the process
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if metadata.num_rows > max(_SMALL, _EXPANSION * size) // max(1, len(names)) or unpacked > max(
        _UNPACKED, _EXPANSION * size
    ):
        raise InvalidSchema(f"{path}: more rows or bytes than a file of this size holds; this is not a table")


def _column(path: Path, name: str, array: Any) -> Sequence[str]:
    import pyarrow

    try:
        return arrow.arrow_column(array)
    except (UnicodeDecodeError, pyarrow.ArrowException) as error:
        raise InvalidSchema(f"{path}, column {name!r}: bytes that are no UTF-8 text; store text") from error
    except ValueError as error:
        raise InvalidSchema(f"{path}, column {name!r}: {error}; store one number, date or text a cell") from error
