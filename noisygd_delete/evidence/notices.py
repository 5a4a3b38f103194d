"""What a controller owes a person beside the erasure: whom to ask, who else was told, until when backups last."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from ..errors import InvalidParameter, check_count
from ..register.case import Reasons, case_to_json, holidays_that_extend, last_day, local_day, parse_day, parse_days

LONGEST = 1000  # characters of a text
TEXTS = ("purposes", "models", "contact", "authority")


def check_text(name: str, value: Any) -> None:
    """Refuse what is neither None nor a text that a page can show."""
    if value is None:
        return
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise InvalidParameter(f"{name} must be a text of at most {LONGEST} characters, or left out")
    if not value.isprintable() or "\ufffd" in value:  # what a browser reads in the place of a byte that is no text
        raise InvalidParameter(f"{name} holds characters that no page can show; leave them out")


@dataclass(frozen=True)
class Notices:
    """What a controller owes beside the erasure itself, as the register holds it. Everything may be left out.

    purposes, models, contact, authority   what the models are for, which they are, whom to ask, where to complain: texts
    informed            when the person was told
    recipients          how many recipients of the data were told (Article 19 GDPR), `recipients_told` when
    backups_until       when the last backup that holds the rows expires
    withdrawn           since when the model that had used the rows is out of service
    publish_by          until when a release is promised, where one is still to come
    extended_until      the later deadline of Article 12(3), `extension_reason` why
    holidays            the public holidays by which the deadline moved, and no others
    set_aside           when the rows were taken out to be kept aside, where processing is restricted; put_back: when they came back
    """

    purposes: str | None = None
    models: str | None = None
    contact: str | None = None
    authority: str | None = None
    informed: date | None = None
    recipients: int | None = None
    recipients_told: date | None = None
    backups_until: date | None = None
    withdrawn: date | None = None
    publish_by: date | None = None
    extended_until: date | None = None
    extension_reason: Reasons | None = None
    holidays: tuple[date, ...] = ()
    set_aside: date | None = None
    put_back: date | None = None

    def __post_init__(self) -> None:
        for name in TEXTS:
            check_text(name, getattr(self, name))
        for name in _NOTICED:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, parse_day(name, getattr(self, name)))
        if self.recipients is not None:
            check_count("recipients", self.recipients, minimum=0, maximum=10**6)
        if (self.extended_until is None) != (self.extension_reason is None):
            raise InvalidParameter("extended_until and extension_reason belong together; give both")
        if self.put_back is not None and (self.set_aside is None or self.put_back < self.set_aside):
            raise InvalidParameter("lies before the rows were set aside", put_back=self.put_back)
        if self.extension_reason is not None:
            object.__setattr__(self, "extension_reason", Reasons(self.extension_reason))
        object.__setattr__(self, "holidays", parse_days("holidays", self.holidays))

    def fit(self, received: str | None) -> None:
        """Refuse days that a request received then cannot have had."""
        if received is None:
            if self.holidays or self.extended_until is not None:
                raise InvalidParameter(
                    "a deadline is counted from the day of receipt: state when the request was received"
                )
            return
        start = datetime.fromisoformat(received).date()
        for name in _NOTICED:
            when = getattr(self, name)
            if when is not None and when < start:
                raise InvalidParameter(f"lies before the receipt, {received}", **{name: when})
        if self.extended_until is not None and not last_day(received) <= self.extended_until <= last_day(
            received, months=3
        ):
            raise InvalidParameter(
                f"must lie between one and three months after the receipt, {received}",
                extended_until=self.extended_until,
            )
        if self.holidays != holidays_that_extend(received, holidays=self.holidays):
            raise InvalidParameter("holidays must be those by which the deadline moved, and no others")

    def follow(self, *, edited: str | None, received: str | None, issued: str) -> None:
        """Refuse days that a certificate of rows edited then, and issued then, cannot name: nobody is told of what was not done."""
        if edited is not None:
            done = date.fromisoformat(edited)
            for name in ("informed", "recipients_told", "backups_until", "withdrawn"):
                when = getattr(self, name)
                if when is not None and when < done:
                    raise InvalidParameter(
                        f"lies before {done.isoformat()}, when the rows were edited; leave it out, or state the day on which it "
                        "was true",
                        **{name: when},
                    )
        today = local_day(issued, received)
        for name in ("informed", "recipients_told", "withdrawn"):
            when = getattr(self, name)
            if when is not None and when > today:
                raise InvalidParameter(
                    f"lies after {today.isoformat()}, when the certificate is issued: certify it then",
                    **{name: when},
                )

    def to_dict(self) -> dict[str, Any]:
        """In JSON's own types, every part of it; of a restriction only where there was one."""
        found = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            name: case_to_json(value) for name, value in found.items() if value is not None or name not in _RESTRICTED
        }


_RESTRICTED = ("set_aside", "put_back")
_NOTICED = (
    "informed", "recipients_told", "backups_until", "withdrawn", "publish_by", "extended_until", *_RESTRICTED,
)  # fmt: skip


NOTHING_STATED = Notices()
