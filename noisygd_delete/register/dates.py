"""Times and periods as a desk counts them: by the calendar of the place where a request came in.

Regulation (EEC, Euratom) 1182/71, Article 3: a period of months ends with the last hour of the day of the same date; where
that is a public holiday, a Saturday or a Sunday, with the last hour of the next working day.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ..errors import InvalidParameter, Word, count

MOST_HOLIDAYS = 2000  # of a calendar: a century of any country's
_ONE_DAY = timedelta(days=1)
_SATURDAY = 5


def moment(name: str, when: Any, *, utc: bool = True) -> str:
    """A time in ISO 8601, to the second; in UTC, or where it was taken."""
    try:
        found = datetime.fromisoformat(when)
        if found.tzinfo is None:
            raise InvalidParameter("needs a time zone, for example a trailing Z or +02:00", **{name: when})
        if not 1971 <= found.year <= 9000:  # far from where a calendar or a time zone ends
            raise InvalidParameter("is not a time at which anybody asked for an erasure", **{name: when})
        found = found.replace(microsecond=0)
        return (found.astimezone(UTC) if utc else found).isoformat()
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(
            "must be a time in ISO 8601, for example 2026-05-04T09:30:00+02:00", **{name: when}
        ) from error


def day(name: str, when: Any) -> date:
    """A calendar day: a `date`, or its text in the one form 2026-05-04."""
    if isinstance(when, date) and not isinstance(when, datetime):
        found = when
    else:
        try:
            found = date.fromisoformat(when)
        except (TypeError, ValueError) as error:
            raise InvalidParameter("must be a day, for example 2026-05-04", **{name: when}) from error
        if found.isoformat() != when:
            raise InvalidParameter("must be written with hyphens, for example 2026-05-04", **{name: when})
    if not 1971 <= found.year <= 9000:
        raise InvalidParameter("is not a day on which anybody answers a request", **{name: found})
    return found


def days(name: str, given: Iterable[Any]) -> tuple[date, ...]:
    """Calendar days in order, each once."""
    found = sorted({day(name, one) for one in given})
    if len(found) > MOST_HOLIDAYS:
        raise InvalidParameter(f"{name}: {len(found)} days; give at most {MOST_HOLIDAYS}")
    return tuple(found)


def last_day(received: str | date, *, months: int = 1, holidays: Container[date] = ()) -> date:
    """The last day on which something that came in then may be answered, so many months later.

    Args:
        received: a time with the zone of that place, of which the calendar day counts; or the day.
        holidays: public holidays there, given by whoever lives by that calendar.
    """
    from calendar import monthrange  # slow to load

    count("months", months, minimum=0, maximum=120)
    start = received if isinstance(received, date) else datetime.fromisoformat(received).date()
    number = start.year * 12 + start.month - 1 + months
    year, month = divmod(number, 12)
    month += 1
    last = date(year, month, min(start.day, monthrange(year, month)[1]))
    while last.weekday() >= _SATURDAY or last in holidays:
        last += _ONE_DAY
    return last


def moved_by(received: str | date, *, months: int = 1, holidays: Iterable[date] = ()) -> tuple[date, ...]:
    """The holidays without which the last day would be an earlier one."""
    known = frozenset(holidays)
    last, plain = last_day(received, months=months, holidays=known), last_day(received, months=months)
    return tuple(one for one in sorted(known) if plain <= one < last and one.weekday() < _SATURDAY)


def day_now(received: str | None) -> date:
    """The calendar day that it is now at the place where the request came in; without one, here."""
    return datetime.now(None if received is None else datetime.fromisoformat(received).tzinfo).date()


def local_day(when: str, received: str | None) -> date:
    """The calendar day of a time in UTC, at the place where the request came in."""
    zone = UTC if received is None else datetime.fromisoformat(received).tzinfo
    return datetime.fromisoformat(when).astimezone(zone).date()


def in_json(value: Any) -> Any:
    """A fact of a request in JSON's own types: days as text, words of a list as text, several as a list."""
    if isinstance(value, tuple):
        return [in_json(one) for one in value]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Word) else value
