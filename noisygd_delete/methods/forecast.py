"""What a release will be worth, from public numbers: for choosing and for words. No guarantee rests on it."""

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
    """What the models of a plan are worth.

    excess_risk       bound on E[L_D(θ)] − min L_D of every released model; infinite where nothing is promised
    forecast          of the excess risk of a release in the long run, where nothing is left of the start; nats per record
    weight_deviation  of the noise of published weights in any direction, at most and to first order: where no row curves the objective
    """

    excess_risk: float
    forecast: float
    weight_deviation: float

    @classmethod
    def of_steps(
        cls, problem: Problem, step_size: float, noise_variance: float, *, excess_risk: float = math.inf
    ) -> Self:
        """Of noisy steps in the long run: weights that deviate by σ/√(m(1 − ηm/2))."""
        forecast = forecast_excess_risk(problem, step_size=step_size, noise_variance=noise_variance)
        return cls(excess_risk, forecast, steps_deviation(problem, step_size, noise_variance))


def steps_deviation(problem: Problem, step_size: float, noise_variance: float) -> float:
    """Of the weights along a flat direction after many noisy steps; infinite where none contracts."""
    convexity = problem.strong_convexity
    return math.sqrt(noise_variance / (convexity * (1 - step_size * convexity / 2))) if convexity > 0 else math.inf


def forecast_excess_risk(
    problem: Problem, *, step_size: float, noise_variance: float, steps: float = math.inf
) -> float:
    """Forecast of E[L_D(θ)] − min L_D after `steps` steps from the minimiser, from public numbers; nats per record.

    Along curvature h the noise leaves variance σ²(1 − (1 − ηh)^{2K})/(h(1 − ηh/2)), worth h/2 of it. The Hessian of the
    mean loss has trace at most T beyond λd (all that is public about it), and spreading T evenly over the d directions is
    the costliest way while the worth of a direction is concave in h.
    """
    mean_curvature = problem.strong_convexity + problem.loss.curvature_trace / problem.dimension
    u = min(step_size * mean_curvature, 1.0)
    settled = 1.0 if u == 1 or steps == math.inf else -math.expm1(2 * steps * math.log1p(-u))
    return problem.dimension * noise_variance / 2 * settled / (1 - u / 2)


def estimated_norm(problem: Problem) -> float:
    """B: weights on which the log odds of two classes reach log n, larger odds than n records can bear out; and never more than
    √(2L(0)/λ), which no minimiser exceeds.

    With k classes every pair of them: Σ_{i<j}‖w_i − w_j‖² = k‖W‖² where the rows of W add up to 0, so ‖W‖² ≤ (k−1)/2 (log n/R)²; in a wide
    table, √`parts` of that. For a target, whose public bounds are [−1, 1]: weights with which a single column, whose share of a row's norm is
    R/√columns, takes the prediction from one end to the other.

    Raises:
        InvalidParameter: the loss is no linear model of odds or of a target.
    """
    import numpy as np  # loaded where it is asked for

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
