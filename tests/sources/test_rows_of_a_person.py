"""Which rows of a person a release reads: whatever is erased of one person's, the sums differ by no more than a plan charges.

The oracle works on the table alone: it computes what two worlds read by reading both, and counts the rows in which they differ; the exact
distance of the sums of a linear loss follows from them.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.reading import survey

from noisygd_delete.errors import InvalidParameter, InvalidRecords
from noisygd_delete.records import LeftOut
from tests.cli.planned import main
from tests.sources.rows import records_of

from .conftest import SCHEMA, statement
from .tables import InDuckdb, InParquet, duckdb
from .test_commands import PLAN

Row = tuple[str, str | None, float, float, str, str]
PERSONS = replace(SCHEMA, subject_column="person")
SLOTS = 40


def table_of(draw: random.Random, people: int) -> list[Row]:
    """A few people of one to four rows each, in any order; each row is like no other."""
    owners = [f"p{k}" for k in range(people) for _ in range(draw.randint(1, 4))]
    draw.shuffle(owners)
    return [(f"i{k:02d}", owner, k / 64 - 0.25, k / 8, "xz"[k % 2], "yes") for k, owner in enumerate(owners)]


class World:
    """A table that is written anew in one kind of source, and what is read of it."""

    def __init__(self, table: InDuckdb, most: int, *, subject: str | None = "person") -> None:
        self.write = table.write
        self.source = table.source(subject=subject, rows_per_subject=most)
        self.schema = PERSONS if subject else SCHEMA

    def read(self, rows: list[Row]) -> Counter[bytes]:
        self.write(rows)
        records, _ = records_of(self.source, self.schema, SLOTS)
        return Counter(row.tobytes() for row in records.features[records.occupied])


def distance(one: Counter[bytes], other: Counter[bytes], width: int) -> tuple[int, float]:
    """Rows in which two worlds differ, and how far apart the gradient sums of a linear loss are, in units of L = 1."""
    gone, come = one - other, other - one
    total = sum((np.frombuffer(row, np.float32) * number for row, number in gone.items()), np.zeros(width, np.float64))
    total = total - sum((np.frombuffer(row, np.float32) * number for row, number in come.items()), np.zeros(width))
    return gone.total() + come.total(), float(np.linalg.norm(total))


def pairs(rows: list[Row], key: int, draw: random.Random) -> list[tuple[list[Row], list[Row]]]:
    """The table beside itself without some of one person's rows: each row alone, and some of the larger choices."""
    found = []
    for name in sorted({str(row[key]) for row in rows}):
        own = [row for row in rows if row[key] == name]
        choices = [chosen for size in range(1, len(own) + 1) for chosen in itertools.combinations(own, size)]
        for chosen in choices[: len(own)] + draw.sample(choices, min(3, len(choices))):
            found.append((rows, [row for row in rows if row not in chosen]))
    return found


def largest(world: World, *, tables: int, key: int = 1) -> tuple[int, float]:
    draw, most = random.Random(11), (0, 0.0)
    for _ in range(tables):
        rows = table_of(draw, people=4)
        if key == 0:  # the same id for what was a person's
            rows = [(str(row[1]), *row[1:]) for row in rows]
        there = world.read(rows)
        for _, without in pairs(rows, key, draw):
            found = distance(there, world.read(without), SCHEMA.features)
            most = max(most[0], found[0]), max(most[1], found[1])
    return most


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", [InDuckdb, InParquet])
def test_erasing_any_of_a_persons_rows_moves_the_sums_by_what_is_charged(kind: type, most: int, tmp_path: Path) -> None:
    rows, sums = largest(World(kind(tmp_path), most), tables=2)
    assert rows == most, "attained, and never more"
    assert sums <= most


@pytest.mark.parametrize("table", ["delta", "postgres"], indirect=True)
def test_so_of_other_places_with_one_row_each(table: InDuckdb) -> None:
    assert largest(World(table, 1), tables=1)[0] == 1


def test_an_id_that_stands_more_than_once_is_one_person(tmp_path: Path) -> None:
    assert largest(World(InDuckdb(tmp_path), 1, subject=None), tables=2, key=0)[0] == 1


def test_rows_that_name_nobody_are_not_read(tmp_path: Path) -> None:
    world = World(InDuckdb(tmp_path), 1)
    rows: list[Row] = [
        ("a", None, 0.0, 1.0, "x", "no"),
        ("b", None, 0.5, 2.0, "x", "no"),
        ("c", "p", 0.25, 3.0, "z", "yes"),
    ]
    assert world.read(rows).total() == 1
    with world.source.snapshot(["a"]) as snapshot:
        assert snapshot.left_out == LeftOut(0, 2)


