"""Every question that a ledger answers, against the plain list of what was entered; and the dates that follow from it.

Random histories of every kind of entry. The ledger keeps few entries in memory, so that questions about its beginning are answered from
the database, and questions about its end are not.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from noisygd_delete import Budget
from noisygd_delete.accountant import Account, Event, EventKinds
from noisygd_delete.errors import InvalidParameter, StoreCorrupt
from noisygd_delete.methods import CountedRecords
from noisygd_delete.privacy.release_dates import DATES, DAYS_BETWEEN
from noisygd_delete.records import NO_EDITS, EditCounts
from noisygd_delete.store import ledger as ledgers
from noisygd_delete.store import release_schedule
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.entry import Entry, Occasions
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.models import plain_answer

from .conftest import SCHEMA, plan, sql

DAY = 86_400.0
plans = [cache(lambda more=more: plan(budget=Budget(order=4, dp=2.0 + more, deletion=0.5)))() for more in range(3)]


def stamp(number: int) -> str:
    return datetime.fromtimestamp(1e9 + 3600 * number, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class History:
    """What was entered, in order: the entry, the edits of its own request, and its token."""

    entries: list[Entry] = field(default_factory=list)
    own: list[EditCounts] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)

    def add(self, chance: random.Random) -> Entry:
        """Enter something that may follow."""
        number, last = len(self.entries), self.entries[-1]
        now = [entry.plan for entry in self.entries if entry.plan is not None][-1]
        current = next(one for one in plans if plain_answer(one.to_dict()) == now)
        waiting, learned = last.pending_counts, any(entry.event for entry in self.entries)
        own = EditCounts(*(chance.randrange(2) for _ in range(3)))
        kind = chance.choice(["edit", "edit", "unlearn", "unlearn", "relearn", "withheld", "withdrawn", "statistic"])
        if not learned and kind != "edit":
            kind = "learn"
        if kind in ("learn", "relearn", "withdrawn", "statistic"):
            own = NO_EDITS
        if kind in ("withdrawn", "statistic") and (waiting.total or last.model is None):
            kind, own = "edit", EditCounts(inserted=1)
        covered, facts = waiting + own, {}
        made = {"learn": current.calibration.learn_steps, "unlearn": current.calibration.delete_steps}
        made["relearn"] = made["learn"]
        if kind in made:
            if kind == "relearn":
                current = chance.choice(plans)
                facts["plan"] = plain_answer(current.to_dict())
            event = Event(kind, made[kind], covered.total, current.mechanism, covered)
            facts |= {"event": plain_answer(event.to_dict()), "occasion": Occasions.DEMAND, "model": f"{number:064x}"}
            covered = NO_EDITS
        elif kind == "statistic":
            event = Event(EventKinds.STATISTIC, 1, 0, CountedRecords(records=12, deviation=64.0))
            facts |= {"event": plain_answer(event.to_dict()), "model": last.model}
        else:
            facts |= {"model": None if kind == "withheld" else last.model, "withdrawn": kind == "withdrawn"}
        token = f"token-{number}" if chance.random() < 0.6 else None
        entry = Entry(
            kind=kind, time=stamp(number), pending=covered.total, waiting=covered.to_dict(), request_id=token, **facts
        )
        self.entries.append(entry)
        self.own.append(own)
        self.tokens.append(token)
        return entry

    def releases(self) -> list[int]:
        return [place for place, entry in enumerate(self.entries) if entry.event is not None]


def written(path: Path, chance: random.Random, length: int) -> tuple[Ledger, History]:
    """A ledger to which entries were added, one or several at a time."""
    first = Entry("init", stamp(0), 0, plan=plain_answer(plans[0].to_dict()), schema=plain_answer(SCHEMA.to_dict()))
    made, history = Ledger.create(Disk(), path, first), History([first], [NO_EDITS], [None])
    while len(history.entries) < length:
        made = made.append(Disk(), *(history.add(chance) for _ in range(chance.randrange(1, 4))))
    return made, history


@pytest.mark.parametrize(("seed", "kept"), [(0, 2), (1, 2), (2, 5), (3, 32), (4, 2)])
def test_a_ledger_says_what_was_entered(seed: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "LOOKED_AT", kept)
    monkeypatch.setattr(ledgers, "_AT_ONCE", 3)
    path = Layout(tmp_path).ledger
    grown, history = written(path, random.Random(seed), 12)
    entries, made = history.entries, history.releases()
    events = [Event.from_dict(entry.event) for entry in entries if entry.event is not None]
    models = [number for number, event in enumerate(events, start=1) if event.kind != "statistic"]
    planned = [place for place, entry in enumerate(entries) if entry.plan is not None]
    for ledger in (grown, Ledger.read(path)):
        assert (ledger.length, ledger.releases, ledger.model_release) == (len(entries), len(made), models[-1])
        assert len(ledger._tail) == min(len(entries), kept + (ledger is not grown) * (kept < len(entries)))
        assert ledger.is_sealed
        assert ledger.plans == [entries[place].plan for place in planned]
        assert ledger.plan.to_dict() == ledger.plans[-1]
        after_plan = [number for number, place in enumerate(made, start=1) if place >= planned[-1]]
        assert ledger.learned_by_plan == (after_plan or [None])[0]
        assert (ledger.schema, ledger.source) == (entries[0].schema, None)
        found, digests, prefix = ledger.entries, ledger.digests, ledger.check()
        for read, entry, token in zip(found, entries, history.tokens, strict=True):
            assert (read.commitment is None) == (token is None)
            assert [getattr(read, name) for name in FACTS] == [getattr(entry, name) for name in FACTS]
        for place, (entry, own, token) in enumerate(zip(entries, history.own, history.tokens, strict=True)):
            assert ledger.entry(place) == found[place]
            assert ledger.position(token) == (None if token is None else place)
            assert ledger.edits_at(place) == own
            assert ledger.plan_at(place) == [entries[at].plan for at in planned if at <= place][-1]
            assert ledger.find_covering_release(place) == next((at for at in made if at >= place), None)
            line = ledger.outline[place]
            assert (line.kind, line.time, line.pending_counts) == (entry.kind, entry.time, entry.pending_counts)
            assert (line.event is None, line.plan is None) == (entry.event is None, entry.plan is None)
            assert line.in_force == entry.in_force == (entry.model is not None and not entry.withdrawn)
            assert ledger.link(place + 1) == digests[place]
        assert ledger.positions([*history.tokens, "unknown", *history.tokens]) == {
            token: place for place, token in enumerate(history.tokens) if token is not None
        }
        assert list(ledger.events) == events
        for number in range(1, len(made) + 1):
            assert ledger.find_release(number) == made[number - 1]
            assert list(ledger.events_since(number)) == events[number - 1 :]
            assert ledger.account_after(number) == Account.of(events[:number])
        assert (ledger.find_release(len(made) + 1), ledger.account_after(0)) == (None, None)
        assert ledger.find_covering_release(len(entries)) is None
        assert prefix[:2] == (len(entries), ledger.digest)
        for before in (1, len(entries)):
            with ledgers.connect_database(path) as connection:
                places = ledgers.digest_of_places(connection, before)
            assert ledger.check(ledgers.VerifiedPrefix(before, digests[before - 1], places)) == prefix
    waiting = [place for place in range((made or [0])[-1] + 1, len(entries)) if entries[place].pending]
    pending = entries[-1].pending > 0
    assert release_schedule.pending_since(grown) == (entries[waiting[0]].time if pending else None)


FACTS = ("kind", "time", "pending", "waiting", "model", "plan", "event", "withdrawn", "occasion", "unused_dates")


@pytest.mark.parametrize("kept", [2, 32])
def test_an_older_copy_of_a_ledger_answers_as_it_did(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came later is not in it, although the database has it by now."""
    monkeypatch.setattr(ledgers, "LOOKED_AT", kept)
    chance, path = random.Random(5), Layout(tmp_path).ledger
    older, history = written(path, chance, 9)
    before = history.releases()
    newer = older.append(Disk(), *(history.add(chance) for _ in range(8)))
    later = [place for place in history.releases() if place not in before]
    assert later
    assert older.find_release(len(before) + 1) is None
    assert older.find_covering_release(older.length) is None
    assert all(older.position(token) is None for token in history.tokens[older.length :])
    assert len(older.events) == len(before)
    assert older.account_after(len(before) + 1) is None
    assert newer.find_covering_release(older.length) == later[0]
    assert not older.is_sealed


