"""Columns of a Parquet file, by their buffers: what each cell reads as one by one in Python is the oracle."""

from __future__ import annotations

import datetime
import decimal
import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Schema, arrow, read_blocks
from noisygd_delete.features.schema.arrow import TextColumn
from noisygd_delete.features.schema.cells import FloatColumn
from noisygd_delete.features.schema.files import FileRows
from noisygd_delete.features.schema.values import find_empty, read_numbers

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = [" a", "b ", "", None, "\u00a0c\u2003", "grüße", "1.5", "-7", "x" * 100, "\t", "日本 "]
COLUMNS = {
    "texts": pyarrow.array(TEXTS),
    "large": pyarrow.array(TEXTS, pyarrow.large_string()),
    "listed": pyarrow.array(TEXTS).dictionary_encode(),
    "whole": pyarrow.array([0, -1, None, 2**62, -(2**63)]),
    "unsigned": pyarrow.array([0, 2**64 - 1, None], pyarrow.uint64()),
    "small": pyarrow.array([1, -128, None], pyarrow.int8()),
    "yes": pyarrow.array([True, False, None]),
    "fraction": pyarrow.array([0.1, -0.0, 1e300, math.inf, -math.inf, math.nan, None, 2.0]),
    "half": pyarrow.array([0.1, None, 1e-30], pyarrow.float32()),
    "numbers listed": pyarrow.array([3, None, 3]).dictionary_encode(),
    "date": pyarrow.array([datetime.date(2026, 1, 2), None]),
    "time": pyarrow.array([datetime.datetime(2026, 1, 2, 3, 4, 5, 6), None]),
    "decimal": pyarrow.array([decimal.Decimal("1.50"), None]),
    "nothing": pyarrow.nulls(3),
    "none": pyarrow.array([], pyarrow.string()),
}


def one_by_one(column: object) -> list[str]:
    """Numbers of 32 bits as NumPy writes them, the shortest text that is theirs: 0.1, not what 64 bits make of it."""
    narrow = str(column.type) == "float"
    cells = [np.float32(value) if narrow and value is not None else value for value in column.to_pylist()]
    return ["" if value is None or str(value) == "nan" else str(value).strip() for value in cells]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_reads_as_its_cells_do(name: str) -> None:
    whole = COLUMNS[name]
    for part in (whole, whole[1:], whole[:-1], whole[2:2]):
        read, expected = arrow.arrow_column(part), one_by_one(part)
        assert list(read) == expected
        assert [read[cell] for cell in range(len(expected))] == expected
        assert read[0:2] == expected[0:2]
        np.testing.assert_array_equal(read_numbers(read), read_numbers(expected))
        for marks in ((), ("nan", "-1", "2.0")):
            np.testing.assert_array_equal(find_empty(read, marks), find_empty(expected, marks))
    by_buffer = isinstance(arrow.arrow_column(whole), (TextColumn, FloatColumn))
    assert by_buffer == (name not in ("date", "time", "decimal", "nothing"))


def test_a_missing_fraction_read_as_zero_would_be_seen() -> None:
    planted = FloatColumn(np.zeros(1), np.zeros(1, bool))
    assert list(planted) != one_by_one(pyarrow.array([None], pyarrow.float64()))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(),
        1,
        [None, pyarrow.py_buffer(np.array([0, 2], np.int32).tobytes()), pyarrow.py_buffer(b"\xff\xfe")],
    )
    with pytest.raises(pyarrow.ArrowException):
        arrow.arrow_column(broken)
    parquet.write_table(pyarrow.table({"y": broken}), tmp_path / "broken.parquet")
    schema = Schema.from_dict({"label": {"column": "y", "classes": ["no", "yes"]}})
    with pytest.raises(InvalidSchema, match="column 'y': bytes that are no UTF-8 text"):
        schema.encode_file(tmp_path / "broken.parquet")


def test_a_longer_file_takes_no_more_memory(tmp_path: Path) -> None:
    """By Arrow's own count: neither what was read stays, nor is anything read ahead. Its readers do that by default."""
    names, rows = [f"x{k}" for k in range(20)], 5000
    table = pyarrow.table({name: np.random.default_rng(k).uniform(-1, 1, rows) for k, name in enumerate(names)})
    with parquet.ParquetWriter(tmp_path / "t.parquet", table.schema) as file:
        for _ in range(30):
            file.write_table(table)
    before, held = pyarrow.total_allocated_bytes(), []
    for block in read_blocks(tmp_path / "t.parquet", rows=4096):
        assert len(block) <= 4096
        held.append(pyarrow.total_allocated_bytes() - before)
    assert len(held) > 30
    assert max(held) < 8 * table.nbytes < 30 * table.nbytes / 3


@pytest.mark.parametrize("most", [1 << 30, 0], ids=["short", "long"])
def test_parts_of_a_column_are_joined_and_taken_as_lists_are(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "_MOST_SHORT", most)
    parts = [arrow.arrow_column(pyarrow.array(TEXTS)[a:b]) for a, b in ((0, 4), (4, 4), (3, 11))]
    expected = [text for part in parts for text in part]
    joined = TextColumn.concatenate(parts)
    assert list(joined) == expected
    assert list(joined.select([9, 0, 9])) == [expected[9], expected[0], expected[9]]
    np.testing.assert_array_equal(joined.numbers(), read_numbers(expected))
    listed = ["a", "日本"]
    assert joined.positions(listed).tolist() == [listed.index(text) if text in listed else 2 for text in expected]


def test_rows_of_floats_that_are_kept_take_the_memory_that_is_counted(tmp_path: Path) -> None:
    """Written as texts, as they were, they take ten times as much."""
    values = np.random.default_rng(0).uniform(-1, 1, 40_000)
    values[::7] = np.nan
    parquet.write_table(pyarrow.table({"x": values}), tmp_path / "t.parquet", row_group_size=5000)
    rows = FileRows(tmp_path / "t.parquet")
    tracemalloc.start()
    kept = rows.first().columns["x"]
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(kept, FloatColumn)
    assert held < 3 * kept.nbytes
    assert list(kept[:50]) == one_by_one(pyarrow.array(values[:50]))
