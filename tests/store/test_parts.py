"""The parts of the store on their own: what SQLite says, what a lock does, what is refused before anything is written."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from noisygd_delete import EditRequest, Model, Records, Schema, losses
from noisygd_delete.errors import InvalidParameter, StoreCorrupt, StoreError, StoreLocked
from noisygd_delete.evidence.erasure import ledger_of
from noisygd_delete.store import Store, journal, models
from noisygd_delete.store import disk as database
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.entry import Entry, utc_now
from noisygd_delete.store.layout import Layout, Lock
from noisygd_delete.store.ledger import Ledger

from ..forks import exit_status
from .conftest import SCHEMA, name, person, plan, row


def test_a_database_erases_what_it_deletes_and_keeps_no_log(path: Path) -> None:
    layout = Layout(path)
    for file in layout.databases():
        with database.connect_database(file) as connection:
            pragmas = ("secure_delete", "journal_mode", "synchronous", "temp_store")
            values = [connection.execute(f"PRAGMA {pragma}").fetchone()[0] for pragma in pragmas]
            assert values == [1, "persist", 3, 2]


def test_a_sqlite_that_refuses_to_overwrite_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database._PRAGMAS, "secure_delete", ("OFF", 1))
    with pytest.raises(StoreError, match="which erasure relies on"):
        Store.open(path)


def execute(file: Path, *statements: str, seconds: float = 5.0) -> None:
    """These statements, in one transaction."""
    with database.connect_database(file, seconds) as connection, database.begin_transaction(connection, Disk(), file):
        for statement in statements:
            connection.execute(statement)


def told(file: Path, *statements: str, seconds: float = 5.0) -> type[Exception]:
    """The error that these statements end in."""
    with pytest.raises(StoreError) as caught:
        execute(file, *statements, seconds=seconds)
    return caught.type


def test_sqlite_errors_become_the_stores_own_and_leave_nothing(path: Path) -> None:
    layout = Layout(path)
    before = layout.ledger.read_bytes()
    with closing(sqlite3.connect(layout.ledger, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert told(layout.ledger, seconds=0.05) is StoreLocked
    assert told(layout.ledger, "PRAGMA query_only = ON", "DELETE FROM entries") is StoreError
    assert told(layout.ledger, "DELETE FROM entries", "SELECT nothing FROM nowhere") is StoreCorrupt
    assert told(layout.ledger, "DELETE FROM entries", *["INSERT INTO entries VALUES (1, '', '')"] * 2) is StoreCorrupt
    assert told(path / "none.sqlite") is StoreCorrupt
    assert layout.ledger.read_bytes() == before


def test_text_that_is_none_is_corrupt(path: Path) -> None:
    """In a row, and in the schema, which SQLite quotes in a message that Python then cannot read."""
    layout = Layout(path)
    good = layout.ledger.read_bytes()
    execute(layout.ledger, "UPDATE entries SET body = CAST(X'FF' AS TEXT) WHERE number = 1")
    for bad in (layout.ledger.read_bytes(), good.replace(b"CREATE TABLE entries", b"CREATE TABLE e\xa9(ries")):
        assert bad != good
        layout.ledger.write_bytes(bad)
        with pytest.raises(StoreCorrupt, match=r"ledger\.sqlite"):
            Store.open(path)


def test_a_lock_is_free_again_once_released(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    with pytest.raises(StoreLocked):
        Lock(tmp_path / "lock", wait=0.06)
    lock.release()
    lock.release()
    Lock(tmp_path / "lock").release()


def test_a_change_survives_the_journal(path: Path) -> None:
    with Store.open(path) as store:
        edits = store.records.resolve(
            EditRequest(
                deletions=(name(0),),
                replacements={name(2): (row(80), -1.0)},
                insertion=EditRequest.insert(["n"], [row(81)], [1.0], subjects=["p"]).insertion,
            )
        )
    change = journal.InFlight(2, edits, False, "r", (None,), "0" * 64)
    again = journal.InFlight.from_bytes(change.to_bytes())
    assert (again.base, again.publish, again.request_id) == (2, False, "r")
    for field in ("slots", "rows", "labels"):
        np.testing.assert_array_equal(getattr(again.edits, field), getattr(edits, field))
    assert (again.edits.ids, again.edits.subjects) == ((None, name(2), "n"), (None, person(2), "p"))
    np.testing.assert_array_equal(again.edits.rows[0], np.zeros(3))


def test_ids_and_subjects_are_text(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.insert([5, 6], [row(80), row(81)], [1.0, -1.0], subjects=[7, 7]))
        assert {"5", "6"} <= set(store.records.ids)
        store.serve(EditRequest.replace({5: (row(82), 1.0)}))
        assert store.serve(EditRequest.delete([5])).edits == 1
        assert store.serve(EditRequest.delete(subjects=[7])).edits == 1
        with pytest.raises(InvalidParameter, match="number records by itself"):
            store.serve(EditRequest.insert(None, [row(80)], [1.0], subjects=["x"]))


def test_a_model_file_that_is_none_is_corrupt_even_with_the_right_digest(path: Path) -> None:
    layout = Layout(path)
    weights = np.arange(3.0)
    digest = models.write_model(Disk(), layout, Model(weights, losses.Logistic(radius=1.0), True), 7)
    loaded = models.load_model(layout, plan(), 7, digest)
    np.testing.assert_array_equal(loaded.weights, weights)
    assert not loaded.weights.flags.writeable
    layout.model(7).write_bytes(b"not a model")
    with pytest.raises(StoreCorrupt, match="not a model file"):
        models.load_model(layout, plan(), 7, hashlib.sha256(b"not a model").hexdigest())


def test_a_ledger_without_plan_or_schema_is_no_ledger(tmp_path: Path) -> None:
    Ledger.create(Disk(), tmp_path / "ledger.sqlite", Entry(kind="init", time=utc_now(), pending=0))
    with pytest.raises(StoreCorrupt, match="lacks the plan"):
        Ledger.read(tmp_path / "ledger.sqlite")


@pytest.mark.parametrize(("base", "link", "fits"), [(2, None, True), (2, "2", True), (2, "1", False), (3, None, False)])
def test_a_journal_continues_the_ledger_that_it_was_written_after(base: int, link: str | None, fits: bool) -> None:
    ledger = SimpleNamespace(length=2, link=str, path="ledger")
    with nullcontext() if fits else pytest.raises(StoreCorrupt, match=rf"{base} entries; it has 2"):
        journal.require_base(base, link, ledger)


def test_the_ledger_of_a_folder_without_a_store_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        ledger_of(tmp_path)


def test_a_table_without_subjects(tmp_path: Path) -> None:
    fields = {key: value for key, value in SCHEMA.to_dict().items() if key != "subject"}
    few = Records([row(k) for k in range(3)], [1.0, -1.0, 1.0], ["aaaa", "bbbb", "cccc"], slots=4)
    with Store.create(tmp_path / "store", few, Schema.from_dict(fields), plan(slots=4)) as store:
        store.learn()
        assert store.records.subjects_by_slot is None
        assert store.table.find_names(["aaaa", "nobody"]) == {"aaaa"}
        assert store.table.find_names(["aaaa"], persons=True) == store.table.find_names([]) == set()
        store.serve(EditRequest.delete(["bbbb"]))
        store.relearn(plan(slots=6))
        assert store.records.ids == ["aaaa", "cccc"]


def test_a_hot_journal_is_rolled_back_and_kept_to_be_overwritten(tmp_path: Path) -> None:
    """A process dies inside a commit. Whoever opens the database next rolls back, and the journal is not simply removed."""
    file, journal = tmp_path / "some.sqlite", tmp_path / "some.sqlite-journal"

    def dying() -> None:
        with database.connect_database(file) as connection:
            connection.execute("PRAGMA cache_size = 1")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "UPDATE names SET id = hex(randomblob(500))"
            )  # does not fit the cache: pages are written
            os._exit(0)

    database.create_database(Disk(), file)
    with database.connect_database(file) as connection:
        connection.execute("CREATE TABLE names (slot INTEGER PRIMARY KEY, id TEXT)")
        connection.executemany("INSERT INTO names VALUES (?, ?)", [(k, f"somebody-{k}" * 20) for k in range(400)])
    database.forget_database(Disk(), file)
    assert exit_status(dying) == 0
    assert b"somebody-7" in (held := journal.read_bytes())
    assert held[0], "its header says that there is something to roll back"
    with database.connect_database(file) as connection:
        assert connection.execute("SELECT COUNT(*) FROM names WHERE id LIKE 'somebody-%'").fetchone()[0] == 400
    assert b"somebody-7" in journal.read_bytes()
    database.forget_database(Disk(), file)
    assert not any(journal.read_bytes())
