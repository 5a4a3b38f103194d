"""A statement, its check, the fault that the check must notice, and the code it licenses.

A check is a function `check(claim, effort)` that returns a `Finding` or raises `Refuted`. `claim` is the statement in
executable form: the formula of the paper, or the licensed function of the package itself. The planted fault is another
`claim`, wrong in one named place; the same check must refuse it. `effort` scales random searches (1 by default).
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from noisygd_delete.errors import NoisyGDDeleteError

HOLDS = "holds"
REPAIRED = "holds with a repair"
FAILS = "fails"

SYMBOLIC = "symbolic"
RIGOROUS = "rigorous numeric"
ADVERSARIAL = "adversarial search"


class Refuted(AssertionError):
    """The check did not establish the statement."""


def require(condition: Any, message: str) -> None:
    """Raise `Refuted` unless the condition is true (written so that a NaN refutes)."""
    if not condition:
        raise Refuted(message)


def same(left: Any, right: Any, line: str) -> None:
    """The algebra from one displayed line to the next: both sides are one expression."""
    difference = sp.sympify(left) - sp.sympify(right)
    require(difference == 0 or sp.simplify(difference) == 0, f"{line}: the sides differ by {sp.simplify(difference)}")


def close(found: float, expected: float, what: str, tolerance: float = 1e-9) -> None:
    """The package's number is the one worked out here: bounds are checked for looseness as well as for truth."""
    require(abs(found - expected) <= tolerance * abs(expected) + 1e-300, f"{what}: {found}, worked out {expected}")


def require_refusal(action: Callable[[], Any], what: str) -> None:
    """Require that `action` raises an error of the package; an exception of another kind is no refusal."""
    try:
        action()
    except NoisyGDDeleteError:
        return
    raise Refuted(f"{what}: not refused")


@dataclass(frozen=True)
class Finding:
    """What a check saw.

    margin          the closest approach to a violation, or by how much a false statement fails
    counterexample  for what fails: the smallest example, in exact arithmetic
    """

    margin: str
    counterexample: str = ""


@dataclass(frozen=True)
class Statement:
    key: str
    title: str
    verdict: str
    evidence: tuple[str, ...]
    claim: Any
    fault_name: str
    fault: Any
    licenses: tuple[str, ...]
    scope: str
    check: Callable[[Any, int], Finding]
    group: str


@dataclass(frozen=True)
class Row:
    """The outcome of one statement in one run."""

    statement: Statement
    status: str  # "green", "red" or "stale"
    finding: Finding | None = None
    problem: str = ""
    seconds: float = field(default=0.0, compare=False)


REGISTRY: dict[str, Statement] = {}


def statement(
    key: str,
    title: str,
    *,
    verdict: str = HOLDS,
    evidence: tuple[str, ...],
    claim: Any,
    fault: tuple[str, Any],
    scope: str,
    licenses: tuple[str, ...] = (),
    registry: dict[str, Statement] | None = None,
) -> Callable[[Callable[[Any, int], Finding]], Callable[[Any, int], Finding]]:
    """Register the decorated check. `licenses` are "module:function" names inside noisygd_delete."""
    target = REGISTRY if registry is None else registry

    def register(check: Callable[[Any, int], Finding]) -> Callable[[Any, int], Finding]:
        if key in target:
            raise ValueError(f"the statement {key} is registered twice")
        target[key] = Statement(
            key, title, verdict, evidence, claim, fault[0], fault[1], licenses, scope, check, check.__module__
        )
        return check

    return register


def run(entry: Statement, effort: int = 1) -> Row:
    """Check one statement. An exception of any kind is red: a check that cannot run establishes nothing."""
    started = time.perf_counter()
    try:
        finding = entry.check(entry.claim, effort)
        if entry.verdict != HOLDS:
            require(
                finding.counterexample,
                "a statement that fails, as it is or until it is repaired, needs a counter-example",
            )
    except Refuted as refutation:
        return Row(entry, "red", problem=str(refutation), seconds=time.perf_counter() - started)
    except Exception:
        problem = traceback.format_exc(limit=-2).strip()
        return Row(entry, "red", problem=problem, seconds=time.perf_counter() - started)
    return Row(entry, "green", finding, seconds=time.perf_counter() - started)


def notices_fault(entry: Statement) -> tuple[bool, str]:
    """Whether the check refuses its planted fault, and in what words. A crash is not a refusal."""
    try:
        entry.check(entry.fault, 1)
    except Refuted as refutation:
        return True, str(refutation)
    except Exception:
        return False, "the check crashed: " + traceback.format_exc(limit=-1).strip()
    return False, "the check accepted the fault"
