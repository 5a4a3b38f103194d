"""Rows in PostgreSQL: what a release reads, what a deletion does, and in which order both are certified."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources import Snapshot, postgres, source_at
from noisygd_delete_sources import table as journal
from noisygd_delete_sources.postgres import Postgres
from noisygd_delete_sources.table import TableInSource

from noisygd_delete import Accountant, EditRequest, Records
from noisygd_delete.engine import Execution, Objective
from noisygd_delete.errors import (
    InvalidParameter,
    InvalidRecords,
    InvalidRequest,
    SourceError,
    StoreError,
)
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.methods import CountedRecords
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store, status, verify
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.position import position_covers
from noisygd_delete.store.training_table import TrainingTable
from tests.sources.rows import records_of

from ..evidence.reading_papers import figure
from ..evidence.reading_papers import said as sentences
from ..store.conftest import Crash, CrashAt
from .conftest import ROWS, SCHEMA, SLOTS, in_csv, learned, name, person, plan, statement


def files_holding(folder: Path, *needles: bytes) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files for needle in needles if needle in path.read_bytes()]


def exported(folder: Path) -> Records:
    """The same people from a file, in a table of this program's own."""
    encoded = SCHEMA.encode_file(in_csv(folder))
    return Records(encoded.rows, encoded.labels, encoded.ids, slots=SLOTS)


def paper(store: Store, request_id: str = "r"):
    erasure, made, events = erasure_in(store.ledger, request_id=request_id)
    return erasure_certificate(erasure, plan=made, events=events)


def test_a_deletion_in_the_database_leaves_no_row_and_no_id_in_the_store(
    store: Store, database: str, tmp_path: Path
) -> None:
    rows = exported(tmp_path).features
    release = store.serve(EditRequest.delete([name(3), name(4)], request_id="r"))
    assert (release.release, release.counts.deleted, release.request_id) == (2, 2, "r")
    assert statement(database, "SELECT FROM people") == ROWS - 2
    store.close()
    assert verify(store.path).passed
    assert files_holding(store.path, b"identifier-token", b"subject-token") == []
    assert files_holding(store.path, *(row.tobytes() for row in rows[:ROWS])) == []
    told = status(store.path)
    assert (told["records"], told["source"], told["releases"]) == (None, database, 2)


def test_the_certificate_names_the_order_and_a_stranger_recomputes_it(store: Store) -> None:
    store.serve(EditRequest.delete([name(3)], request_id="r"))
    found = paper(store)
    source = found["evidence"]
    assert source["deleted_at"].startswith("transaction:")
    assert source["read_at"].startswith("snapshot:")
    assert source["deleted_at"] in sentences(found)
    unsigned = {check.name for check in verify_certificate(found).checks if not check.passed}
    assert unsigned == {"signature"}
    found["evidence"]["read_at"] = "snapshot:5:5:"
    failed = {check.name for check in verify_certificate(found).checks if not check.passed}
    assert {"claims", "facts"} <= failed