@pytest.mark.parametrize(
    ("query", "how"),
    [
        ("SELECT * FROM people QUALIFY row_number() OVER (PARTITION BY person ORDER BY id) = 1", "a window"),
        ("SELECT * FROM people ORDER BY id LIMIT 5", "LIMIT"),
        ("SELECT * FROM people USING SAMPLE 3 ROWS", "a sample"),
        ("SELECT * FROM first_ones", "a window"),
        ("SELECT * FROM people WHERE c IN (SELECT c FROM people WHERE a > 0)", "other rows of"),
        (
            "WITH r AS (SELECT * FROM people) SELECT one.* FROM r one JOIN r two ON one.c = two.c AND one.id < two.id",
            "other rows of",
        ),
    ],
)
def test_a_query_in_which_other_rows_decide_is_refused(tmp_path: Path, query: str, how: str) -> None:
    world = World(InDuckdb(tmp_path), 1)
    with duckdb.connect(world.source.address) as connection:
        connection.execute(
            "CREATE VIEW first_ones AS SELECT * FROM people QUALIFY row_number() OVER (PARTITION BY person ORDER BY id) = 1"
        )
    replace(world.source, query="SELECT * FROM people WHERE c = 'x'").check()
    with pytest.raises(InvalidParameter, match=f"chosen by {how}"):
        replace(world.source, query=query).check()


@pytest.mark.parametrize(
    ("query", "how"),
    [
        (
            "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY id) AS n FROM people) AS r WHERE n = 1",
            "a window",
        ),
        ("SELECT * FROM people ORDER BY id FETCH FIRST 5 ROWS ONLY", "LIMIT"),
        ("SELECT * FROM people TABLESAMPLE BERNOULLI (50)", "TABLESAMPLE"),
        ("SELECT DISTINCT ON (person) * FROM people ORDER BY person, id", "DISTINCT"),
        ("SELECT * FROM first_ones", "DISTINCT"),
        ("SELECT * FROM people WHERE c IN (SELECT c FROM people WHERE a > 0.5)", "other rows of"),
        ("SELECT * FROM people WHERE a > (SELECT avg(a) FROM people)", "other rows of"),
        ("SELECT * FROM people EXCEPT SELECT * FROM people WHERE a > 0.5", "other rows of"),
        ("SELECT * FROM alike", "other rows of"),
        (
            "WITH r AS MATERIALIZED (SELECT * FROM people) SELECT one.* FROM r one JOIN r two ON one.c = two.c",
            "other rows of",
        ),
        ("SELECT * FROM hidden()", "the function hidden"),
    ],
)
def test_so_in_postgresql(database: str, query: str, how: str) -> None:
    statement(database, "CREATE VIEW first_ones AS SELECT DISTINCT ON (person) * FROM people ORDER BY person, id")
    statement(
        database,
        "CREATE VIEW alike AS SELECT p.* FROM people p WHERE EXISTS (SELECT FROM people o WHERE o.c = p.c AND o.id <> p.id)",
    )
    body = "BEGIN RETURN QUERY SELECT * FROM people ORDER BY a LIMIT 3; END"
    statement(database, f"CREATE FUNCTION hidden() RETURNS SETOF people LANGUAGE plpgsql AS '{body}'")
    statement(database, "CREATE TABLE towns (c text, since int)")
    source_at(database, id="id", table="people", query="SELECT * FROM people WHERE c LIKE 'x%'").check()
    looked_up = "SELECT p.* FROM people p JOIN towns t ON t.c = p.c WHERE since > (SELECT max(since) - 9 FROM towns)"
    source_at(database, id="id", table="people", query=looked_up).check()
    with pytest.raises(InvalidParameter, match=f"chosen by {how}"):
        source_at(database, id="id", table="people", query=query).check()


def test_init_says_whom_it_leaves_out_and_names_nobody(tmp_path: Path, monkeypatch, capsys, as_json) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(
        'id = "id"\nsubject = "person"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.a]\nbounds = [-1, 1]\n'
    )
    world, rows = World(InDuckdb(tmp_path), 1), []
    for k in range(200):
        rows.append((f"i{k}", f"identifier-{k if k < 150 else k % 2}", k / 256, 1.0, "x", ("no", "yes")[k % 2]))
    world.write(rows)
    where = ["--source", world.source.address, "--table", "people", "--schema", "schema.toml", *PLAN, "--slots", "240"]
    told = as_json("init", "store", *where)
    assert (told["records"], told["rows_left_out"], told["subjects_left_out"]) == (148, 52, 2)
    assert main(["init", "again", *where]) == 0
    text = capsys.readouterr().out
    assert "52 rows left out: 2 values of person stand in more than 1 row(s)" in text
    assert "identifier" not in text
    assert as_json("learn", "store")["left_out"] == {"subjects": 2, "rows": 52}
    world.write([row for row in rows if row[1] in ("identifier-0", "identifier-1")])
    assert main(["init", "third", *where]) == 2
    assert "holds no row to learn from (52 rows left out" in capsys.readouterr().err
    with pytest.raises(InvalidRecords, match="52 rows left out"):
        survey(world.source, PERSONS)
