"""A Parquet file that unpacks to more than memory: what is not read costs nothing, what is read comes in parts."""

from __future__ import annotations

import pytest

from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Schema, read_blocks, read_table

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS, LONG = 16_384, 40_000


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A few KB that are 655 MB of text."""
    path = tmp_path_factory.mktemp("packed") / "t.parquet"
    note = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * ROWS, pyarrow.int32()), ["x" * LONG])
    table = {"x": [0.5] * ROWS, "y": ["a"] * ROWS, "note": note}
    parquet.write_table(pyarrow.table(table), path)
    assert path.stat().st_size < 100_000
    return path


def test_columns_that_no_schema_reads_are_not_read(packed):
    schema = Schema.from_dict({"label": {"column": "y", "classes": ["a", "b"]}, "columns": {"x": {"bounds": [0, 1]}}})
    (block,) = read_blocks(packed, columns=schema.reads())
    assert set(block.columns) == {"x", "y"}
    assert len(schema.encode_file(packed).rows) == ROWS
    with pytest.raises(InvalidSchema, match="the header has x, y, note"):
        block.column("z", "a number")


def test_texts_come_in_parts_that_memory_holds(packed):
    held = rows = 0
    for block in read_blocks(packed, columns={"note"}):
        assert list(block.lines) == list(range(rows + 1, rows + 1 + len(block)))
        rows += len(block)
        held = max(held, len(block) * LONG)
        assert block.columns["note"][0] == "x" * LONG
    assert rows == ROWS
    assert held <= 1 << 26


def test_a_whole_table_of_so_much_text_is_refused(packed):
    with pytest.raises(InvalidSchema, match="times as long as the file"):
        read_table(packed)