@pytest.fixture
def put_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function after which every snapshot says that it is of the position of now, as a restored backup does."""
    before, true = store.source.position(), Postgres.snapshot

    @contextmanager
    def of_before(source, columns, since=None, done=None):
        with true(source, columns) as now:
            yield Snapshot(before, now.blocks)

    return lambda: monkeypatch.setattr(Postgres, "snapshot", of_before)


def test_a_release_from_before_the_deletion_is_refused_and_never_certified(store: Store, put_back, monkeypatch) -> None:
    put_back()
    with pytest.raises(SourceError, match="as they were before transaction:"):
        store.serve(EditRequest.delete([name(3)], request_id="r"))
    assert (store.ledger.releases, store.pending_edits) == (1, 1)
    with pytest.raises(SourceError):
        store.publish()
    # without that check the release is made, and the paper is refused
    monkeypatch.setattr(type(store.table), "_reached", lambda _: [])
    store.close()
    with Store.open(store.path) as late:  # goes on with the deletion that it finds in the journal
        pass
    assert late.ledger.releases == 2
    with pytest.raises(InvalidParameter, match="does not show the deletion"):
        paper(late)


def test_numbers_about_the_records_hide_no_earlier_position(store: Store, put_back) -> None:
    """A backup is put back after a deletion was published and numbers were charged: the next release is refused all the same."""
    store.serve(EditRequest.delete([name(3)], request_id="r"))
    store.charge(CountedRecords(records=SLOTS, deviation=2.0**20))
    put_back()
    with pytest.raises(SourceError, match="restored backup"):
        store.publish(force=True)
    assert store.ledger.releases == 3


@pytest.mark.parametrize("watched", [False, True])
def test_every_kill_leaves_the_deletion_done_or_not_and_never_certified_too_early(
    store: Store, database: str, watched: bool
) -> None:
    """Every step where nothing is counted; where a trigger counts, every third one, with the rows in a scratch file, which goes with every
    process that dies: the edit of an application before each deletion is in the ledger once."""
    if watched:
        store.table.watch()
        store.publish(force=True)
    before = store.ledger.releases
    store.close()

    def operate(disk: CrashAt, victim: int) -> None:
        if watched:
            statement(database, "UPDATE people SET a = 0.25 WHERE id = %s", name(ROWS - 1 - victim))
        execution = Execution(memory=1) if watched else None
        with Store.open(store.path, disk=disk) as opened:
            opened.serve(EditRequest.delete([name(victim)], request_id=f"r{victim}"), execution=execution)

    for victim in range(2):  # the first one also makes the register
        disk = CrashAt()
        operate(disk, victim)
    assert ("commit", "request.json") in disk.points
    steps, outcomes = range(0, len(disk.points), 3 if watched else 1), set()
    for victim, step in enumerate(steps, 2):
        with pytest.raises(Crash):
            operate(CrashAt(step), victim)
        gone = not statement(database, "SELECT FROM people WHERE id = %s", name(victim))
        if victim % 3 == 0:  # the recovery dies as well
            with suppress(Crash), Store.open(store.path, disk=CrashAt(victim // 3)):
                pass
        with Store.open(store.path) as opened:
            noted = opened.ledger.position(f"r{victim}")
            assert (noted is not None) == gone, "the ledger knows of it exactly where the source committed it"
            if gone:
                covering = opened.ledger.find_covering_release(noted)
                assert covering is not None, "an accepted deletion is published"
                assert position_covers(opened.ledger.entry(covering).position, opened.ledger.entry(noted).position)
                if victim % 8 == 0:
                    assert paper(opened, f"r{victim}")["action"]["release"] == opened.ledger.releases
            assert opened.pending_edits == 0
            if not gone or victim % 8 == 0:
                opened.serve(EditRequest.delete([name(victim)], request_id=f"r{victim}"))
            assert opened.ledger.releases == before + victim + 1, "sent again, it is done once"
            if watched:
                assert opened.accountant.last.counts == EditCounts(deleted=1, replaced=1)
        outcomes.add(gone)
    assert outcomes == {True, False}
    assert statement(database, "SELECT FROM people") == ROWS - len(steps) - 2
    assert verify(store.path).passed


def test_the_same_law_as_from_a_file(store: Store, tmp_path: Path) -> None:
    """The same rows, hence sums that differ by rounding alone; the same plan, and the same figures on the certificate."""
    records, _ = records_of(store.source, SCHEMA, SLOTS)
    own = exported(tmp_path)
    weights = np.linspace(-1, 1, SCHEMA.features)[None]
    sums = [
        Objective(table, store.plan.problem.loss, regularization=0.1, dtype="float64").gradient_sum(weights)
        for table in (records, own)
    ]
    np.testing.assert_allclose(sums[0], sums[1], rtol=0, atol=1e-12)
    assert sorted(map(bytes, records.features)) == sorted(map(bytes, own.features))
    schema = replace(SCHEMA, subject_column=None)
    with Store.create(tmp_path / "own", own_in_text(own), schema, plan()) as held:
        held.learn()
        held.serve(EditRequest.delete([name(3)], request_id="r"))
        theirs = {key: figure(paper(held), key) for key in ("erased.later", "erased.all", "present.all")}
    store.serve(EditRequest.delete([name(3)], request_id="r"))
    ours = {key: figure(paper(store), key) for key in theirs}
    assert ours["present.all"] == theirs["present.all"]
    ball = (
        plan().allow_any_order().deletion.renyi(4.0)
    )  # rows come in any order: charged to every release from the erasure on
    for erased in ("erased.later", "erased.all"):
        assert -1e-9 <= ours[erased]["renyi"] - theirs[erased]["renyi"] <= ball * (1 + 1e-6)
    assert ours != theirs
    assert store.plan == plan().allow_any_order()


def test_noisy_steps_down_to_the_last_bit_over_a_database(database: str, tmp_path: Path) -> None:
    """The guarantee of the same rows in memory, but for what another order may show of those that are gone; rows change in between."""
    asked = plan(method="noisy-gd")
    with learned(tmp_path / "store", source_at(database, id="id", table="people"), SCHEMA, asked) as store:
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        statement(database, "UPDATE people SET a = 0.5 WHERE id = %s", name(0))
        store.serve(EditRequest.delete([name(4)]))
        found, events = paper(store), list(store.accountant.events)
    assert {check.name for check in verify_certificate(found).checks if not check.passed} == {"signature"}
    keys = {claim["key"] for claim in found["claims"]}
    assert "exact-steps" in keys
    assert not keys & {"real-arithmetic", "gaussian-noise", "rows-in-place", "time-unseen"}
    charged = asked.allow_any_order()
    kept = [replace(event, mechanism=asked.mechanism) for event in events]
    theirs, ours = Accountant(asked, kept), Accountant(charged, events)
    assert ours.dp_cumulative().gdp == pytest.approx(theirs.dp_cumulative().gdp, rel=1e-5)
    gone = charged.mechanism.interval(
        "deletion", "erased-vs-never", steps_with=0, steps_without=charged.calibration.delete_steps
    )
    assert theirs.deletion(1, 2, [3]).gdp > 0, "the second release was not seen: its steps count"
    extra = ours.deletion(1, 2, [2, 3]).gdp_squared - theirs.deletion(1, 2, [2, 3]).gdp_squared
    assert extra >= gone.gdp_squared > 0, "the release after the erasure shows an order, too"


def own_in_text(own: Records) -> Records:
    used = own.occupied
    return Records(own.features[used], own.labels[used], list(map(str, own.ids)), slots=SLOTS)


def test_where_the_application_deletes_publish_says_so(store: Store, database: str) -> None:
    statement(database, "DELETE FROM people WHERE id = ANY(%s)", [name(1), name(2)])
    with pytest.raises(InvalidRequest, match="has not reached"):
        store.publish(erased=2, request_id="app", position="transaction:999999999")
    release = store.publish(erased=2, request_id="app")
    assert (release.release, release.counts.deleted) == (2, 2)
    assert store.publish(erased=2, request_id="app").answered_before
    with pytest.raises(InvalidRequest, match="answered before"):
        store.publish(erased=1, request_id="app")
    assert paper(store, "app")["evidence"]["deleted_at"].startswith("snapshot:")


def test_requests_that_cannot_be_carried_out_change_nothing(store: Store, database: str) -> None:
    for request, said in (
        (EditRequest.delete([name(3), "never-there"]), "is not in the table"),
        (EditRequest.delete(subjects=[person(3)]), "whom its records are about"),
        (EditRequest.replace({name(3): (np.zeros(5), 1.0)}), "change them there"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            store.serve(request)
    assert statement(database, "SELECT FROM people") == ROWS
    assert (store.ledger.length, Layout(store.path).request.exists()) == (2, False)
    with pytest.raises(StoreError, match="let go of"):
        _ = store.records


def test_a_table_in_a_source_takes_nothing_from_one_of_files_that_would_touch_a_file(store: Store) -> None:
    taken = set(vars(TrainingTable)) - set(vars(TableInSource))
    assert {name for name in taken if callable(getattr(TrainingTable, name))} == {
        "forget",
        "check",
        "has_stamp",
        "_apply",
    }
    before = {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()}
    store.table.forget()
    store.table.check()
    assert not store.table.has_stamp("00" * 16)
    assert {path: path.read_bytes() for path in before} == before


def test_a_release_that_cannot_be_made_says_that_the_rows_are_gone(store: Store, database: str) -> None:
    """Somebody renamed a column between two commands."""
    statement(database, "ALTER TABLE people RENAME COLUMN c TO other")
    request = EditRequest.delete([name(3)], request_id="r")
    with pytest.raises(SourceError, match="UndefinedColumn") as failed:
        store.serve(request)
    assert "the rows are deleted in the source" in " ".join(failed.value.__notes__)
    assert statement(database, "SELECT FROM people") == ROWS - 1
    statement(database, "ALTER TABLE people RENAME COLUMN other TO c")
    assert store.serve(request).counts.deleted == 1
    assert statement(database, "SELECT FROM people") == ROWS - 1


def test_slots_stay_public(store: Store, database: str) -> None:
    statement(
        database,
        "INSERT INTO people SELECT 'more-' || n, 'p', 0, 1, 'x', 'no' FROM generate_series(1, %s) AS n",
        SLOTS,
    )
    with pytest.raises(InvalidRecords, match=f"more rows than the {SLOTS} slots"):
        store.publish(force=True)
    statement(database, "DELETE FROM people")
    assert store.publish(erased=ROWS + SLOTS).release == 2, "deleting everybody is a valid request"


def test_what_goes_wrong_is_told_without_a_row_or_a_password(database: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="PGPASSWORD") as refused:
        source_at("postgresql://me:secret@localhost/db", id="id", table="people")
    assert "secret" not in str(refused.value)
    for facts, said in (
        ({"table": "nothing"}, "UndefinedTable, SQLSTATE 42P01"),
        (
            {"query": "SELECT id, a::int / 0 AS a, b, c, y FROM people WHERE id = 'identifier-token-0003'"},
            "DivisionByZero",
        ),
    ):
        with pytest.raises(SourceError, match=said) as told:
            records_of(source_at(database, id="id", **facts), SCHEMA, SLOTS)
        assert "identifier" not in str(told.value)
        assert told.value.__cause__ is None
    with pytest.raises(SourceError, match="is the server there"):
        records_of(source_at(f"postgresql:///none?host={tmp_path}", id="id", table="people"), SCHEMA, SLOTS)


def test_a_deletion_that_is_still_under_way_is_not_covered(store: Store, database: str) -> None:
    """A snapshot taken while the application's transaction is open does not see it, whatever the transaction's number."""
    import psycopg

    with psycopg.connect(database) as application:
        application.execute("DELETE FROM people WHERE id = %s", [name(3)])
        (number,) = application.execute("SELECT pg_current_xact_id()::text").fetchone()
        statement(database, "UPDATE people SET a = a WHERE id = %s", name(9))  # a later one, committed before
        assert not position_covers(store.source.position(), f"transaction:{number}")
        with pytest.raises(InvalidRequest, match="has not reached"):
            store.publish(erased=1, request_id="app", position=f"transaction:{number}")
        assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS
    assert position_covers(store.source.position(), f"transaction:{number}")
    store.publish(erased=1, request_id="app", position=f"transaction:{number}")
    assert paper(store, "app")["evidence"]["deleted_at"] == f"transaction:{number}"
    assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS - 1


def test_an_interrupted_deletion_waits_for_its_session_to_end(store: Store, database: str, monkeypatch) -> None:
    """The process has gone and the server has not noticed: neither done nor undone, and nothing is said of it."""
    import psycopg

    monkeypatch.setattr(postgres, "_PATIENCE", 0.3)
    with psycopg.connect(database) as ghost:
        ghost.execute("DELETE FROM people WHERE id = %s", [name(3)])
        (number,) = ghost.execute("SELECT pg_current_xact_id()::text").fetchone()
        files = store._files
        journal.begin_deletion(files.disk, files.layout, journal.Deletion(store.ledger.length, number, 1, True, "r"))
        store.close()
        with pytest.raises(SourceError, match="still under way"):
            Store.open(store.path)
        assert not verify(store.path).passed
    with Store.open(store.path) as opened:
        assert (opened.ledger.position("r") is not None, opened.ledger.releases) == (True, 2)


def test_a_row_in_the_store_is_a_fault(store: Store) -> None:
    store.close()
    (store.path / "records").mkdir(mode=0o700)
    (store.path / "records" / "features.f32").touch(mode=0o600)
    assert any("lie elsewhere" in fault for fault in verify(store.path).faults)
