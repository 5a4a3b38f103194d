"""Notices that a controller owes a person besides the erasure: contact, recipients notified, expiry of backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from ..dates import fact_to_json, holidays_that_extend, last_day, local_day, parse_day, parse_days
from ..errors import InvalidParameter, Word, check_count

LONGEST = 1000  # characters of a text
TEXTS = ("purposes", "models", "contact", "authority")


# statements about a model that no certificate supports (EDPB Opinion 28/2024)
_OVERCLAIMS = (
    "anonym",
    "de-identif",
    "deidentif",
    "forgot",
    "forget",
    "gdpr-compliant",
    "gdpr compliant",
    "vergess",
    "dsgvo-konform",
    "dsgvo konform",
    "verlernt",
)


def find_overclaims(texts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a warning for each text with a claim that no certificate supports.

    Such claims are that a model is anonymous, forgot data, or complies with a law.
    """
    found = [(name, word) for name, text in texts.items() for word in _OVERCLAIMS if word in str(text or "").lower()]
    return tuple(
        f"{name} says {word!r}: no certificate shows that, and the text of a document is your statement. State what was done instead"
        for name, word in dict(reversed(found)).items()
    )


class Reasons(Word):
    """The two reasons for which the month may be extended by up to two more (Article 12(3))."""

    COMPLEXITY = "complexity"
    NUMBER = "number of requests"


def check_text(name: str, value: Any) -> None:
    """Check that `value` is None or a printable text of at most `LONGEST` characters."""
    if value is None:
        return
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise InvalidParameter(f"{name} must be a text of at most {LONGEST} characters, or left out")
    if not value.isprintable() or "\ufffd" in value:  # a browser's replacement character for invalid bytes
        raise InvalidParameter(f"{name} holds characters that no page can show; leave them out")


@dataclass(frozen=True)
class Notices:
    """What a controller owes besides the erasure itself, as the register holds it; every field is optional.

    Attributes:
        purposes: What the models are for.
        models: Which models they are.
        contact: How to reach the controller.
        authority: Where to complain.
        informed: When the person was informed.
        recipients: Number of recipients of the data that were notified (Article 19 GDPR).
        recipients_informed: When the recipients were notified.
        backups_until: When the last backup that holds the rows expires.
        withdrawn: Since when the model that had used the rows is out of service.
        publish_by: Until when a release is promised, if one is pending.
        extended_until: The later deadline of Article 12(3).
        extension_reason: Reason of the extension.
        holidays: The public holidays that moved the deadline, and no others.
        restricted: When the rows were removed and archived, if processing is restricted.
        lifted: When they were restored.
    """

    purposes: str | None = None
    models: str | None = None
    contact: str | None = None
    authority: str | None = None
    informed: date | None = None
    recipients: int | None = None
    recipients_informed: date | None = None
    backups_until: date | None = None
    withdrawn: date | None = None
    publish_by: date | None = None
    extended_until: date | None = None
    extension_reason: Reasons | None = None
    holidays: tuple[date, ...] = ()
    restricted: date | None = None
    lifted: date | None = None

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
        if self.lifted is not None and (self.restricted is None or self.lifted < self.restricted):
            raise InvalidParameter("precedes the restriction of the rows", lifted=self.lifted)
        if self.extension_reason is not None:
            object.__setattr__(self, "extension_reason", Reasons(self.extension_reason))
        object.__setattr__(self, "holidays", parse_days("holidays", self.holidays))

    def fit(self, received: str | None) -> None:
        """Check that the days are possible for a request received at this time.

        Raises:
            InvalidParameter: If a day precedes receipt, an extension is not between one and three months after it, or
                the holidays are not exactly those that moved the deadline.
        """
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
                raise InvalidParameter(f"precedes the receipt, {received}", **{name: when})
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
        """Check that the days are possible for rows edited on `edited` and a certificate issued at `issued`.

        Raises:
            InvalidParameter: If an event precedes the edit, or is later than the day of issue.
        """
        if edited is not None:
            done = date.fromisoformat(edited)
            for name in ("informed", "recipients_informed", "backups_until", "withdrawn"):
                when = getattr(self, name)
                if when is not None and when < done:
                    raise InvalidParameter(
                        f"precedes {done.isoformat()}, when the rows were edited; leave it out, or state the day on which it "
                        "was true",
                        **{name: when},
                    )
        today = local_day(issued, received)
        for name in ("informed", "recipients_informed", "withdrawn"):
            when = getattr(self, name)
            if when is not None and when > today:
                raise InvalidParameter(
                    f"follows {today.isoformat()}, when the certificate is issued: certify it then",
                    **{name: when},
                )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types; those of a restriction only if there was one."""
        found = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            name: fact_to_json(value) for name, value in found.items() if value is not None or name not in _RESTRICTED
        }


_RESTRICTED = ("restricted", "lifted")
_NOTICED = (
    "informed", "recipients_informed", "backups_until", "withdrawn", "publish_by", "extended_until", *_RESTRICTED,
)  # fmt: skip


NOTHING_STATED = Notices()


@dataclass(frozen=True)
class OperatorStatements:
    """What an operator states for a certificate.

    Attributes:
        received: Time of receipt of the request, with its time zone.
        controller: The organisation responsible for the data.
        notices: Everything else.
    """

    received: str | None = None
    controller: str | None = None
    notices: Notices = NOTHING_STATED
