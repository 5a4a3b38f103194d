"""Rows of PostgreSQL that are read otherwise: every object of the catalogue that is read, changed at top level, below a savepoint and by a prepared
transaction, which is committed between two releases, while the first one reads, or while the second one does.

The oracle compares the rows that the two snapshots gave: a count that is stated covers every row that differs.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from noisygd_delete_sources import source_at, trigger
from noisygd_delete_sources.postgres import Postgres
from noisygd_delete_sources.source import SourceHistory

from noisygd_delete.errors import CountBroken, InvalidParameter, SourceError
from noisygd_delete.records import EditCounts

from .conftest import Server, new_database, statement

TABLE = "CREATE TABLE people (id text PRIMARY KEY, a double precision, b numeric, c text, y text)"
FILL = "INSERT INTO people SELECT 'p' || k, k / 8.0, mod(k, 5), CASE mod(k, 2) WHEN 0 THEN 'x' ELSE 'z' END, 'no' FROM generate_series(1, 16) AS k"
COLUMNS = ["a", "b", "c", "y"]
AS_PART = [
    "ALTER TABLE people RENAME TO part",
    "ALTER TABLE part ADD COLUMN k int DEFAULT 1 NOT NULL",
    "CREATE TABLE people (LIKE part) PARTITION BY LIST (k)",
    "ALTER TABLE people ATTACH PARTITION part FOR VALUES IN (1)",
    "CREATE TABLE other (LIKE part)",
    "INSERT INTO other SELECT id || '-', -a, b, c, y, 2 FROM part",
]
OTHER_TABLE = "CREATE TABLE other AS SELECT id, -a AS a, b, c, y FROM people"
WATCHED_TOO = "another table, which is watched too"
SWAPPED = "ALTER TYPE word RENAME VALUE 'x' TO 'w'; ALTER TYPE word RENAME VALUE 'z' TO 'x'; ALTER TYPE word RENAME VALUE 'w' TO 'z'"
WORD = "CREATE TYPE word AS ENUM ('x', 'z')"
QUERY = "SELECT id, a, b, c, y FROM people WHERE wanted(b)"


def wanted(least: int) -> str:
    return f"CREATE OR REPLACE FUNCTION wanted(numeric) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1 > {least}; END $$"


# name: (what is there before, what changes, whether it waits for readers of the table)
OBJECTS: dict[str, tuple[list[str], str, bool]] = {
    "the name of a table": (
        [OTHER_TABLE, WATCHED_TOO],
        "ALTER TABLE people RENAME TO old; ALTER TABLE other RENAME TO people",
        True,
    ),
    "the name of a schema": (
        [
            "CREATE SCHEMA new",
            f"{OTHER_TABLE}; ALTER TABLE other RENAME TO people2; ALTER TABLE people2 SET SCHEMA new",
            "ALTER TABLE new.people2 RENAME TO people",
            WATCHED_TOO,
        ],
        "ALTER SCHEMA public RENAME TO old; ALTER SCHEMA new RENAME TO public",
        False,
    ),
    "the search path": (
        [
            "CREATE SCHEMA new",
            f"{OTHER_TABLE}; ALTER TABLE other SET SCHEMA new; ALTER TABLE new.other RENAME TO people",
            WATCHED_TOO,
        ],
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = new, public', current_database()); END $$",
        False,
    ),
    "a column made anew": (
        [],
        "ALTER TABLE people DROP COLUMN a; ALTER TABLE people ADD COLUMN a double precision DEFAULT 0.5",
        True,
    ),
    "names of columns": (
        [],
        "ALTER TABLE people RENAME COLUMN c TO d; ALTER TABLE people RENAME COLUMN y TO c; ALTER TABLE people RENAME COLUMN d TO y",
        True,
    ),
    "the type of a column": ([], "ALTER TABLE people ALTER COLUMN a TYPE double precision USING -a", True),
    "an enum": ([WORD, "ALTER TABLE people ALTER COLUMN c TYPE word USING c::word"], SWAPPED, False),
    "an enum behind domains": (
        [
            WORD,
            "CREATE DOMAIN inner_word AS word; CREATE DOMAIN outer_word AS inner_word",
            "ALTER TABLE people ALTER COLUMN c TYPE outer_word USING c::word",
        ],
        SWAPPED,
        False,
    ),
    "an enum in an array of domains": (
        [
            WORD,
            "CREATE DOMAIN own_word AS word",
            "ALTER TABLE people ALTER COLUMN c TYPE own_word[] USING ARRAY[c::word::own_word]",
        ],
        SWAPPED,
        False,
    ),
    "an enum in a composite": (
        [
            WORD,
            "CREATE TYPE pair AS (one word, two int)",
            "ALTER TABLE people ALTER COLUMN c TYPE pair USING ROW(c::word, 1)::pair",
        ],
        SWAPPED,
        False,
    ),
    "an enum in a range": (
        [
            WORD,
            "CREATE TYPE stretch AS RANGE (subtype = word)",
            "ALTER TABLE people ALTER COLUMN c TYPE stretch USING stretch(c::word, c::word, '[]')",
        ],
        "ALTER TYPE word RENAME VALUE 'x' TO 'w'",
        False,
    ),
    "an attached partition": (AS_PART, "ALTER TABLE people ATTACH PARTITION other FOR VALUES IN (2)", False),
    "a part in the place of another": (
        AS_PART,
        "ALTER TABLE people DETACH PARTITION part; UPDATE other SET k = 1; ALTER TABLE people ATTACH PARTITION other FOR VALUES IN (1)",
        True,
    ),
    "a table that inherits": (
        ["CREATE TABLE heir (LIKE people)", "INSERT INTO heir SELECT id || '-', -a, b, c, y FROM people"],
        "ALTER TABLE heir INHERIT people",
        False,
    ),
    "a write to a partition": (AS_PART, "UPDATE part SET a = -a WHERE id < 'p5'", False),
    "a write to a partition that goes and comes": (
        AS_PART,
        "DELETE FROM part WHERE id = 'p3'; INSERT INTO part SELECT 'q', -a, b, c, y, k FROM part WHERE id = 'p4'",
        False,
    ),
    "a trigger switched off for a while": (
        [],
        "ALTER TABLE people DISABLE TRIGGER USER; UPDATE people SET a = -a; ALTER TABLE people ENABLE ALWAYS TRIGGER noisygd_delete_deleted; "
        + "; ".join(f"ALTER TABLE people ENABLE ALWAYS TRIGGER {each}" for each in trigger._TRIGGERS),
        False,
    ),
    "a trigger that counts nothing for a while": (
        ["CREATE TABLE kept(body text)"],
        "INSERT INTO kept SELECT pg_get_functiondef(to_regproc('noisygd_delete.counted')); "
        "CREATE OR REPLACE FUNCTION noisygd_delete.counted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
        "UPDATE people SET a = -a; DO $$ BEGIN EXECUTE (SELECT body FROM kept); END $$",
        False,
    ),
    "a row policy": (
        [],
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY; ALTER TABLE people DISABLE ROW LEVEL SECURITY",
        True,
    ),
    "a function of a query": ([wanted(0), f"QUERY {QUERY}"], wanted(2), False),
    "a view of a query": (
        ["CREATE VIEW chosen AS SELECT * FROM people WHERE b > 0", "QUERY SELECT * FROM chosen"],
        "CREATE OR REPLACE VIEW chosen AS SELECT * FROM people WHERE b > 2",
        True,
    ),
    "names of columns of a view": (
        ["CREATE VIEW chosen AS SELECT * FROM people", "QUERY SELECT id, a, b, c, y FROM chosen"],
        "ALTER VIEW chosen RENAME COLUMN c TO d; ALTER VIEW chosen RENAME COLUMN y TO c; ALTER VIEW chosen RENAME COLUMN d TO y",
        True,
    ),
}
SHAPES = ("top level", "savepoint", "prepared")
WHENS = ("between", "in flight at the first", "while the second reads")


def prepared_table(server: Server, before: list[str]) -> Any:
    """The source over a new database with this before; its tables are watched."""
    address, query = new_database(server, TABLE), None
    statement(address, FILL)
    watched = ["people"]
    for each in before:
        if each == WATCHED_TOO:
            watched.append("new.people" if "CREATE SCHEMA new" in before else "other")
        elif each.startswith("QUERY "):
            query = each.removeprefix("QUERY ")
        else:
            statement(address, each)
    for table in watched:
        source_at(address, id="id", table=table).watch(COLUMNS, None)
    return source_at(address, id="id", table="people", query=query)


@contextmanager
def written(address: str, shape: str, change: str) -> Iterator[Any]:
    """The change made and not yet committed; what is given commits it."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT pg_current_xact_id()")
        if shape == "savepoint":
            connection.execute("SAVEPOINT here")
        connection.execute(change)
        if shape == "savepoint":
            connection.execute("RELEASE here")
        name = f"t{uuid.uuid4().hex}"
        if shape == "prepared":
            connection.execute(f"PREPARE TRANSACTION '{name}'")
        statement(address, "SELECT pg_current_xact_id()")  # whoever comes later sees higher numbers
        yield lambda: connection.execute(f"COMMIT PREPARED '{name}'" if shape == "prepared" else "COMMIT")


