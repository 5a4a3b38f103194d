"""What a release will cost in accuracy, forecast from public numbers: for choosing, never for promising."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .problem import Problem


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
