"""Requests in one transaction do what they do one after the other, and a crash leaves all of them or none."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from noisygd_delete_compliance.register import Register

from noisygd_delete import EditRequest
from noisygd_delete.curator.stream import Batching, Stream
from noisygd_delete.engine import sums
from noisygd_delete.errors import AssumptionViolated, InvalidRequest, StoreError
from noisygd_delete.store import Store, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.tombstones import Tombstones

from .conftest import SCHEMA, CrashAt, deaths, found, name, person, plan, records, row, traces


def some_request(chance: random.Random, number: int) -> EditRequest:
    """Few names, so that requests meet one another; some ask what cannot be done."""
    token = f"r{chance.randrange(number + 1)}" if chance.random() < 0.5 else None
    k = chance.randrange(10)
    kind = chance.randrange(4)
    if kind == 0:
        return EditRequest.delete({name(k), name(chance.randrange(10))}, request_id=token)
    if kind == 1:
        return EditRequest.delete(subjects=[person(k)], request_id=token)
    if kind == 2:
        return EditRequest.replace({name(k): (row(50 + number), 1.0)}, request_id=token)
    return EditRequest.insert([name(k)], [row(70 + number)], [-1.0], subjects=[person(k)], request_id=token)


def state(store: Store) -> tuple[object, ...]:
    """Who is there with what, and what the ledger says; slots may differ, since a freed one is taken again later."""
    table = store.records
    people = zip(table.ids_by_slot, table.subjects_by_slot, table.features, table.labels, strict=True)
    here = sorted((who, owner, row.tobytes(), float(label)) for who, owner, row, label in people if who is not None)
    tokens = {committed: token for token, (committed, _) in Register(store.request_log).cases().items()}
    facts = [
        (e.kind, e.pending, e.waiting, tokens.get(e.commitment), (e.answer or {}).get("remaining"))
        for e in store.ledger.entries
    ]
    return here, facts, store.pending_edits


def one_by_one(store: Store, requests: list[EditRequest]) -> list[str | None]:
    outcomes: list[str | None] = []
    for request in requests:
        try:
            store.serve(request, publish=False)
            outcomes.append(None)
        except InvalidRequest as error:
            outcomes.append(str(error))
    return outcomes


@pytest.mark.parametrize("seed", range(12))
def test_together_is_one_after_the_other(path: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    requests = [some_request(chance, number) for number in range(9)]
    shutil.copytree(path, tmp_path / "other")
    with Store.open(path, disk=CrashAt()) as store, Store.open(tmp_path / "other", disk=CrashAt()) as other:
        outcomes, served, release = store.edit_all(requests)
        assert release is None
        assert [error and str(error) for error in outcomes] == one_by_one(other, requests)
        assert served == len(store.ledger.entries) - 2
        assert state(store) == state(other)
    assert verify(path).faults == ()


@pytest.mark.parametrize(
    ("requests", "left"),
    [
        ([EditRequest.delete([name(4)]), EditRequest.delete([name(5)])], [1, 0]),
        ([EditRequest.replace({name(4): (row(70), 1.0)}), EditRequest.delete([name(5)])], [1, 1]),
        ([EditRequest(deletions=[name(5)], replacements={name(4): (row(70), 1.0)})], [1]),
        ([EditRequest.replace({name(4): (row(70), 1.0), name(5): (row(71), 1.0)})], [0]),
        ([EditRequest.replace({name(4): (row(70), 1.0)})], [1]),
        ([EditRequest.delete([name(4), name(5)]), EditRequest.delete([name(6)])], [0, 1]),
        ([EditRequest(subjects=[person(4)], insertion=EditRequest.insert([name(99)], [row(99)], [1.0], subjects=[person(4)]).insertion)], [1]),
        ([EditRequest(subjects=[person(4)], insertion=EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"]).insertion)], [0]),
    ],
)  # fmt: skip
def test_rows_that_a_request_leaves_of_its_persons(path: Path, requests: list[EditRequest], left: list[int]) -> None:
    """A row with a new content, or a new row, is one of a person all the same. Persons of this table have two rows."""
    with Store.open(path) as store:
        store.edit_all(requests)
        assert [(e.answer or {})["remaining"] for e in store.ledger.entries[2:]] == left


def three(store: Store) -> None:
    store.edit_all(
        [
            EditRequest.delete([name(3)], request_id="a"),
            EditRequest.replace({name(4): (row(70), 1.0)}, request_id="b"),
            EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"], request_id="c"),
        ]
    )


def test_a_crash_leaves_all_of_them_or_none(path: Path) -> None:
    outcomes = []
    for copy, accepted in deaths(path, three, again=True):
        with Store.open(copy) as store:
            happened = [store.ledger.position(token) is not None for token in "abc"]
            assert len(set(happened)) == 1
            assert happened[0] >= accepted
            assert len(store.ledger.entries) == 2 + 3 * happened[0]
            assert (name(3) in store.records, name(99) in store.records) == (not happened[0], happened[0])
            three(store)  # sent again: done, or answered
            assert (len(store.ledger.entries), store.pending_edits) == (5, 3)
        assert found(copy, [*traces(3), *traces(4)[1:]]) == []
        outcomes.append(happened[0])
    assert outcomes == sorted(outcomes)


def batch_of_three(store: Store) -> None:
    requests = [EditRequest.delete([name(k)], request_id=f"r{k}") for k in (3, 4, 5)]
    Stream(store, Batching(size=3)).push_all([(request, "") for request in requests])


def test_a_batch_and_its_release_read_in_the_ledger_as_if_they_had_come_one_by_one(path: Path, tmp_path: Path) -> None:
    shutil.copytree(path, tmp_path / "other")
    with Store.open(path) as store, Store.open(tmp_path / "other") as other:
        batch_of_three(store)
        stream = Stream(other, Batching(size=3))
        for k in (3, 4, 5):
            stream.push(EditRequest.delete([name(k)], request_id=f"r{k}"))
        assert [e.kind for e in store.ledger.entries[2:]] == ["edit", "edit", "edit", "unlearn"]
        assert state(store) == state(other)
        assert store.serve(EditRequest.delete([name(4)], request_id="r4")).release == 2, "answered, not asked again"


def test_a_crash_in_a_batch_leaves_nothing_of_it_or_the_whole_of_it_and_its_release(path: Path) -> None:
    outcomes = []
    for copy, accepted in deaths(path, batch_of_three):
        with Store.open(copy) as store:
            length = len(store.ledger.entries)
            assert length in (2, 6)
            assert (length == 6) >= accepted
            assert store.pending_edits == 0
            assert [name(k) in store.records for k in (3, 4, 5)] == [length == 2] * 3
            batch_of_three(store)  # sent again: done, or answered
            assert (len(store.ledger.entries), store.ledger.releases) == (6, 2)
        assert found(copy, [trace for k in (3, 4, 5) for trace in traces(k)]) == []
        outcomes.append(length)
    assert outcomes == sorted(outcomes)


def test_where_no_release_can_be_made_the_batch_is_in_the_ledger_all_the_same(path: Path, monkeypatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssumptionViolated("no model today")

    with Store.open(path) as store:
        with monkeypatch.context() as patch:
            patch.setattr("noisygd_delete.curator.release.train", refused)
            with pytest.raises(StoreError, match="3 edits wait"):
                batch_of_three(store)
        assert [e.kind for e in store.ledger.entries[2:]] == ["edit"] * 3
        assert store.publish().edits == 3
    assert verify(path).faults == ()


def test_a_batch_of_a_stream_is_one_transaction(path: Path) -> None:
    """Its edits and its release are one change: few syncs a request, however large the batch."""

    class Counting(Disk):
        syncs = 0

        def fsync(self, descriptor: int) -> None:
            self.syncs += 1

    def syncs(batch: int) -> float:
        with Store.open(path, disk=(disk := Counting())) as store:
            stream = Stream(store, Batching(size=batch))
            before = disk.syncs
            names = store.records.ids[:batch]
            stream.push_all([(EditRequest.delete([who]), f"line {k}") for k, who in enumerate(names)])
            assert (stream.summary().served, len(stream.summary().publications)) == (batch, 1)
            assert not set(names) & set(store.records.ids)
        return disk.syncs - before

    assert syncs(6) == syncs(2) <= 18  # two transactions had 22


def test_rows_that_come_in_one_process_are_checked_again_and_erasures_are_not(tmp_path: Path, monkeypatch) -> None:
    read = []
    monkeypatch.setattr(sums, "longest_rows", lambda *facts, run=sums.longest_rows: read.append(1) or run(*facts))
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        store.learn()
        read.clear()
        store.serve(EditRequest.delete(["identifier-token-0003"], request_id="one"))
        assert not read
        new = store.records.features[5].copy()
        read.clear()
        store.serve(EditRequest.replace({"identifier-token-0005": (new, 1.0)}, request_id="two"))
    assert len(read) > 1, "the new row, and the table with it"


def test_an_id_that_was_erased_before_is_refused_alone(path: Path, tmp_path: Path) -> None:
    tombstones = Tombstones.create(tmp_path / "erased.txt", tmp_path / "erased.key")
    tombstones.add(["gone"], Disk())
    asked = [
        EditRequest.delete([name(1)], request_id="a"),
        EditRequest.insert(["gone"], [row(70)], [1.0], subjects=["nobody"], request_id="b"),
        EditRequest.delete([name(2)], request_id="c"),
        EditRequest.delete([name(4)], request_id="d"),
    ]
    with Store.open(path, tombstones=tombstones) as store:
        outcomes, served, _ = store.edit_all(asked)
        assert [str(one) if one else None for one in outcomes][::2] == [None, None]
        assert "were erased before" in str(outcomes[1])
        assert (served, store.pending_edits) == (3, 3)
        assert not {name(1), name(2), name(4), "gone"} & set(store.records.ids_by_slot)
        assert [store.ledger.edits_at(store.ledger.position(token)).deleted for token in "acd"] == [1, 1, 1]
