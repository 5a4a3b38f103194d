"""Bursts and backlogs beside a budget: how many releases, what is spent, what is withheld; several stores, several rows of a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from noisygd_delete_server import dispatcher, writer

from noisygd_delete import Execution
from noisygd_delete.curator.stream import Batching, Calendar
from noisygd_delete.planner.defaults import PUBLICATIONS, default_total, with_total
from noisygd_delete.store import Store, verify
from noisygd_delete.store.entry import Occasions
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.release_schedule import default_schedule, publications
from tests.store.conftest import plan

from .conftest import Opened, make_store, name, person

PERIOD = 2 * 365 * 86_400.0


class Clock:
    """The time that service and ledger are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from datetime import UTC, datetime

        self.now = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        stamp = lambda: datetime.fromtimestamp(self.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: E731
        for module in ("training_table", "creation"):
            monkeypatch.setattr(f"noisygd_delete.store.{module}.utc_now", stamp)
        for module in (writer, dispatcher):
            monkeypatch.setattr(module.time, "time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def capped_store(path: Path, **more: object) -> Path:
    """A store under the usual total: room for a learn and thirty more."""
    made = plan(slots=64)
    return make_store(path, total=default_total(made), **more)  # type: ignore[arg-type]


def events(path: Path) -> list[tuple[str | None, int]]:
    return [
        (entry.occasion, entry.unused_dates)
        for entry in Ledger.read(path / "ledger.sqlite").entries
        if entry.event is not None
    ]


def test_a_burst_beside_a_budget_makes_one_release_and_withholds_none(
    tmp_path: Path, opened: Opened, clock: Clock
) -> None:
    path = capped_store(tmp_path / "people")
    ledger = Ledger.read(path / "ledger.sqlite")
    number = publications(ledger)
    assert number == ledger.accountant.remaining().publications >= PUBLICATIONS - 1
    assert default_schedule(ledger) == Calendar(clock.now, PERIOD / number)
    desk = opened(path, pace=default_schedule)
    for k in range(20):
        assert desk.ask(request_id=f"t{k}", delete=[name(k)]).status_code == 202
        clock.now += 0.08
        desk.turn()
    assert Ledger.read(path / "ledger.sqlite").releases == 1  # rows are gone, the date is not here
    with Store.open(path) as store:
        assert store.pending_edits == 20
    clock.now += PERIOD / number
    desk.turn()
    ledger = Ledger.read(path / "ledger.sqlite")
    assert ledger.releases == 2
    assert ledger.accountant.remaining().publications == number - 1
    assert events(path)[-1] == (Occasions.CALENDAR, 0)
    assert {desk.state(f"t{k}") for k in range(20)} == {"published"}
    for _ in range(4):  # four dates go by before anybody asks again
        clock.now += PERIOD / number
        desk.turn()
    desk.ask(request_id="late", subjects=[person(30)])
    desk.turn()
    clock.now += PERIOD / number
    desk.turn()
    assert events(path)[-1] == (Occasions.CALENDAR, 4)
    assert desk.look("late").json()["stores"][0]["rows"] == 2
    assert verify(path).passed


def test_two_years_of_requests_is_published_to_the_last(tmp_path: Path, opened: Opened, clock: Clock) -> None:
    """The oracle: as many dates as releases are left, each covering what came since the date before; the total is kept, none is withheld."""
    path = capped_store(tmp_path / "people")
    learned = Ledger.read(path / "ledger.sqlite")
    total, number = learned.plan.problem.total, publications(learned)
    desk = opened(path, pace=default_schedule)
    for k in range(44):
        clock.now += PERIOD / 44
        desk.turn()
        if k < 40:
            assert desk.ask(request_id=f"t{k}", delete=[name(k)]).status_code == 202
            desk.turn()
    for _ in range(2):
        clock.now += PERIOD / number
        desk.turn()
    ledger = Ledger.read(path / "ledger.sqlite")
    assert ledger.head.in_force
    assert ledger.head.pending == 0
    assert ledger.releases - 1 <= number
    assert ledger.accountant.dp_cumulative().with_slack().epsilon(total.delta) <= total.epsilon
    assert all(entry.kind != "withheld" for entry in ledger.entries)
    assert {desk.state(f"t{k}") for k in range(40)} == {"published"}


@pytest.mark.parametrize("size", [1, 3])
def test_a_backlog_gets_one_release_in_every_store(tmp_path: Path, opened: Opened, size: int) -> None:
    """Also of more requests than a transaction takes together, with the same person in both stores."""
    first, second = capped_store(tmp_path / "first"), capped_store(tmp_path / "second")
    desk = opened(first, second, pace=lambda _: Batching(size=size))
    for k in range(0, 50, 2):
        assert desk.ask(request_id=f"t{k}", subjects=[person(k)]).status_code == 202
    while desk.service.inbox.counts()["accepted"]:
        desk.turn()
    for path in (first, second):
        assert Ledger.read(path / "ledger.sqlite").releases == 2
        assert events(path)[-1] == (Occasions.DEMAND, 0)
    assert {desk.state(f"t{k}") for k in range(0, 50, 2)} == {"published"}


def test_whoever_keeps_asking_does_not_keep_a_release_away(tmp_path: Path, opened: Opened, monkeypatch) -> None:
    monkeypatch.setattr(writer, "_AT_ONCE", 2)
    path = make_store(tmp_path / "people")
    desk = opened(path, pace=lambda _: Batching(size=1))
    desk.ask(request_id="first", delete=[name(0)])
    for k in range(1, 20):
        desk.ask(request_id=f"t{2 * k}", delete=[name(2 * k)])
        desk.ask(request_id=f"t{2 * k + 1}", delete=[name(2 * k + 1)])
        desk.service.writer.turn()
        if Ledger.read(path / "ledger.sqlite").releases > 1:
            break
    assert k < 6
    assert desk.state("first") == "published"


def test_without_a_cap_nothing_waits_for_a_date(tmp_path: Path) -> None:
    assert default_schedule(Ledger.read(make_store(tmp_path / "people") / "ledger.sqlite")) == Batching(size=1)


def test_a_replanned_store_spreads_what_its_new_total_affords(tmp_path: Path) -> None:
    path = capped_store(tmp_path / "people")
    with Store.open(path) as store:
        wider = with_total(
            store.plan,
            type(store.plan.problem.total)(2 * store.plan.problem.total.epsilon, store.plan.problem.total.delta),
        )
        store.relearn(wider)
        left = store.accountant.remaining().publications
    ledger = Ledger.read(path / "ledger.sqlite")
    assert publications(ledger) == left
    pace = default_schedule(ledger, period=1000.0)
    assert pace.interval == 1000.0 / left
    assert json.dumps([one.occasion for one in ledger.entries if one.event]) == '["demand", "demand"]'


@pytest.mark.parametrize("lasts", [None, 0.0, 2.5])
@pytest.mark.parametrize("method", ["objective-perturbation", "noisy-gd"])
def test_a_date_of_a_calendar_publishes_at_a_public_time(
    tmp_path: Path, opened: Opened, clock: Clock, monkeypatch: pytest.MonkeyPatch, method: str, lasts: float | None
) -> None:
    """By default as long after as any table may make it take; a release on demand only where the operator says how long."""
    path = capped_store(tmp_path / "people", method=method)
    told, publish = [], Store.publish

    def noted(store: Store, *, execution: Execution, **facts: object) -> object:
        told.append(execution.lasts)
        return publish(store, **facts)

    monkeypatch.setattr(Store, "publish", noted)
    desk = opened(path, pace=default_schedule, lasts=lasts)
    ledger = Ledger.read(path / "ledger.sqlite")
    for k in (0, 2):
        clock.now += 5
        assert desk.ask(request_id=f"t{k}", delete=[name(k)]).status_code == 202
        desk.turn()
        if k:
            desk.post("/publish")
        else:
            clock.now += PERIOD / publications(ledger)
        desk.turn()
    public = dispatcher.public_duration(ledger.plan)
    assert (public > 0) == (method == "objective-perturbation")
    assert public < 60
    assert told == [public if lasts is None else lasts, lasts or 0.0]
