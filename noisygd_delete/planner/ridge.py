"""The ridge of the forecast, for every method: λ′ from sizes, budget, loss and the method's own noise, never from data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..bounds.ridge import balanced_ridge
from ..errors import InvalidParameter, NoisyGDDeleteError, choice
from ..methods.base import RIDGES
from ..methods.plan import Plan
from ..methods.problem import Problem

_MOST = 1e4  # times λ + β: nothing is learned beyond it
_DIGITS = 3  # λ′ is rounded up to so many
_NARROW = 40  # columns, of several classes: chosen on six tables (benchmarks/results/ridge.md)


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


def guessed_norm(problem: Problem) -> float:
    """B: weights on which the log odds of two classes reach log n, larger odds than n records can bear out; and never more than
    √(2L(0)/λ), which no minimiser exceeds.

    With k classes every pair of them: Σ_{i<j}‖w_i − w_j‖² = k‖W‖² where the rows of W add up to 0, so ‖W‖² ≤ (k−1)/2 (log n/R)²; in a wide
    table, √`parts` of that. For a target, whose public bounds are [−1, 1]: weights with which a single column, whose share of a row's norm is
    R/√columns, takes the prediction from one end to the other.

    Raises:
        InvalidParameter: the loss is no linear model of odds or of a target.
    """
    loss = problem.loss
    if loss.label_kind == "none" or problem.dimension != loss.outputs * problem.features:
        raise InvalidParameter(
            f"the {loss.name} loss is no linear model of odds or of a target, so there is no public guess of the weights: give a model_norm "
            "that a good model may have"
        )
    zero = loss.largest_at_zero(np)
    if loss.label_kind == "target":
        return min(math.sqrt(problem.features) / loss.radius, math.sqrt(2 * zero / problem.regularization))
    odds = math.log(max(problem.records, 2)) / loss.radius
    pairs = math.sqrt((loss.outputs - 1) / 2) if loss.label_kind == "class" else 1.0
    return min(odds * pairs * math.sqrt(parts(problem)), math.sqrt(2 * zero / problem.regularization))


def parts(problem: Problem) -> float:
    """Of a wide table with several classes, how many models it is taken for, side by side, each with a narrow part of the columns.

    A row of categories or bins lies in one of them, so it feels the noise and the regulariser of that part alone: a wide W may be longer by the
    root of their number. Two classes are left as one: there a λ so much smaller has no plan, and a chain lengthens the model.
    """
    loss = problem.loss
    linear = loss.label_kind == "class" and problem.dimension == loss.outputs * problem.features
    return max(1.0, problem.features / _NARROW) if linear else 1.0


def expected_cost(plan: Plan) -> float:
    """What noise and regulariser are forecast to cost a row, nats in the objective asked for."""
    return (plan.outlook.forecast + plan.problem.ridge_cost) / parts(plan.problem)


def _rounded_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.{_DIGITS}g}")
