"""Statements about a request: each returns its case with one more fact, checked against what was done."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from noisygd_delete.dates import parse_day
from noisygd_delete.errors import InvalidParameter

from .case import Decisions, Grounds, RequestCase
from .row import RegisterRow


def record_informed(line: RegisterRow, on: Any, *, certificate: str | None = None) -> RequestCase:
    """Return the case with the day on which the person was informed of what was done.

    Args:
        line: The request.
        on: The day.
        certificate: SHA-256 of the certificate that was handed out.

    Raises:
        InvalidParameter: If nothing was done by that day, or it is in the future.
    """
    when, acted = _check_past_day(line, "informed", on), line.acted
    if acted is None or when < acted:
        done = "nothing was erased or decided under this id" if acted is None else f"it was done on {acted.isoformat()}"
        raise InvalidParameter(
            f"request {line.token!r}: {done}, so a person informed on {when.isoformat()} did not learn what was done. Erase under this "
            "request id, or note what was decided (`register refuse`, `not-found`); that a receipt was confirmed is "
            "`register acknowledge`"
        )
    again = line.answered is not None and line.closing is None and when > line.answered
    return line.case.stated(certificate=certificate, **{"informed_again" if again else "informed": when})


def record_acknowledged(line: RegisterRow, on: Any) -> RequestCase:
    """Return the case with the day on which receipt was confirmed to the person."""
    return line.case.stated(acknowledged=_check_past_day(line, "acknowledged", on))


def notified_recipients(line: RegisterRow, recipients: int, on: Any) -> RequestCase:
    """Return the case with the number of recipients notified, and the day (Article 19 GDPR).

    Args:
        line: The request.
        recipients: Number of recipients that were notified.
        on: Day of the notification.

    Raises:
        InvalidParameter: If nothing was done by that day of which they could be notified.
    """
    when, done = _check_past_day(line, "recipients_informed", on), line.edited or line.case.restricted
    if done is None or when < done:
        since = "nothing was erased, rectified or restricted" if done is None else f"that was on {done.isoformat()}"
        raise InvalidParameter(
            f"request {line.token!r}: {since}, so on {when.isoformat()} there was nothing to tell recipients of"
        )
    return line.case.stated(recipients=recipients, recipients_informed=when)


def record_backup_expiry(line: RegisterRow, until: Any) -> RequestCase:
    """Return the case with the day on which the last backup that holds the rows expires.

    Raises:
        InvalidParameter: If that day precedes the edit.
    """
    when = parse_day("backups_until", until)
    if line.edited is not None and when < line.edited:
        raise InvalidParameter(
            f"precedes {line.edited.isoformat()}, when the rows were edited: a backup of that day still held them; "
            "give the day on which the last of them expires",
            backups_until=when,
        )
    return line.case.stated(backups_until=when)


def _check_past_day(line: RegisterRow, name: str, on: Any) -> date:
    """Return a day, which must not be in the future."""
    when = parse_day(name, on)
    if when > max(line.today, date.today()):
        raise InvalidParameter("is still to come; state it when it is done", **{name: when})
    return when


def record_decision(
    line: RegisterRow, decision: Decisions, on: Any, *, ground: Grounds | str | None = None
) -> RequestCase:
    """Return the case with a person's decision.

    Args:
        line: The request.
        decision: The decision.
        on: Day of the decision.
        ground: Ground of a refusal.

    Raises:
        InvalidParameter: If the request was carried out per the ledger, or the day is in the future.
    """
    carried_out = line.served is not None and line.served.rows > 0
    if carried_out and decision is not Decisions.REFUSED_IN_PART:
        raise InvalidParameter(
            f"{line.served.rows if line.served else 0} records were edited for request {line.token!r}, so it cannot be {str(decision)!r}; if "
            "a part of it was refused, say so (--in-part)"
        )
    return replace(
        line.case,
        decision=decision,
        decided=_check_past_day(line, "decided", on),
        ground=None if ground is None else Grounds(ground),
    )
