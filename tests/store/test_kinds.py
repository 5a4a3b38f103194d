"""What was done is said: an insertion is no erasure, a replacement is one, and a ledger that cannot tell says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noisygd_delete import Curator, EditRequest
from noisygd_delete.accountant import Accountant, Event, build_report
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store, budget, status, verify

from .conftest import name, person, plan, records, row


def inserted(k: int) -> EditRequest:
    return EditRequest.insert([f"new-{k}"], [row(k)], [1.0], subjects=[f"owner-{k}"])


def replaced(k: int) -> EditRequest:
    return EditRequest.replace({name(k): (row(k + 20), 1.0)})


def csv(folder: Path, **columns: str) -> str:
    file = folder / "rows.csv"
    file.write_text(f"{','.join(columns)}\n{','.join(columns.values())}\n")
    return str(file)


def test_a_curator_and_a_store_tell_the_kinds_apart(path: Path) -> None:
    curator = Curator(records(), plan())
    curator.learn()
    with Store.open(path) as store:
        for keeper in (curator, store):
            new = keeper.serve(inserted(50))
            assert (new.counts, new.label, "deletion" in new.guarantees) == (EditCounts(inserted=1), "resume", False)
            corrected = keeper.serve(replaced(3))
            assert (corrected.counts, corrected.label) == (EditCounts(replaced=1), "unlearn")
            assert corrected.guarantees["deletion"].renyi(4) <= 0.5
            keeper.serve(inserted(51), publish=False)
            mixed = keeper.serve(EditRequest.delete(subjects=[person(0)]))
            assert (mixed.edits, mixed.counts) == (3, EditCounts(deleted=2, inserted=1))
            assert keeper.publish(**{"force": True} if keeper is store else {}).label == "resume"
        assert [event.counts for event in store.accountant.events] == [
            event.counts for event in curator.accountant.events
        ]


def test_an_insertion_is_not_an_erasure_in_any_account(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(inserted(50), publish=False)
        assert status(path)["pending"]["inserted"] == 1
        store.publish()
        assert build_report(store.accountant).to_dict()["deletion"] is None
    answer = budget(path)
    assert "deletion" not in answer["releases"][1]
    assert answer["releases"][1]["counts"]["inserted"] == 1
    assert answer["statement"]["deletion"] is None
    with Store.open(path) as store:
        store.serve(replaced(2))
    answer = budget(path)
    assert "deletion" in answer["releases"][2]
    assert answer["statement"]["deletion"]["erased_at"] == 3


def test_the_commands_say_what_they_did(path: Path, tmp_path: Path, as_json, printed, complaint) -> None:
    new = csv(tmp_path, id="fresh", person="p", a="0.1", b="0.2", c="0.3", y="yes")
    assert "erased" not in printed("insert", str(path), "--data", new, "--dry-run")
    shown = printed("insert", str(path), "--data", new)
    assert "release 2 (resume): 1 record inserted" in shown
    assert "deletion" not in shown
    assert "unlearn" not in (shown := printed("budget", str(path)))
    assert "erased at" not in shown
    corrected = csv(
        tmp_path, id=name(3), a="0.9", b="0", c="0.1", y="no"
    )  # no column for the person: she stays the same
    answer = as_json("replace", str(path), "--data", corrected)
    assert (answer["counts"]["replaced"], "deletion" in answer["guarantees"]) == (1, True)
    assert "1 record replaced" in printed("replace", str(path), "--data", corrected)
    with Store.open(path) as store:
        slot = store.records.ids_by_slot.index(name(3))
        assert store.records.labels[slot] == -1.0
        assert store.records.subjects_by_slot[slot] == person(3)
    unknown = csv(tmp_path, id="nobody", a="0.9", b="0", c="0.1", y="no")
    assert "not in the table" in complaint("replace", str(path), "--data", unknown)
    assert verify(path).passed


def test_counts_that_do_not_add_up_are_refused() -> None:
    facts = plan().mechanism
    event = Event("unlearn", 3, 3, facts, EditCounts(deleted=2, inserted=1))
    assert Event.from_dict(json.loads(json.dumps(event.to_dict()))) == event
    for counts in (
        {"deleted": 9},
        {**event.counts.to_dict(), "deleted": 9},
        {**event.counts.to_dict(), "deleted": -1},
        3,
    ):
        with pytest.raises(InvalidParameter):
            Event.from_dict({**event.to_dict(), "counts": counts})
    assert Event("unlearn", 3, 3, facts, EditCounts(deleted=2)).counts == EditCounts(deleted=2, unrecorded=1)
    assert Accountant(plan()).planned_event(edits=2).counts.erased == 2
