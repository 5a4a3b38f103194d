"""A CSV file to rows one cell at a time, by the csv module, `str.strip`, `float` and a dictionary: the oracle of the reader by
columns. It was the package's own reader; of its limits only those that say what a table is are kept."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path


class Refused(Exception):
    """The file is no table; `line` is where that was seen."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


def rows(path: Path, delimiter: str) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, cells by column) of every row."""
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    reader = csv.reader(
        io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    line = 0
    try:
        names = [name.strip() for name in next(reader, [])]
        for row in reader:
            line = reader.line_num
            if row and len(row) != len(names):
                raise Refused(line)
            if row:
                yield line, {name: cell.strip() for name, cell in zip(names, row, strict=True)}
    except csv.Error as error:
        raise Refused(line + 1) from error


def read(path: Path, delimiter: str) -> list[tuple[int, dict[str, str]]] | Refused:
    """All rows, or the refusal."""
    try:
        return list(rows(path, delimiter))
    except Refused as refusal:
        return refusal


def number(text: str) -> float:
    if "_" in text or not text.isascii():  # Python's own ways of writing
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return float("nan")


def place(text: str, values: tuple[str, ...]) -> int:
    return {value: place for place, value in enumerate(values)}.get(text, len(values))
