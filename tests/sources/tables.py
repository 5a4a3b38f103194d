"""One table of people in every kind of place, as the application that owns it reads and writes it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import source_at

from .conftest import ROWS, fill, people, statement

duckdb = pytest.importorskip("duckdb")
deltalake = pytest.importorskip("deltalake")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COLUMNS = ("id", "person", "a", "b", "c", "y")
TYPES = "id VARCHAR, person VARCHAR, a DOUBLE, b DOUBLE, c VARCHAR, y VARCHAR"
ARROW = pyarrow.schema([(name, pyarrow.float64() if name in "ab" else pyarrow.string()) for name in COLUMNS])


def arrow(rows: Iterable[tuple[Any, ...]] | None = None) -> Any:
    """The people, or these rows."""
    chosen = people() if rows is None else list(rows)
    return pyarrow.table({name: [row[k] for row in chosen] for k, name in enumerate(COLUMNS)}, schema=ARROW)


class InDuckdb:
    """A file of DuckDB with all the people, or with these rows."""

    def __init__(self, folder: Path, rows: Iterable[tuple[Any, ...]] | None = None) -> None:
        self.place = str(folder / "people.duckdb")
        self.facts = {"address": self.place, "table": "people"}
        self.run(f"CREATE TABLE people ({TYPES})")
        self.insert(people() if rows is None else rows)

    def source(self, **facts: Any) -> Any:
        return source_at(id="id", **self.facts, **facts)

    def run(self, text: str) -> None:
        with duckdb.connect(self.place) as connection:
            connection.execute(text)

    def insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        with duckdb.connect(self.place) as connection:
            connection.register("given", arrow(rows))
            connection.execute("INSERT INTO people SELECT * FROM given")

    def delete(self, name: str) -> None:
        self.run(f"DELETE FROM people WHERE id = '{name}'")

    def write(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """These rows in place of all that are there."""
        self.run("DELETE FROM people")
        self.insert(rows)

    def copy(self, where: Path) -> None:
        shutil.copy(self.place, where)

    def put_back(self, where: Path) -> None:
        shutil.copy(where, self.place)


class InDelta(InDuckdb):
    """A Delta table."""

    def __init__(self, folder: Path, rows: Iterable[tuple[Any, ...]] | None = None) -> None:
        self.place = str(folder / "lake")
        self.facts = {"address": self.place}
        deltalake.write_deltalake(self.place, arrow(rows))

    def run(self, text: str) -> None:
        """The same statement, of a table that it is copied to and written back from."""
        with duckdb.connect() as connection:
            connection.register("held", deltalake.DeltaTable(self.place).to_pyarrow_table())
            connection.execute("CREATE TABLE people AS SELECT * FROM held")
            connection.execute(text)
            left = connection.execute("SELECT * FROM people").fetchall()
        deltalake.write_deltalake(self.place, arrow(left), mode="overwrite")

    def insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        deltalake.write_deltalake(self.place, arrow(rows), mode="append")

    def delete(self, name: str) -> None:
        deltalake.DeltaTable(self.place).delete(f"id = '{name}'")

    def write(self, rows: Iterable[tuple[Any, ...]]) -> None:
        deltalake.write_deltalake(self.place, arrow(rows), mode="overwrite")

    def copy(self, where: Path) -> None:
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(self.place, where)

    def put_back(self, where: Path) -> None:
        shutil.rmtree(self.place)
        shutil.copytree(where, self.place)


class InParquet(InDelta):
    """A folder of four files of Parquet."""

    def __init__(self, folder: Path, rows: Iterable[tuple[Any, ...]] | None = None) -> None:
        self.place = str(folder / "files")
        self.facts = {"address": self.place}
        Path(self.place).mkdir()
        for part in range(4):
            parquet.write_table(arrow(rows).slice(part * ROWS // 4, ROWS // 4), f"{self.place}/{part}.parquet")

    def write(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for file in Path(self.place).iterdir():
            file.unlink()
        parquet.write_table(arrow(rows), f"{self.place}/0.parquet")


class InPostgres(InDuckdb):
    """The table `people` of a database, with numbers as files keep them."""

    def __init__(self, address: str) -> None:
        self.place = address
        self.facts = {"address": address, "table": "people"}
        self.run("ALTER TABLE people ALTER COLUMN b TYPE double precision")

    def run(self, text: str) -> None:
        statement(self.place, text)

    def insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        fill(self.place, rows)


def in_duckdb(folder: Path) -> dict[str, str]:
    """Where a new table of the people is, for `source_at`."""
    return InDuckdb(folder).facts


def in_delta(folder: Path) -> dict[str, str]:
    return InDelta(folder).facts


def in_parquet(folder: Path) -> dict[str, str]:
    return InParquet(folder).facts
