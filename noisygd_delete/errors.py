"""One exception tree, and the positive checks that raise it.

Every message names the value, the range it must lie in, and what to do. Checks are written "raise unless", so that
a NaN fails them.

```text
NoisyGDDeleteError
    AssumptionViolated (ValueError)
    BudgetExceeded
    InvalidParameter (ValueError)
    InvalidRecords (ValueError)
    InvalidRequest (ValueError)
        UnknownName
    InvalidSchema (ValueError)
        UnreadableRows
    MissingDependency (ImportError)
    NotLearned (RuntimeError)
    NothingWorthHaving (ValueError)
    PlanInfeasible
    ProcessLost (RuntimeError)
    PublisherError
    StoreError
        SourceError
            CountBroken
        StoreCorrupt
        StoreLocked
FitsAddUp (UserWarning)
NothingPromised (UserWarning)
PrivatePreprocessing (UserWarning)
ReleaseWithheld (UserWarning)
ValuesClipped (UserWarning)
```
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Self


class NoisyGDDeleteError(Exception):
    """Base of every error this package raises on purpose.

    given: parameters that it is about, and their values. They come before the reason: `order=0.5 must be > 1`.
    """

    def __init__(self, reason: str = "", /, **given: Any) -> None:
        super().__init__(reason)
        self.given = given

    def __str__(self) -> str:
        return self.told(lambda name, value: f"{name}={format_value(value)}")

    def told(self, spelled: Callable[[str, Any], str]) -> str:
        """The message, each parameter and its value spelled as whoever reads it knows them."""
        given = " and ".join(spelled(name, value) for name, value in self.given.items())
        return " ".join([*([given] if given else []), *map(str, self.args)])


class NothingPromised(UserWarning):
    """The plan's bound does not promise a model better than guessing. It may be better all the same."""


class FitsAddUp(UserWarning):
    """Several models are fitted to the same people, and one of them, or all, are published: the costs of all of them add up."""


class PrivatePreprocessing(UserWarning):
    """The rows look as if a step before had been fitted to them, which no certificate covers."""


class ReleaseWithheld(UserWarning):
    """Records were changed, but the budget allows no further release: the old model is withdrawn and no new one is published."""


class ValuesClipped(UserWarning):
    """Many values lie beyond their public bounds, and were clipped to them."""


class InvalidParameter(NoisyGDDeleteError, ValueError):
    """A parameter is outside the range in which the mathematics holds."""


class AssumptionViolated(NoisyGDDeleteError, ValueError):
    """The loss or the data do not meet an assumption of the requested certificate."""


class InvalidRecords(NoisyGDDeleteError, ValueError):
    """The table of records cannot be used as it is; nothing was changed."""


class InvalidRequest(NoisyGDDeleteError, ValueError):
    """An edit request cannot be carried out; nothing was changed."""


