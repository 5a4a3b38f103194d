"""Does the plan's bound promise a model better than guessing? One answer for every method, start and door."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import NoisyGDDeleteError
from ..methods.plan import Plan

_LARGER = (3, 10, 30, 100)  # times λ, tried in this order


def worth(plan: Plan) -> str:
    """A warning where the bound on the excess risk does not even show that the model is better than weights of 0, with a λ for
    which it does if one is near; "" where the bound shows it, and for a loss that has no labels to guess."""
    if plan.loss.label_kind == "none":
        return ""
    zero = float(plan.loss.value(np.zeros((1, plan.loss.outputs)), np.ones(1, int), np)[0])
    if plan.excess_risk < zero:  # L(0) − min L is at most L(0): losses are not negative
        return ""
    if not math.isfinite(plan.excess_risk):
        bound = "and no bound on the loss holds for this plan, which therefore"
    else:
        bound = f"so {plan.excess_risk:.3g}"
    text = (
        f"Careful: weights of 0 lose {zero:.3g} at most, {bound} does not promise a model better than guessing (it is "
        "a bound: what happens may be better). More records, fewer columns, a larger dp budget or a larger λ lower it"
    )
    convex = plan.horizon is None and plan.order is None  # else λ decides which theorem answers, not only how well
    for other in (_again(plan, regularization=plan.regularization * factor) for factor in _LARGER if convex):
        if other is not None and other.excess_risk < zero / 2:
            return f"{text}: λ={other.regularization:.3g} would make it {other.excess_risk:.3g}."
    return f"{text}."


def _again(plan: Plan, **changes: Any) -> Plan | None:
    """The plan for a changed problem; None where there is none."""
    from . import make_plan

    problem = replace(plan.problem, step_size=None, noise_variance=None, **changes)
    try:
        return make_plan(**{name: getattr(problem, name) for name in problem.__dataclass_fields__})
    except NoisyGDDeleteError:
        return None
