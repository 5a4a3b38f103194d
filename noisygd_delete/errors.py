"""Exceptions and warnings of the package, and the argument checks that raise them.

A message names the value, the allowed range and the remedy. Checks are written as "raise unless", so NaN fails them.

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
    """Base class of every error that this package raises on purpose.

    Args:
        reason: What is wrong. It follows the parameters in the message: `order=0.5 must be > 1`.
        **given: The parameters at fault and their values.
    """

    def __init__(self, reason: str = "", /, **given: Any) -> None:
        super().__init__(reason)
        self.given = given

    def __str__(self) -> str:
        return self.format_message(lambda name, value: f"{name}={format_value(value)}")

    def format_message(self, spell: Callable[[str, Any], str]) -> str:
        """Return the message, with each parameter and value formatted by `spell` (for example as a CLI option)."""
        given = " and ".join(spell(name, value) for name, value in self.given.items())
        return " ".join([*([given] if given else []), *map(str, self.args)])


class NothingPromised(UserWarning):
    """The plan's bound does not guarantee a model better than guessing. The model may still be better."""


class FitsAddUp(UserWarning):
    """Several models are fitted to the same people and at least one is published, so all their privacy costs add up."""


class PrivatePreprocessing(UserWarning):
    """The rows look as if an earlier preprocessing step was fitted to them, which no certificate covers."""


class ReleaseWithheld(UserWarning):
    """The records were changed, but the budget allows no further release.

    The old model is withdrawn and no new one is published.
    """


class ValuesClipped(UserWarning):
    """Many values exceed their public bounds and were clipped to them."""


class InvalidParameter(NoisyGDDeleteError, ValueError):
    """A parameter is outside the range in which the mathematics holds."""


class AssumptionViolated(NoisyGDDeleteError, ValueError):
    """The loss or the data violate an assumption of the requested certificate."""


class InvalidRecords(NoisyGDDeleteError, ValueError):
    """The table of records is not usable; nothing was changed."""


class InvalidRequest(NoisyGDDeleteError, ValueError):
    """An edit request cannot be carried out; nothing was changed."""


class UnknownName(InvalidRequest):
    """A request names a record or a person that has no row in the table; nothing was changed.

    Args:
        kind: "id" or "subject".
        name: The name as written in the request.
        why: Possible reasons for the missing row.
        similar: Whether another name, in the table or held out, looks like this one.
        held_out: Whether the name belongs to the held-out set chosen when the store was created.
    """

    def __init__(
        self, kind: str, name: object, *, why: str = "", similar: bool = False, held_out: bool = False
    ) -> None:
        self.kind, self.name, self.why, self.similar, self.held_out = kind, name, why or NEVER_THERE, similar, held_out
        where = "is not" if kind == "id" else "has no row"
        text = f"{kind} {name!r} {where} in the table"
        if held_out:
            text += (
                ": it was held out for measuring when the store was made, so no model learned from it and no row of it is in the store "
                "(a schema that quickstart drafted was read from it, too); nothing was changed"
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
    ". Another name reads like it: compare case, spaces, invisible characters, leading zeros, and the spelling of numbers, "
    "phone numbers and UUIDs, and write the name as the file of the rows has it"
)


class InvalidSchema(NoisyGDDeleteError, ValueError):
    """A feature schema is incomplete, or a file does not match it; nothing was changed."""


