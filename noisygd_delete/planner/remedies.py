"""Where nothing is worth having: how many records, how wide a budget or how few columns would do, one at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..bounds.search import first_whole
from ..errors import NoisyGDDeleteError
from ..methods.plan import Plan
from ..privacy.budget import Budget
from .make import make_plan
from .ridge import expected_cost

_STEPS = 4  # records, budgets and columns are tried at powers of 10^(1/4)
_DECADES = 4


def remedies(plan: Plan, facts: Mapping[str, Any], target: float, *, free: bool) -> tuple[str, ...]:
    """The changes at which the plan's method has a forecast below `target`.

    Args:
        facts: the arguments of `compare_plans` that the plan came of.
        free: whether λ is chosen anew at each trial, from β/n on.
    """
    given = {name: value for name, value in facts.items() if name not in ("regularization", "one_hot_blocks")}
    given |= {"method": plan.method.name, "releases": plan.releases, "batch": plan.problem.batch}
    records, features, budget = plan.records, plan.features, plan.budget

    def good(**changed: Any) -> bool:
        sizes = {**given, **changed}
        asked = plan.loss.constants.smoothness / sizes["records"] if free else facts["regularization"]
        try:
            other = make_plan(**sizes, regularization=asked)
        except NoisyGDDeleteError:
            return False
        return expected_cost(other) < target

    found = []
    more = _least_power(lambda factor: good(records=math.ceil(records * factor)))
    if more is not None:
        found.append(f"n={_round_up(records * more):,.0f} records in place of {records}, all else alike")
    wider = _least_power(lambda factor: good(budget=_wider(budget, factor)))
    if wider is not None:
        found.append(f"{_wider(budget, wider).describe()} in place of {budget.describe()}")
    if plan.releases > 2:
        rarer = _least_power(lambda factor: good(releases=_fewer(plan.releases, factor)))
        if rarer is not None:
            found.append(f"{_fewer(plan.releases, rarer)} publications in place of {plan.releases}, the learn included")
    if features > 2:
        fewer = _least_power(lambda factor: good(features=_fewer(features, factor)))
        if fewer is not None:
            found.append(f"{_fewer(features, fewer)} columns in place of {features}, the constant one included")
    return tuple(found)


def _least_power(good: Callable[[float], bool]) -> float | None:
    """The least power of 10^(1/4), up to 10⁴, at which something is good; None if none is."""

    def at(step: int) -> bool:
        return good(10 ** (step / _STEPS))

    if not at(_STEPS * _DECADES):
        return None
    return float(10 ** (first_whole(at, 0, _STEPS * _DECADES) / _STEPS))


def _fewer(number: int, factor: float) -> int:
    return max(2, math.floor(number / factor))  # a constant and one that says something; a learn and a deletion


def _wider(budget: Budget, factor: float) -> Budget:
    """Both parts so many times as large, rounded up to two digits."""
    return replace(budget, dp=_round_up(budget.dp * factor), deletion=_round_up(budget.deletion * factor))


def _round_up(value: float) -> float:
    """Up, to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.2g}")
