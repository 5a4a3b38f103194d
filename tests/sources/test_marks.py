"""A source that was put back is noticed by the mark of a deletion, however far its own counters have run since."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from noisygd_delete_sources import source_at

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidParameter, SourceError
from noisygd_delete.store import Store, Tombstones, verify

from .conftest import SCHEMA, Server, another, learned, name, plan, statement
from .tables import InDelta, InDuckdb, deltalake, in_delta

PUT_BACK = "a deletion that this store committed there is not in its history"


def put_back(server: Server, kept: str) -> None:
    server.stop()
    server.run("/bin/rm", "-rf", str(server.data))
    server.run("/bin/cp", "-a", str(server.folder / kept), str(server.data))
    (server.data / "postmaster.pid").unlink(missing_ok=True)
    server.start()


def keep(server: Server, kept: str) -> None:
    server.stop()
    server.run("/bin/cp", "-a", str(server.data), str(server.folder / kept))
    server.start()


def run_on(server: Server, position: str) -> None:
    """The application goes on until the counter of transactions has passed what the ledger says."""
    target = int(position.partition(":")[2]) + 10
    while True:
        with source_at(server.address(), id="id", table="people").connected() as connection:
            (now,) = connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
        if now > target:
            return


def test_a_later_deletion_does_not_stand_for_one_that_was_lost(own: Server, tmp_path: Path) -> None:
    with learned(tmp_path / "store", source_at(own.address(), id="id", table="people")) as store:
        store.serve(EditRequest.delete([name(1)], request_id="a"))
    keep(own, "backup")
    with Store.open(tmp_path / "store") as store:
        store.serve(EditRequest.delete([name(2)], request_id="b"))
        position = next(
            e.position for e in reversed(store.ledger.entries) if (e.position or "").startswith("transaction")
        )
    put_back(own, "backup")
    with Store.open(tmp_path / "store") as store:
        with pytest.raises(SourceError, match="as they were before|" + PUT_BACK):
            store.publish(force=True)
        run_on(own, position)
        with pytest.raises(SourceError, match=PUT_BACK):
            store.serve(EditRequest.delete([name(4)], request_id="c"), publish=False)
        assert statement(own.address(), "SELECT FROM people WHERE id = %s", name(4)) == 1
        with pytest.raises(SourceError, match=PUT_BACK):
            store.publish(force=True)
        assert store.ledger.releases == 3


def test_a_standby_that_took_over_with_the_deletion_goes_on(own: Server, tmp_path: Path) -> None:
    """By streaming replication: the old server dies, and the other one is promoted at its address. One that was cut off is an earlier copy."""
    follower = own.standby()
    with learned(tmp_path / "store", source_at(own.address(), id="id", table="people")) as store:
        store.serve(EditRequest.delete([name(3)], request_id="r"))
    own.wait_for(follower)
    own.fail_over(follower, "former")
    assert statement(own.address(), "SELECT FROM people WHERE id = %s", name(3)) == 0
    with Store.open(tmp_path / "store") as store:
        assert store.publish(force=True).release == 3
        assert store.serve(EditRequest.delete([name(4)], request_id="s")).release == 4


def test_a_role_that_may_not_write_marks_knows_the_server(own: Server, tmp_path: Path) -> None:
    """Another server at the same address is refused by its identifier, and a copy that took over by its timeline."""
    statement(own.address(), "CREATE ROLE clerk LOGIN")
    statement(own.address(), "GRANT SELECT, DELETE ON people TO clerk")
    address = own.address().replace("postgres@", "clerk@")
    with learned(tmp_path / "store", source_at(address, id="id", table="people")) as store:
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        mark = store.ledger.head.mark
        assert mark.startswith("cluster:")
        assert mark.endswith(":1")
        position = store.ledger.entry(2).position
        assert store.publish(force=True).release == 3
    own.stop()
    (own.data / "standby.signal").touch()
    shutil.chown(own.data / "standby.signal", own.user or "root")
    own.start()
    own.run("pg_ctl", "promote", "-w", "-D", str(own.data))
    run_on(own, position)
    with Store.open(tmp_path / "store") as store, pytest.raises(SourceError, match=PUT_BACK):
        store.publish(force=True)


@pytest.mark.parametrize("kind", [InDuckdb, InDelta])
def test_nothing_is_deleted_in_an_earlier_copy_and_the_right_one_goes_on(tmp_path: Path, kind: type[InDuckdb]) -> None:
    """A row that goes from a copy still stands in the source: were that noted as its erasure, the store could never go on."""
    table = kind(tmp_path)
    with learned(tmp_path / "store", table.source()) as store:
        table.copy(tmp_path / "then")
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        table.copy(tmp_path / "now")
        table.put_back(tmp_path / "then")
        table.delete(name(7))  # others write to the copy: the counter has passed
        for publish in (False, True):
            with pytest.raises(SourceError, match=PUT_BACK):
                store.serve(EditRequest.delete([name(4)], request_id="s"), publish=publish)
        with pytest.raises(SourceError, match=PUT_BACK):
            store.publish(force=True)
        assert table.source().held([name(3), name(4)], []) == 2
        table.put_back(tmp_path / "now")
        if kind is InDelta:
            deltalake.DeltaTable(table.place).create_checkpoint()  # which keeps the mark
        assert store.serve(EditRequest.delete([name(4)], request_id="s")).release == 3
    assert verify(tmp_path / "store").passed


@pytest.mark.parametrize("by_application", [False, True])
def test_a_version_put_back_by_restore_is_refused(tmp_path: Path, by_application: bool) -> None:
    made = in_delta(tmp_path)
    with learned(tmp_path / "store", source_at(id="id", **made)) as store:
        table = deltalake.DeltaTable(made["address"])
        before = table.version()
        if by_application:
            table.delete(f"id = '{name(3)}'")
            store.publish(erased=1, request_id="r")
        else:
            store.serve(EditRequest.delete([name(3)], request_id="r"))
        table = deltalake.DeltaTable(made["address"])
        erased = table.version()
        table.delete(f"id = '{name(7)}'")
        table.restore(erased)
        assert store.publish(force=True).release == 3, "what was put back is from after the erasure"
        table.update_incremental()
        table.restore(before)
    with Store.open(tmp_path / "store") as store:
        for _ in range(2):
            with pytest.raises(SourceError, match=PUT_BACK):
                store.publish(force=True)
        table.update_incremental()
        table.restore(erased)
        assert store.publish(force=True).release == 4, "and forward again"


def test_what_logical_replication_applies_is_told(server: Server, tmp_path: Path) -> None:
    """It runs no triggers of statements, so the count is refused; a row that it brings back is met by the list of erased ids."""
    import psycopg

    with another(server, 20) as upstream, another(server) as here:
        statement(upstream.address(), "SELECT 1")
        with psycopg.connect(upstream.address(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET wal_level = logical")
        upstream.stop()
        upstream.start()
        statement(upstream.address(), "CREATE PUBLICATION everything FOR TABLE people")
        with psycopg.connect(here.address(), autocommit=True) as connection:
            connection.execute(
                f"CREATE SUBSCRIPTION copy CONNECTION 'host={upstream.folder} user=postgres dbname=postgres' PUBLICATION everything"
            )
        wait_for(here, 20)
        tombstones = Tombstones.create(tmp_path / "list", tmp_path / "key")
        source = source_at(here.address(), id="id", table="people")
        Store.create_over(tmp_path / "store", source, SCHEMA, plan()).close()
        with Store.open(tmp_path / "store", tombstones=tombstones) as store:
            store.learn()
            with pytest.raises(InvalidParameter, match="subscription"):
                store.table.watch()
            store.serve(EditRequest.delete([name(3)], request_id="r"))
            statement(upstream.address(), "DELETE FROM people WHERE id = %s", name(3))
            statement(upstream.address(), "INSERT INTO people VALUES (%s, 'p', 0, 1, 'x', 'no')", name(3))
            wait_for(here, 20)
            with pytest.raises(SourceError, match="1 rows there have ids that were erased before"):
                store.publish(force=True)
            assert store.ledger.releases == 2


def wait_for(server: Server, rows: int) -> None:
    until = time.monotonic() + 60
    while statement(server.address(), "SELECT FROM people") != rows:
        assert time.monotonic() < until
        time.sleep(0.05)