def read(source: Any, since: str | None = None, done: SourceHistory | None = None) -> tuple[Any, Counter[Any]]:
    with source.snapshot(COLUMNS, since, done or SourceHistory()) as now:
        cells = [zip(*(block.column(name, "") for name in COLUMNS), strict=True) for block in now.blocks]
        return now, Counter(row for block in cells for row in block)


def is_wrong(server: Server, what: str, shape: str, when: str, patch: pytest.MonkeyPatch) -> bool:
    """Whether a count was stated that does not cover the rows that differ."""
    before, change, _ = OBJECTS[what]
    source = prepared_table(server, before)
    if when == "in flight at the first":
        with written(source.address, shape, change) as commit:
            first, rows = read(source)
            commit()
    else:
        first, rows = read(source)
        if when == "between":
            with written(source.address, shape, change) as commit:
                commit()
    right = Postgres._check_plan

    def beside(self: Any, connection: Any, **how: Any) -> None:
        """Committed behind the snapshot, before the first row is read."""
        with written(source.address, shape, change) as commit:
            commit()
        right(self, connection, **how)

    with patch.context() as changed:
        if when == "while the second reads":
            changed.setattr(Postgres, "_check_plan", beside)
        try:
            second, again = read(source, first.position, SourceHistory(definition=first.definition))
        except (SourceError, CountBroken):
            return False
    stated = second.changes
    gone, come = (rows - again).total(), (again - rows).total()
    return stated is not None and (stated.deleted + stated.replaced < gone or stated.inserted + stated.replaced < come)


