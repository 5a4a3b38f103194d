"""When publications come: an oracle in plain numbers, and the calendar that no request has a say in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete.curator.stream import Batching, Calendar
from noisygd_delete.errors import InvalidParameter

DAY = 86_400.0


def releases(pace: Batching | Calendar, arrivals: list[float], end: float) -> list[float]:
    """When a writer that looks whenever something is due, or comes, publishes what waits."""
    now, waiting, since, made, coming = 0.0, 0, math.inf, [], sorted(arrivals)
    while True:
        due = pace.due(waiting, since, now)
        following = min(coming[0] if coming else math.inf, math.inf if due is None else now + due)
        if following > end:
            return made
        now = following
        while coming and coming[0] <= now:  # what came together
            since, waiting = min(since, coming.pop(0)), waiting + 1
        if pace.due(waiting, since, now) == 0:
            made.append(now)
            waiting, since = 0, math.inf


def on_dates(arrivals: list[float], interval: float, end: float) -> list[float]:
    """The oracle: a date is used if and only if something came since the date before."""
    dates = [k * interval for k in range(1, int(end // interval) + 1)]
    return [date for date in dates if any(date - interval <= at < date for at in arrivals)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 40 * 4), max_size=60), st.sampled_from([1.0, 2.0, 7.0]))
def test_a_calendar_uses_the_dates_after_which_somebody_asked(quarters: list[int], interval: float) -> None:
    arrivals = [quarter / 4 + 0.1 for quarter in quarters]
    made = releases(Calendar(0.0, interval), arrivals, 50.0)
    assert made == on_dates(arrivals, interval, 50.0)
    if arrivals:  # nobody waits longer than an interval
        assert all(any(0 < at - asked <= interval for at in made) for asked in arrivals if asked + interval <= 50)


def test_a_burst_takes_one_date_and_a_year_of_bursts_the_publications_of_a_year() -> None:
    pace = Calendar(0.0, 365 * DAY / 11)
    assert len(releases(pace, [5 + k / 12 for k in range(20)], 365 * DAY)) == 1
    crowd = [k * DAY / 4 for k in range(4 * 365)]
    assert len(releases(pace, crowd, 365 * DAY)) == 11  # of eleven that there are: none is withheld


def test_unused_dates_are_those_between() -> None:
    pace = Calendar(100.0, 10.0)
    assert [pace.count_dates(at) for at in (0, 100, 109.9, 110, 135)] == [0, 0, 0, 1, 3]
    assert pace.count_unused(110.5, 120.0) == 0
    assert pace.count_unused(110.5, 145.0) == 2
    assert pace.count_unused(100.0, 110.0) == 0  # the first date after the learn
    for bad in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidParameter):
            Calendar(0.0, bad)


def test_a_deadline_alone_batches_and_a_size_takes_all_that_came_together() -> None:
    assert releases(Batching(size=None, deadline=10.0), [0.1 * k for k in range(16)], 100.0) == [10.0]
    assert releases(Batching(size=1), [3.0] * 20, 100.0) == [3.0]
    assert releases(Batching(size=5, deadline=10.0), [1.0, 2.0], 100.0) == [11.0]
    assert Batching(size=2).due(0, -math.inf, 0.0) is None
