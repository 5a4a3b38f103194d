"""Expected quality of a release, from public numbers, for selection and explanations. No guarantee depends on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ..errors import InvalidParameter

if TYPE_CHECKING:
    from .problem import Problem

_NARROW = 40  # columns, of several classes: chosen on six tables (benchmarks/results/ridge.md)


@dataclass(frozen=True)
class Prospects:
    """Expected quality of a plan's models.

    Attributes:
        excess_risk: Bound on E[L_D(θ)] − min L_D of every released model; infinite if there is none.
        forecast: Forecast of the excess risk of a release in the long run, independent of the start; nats per record.
        weight_deviation: Largest standard deviation of the noise of published weights in any direction, to first order,
            if no row curves the objective.
    """

    excess_risk: float
    forecast: float
    weight_deviation: float

    @classmethod
    def of_steps(
        cls, problem: Problem, step_size: float, noise_variance: float, *, excess_risk: float = math.inf
    ) -> Self:
        """Return the prospects of many noisy steps at step size η and noise variance σ².

        The forecast is `forecast_excess_risk` for infinitely many steps and the deviation `steps_deviation`; the bound
        is `excess_risk` as given.
        """
        forecast = forecast_excess_risk(problem, step_size=step_size, noise_variance=noise_variance)
        return cls(excess_risk, forecast, steps_deviation(problem, step_size, noise_variance))


def steps_deviation(problem: Problem, step_size: float, noise_variance: float) -> float:
    """Return σ/√(m(1 − ηm/2)), the standard deviation of a weight along a flat direction after many noisy steps.

    Infinite if no step contracts (m ≤ 0).
    """
    convexity = problem.strong_convexity
    return math.sqrt(noise_variance / (convexity * (1 - step_size * convexity / 2))) if convexity > 0 else math.inf


def forecast_excess_risk(
    problem: Problem, *, step_size: float, noise_variance: float, steps: float = math.inf
) -> float:
    """Return the forecast of E[L_D(θ)] − min L_D after `steps` steps from the minimiser, in nats per record.

    It is dσ²/2 · (1 − (1 − u)^{2K})/(1 − u/2) with u = min(1, η(m + T/d)), from public numbers only. Along curvature h
    the noise leaves variance σ²(1 − (1 − ηh)^{2K})/(h(1 − ηh/2)), which costs h/2 times that. The Hessian of the mean
    loss has trace at most T beyond λd (all that is public about it), and spreading T evenly over the d directions is
    the costliest case while the cost of a direction is concave in h.
    """
    mean_curvature = problem.strong_convexity + problem.loss.curvature_trace / problem.dimension
    u = min(step_size * mean_curvature, 1.0)
    settled = 1.0 if u == 1 or steps == math.inf else -math.expm1(2 * steps * math.log1p(-u))
    return problem.dimension * noise_variance / 2 * settled / (1 - u / 2)


def estimated_norm(problem: Problem) -> float:
    """Return B, a public guess of the norm of the weights; never above √(2L(0)/λ), a bound for every minimiser.

    For two classes it is log(n)/R, where the log odds reach log n, larger odds than n records can support. With k
    classes this holds for every pair: Σ_{i<j}‖w_i − w_j‖² = k‖W‖² if the rows of W add up to 0, so ‖W‖² ≤ (k−1)/2 (log
    n/R)²; in a wide table, √`parts` times that norm. For a target, whose public bounds are [−1, 1], it is √columns/R:
    weights with which a single column, whose share of a row's norm is R/√columns, moves the prediction from one end to
    the other.

    Raises:
        InvalidParameter: If the loss is no linear model of odds or of a target.
    """
    import numpy as np  # imported on use

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
    """Return max(1, features/40) for a linear loss of several classes, else 1: the narrow models in a wide table.

    A row of categories or bins is in one part of the columns, so it is affected by the noise and the regulariser of
    that part only; the norm of a wide W may be larger by the square root of their number. Two classes count as one
    part: there no plan exists for such a small λ, and a chain enlarges the model.
    """
    loss = problem.loss
    linear = loss.label_kind == "class" and problem.dimension == loss.outputs * problem.features
    return max(1.0, problem.features / _NARROW) if linear else 1.0
