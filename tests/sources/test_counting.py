"""Counts by SQL against rows read here: bit by bit, in DuckDB and PostgreSQL; what SQL reads otherwise is not told; nothing stays behind."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from noisygd_delete_sources import source_at, sql
from noisygd_delete_sources.reading import columns_of

from noisygd_delete.engine.count_tables import CodedMoments
from noisygd_delete.features.schema import Schema
from tests.sources.rows import records_of

from .conftest import statement as run_on_postgres

BITS, ROWS = 9, 400
FIELDS: dict[str, Any] = {
    "id": "id",
    "label": {"column": "y", "classes": ["no", "yes"]},
    "columns": {
        "age": {"bounds": [-3, 90]},
        "gain": {"bounds": [0, 9999], "transform": "log1p"},
        "rate": {"bounds": [0.1, 0.7], "missing": "column"},
        "left": {"bounds": [-1, 1], "missing": 0.25},
        "kind": {"categories": ["a", "it's", "c d"]},
        "code": {"categories": ["1", "2", "30"], "unknown": "zero"},
        "said": {"boolean": ["no", "yes"]},
    },
    "map": {"kind": "additive", "levels": 4, "amounts": [1]},
}
TYPES = 'id BIGINT, age DOUBLE PRECISION, gain INTEGER, rate DOUBLE PRECISION, "left" DOUBLE PRECISION, kind VARCHAR, code INTEGER, said VARCHAR, y VARCHAR'


def cells(seed: int = 0, rows: int = ROWS) -> list[tuple[Any, ...]]:
    """Beyond bounds, at ends of bins, empty, unknown and padded with blanks."""
    rng = np.random.default_rng(seed)

    def pick(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    ends = [-3 + 93 * k / 16 for k in range(17)]
    return [
        (
            k,
            pick(-1e9, 1e300, *ends, np.nextafter(ends[5], 0), float(rng.uniform(-5, 95))),
            pick(0, 0, -7, 99999, int(rng.integers(0, 9999))),
            pick(None, 0.1, 0.7, 0.4, float(rng.uniform())),
            pick(None, -1.0, 0.0, float(rng.normal())),
            pick("a", " it's", "c d\t", "other", None, ""),
            pick(1, 2, 30, 31, None),
            pick("no", "yes", None),
            pick("no", " yes"),
        )
        for k in range(rows)
    ]


def schema(**changes: Any) -> Schema:
    return Schema.from_dict({**FIELDS, **changes})


def in_duckdb(folder: Path, rows: list[tuple[Any, ...]]) -> Any:
    file = folder / "rows.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE OR REPLACE TABLE people ({TYPES})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * 9)})", rows)
    return source_at(str(file), table="people", id="id")


def counted(source: Any, of: Schema) -> Any:
    """The tables, and the position that they are of."""
    with source.snapshot(columns_of(of)) as now:
        return now.counted(of), now.position


def moments(of: Schema, outputs: int = 1) -> CodedMoments:
    coding = of.map.coding  # type: ignore[union-attr]
    return CodedMoments(coding.directions, outputs, 4**BITS, BITS, coding=coding)


def sums_here(source: Any, of: Schema, outputs: int = 1) -> Any:
    records, _ = records_of(source, of, ROWS)
    return moments(of, outputs).of_table(records)


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_duckdb_are_those_of_the_rows(tmp_path: Path, seed: int) -> None:
    source, of = in_duckdb(tmp_path, cells(seed)), schema()
    found, position = counted(source, of)
    np.testing.assert_array_equal(moments(of).of_counts(found), sums_here(source, of))
    assert position == source.position()


def test_several_classes_and_logarithmic_bins(tmp_path: Path) -> None:
    label = {"column": "kind", "classes": ["a", "it's", "c d"]}
    columns = {name: FIELDS["columns"][name] for name in ("age", "gain", "code")}
    map = {"kind": "additive", "levels": 3, "logarithmic": [0, 1]}
    of = schema(label=label, columns=columns, map=map)
    rows = [row for row in cells(5) if row[5] in ("a", " it's", "c d\t")]
    source = in_duckdb(tmp_path, rows)
    found, _ = counted(source, of)
    np.testing.assert_array_equal(moments(of, 3).of_counts(found), sums_here(source, of, 3))


def test_an_empty_table_and_rows_of_persons_who_have_too_many(tmp_path: Path) -> None:
    of = schema()
    rows = cells()
    source = in_duckdb(tmp_path, [*rows, (rows[3][0], *rows[4][1:])])  # an id that stands twice is not read
    found, _ = counted(source, of)
    np.testing.assert_array_equal(moments(of).of_counts(found), sums_here(source, of))
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute("DELETE FROM people")
    assert not moments(of).of_counts(counted(source, of)[0]).any()


@pytest.mark.parametrize(
    ("place", "cell"),
    [(1, None), (1, float("nan")), (1, float("inf")), (7, "TRUE"), (8, "perhaps"), (8, "True"), (8, None)],
)
def test_of_cells_that_sql_reads_otherwise_nothing_is_told(tmp_path: Path, place: int, cell: Any) -> None:
    rows = cells()
    rows[7] = (*rows[7][:place], cell, *rows[7][place + 1 :])
    assert counted(in_duckdb(tmp_path, rows), schema())[0] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"map": {"kind": "additive", "levels": 2, "pairs": [[0, 1]]}},
        {"map": {"kind": "additive"}, "rows": "clip", "radius": 2.0},
        {"columns": {"kind": {"bounds": [0, 1]}}, "map": {"kind": "additive"}},
        {"label": {"column": "id", "bounds": [0, 1]}, "id": "y"},
    ],
)
def test_what_sql_does_not_code_is_not_told(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert counted(in_duckdb(tmp_path, cells()), schema(**changes))[0] is None


def test_more_pairs_of_codes_than_memory_holds_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = in_duckdb(tmp_path, cells())
    monkeypatch.setattr(sql, "_MOST_COUNTS", 100)
    assert counted(source, schema())[0] is None


def test_a_count_leaves_nothing_in_the_file(tmp_path: Path) -> None:
    source = in_duckdb(tmp_path, cells())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    counted(source, schema())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_counts_of_postgres_are_those_of_the_rows_and_nothing_is_spilled(database: str) -> None:
    import psycopg

    run_on_postgres(database, f"CREATE TABLE counted ({TYPES}, PRIMARY KEY (id))")
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO counted VALUES ({', '.join(['%s'] * 9)})", cells(1))
    source, of = source_at(database, table="counted", id="id"), schema()
    found, _ = counted(source, of)
    np.testing.assert_array_equal(moments(of).of_counts(found), sums_here(source, of))
    with source._moment() as (connection, _):
        asked = sql.statement(of, source._rows(), source._columns(connection))
        assert source._answer_in_memory(connection, asked)
        told = connection.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + asked).fetchone()[0]
        kept = connection.execute("SELECT count(*) FROM pg_matviews").fetchone()[0]
    assert re.findall(r'"(?:Disk Usage|Temp \w+ Blocks|Sort Space Type)": (?!0\b)', json.dumps(told)) == []
    assert kept == 0
    run_on_postgres(database, "DROP TABLE counted")


@pytest.mark.parametrize(
    "types",
    [
        TYPES.replace("kind VARCHAR", "kind VARCHAR COLLATE NOCASE"),
        TYPES.replace("rate DOUBLE PRECISION", "rate FLOAT").replace('"left" DOUBLE PRECISION', '"left" FLOAT'),
        TYPES.replace("code INTEGER", "code VARCHAR"),
    ],
)
def test_columns_that_compare_or_round_otherwise(tmp_path: Path, types: str) -> None:
    """Case, blanks, bounds as float32 rounds them, numbers as text: the same counts, or none."""
    file, of = tmp_path / "rows.duckdb", schema()
    rows = [(*row[:5], {"a": "A", " it's": "IT'S"}.get(row[5], row[5]), *row[6:]) for row in cells(3)]
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE people ({types})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * 9)})", rows)
    source = source_at(str(file), table="people", id="id")
    found, _ = counted(source, of)
    if "code VARCHAR" in types:  # 31 might be written 31.0
        assert found is None
        return
    assert found is not None
    np.testing.assert_array_equal(moments(of).of_counts(found), sums_here(source, of))


def test_a_collation_of_postgres_by_which_case_is_nothing(database: str) -> None:
    import psycopg

    run_on_postgres(database, "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    run_on_postgres(database, f"CREATE TABLE counted ({TYPES.replace('kind VARCHAR', 'kind VARCHAR COLLATE ci')})")
    rows = [(*row[:5], {"a": "A", " it's": "IT'S"}.get(row[5], row[5]), *row[6:]) for row in cells(3)]
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO counted VALUES ({', '.join(['%s'] * 9)})", rows)
    source, of = source_at(database, table="counted", id="id"), schema()
    found, _ = counted(source, of)
    assert found is not None
    np.testing.assert_array_equal(moments(of).of_counts(found), sums_here(source, of))


def test_another_schema_gives_other_counts(tmp_path: Path) -> None:
    source, of = in_duckdb(tmp_path, cells()), schema()
    other = replace(of, map=replace(of.map, levels=3))  # type: ignore[type-var]
    found, _ = counted(source, other)
    assert moments(other).of_counts(found).size < moments(of).size
