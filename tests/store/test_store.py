"""What a store promises while nothing goes wrong: the same answers as the curator in memory, and bytes that are gone."""

from __future__ import annotations

import os
import stat
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Accountant, Budget, EditRequest, Release
from noisygd_delete.accountant import Account, Event, serialization
from noisygd_delete.errors import (
    AssumptionViolated,
    BudgetExceeded,
    InvalidParameter,
    InvalidRequest,
    NotLearned,
    StoreError,
    StoreLocked,
)
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store, budget, status, transaction, verify, verify_absence

from .conftest import (
    ROWS,
    SCHEMA,
    SLOTS,
    Crash,
    CrashAt,
    contents,
    found,
    made,
    name,
    person,
    plan,
    records,
    row,
    traces,
)


def public(release: Release) -> dict:
    """What the ledger may keep of a release."""
    return {
        key: value
        for key, value in release.to_dict().items()
        if key not in ("gradient_passes", "seconds", "answered_before")
    }


def test_a_deletion_leaves_a_model_a_ledger_and_no_trace(path: Path) -> None:
    assert set(found(path, traces(3))) == {"ids.names", "features.f32"}
    with Store.open(path) as store:
        before = store.model.weights
        release = store.serve(EditRequest.delete([name(3)]))
        assert (release.release, release.kind, release.edits, release.status) == (2, "unlearn", 1, "published")
        assert release.guarantees["deletion"].renyi(4) <= 0.5
        assert not np.array_equal(store.model.weights, before)
        assert name(3) not in store.records
        assert len(store.records) == ROWS - 1
        np.testing.assert_array_equal(store.records.features[3], np.zeros(3))
    assert found(path, traces(3)) == []
    assert set(found(path, traces(4))) == {"ids.names", "features.f32"}
    assert [file.name for file in path.glob("model-*")] == ["model-2.safetensors"]
    assert verify(path).passed
    assert verify_absence(path, [name(3)]) == []
    assert verify_absence(path, [name(4), name(3)]) == [f"{path}/records/ids.names: token 1"]


def test_the_accountant_of_a_store_is_the_accountant_of_its_events(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(0)]))
        store.serve(EditRequest.insert(["new-record"], [row(50)], [1.0], subjects=["new-person"]))
        store.relearn()
        events = store.accountant.events
    p = plan()
    expected = [
        Event("learn", p.calibration.learn_steps, 0, p.mechanism),
        Event("unlearn", p.calibration.delete_steps, 1, p.mechanism, EditCounts(deleted=1)),
        Event("unlearn", p.calibration.delete_steps, 1, p.mechanism, EditCounts(inserted=1)),
        Event("relearn", p.calibration.learn_steps, 0, p.mechanism),
    ]
    assert list(events) == expected
    answer = budget(path, order=3, delta=1e-5)
    total = Accountant(p, expected).dp_cumulative().with_slack()
    assert answer["cumulative"]["renyi"] == total.renyi(3)
    assert answer["cumulative"]["epsilon"] == total.epsilon(1e-5)
    assert [entry["kind"] for entry in answer["releases"]] == ["learn", "unlearn", "unlearn", "relearn"]


def test_the_ledger_holds_public_facts_only(path: Path) -> None:
    """A closed list: what a new field of a release would add has to be judged, and added here, by a person."""
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(0)], request_id="t"))
        store.serve(EditRequest.delete([name(1)]), publish=False)
        entries = [asdict(entry) for entry in store.ledger.entries]
        events = [event.to_dict() for event in store.accountant.events]
    facts = {"kind", "time", "pending", "model", "plan", "schema", "event", "answer", "request_id", "format", "waiting"}
    facts |= {"commitment", "withdrawn"}  # of a token under a salt that can be forgotten; a public state
    facts |= {
        "source",
        "position",
    }  # where rows lie, if not here, and how far its own count had come: transactions, not contents
    facts.add("definition")  # a digest of the catalogue's rows for the table: identifiers and transactions, no contents
    facts.add("mark")  # random, left in a source by a deletion, and told nobody
    facts.add("counted")  # edits that a trigger or a table's own versions counted, and by which of them: numbers
    facts |= {"occasion", "unused_dates"}  # whether a calendar set the time of a release: public, and not its time
    facts.add("account")  # sums of the events so far: whoever has those has these
    told = {"release", "kind", "status", "steps", "edits", "counts", "certified", "guarantees"}
    told.add("remaining")  # rows of the same persons that are left: a number, of those who asked
    for entry in entries:
        assert set(entry) == facts
        assert entry["answer"] is None or set(entry["answer"]) == told
    assert [entry["kind"] for entry in entries] == ["init", "learn", "unlearn", "edit"]
    so_far = Account()
    for entry in entries:
        if entry["event"] is not None:
            so_far.record(Event.from_dict(entry["event"]))
        assert entry["account"] == serialization.to_dict(so_far)
    assert set(events[0]) == {"kind", "steps", "edits", "counts", "mechanism"}
    kept = {file.name for file in path.rglob("*") if file.is_file()}
    expected = {
        "plan.json",
        "schema.json",
        *("ledger.sqlite", "ledger.sqlite-journal"),
        "seal.json",
        "lock",
        "model-2.safetensors",
        *("register.sqlite", "register.sqlite-journal"),
    }
    assert kept == expected | {"features.f32", "labels.f64", "ids.names", "subjects.names", "long.names"}


