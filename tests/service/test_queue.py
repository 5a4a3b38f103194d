"""A queue that goes on: what fails again and again is set aside alone, listed, retried or dropped; nobody fills it for all."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.request_rows import register_lines
from noisygd_delete_server import TokenFile, inbox, new_token, writer

from noisygd_delete import EditRequest
from noisygd_delete.cli import main
from noisygd_delete.errors import SourceError, StoreError
from noisygd_delete.store import Store, status, verify
from noisygd_delete.store.layout import Layout
from tests.store.conftest import changes, crashed

from .conftest import Desk, Opened, make_store, name, raw


class Time:
    def __init__(self) -> None:
        self.now = time.monotonic()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The writer's own clock, which tests move on."""
    found = Time()
    monkeypatch.setattr(writer.time, "monotonic", found)
    return found


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names whose rows a trigger keeps: a transaction with one of them fails, and takes what is beside it in it along."""
    bad: set[str] = set()
    edit_all = Store.edit_all

    def refused(self: Store, requests: Any, **options: Any) -> Any:
        if bad & {str(one) for request in requests for one in (*request.deletions, *request.subjects)}:
            raise StoreError("a trigger keeps the row")
        return edit_all(self, requests, **options)

    monkeypatch.setattr(Store, "edit_all", refused)
    return bad


def turns(desk: Desk, clock: Time, times: int, pause: float = 61.0) -> None:
    for _ in range(times):
        desk.turn()
        clock.now += pause


@pytest.mark.parametrize("places", [{0}, {7}, {1, 2, 6}, set(range(8))], ids=["first", "last", "several", "an outage"])
def test_what_fails_is_set_aside_alone_and_the_rest_goes_on(
    store: Path, opened: Opened, clock: Time, failing: set[str], places: set[int]
) -> None:
    """Nothing is set aside while everything fails."""
    desk, outage = opened(store, batch=1), len(places) == 8
    failing |= {name(k) for k in places}
    for k in range(8):
        desk.ask(request_id=f"t{k}", delete=[name(k)])
    desk.turn()  # the others are done at once, and published
    assert [desk.state(f"t{k}") for k in range(8)] == ["accepted" if k in places else "published" for k in range(8)]
    for k in range(12 if outage else 6):
        if not outage:
            desk.ask(request_id=f"more{k}", delete=[name(10 + k)])
        turns(desk, clock, 1)
    bad = [desk.look(f"t{k}").json() for k in sorted(places)]
    assert {one["state"] for one in bad} == {"accepted" if outage else "quarantined"}
    assert {one["reason"] for one in bad} == {None if outage else "a trigger keeps the row"}
    assert desk.service.health == "ok"
    listed = desk.get("/requests").json()["requests"]
    assert [one["request_id"] for one in listed] == [f"t{k}" for k in sorted(places)]
    assert outage or {one["tries"] for one in listed} == {writer._TRIES}
    assert "identifier-token" not in json.dumps(listed)
    due = {line.token for line in register_lines(store) if line.served is None}
    assert due == {f"t{k}" for k in places}  # the register shows that it falls due
    clock.now += writer._OUTAGE  # no outage lasts that long
    desk.turn()
    assert {desk.state(f"t{k}") for k in places} == {"quarantined"}
    failing.clear()
    turns(desk, clock, 2, pause=writer._HOUR)  # the trigger is gone: it is tried again by itself
    assert {desk.state(f"t{k}") for k in range(8)} == {"published"}
    assert verify(store).passed


def test_several_stores_and_what_is_done_in_one_is_not_dropped(
    tmp_path: Path, opened: Opened, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [make_store(tmp_path / which) for which in ("first", "second")]
    desk, edit_all = opened(*stores, batch=1), Store.edit_all

    def refused(self: Store, requests: Any, **options: Any) -> Any:
        if self.path.name == "second" and requests[0].request_id == "half":
            raise StoreError("a trigger keeps the row")
        return edit_all(self, requests, **options)

    monkeypatch.setattr(Store, "edit_all", refused)
    desk.ask(request_id="half", delete=[name(1)])
    desk.ask(request_id="whole", delete=[name(2)])
    turns(desk, clock, 7)
    assert desk.state("whole") == "published"
    assert desk.state("half") == "quarantined"
    drop = desk.post("/requests/half/drop")
    assert (drop.status_code, drop.json()["code"]) == (409, "conflict")
    monkeypatch.setattr(Store, "edit_all", edit_all)
    assert desk.post("/requests/half/retry").status_code == 202
    turns(desk, clock, 3)
    assert desk.state("half") == "published"
    assert all(Store.open(path).close() is None and status(path)["pending_edits"] == 0 for path in stores)


def test_set_aside_outlives_a_restart_and_is_dropped_by_hand(
    store: Path, opened: Opened, clock: Time, failing: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    desk = opened(store, batch=1)
    failing.add(name(1))
    desk.ask(request_id="bad", delete=[name(1)])
    turns(desk, clock, 6)
    assert desk.state("bad") == "quarantined"
    assert main(["requests", str(store), "--drop", "bad"]) == 4
    assert "POST /requests/bad/drop" in capsys.readouterr().err
    assert main(["requests", str(store)]) == 0
    desk.service.stop()
    told = capsys.readouterr().out
    assert "1 failed repeatedly" in told
    assert "a trigger keeps the row" in told
    assert name(1) not in told
    assert main(["requests", str(store), "--retry", "bad", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["requests"][0]["state"] == "accepted"
    again = opened(store, batch=1)
    turns(again, clock, 6)
    assert again.state("bad") == "quarantined"
    again.service.stop()
    assert main(["requests", str(store), "--drop", "bad"]) == 0
    assert "1 refused" in capsys.readouterr().out
    assert main(["requests", str(store), "--drop", "bad"]) == 2
    last = opened(store, batch=1)
    assert last.state("bad") == "refused"
    assert not any(path.read_bytes().count(name(1).encode()) for path in (store / "service").rglob("*.json"))


def test_dropped_over_http_it_is_refused_and_told(
    store: Path, opened: Opened, clock: Time, failing: set[str], hooks
) -> None:
    desk = opened(store, batch=1, hooks=hooks)
    failing.add(name(1))
    desk.ask(request_id="bad", delete=[name(1)])
    turns(desk, clock, 6)
    assert desk.post("/requests/bad/drop", "read").status_code == 403
    assert desk.post("/requests/other/drop").status_code == 409
    assert desk.post("/requests/bad/drop").status_code == 202
    turns(desk, clock, 2)
    assert desk.state("bad") == "refused"
    assert json.loads(desk.sent[-1][1])["type"] == "request.refused"


def test_a_publication_that_fails_stops_no_request_and_no_other_store(
    tmp_path: Path, opened: Opened, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [make_store(tmp_path / which) for which in ("first", "second")]
    desk, publish = opened(*stores, batch=1), Store.publish

    def failing(self: Store, **options: Any) -> Any:
        if self.path.name == "first":
            raise StoreError("weights overflowed")
        return publish(self, **options)

    monkeypatch.setattr(Store, "publish", failing)
    desk.post("/publish")
    for k in range(7):
        desk.ask(request_id=f"t{k}", delete=[name(k)])
        with pytest.raises(StoreError, match="overflowed"):  # the writer says so, and goes on
            desk.service.writer.turn()
        clock.now += 61
    assert desk.service.inbox.counts()["accepted"] == 0
    assert status(stores[1])["pending_edits"] == 0
    assert status(stores[0])["pending_edits"] == 7
    monkeypatch.setattr(Store, "publish", publish)
    desk.turn()
    assert {desk.state(f"t{k}") for k in range(7)} == {"published"}


def test_the_age_of_the_oldest_request_is_told(
    store: Path, opened: Opened, clock: Time, failing: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = opened(store, batch=1)
    failing.add(name(1))
    desk.ask(request_id="bad", delete=[name(1)])
    desk.turn()
    desk.ask(request_id="good", delete=[name(2)])
    desk.turn()
    assert desk.state("good") == "published"
    later = desk.service.inbox.find("bad").fields["since"] + 500
    monkeypatch.setattr("noisygd_delete_server.service.time.time", lambda: later)
    told = desk.service.metrics()
    assert 'noisygd_delete_inbox{stage="accepted"} 1' in told
    assert "noisygd_delete_oldest_waiting_seconds 500" in told
    failing.clear()
    clock.now += 61
    desk.turn()
    assert "noisygd_delete_oldest_waiting_seconds 0" in desk.service.metrics()


def test_a_source_that_cannot_be_reached_shows_in_health(
    store: Path, opened: Opened, clock: Time, failing: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever waits; a row that is kept is no such thing."""
    desk, edit_all = opened(store, batch=1), Store.edit_all

    def unreached(self: Store, *_: Any, **options: Any) -> Any:
        raise SourceError("no route to host")

    failing.add(name(1))
    desk.ask(request_id="t1", delete=[name(1)])
    desk.turn()
    assert desk.client.get("/health").status_code == 200
    monkeypatch.setattr(Store, "edit_all", unreached)
    desk.ask(request_id="t2", delete=[name(2)])
    turns(desk, clock, 2)
    assert desk.client.get("/health").status_code == 503
    assert desk.client.get("/live").status_code == 200
    monkeypatch.setattr(Store, "edit_all", edit_all)
    turns(desk, clock, 2)
    assert desk.state("t2") == "published"
    assert desk.client.get("/health").status_code == 200


