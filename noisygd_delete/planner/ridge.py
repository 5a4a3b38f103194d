"""The ridge of the forecast, for every method: λ′ from sizes, budget, loss and the method's own noise, never from data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ..bounds.ridge import balanced_ridge
from ..errors import InvalidParameter, NoisyGDDeleteError, choice
from ..methods.base import RIDGES
from ..methods.forecast import guessed_norm, parts
from ..methods.plan import Plan
from ..methods.problem import Problem

_MOST = 1e4  # times λ + β: nothing is learned beyond it
_DIGITS = 3  # λ′ is rounded up to so many


def with_ridge(problem: Problem, plan: Callable[[Problem], Plan], ridge: str) -> Problem:
    """The problem with the λ that `ridge` names.

    Raises:
        InvalidParameter: no guess of the norm for this loss, or B given where it plays no part. Whatever `plan` raises, where no
            λ has a plan.
    """
    asked = problem.asked_regularization
    if choice("ridge", ridge, RIDGES) == "given":
        if problem.model_norm is not None and asked is None:
            raise InvalidParameter(
                "belongs to ridge 'forecast'; name it, or leave model_norm out", model_norm=problem.model_norm
            )
        return problem
    asked = problem.regularization if asked is None else asked
    if problem.method.own_ridge:
        return replace(problem, regularization=asked, asked_regularization=None, model_norm=None)
    problem = replace(problem, regularization=asked, asked_regularization=None)
    norm = guessed_norm(problem) if problem.model_norm is None else problem.model_norm

    def raised(regularization: float) -> Problem:
        return replace(problem, regularization=regularization, asked_regularization=asked, model_norm=norm)

    def cost(regularization: float) -> float:
        try:
            planned = plan(raised(regularization))
        except (NoisyGDDeleteError, ArithmeticError):
            return math.inf
        return planned.outlook.forecast

    most = _MOST * problem.objective_smoothness
    found = balanced_ridge(cost, regularization=problem.regularization, model_norm=norm, most=most)
    if found == math.inf:
        plan(problem)  # says what is wrong
        raise InvalidParameter(
            f"finds no λ up to {most:.3g} at which the noise of method {problem.method.name!r} costs less than the "
            "regulariser; raise the budget, collect more records, or leave ridge out",
            ridge="forecast",
        )
    return raised(problem.regularization if found == problem.regularization else _rounded_up(found))


def expected_cost(plan: Plan) -> float:
    """What noise and regulariser are forecast to cost a row, nats in the objective asked for."""
    return (plan.outlook.forecast + plan.problem.ridge_cost) / parts(plan.problem)


def _rounded_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.{_DIGITS}g}")