@pytest.mark.parametrize("what", OBJECTS)
def test_a_count_covers_whatever_is_read_otherwise(server: Server, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """At every instant in one of the shapes: each has its turn at each instant with a third of the objects. In flight always below a savepoint,
    too, whose number no row shows: there alone a trigger is seen that was off for a while."""
    waits, turn = OBJECTS[what][2], list(OBJECTS).index(what)
    cases = [(SHAPES[(turn + at) % 3], when) for at, when in enumerate(WHENS) if not (waits and "in flight" in when)]
    if not waits and (below := ("savepoint", "in flight at the first")) not in cases:
        cases.append(below)
    assert [case for case in cases if is_wrong(server, what, *case, monkeypatch)] == []


def test_planted_a_catalogue_that_is_not_read_again_behind_the_rows_is_seen(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Postgres, "_definition_now", Postgres._definition)
    assert is_wrong(server, "an enum", "top level", "while the second reads", monkeypatch)


@pytest.mark.parametrize("shape", SHAPES)
def test_writes_to_partitions_are_counted_exactly(server: Server, shape: str) -> None:
    """Also emptied as a whole, and by a statement that names the whole."""
    source = prepared_table(server, AS_PART)
    with written(source.address, shape, "UPDATE part SET a = -a WHERE id < 'p13'") as commit:
        first, _ = read(source)
        commit()
    statement(source.address, "UPDATE people SET b = 1 WHERE id = 'p7'")
    now, _ = read(source, first.position, SourceHistory(definition=first.definition))
    assert now.changes == EditCounts(replaced=5)
    statement(source.address, "TRUNCATE people")
    now, _ = read(source, first.position, SourceHistory(definition=first.definition))
    assert now.changes == EditCounts(replaced=5, deleted=16)


def test_a_partition_made_later_is_counted_from_the_next_watch_on(server: Server) -> None:
    source = prepared_table(server, AS_PART)
    statement(source.address, "CREATE TABLE part3 PARTITION OF people FOR VALUES IN (3)")
    first, _ = read(source)
    statement(source.address, "INSERT INTO part3 VALUES ('r', 1, 1, 'x', 'no', 3)")
    assert read(source, first.position, SourceHistory(definition=first.definition))[0].changes is None
    assert source.watch(COLUMNS, first.position, first.definition) is None
    first, _ = read(source)
    statement(source.address, "INSERT INTO part3 VALUES ('s', 1, 1, 'x', 'no', 3)")
    assert read(source, first.position, SourceHistory(definition=first.definition))[0].changes == EditCounts(inserted=1)


def test_a_part_of_another_table_is_not_watched(server: Server) -> None:
    """Statements that name the whole fire no trigger of the part."""
    address = new_database(server, TABLE)
    for each in AS_PART:
        statement(address, each)
    part = source_at(address, id="id", table="part")
    with pytest.raises(InvalidParameter):
        part.watch(COLUMNS, None)
    with pytest.raises(InvalidParameter):
        part.check_chain("another method")


@pytest.mark.parametrize(
    "query", ["SELECT * FROM people WHERE now() > '2000-01-01'", "SELECT * FROM people WHERE agreed(id)"]
)
def test_a_query_that_asks_more_than_the_row_is_not_called_counted(server: Server, query: str) -> None:
    agreed = "CREATE FUNCTION agreed(text) RETURNS boolean STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN EXISTS (SELECT FROM other WHERE other.id = $1); END $$"
    source = prepared_table(server, [OTHER_TABLE, agreed, f"QUERY {query}"])
    first, rows = read(source)
    assert rows
    assert read(source, first.position, SourceHistory(definition=first.definition))[0].changes is None


def test_what_changes_nothing_that_is_read_leaves_the_count(server: Server) -> None:
    """Maintenance, rights, other tables, and whoever watches one of those."""
    source = prepared_table(server, [OTHER_TABLE])
    first, _ = read(source)
    for each in (
        "ANALYZE people",
        "CREATE INDEX ON people (a)",
        "CREATE TABLE more (id text)",
        "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "GRANT SELECT ON people TO PUBLIC",
        "COMMENT ON TABLE people IS 'rows'",
        "UPDATE other SET a = 0",
    ):
        statement(source.address, each)
    with psycopg.connect(source.address, autocommit=True) as connection:
        connection.execute("VACUUM people")
    source_at(source.address, id="id", table="other").watch(COLUMNS, None)
    statement(source.address, "DELETE FROM people WHERE id = 'p1'")
    assert read(source, first.position, SourceHistory(definition=first.definition))[0].changes == EditCounts(deleted=1)