def test_a_lock_held_elsewhere_shows_in_health(store: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_LOCKED", 0.1)
    desk = opened(store, batch=1)
    desk.service.writer.patience = 0.05

    def becomes(status_code: int) -> bool:
        last = time.monotonic() + 20
        while time.monotonic() < last:
            if desk.client.get("/health").status_code == status_code:
                return True
            time.sleep(0.05)
        return False

    with Store.open(store):
        desk.ask(request_id="t", delete=[name(1)])
        desk.service.writer.start()
        assert becomes(503)
        assert desk.client.get("/live").status_code == 200
    assert becomes(200)


# --- bounds ---


def test_refusals_and_messages_do_not_fill_it_for_good(
    store: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch, hooks
) -> None:
    monkeypatch.setattr(inbox, "_MOST_KEPT", 5)
    desk = opened(store, batch=1, answers=500, hooks=hooks)
    for k in range(12):
        desk.ask(request_id=f"nobody-{k}", delete=[f"unknown-{k}"])
    desk.turn()
    counts = desk.service.inbox.counts()
    assert (counts["refused"], counts["outgoing"]) == (5, 5)
    assert len(list(register_lines(store))) >= 12  # a person sees each
    assert len(list((store / "service" / "refused").iterdir())) == 5


def test_one_caller_cannot_take_all_the_room(tmp_path: Path, store: Path, opened: Opened) -> None:
    desk = opened(store)
    desk.service.inbox._most = 50
    flood = [desk.ask(request_id=f"f{k}", delete=[name(k)]) for k in range(15)]
    assert [one.status_code for one in flood].count(202) == 10
    assert (flood[-1].status_code, flood[-1].json()["code"]) == (429, "quota")
    other = caller(tmp_path, desk, "other desk", "request")  # a token that was added counts without a restart
    assert other("POST", "/requests", json={"request_id": "o", "delete": [name(20)]}).status_code == 202
    desk.turn()
    assert desk.ask(request_id="later", delete=[name(30)]).status_code == 202


# --- who may see what ---


def caller(tmp_path: Path, desk: Desk, who: str, *roles: str, **more: Any) -> Callable[..., Any]:
    secret, lines = new_token(who, roles, **more)
    with (tmp_path / "tokens.toml").open("a") as file:
        file.write("\n" + lines)
    desk.service.tokens._looked = -1e9
    return lambda method, path, **given: desk.client.request(
        method, path, headers={"Authorization": f"Bearer {secret}"}, **given
    )


def test_a_token_reads_its_own_requests_and_the_register_says_who_asked(
    tmp_path: Path, store: Path, opened: Opened
) -> None:
    desk = opened(store, batch=1)
    mine, other = (caller(tmp_path, desk, who, "request") for who in ("desk one", "desk two"))
    asked = {"request_id": "t1", "delete": [name(1)]}
    assert mine("POST", "/requests", json=asked).status_code == 202
    for _ in range(2):  # while it waits, and once it is done
        assert mine("GET", "/requests/t1").status_code == 200
        assert other("GET", "/requests/t1").status_code == 404
        assert desk.look("t1").status_code == 200
        again = other("POST", "/requests", json=asked)  # also with the very same contents
        assert (again.status_code, again.json()["code"]) == (409, "conflict")
        assert mine("POST", "/requests", json=asked).status_code in (200, 202)
        desk.turn()
    (line,) = [line for line in register_lines(store) if line.token == "t1"]
    assert line.case.requested_by == "desk one"
    assert mine("GET", "/requests").status_code == 403


def test_a_decoy_tells_nobody_whether_a_person_is_there(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    told = set()
    for k, there in enumerate((name(1), "not-there")):
        for also in ({}, {"subjects": ["decoy"]}, {"replace": {"decoy": raw(1)}}):
            names = [there] if also else [there, "decoy"]
            token = f"d{k}-{'-'.join(also)}"
            assert desk.ask(request_id=token, delete=names, **also).status_code == 202
            desk.turn()
            answer = desk.look(token, "request").json()
            told.add((answer["state"], answer["reason"]))
    assert len(told) == 1
    assert next(iter(told))[0] == "refused"


def test_tokens_end_and_are_withdrawn_without_a_restart(tmp_path: Path, store: Path, opened: Opened) -> None:
    desk = opened(store)
    today = datetime.now(UTC).date()
    over = caller(tmp_path, desk, "over", "read", until=today - timedelta(days=1))
    good = caller(tmp_path, desk, "good", "read", until=today)
    ended = over("GET", "/requests")
    assert (ended.status_code, ended.json()["code"]) == (401, "token-ended")
    assert good("GET", "/requests").status_code == 200
    file = tmp_path / "tokens.toml"
    kept = file.read_text()
    file.write_text("not TOML at all [")
    desk.service.tokens._looked = -1e9
    assert good("GET", "/requests").status_code == 200  # what cannot be read withdraws nobody
    file.write_text(kept.split('[[token]]\nname = "good"')[0])
    desk.service.tokens._looked = -1e9
    assert good("GET", "/requests").status_code == 401
    assert TokenFile.read(file)._callers


def test_a_service_that_starts_idle_finishes_an_interrupted_release(store: Path, opened: Opened) -> None:
    """Killed between the ledger entry and the removal of the old model, with nothing left to do: the old model goes."""

    def publish(held: Store) -> None:
        held.publish()

    with Store.open(store) as held:
        held.serve(EditRequest.delete([name(1)], request_id="r"), publish=False)
    after_switch = changes(store, publish).index(("commit", "ledger.sqlite")) + 1
    assert crashed(store, publish, after_switch)
    assert len(Layout.at(store).models()) == 2
    desk = opened(store)
    desk.turn()
    assert len(Layout.at(store).models()) == 1
    assert verify(store).passed
