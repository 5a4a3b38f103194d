"""What a release will be worth, from public numbers: for choosing and for words. No guarantee rests on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .problem import Problem


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