def test_every_kind_of_plan_survives_the_store(tmp_path: Path) -> None:
    """A plan read back from the ledger is the plan, and a release under it is accounted alike."""
    for number, changes in enumerate(
        (
            {"method": "noisy-gd:analysis=paper"},
            {"method": "output-perturbation", "utility": True},
            {"method": "output-perturbation", "solver": "fixed", "utility": True},
            {"budget": Budget.from_gdp(dp=0.5, deletion=0.1)},
            {"budget": Budget.from_epsilon_delta(dp=(2.0, 1e-5), deletion=(0.5, 1e-5)), "releases": 3},
        )
    ):
        whole = plan(**changes)
        with Store.create(tmp_path / f"store-{number}", records(), SCHEMA, whole) as store:
            assert store.plan == whole
            learned = store.learn()
            release = store.serve(EditRequest.delete([name(3)]))
            accountant = Accountant(whole, store.accountant.events)
            assert learned.guarantees["dp"].renyi(2) == accountant.dp(1).renyi(2)
            assert release.guarantees["dp_cumulative"].to_dict() == accountant.dp_cumulative().to_dict()
        assert found(store.path, traces(3)) == []
        assert verify(store.path).passed


def test_a_repeated_request_id_gets_its_answer_and_costs_nothing(path: Path) -> None:
    with Store.open(path) as store:
        first = store.serve(EditRequest.delete([name(1)], request_id="random-1"))
    before = contents(path)
    with Store.open(path) as store:
        again = store.serve(EditRequest.delete([name(1)], request_id="random-1"))
        assert public(again) == public(first)
        assert (again.gradient_passes, again.seconds) == (0, 0)
        np.testing.assert_array_equal(again.model.weights, first.model.weights)
        with pytest.raises(InvalidRequest, match="other contents"):
            store.serve(EditRequest.delete([name(2)], request_id="random-1"))
        assert name(2) in store.records
    assert contents(path) == before
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(2)]))
        again = store.serve(EditRequest.delete([name(1)], request_id="random-1"))
        assert (again.release, again.model) == (2, None)


def test_a_repeat_without_request_id_is_an_unknown_id_and_hits_nobody(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(1)]))
        store.serve(EditRequest.insert(["somebody-else"], [row(60)], [1.0], subjects=["else"]))
    before = contents(path)
    with Store.open(path) as store:
        assert store.records.ids_by_slot[1] == "somebody-else"  # the slot is used again, the id is not
        with pytest.raises(InvalidRequest, match="not in the table"):
            store.serve(EditRequest.delete([name(1)]))
        with pytest.raises(InvalidRequest, match="in use"):
            store.serve(EditRequest.insert(["somebody-else"], [row(61)], [1.0], subjects=["x"]))
    assert contents(path) == before


@pytest.mark.parametrize(
    "request_",
    [
        EditRequest.delete(["nobody"]),
        EditRequest.delete([name(0), "nobody"]),
        EditRequest.delete([name(0)], subjects=[person(0)]),
        EditRequest.insert(["x"], [[0.0, 0.0]], [1.0], subjects=["y"]),
        EditRequest.insert(["x"], [[2.0, 0.0, 0.0]], [1.0], subjects=["y"]),
        EditRequest.insert(["x"], [[1.0, 0.0, 0.0]], [0.5], subjects=["y"]),
        EditRequest.insert(["x"], [[1.0, 0.0, 0.0]], [1.0]),
        EditRequest.insert(["x"], [[1.0, 0.0, 0.0]], [1.0], subjects=[person(0)]),  # a third row of one subject
        EditRequest.insert(list("abcd"), [row(k) for k in range(4)], [1.0] * 4, subjects=list("abcd")),
    ],
)
def test_an_invalid_request_changes_no_byte(path: Path, request_: EditRequest) -> None:
    before = contents(path)
    with Store.open(path) as store, pytest.raises(InvalidRequest):
        store.serve(request_)
    assert contents(path) == before
    with Store.open(path) as store, pytest.raises(InvalidRequest):
        store.dry_run(request_)


