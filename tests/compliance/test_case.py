"""Deadlines against an independent calendar; what a case refuses; which line comes first and how long it stays."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta

import numpy as np
import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given, settings
from hypothesis import strategies as some
from noisygd_delete_compliance.case import Decisions, Grounds, RegisterPolicy, RequestCase
from noisygd_delete_compliance.row import RegisterRow, Served, export_csv, sort_by_urgency
from noisygd_delete_compliance.statements import record_decision, record_informed

from noisygd_delete.dates import holidays_that_extend, last_day
from noisygd_delete.errors import InvalidParameter

DAYS = some.dates(date(2000, 1, 1), date(2060, 12, 31))
RECEIVED = "2026-05-04T23:30:00+02:00"


@settings(max_examples=300, deadline=None)
@given(start=DAYS, months=some.integers(0, 3), free=some.lists(some.integers(0, 130), max_size=12))
def test_the_last_day_is_a_working_day_of_an_independent_calendar(start: date, months: int, free: list[int]) -> None:
    """`dateutil` adds the months, numpy's business days roll forward over weekends and holidays."""
    holidays = sorted({start + timedelta(days=offset) for offset in free})
    due = last_day(start, months=months, holidays=holidays)
    rolled = np.busday_offset(start + relativedelta(months=months), 0, roll="forward", holidays=holidays)
    assert due == rolled.astype(object)
    moved = holidays_that_extend(start, months=months, holidays=holidays)
    assert last_day(start, months=months, holidays=moved) == due
    for one in moved:  # each of them counts
        assert last_day(start, months=months, holidays=[other for other in moved if other != one]) < due