class UnknownName(InvalidRequest):
    """A request names a record or a person that has no row in the table; nothing was changed.

    Args:
        kind: "id" or "subject".
        name: As the request has it.
        why: Reasons for which no row may be there.
        similar: Whether another name in the table reads like this one.
        held_out: Whether the name was held out for measuring when the store was made.
    """

    def __init__(
        self, kind: str, name: object, *, why: str = "", similar: bool = False, held_out: bool = False
    ) -> None:
        self.kind, self.name, self.why, self.similar, self.held_out = kind, name, why or NEVER_THERE, similar, held_out
        where = "is not" if kind == "id" else "has no row"
        text = f"{kind} {name!r} {where} in the table"
        if held_out:
            text += (
                ": it was held out for measuring when the store was made, so no model learned from it and no row of it is in the store; "
                "nothing was changed"
            )
        else:
            text += f" ({self.why}); nothing was changed"
        super().__init__(f"{text}{_SIMILAR if similar else ''}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _unknown_name, (self.kind, self.name, self.why, self.similar, self.held_out)


def _unknown_name(kind: str, name: object, why: str, similar: bool, held_out: bool) -> UnknownName:
    return UnknownName(kind, name, why=why, similar=similar, held_out=held_out)


NEVER_THERE = "never there, erased already, or taken out by `restrict`"
_SIMILAR = (
    ". Another name in the table reads like it: compare case, spaces, invisible characters, leading zeros, and the spelling of numbers, "
    "phone numbers and UUIDs, and write the name as the table has it"
)


class InvalidSchema(NoisyGDDeleteError, ValueError):
    """A feature schema is incomplete, or a file does not match it; nothing was changed."""


class UnreadableRows(InvalidSchema):
    """Cells of one column that the schema cannot read. `rows`: of the table, from 0; `lines`: of the file; `problem`: without the cells' text."""

    def __init__(self, source: str, column: str, problem: str, rows: Sequence[int], lines: Sequence[int]) -> None:
        self.source, self.column, self.problem, self.rows, self.lines = source, column, problem, rows, lines
        super().__init__(f"{source}, line {lines[0]}, column {column!r}: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.column, self.problem, self.rows, self.lines)  # workers send it home


class NothingWorthHaving(NoisyGDDeleteError, ValueError):
    """By forecast every way of learning loses so much to noise that no useful model can be expected. Says what would do."""


class NotLearned(NoisyGDDeleteError, RuntimeError):
    """A model was asked for before `learn` made one."""


class PlanInfeasible(NoisyGDDeleteError):
    """The budget can be met on paper but not on a machine. `plan` holds every number, `alternatives` the ways out."""

    def __init__(self, reason: str, /, *, plan: Any = None, alternatives: tuple[str, ...] = (), **given: Any) -> None:
        super().__init__(reason, **given)
        self.plan = plan
        self.alternatives = alternatives


class BudgetExceeded(NoisyGDDeleteError):
    """Publishing would cost more than the budget. A valid erasure has been carried out on the rows all the same."""


class MissingDependency(NoisyGDDeleteError, ImportError):
    """An optional library is needed for this call."""


class StoreError(NoisyGDDeleteError):
    """The store on disk cannot do what was asked; nothing was changed."""


class ProcessLost(NoisyGDDeleteError, RuntimeError):
    """Another process of a distributed run has gone. Nothing was published."""


class StoreLocked(StoreError):
    """Another process is writing to the store."""


class SourceError(StoreError):
    """The database or folder in which a store's rows lie cannot be read as it must be, or did not answer."""


class CountBroken(SourceError):
    """What counts the changes of a source has missed some; no release is made before it counts anew."""


class PublisherError(NoisyGDDeleteError):
    """A place outside the store cannot take or give up a release. The release stands in the store; what is missing is tried again."""


class StoreCorrupt(StoreError):
    """The store's files contradict one another or were changed by hand."""


def escape_unprintable(text: str) -> str:
    """The text, with what no page or terminal shows as a character of its own spelled out."""
    return "".join(letter if letter.isprintable() and letter != "\ufffd" else ascii(letter)[1:-1] for letter in text)


def format_value(value: Any) -> str:
    """A value as it would be given: a number in the digits that it needs, a text in quotes."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return repr(float(value)) if isinstance(value, float) else repr(value)


def check_real(name: str, value: Any) -> float:
    """`value` as a finite float, or `InvalidParameter` naming it. Booleans and strings are refused."""
    if isinstance(value, (bool, str, bytes)):
        raise InvalidParameter("must be a number; pass a float", **{name: value})
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidParameter("must be a number; pass a float", **{name: value}) from error
    except OverflowError as error:
        raise InvalidParameter(f"{name} is a whole number too large for a float; pass a float") from error
    if not math.isfinite(number):
        raise InvalidParameter("must be finite; a NaN or an infinity certifies nothing", **{name: number})
    return number


def check_positive(name: str, value: Any) -> float:
    """`value` as a finite float > 0."""
    number = check_real(name, value)
    if not number > 0:
        raise InvalidParameter("must be > 0", **{name: number})
    return number


LEAST_SCALE, MOST_SCALE = 1e-100, 1e100  # beyond, squares, noise and steps leave the range of floating-point numbers


def check_scale(name: str, value: Any) -> float:
    """`value` as a float between 1e-100 and 1e100: a norm, a width, a curvature, whose square must be a float too."""
    number = check_positive(name, value)
    if not LEAST_SCALE <= number <= MOST_SCALE:
        raise InvalidParameter(
            f"must lie between {LEAST_SCALE:g} and {MOST_SCALE:g}: beyond, noise and steps leave the range of "
            "floating-point numbers; give the data in other units",
            **{name: number},
        )
    return number


def non_negative(name: str, value: Any) -> float:
    """`value` as a finite float >= 0."""
    number = check_real(name, value)
    if not number >= 0:
        raise InvalidParameter("must be >= 0", **{name: number})
    return number


def check_probability(name: str, value: Any) -> float:
    """`value` as a float strictly between 0 and 1."""
    number = check_real(name, value)
    if not 0 < number < 1:
        raise InvalidParameter("must lie strictly between 0 and 1", **{name: number})
    return number


def renyi_order(name: str, value: Any) -> float:
    """`value` as a finite float > 1."""
    number = check_real(name, value)
    if not number > 1:
        raise InvalidParameter("must be > 1: a Rényi order of at most 1 bounds nothing here", **{name: number})
    return number


def check_count(name: str, value: Any, minimum: int = 1, maximum: int = 10**300) -> int:
    """`value` as an integer >= `minimum` and <= `maximum`; by default one that may enter a formula of floats."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidParameter(f"must be a whole number >= {minimum}", **{name: value})
    number = int(value.__index__())
    if not number >= minimum:
        raise InvalidParameter(f"must be a whole number >= {minimum}", **{name: number})
    if not number <= maximum:
        if number >= 10**30:
            raise InvalidParameter(f"{name} must be at most {maximum}; this number has more than 30 digits")
        raise InvalidParameter(f"must be at most {maximum}", **{name: number})
    return number


def check_choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """`value` if it is one of `options`."""
    if value not in options:
        raise InvalidParameter(f"must be one of {', '.join(map(repr, options))}", **{name: value})
    return str(value)


def check_bound(name: str, value: float) -> float:
    """The last gate before a number reaches a certificate: not NaN and not negative (infinity promises nothing)."""
    if not value >= 0:
        raise InvalidParameter(
            f"the bound {name}={value!r} is not a non-negative number; this is a bug, please report it"
        )
    return value


class Word(StrEnum):
    """A word from a fixed list. It equals its own text, so it reads and writes as a string; any other text is refused."""

    @classmethod
    def _missing_(cls, value: object) -> Self:
        family = re.sub("(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        raise InvalidParameter(f"{value!r} is not one of the {family}: {', '.join(map(repr, map(str, cls)))}")

    def __repr__(self) -> str:
        return repr(str(self))