@pytest.mark.parametrize(
    "change",
    [
        "commitment = 'other'",
        "commitment = NULL",
        "release = release + 1",
        "release = NULL",
        "planned = 1",
        "number = number + 90",
    ],
)
def test_an_index_that_says_something_else_is_found(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an entry that is in memory, and of one that is not."""
    monkeypatch.setattr(ledgers, "LOOKED_AT", 2)
    path = Layout(tmp_path).ledger
    ledger, history = written(path, random.Random(7), 9)
    column = change.partition(" ")[0]
    rows = {"commitment": [place for place, token in enumerate(history.tokens) if token], "release": history.releases()}
    rows["planned"] = [place for place, entry in enumerate(history.entries) if entry.plan is None]
    rows["number"] = [1, ledger.length - 1]
    held = path.read_bytes()
    for place in (rows[column][0], rows[column][-1]):
        sql(path, f"UPDATE places SET {change} WHERE number = {place + 1}")
        with pytest.raises(StoreCorrupt, match="table of places"):
            Ledger.read(path).check()
        path.write_bytes(held)
    ledger.check()
    made, other = rows["release"][0], next(place for place, entry in enumerate(history.entries) if entry.event is None)
    sql(
        path,
        f"UPDATE places SET release = NULL WHERE number = {made + 1}",
        f"UPDATE places SET release = 1 WHERE number = {other + 1}",
    )
    with pytest.raises(StoreCorrupt, match="another entry"):
        ledger.find_release(1)


def fake_ledger(**facts: object) -> SimpleNamespace:
    left, head = (
        facts.pop("left"),
        SimpleNamespace(model=facts.pop("model", "digest"), in_force=facts.pop("in_force", True)),
    )
    accountant = SimpleNamespace(remaining=lambda: SimpleNamespace(publications=left))
    return SimpleNamespace(accountant=accountant, head=head, **facts)


@pytest.fixture
def schedule(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Public facts of a store on which its dates depend."""
    facts = SimpleNamespace(room=DATES + 4, since=None, start=1000 * DAY)
    monkeypatch.setattr(release_schedule, "publications", lambda _: facts.room)
    monkeypatch.setattr(release_schedule, "pending_since", lambda _: facts.since and _text(facts.since))
    monkeypatch.setattr(release_schedule, "_time_of_release", lambda _, number: facts.start)
    return facts


def _text(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()


@pytest.mark.parametrize("seed", range(3))
def test_a_budget_keeps_back_one_release_for_each_date_to_come(
    seed: int, schedule: SimpleNamespace, monkeypatch
) -> None:
    """Against the list of the dates."""
    chance = random.Random(seed)
    for _ in range(60):
        schedule.start = 1000 * DAY + chance.randrange(10**6)
        dates = [schedule.start + k * DAYS_BETWEEN * DAY for k in range(1, DATES + 3)]
        now = chance.choice([schedule.start, *dates[:DATES]]) + chance.choice(
            [0.0, 1.0, 13 * DAY, DAYS_BETWEEN * DAY - 1]
        )
        schedule.since = chance.choice([None, now - chance.randrange(1, 60 * 86_400)])
        left = chance.randrange(DATES + 5)
        kept = release_schedule.reserve(fake_ledger(learned_by_plan=3, left=left), now=now)
        assert kept is not None
        began = max(now if schedule.since is None else schedule.since, schedule.start)
        assert kept.date == next((date for date in dates if date > began), math.nan)
        assert kept.left == left
        assert kept.at_once == max(0, left - sum(date > now for date in dates[:DATES]))
        assert kept.until == dates[DATES]
        assert kept.to_dict() == {
            "at_once": kept.at_once, "next_date": _text(kept.date)[:10], "lasts_until": _text(kept.until)[:10],
        }  # fmt: skip
        monkeypatch.setattr(release_schedule, "time", SimpleNamespace(time=lambda now=now: now))
        for model in ("digest", None):
            due = release_schedule.date_to_wait_for(fake_ledger(learned_by_plan=3, left=left, model=model))
            assert due == (kept.date if model and not kept.at_once and kept.date > now else None)


@pytest.mark.parametrize(
    ("room", "learned", "any_"), [(DATES, 1, True), (DATES - 1, 1, False), (None, 1, False), (DATES, None, False)]
)
def test_only_a_budget_of_as_many_releases_as_dates_keeps_some_back(
    room, learned, any_: bool, schedule: SimpleNamespace
) -> None:
    schedule.room = room
    ledger = fake_ledger(learned_by_plan=learned, left=DATES)
    assert (release_schedule.reserve(ledger, now=schedule.start) is not None) == any_
    assert release_schedule.date_to_wait_for(ledger) is None


@pytest.mark.parametrize("left", [None, 0, 3, 4])
@pytest.mark.parametrize("releases", [0, 1])
@pytest.mark.parametrize("in_force", [False, True])
def test_a_budget_is_nearly_spent_at_three_releases(left: int | None, releases: int, in_force: bool) -> None:
    ledger = fake_ledger(left=left, in_force=in_force, releases=releases)
    assert release_schedule.is_nearly_spent(ledger) == (left in (0, 3) and releases > 0 and in_force)


@pytest.mark.parametrize(
    ("field_", "good", "bad"),
    [
        ("pending", [0], [-1, 1, 0.5]),
        ("position", [None, "version:3"], ["version 3"]),
        ("mark", [None, "m", "m" * 100], ["", "m" * 101, 7]),
        ("definition", [None, "0" * 64], ["0" * 63, "0" * 65, 7]),
        ("counted", [None, "trigger"], ["guess"]),
        ("occasion", [None, "calendar", "demand"], ["whim"]),
        ("unused_dates", [0, 3], [-1, 0.5]),
        ("kind", ["edit", "withheld"], ["edited"]),
    ],
)
def test_an_entry_takes_no_other_value_of_a_field(field_: str, good: list, bad: list) -> None:
    facts = {"kind": "edit", "time": stamp(0), "pending": 0, "waiting": NO_EDITS.to_dict()}
    for value in good:
        assert getattr(Entry(**{**facts, field_: value}), field_) == value
    for value in bad:
        with pytest.raises(InvalidParameter):
            Entry(**{**facts, field_: value})
