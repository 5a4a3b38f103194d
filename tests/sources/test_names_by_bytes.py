"""One rule of comparison in every kind of source: a name means the rows that are written exactly so, whatever the column's own equality is; and a
deletion takes those rows and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.source import Source

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidRequest
from noisygd_delete.store import verify

from .conftest import SCHEMA, Server, learned, new_database, plan, statement
from .tables import duckdb

PERSONS = replace(SCHEMA, subject_column="person")
IDS, OWNERS = ("Anna", "anna", "ANNA", "bob", "café", "cafe\u0301"), ("Eve", "eve", "EVE", "dan", "é", "e\u0301")
ROWS = list(zip(IDS, OWNERS, range(1, 7), strict=True))
COLLATION = "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"


def in_postgres(kind: str) -> Callable[[Any, Path], tuple[Any, Callable[[str], list[Any]]]]:
    def made(request: Any, folder: Path) -> tuple[Any, Callable[[str], list[Any]]]:
        import psycopg

        server: Server = request.getfixturevalue("server")
        address = new_database(server)
        if kind == "citext":
            if not statement(address, "SELECT FROM pg_available_extensions WHERE name = 'citext'"):
                pytest.skip("citext is not installed")
            statement(address, "CREATE EXTENSION citext")
        statement(address, COLLATION)
        statement(
            address,
            f"CREATE DOMAIN loose AS text COLLATE ci; CREATE TABLE people (id {kind}, person {kind}, a double precision, b int, c text, y text)",
        )
        for row in ROWS:
            statement(address, "INSERT INTO people VALUES (%s, %s, 0.5, %s, 'x', 'no')", *row)

        def ask(text: str) -> list[Any]:
            with psycopg.connect(address) as connection:
                return connection.execute(text).fetchall()

        return address, ask

    return made


def in_duckdb(request: Any, folder: Path) -> tuple[Any, Callable[[str], list[Any]]]:
    place = str(folder / "people.duckdb")
    with duckdb.connect(place) as connection:
        loose = "VARCHAR COLLATE NOCASE.NOACCENT"
        connection.execute(
            f"CREATE TABLE people (id {loose}, person {loose}, a DOUBLE, b INTEGER, c VARCHAR, y VARCHAR)"
        )
        connection.executemany("INSERT INTO people VALUES (?, ?, 0.5, ?, 'x', 'no')", ROWS)

    def ask(text: str) -> list[Any]:
        with duckdb.connect(place) as connection:
            return connection.execute(text).fetchall()

    return place, ask


KINDS = {
    "citext": in_postgres("citext"),
    "a collation without case": in_postgres("text COLLATE ci"),
    "a domain over one": in_postgres("loose"),
    "duckdb": in_duckdb,
}


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Callable[[str], list[Any]]]:
    return KINDS[request.param](request, tmp_path)


def over(table: tuple[str, Any], **facts: Any) -> Source:
    return source_at(table[0], id="id", table="people", **facts)


def ids(table: tuple[str, Any]) -> list[str]:
    return [row[0] for row in table[1]("SELECT id, b FROM people ORDER BY b")]


def check_names(table: Any, folder: Path) -> None:
    """Each name has one row, goes alone, and is not there before or after."""
    with learned(folder / "store", over(table), SCHEMA, plan(SCHEMA)) as store:
        assert [store.source.held([name], []) for name, *_ in ROWS] == [1] * len(ROWS)
        assert store.source.held([name for name, *_ in ROWS], [], names=True) == len(ROWS)
        with pytest.raises(InvalidRequest):
            store.serve(EditRequest.delete(["AnNa"]))
        left = [name for name, *_ in ROWS]
        for name in ("anna", "cafe\u0301"):
            assert store.serve(EditRequest.delete([name])).counts.deleted == 1
            left.remove(name)
            assert ids(table) == left
        with pytest.raises(InvalidRequest):
            store.serve(EditRequest.delete(["anna"]))
    assert verify(folder / "store").faults == ()


def check_persons(table: Any, folder: Path) -> None:
    """Persons are told apart by the same rule: each of these has one row, and all are read."""
    source = over(table, subject="person", rows_per_subject=1)
    with source.snapshot(["a", "b"]) as now:
        numbers = Counter(number for block in now.blocks for number in block.column("b", ""))
    assert (now.left_out.rows, sorted(numbers)) == (0, [str(number) for *_, number in ROWS])
    with learned(folder / "persons", source, PERSONS, plan(PERSONS)) as store:
        store.serve(EditRequest.delete(subjects=["eve"]))
    assert "Anna" in ids(table)
    assert "anna" not in ids(table)


def test_a_name_means_what_is_written_so(table: Any, tmp_path: Path) -> None:
    check_names(table, tmp_path)


def test_persons_are_told_apart_by_what_is_written(table: Any, tmp_path: Path) -> None:
    check_persons(table, tmp_path)


# --- what a deletion takes ---

OTHERS_GO = {
    "a foreign key of the table itself": [
        "ALTER TABLE people ADD PRIMARY KEY (id), ADD COLUMN of text REFERENCES people ON DELETE CASCADE",
        "UPDATE people SET of = 'Anna' WHERE id = 'anna'",
        "UPDATE people SET of = 'anna' WHERE id = 'ANNA'",
    ],
    "a foreign key there and back": [
        "ALTER TABLE people ADD PRIMARY KEY (id), ADD COLUMN home int",
        "CREATE TABLE homes (home int PRIMARY KEY, of text REFERENCES people ON DELETE CASCADE)",
        "INSERT INTO homes VALUES (1, 'Anna')",
        "UPDATE people SET home = 1 WHERE id = 'anna'",
        "ALTER TABLE people ADD FOREIGN KEY (home) REFERENCES homes ON DELETE CASCADE",
    ],
    "a trigger": [
        "CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM people WHERE OLD.b = 1 AND b = 2; RETURN NULL; END $$",
        "CREATE TRIGGER more AFTER DELETE ON people FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION more()",
    ],
    "a trigger that waits for the commit": [
        "CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM people WHERE OLD.b = 1 AND b = 2; RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER more AFTER DELETE ON people DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.id = 'Anna') EXECUTE FUNCTION more()",
    ],
    "a trigger that keeps a copy": [
        "CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO people VALUES (OLD.id || '-copy', OLD.person, OLD.a, OLD.b, OLD.c, OLD.y); RETURN NULL; END $$",
        "CREATE TRIGGER more AFTER DELETE ON people FOR EACH ROW EXECUTE FUNCTION more()",
    ],
}


@pytest.mark.parametrize("how", OTHERS_GO)
def test_a_deletion_that_takes_others_along_is_refused(request: Any, tmp_path: Path, how: str) -> None:
    table = in_postgres("text")(request, tmp_path)
    for each in OTHERS_GO[how]:
        statement(table[0], each)
    with learned(tmp_path / "store", over(table), SCHEMA, plan(SCHEMA)) as store:
        before = ids(table)
        with pytest.raises(InvalidRequest):
            store.serve(EditRequest.delete(["Anna"]))
        assert (ids(table), store.ledger.releases) == (before, 1)
        together = ["Anna", "anna", "ANNA"] if "itself" in how else ["Anna", "anna"]
        if "copy" not in how:
            assert store.serve(EditRequest.delete(together)).counts.deleted == len(together)
            assert ids(table) == [name for name in before if name not in together]
