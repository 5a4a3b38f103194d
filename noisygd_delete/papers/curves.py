"""What the report draws, as plain numbers from public facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..accountant import Accountant
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee

Curve = NDArray[np.float64]
POINTS = 160
LISTED = 200  # releases that a report lists one by one, the last ones


@dataclass(frozen=True)
class BurnDown:
    """Cost to a record still there, after each of these releases: ε at δ, rounding slack included, of that release alone and of all
    so far."""

    release: Curve
    single: Curve
    cumulative: Curve
    allowed: float | None


@dataclass(frozen=True)
class Costs:
    """Full passes over the table (a solver's as forecast): of each release, summed, and had every request been answered by learning afresh."""

    release: Curve
    passes: Curve
    total: Curve
    relearning: Curve


def shown(releases: int) -> list[int]:
    """The releases that a report converts and draws: the last `LISTED`, and of those before as many as a picture can show."""
    first = max(1, releases - LISTED + 1)
    before = np.unique(np.linspace(1, first - 1, POINTS).astype(int)) if first > 1 else np.array([], int)
    return [*map(int, before), *range(first, releases + 1)]


def burn_down(accountant: Accountant, plan: Plan, delta: float) -> BurnDown:
    def epsilons(guarantees: Sequence[Guarantee]) -> Curve:
        known = {guarantee: guarantee.with_slack().epsilon(delta) for guarantee in dict.fromkeys(guarantees)}
        return np.array(
            [known[guarantee] for guarantee in guarantees]
        )  # releases of one kind cost the same by themselves

    numbers = shown(accountant.releases)
    return BurnDown(
        release=np.array(numbers, dtype=float),
        single=epsilons(accountant.dp_of_each(at=numbers)),
        cumulative=epsilons(accountant.dp_cumulative_of_each(numbers)),
        allowed=_cap(plan, delta),
    )


def _cap(plan: Plan, delta: float) -> float | None:
    """ε at δ of the cap on the sum; None where there is none, or none at this δ."""
    if plan.total is not None:
        return plan.total.epsilon if plan.total.delta == delta else None
    return plan.allowed.epsilon(delta) if plan.releases > 1 else None


def costs(accountant: Accountant, plan: Plan) -> Costs:
    known: dict[int, tuple[int, int]] = {}  # of thousands of releases, which are a few events again and again
    own, learn = plan.mechanism, plan.learn_steps + plan.learn_solver_passes
    events = accountant.events
    for event in events:
        if id(event) not in known:
            solver = plan.learn_solver_passes if event.fresh else plan.delete_solver_passes
            passed = event.steps + (solver if event.mechanism == own else 0)
            known[id(event)] = passed, event.steps if event.mechanism.publishes == "statistic" else learn
    each = np.array([known[id(event)] for event in events], float).reshape(-1, 2)
    passes, learning = each.T
    numbers = np.array(shown(len(passes)))
    return Costs(
        numbers.astype(float), *(of_all[numbers - 1] for of_all in (passes, passes.cumsum(), learning.cumsum()))
    )
