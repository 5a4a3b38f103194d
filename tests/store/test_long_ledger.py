"""A store of many releases: the work is counted, so the answer is the same on every machine."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.accountant import Event, events, history
from noisygd_delete.accountant.history import History
from noisygd_delete.report.erasure import erasure_in, ledger_of
from noisygd_delete.store import Store, budget, status, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger, _link
from noisygd_delete.stream import Stream

from .conftest import SCHEMA, name, plan, records

RELEASES = 300


def old_store(path, releases, **chosen):
    """A store whose last release was made again and again, every entry with a link of its own."""
    with Store.create(path, records(), SCHEMA, plan(**chosen)) as store:
        store.learn()
        store.serve(EditRequest.delete([name(0)]))
    layout = Layout.at(path)
    ledger = Ledger.read(layout.ledger)
    digest, last, made = ledger.digests[-1], ledger.head, ledger.releases
    with sqlite3.connect(layout.ledger) as connection:
        for number in range(made + 1, releases + 1):
            body, digest = _link(digest, replace(last, answer={**last.answer, "release": number}))
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number + 1, body, digest))
    connection.close()
    layout.model(made).rename(layout.model(releases))
    Ledger.read(layout.ledger).seal(Disk())
    return path


@pytest.fixture
def counted(monkeypatch):
    """Calls that a rebuilt account makes for every release."""
    calls = {"mechanisms read": 0, "releases recorded": 0, "releases walked": 0}

    def counting(owner, method, what, of=lambda *_: 1):
        inner = getattr(owner, method)

        def outer(*given, **named):
            calls[what] += of(*given)
            return inner(*given, **named)

        monkeypatch.setattr(owner, method, outer)

    counting(events, "mechanism_from_dict", "mechanisms read")
    counting(History, "record", "releases recorded")
    counting(history, "stretches", "releases walked", lambda past, *_: len(past))
    return calls


@pytest.mark.parametrize("method", ["sharp", "minimiser"])
def test_a_request_reads_no_release_twice(tmp_path, counted, method):
    """One request through a stream: a few walks over the releases, and no mechanism read for each."""
    path = old_store(tmp_path / "store", RELEASES, method=method)
    events._READ.clear()
    counted.update(dict.fromkeys(counted, 0))
    with Store.open(path) as store:
        stream = Stream(store, observable=())
        stream.push(EditRequest.delete([name(3)]))
        summary = stream.summary()
    assert summary.served == 1
    assert counted["mechanisms read"] < 10, counted
    assert counted["releases recorded"] < RELEASES / 2, counted
    assert counted["releases walked"] <= 12 * RELEASES, counted


def test_papers_of_a_long_ledger_read_no_release_twice(tmp_path, counted):
    path = old_store(tmp_path / "store", RELEASES)
    events._READ.clear()
    counted.update(dict.fromkeys(counted, 0))
    assert status(path)["releases"] == len(budget(path)["releases"]) == RELEASES
    assert verify(path).passed
    assert erasure_in(ledger_of(path), release=RELEASES)[0].release == RELEASES
    assert counted["mechanisms read"] < 10, counted
    assert counted["releases recorded"] < RELEASES / 2, counted


def test_the_account_of_a_store_is_the_callers_own(tmp_path):
    """What a caller adds to an account changes no other answer of the store."""
    path = old_store(tmp_path / "store", 5)
    with Store.open(path) as store:
        before = store.accountant.dp_cumulative()
        store.accountant.record(store.accountant.events[-1], 7)
        assert store.accountant.dp_cumulative() == before
        assert store.ledger.releases == 5


def test_an_account_that_grew_is_that_of_the_ledger_read_anew(tmp_path):
    path = old_store(tmp_path / "store", 5)
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)]), publish=False)
        store.serve(EditRequest.replace({name(4): (records().features[5], 1.0)}))
        grown = store.ledger
    described = [json.dumps(entry.event) for entry in grown.entries if entry.event is not None]
    events._READ.clear()
    again = [Event.from_dict(json.loads(text)) for text in described]
    assert list(grown.events) == again
    assert grown.accountant.dp_cumulative() == History(grown.plan, again).dp_cumulative()
    assert grown.accountant.forgotten() == type(grown.accountant)(grown.plan, again).forgotten()
