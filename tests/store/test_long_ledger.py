"""A store of many releases: the work is counted, so the answer is the same on every machine."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from dataclasses import replace

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.accountant import Account, Event, history
from noisygd_delete.accountant import serialization as written
from noisygd_delete.curator.stream import Stream
from noisygd_delete.errors import StoreCorrupt
from noisygd_delete.evidence.erasure import erasure_in, ledger_of, ledger_status
from noisygd_delete.store import Store, budget, file_footer, rollback_guard, status, verify
from noisygd_delete.store import entry as entries
from noisygd_delete.store import ledger as ledgers
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.entry import link_entry
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger

from .conftest import made, name, sql

RELEASES = 300


def old_store(path, releases, **chosen):
    """A store whose last release was made again and again, every entry with a link and sums of its own."""
    with Store.open(made(path, **chosen)) as store:
        store.serve(EditRequest.delete([name(0)], request_id="r-2"))
    layout = Layout.at(path)
    ledger = Ledger.read(layout.ledger)
    digest, last, first, account = ledger.digest, ledger.head, ledger.releases, ledger.account
    event, added = Event.from_dict(last.event), []
    with sqlite3.connect(layout.ledger) as connection:
        for number in range(first + 1, releases + 1):
            account.record(event)
            answer, sums = {**last.answer, "release": number}, written.to_dict(account)
            entry = replace(last, answer=answer, account=sums, commitment=None)
            body, digest = link_entry(digest, entry)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number + 1, body, digest))
            added.append(entry)
        ledgers.write_places(connection, ledgers.places_of(added, first + 2, first))
    connection.close()
    layout.model(first).rename(layout.model(releases))
    rollback_guard.write(Disk(), layout.ledger, releases + 1, digest)
    file_footer.note(Disk(), layout, releases + 1, digest)
    return path


@pytest.fixture(scope="module")
def hundred_once(tmp_path_factory):
    return old_store(tmp_path_factory.mktemp("old") / "store", 100)


@pytest.fixture
def hundred(hundred_once, tmp_path):
    """A store of a hundred releases."""
    return shutil.copytree(hundred_once, tmp_path / "store")


@pytest.fixture
def counted(monkeypatch):
    """What would grow with the ledger if it were read whole."""
    calls = dict.fromkeys(("entries read", "links checked", "releases recorded", "releases walked"), 0)

    def counting(owner, method, what, of=lambda *_: 1):
        inner = getattr(owner, method)

        def outer(*given, **named):
            calls[what] += of(*given)
            return inner(*given, **named)

        monkeypatch.setattr(owner, method, outer)

    counting(ledgers, "parse_entry", "entries read")
    counting(ledgers, "parse_outline", "entries read")
    counting(entries, "_entry_digest", "links checked")
    counting(Account, "_add", "releases recorded")
    for walk in ("iterate_stretches", "releases_alone", "iterate_erasures"):
        counting(history, walk, "releases walked", lambda past, *_: len(past))
    return calls


def after(path, counted, work):
    """What the work counts on this store."""
    counted.update(dict.fromkeys(counted, 0))
    work(path)
    return dict(counted)


def one_request(path):
    with Store.open(path) as store:
        stream = Stream(store, observable=())
        stream.push(EditRequest.delete([name(3)], request_id="new"))
        assert stream.summary().served == 1


def foreseen(path):
    with Store.open(path) as store:
        assert store.dry_run(EditRequest.delete([name(3)]))["steps"]


def answered_before(path):
    with Store.open(path) as store:
        assert store.serve(EditRequest.delete([name(0)], request_id="r-2")).answered_before


WORK = {
    "opening": lambda path: Store.open(path).close(),
    "status": status,
    "budget": lambda path: budget(path, last=20),
    "foreseeing": foreseen,
    "a request sent again": answered_before,
    "one request through a stream": one_request,
}


@pytest.mark.parametrize("method", ["noisy-gd", "output-perturbation"])
def test_what_is_done_often_costs_the_same_on_a_long_ledger(tmp_path, counted, method):
    """The same counts, to the last one, on ledgers of which one is four times as long."""
    short, long = (old_store(tmp_path / f"{size}", size, method=method) for size in (100, 400))
    for what, work in WORK.items():
        few, many = after(short, counted, work), after(long, counted, work)
        assert few == many, what
        assert sum(many.values()) < 800, (what, many)


def test_what_reads_the_whole_ledger_reads_it_once_or_twice(tmp_path, counted):
    """`verify`, a certificate, a report: so much for each release, and no more."""
    path = old_store(tmp_path / "store", RELEASES)
    work = {
        "verify": lambda path: verify(path).passed or pytest.fail("not sound"),
        "certificate": lambda path: erasure_in(ledger_of(path), release=RELEASES),
        "report": lambda path: ledger_status(ledger_of(path)),
        "all of the budget": budget,
    }
    for what, whole in work.items():
        many = after(path, counted, whole)
        assert many["entries read"] <= 2.5 * RELEASES, (what, many)
        assert many["links checked"] <= 2.5 * RELEASES, (what, many)
        assert many["releases recorded"] <= 1.5 * RELEASES, (what, many)


def test_whoever_reads_it_all_keeps_nobody_from_writing(tmp_path, monkeypatch):
    """Readers stand between two parts while somebody serves a request; what they read is the ledger that they began with."""
    path = old_store(tmp_path / "store", 20)
    monkeypatch.setattr(ledgers, "_AT_ONCE", 4)
    reading = Ledger.read(Layout(path).ledger)
    rows = reading._checked()
    begun = [next(rows) for _ in range(6)]
    with sqlite3.connect(Layout(path).ledger, timeout=0) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.rollback()
    connection.close()
    one_request(path)
    assert len(begun) + len(list(rows)) == reading.length < Ledger.read(Layout(path).ledger).length


def tampered(path, number, change):
    """One entry changed by somebody who mends every link after it, and the seal."""
    layout = Layout.at(path)
    with sqlite3.connect(layout.ledger) as connection:
        digest, *rows = connection.execute(
            "SELECT body, digest FROM entries WHERE number >= ?", (number - 1,)
        ).fetchall()
        digest = digest[1]
        for place, (body, _) in enumerate(rows, start=number):
            fields = json.loads(body)
            new = body if change(fields, place) is None else json.dumps(fields)
            digest = hashlib.sha256(f"{digest}{new}".encode()).hexdigest()
            connection.execute("UPDATE entries SET body = ?, digest = ? WHERE number = ?", (new, digest, place))
    connection.close()
    rollback_guard.write(Disk(), layout.ledger, number + len(rows) - 1, digest)


def cheaper_from(number, ledger):
    """Forty releases that nobody is charged for, in every sum from this entry on, each following from the one before."""
    forged = ledger.account_after(number - 2)
    event = Event.from_dict(ledger.head.event)
    forged.published[event.mechanism, event.steps, 0.0] -= 40

    def change(fields, place):
        forged.record(event)
        fields["account"] = written.to_dict(forged)
        return fields

    return change


def test_sums_that_somebody_changed_are_found_by_verify(hundred):
    """Also those changed consistently to the end, where no reading that looks at the last links could see it."""
    truth = budget(hundred, last=1)["cumulative"]["renyi"]
    assert verify(hundred).passed
    tampered(hundred, 50, cheaper_from(50, ledger_of(hundred)))
    assert budget(hundred, last=1)["cumulative"]["renyi"] < truth
    faults = verify(hundred).faults
    assert any("entry 50: the sums that it states are not those of the releases" in fault for fault in faults), faults
    with pytest.raises(StoreCorrupt, match="the sums"):
        ledger_of(hundred).events


def test_an_event_that_equals_the_one_before_and_is_no_event_is_found(hundred):
    """Releases like the one before are not read again; 41.0 equals 41, and no reader takes it."""

    def change(fields, place):
        if place != 60:
            return None
        fields["event"]["steps"] = float(fields["event"]["steps"])
        return fields

    tampered(hundred, 60, change)
    assert any("entry 60" in fault and "whole number" in fault for fault in verify(hundred).faults)


def test_a_request_that_somebody_hid_from_the_table_of_places_is_found(hundred):
    hidden = "UPDATE places SET commitment = (SELECT commitment FROM places WHERE number = 3) WHERE number = 2"
    sql(hundred / "ledger.sqlite", hidden)
    assert any("entry 2" in fault for fault in verify(hundred).faults)
    with Store.open(hundred) as store, pytest.raises(StoreCorrupt, match="another entry"):
        store.ledger.position("r-2")


def test_a_last_entry_without_one_to_check_it_from_is_refused(tmp_path):
    """A damaged page can hide every row between the first that was asked for and the last."""
    ledger = Ledger.read(old_store(tmp_path / "store", 3) / "ledger.sqlite")
    row = (ledger.length, link_entry(ledger.digest, ledger.head)[0], ledger.digest)
    with pytest.raises(StoreCorrupt):
        Ledger.from_rows(ledger.path, [row], first=ledger.length)


def test_a_ledger_without_its_table_of_places_is_refused(hundred):
    sql(hundred / "ledger.sqlite", "DROP TABLE places")
    with pytest.raises(StoreCorrupt):
        Store.open(hundred).close()
    assert not verify(hundred).passed


@pytest.mark.parametrize("change", ["planned = 0", "planned = 1 - planned"])
def test_a_table_of_places_that_names_other_plans_is_refused(hundred, change):
    ledger = hundred / "ledger.sqlite"
    sql(ledger, f"UPDATE places SET {change} WHERE number < 3")
    with pytest.raises(StoreCorrupt, match="the table of places names another entry"):
        Ledger.read(ledger)


@pytest.fixture
def judged_before(hundred, monkeypatch):
    """A store that `verify` has judged, and whose ledger has grown since."""
    monkeypatch.setattr(ledgers, "WORTH", 50)
    assert verify(hundred).passed
    with Store.open(hundred) as store:
        store.serve(EditRequest.delete([name(3)], request_id="later"))
    return hundred


def test_what_was_judged_before_is_hashed_again_and_not_judged_again(judged_before, counted, monkeypatch):
    few = after(judged_before, counted, lambda path: verify(path).passed or pytest.fail("not sound"))
    few = after(judged_before, counted, verify)
    assert few["links checked"] >= 100
    for note in ("{}", "not one", json.dumps(ledgers.VerifiedPrefix(5000, "0" * 64, "0" * 64)._asdict())):
        (judged_before / "judged.json").write_text(note)
        whole = after(judged_before, counted, verify)
        assert min(whole[what] - few[what] for what in ("entries read", "releases recorded")) > 95, note
    assert after(judged_before, counted, verify)["entries read"] <= few["entries read"]
    monkeypatch.setattr(ledgers, "__version__", "9.9.9")  # another version may know of more that is wrong
    assert after(judged_before, counted, verify) == whole


def test_what_somebody_changed_before_the_note_is_found(judged_before):
    note = (judged_before / "judged.json").read_bytes()
    with sqlite3.connect(judged_before / "ledger.sqlite") as connection:
        named = connection.execute("SELECT commitment FROM places WHERE number = 60").fetchone()
        connection.execute("UPDATE places SET commitment = 'other' WHERE number = 60")
    connection.close()
    assert any("entry 60" in fault for fault in verify(judged_before).faults)
    with sqlite3.connect(judged_before / "ledger.sqlite") as connection:
        connection.execute("UPDATE places SET commitment = ? WHERE number = 60", named)
    connection.close()
    tampered(judged_before, 50, cheaper_from(50, ledger_of(judged_before)))
    assert any("entry 50: the sums" in fault for fault in verify(judged_before).faults)
    assert (judged_before / "judged.json").read_bytes() == note  # nothing was judged


def test_what_somebody_changed_after_the_note_is_found(judged_before):
    tampered(judged_before, 102, cheaper_from(102, ledger_of(judged_before)))
    with pytest.raises(StoreCorrupt, match="the sums"):
        Store.open(judged_before)
    assert not verify(judged_before).passed


@pytest.mark.parametrize("judged", [False, True])
def test_a_link_broken_long_ago_is_found_by_verify_and_by_whoever_reads_it(hundred, monkeypatch, judged):
    monkeypatch.setattr(ledgers, "WORTH", 50)
    assert not judged or verify(hundred).passed
    sql(hundred / "ledger.sqlite", "UPDATE entries SET body = replace(body, '\"steps\"', '\"step\"') WHERE number = 40")
    assert any("entry 40 does not continue the hash chain" in fault for fault in verify(hundred).faults)
    with Store.open(hundred) as store:
        for asked in (lambda: store.ledger.entry(39), lambda: store.ledger.events, lambda: store.accountant.events):
            with pytest.raises(StoreCorrupt, match="hash chain"):
                asked()


def test_the_account_of_a_store_is_the_callers_own(tmp_path):
    """What a caller adds to an account changes no other answer of the store."""
    path = old_store(tmp_path / "store", 5)
    with Store.open(path) as store:
        before = store.accountant.dp_cumulative()
        store.accountant.record(store.accountant.events[-1], 7)
        assert store.accountant.dp_cumulative() == before
        assert store.ledger.releases == 5
