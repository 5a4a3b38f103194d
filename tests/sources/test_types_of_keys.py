"""Types of columns that name rows: one whose values have no text each is refused where a store is made, with any other a row is deleted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.duckdb_tables import Lake
from noisygd_delete_sources.source import Source

from noisygd_delete.errors import InvalidParameter

from .conftest import statement

LISTED = ", ".join(f"'k{n}'" for n in range(1, 21))
UNFIT = {  # type of PostgreSQL -> its values, of a number n
    "integer[]": "ARRAY[n, 2]", "text[]": "ARRAY['a' || n]", "json": "json_build_object('k', n)", "jsonb": "to_jsonb(n)", "bytea": "convert_to('x' || n, 'UTF8')",
    "interval": "n * interval '1 day'", "real": "n / 3.0", "double precision": "n / 3.0", "money": "n", "int4range": "int4range(n, n + 2)",
    "tsvector": "to_tsvector('a' || n)", "bit(12)": "n::bit(12)", "point": "point(n, 1)", "pair": "ROW(n, 'x')::pair", "broken": "n / 7.0",
    "xml": "('<a>' || n || '</a>')::xml",
}  # fmt: skip
FIT = {
    "smallint": "n", "bigint": "n", "numeric": "n / 8.0", "numeric(9, 2)": "n / 8.0", "text": "'a b' || n", "varchar(9)": "'é' || n", "char(9)": "'a' || n",
    "uuid": "md5(n::text)::uuid", "date": "date '1999-12-01' + n", "timestamp": "timestamp '1999-12-01 10:00' + n * interval '1 hour'",
    "timestamptz": "timestamptz '1999-12-01 10:00+03' + n * interval '1 hour'", "time": "time '00:00' + n * interval '1 minute'", "inet": "inet '10.0.0.0' + n",
    "cidr": "set_masklen(inet '10.0.0.0' + n * 256, 24)::cidr", "macaddr": "('08002b0100' || to_hex(16 + n))::macaddr", "oid": "n", "whole": "n", "kind": "'k' || n",
    "name": "'n' || n",
}  # fmt: skip
TYPES = (
    "CREATE TYPE pair AS (one integer, other text)",
    "CREATE DOMAIN broken AS double precision",
    "CREATE DOMAIN whole AS integer CHECK (VALUE > 0)",
    f"CREATE TYPE kind AS ENUM ({LISTED})",
)


def deleted(source: Source) -> None:
    """A row is deleted by the name that the source gives it, and no other one."""
    names = sorted(source.names("id"))
    gone: list[str] = []

    def accept(_: str, ids: Sequence[str]) -> None:
        gone.extend(ids)

    source.delete([names[7]], [], accept)
    assert gone == [names[7]]
    assert sorted(source.names("id")) == names[:7] + names[8:]


@pytest.fixture
def keyed(database: str) -> Any:
    """A function that makes a table of twenty rows with such keys."""
    for text in TYPES:
        statement(database, text)

    def make(kind: str, values: str) -> str:
        statement(database, "DROP TABLE IF EXISTS keyed")
        chosen = f"SELECT CAST({values} AS {kind}) AS id, a, b, c, y FROM (SELECT *, row_number() OVER (ORDER BY id)::int AS n FROM people) AS p"
        statement(database, f"CREATE TABLE keyed AS {chosen} WHERE n <= 20")
        return database

    return make


def test_a_type_is_refused_at_the_start_or_its_rows_are_deleted(keyed: Any) -> None:
    for kind, values in UNFIT.items():
        over = source_at(keyed(kind, values), id="id", table="keyed")
        with pytest.raises(InvalidParameter, match=r"no request can name by one text each; name a column of whole"):
            over.check()
        beside = "SELECT id::text AS id, a, b, c, y FROM keyed"  # of the table from which rows go, all the same
        with pytest.raises(InvalidParameter, match="no request can name"):
            source_at(over.address, id="id", table="keyed", query=beside).check()
        source_at(over.address, id="id", query=beside).check()  # the application deletes
    for kind, values in FIT.items():
        over = source_at(keyed(kind, values), id="id", table="keyed")
        over.check()
        deleted(over)


UNFIT_OF_DUCKDB = {
    "INTEGER[]": "[n, 2]", "STRUCT(k INTEGER)": "{'k': n}", "MAP(VARCHAR, INTEGER)": "MAP {'k': n}", "BLOB": "encode('x' || n)", "INTERVAL": "to_days(n)",
    "FLOAT": "n / 3", "DOUBLE": "n / 3", "BIT": "n::BIT", "INTEGER[2]": "[n, 2]",
}  # fmt: skip
FIT_OF_DUCKDB = {
    "SMALLINT": "n", "UBIGINT": "n", "HUGEINT": "n", "DECIMAL(9, 3)": "n / 8", "VARCHAR": "'é b' || n", "UUID": "md5('' || n)::UUID", "DATE": "DATE '1999-12-01' + n",
    "TIMESTAMP": "TIMESTAMP '1999-12-01 10:00' + to_hours(n)", "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ '1999-12-01 10:00+03' + to_hours(n)",
    f"ENUM({LISTED})": "'k' || n",
}  # fmt: skip
ROWS = "SELECT CAST({} AS {}) AS id, 0.5 AS a, 'x' AS c FROM (SELECT k::INTEGER AS n FROM range(1, 21) AS of(k))"


@pytest.mark.parametrize("lake", ["duckdb", "delta", "parquet"])
def test_the_same_of_files(lake: str, tmp_path: Path) -> None:
    duckdb, deltalake = pytest.importorskip("duckdb"), pytest.importorskip("deltalake")

    def made(number: int, kind: str, values: str) -> Lake:
        path, rows = tmp_path / f"{number}.duckdb", ROWS.format(values, kind)
        if lake == "duckdb":
            with duckdb.connect(str(path)) as connection:
                connection.execute(f"CREATE TABLE keyed AS {rows}")
            return source_at(str(path), id="id", table="keyed")  # type: ignore[return-value]
        path = path.with_suffix("")
        if lake == "delta":
            deltalake.write_deltalake(str(path), duckdb.sql(rows).to_arrow_table())
        else:
            path.mkdir()
            duckdb.sql(rows).write_parquet(str(path / "rows.parquet"))
        return source_at(str(path), id="id")  # type: ignore[return-value]

    tried = 0
    for number, (kind, values) in enumerate({**UNFIT_OF_DUCKDB, **FIT_OF_DUCKDB}.items()):
        try:
            over = made(number, kind, values)
        except Exception:  # this kind of file has no such type
            assert lake != "duckdb"
            continue
        tried += 1
        with over._moment() as (connection, _):
            shown = over._columns(connection)["id"]
        unfit = bool(
            re.match(r"DOUBLE|FLOAT|BLOB|STRUCT|MAP|INTERVAL|BIT|.*\]", shown)
        )  # files keep some as another type
        assert lake != "duckdb" or unfit == (kind in UNFIT_OF_DUCKDB)
        if unfit:
            with pytest.raises(InvalidParameter, match="no request can name"):
                over.check()
        else:
            over.check()
            if lake != "parquet":
                deleted(over)
    assert tried >= 12
