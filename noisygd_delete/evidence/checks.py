"""The answer of a verification: one line per check, and how two JSON values are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import NoisyGDDeleteError

REFUSALS = (
    NoisyGDDeleteError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError, MemoryError,
    RecursionError,
)  # fmt: skip
LAST_DIGITS = 1e-9  # relative: another machine's log and exp, and where a search over orders ends there
_LARGEST = 10**300  # of a whole number that is read as a fraction
_LONGEST = 400  # characters of an answer that may quote what a stranger wrote


@dataclass(frozen=True)
class Check:
    """One line of the answer."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """The answer: every check, and whether all passed."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "checks": [asdict(check) for check in self.checks],
        }

    def text(self) -> str:
        lines = [f"{'ok  ' if check.passed else 'FAIL'} {check.name}: {check.detail}" for check in self.checks]
        return "\n".join([*lines, "the certificate holds" if self.passed else "the certificate does NOT hold"])


def shorten_error(error: BaseException) -> str:
    """An error in at most a few lines, without characters that would take over a terminal."""
    said = str(error) or type(error).__name__
    said = "".join(letter if letter.isprintable() else "?" for letter in said[:_LONGEST])
    return said + ("..." if len(str(error)) > _LONGEST else "")


def at_least(said: Any, proven: float | None) -> bool:
    """Whether a stated bound is a number no less than what can be proven; null, where there is no bound, claims nothing."""
    if said is None or proven is None or math.isinf(proven):
        return said is None
    number = type(said) in (int, float) and 0 <= said < math.inf and str(said)[0] != "-"
    return number and bool(said >= proven * (1 - LAST_DIGITS))


def with_whole_numbers(document: Any) -> Any:
    """Return a JSON value in which every number without a fraction is an `int`: in a certificate, 2.0 and 2 are one number.

    Args:
        document: a parsed JSON document. Beyond 2⁵³ and at −0.0 numbers are left as they are.

    Raises:
        RecursionError: If it is nested too deeply.
    """
    if isinstance(document, Mapping):
        return {name: with_whole_numbers(value) for name, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [with_whole_numbers(value) for value in document]
    if isinstance(document, float) and abs(document) < 2**53 and int(document) == document and repr(document) != "-0.0":
        return int(document)
    return document


def first_difference(stated: Any, again: Any, path: str = "") -> str | None:
    """Path of the first place where two JSON values differ in kind or content.

    Where a fraction is due, 1 is 1.0: most languages write it so.
    """
    if isinstance(stated, Mapping) and isinstance(again, Mapping):
        for name in [*again, *(name for name in stated if name not in again)]:
            if name not in stated or name not in again:
                return shorten_error(ValueError(f"{path}{name}"))
            found = first_difference(stated[name], again[name], f"{path}{name}.")
            if found:
                return found
        return None
    if isinstance(stated, (list, tuple)) and isinstance(again, (list, tuple)):
        if len(stated) != len(again):
            return path.rstrip(".")
        pairs = enumerate(zip(stated, again, strict=True), start=1)
        return next((found for i, (a, b) in pairs if (found := first_difference(a, b, f"{path}{i}."))), None)
    if type(stated) is int and isinstance(again, float) and abs(stated) < _LARGEST and float(stated) == stated:
        stated = float(stated)
    same = type(stated) is type(again) and repr(stated) == repr(again)  # −0.0 is another number than 0.0 to a reader
    return None if same else path.rstrip(".") or "value"
