"""One request as the controller records it, and the policy for all requests, in enumerations and days.

A case holds what cannot be read off the ledger. It holds no name, no address and no free text: its token is a
pseudonym, generated unless given, and may be forgotten together with the case.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any

from noisygd_delete.dates import fact_to_json, last_day, parse_datetime, parse_day, parse_days
from noisygd_delete.errors import InvalidParameter, Word, check_count
from noisygd_delete.evidence.notices import Reasons


class Rights(Word):
    """The right that a person exercises: Articles 17, 16, 18 and 21 of the GDPR."""

    ERASURE = "erasure"
    RECTIFICATION = "rectification"
    RESTRICTION = "restriction"
    OBJECTION = "objection"


class Channels(Word):
    """How a request was received."""

    DESK = "desk"
    FORM = "form"
    EMAIL = "e-mail"
    LETTER = "letter"
    TELEPHONE = "telephone"
    AGENT = "agent"
    REGISTRY = "registry"


class Decisions(Word):
    """Decisions of a person that the ledger does not show.

    OPTED_OUT: an identifier belongs to several persons, so that no rows were erased by it, and all of them were opted
    out of sale and sharing (California).
    """

    REFUSED = "refused"
    REFUSED_IN_PART = "refused in part"
    NOT_FOUND = "not found"
    OPTED_OUT = "opted out"


class Grounds(Word):
    """Grounds of refusal: Article 17(3)(a) to (e), 12(5)(b) (excessive), 12(2) (not identifiable), 18(2), 21(1)."""

    EXPRESSION = "17(3)(a)"
    LEGAL_OBLIGATION = "17(3)(b)"
    PUBLIC_HEALTH = "17(3)(c)"
    ARCHIVES = "17(3)(d)"
    LEGAL_CLAIMS = "17(3)(e)"
    EXCESSIVE = "12(5)(b)"
    UNIDENTIFIED = "12(2)"
    KEPT_FOR_CLAIMS = "18(2)"
    COMPELLING = "21(1)"
    EXEMPT = "exempt"


_WORDS: dict[str, type[Word]] = {
    "right": Rights,
    "channel": Channels,
    "decision": Decisions,
    "ground": Grounds,
    "extension_reason": Reasons,
}
_DAYS = (
    "publish_by",
    "extended_until",
    "acknowledged",
    "decided",
    "informed",
    "informed_again",
    "recipients_informed",
    "backups_until",
    "restricted",
    "lifted",
)
_LONGEST = 500  # characters of a text for documents
CHANNELS = tuple(map(str, Channels))
REFUSALS = (Decisions.REFUSED, Decisions.REFUSED_IN_PART)


@dataclass(frozen=True)
class RequestCase:
    """What is stated about one request.

    Attributes:
        right: The right that the person exercises.
        channel: How the request was received.
        received: Time of receipt with the time zone of that place, whose calendar determines the deadline.
        identity_checked: Whether the requester's identity was verified; never how, and never a copy of a document.
        requested_by: Name of the token with which it was sent to the service.
        publish_by: Until when a release without the erased rows is promised, if rows are erased first.
        extended_until: The later deadline, at most three months from receipt.
        extension_reason: Reason of the extension.
        acknowledged: When receipt was confirmed to the person, which is no answer.
        decision: What a person decided.
        decided: When it was decided.
        ground: Provision on which a refusal is based.
        informed: When the person was informed of what was done.
        informed_again: When the person was informed of a later action, a model without the rows.
        recipients: Number of recipients of the data that were notified (Article 19).
        recipients_informed: When they were notified.
        backups_until: When the last backup that holds the rows expires.
        certificate: SHA-256 of the certificate that was handed out.
        restricted: When the rows were removed from the table and archived (Article 18).
        lifted: When they were restored.

    Raises:
        InvalidParameter: If a fact is outside its range, or two contradict each other.
    """

    right: Rights = Rights.ERASURE
    channel: Channels | None = None
    received: str | None = None
    identity_checked: bool | None = None
    requested_by: str | None = None
    publish_by: date | None = None
    extended_until: date | None = None
    extension_reason: Reasons | None = None
    acknowledged: date | None = None
    decision: Decisions | None = None
    decided: date | None = None
    ground: Grounds | None = None
    informed: date | None = None
    informed_again: date | None = None
    recipients: int | None = None
    recipients_informed: date | None = None
    backups_until: date | None = None
    certificate: str | None = None
    restricted: date | None = None
    lifted: date | None = None

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, words(getattr(self, name)))
        if self.received is not None:
            object.__setattr__(self, "received", parse_datetime("received", self.received, utc=False))
        for name in _DAYS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, parse_day(name, getattr(self, name)))
        if self.identity_checked is not None and not isinstance(self.identity_checked, bool):
            raise InvalidParameter("must be true, false or left out", identity_checked=self.identity_checked)
        if self.requested_by is not None and not (
            isinstance(self.requested_by, str) and 0 < len(self.requested_by) <= _LONGEST
        ):
            raise InvalidParameter(f"requested_by must be a text of 1 to {_LONGEST} characters, or left out")
        if self.recipients is not None:
            check_count("recipients", self.recipients, minimum=0, maximum=10**6)
        if self.certificate is not None and not _is_digest(self.certificate):
            raise InvalidParameter("certificate must be a SHA-256, 64 hexadecimal digits in lower case, or left out")
        for together in (("extended_until", "extension_reason"), ("decision", "decided")):
            if len({getattr(self, name) is None for name in together}) > 1:
                raise InvalidParameter(f"{' and '.join(together)} belong together; give both")
        if (self.decision in REFUSALS) != (self.ground is not None):
            raise InvalidParameter("a refusal needs its ground, and nothing else has one; see `register refuse --help`")
        self._in_order()

    def _in_order(self) -> None:
        """Check that no day precedes receipt, and that an extension is at most that allowed by law."""
        if self.received is None:
            return
        start = datetime.fromisoformat(self.received).date()
        for name in _DAYS:
            when = getattr(self, name)
            if when is not None and when < start:
                raise InvalidParameter(f"precedes the receipt, {self.received}", **{name: when})
        if self.extended_until is not None and self.extended_until > last_day(self.received, months=3):
            raise InvalidParameter(
                f"is more than three months after {self.received}: Article 12(3) GDPR allows two months more, until "
                f"{last_day(self.received, months=3).isoformat()}",
                extended_until=self.extended_until,
            )

    @property
    def refused(self) -> bool:
        """Whether the request was refused."""
        return self.decision in REFUSALS

    def stated(self, **facts: Any) -> RequestCase:
        """Return the case with further facts; a None does not overwrite an earlier fact."""
        return replace(self, **{name: fact for name, fact in facts.items() if fact is not None})

    def extended(
        self, until: Any, reason: Reasons | str, *, informed: Any, holidays: tuple[date, ...] = ()
    ) -> RequestCase:
        """Return the case with a later deadline.

        Args:
            until: The new deadline.
            reason: Reason of the extension.
            informed: Day on which the person was informed.
            holidays: Public holidays at the place of receipt.

        Raises:
            InvalidParameter: If receipt is not stated, the person was not informed within the first month (Article
                12(3)), or the deadline is not later.
        """
        if self.received is None:
            raise InvalidParameter(
                "a deadline is extended from the day of receipt: state when the request was received first"
            )
        due = last_day(self.received, holidays=holidays)
        if parse_day("informed", informed) > due:
            raise InvalidParameter(
                f"the person must be informed of an extension by {due.isoformat()}, within the first month (Article 12(3) GDPR), and was "
                f"informed on {parse_day('informed', informed).isoformat()}; the deadline stays"
            )
        if not parse_day("extended_until", until) > due:
            raise InvalidParameter(f"the deadline is {due.isoformat()} without an extension; give a later day")
        return replace(self, extended_until=until, extension_reason=Reasons(reason))

    def to_dict(self) -> dict[str, Any]:
        """Return the stated facts as JSON types; `RequestCase(**facts)` reads them back."""
        return _fact_to_json(self)


@dataclass(frozen=True)
class RegisterPolicy:
    """What the operator of a store states for every request.

    Attributes:
        holidays: Public holidays of the place, which move deadlines.
        keep_years: Years that a closed request stays in the register, after the end of the year.
        controller: The organisation responsible for the data, for documents.
        contact: How to reach it.
        authority: Where to complain.
        purposes: What the models are for.
        models: Which models they are.
        source: For the impact assessment: origin of the data.
        lawful_basis: For the impact assessment: legal basis of the processing.
        justification: Why this is necessary, and why with this budget, for registry and assessment.
        review: For the impact assessment: when it is reviewed.
    """

    holidays: tuple[date, ...] = ()
    keep_years: int = 3
    controller: str | None = None
    contact: str | None = None
    authority: str | None = None
    purposes: str | None = None
    models: str | None = None
    source: str | None = None
    lawful_basis: str | None = None
    justification: str | None = None
    review: date | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "holidays", parse_days("holidays", self.holidays))
        check_count("keep_years", self.keep_years, minimum=0, maximum=100)
        for name in TEXTS:
            text = getattr(self, name)
            if text is not None and not (
                isinstance(text, str) and text.strip() and len(text) <= _LONGEST and text.isprintable()
            ):
                raise InvalidParameter(
                    f"{name} must be a text of one line and at most {_LONGEST} characters, or left out"
                )
        if self.review is not None:
            object.__setattr__(self, "review", parse_day("review", self.review))

    def to_dict(self) -> dict[str, Any]:
        """Return the stated facts as JSON types; `RegisterPolicy(**facts)` reads them back."""
        return _fact_to_json(self)


TEXTS = ("controller", "contact", "authority", "purposes", "models", "source", "lawful_basis", "justification")


def _fact_to_json(facts: RequestCase | RegisterPolicy) -> dict[str, Any]:
    """Return the facts as JSON types, without those that are not stated."""
    found = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return {name: fact_to_json(value) for name, value in found.items() if value is not None}


def _is_digest(text: Any) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= set("0123456789abcdef")