def test_a_dry_run_says_what_would_happen_and_changes_no_byte(path: Path) -> None:
    before = contents(path)
    with Store.open(path) as store:
        answer = store.dry_run(EditRequest.delete(subjects=[person(0)]))
        steps = store.plan.calibration.delete_steps
    expected = {"edits": 2, "request_id_answered_before": False, "publication": "published", "steps": steps}
    assert expected.items() <= answer.items()
    assert contents(path) == before


def test_erase_now_publish_later(path: Path) -> None:
    with Store.open(path) as store:
        for k in (0, 1):
            release = store.serve(EditRequest.delete([name(k)], request_id=f"r{k}"), publish=False)
            assert (release.status, release.edits, release.model) == ("pending", k + 1, None)
            assert found(path, traces(k)) == []
        assert store.model is not None
    assert status(path)["pending_edits"] == 2
    with Store.open(path) as store:
        assert store.serve(EditRequest.delete([name(0)], request_id="r0")).status == "pending"
        assert store.dry_run(EditRequest.delete([name(0)], request_id="r0"))["publication"] == "answered before"
        release = store.publish()
        assert (release.edits, release.release) == (2, 2)
        told = store.serve(EditRequest.delete([name(0)], request_id="r0"))  # now its release is there
        assert (told.release, told.status, told.request_id, told.model is None) == (2, "published", "r0", False)
        with pytest.raises(InvalidRequest, match="no edits are pending"):
            store.publish()
    assert status(path)["pending_edits"] == 0


def test_a_forced_redo_is_a_new_charged_release_while_the_budget_lasts(tmp_path: Path) -> None:
    path = made(tmp_path / "store", releases=3)
    with Store.open(path) as store:
        first = store.serve(EditRequest.delete([name(0)], request_id="r"))
        spent = store.accountant.dp_cumulative().gdp
        again = store.publish(force=True)
        assert (again.release, again.edits, again.status) == (3, 0, "published")
        assert not np.array_equal(again.model.weights, first.model.weights)
        assert store.accountant.dp_cumulative().gdp > spent
        assert store.serve(EditRequest.delete([name(0)], request_id="r")).release == 2  # still what answered it
        before = contents(path)
        with pytest.raises(BudgetExceeded):
            store.publish(force=True)
        assert contents(path) == before
        assert np.array_equal(store.model.weights, again.model.weights)  # nobody's erasure waits: it stays in force


def test_a_spent_budget_withholds_the_publication_and_never_the_erasure(tmp_path: Path) -> None:
    path = made(tmp_path / "store", releases=2)
    with Store.open(path) as store:
        assert store.serve(EditRequest.delete([name(0)])).status == "published"
        assert store.dry_run(EditRequest.delete([name(1)]))["publication"] == "withheld"
        withheld = store.serve(EditRequest.delete([name(1)], request_id="w"))
        assert (withheld.status, withheld.model, withheld.edits) == ("withheld", None, 1)
        with pytest.raises(NotLearned):
            store.model
        with pytest.raises(BudgetExceeded):
            store.relearn()
    assert found(path, traces(1)) == []
    assert list(path.glob("model-*")) == []
    assert status(path)["model"] == "withdrawn"
    assert verify(path).passed
    with Store.open(path) as store:
        assert store.serve(EditRequest.delete([name(2)])).status == "withheld"
        assert store.pending_edits == 2
        assert store.serve(EditRequest.delete([name(1)], request_id="w")).status == "withheld"
        with pytest.raises(BudgetExceeded):
            store.relearn(plan(releases=8))  # the same total is already spent
        release = store.relearn(plan(releases=8, budget=Budget(order=4, dp=8.0, deletion=0.5)))
        assert (release.kind, release.release, release.edits) == ("relearn", 3, 2)
        assert store.plan.problem.releases == 8
        assert store.serve(EditRequest.delete([name(1)], request_id="w")).release == 3
    assert verify(path).passed


def serve(path: Path, request: EditRequest) -> Release:
    with Store.open(path) as store:
        return store.serve(request)


