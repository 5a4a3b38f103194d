"""One request as the desk keeps it, and what the desk does with every request.

A case holds what nobody can read off the ledger. It holds no name, no address and no free text: its token is a pseudonym,
generated unless given, and may be forgotten with all that stands here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ..errors import InvalidParameter, Word, check_count

# --- dates ---
#
# Times and periods as a desk counts them: by the calendar of the place where a request came in.
#
# Regulation (EEC, Euratom) 1182/71, Article 3: a period of months ends with the last hour of the day of the same date; where
# that is a public holiday, a Saturday or a Sunday, with the last hour of the next working day.


MOST_HOLIDAYS = 2000  # of a calendar: a century of any country's
_ONE_DAY = timedelta(days=1)
_SATURDAY = 5


def parse_datetime(name: str, when: Any, *, utc: bool = True) -> str:
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


def parse_day(name: str, when: Any) -> date:
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


def parse_days(name: str, given: Iterable[Any]) -> tuple[date, ...]:
    """Calendar days in order, each once."""
    found = sorted({parse_day(name, one) for one in given})
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


def case_to_json(value: Any) -> Any:
    """A fact of a request in JSON's own types: days as text, words of a list as text, several as a list."""
    if isinstance(value, tuple):
        return [case_to_json(one) for one in value]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Word) else value


# --- terms ---
#
# The words of the register: lists, so that nobody types a name or a story into it.


class Rights(Word):
    """What a person asked for, by the articles of the GDPR: 17, 16, 18, 21."""

    ERASURE = "erasure"
    RECTIFICATION = "rectification"
    RESTRICTION = "restriction"
    OBJECTION = "objection"


class Channels(Word):
    """How a request came in."""

    DESK = "desk"
    FORM = "form"
    EMAIL = "e-mail"
    LETTER = "letter"
    TELEPHONE = "telephone"
    AGENT = "agent"
    REGISTRY = "registry"


class Decisions(Word):
    """What a person decided, where the ledger alone does not say it. Opted out: an identifier belongs to several persons, so that nobody's
    rows were erased by it, and all of them were opted out of sale and sharing (California)."""

    REFUSED = "refused"
    REFUSED_IN_PART = "refused in part"
    NOT_FOUND = "not found"
    OPTED_OUT = "opted out"


class Grounds(Word):
    """Why a request may be refused: Article 17(3)(a) to (e), 12(5)(b) (excessive), 12(2) (cannot be identified), 18(2), 21(1)."""

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


class Reasons(Word):
    """Why the month may be extended by up to two more (Article 12(3)): these two, and no others."""

    COMPLEXITY = "complexity"
    NUMBER = "number of requests"


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
    "recipients_told",
    "backups_until",
    "restricted",
    "lifted",
)
_LONGEST = 500  # characters of a text for papers
REFUSALS = (Decisions.REFUSED, Decisions.REFUSED_IN_PART)


