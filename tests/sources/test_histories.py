"""Histories over sources, drawn at random: requests, an application that writes too, batches, dumps and files put back.

The oracle keeps the table itself and who was erased. After every release it says which rows must have been read, to the bit, and it says beforehand which
releases must be refused; and of every paper what must stand in it (`oracles.desk`, `oracles.owed`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources.table import TableInSource

from noisygd_delete import EditRequest
from noisygd_delete.curator.release import make_release
from noisygd_delete.errors import InvalidRequest, SourceError
from noisygd_delete.evidence import erasure_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.features.schema import Table
from noisygd_delete.store import Store, Tombstones, verify

from ..oracles import desk, owed
from .conftest import SCHEMA, learned, plan
from .tables import COLUMNS, InDelta, InDuckdb, InPostgres

Row = tuple[str, str, float, float, str, str]
MOST, SLOTS, STEPS = 2, 80, 24
PERSONS = replace(SCHEMA, subject_column="person")


class History:
    """One run: what the application and the requests do, and what the oracle expects."""

    def __init__(self, table: InDuckdb, folder: Path, seed: int) -> None:
        self.table, self.folder, self.draw = table, folder, random.Random(seed)
        self.rows: dict[str, Row] = {}
        self.erased: set[str] = set()
        self.fresh, self.releases, self.refused, self.read = 0, 0, 0, list[Counter[bytes]]()
        self.desk, self.judged = desk.Desk({}), 0
        self.insert(12)
        source = table.source(subject="person", rows_per_subject=MOST)
        learned(folder / "store", source, PERSONS, plan(slots=SLOTS, rows_per_subject=MOST)).close()
        self.desk.release()
        self.list = Tombstones.create(folder / "list", folder / "key")
        self.deletions = 0

    def insert(self, many: int) -> None:
        rows = []
        for _ in range(many):
            self.fresh += 1
            k = self.fresh
            rows.append(
                (
                    f"i{k}",
                    f"p{self.draw.randint(0, 9)}",
                    (k % 64) / 64 - 0.5,
                    (k % 160) / 16,
                    "xz"[k % 2],
                    ("no", "yes")[k % 3 == 0],
                )
            )
        self.appear(rows)
        self.table.insert(rows)

    def appear(self, rows: list[Row]) -> None:
        """They are there, and nobody told the store."""
        self.rows |= {row[0]: row for row in rows}
        self.desk.people |= {row[0]: row[1] for row in rows}

    @property
    def expected(self) -> Counter[bytes]:
        """By the table as the oracle has it: persons with no more than so many rows, and all of those."""
        of_person = Counter(row[1] for row in self.rows.values())
        rows = [row for row in self.rows.values() if of_person[row[1]] <= MOST]
        cells = {name: [str(row[k]) for row in rows] for k, name in enumerate(COLUMNS)}
        encoded = replace(SCHEMA, id_column=None).encode(Table("oracle", cells, range(len(rows)))) if rows else None
        return Counter() if encoded is None else Counter(row.tobytes() for row in encoded.rows)

    def publish(self, store: Store, *, lost: bool = False, **given) -> None:
        """One release, or the refusal that the oracle expects."""
        there, before = self.erased & set(self.rows), len(self.read)
        if lost or there:
            with pytest.raises(
                SourceError,
                match="not in its history|as they were before" if lost else "erased before|read there again",
            ):
                store.publish(force=True)
            self.refused += 1
            assert len(self.read) == before
            return
        store.publish(**(given or {"force": True}))
        self.check()

    def check(self) -> None:
        self.releases += 1
        self.desk.release()
        assert self.read[-1] == self.expected
        assert not self.erased & set(self.rows)

    def request(self) -> EditRequest:
        names, token = list(self.rows), f"t{self.deletions}"
        if self.draw.random() < 0.4:
            return EditRequest.delete(subjects=[self.rows[self.draw.choice(names)][1]], request_id=token)
        return EditRequest.delete(self.draw.sample(names, min(len(names), self.draw.randint(1, 2))), request_id=token)

    def gone(self, request: EditRequest) -> None:
        names = {row[0] for row in self.rows.values() if row[0] in request.deletions or row[1] in request.subjects}
        self.erased |= names
        self.vanish(str(request.request_id), names)
        self.deletions += 1

    def vanish(self, token: str, names: set[str]) -> None:
        self.rows = {name: row for name, row in self.rows.items() if name not in names}
        self.desk.edit(token, sorted(names), [], {})

    def step(self, store: Store) -> None:
        choice = self.draw.choice(["insert", "serve", "serve", "later", "batch", "application", "redo", "dump", "file"])
        if choice == "insert" or len(self.rows) < 5:
            self.insert(self.draw.randint(1, 6))
        elif choice == "serve":
            request = self.request()
            store.serve(request)
            self.gone(request)
            self.check()
        elif choice == "later":
            request = self.request()
            store.serve(request, publish=False)
            self.gone(request)
        elif choice == "batch":
            asked = [self.request(), EditRequest.delete(["never-there"])]
            done = store.edit_all(asked)
            assert [isinstance(error, InvalidRequest) for error in done.outcomes] == [False, True]
            self.gone(asked[0])
            self.publish(store)
        elif choice == "application":
            name = self.draw.choice(list(self.rows))
            self.table.delete(name)
            self.vanish(f"application {name}", {name})
            self.publish(store, erased=1)
        elif choice == "redo":
            self.publish(store)
        elif choice == "dump":
            self.dump(store)
        elif not isinstance(self.table, InPostgres):
            self.file(store)

    def dump(self, store: Store) -> None:
        """The rows of then, put back by statements; the list says which were erased, and they go again."""
        then = dict(self.rows)
        request = self.request()
        store.serve(request)
        self.gone(request)
        self.check()
        self.appear(list(then.values()))
        self.table.write(list(then.values()))
        self.publish(store)
        again = EditRequest.delete(store.list_reappeared_ids(), request_id=f"t{self.deletions}")
        assert set(again.deletions) == self.erased & set(then)
        store.serve(again)
        self.gone(again)
        self.check()

    def file(self, store: Store) -> None:
        """The file of then, put back by a copy, and written to by others since; at last the right one comes back."""
        self.table.copy(self.folder / "then")
        then = dict(self.rows)
        request = self.request()
        store.serve(request)
        self.gone(request)
        self.check()
        now = dict(self.rows)
        self.table.copy(self.folder / "now")
        self.table.put_back(self.folder / "then")
        for name in [name for name in then if name not in now][:1] + list(now)[:3]:
            self.table.delete(name)  # also the erased one, so that nothing but the mark tells
        self.publish(store, lost=True)
        self.table.put_back(self.folder / "now")
        self.rows = now
        self.publish(store)

    def judge(self) -> None:
        """Every paper that the store issues now."""
        ledger = ledger_of(self.folder / "store")
        for token, asked in self.desk.requests.items():
            if token.startswith("application"):
                continue
            stated, held, events = erasure_in(ledger, request_id=token)
            paper = erasure_certificate(stated, plan=held, events=events)
            released = [{kind: getattr(event.counts, kind) for kind in desk.NONE} for event in events]
            found = list[str]()
            status, read = self.desk.status(token), stated.read_at
            facts = {
                "rows_per_person": MOST, "remaining": None, "from_data": (), "delta": paper["public_facts"]["delta"], "slots": SLOTS,
                "status": status, "release": asked.release, "publishers": [], "by_calendar": False, "read_at": read, "counted": stated.counted,
            }  # fmt: skip
            if isinstance(self.table, InDelta):  # it counts what everybody wrote, as often as it was written
                told = self.desk.releases
                less = [one for one, due in zip(released, told, strict=True) if one["deleted"] < due["deleted"]]
                found, released = [f"fewer deletions than were asked for: {less}"] * bool(less), told
            found += desk.faults(paper, released, self.desk, token, [])
            found += owed.faults(paper, [event.to_dict() for event in events], facts)
            found += ["published, and nothing says when it was read"] * (status == "published" and read is None)
            assert found == [], token
            self.judged += 1


@contextmanager
def watched(history: History, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every release's rows, as the solver gets them."""

    def noting_rows(records, task, execution):
        history.read.append(Counter(row.tobytes() for row in np.asarray(records.features)[records.occupied]))
        return make_release(records, task, execution)

    with monkeypatch.context() as patch:
        for module in ("store", "transaction"):
            patch.setattr(f"noisygd_delete.store.{module}.make_release", noting_rows)
        yield


