"""An application that changes the table behind our back: every change is counted, or the paper says that it was not."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from noisygd_delete_sources import source_at, trigger
from noisygd_delete_sources.table import missing_edits, unobserved_edits

from noisygd_delete import EditRequest
from noisygd_delete.cli import main
from noisygd_delete.errors import CountBroken, InvalidParameter, SourceError, StoreError
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_status
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store, status, verify

from ..evidence.reading_papers import said as sentences
from .conftest import ROWS, learned, name, people, plan, statement
from .tables import arrow, deltalake, in_delta, in_duckdb, in_parquet
from .test_postgres import files_holding, paper


@pytest.fixture
def watched(store: Store) -> Store:
    """A store whose table is counted from before its second release on."""
    assert store.table.watch() is None
    store.publish(force=True)
    assert store.table.watch() == EditCounts()
    return store


def last_counts(store: Store) -> EditCounts:
    return store.accountant.last.counts


def counted(store: Store) -> str | None:
    return status(store.path)["changes_counted_by"]


class Application:
    """Writes to the table in every way there is, and knows itself how many rows of each kind it wrote and committed."""

    def __init__(self, address: str, seed: int) -> None:
        self.address, self.draw, self.fresh, self.written = address, random.Random(seed), 0, Counter[str]()

    def insert(self, connection) -> dict[str, int]:
        many = self.draw.randint(0, 3)
        for _ in range(many):
            self.fresh += 1
            connection.execute("INSERT INTO people VALUES (%s, 'p', 0, 1, 'x', 'no')", [f"app-{self.fresh}"])
        return {"inserted": many}

    def copy(self, connection) -> dict[str, int]:
        with connection.cursor() as cursor, cursor.copy("COPY people FROM STDIN") as copy:
            for _ in range(2):
                self.fresh += 1
                copy.write_row((f"app-{self.fresh}", "p", 0, 1, "z", "yes"))
        return {"inserted": 2}

    def update(self, connection) -> dict[str, int]:
        low = self.draw.randint(0, ROWS)
        done = connection.execute("UPDATE people SET a = -a WHERE id BETWEEN %s AND %s", [name(low), name(low + 3)])
        return {"replaced": done.rowcount}

    def delete(self, connection) -> dict[str, int]:
        low = self.draw.randint(0, ROWS)
        return {
            "deleted": connection.execute(
                "DELETE FROM people WHERE id BETWEEN %s AND %s", [name(low), name(low + 1)]
            ).rowcount
        }

    def upsert(self, connection) -> dict[str, int]:
        there = self.draw.choice([name(self.draw.randint(0, ROWS - 1)), "nobody-yet"])
        (found,) = connection.execute("SELECT count(*) FROM people WHERE id = %s", [there]).fetchone()
        connection.execute(
            "INSERT INTO people VALUES (%s, 'p', 0, 1, 'x', 'no') ON CONFLICT (id) DO UPDATE SET a = 0.5", [there]
        )
        return {"replaced": found, "inserted": 1 - found}

    def half(self, connection) -> dict[str, int]:
        """A part that is taken back, and a part that stays, under a transaction of its own below this one."""
        connection.execute("SAVEPOINT here")
        self.delete(connection)
        connection.execute("ROLLBACK TO here")
        connection.execute("SAVEPOINT there")
        done = self.update(connection)
        connection.execute("RELEASE there")
        return done

    def work(self) -> None:
        import psycopg

        with psycopg.connect(self.address) as connection:
            done = [
                self.draw.choice([self.insert, self.copy, self.update, self.delete, self.upsert, self.half])(connection)
                for _ in range(self.draw.randint(1, 4))
            ]
            if self.draw.random() < 0.25:
                connection.rollback()
                return
        for part in done:
            self.written.update(part)

    def since(self) -> EditCounts:
        found = EditCounts(**{kind: self.written[kind] for kind in ("deleted", "replaced", "inserted")})
        self.written.clear()
        return found


def test_whatever_an_application_writes_is_counted_at_the_next_release(watched: Store, database: str) -> None:
    statement(database, "DELETE FROM people WHERE id > %s", name(ROWS - 40))  # room under the slots
    watched.publish()
    application = Application(database, seed=7)
    for _ in range(12):
        for _ in range(3):
            application.work()
        told = application.since()
        watched.publish(force=True)
        assert last_counts(watched) == told
        assert counted(watched) == "trigger"
    assert not watched.pending_edits
    watched.close()
    assert verify(watched.path).passed


def test_a_transaction_that_is_under_way_counts_where_it_is_read(watched: Store, database: str) -> None:
    import psycopg

    with psycopg.connect(database) as application:
        application.execute("DELETE FROM people WHERE id = %s", [name(5)])
        statement(database, "UPDATE people SET a = 0 WHERE id = %s", name(6))
        watched.publish()
        assert last_counts(watched) == EditCounts(replaced=1)
    watched.publish()
    assert last_counts(watched) == EditCounts(deleted=1)


def test_emptied_by_truncate(watched: Store, database: str) -> None:
    statement(database, "TRUNCATE people")
    statement(database, "INSERT INTO people VALUES ('new', 'p', 0, 1, 'x', 'no')")
    watched.publish()
    assert last_counts(watched) == EditCounts(deleted=ROWS, inserted=1)


def test_what_is_told_is_among_what_is_counted(watched: Store, database: str) -> None:
    """Deleted by this store and behind its back: each request keeps its own number, the release has them all."""
    statement(database, "UPDATE people SET b = 1 WHERE id IN (%s, %s)", name(1), name(2))
    statement(database, "DELETE FROM people WHERE id = %s", name(3))
    release = watched.serve(EditRequest.delete([name(4)], request_id="r"))
    assert release.counts == EditCounts(deleted=2, replaced=2)
    found = paper(watched)
    assert found["request"]["rows"] == 1
    assert found["evidence"]["counted"] == "trigger"
    assert "counted by a trigger in the database: 2 deleted, 2 replaced" in sentences(found)
    assert {check.name for check in verify_certificate(found).checks if not check.passed} == {"signature"}
    found["evidence"]["counted"] = "guesswork"
    assert "facts" in {check.name for check in verify_certificate(found).checks if not check.passed}
    (told, counted_there) = ledger_status(watched.ledger).unpublished
    assert (told.counts, told.counted, counted_there.counts, counted_there.counted) == (
        *(EditCounts(deleted=1), None),
        *(EditCounts(deleted=1, replaced=2), "trigger"),
    )
    again = watched.serve(EditRequest.delete([name(4)], request_id="r"))
    assert again.answered_before


def test_an_erasure_told_by_the_application_must_be_among_what_was_counted(watched: Store, database: str) -> None:
    statement(database, "DELETE FROM people WHERE id = %s", name(3))
    length = watched.ledger.length
    with pytest.raises(
        CountBroken, match="2 rows were reported erased since the last release, and the trigger there counted 1"
    ):
        watched.publish(erased=2, request_id="r")
    assert watched.ledger.length == length
    statement(database, "UPDATE people SET a = 0, c = 'x' WHERE id = %s", name(4))  # erased by writing over it
    assert watched.publish(erased=2, request_id="r").counts == EditCounts(deleted=2)
    assert paper(watched)["request"]["rows"] == 2


def test_without_a_count_the_paper_says_so(store: Store, database: str) -> None:
    statement(database, "DELETE FROM people WHERE id = %s", name(3))
    store.serve(EditRequest.delete([name(4)], request_id="r"))
    assert (last_counts(store), counted(store)) == (EditCounts(deleted=1), None)
    found = paper(store)
    assert found["evidence"]["counted"] is None
    assert "was not counted. No figure here depends on it" in sentences(found)


def test_a_count_that_began_between_two_releases_is_not_one(store: Store, database: str) -> None:
    statement(database, "DELETE FROM people WHERE id = %s", name(3))
    store.table.watch()
    statement(database, "DELETE FROM people WHERE id = %s", name(4))
    store.publish(force=True)
    assert counted(store) is None
    statement(database, "DELETE FROM people WHERE id = %s", name(5))
    store.publish()
    assert (last_counts(store), counted(store)) == (EditCounts(deleted=1), "trigger")


SILENCED = (
    (
        "ALTER TABLE people DISABLE TRIGGER noisygd_delete_deleted",
        "DELETE FROM people WHERE id = 'identifier-token-0003'",
        "switched off",
    ),
    (
        "DROP TRIGGER noisygd_delete_replaced ON people",
        "UPDATE people SET a = 0 WHERE id = 'identifier-token-0003'",
        "switched off or gone",
    ),
    (
        "ALTER TABLE people DISABLE TRIGGER USER",
        "DELETE FROM people WHERE id = 'identifier-token-0003'",
        "1 rows came or went uncounted",
    ),
    (
        "ALTER TABLE people DISABLE TRIGGER USER",
        "UPDATE people SET a = 0 WHERE id < 'identifier-token-0003'",
        "3 rows were written uncounted",
    ),
)


@pytest.mark.parametrize(("off", "change", "said"), SILENCED)
def test_a_count_that_was_silenced_is_noticed(watched: Store, database: str, off: str, change: str, said: str) -> None:
    statement(database, off)
    statement(database, change)
    if "USER" in off:  # and switched on again, as if nothing had been
        for each in trigger._TRIGGERS:
            statement(database, f"ALTER TABLE people ENABLE ALWAYS TRIGGER {each}")
    for call in (lambda: watched.publish(force=True), watched.publish, lambda: watched.publish(erased=1)):
        with pytest.raises(CountBroken, match=said):
            call()
    assert watched.ledger.releases == 2
    with pytest.raises(StoreError, match="none could be made"):
        watched.serve(EditRequest.delete([name(9)], request_id="r"))
    assert watched.pending_edits == 1, "the person's row is gone, and its release waits"
    assert watched.table.watch() is None, "counted anew"
    watched.publish()
    assert (last_counts(watched), counted(watched)) == (EditCounts(deleted=1), None)
    assert "was not counted" in sentences(paper(watched))
    statement(database, "UPDATE people SET a = 0 WHERE id = %s", name(20))
    watched.publish()
    assert (last_counts(watched), counted(watched)) == (EditCounts(replaced=1), "trigger")


def test_a_session_that_replays_is_counted_too(watched: Store, database: str) -> None:
    import psycopg

    with psycopg.connect(database) as connection:
        connection.execute("SET session_replication_role = replica")  # switches ordinary triggers off
        connection.execute("DELETE FROM people WHERE id = %s", [name(3)])
    watched.publish()
    assert last_counts(watched) == EditCounts(deleted=1)


def test_a_count_is_short_however_long_it_runs(watched: Store, database: str) -> None:
    for k in range(5):
        statement(database, "UPDATE people SET a = 0 WHERE id = %s", name(k))
    assert statement(database, "SELECT FROM noisygd_delete.changes") == 5
    watched.publish()
    assert watched.table.watch() == EditCounts()
    assert statement(database, "SELECT FROM noisygd_delete.changes") == 0
    statement(database, "DELETE FROM people WHERE id = %s", name(3))
    watched.publish()
    assert last_counts(watched) == EditCounts(deleted=1)
    assert files_holding(watched.path, b"identifier-token") == []


def test_the_owner_may_install_it_and_stop_it(store: Store, database: str, capsys) -> None:
    """A reader who may not make triggers prints what the owner carries out."""
    import psycopg

    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS clerk")
        owner.execute("CREATE ROLE clerk LOGIN")
        owner.execute("GRANT SELECT, DELETE ON people TO clerk")
    folder = str(store.path.parent / "clerks")
    source = source_at(database.replace("postgres@", "clerk@"), id="id", table="people")
    with learned(folder, source) as clerks, pytest.raises(SourceError, match="InsufficientPrivilege"):
        clerks.table.watch()
    assert main(["watch", folder, "--sql"]) == 0
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute(capsys.readouterr().out)
    with open(folder + "/plan.json"), Store.open(folder) as clerks:
        clerks.publish(force=True)
        statement(
            source.address, "DELETE FROM people WHERE id = %s", name(3)
        )  # by a role that may not see the counts' owner
        clerks.publish()
        assert (last_counts(clerks), counted(clerks)) == (EditCounts(deleted=1), "trigger")
        assert clerks.table.watch() == EditCounts(), "a reader may ask"
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("REVOKE ALL ON people FROM clerk")
        owner.execute("REVOKE ALL ON ALL TABLES IN SCHEMA noisygd_delete FROM clerk")
        owner.execute("REVOKE ALL ON SCHEMA noisygd_delete FROM clerk")
        owner.execute("DROP ROLE clerk")
    store.close()
    assert main(["watch", str(store.path), "--stop"]) == 0
    assert statement(database, "SELECT FROM pg_trigger WHERE tgname LIKE 'noisygd_delete%%'") == 0


def test_versions_of_a_delta_table_are_compared(tmp_path: Path) -> None:
    folder = in_delta(tmp_path)["address"]
    with learned(tmp_path / "store", source_at(folder, id="id")) as store:
        table = deltalake.DeltaTable(folder)
        table.delete(f"id = '{name(7)}'")
        table.update(predicate=f"id = '{name(8)}' or id = '{name(9)}'", updates={"a": "0.5"})
        deltalake.write_deltalake(folder, arrow([("new", "p", 0.0, 1.0, "x", "no")]), mode="append")
        deltalake.DeltaTable(folder).optimize.compact()  # the same rows in other files
        assert store.table.watch() == EditCounts(deleted=1, replaced=2, inserted=1)
        release = store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert release.counts == EditCounts(deleted=2, replaced=2, inserted=1)
        assert counted(store) == "versions"
        assert "a comparison of its versions: 2 deleted, 2 replaced, 1 inserted" in sentences(paper(store))
        deltalake.DeltaTable(folder).optimize.compact()
        store.publish(force=True)
        assert last_counts(store) == EditCounts(), "written anew as they were"
        deltalake.DeltaTable(folder).delete(f"id = '{name(11)}'")
        table = deltalake.DeltaTable(folder)
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
        store.publish(force=True)
        assert (last_counts(store), counted(store)) == (EditCounts(), None), "the earlier version can no longer be read"
    assert verify(tmp_path / "store").passed


def test_an_overwritten_delta_table_is_compared_row_by_row(tmp_path: Path) -> None:
    folder = in_delta(tmp_path)["address"]
    source = source_at(folder, id="id")
    rows = [row for row in people() if row[0] != name(4)]
    rows[0] = (rows[0][0], rows[0][1], 0.125, *rows[0][3:])
    deltalake.write_deltalake(folder, arrow(rows[::-1]), mode="overwrite")
    with source.snapshot(["a", "b", "c", "y"], "version:0") as found:
        assert found.changes == EditCounts(deleted=1, replaced=1)
    with source.snapshot(["b", "c", "y"], "version:0") as found:
        assert found.changes == EditCounts(deleted=1), "a column that no release reads changes nothing"


@pytest.mark.parametrize(
    ("kind", "engine", "why"),
    [
        (in_duckdb, None, "no triggers"),
        (in_parquet, None, "not which of its rows"),
        (in_parquet, "ray", "not which of its"),
    ],
)
def test_nothing_counts_in_files_and_it_is_said_why(tmp_path: Path, kind, engine, why: str) -> None:
    source = source_at(id="id", engine=engine, **kind(tmp_path))
    with pytest.raises(InvalidParameter, match=f"nothing there counts changes: .*{why}"):
        source.watch(["a"], None)
    assert (source.counts_by, source.changes("version:0", "version:1", ["a"])) == (None, None)


def test_what_nobody_told_is_what_was_counted_less_what_was_told() -> None:
    for told, found, rest in (
        (EditCounts(), EditCounts(1, 2, 3), EditCounts(1, 2, 3)),
        (EditCounts(deleted=1), EditCounts(1, 2, 3), EditCounts(0, 2, 3)),
        (EditCounts(deleted=2), EditCounts(1, 2, 3), EditCounts(0, 1, 3)),
        (EditCounts(deleted=5), EditCounts(1, 2, 3), EditCounts(0, 0, 3)),
        (EditCounts(1, 2, 3), EditCounts(1, 2, 3), EditCounts()),
        (EditCounts(unrecorded=2), EditCounts(1), EditCounts(1)),
    ):
        assert unobserved_edits(told, found) == rest
    assert missing_edits(EditCounts(deleted=5), EditCounts(1, 2, 3)) == 2
    assert missing_edits(EditCounts(deleted=3), EditCounts(1, 2, 3)) == 0


def test_a_release_that_continues_is_certified_only_with_a_count(store: Store) -> None:
    store.serve(EditRequest.delete([name(3)], request_id="r"))
    erasure, _, _ = erasure_in(store.ledger, request_id="r")
    resuming = plan(method="noisy-gd")
    from noisygd_delete import Accountant

    accountant = Accountant(resuming)
    events = [accountant.planned_event("learn", 0)]
    accountant.record(events[0])
    events.append(accountant.planned_event("unlearn", EditCounts(deleted=1)))
    with pytest.raises(InvalidParameter, match="only with a count by a trigger or by versions"):
        erasure_certificate(replace(erasure, ledger_entries=None, ledger_sha256=None), plan=resuming, events=events)
    stated = replace(erasure, ledger_entries=None, ledger_sha256=None, counted="trigger")
    assert erasure_certificate(stated, plan=resuming, events=events)["evidence"]["counted"] == "trigger"
