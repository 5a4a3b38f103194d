"""The minimiser of the current records' objective, to a public tolerance: the "solve" of solve, then diffuse.

What privacy needs is one sentence: the answer θ̃ has ‖∇L_D(θ̃)‖ ≤ γ in real arithmetic, whatever the data. So the
gradient is measured in float64, a bound on its rounding is added, and the first point measured good enough is the
answer. With the linear term of objective perturbation the gradient is that of L_D(θ) + ⟨b, θ⟩/n for the *ideal* b, and the
bound covers the rounding of b. How the point was found does not matter:

* L-BFGS from the Hessian of a sample of rows (`quasi_newton`) usually gets there in four to twenty passes;
* if it stops short, the optimal gradient method for smooth strongly convex functions (ITEM; Taylor & Drori 2023)
  takes its proven number of steps.

`fixed=True` runs the second alone, from 0: its number of passes depends on public numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..bounds.solver_steps import condition, growth, proven_steps
from ..errors import AssumptionViolated
from .objective_float64 import PreciseObjective
from .quasi_newton import Sample, steer

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """θ̃ (outputs, features), and the gradient passes it took: a function of private data, for the caller alone."""

    weights: Vector = field(repr=False)
    gradient_passes: int


class _Reached(Exception):
    """The point just measured is good enough."""


class _Measured:
    """L_D and ∇L_D; counts passes and raises `_Reached` at the first point within the tolerance."""

    def __init__(self, objective: PreciseObjective, tolerance: float) -> None:
        self.objective = objective
        self._tolerance = tolerance
        self.passes = 0
        self.point = np.zeros(objective.shape)

    def __call__(self, weights: Vector) -> tuple[float, Vector]:
        self.passes += 1
        self.point = weights
        value, gradient = self.objective.value_and_gradient(self.point)
        if certified_norm(self.objective, self.point, gradient) <= self._tolerance:
            raise _Reached
        return value, gradient


def certified_norm(objective: PreciseObjective, weights: Vector, gradient: Vector) -> float:
    """Upper bound on the true ‖∇L_D(θ)‖, from its float64 value and the bound on its rounding."""
    rounding = objective.gradient_error(float(np.linalg.norm(weights)))
    return float(np.linalg.norm(gradient)) * (1 + 1e-12) + rounding


def solve(
    objective: PreciseObjective,
    *,
    start: Vector | None,
    tolerance: float,
    strong_convexity: float,
    objective_smoothness: float,
    fixed: bool = False,
) -> Solution:
    """A point with ‖∇L_D‖ ≤ `tolerance`.

    Args:
        objective: of the current records.
        start: (outputs, features), finite, for example the published model; None, or no better than 0: 0.
        fixed: take a number of passes that no record can change, from 0.

    Raises:
        AssumptionViolated: the tolerance was not reached, so the loss is not as smooth or convex as it was declared.
    """
    measured, sample = _Measured(objective, tolerance), None
    origin = start
    if origin is None or fixed or _hopeless(objective, origin):
        origin = np.zeros(objective.shape)
    curvature = {"strong_convexity": strong_convexity, "objective_smoothness": objective_smoothness}
    slope = objective.loss.constants.lipschitz + objective.pull_norm  # of the objective at 0, whatever the records
    try:
        if not fixed:
            sample = Sample(objective)
            steer(sample, measured, origin, cold=not origin.any())
            origin = measured.point
            slope = float(np.linalg.norm(objective.gradient(origin)))
            measured.passes += 1
        steps = proven_steps(distance=slope / strong_convexity, tolerance=tolerance, **curvature)
        measured.passes += steps
        measured(_accelerated(objective.gradient, origin, steps, **curvature))
    except _Reached:
        beside = 0 if sample is None else math.ceil(sample.passes)
        return Solution(measured.point, measured.passes + beside)
    raise AssumptionViolated(
        f"the solver did not reach gradient norm {tolerance:.3g} within its proven number of steps, so the loss does not "
        "have the constants it states; nothing was published"
    )


def _hopeless(objective: PreciseObjective, start: Vector) -> bool:
    """Whether what depends on no record makes `start` worse than 0: the published model was mostly noise."""
    return objective.regular_part(start)[0] > objective.value_at_zero()


def _accelerated(
    gradient: Callable[[Vector], Vector],
    start: Vector,
    steps: int,
    *,
    strong_convexity: float,
    objective_smoothness: float,
) -> Vector:
    """`steps` steps of ITEM (Taylor & Drori 2023, Algorithm 1) from `start`: one gradient each."""
    q = condition(strong_convexity, objective_smoothness)
    x, z = start, start
    sequence = growth(q)
    for _ in range(steps):
        before, after = next(sequence)
        beta = before / ((1 - q) * after)
        delta = ((1 - q) ** 2 * after - (1 + q) * before) / (2 * (1 + q + q * before))
        y = (1 - beta) * z + beta * x
        slope = gradient(y) / objective_smoothness
        x = y - slope
        z = (1 - q * delta) * z + q * delta * y - delta * slope
    return z
