"""[map] and text columns in a schema: read, written, refused with the reason; rows record by record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import maps
from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Schema, Table

TOML = """\
id = "id"
[label]
column = "y"
classes = ["no", "yes"]
[columns.age]
bounds = [0, 100]
[columns.work]
categories = ["a", "b"]
unknown = "zero"
[columns.sex]
categories = ["f", "m"]
"""
CELLS = {"id": list("pqrs"), "age": ["0", "40", "130", "99"], "work": list("abca"), "sex": ["f", "m", "x", "f"]}
TABLE = Table("made", {**CELLS, "y": ["no", "yes", "no", "yes"]}, range(2, 6))


def read(folder: Path, more: str) -> Schema:
    (folder / "s.toml").write_text(TOML + more)
    return Schema.read(folder / "s.toml")


def test_a_map_takes_its_columns_from_the_schema(tmp_path: Path) -> None:
    schema = read(tmp_path, '[map]\nkind = "bins"\nbins = 4\nbuckets = 16\n')
    plain = read(tmp_path, "")
    assert schema.map == maps.BinsAndCrosses((0, 2, 3), bins=4, buckets=16)
    assert schema.feature_map == schema.map.digest
    assert plain.feature_map is None
    assert schema.features == len(schema.names) == 6 + 4 + 16 + 1
    assert schema.one_hot_blocks == (0,) * 27
    assert Schema.from_dict(schema.to_dict()) == schema
    assert "map" not in plain.to_dict()
    values = np.array([[-1, 1, 0, 1, 0, 0], [-0.2, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 1], [0.98, 1, 0, 1, 0, 0]])
    np.testing.assert_array_equal(schema.encode(TABLE).rows, schema.map.rows(values))


def test_a_mapped_row_depends_on_its_own_cells_alone(tmp_path: Path) -> None:
    for kind in ('kind = "bins"\nbuckets = 64\n', 'kind = "additive"\nlevels = 3\n'):
        schema = read(tmp_path, f"[map]\n{kind}")
        rows = schema.encode(TABLE).rows
        for place in range(4):
            cells = {name: [column[place]] for name, column in TABLE.columns.items()}
            np.testing.assert_array_equal(schema.encode(Table("made", cells, [2])).rows[0], rows[place])


def test_free_text_becomes_hashed_ngrams_beside_other_columns(tmp_path: Path) -> None:
    schema = read(tmp_path, '[columns.said]\ntext = "words"\nlongest = 1\nbuckets = 256\n')
    table = Table("made", {**TABLE.columns, "said": ["one two", "one", "", "two one"]}, range(2, 6))
    rows = schema.encode(table).rows.astype(float)
    assert rows.shape == (4, 6 + 256 + 1)
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.feature_map is not None
    assert (
        schema.feature_map != read(tmp_path, '[columns.said]\ntext = "words"\nlongest = 1\nbuckets = 257\n').feature_map
    )
    said = rows[:, 6:262] / rows[:, -1:]
    np.testing.assert_allclose(said[0], said[3], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(said, axis=1), [1, 1, 0, 1], atol=1e-6)
    norms = np.sqrt((rows**2).sum(axis=1))
    assert 1 - 1e-6 < norms.min() <= norms.max() <= 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('[map]\nkind = "whiten"\n', r"s.toml: \[map\]: a map needs kind"),
        ('[map]\nkind = "bins"\ncolumns = [64]\n', "reads 64 numbers a record; the columns make 6"),
        ('[map]\nkind = "ngrams"\n', "reads None"),
        ("map = 3\n", "must be a table|a map needs kind"),
        ('[map]\nkind = "bins"\n[columns.said]\ntext = "words"\n', "goes through no map"),
        ('[columns.said]\ntext = "verbs"\n', '"words" or "characters"'),
        ('[columns.said]\ntext = "words"\nbuckets = 0\n', "buckets"),
        ('[columns.said]\ntext = "words"\nbounds = [0, 1]\n', "only one of them"),
        ('[map]\nkind = "onnx"\nfile = "nowhere.onnx"\ninput_shape = [6]\n', "nowhere.onnx"),
    ],
)
def test_what_a_schema_may_not_say_of_maps(tmp_path: Path, more: str, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=reason):
        Schema.from_dict({**_parsed(TOML), **_parsed(more)}, "s.toml") if more.startswith("map") else read(
            tmp_path, more
        )


def _parsed(text: str) -> dict:
    import tomllib

    return tomllib.loads(text)
