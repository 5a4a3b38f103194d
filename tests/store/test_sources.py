"""What a store does with rows that lie elsewhere: positions in a source, deletions that are reported, dates of releases."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from itertools import islice
from types import SimpleNamespace
from uuid import UUID

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.curator.stream import Batching
from noisygd_delete.errors import InvalidParameter, InvalidRequest
from noisygd_delete.evidence import erasure
from noisygd_delete.privacy.release_dates import YEAR
from noisygd_delete.store import Store, release_schedule
from noisygd_delete.store.artifact import current_artifact
from noisygd_delete.store.byte_search import Needles
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.position import extend_position, position_covers
from noisygd_delete.store.source_kinds import Erased
from noisygd_delete.store.tombstones import Tombstones
from noisygd_delete.store.training_table import TrainingTable

from .conftest import SCHEMA, name, plan, records


def test_a_position_is_extended_by_one_transaction_and_by_no_other() -> None:
    chance = random.Random(3)
    for _ in range(200):
        first = chance.randrange(1, 30)
        end = first + chance.randrange(10)
        unseen = sorted(chance.sample(range(first, end), chance.randrange(end - first + 1)))
        position = f"snapshot:{first}:{end}:{','.join(map(str, unseen))}"
        added = end + chance.randrange(6)
        extended = extend_position(position, added)
        for transaction in range(1, 60):
            seen = position_covers(position, f"transaction:{transaction}")
            assert seen == (transaction < end and transaction not in unseen)
            assert position_covers(extended, f"transaction:{transaction}") == (seen or transaction == added)
        assert position_covers(extended, position)
        assert not position_covers(position, extended)
        assert extend_position(position, end - 1) is None
    assert extend_position("snapshot:5:9:", 9 + 1000) is not None
    assert extend_position("snapshot:5:9:", 9 + 1001) is None


def test_what_an_application_reports_is_noted_once(path, monkeypatch) -> None:
    """The table of this store deletes itself and refuses; one whose rows lie elsewhere is stood in for."""
    noted: list[tuple] = []
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)], request_id="known"), publish=False)
        with pytest.raises(InvalidParameter, match="which deletes them itself"):
            store.note_erased([Erased("other", 1)])
        monkeypatch.setattr(TrainingTable, "note_erased", lambda _, *facts: noted.append(facts))
        monkeypatch.setattr(TrainingTable, "has_counted", lambda _, position: position == "version:1")
        told = [Erased("known", 1), Erased("new", 2, "version:2", ("a", "b")), Erased("counted", 5, "version:1")]
        assert store.note_erased(told) == 1
        assert [(counts.deleted, *more) for counts, *more in noted] == [(2, "version:2", "new", ("a", "b"))]
        with pytest.raises(InvalidRequest):
            store.note_erased([Erased("known", 2)])
        with pytest.raises(InvalidRequest):
            store.publish(erased=2, request_id="known")
        assert len(noted) == 1
        assert store.publish(erased=1, request_id="known").request_id == "known"
        assert len(noted) == 1
        with pytest.raises(InvalidParameter, match="give erased as well"):
            store.publish(position="version:3")
        made = store.publish(erased=4, request_id="later", position="version:3")
        assert (made.request_id, made.requested.deleted, made.status, made.release) == ("later", 4, "published", 2)
        assert [(counts.deleted, *more) for counts, *more in noted[1:]] == [(4, "version:3", "later")]


def test_before_the_first_learn_what_was_deleted_waits(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(TrainingTable, "note_erased", lambda _, *facts: None)
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        answer = store.publish(erased=3, request_id="early")
        assert answer.requested.deleted == 3
        assert not store.ledger.releases


def test_requests_one_by_one_do_what_they_do_together(path, tmp_path, monkeypatch) -> None:
    shutil.copytree(path, tmp_path / "other")
    asked = [EditRequest.delete([name(k)], request_id=f"r{k}") for k in (1, 2)]
    asked += [
        EditRequest.delete(["nobody"], request_id="r3"),
        EditRequest.delete([name(4)], request_id="r1"),
        EditRequest.delete([name(5)]),
    ]
    answers = []
    for at, shared in ((path, True), (tmp_path / "other", False)):
        with Store.open(at) as store:
            monkeypatch.setattr(type(store.table), "shares_transactions", shared)
            result = store.edit_all(asked)
            kept = sorted(one for one in store.records.ids_by_slot if one is not None)
            answers.append(
                (
                    [str(one) for one in result.outcomes],
                    result.release,
                    kept,
                    store.pending_edits,
                    store.ledger.releases,
                )
            )
            assert result.served == 3
    assert answers[0] == answers[1]
    assert [one == "None" for one in answers[0][0]] == [True, True, False, False, True]


@pytest.mark.parametrize(("number", "years"), [(1, 1), (25, 1), (26, 2), (300, 2)])
def test_dates_are_spread_over_a_year_or_over_two(number: int, years: int, monkeypatch) -> None:
    monkeypatch.setattr(release_schedule, "publications", lambda _: number)
    monkeypatch.setattr(release_schedule, "_time_of_release", lambda _, release: 100.0 + release)
    dates = release_schedule.default_schedule(SimpleNamespace(releases=1))
    assert (dates.start, dates.interval) == (101.0, years * YEAR / number)
    assert release_schedule.default_schedule(SimpleNamespace(releases=1), period=30.0).interval == 30.0 / number
    assert release_schedule.default_schedule(SimpleNamespace(releases=0)) == Batching()
    for unlimited in (None, 0):
        monkeypatch.setattr(release_schedule, "publications", lambda _, none=unlimited: none)
        assert release_schedule.default_schedule(SimpleNamespace(releases=1)) == Batching()


def test_texts_are_found_in_values_of_any_kind_and_across_any_cut() -> None:
    who = UUID(int=2**100 + 7)
    needles = Needles(["Ünal", "b2", str(who)], [(b"\x00raw", b"other")])
    assert len(needles) == 4
    filler = (str(k) + "-" for k in range(40_000))
    assert needles.find_in([*islice(filler, 40_000), "Ünal", 17]) == {0}
    assert needles.find_in([b"xb2x", "Ünal".encode(), 3]) == {0, 1}
    assert needles.find_in([]) == set()
    for text, found in (("Ünal", 0), ("b2", 1)):
        for form in (
            text.encode(),
            text.encode("utf-16-le"),
            text.encode("utf-16-be"),
            text.encode("ascii", "backslashreplace").replace(b"\\x", b"\\u00"),
        ):
            data = b"--" + form + b"--"
            assert all(needles.among([data[:cut], data[cut:]]) == {found} for cut in range(len(data)))
            assert needles.among([bytes([byte]) for byte in data]) == {found}
    assert needles.among([b"1" + who.bytes]) == {2}
    assert needles.among([b"..\x00ra", b"w"]) == needles.among([b"another"]) == {3}
    for tokens in ([], ["x"] * 10_001):
        with pytest.raises(InvalidParameter, match="between 1 and 10000"):
            Needles(tokens)
    assert len(Needles(["x"] * 10_000)) == 10_000


def test_what_a_release_publishes_says_nothing_of_who_the_rows_are(path) -> None:
    """The schema without the columns of ids and persons; a release that no other program can read is refused as such."""
    artefact = current_artifact(path)
    whole = SCHEMA.to_dict()
    assert {"id", "subject"} <= set(whole)
    told = json.loads(artefact.files["schema.json"])
    assert told == {
        key: json.loads(json.dumps(value))
        for key, value in whole.items()
        if key not in ("id", "subject", "rows_per_subject")
    }
    artefact.require_plain()
    facts = json.loads(artefact.files["facts.json"])
    assert (facts["release"], facts["model"]) == (1, artefact.digest)
    for name_, digest in facts["files"].items():
        assert hashlib.sha256(artefact.files[name_]).hexdigest() == digest
    assert set(facts["files"]) | set(facts["missing"]) == {
        "model.safetensors",
        "schema.json",
        "model.json",
        "model.py",
        "model.onnx",
    }


def test_without_a_list_nobody_knows_which_ids_came_back(path, tmp_path) -> None:
    tombstones = Tombstones.create(tmp_path / "erased.txt", tmp_path / "erased.key")
    with Store.open(path) as store, pytest.raises(InvalidParameter, match="give --tombstones"):
        store.list_reappeared_ids()
    tombstones.add([name(2), "gone"], Disk())
    with Store.open(path, tombstones=tombstones) as store:
        assert store.list_reappeared_ids() == [name(2)]


@pytest.mark.parametrize(
    ("answer", "known"),
    [(None, None), ({}, None), ({"remaining": 0}, 0), ({"remaining": 3}, 3), ({"remaining": "3"}, None)],
)
def test_what_a_request_left_of_a_person_is_known_if_its_entry_says_so(answer, known) -> None:
    ledger = SimpleNamespace(entry=lambda position: SimpleNamespace(answer=answer))
    assert erasure._remaining_rows(ledger, 4) == known
