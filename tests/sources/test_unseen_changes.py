"""Rows that are read otherwise although none was written: no release goes on from them, and no deletion waits for a count that is broken."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import psycopg
import pytest
from noisygd_delete_sources import session, source_at, trigger

from noisygd_delete import Budget
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.store import Store

from . import test_chains
from .conftest import PEOPLE, Server, another, fill, learned, name, people, statement
from .tables import duckdb
from .test_chains import CODED, InDuckdb, InPostgres, carried, exact, made, plan, remove
from .test_marks import keep, run_on

noises = test_chains.noises


def release_of(store: Store, noises: list[np.ndarray]) -> str:
    """What the newest release, the second, is: a cut carries nothing on, any other was drawn from the rows that the first one read."""
    kind = str(store.accountant.events[-1].kind)
    rest = store.model.sums - exact(store) - noises[-1]
    assert (rest == (carried(noises[0], 1, store.plan) if kind == "unlearn" else 0 * rest)).all(), kind
    return kind


def published(path: Path, noises: list[np.ndarray]) -> str:
    with Store.open(path) as store:
        store.publish(force=True)
        return release_of(store, noises)


def test_a_table_that_is_read_otherwise_cuts_the_chain(database: str, tmp_path: Path, noises) -> None:
    """No trigger hears of it, and no row has a new number: the catalogue alone tells, as in test_definitions."""
    table = InPostgres(database)
    table.run("CREATE TYPE word AS ENUM ('x', 'z'); ALTER TABLE people ALTER COLUMN c TYPE word USING c::word")
    path = made(tmp_path / "store", table)
    table.run("; ".join(f"ALTER TYPE word RENAME VALUE '{one}' TO '{other}'" for one, other in ("xw", "zx", "wz")))
    assert published(path, noises) == "relearn"


def test_a_query_may_ask_the_clock_and_carries_no_chain(database: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="without a query"):
        made(tmp_path / "store", InPostgres(database), query="SELECT * FROM people WHERE now() > '2000-01-01'")


def test_row_security_may_read_other_tables_and_cuts_the_chain(own: Server, tmp_path: Path, noises) -> None:
    InPostgres(own.address())
    for each in (
        "CREATE ROLE clerk LOGIN",
        "GRANT CREATE ON DATABASE postgres TO clerk",
        f"CREATE TABLE consent AS SELECT id FROM people WHERE id <> '{name(5)}'",
        "GRANT SELECT ON consent TO clerk",
        "ALTER TABLE people OWNER TO clerk",
        "CREATE POLICY agreed ON people USING (EXISTS (SELECT FROM consent WHERE consent.id = people.id))",
    ):
        statement(own.address(), each)
    source = source_at(own.address().replace("postgres@", "clerk@"), id="id", table="people")
    of = plan(budget=Budget.from_gdp(dp=9.0, deletion=0.5))
    with learned(tmp_path / "store", source, CODED, of, watched=True) as store:
        statement(own.address(), "ALTER TABLE people ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        store.table.watch()
    assert published(tmp_path / "store", noises) == "relearn"
    statement(own.address(), f"UPDATE consent SET id = '{name(5)}' WHERE id = '{name(4)}'")
    with Store.open(tmp_path / "store") as store, store.source._moment() as (connection, position):
        assert not store.source._is_in(connection, position, store.table._chain.state)


def test_a_dump_that_was_restored_counts_from_there_and_cuts_the_chain(own: Server, tmp_path: Path, noises) -> None:
    """What a dump holds, in the order in which it is restored: rows, marks, counts, triggers. The numbers of transactions begin again."""
    with Store.create_over(tmp_path / "store", InPostgres(own.address()).source(), CODED, plan()) as store:
        store.table.watch()
        store.learn()
        position = store.ledger.head.position
    with psycopg.connect(own.address()) as connection:
        rows = connection.execute("SELECT * FROM people").fetchall()
        marks = connection.execute("SELECT mark FROM noisygd_delete.marks").fetchall()
        began = connection.execute("SELECT since::text, rows_then FROM noisygd_delete.watched").fetchone()
    with another(own) as new:
        InPostgres(new.address())
        with psycopg.connect(new.address()) as connection, connection.cursor() as cursor:
            cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", rows)
            for each in (*trigger.install_statements("people"), *session.MAKING):
                cursor.execute(each)
            cursor.executemany("INSERT INTO noisygd_delete.marks VALUES (%s)", marks)
            cursor.execute("UPDATE noisygd_delete.watched SET since = %s::xid8, rows_then = %s", began)
        keep(new, "restored")
        own.stop()
        own.run("/bin/rm", "-rf", str(own.data))
        own.run("/bin/cp", "-a", str(new.folder / "restored"), str(own.data))
    (own.data / "postmaster.pid").unlink(missing_ok=True)
    own.start()
    statement(own.address(), f"UPDATE people SET a = -a WHERE id = '{name(4)}'")
    run_on(own, f"transaction:{position.split(':')[2]}")
    assert published(tmp_path / "store", noises) == "relearn"


def test_a_count_that_is_broken_stops_no_deletion(database: str, tmp_path: Path, noises) -> None:
    table = InPostgres(database)
    path = made(tmp_path / "store", table)
    for each in ("DISABLE TRIGGER noisygd_delete_replaced", "ENABLE ALWAYS TRIGGER noisygd_delete_replaced"):
        table.run(f"ALTER TABLE people {each}")
        table.run("UPDATE people SET a = 0.25") if each.startswith("DIS") else None
    with Store.open(path) as store:
        remove(store, 3, publish=False)
        assert not store.source.held([name(3)], [])
        store.table.watch()
        store.publish()
        assert release_of(store, noises) == "relearn"


def test_a_database_of_another_encoding_is_read_row_by_row(own: Server, tmp_path: Path, noises) -> None:
    with psycopg.connect(own.address(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    address = own.address("latin")
    statement(address, PEOPLE)
    fill(address, people()[:20])
    assert published(made(tmp_path / "store", InPostgres(address)), noises) == "unlearn"


def test_a_patch_that_no_release_goes_on_from_is_erased(tmp_path: Path, noises) -> None:
    table = InDuckdb(tmp_path)
    path = made(tmp_path / "store", table)
    with Store.open(path) as store:
        remove(store, 3, publish=False)
        assert (path / "patch.bin").exists()
    with duckdb.connect(table.place) as connection:  # a program that dies with its log beside the file
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("INSERT INTO people VALUES ('new', 'new', 0.5, 5, 'x', 'no')")
    with Store.open(path) as store:
        store.publish()
        assert release_of(store, noises) == "relearn"
        assert not (path / "patch.bin").exists()


def test_a_view_in_the_place_of_the_table_carries_no_chain(tmp_path: Path, noises) -> None:
    table = InDuckdb(tmp_path)
    path = made(tmp_path / "store", table, of=plan(budget=Budget.from_gdp(dp=9.0, deletion=0.5)))
    aside = tmp_path / "aside.parquet"
    table.run(f"COPY people TO '{aside}'; DROP TABLE people")
    table.run(f"CREATE VIEW people AS SELECT * FROM read_parquet('{aside}')")
    assert published(path, noises) == "relearn"
    duckdb.sql(f"COPY (SELECT * REPLACE (-a AS a) FROM '{aside}') TO '{aside}.new' (FORMAT parquet)")
    os.replace(f"{aside}.new", aside)
    time.sleep(0.1)
    assert published(path, noises) == "relearn"


def test_counts_that_another_store_put_together_cut_the_chain(database: str, tmp_path: Path, noises) -> None:
    """Two stores over one table: what the second has read and put together, the first has not."""
    table = InPostgres(database)
    path = made(tmp_path / "store", table)
    table.run(f"DELETE FROM people WHERE id = '{name(10)}'")
    with Store.open(made(tmp_path / "other", table)) as other:
        other.table.watch()
        other.publish(force=True)
        assert other.accountant.events[-1].kind == "unlearn"
    first = noises[0]
    noises[:] = [first, noises[-1]]
    assert published(path, noises) == "relearn"