def test_the_day_is_that_of_the_place_where_it_came_in() -> None:
    assert last_day("2026-03-31T01:00:00+02:00") == date(2026, 4, 30)  # in UTC it was still the 30th of March
    assert last_day("2026-03-25T12:00:00+01:00") == date(2026, 4, 27)  # the 25th of April is a Saturday
    assert last_day("2026-11-25T12:00:00+01:00", holidays=[date(2026, 12, 25)]) == date(2026, 12, 28)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"right": "oblivion"}, "not one of the rights"),
        ({"received": "2026-05-04"}, "time zone"),
        ({"received": RECEIVED, "informed": "2026-05-03"}, "precedes"),
        ({"received": RECEIVED, "informed": "4 May"}, "must be a day"),
        ({"decision": "refused", "decided": "2026-05-05"}, "needs its ground"),
        ({"ground": "17(3)(b)"}, "needs its ground"),
        ({"decision": "not found"}, "belong together"),
        ({"received": RECEIVED, "extended_until": "2026-08-05", "extension_reason": "complexity"}, "three months"),
        ({"recipients": -1}, "recipients"),
        ({"certificate": "A" * 64}, "SHA-256"),
        ({"identity_checked": "yes"}, "identity_checked"),
    ],
)
def test_a_case_refuses_what_cannot_be(stated: dict, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        RequestCase(**stated)


def test_a_case_is_read_back_as_it_was() -> None:
    case = RequestCase(right="objection", channel="e-mail", received=RECEIVED, identity_checked=True, informed="2026-05-20", recipients=3,
                recipients_informed=date(2026, 5, 21), backups_until="2026-09-01", certificate="ab" * 32)  # fmt: skip
    assert RequestCase(**case.to_dict()) == case
    policy = RegisterPolicy(
        holidays=("2026-12-25", "2026-05-01", "2026-12-25"), contact="desk@example.org", keep_years=2
    )
    assert RegisterPolicy(**policy.to_dict()) == policy
    assert policy.holidays == (date(2026, 5, 1), date(2026, 12, 25))
    with pytest.raises(InvalidParameter, match="one line"):
        RegisterPolicy(contact="a\nb")


def test_an_extension_must_have_been_told_within_the_month() -> None:
    case = RequestCase(received=RECEIVED)
    longer = case.extended("2026-08-04", "complexity", informed="2026-06-04")
    assert longer.extended_until == date(2026, 8, 4)
    with pytest.raises(InvalidParameter, match="within the first month"):
        case.extended("2026-08-04", "complexity", informed="2026-06-05")
    with pytest.raises(InvalidParameter, match="a later day"):
        case.extended("2026-06-04", "complexity", informed="2026-06-01")
    with pytest.raises(InvalidParameter, match="day of receipt"):
        RequestCase().extended("2026-08-04", "complexity", informed="2026-06-05")


def line(token: str, case: RequestCase, served: Served | None = None, today: date = date(2026, 6, 10)) -> RegisterRow:
    return RegisterRow(token, case, served, RegisterPolicy(), today)


EDITED = Served(edited="2026-05-05T10:00:00Z", rows=1)
OUT = Served(edited="2026-05-05T10:00:00Z", rows=1, published="2026-05-05T10:00:00Z", release=2)


@pytest.mark.parametrize(
    ("case", "served", "state", "late"),
    [
        (RequestCase(received=RECEIVED), None, "open", ("answer overdue",)),
        (RequestCase(received=RECEIVED), EDITED, "pending", ("answer overdue",)),
        (RequestCase(received=RECEIVED), OUT, "published", ("answer overdue",)),
        (RequestCase(received=RECEIVED, informed="2026-06-04"), OUT, "answered", ()),
        (RequestCase(received=RECEIVED, informed="2026-06-05"), OUT, "answered", ("informed late",)),
        (RequestCase(received="2026-05-11T08:00:00Z"), OUT, "published", ()),
        (
            RequestCase(received=RECEIVED, decision="not found", decided="2026-05-05"),
            None,
            "decided",
            ("answer overdue",),
        ),
        (
            RequestCase(received=RECEIVED, decision="opted out", decided="2026-05-05"),
            None,
            "decided",
            ("answer overdue",),
        ),
        (RequestCase(publish_by="2026-06-09"), EDITED, "pending", ("release overdue",)),
        (RequestCase(publish_by="2026-05-04"), OUT, "published", ("published late",)),
        (RequestCase(publish_by="2026-06-10"), EDITED, "pending", ()),
        (RequestCase(), Served(edited="2026-05-05T10:00:00Z", rows=1, withheld=True), "withheld", ()),
    ],
)
def test_what_is_late_is_said(case: RequestCase, served: Served | None, state: str, late: tuple[str, ...]) -> None:
    assert (line("t", case, served).state, line("t", case, served).late) == (state, late)


def test_what_is_needed_first_stands_first() -> None:
    closed = line("closed", RequestCase(received=RECEIVED, informed="2026-06-01"), OUT)
    overdue = line("overdue", RequestCase(received=RECEIVED), OUT)
    soon = line("soon", RequestCase(received="2026-05-20T08:00:00Z"), OUT)
    later = line("later", RequestCase(received="2026-06-01T08:00:00Z"), None)
    unstated = line("unstated", RequestCase(), OUT)
    given = [closed, later, soon, unstated, overdue]
    assert [one.token for one in sort_by_urgency(given)] == ["overdue", "unstated", "soon", "later", "closed"]
    rows = list(csv.DictReader(io.StringIO(export_csv(sort_by_urgency([*given, line("=cmd()", RequestCase(), OUT)])))))
    assert [row["late"] for row in rows][:2] == ["answer overdue", ""]
    assert "'=cmd()" in {row["request_id"] for row in rows}  # no spreadsheet runs a token


def test_it_stays_three_years_after_the_year_in_which_all_was_done() -> None:
    told = RequestCase(received=RECEIVED, informed="2026-05-20")
    assert line("t", told, OUT).retain_until == date(2029, 12, 31)
    assert line("t", told, EDITED).retain_until is None  # a release is owed
    assert line("t", RequestCase(received=RECEIVED), OUT).retain_until is None
    assert line("t", RequestCase(), Served(edited="2026-01-01T00:00:00Z", rows=0)).retain_until == date(2029, 12, 31)


def test_who_was_served_is_not_refused_or_not_found() -> None:
    served = line("t", RequestCase(received=RECEIVED), OUT)
    for decision in (Decisions.REFUSED, Decisions.NOT_FOUND, Decisions.OPTED_OUT):
        with pytest.raises(InvalidParameter, match="1 records were edited"):
            record_decision(served, decision, "2026-05-06", ground="17(3)(b)")
    part = record_decision(served, Decisions.REFUSED_IN_PART, "2026-05-06", ground="17(3)(b)")
    assert part.ground is Grounds.LEGAL_OBLIGATION
    with pytest.raises(InvalidParameter, match="needs its ground"):
        record_decision(line("t", RequestCase()), Decisions.REFUSED, "2026-05-06")


PUBLISHED_LATER = Served(edited="2026-05-05T10:00:00Z", rows=1, published="2026-05-20T10:00:00Z", release=2)


@pytest.mark.parametrize(
    ("stated", "served", "state", "late", "closed"),
    [
        ({"informed": "2026-05-04"}, OUT, "published", ("answer overdue",), False),  # told before the edit
        ({"informed": "2026-05-05"}, OUT, "answered", (), True),
        ({"informed": "2026-05-20"}, None, "open", ("answer overdue",), False),  # told, and nothing was done
        ({"acknowledged": "2026-05-05"}, None, "open", ("answer overdue",), False),
        ({"acknowledged": "2026-05-05"}, OUT, "published", ("answer overdue",), False),
        ({"informed": "2026-05-05"}, Served("2026-05-05T10:00:00Z", rows=0, inserted=1), "pending", ("answer overdue",), False),
        ({"informed": "2026-05-06"}, EDITED, "pending", (), False),  # told in time; the model is still to come
        ({"informed": "2026-05-06"}, PUBLISHED_LATER, "published", (), False),  # and told of that
        ({"informed": "2026-05-06", "informed_again": "2026-06-09"}, PUBLISHED_LATER, "answered", (), True),
        ({"informed": "2026-05-06", "decision": "not found", "decided": "2026-05-07"}, None, "decided", ("answer overdue",), False),
        ({"informed": "2026-05-07", "decision": "not found", "decided": "2026-05-07"}, None, "answered", (), True),
        ({"informed": "2026-05-06", "restricted": "2026-05-06", "right": "restriction"}, None, "answered", (), True),
        ({"informed": "2026-05-06", "restricted": "2026-05-05", "right": "objection"},
         Served("2026-06-01T10:00:00Z", rows=1), "pending", ("answer overdue",), False),  # told of the restriction, not of the erasure
    ],
)  # fmt: skip
def test_only_who_was_told_after_it_was_done_was_answered(
    stated: dict, served: Served | None, state: str, late: tuple[str, ...], closed: bool
) -> None:
    found = line("t", RequestCase(received=RECEIVED, **stated), served)
    assert (found.state, found.late, found.closed is not None) == (state, late, closed)
    assert (found.answered is None) == bool(late)
    assert found.retain_until is None or closed


def test_an_edit_in_the_evening_is_of_that_day_at_the_place_of_the_request() -> None:
    late = Served(edited="2026-05-04T22:30:00Z", rows=1)  # the 5th, where it came in
    here = RequestCase(received="2026-05-04T09:00:00+02:00", informed="2026-05-04")
    assert line("t", here, late).answered is None
    assert record_informed(line("t", here, late), "2026-05-05").informed == date(2026, 5, 5)
    with pytest.raises(InvalidParameter, match="did not learn what was done"):
        record_informed(line("t", here, late), "2026-05-04")


def test_the_first_answer_is_what_the_deadline_asks_for_and_the_last_what_closes() -> None:
    first = record_informed(line("t", RequestCase(received=RECEIVED), EDITED), "2026-05-06")
    assert (first.informed, first.informed_again) == (date(2026, 5, 6), None)
    again = record_informed(line("t", first, PUBLISHED_LATER), "2026-06-09")
    assert (again.informed, again.informed_again) == (date(2026, 5, 6), date(2026, 6, 9))
    corrected = record_informed(line("t", RequestCase(received=RECEIVED, informed="2026-05-07"), OUT), "2026-05-06")
    assert (corrected.informed, corrected.informed_again) == (date(2026, 5, 6), None)
