"""The result of a verification, one line per check, and the comparison of two JSON values."""

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
LAST_DIGITS = 1e-9  # relative: log, exp and the search over orders may differ between machines
_LARGEST = 10**300  # largest whole number that is compared as a float
_LONGEST = 400  # characters of a message that may quote untrusted text


@dataclass(frozen=True)
class Check:
    """One line of the result."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """The result of a verification: every check, and whether all passed."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a JSON object."""
        return {
            "passed": self.passed,
            "checks": [asdict(check) for check in self.checks],
        }

    def text(self) -> str:
        """Return one line per check and the verdict."""
        lines = [f"{'ok  ' if check.passed else 'FAIL'} {check.name}: {check.detail}" for check in self.checks]
        return "\n".join([*lines, "the certificate holds" if self.passed else "the certificate does NOT hold"])


def shorten_error(error: BaseException) -> str:
    """Return the message of an error, shortened and without control characters."""
    text = str(error) or type(error).__name__
    text = "".join(letter if letter.isprintable() else "?" for letter in text[:_LONGEST])
    return text + ("..." if len(str(error)) > _LONGEST else "")


def at_least(stated: Any, proven: float | None) -> bool:
    """Return whether a stated bound is a number no less than the proven one.

    If there is no finite proven bound, only null is accepted, which claims nothing.
    """
    if stated is None or proven is None or math.isinf(proven):
        return stated is None
    number = type(stated) in (int, float) and 0 <= stated < math.inf and str(stated)[0] != "-"
    return number and bool(stated >= proven * (1 - LAST_DIGITS))


def with_whole_numbers(document: Any) -> Any:
    """Return a JSON value in which every integral number is an `int`: in a certificate, 2.0 and 2 are equal.

    Numbers of magnitude 2⁵³ or more, and −0.0, are unchanged.

    Args:
        document: A parsed JSON document.

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
    """Return the path of the first place where two JSON values differ in type or content; None if they are equal.

    An integer is equal to the float of the same value, as most languages write 1.0 as 1.

    Args:
        stated: The value as stated.
        again: The value as computed.
        path: Prefix of the returned path.
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
    same = type(stated) is type(again) and repr(stated) == repr(again)  # −0.0 differs from 0.0
    return None if same else path.rstrip(".") or "value"
