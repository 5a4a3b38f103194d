"""Calendar days and times as people record them, by the calendar of the place of receipt.

Regulation (EEC, Euratom) 1182/71, Article 3: a period of months ends with the last hour of the day of the same date;
if that is a public holiday, a Saturday or a Sunday, with the last hour of the next working day.

Example:
    >>> from noisygd_delete.dates import last_day
    >>> last_day("2026-05-04T09:30:00+02:00")
    datetime.date(2026, 6, 4)
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from .errors import InvalidParameter, Word, check_count

MOST_HOLIDAYS = 2000  # a century of any country's holidays
_ONE_DAY = timedelta(days=1)
_SATURDAY = 5


def parse_datetime(name: str, when: Any, *, utc: bool = True) -> str:
    """Parse a time in ISO 8601 with a time zone, and return it to the second.

    Args:
        name: Name of the parameter, for messages.
        when: The text.
        utc: Whether to convert it to UTC; otherwise its time zone is kept.

    Raises:
        InvalidParameter: If it is no such time, has no time zone, or is outside the years 1971 to 9000.
    """
    try:
        found = datetime.fromisoformat(when)
        if found.tzinfo is None:
            raise InvalidParameter("needs a time zone, for example a trailing Z or +02:00", **{name: when})
        if not 1971 <= found.year <= 9000:  # far from the limits of calendars and time zones
            raise InvalidParameter("is not a plausible time of a request", **{name: when})
        found = found.replace(microsecond=0)
        return (found.astimezone(UTC) if utc else found).isoformat()
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(
            "must be a time in ISO 8601, for example 2026-05-04T09:30:00+02:00", **{name: when}
        ) from error


def parse_day(name: str, when: Any) -> date:
    """Parse a calendar day: a `date`, or text of the form 2026-05-04.

    Raises:
        InvalidParameter: If it is no such day, or outside the years 1971 to 9000.
    """
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


def parse_days(name: str, given: Iterable[Any]) -> tuple[date, ...]:
    """Return calendar days in order, without duplicates."""
    found = sorted({parse_day(name, one) for one in given})
    if len(found) > MOST_HOLIDAYS:
        raise InvalidParameter(f"{name}: {len(found)} days; give at most {MOST_HOLIDAYS}")
    return tuple(found)


def last_day(received: str | date, *, months: int = 1, holidays: Container[date] = ()) -> date:
    """Return the last day on which a request may be answered.

    Args:
        received: Time of receipt with the time zone of that place, of which the calendar day counts; or the day.
        months: Length of the period in months.
        holidays: Public holidays of that place.
    """
    from calendar import monthrange  # slow to load

    check_count("months", months, minimum=0, maximum=120)
    start = received if isinstance(received, date) else datetime.fromisoformat(received).date()
    number = start.year * 12 + start.month - 1 + months
    year, month = divmod(number, 12)
    month += 1
    last = date(year, month, min(start.day, monthrange(year, month)[1]))
    while last.weekday() >= _SATURDAY or last in holidays:
        last += _ONE_DAY
    return last


def holidays_that_extend(received: str | date, *, months: int = 1, holidays: Iterable[date] = ()) -> tuple[date, ...]:
    """Return the holidays without which the last day would be earlier.

    Args:
        received: Time of receipt with its time zone, or the day.
        months: Length of the period in months.
        holidays: Public holidays at the place of receipt.
    """
    known = frozenset(holidays)
    last, plain = last_day(received, months=months, holidays=known), last_day(received, months=months)
    return tuple(one for one in sorted(known) if plain <= one < last and one.weekday() < _SATURDAY)


def day_now(received: str | None) -> date:
    """Return the current calendar day at the place of receipt; without one, of this machine."""
    return datetime.now(None if received is None else datetime.fromisoformat(received).tzinfo).date()


def local_day(when: str, received: str | None) -> date:
    """Return the calendar day of a time at the place of receipt."""
    zone = UTC if received is None else datetime.fromisoformat(received).tzinfo
    return datetime.fromisoformat(when).astimezone(zone).date()


def fact_to_json(value: Any) -> Any:
    """Return a stated fact as JSON types: days and enumeration values as text, tuples as lists."""
    if isinstance(value, tuple):
        return [fact_to_json(one) for one in value]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Word) else value
