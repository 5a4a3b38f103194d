"""What a store keeps beside its ledger: the register of requests, names held out, erased ids, destinations, and the seal that dates them."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from noisygd_delete.errors import InvalidParameter, InvalidRequest, MissingDependency, StoreCorrupt
from noisygd_delete.records import EditRequest, Records
from noisygd_delete.records.similar import fold_name
from noisygd_delete.store import Tombstones, destinations, held_out, request_log, rollback_guard
from noisygd_delete.store.destinations import Destination, DestinationFile, DestinationList
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.request_log import RequestLog, Restriction, committed_links, record_ids

from .conftest import sql

TOKENS = [f"token-{k}" for k in range(7)]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A folder with a seal alone, as of a ledger of three entries."""
    rollback_guard.write(Disk(), Layout(tmp_path).ledger, 3, "ab" * 32)
    return Layout(tmp_path)


@pytest.mark.parametrize("seed", range(2))
def test_a_register_is_the_dict_of_its_notes(seed: int, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids recorded, stated and forgotten in any order; what is forgotten is in no file, and what is not keeps its commitment."""
    monkeypatch.setattr(request_log, "_AT_ONCE", 2)
    chance, log = random.Random(seed), RequestLog(layout)
    notes, links, policy = dict[str, dict](), dict[str, str](), dict[str, object]()
    assert (log.notes(), log.policy, log.note("token-0"), log.kept_aside()) == ({}, {}, None, [])
    assert not log.states_anything()
    assert record_ids(Disk(), layout, [None, None]) == {}
    assert not layout.register.exists()
    for step in range(12):
        some = chance.sample(TOKENS, chance.randrange(1, 5))
        kind = chance.choice(["record", "update", "update", "forget", "policy"])
        if kind == "record":
            made = record_ids(Disk(), layout, [*some, None, *some])
            assert set(made) == set(some)
            assert all(made[token] == links.get(token, made[token]) for token in some)
            links |= made
            notes |= {token: notes.get(token, {}) for token in some}
        elif kind == "update":
            day = chance.choice(
                [{"restricted": "2026-03-01"}, {"restricted": "2026-03-01", "lifted": "2026-04-02"}, {"other": step}]
            )
            log.update({token: lambda held, day=day: {**held, **day} for token in some})
            notes |= {token: {**notes.get(token, {}), **day} for token in some}
            links |= committed_links(layout, some)
        elif kind == "forget":
            log.forget(some)
            for token in some:
                notes.pop(token, None)
                links.pop(token, None)
            held = layout.register.read_bytes() if layout.register.exists() else b""
            assert not [token for token in set(some) - set(notes) if token.encode() in held]
        else:
            policy = {"controller": f"C{step}"}
            log.set_policy(policy)
        assert log.notes() == {token: (links[token], notes[token]) for token in sorted(notes)}
        assert committed_links(layout, [*TOKENS, "unknown"]) == links
        assert [log.note(token) for token in TOKENS] == [notes.get(token) for token in TOKENS]
        assert log.policy == policy
        assert log.states_anything() == bool(policy or any(notes.values()))
        out = [token for token, note in sorted(notes.items()) if "restricted" in note and "lifted" not in note]
        assert log.kept_aside() == out
        assert {path.name for path in layout.list_all()} <= {"seal.json", "register.sqlite", "register.sqlite-journal"}
        assert rollback_guard.register_fault(layout) is None
        entries = [SimpleNamespace(commitment=link) for link in (*links.values(), "lost", None)]
        assert log.lost_ids_in_words(entries).startswith("; of 1 requests")
        assert log.lost_ids_in_words(entries[:-2]) == ""
    before = layout.register.read_bytes()
    log.forget([])
    assert layout.register.read_bytes() == before, "nothing to forget is nothing to write"
    log.check()


def test_what_a_note_says_of_restrictions_is_days_or_nothing(layout: Layout) -> None:
    log = RequestLog(layout)
    log.update({"a": lambda note: {"restricted": "2026-03-01"}, "b": lambda note: {"restricted": "some day"}})
    assert log.restriction("unknown") == Restriction()
    assert log.restriction("a").restricted is not None
    assert log.restriction("a").lifted is None
    for asked in (lambda: log.restriction("b"), log.check, log.kept_aside):
        with pytest.raises(StoreCorrupt):
            asked()
    with pytest.raises(InvalidRequest):
        log.update({"": lambda note: {}})


@pytest.mark.parametrize("change", ["body = '[]'", "body = '{'", "body = '7'", "salt = 7"])
def test_a_note_that_is_none_is_corrupt(layout: Layout, change: str) -> None:
    record_ids(Disk(), layout, ["a"])
    sql(layout.register, f"UPDATE requests SET {change}")
    with pytest.raises(StoreCorrupt):
        RequestLog(layout).notes()


def test_a_change_that_fails_keeps_the_register_as_it_was(layout: Layout) -> None:
    log = RequestLog(layout)
    log.update({"a": lambda note: {"stated": 1}})
    before = log.notes()

    def refuses(note: object) -> dict:
        raise InvalidParameter("no")

    odd = [lambda note, odd=odd: {"days": [0.5, odd]} for odd in (math.nan, math.inf)]  # numbers that JSON lacks
    for change in (refuses, *odd):
        with pytest.raises((InvalidParameter, ValueError)):
            log.update({"b": lambda note: {"stated": 2}, "a": change})
        assert log.notes() == before


# --- the seal ---


def test_a_register_is_stale_if_it_lacks_the_change_that_the_seal_noted(layout: Layout, tmp_path: Path) -> None:
    log, ledger, disk = RequestLog(layout), layout.ledger, Disk()

    def entered(length: int) -> None:
        rollback_guard.write(disk, ledger, length, f"{length:064x}")
        assert rollback_guard.read_seal(ledger) == (length, f"{length:064x}")

    assert not rollback_guard.is_register_restored(layout), "there was none, and there is none"
    record_ids(disk, layout, ["a"])
    entered(4)
    shutil.copy(layout.register, tmp_path / "older")
    noted = rollback_guard.register_noted(ledger)
    assert noted
    record_ids(disk, layout, ["b"])
    assert rollback_guard.register_noted(ledger) == noted, "an id alone is noted with its entry"
    entered(5)
    assert rollback_guard.register_noted(ledger) != noted
    shutil.copy(layout.register, tmp_path / "newest")
    for state in ("older", "none"):
        layout.register.unlink()
        if state == "older":
            shutil.copy(tmp_path / "older", layout.register)
        assert rollback_guard.is_register_restored(layout)
        assert "register.sqlite" in (rollback_guard.register_fault(layout) or "")
        kept = rollback_guard.register_noted(ledger)
        entered(6)
        record_ids(disk, layout, ["c"])
        entered(7)
        assert rollback_guard.register_noted(ledger) == kept, "later changes of a stale register do not hide it"
        assert rollback_guard.is_register_restored(layout)
    (tmp_path / "register.sqlite.tmp").write_bytes(b"of a crash")
    log.set_policy({"controller": "C"})
    assert not rollback_guard.is_register_restored(layout), "somebody said that it is the register"
    assert log.notes().keys() == {"c"}
    shutil.copy(tmp_path / "newest", layout.register)
    assert rollback_guard.is_register_restored(layout)
    sql(layout.register, "DROP TABLE changes")
    assert rollback_guard.is_register_restored(layout), "it has no change at all"


GOOD_SEAL = {"entries": 3, "sha256": "a", "publishers": {"store": "s", "mark": "m"}, "register": "r"}


@pytest.mark.parametrize(
    "damage",
    [{"entries": "3"}, {"entries": True}, {"sha256": 7}, {"register": 7}, {"publishers": {"store": "s"}}, {"publishers": []},
     {"publishers": {"store": "s", "mark": 7}}, {"more": 1}, {"publishers": {"store": "s", "mark": "m", "more": ""}}],
    ids=str,
)  # fmt: skip
def test_a_seal_is_one_or_corrupt(layout: Layout, damage: dict) -> None:
    layout.seal.write_text(json.dumps(GOOD_SEAL))
    assert rollback_guard.read_seal(layout.ledger) == (3, "a")
    assert rollback_guard.list_noted(layout.ledger) == ("s", "m")
    for text in (json.dumps({**GOOD_SEAL, **damage}), "{", json.dumps({"entries": 3})):
        layout.seal.write_text(text)
        with pytest.raises(StoreCorrupt, match="not a seal"):
            rollback_guard.read_seal(layout.ledger)
    layout.seal.unlink()
    assert (rollback_guard.read_seal(layout.ledger), rollback_guard.list_noted(layout.ledger)) == (None, ("", ""))
    rollback_guard.note_change(Disk(), layout.ledger, register="x")
    assert not layout.seal.exists(), "without a ledger there is nothing to note"
    layout.seal.symlink_to("nowhere")
    with pytest.raises(StoreCorrupt):
        rollback_guard.read_seal(layout.ledger)


# --- destinations ---


@pytest.mark.parametrize("held", [None, "release-3-abc"])
@pytest.mark.parametrize("wanted", [None, "release-3-abc", "release-4-abc"])
@pytest.mark.parametrize("problem", [None, "no answer"])
def test_a_destination_is_behind_unless_it_holds_what_is_wanted_and_nothing_failed(held, wanted, problem) -> None:
    place = Destination("s3://bucket/x", paths=("/a",), held=held, oldest=2, since="2026", problem=problem)
    assert place.behind(wanted) == (held != wanted or problem is not None)
    assert (place.kind, place.release) == ("s3", None if held is None else 3)
    for pending in (False, True):
        shown = {
            "address": "s3://bucket/x",
            "since": "2026",
            "problem": problem,
            "release": place.release,
            "pending": pending,
        }
        assert place.to_dict(pending=pending) == shown


def listed(*addresses: str, **facts: object) -> DestinationList:
    return DestinationList("own", tuple(Destination(address, **facts) for address in addresses))


def test_a_list_of_destinations_is_dated_by_the_seal(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As written, one change behind the seal, or neither: then what it names may hold anything, and there may be others."""
    file = DestinationFile(Disk(), layout)
    assert (file.read(), destinations.list_destinations(layout), destinations.fault(layout)) == (None, (), None)
    destinations.require_hook(layout)
    unsealed = layout.seal.read_bytes()
    destinations.mark_list_untrusted(Disk(), layout)
    assert len(bytes.fromhex(rollback_guard.list_noted(layout.ledger)[0])) == 16, (
        "a store that had no list has one from now on"
    )
    layout.seal.write_bytes(unsealed)
    first = file.write(listed("folder:/a", held="release-1-x", oldest=1))
    assert file.read() == first
    assert rollback_guard.list_noted(layout.ledger) == ("own", first.mark)
    shutil.copy(layout.publishers, tmp_path / "first")
    seal = layout.seal.read_bytes()
    second = file.write(replace(first, publishers=(*first.publishers, Destination("folder:/b"))))
    assert second.noted == first.mark != second.mark
    newest = layout.seal.read_bytes()
    layout.seal.write_bytes(seal)  # a crash between the list and the seal
    assert file.read() == second
    layout.seal.write_bytes(newest)
    for stale, named in ((tmp_path / "first", ["folder:/a"]), (None, [])):
        layout.publishers.unlink()
        if stale is not None:
            shutil.copy(stale, layout.publishers)
        found = file.read()
        assert found is not None
        assert (found.store, [each.address for each in found.publishers]) == ("own", [*named, destinations.UNKNOWN])
        assert {(each.held, each.oldest) for each in found.publishers} == {(None, 1)}
        assert all(each.behind(None) for each in found.publishers)
        assert "publishers.json" in (destinations.fault(layout) or "")
    file.write(replace(found, publishers=(Destination("folder:/c"),)))
    assert destinations.fault(layout) is None
    assert [each.address for each in destinations.list_destinations(layout)] == ["folder:/c"]
    destinations.mark_list_untrusted(Disk(), layout)
    assert [each.address for each in destinations.list_destinations(layout)] == ["folder:/c", destinations.UNKNOWN]
    assert rollback_guard.list_noted(layout.ledger)[0] == "own"
    assert rollback_guard.register_noted(layout.ledger)
    monkeypatch.setattr(destinations, "find_hook", lambda: None)
    with pytest.raises(MissingDependency, match="folder:/c"):
        destinations.require_hook(layout)


@pytest.mark.parametrize("length", [0, 1, destinations.LONGEST_ADDRESS, destinations.LONGEST_ADDRESS + 1])
def test_an_address_has_a_length(layout: Layout, length: int) -> None:
    fields = asdict(listed("x" * length))
    layout.publishers.write_text(json.dumps(fields))
    if 0 < length <= destinations.LONGEST_ADDRESS:
        assert [each.address for each in destinations.list_destinations(layout)] == ["x" * length]
        return
    with pytest.raises(StoreCorrupt, match="publish-to"):
        destinations.list_destinations(layout)


@pytest.mark.parametrize("in_force", [True, False])
@pytest.mark.parametrize("hook", [True, False])
def test_a_hook_is_called_while_some_destination_is_behind(
    in_force: bool, hook: bool, layout: Layout, monkeypatch
) -> None:
    calls: list[object] = []
    monkeypatch.setattr(
        destinations, "find_hook", lambda: (lambda artifact, file: calls.append(artifact)) if hook else None
    )
    head = SimpleNamespace(in_force=in_force, model="ab" * 32)
    ledger = SimpleNamespace(model_release=3, head=head)
    aim = f"release-3-{'ab' * 6}" if in_force else None
    assert destinations.wanted_release(ledger) == aim
    file = DestinationFile(Disk(), layout)
    for held, problem, behind in ((aim, None, False), ("release-2-x", None, True), (aim, "no answer", True)):
        calls.clear()
        up_to_date = Destination("folder:/b", held=aim)
        file.write(DestinationList("own", (Destination("folder:/a", held=held, problem=problem), up_to_date)))
        destinations.run_hook(file, ledger, lambda: "artifact")
        assert calls == [None if aim is None else "artifact"] * (behind and hook)
        shown, other = destinations.destination_status(layout, ledger)
        assert (other["pending"], other["problem"]) == (False, None)
        assert shown["pending"] == behind
        assert (shown["problem"] != problem) == (behind and not hook), (
            "what is missing is said where something is to be done"
        )


# --- names held out, and erased ids ---


@pytest.mark.parametrize("seed", range(3))
def test_names_held_out_are_a_set_that_rows_leave(seed: int, layout: Layout) -> None:
    chance = random.Random(seed)
    kinds = {False: {f"Ann {k}" for k in range(5)}, True: {f"Per Son {k}" for k in range(4)}}
    asked = [*kinds[False], *kinds[True], "ann 1", "PER SON 2", "nobody"]
    assert held_out.find_held_out(layout, "Ann 1", person=False) == (False, False)
    held_out.forget_held_out(Disk(), layout, ["Ann 1"], [])
    held_out.write_held_out(Disk(), layout, [], [])
    assert not layout.held_out.exists()
    held_out.write_held_out(Disk(), layout, kinds[False], kinds[True])
    digests = json.loads(layout.held_out.read_text())
    assert {len(digest) for kind in digests if kind != "salt" for digest in digests[kind]} == {32}
    for _ in range(4):
        for person, names in kinds.items():
            folded = set(map(fold_name, names))
            for name in asked:
                expected = name in names, name not in names and fold_name(name) in folded
                assert held_out.find_held_out(layout, name, person=person) == expected
        assert b"Ann" not in layout.held_out.read_bytes()
        gone = {person: {chance.choice([None, "nobody", *sorted(names)])} for person, names in kinds.items()}
        before = layout.held_out.read_bytes()
        held_out.forget_held_out(Disk(), layout, gone[False], gone[True])
        assert (layout.held_out.read_bytes() != before) == any(names & gone[person] for person, names in kinds.items())
        kinds = {person: names - gone[person] for person, names in kinds.items()}
    good = json.loads(layout.held_out.read_text())
    for bad in (
        {**good, "salt": "no hexadecimal"},
        {key: good[key] for key in good if key != "folded_ids"},
        [],
        {**good, "ids": 7},
    ):
        layout.held_out.write_text(json.dumps(bad))
        with pytest.raises(StoreCorrupt):
            held_out.find_held_out(layout, "Ann 1", person=False)


def test_only_ids_that_leave_are_noted_as_erased(tmp_path: Path) -> None:
    listed_ = Tombstones.create(tmp_path / "list", tmp_path / "key")
    table = Records([[0.1]] * 4, [1.0] * 4, ["a", "b", "c", "d"], slots=6)
    new = EditRequest.insert(["e"], [[0.2]], [1.0]).insertion
    changed = EditRequest.replace({"c": ([0.3], 1.0)}).replacements
    request = EditRequest(("a", "b"), replacements=changed, insertion=new)
    listed_.check_and_record(request, table.resolve(request), table, Disk())
    assert list(listed_.among(["a", "b", "c", "d", "e"])) == ["a", "b"]
    lines = listed_.path.read_text().splitlines()
    listed_.add(["b", "b", "z"], Disk())
    assert listed_.path.read_text().splitlines()[:-1] == lines
    held = listed_.path.stat()
    listed_.add(["z"], Disk())
    assert listed_.path.stat().st_ino == held.st_ino, "nothing new is nothing to write"
    many = [f"gone-{k}" for k in range(11)]
    listed_.add(many, Disk())
    for count, end in ((10, "10"), (11, "10, …")):
        with pytest.raises(
            InvalidRequest, match=rf"^{count} of the {count} records .*: {', '.join(map(str, range(1, 10)))}, {end}\); "
        ):
            listed_.refuse(many[:count])
    again = EditRequest.insert(["f", "a"], [[0.1]] * 2, [1.0] * 2)
    with pytest.raises(InvalidRequest, match=r"1 of the 2 records .*: 2\); "):
        listed_.check_and_record(again, table.resolve(EditRequest.delete(["d"])), table, Disk())
    assert list(listed_.among(["d"])) == [], "a refused request erases nothing"