class UnreadableRows(InvalidSchema):
    """Cells of one column that the schema cannot parse.

    Attributes:
        source: Name of the input.
        column: Name of the column.
        problem: What is wrong, without the text of the cells.
        rows: Row numbers in the table, from 0.
        lines: Line numbers in the file.
    """

    def __init__(self, source: str, column: str, problem: str, rows: Sequence[int], lines: Sequence[int]) -> None:
        self.source, self.column, self.problem, self.rows, self.lines = source, column, problem, rows, lines
        super().__init__(f"{source}, line {lines[0]}, column {column!r}: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.column, self.problem, self.rows, self.lines)  # pickled by workers


class NothingWorthHaving(NoisyGDDeleteError, ValueError):
    """According to the forecast, noise dominates every learning method, so no useful model can be expected.

    The message states what would change this.
    """


class NotLearned(NoisyGDDeleteError, RuntimeError):
    """A model was requested before `learn` created one."""


class PlanInfeasible(NoisyGDDeleteError):
    """The budget can be met in theory but not on a machine.

    Attributes:
        plan: The plan with all its numbers.
        alternatives: Possible remedies.
    """

    def __init__(self, reason: str, /, *, plan: Any = None, alternatives: tuple[str, ...] = (), **given: Any) -> None:
        super().__init__(reason, **given)
        self.plan = plan
        self.alternatives = alternatives


class BudgetExceeded(NoisyGDDeleteError):
    """A release would exceed the budget. A valid erasure has still been carried out on the rows."""


class MissingDependency(NoisyGDDeleteError, ImportError):
    """An optional library needed by this call is not installed."""


class StoreError(NoisyGDDeleteError):
    """The store on disk cannot carry out the operation; nothing was changed."""


class ProcessLost(NoisyGDDeleteError, RuntimeError):
    """Another process of a distributed run has exited. Nothing was published."""


class StoreLocked(StoreError):
    """Another process is writing to the store."""


class SourceError(StoreError):
    """The database or folder that holds a store's rows cannot be read as required, or did not respond."""


class CountBroken(SourceError):
    """The change counter of a source missed changes; no release is made until counting is restarted (`watch`)."""


class PublisherError(NoisyGDDeleteError):
    """A publisher outside the store failed to publish or withdraw a release.

    The release is valid in the store; the missing step is retried.
    """


class StoreCorrupt(StoreError):
    """The store's files contradict each other or were edited by hand."""


def escape_unprintable(text: str) -> str:
    """Escape the characters of `text` that a page or terminal does not display as themselves."""
    return "".join(letter if letter.isprintable() and letter != "\ufffd" else ascii(letter)[1:-1] for letter in text)


def format_value(value: Any) -> str:
    """Format a value as a Python literal: numbers in their shortest exact form, text in quotes, dates in ISO format."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return repr(float(value)) if isinstance(value, float) else repr(value)


def check_real(name: str, value: Any) -> float:
    """Return `value` as a finite float.

    Raises:
        InvalidParameter: If `value` is a boolean, a string, not a number, or not finite.
    """
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
    """Return `value` as a finite float > 0."""
    number = check_real(name, value)
    if not number > 0:
        raise InvalidParameter("must be > 0", **{name: number})
    return number


LEAST_SCALE, MOST_SCALE = 1e-100, 1e100  # beyond these, squares, noise and steps overflow or underflow


def check_scale(name: str, value: Any) -> float:
    """Return `value` as a float in [1e-100, 1e100]: a norm, width or curvature, whose square must also be a float."""
    number = check_positive(name, value)
    if not LEAST_SCALE <= number <= MOST_SCALE:
        raise InvalidParameter(
            f"must lie between {LEAST_SCALE:g} and {MOST_SCALE:g}: beyond, noise and steps leave the range of "
            "floating-point numbers; give the data in other units",
            **{name: number},
        )
    return number


def non_negative(name: str, value: Any) -> float:
    """Return `value` as a finite float >= 0."""
    number = check_real(name, value)
    if not number >= 0:
        raise InvalidParameter("must be >= 0", **{name: number})
    return number


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = check_real(name, value)
    if not 0 < number < 1:
        raise InvalidParameter("must lie strictly between 0 and 1", **{name: number})
    return number


def renyi_order(name: str, value: Any) -> float:
    """Return `value` as a finite float > 1."""
    number = check_real(name, value)
    if not number > 1:
        raise InvalidParameter("must be > 1: a Rényi order of at most 1 bounds nothing here", **{name: number})
    return number


def check_count(name: str, value: Any, minimum: int = 1, maximum: int = 10**300) -> int:
    """Return `value` as an integer in [`minimum`, `maximum`]. The default maximum still converts to a float."""
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
    """Return `value` if it is one of `options`."""
    if value not in options:
        raise InvalidParameter(f"must be one of {', '.join(map(repr, options))}", **{name: value})
    return str(value)


def check_bound(name: str, value: float) -> float:
    """Return a bound for a certificate; reject NaN and negative values. Infinity is allowed: it guarantees nothing."""
    if not value >= 0:
        raise InvalidParameter(
            f"the bound {name}={value!r} is not a non-negative number; this is a bug, please report it"
        )
    return value


class Word(StrEnum):
    """Base class of string enumerations: a member equals its text, and any other text raises `InvalidParameter`."""

    @classmethod
    def _missing_(cls, value: object) -> Self:
        family = re.sub("(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        raise InvalidParameter(f"{value!r} is not one of the {family}: {', '.join(map(repr, map(str, cls)))}")

    def __repr__(self) -> str:
        return repr(str(self))