def run_history(table: InDuckdb, folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> History:
    history = History(table, folder, seed)
    with watched(history, monkeypatch):
        for _ in range(STEPS // 4):
            with Store.open(folder / "store", tombstones=history.list) as store:
                for _ in range(4):
                    history.step(store)
            history.judge()
    assert verify(folder / "store").passed
    return history


def table_of(kind: str, folder: Path, request: pytest.FixtureRequest) -> InDuckdb:
    if kind == "postgres":
        made = InPostgres(request.getfixturevalue("database"))
        made.write([])
        return made
    return {"duckdb": InDuckdb, "delta": InDelta}[kind](folder, [])


@pytest.mark.parametrize(("kind", "seed"), [("duckdb", 1), ("duckdb", 2), ("delta", 1), ("postgres", 2)])
def test_every_release_reads_exactly_whom_it_may(kind: str, seed: int, tmp_path: Path, monkeypatch, request) -> None:
    history = run_history(table_of(kind, tmp_path, request), tmp_path, seed, monkeypatch)
    assert history.releases >= 8
    assert history.refused >= 1
    assert history.judged >= 20


def the_first_by_id(rows: str, key: str, most: int, name_of: object) -> str:
    """The rows of a person that a release reads, chosen wrongly: where one is erased, the next one moves up."""
    numbered = f'SELECT *, row_number() OVER (PARTITION BY "{key}" ORDER BY "id") AS place FROM ({rows}) AS e'
    return f"SELECT * FROM ({numbered}) AS r WHERE place <= {most}"


@pytest.mark.parametrize("fault", ["the first by id", "no list", "no mark"])
def test_the_oracle_sees_planted_faults(fault: str, tmp_path: Path, monkeypatch) -> None:
    if fault == "the first by id":
        monkeypatch.setattr("noisygd_delete_sources.source.rows_to_read", the_first_by_id)
    elif fault == "no list":
        monkeypatch.setattr(TableInSource, "_refuse", lambda *_: None)
    else:
        monkeypatch.setattr(TableInSource, "_marks", lambda _: [])
        monkeypatch.setattr(TableInSource, "_reached", lambda _: [])
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run_some(tmp_path, monkeypatch)


def run_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in (1, 2, 3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        run_history(InDuckdb(folder, []), folder, seed, monkeypatch)