@dataclass(frozen=True)
class RequestCase:
    """What is stated about one request.

    right, channel     what was asked, and how it came in
    received           time, with the zone of the place where it came in: the deadline goes by its calendar
    asked_by           the name of the token that it was sent to the service with
    identity_checked   whether the desk made sure who asks; never how, and never a copy of a document
    publish_by         until when a release without the erased rows is promised, where rows go first and the release later
    extended_until     the later deadline, at most three months from receipt; extension_reason: why
    decision           what a person decided, `decided` when, `ground` by which provision
    acknowledged       when the person was told that the request had come in, which answers nothing
    informed           when the person was told what was done; informed_again: of what was done later, a model without the rows
    recipients         how many recipients of the data were told (Article 19), `recipients_told` when
    backups_until      when the last backup that holds the rows expires
    certificate        SHA-256 of the certificate that was handed out
    restricted, lifted when the rows were taken out of the table to be kept aside (Article 18), and put back

    Raises:
        InvalidParameter: a fact outside its range, or two that contradict each other.
    """

    right: Rights = Rights.ERASURE
    channel: Channels | None = None
    received: str | None = None
    identity_checked: bool | None = None
    asked_by: str | None = None
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
    recipients_told: date | None = None
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
        if self.asked_by is not None and not (isinstance(self.asked_by, str) and 0 < len(self.asked_by) <= _LONGEST):
            raise InvalidParameter(f"asked_by must be a text of 1 to {_LONGEST} characters, or left out")
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
        """Nothing happens before the request came in, and no extension reaches beyond what the law allows."""
        if self.received is None:
            return
        start = datetime.fromisoformat(self.received).date()
        for name in _DAYS:
            when = getattr(self, name)
            if when is not None and when < start:
                raise InvalidParameter(f"lies before the receipt, {self.received}", **{name: when})
        if self.extended_until is not None and self.extended_until > last_day(self.received, months=3):
            raise InvalidParameter(
                f"is more than three months after {self.received}: Article 12(3) GDPR allows two months more, until "
                f"{last_day(self.received, months=3).isoformat()}",
                extended_until=self.extended_until,
            )

    @property
    def refused(self) -> bool:
        return self.decision in REFUSALS

    def stated(self, **facts: Any) -> RequestCase:
        """The same case with more facts; what was stated before is not overwritten by nothing."""
        return replace(self, **{name: fact for name, fact in facts.items() if fact is not None})

    def extended(self, until: Any, reason: Reasons | str, *, told: Any, holidays: tuple[date, ...] = ()) -> RequestCase:
        """The case with a later deadline.

        Raises:
            InvalidParameter: the person was not told within the first month, when it must have been said (Article 12(3)).
        """
        if self.received is None:
            raise InvalidParameter(
                "a deadline is extended from the day of receipt: state when the request was received first"
            )
        due = last_day(self.received, holidays=holidays)
        if parse_day("told", told) > due:
            raise InvalidParameter(
                f"the person must be told of an extension by {due.isoformat()}, within the first month (Article 12(3) GDPR), and was "
                f"told on {parse_day('told', told).isoformat()}; the deadline stays"
            )
        if not parse_day("extended_until", until) > due:
            raise InvalidParameter(f"the deadline is {due.isoformat()} without an extension; give a later day")
        return replace(self, extended_until=until, extension_reason=Reasons(reason))

    def to_dict(self) -> dict[str, Any]:
        """As `_stated`: `Case(**found)` reads it back."""
        return _case_to_json(self)


@dataclass(frozen=True)
class RegisterPolicy:
    """What holds for every request of one store, as its operator states it.

    holidays     public holidays of the place, by which deadlines move
    keep_years   how long a closed request stays in the register: so many years after the end of the year
    controller, contact, authority   who answers for the data, how to reach them, where to complain: texts for papers
    purposes, models                 what the models are for, and which they are: texts for papers
    source, lawful_basis, review     for the impact assessment: where the data come from, on which basis, when it is looked at again
    justification                    why this is necessary, and why with this budget: a text for registry and assessment
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
        """As `_stated`: `Practice(**found)` reads it back."""
        return _case_to_json(self)


# what no text of an operator can make true of a model, in the words of people: EDPB Opinion 28/2024, and no certificate says it
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
    """A warning for each text that says of a model what no paper shows: that it is anonymous, forgot somebody, complies with a law."""
    found = [(name, word) for name, text in texts.items() for word in _OVERCLAIMS if word in str(text or "").lower()]
    return tuple(
        f"{name} says {word!r}: no certificate shows that, and what stands in your papers is your statement. Say what was done instead"
        for name, word in dict(reversed(found)).items()
    )


TEXTS = ("controller", "contact", "authority", "purposes", "models", "source", "lawful_basis", "justification")


def _case_to_json(facts: RequestCase | RegisterPolicy) -> dict[str, Any]:
    """In JSON's own types; what is not stated is left out."""
    found = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return {name: case_to_json(value) for name, value in found.items() if value is not None}


def _is_digest(text: Any) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= set("0123456789abcdef")