@pytest.mark.parametrize("crash", [False, True])
def test_what_stands_in_the_way_of_a_release_does_not_stand_in_the_way_of_erasure(
    path, monkeypatch, crash: bool
) -> None:
    """For instance a newer version whose mechanism cannot resume the chain: the store must not be stuck on its journal."""

    def refuses(*_: object, **__: object) -> None:
        raise AssumptionViolated("planted")

    if crash:
        with Store.open(path, disk=CrashAt(8)) as store, pytest.raises(Crash):
            store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert (path / "journal" / "request.json").exists()
    with monkeypatch.context() as patched:
        patched.setattr(transaction, "make_release", refuses)
        with pytest.raises(StoreError, match=r"the rows are edited and 1 edits wait for a release.*planted"):
            serve(path, EditRequest.delete([name(3)], request_id="r"))
        assert found(path, traces(3)) == []
        assert verify(path).passed
        with Store.open(path) as store:
            assert store.pending_edits == 1
            assert store.serve(EditRequest.delete([name(3)], request_id="r")).status == "pending"
    with Store.open(path) as store:
        assert store.publish().release == 2


def test_every_record_may_go(path: Path) -> None:
    with Store.open(path) as store:
        release = store.serve(EditRequest.delete(store.records.ids))
        assert release.edits == ROWS
        assert len(store.records) == 0
    assert not np.fromfile(path / "records" / "features.f32", np.uint32, SLOTS * len(row(0))).any()
    assert found(path, [b"token"]) == []
    assert verify(path).passed


def test_editing_before_the_first_model_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Store.create(path, records(), SCHEMA, plan()) as store:
        assert store.serve(EditRequest.delete([name(0)])).status == "pending"
        assert store.serve(EditRequest.delete([name(1)], request_id="early")).to_dict()["status"] == "pending"
        assert found(path, traces(0)) == []
        with pytest.raises(NotLearned):
            store.publish()
        assert store.learn().edits == 2
        with pytest.raises(InvalidParameter, match="relearn"):
            store.learn()
        assert store.serve(EditRequest.delete([name(1)], request_id="early")).kind == "learn"


def test_relearning_with_more_slots_makes_room(path: Path) -> None:
    with Store.open(path) as store:
        with pytest.raises(InvalidParameter, match="may only grow"):
            store.relearn(plan(slots=SLOTS - 1))
        store.relearn(plan(slots=SLOTS + 5))
        assert store.records.slots == SLOTS + 5
        added = [f"added-{k}" for k in range(8)]
        store.serve(EditRequest.insert(added, [row(90 + k) for k in range(8)], [1.0] * 8, subjects=added))
        assert len(store.records) == SLOTS + 5
    assert verify(path).passed
    with Store.open(path) as store:
        assert store.plan.problem.records == SLOTS + 5


def test_one_writer_at_a_time_and_readers_always(path: Path) -> None:
    with Store.open(path):
        with pytest.raises(StoreLocked, match="another process"):
            Store.open(path)
        with pytest.raises(StoreLocked):
            Store.open(path, wait=0.1)
        with pytest.raises(StoreLocked):
            verify(path)
        assert status(path)["releases"] == len(budget(path)["releases"]) == 1
    Store.open(path).close()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_only_the_owner_may_look(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(0)]))
    for file in [path, *path.rglob("*")]:
        assert stat.S_IMODE(file.stat().st_mode) == (0o700 if file.is_dir() else 0o600), file
    (path / "plan.json").chmod(0o644)
    assert any("chmod" in fault for fault in verify(path).faults)


def test_creating_refuses_what_is_not_its_own(tmp_path: Path, path: Path) -> None:
    with pytest.raises(StoreError, match="a store already"):
        Store.create(path, records(), SCHEMA, plan())
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match="new or an empty folder"):
        Store.create(tmp_path / "docs", records(), SCHEMA, plan())
    with pytest.raises(StoreError, match="not a folder"):
        Store.create(tmp_path / "docs" / "thesis.tex", records(), SCHEMA, plan())
    with pytest.raises(AssumptionViolated):
        Store.create(tmp_path / "new", records(), SCHEMA, plan(slots=5))
    assert not (tmp_path / "new").exists()
    with pytest.raises(StoreError, match="no store here"):
        Store.open(tmp_path / "new")
    with pytest.raises(StoreError, match="init was interrupted"):
        Store.open(tmp_path / "docs")
    assert [file.name for file in (tmp_path / "docs").iterdir()] == ["thesis.tex"]
