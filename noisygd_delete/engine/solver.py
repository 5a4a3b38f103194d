"""The minimiser of the current records' objective, to a public tolerance: the "solve" of solve, then diffuse.

What privacy needs is one sentence: the answer θ̃ has ‖∇L_D(θ̃)‖ ≤ γ in real arithmetic, whatever the data. So the
gradient is measured in float64, a bound on its rounding is added, and the first point measured good enough is the
answer. With the linear term of objective perturbation the gradient is that of L_D(θ) + ⟨b, θ⟩/n for the *ideal* b, and the
bound covers the rounding of b. How the point was found does not matter:

* L-BFGS steered by a sample of rows (`quasi_newton`) usually gets there in four to twenty passes, all but the last in
  float32;
* if it stops short, Newton's method on differences of the gradient (`newton`) tries, for so many passes;
* if that stops short, the optimal gradient method for smooth strongly convex functions (ITEM; Taylor & Drori 2023)
  takes its proven number of steps.

`fixed=True` runs the last alone, from 0: its number of passes depends on public numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..bounds.solver_steps import condition, growth, proven_steps
from ..errors import AssumptionViolated
from .newton import newton
from .objective_float64 import PreciseObjective
from .preconditioner import Sample
from .quasi_newton import steer

Vector = NDArray[np.float64]

NEWTON_PASSES = 500
_FLOOR = 2.0**-26  # of L: gradient norms that float32 can measure, errors of many rows being averaged
_STALLED = 16  # times that: where it may be float32 that no step helps
_MOST_GAINED = 0.1  # what a step leaves of the gradient's norm, at best


@dataclass(frozen=True)
class Solution:
    """θ̃ (outputs, features), the gradient passes it took, and the sample that steered it: functions of private data, for the caller alone."""

    weights: Vector = field(repr=False)
    gradient_passes: int
    sample: Sample | None = field(default=None, repr=False)


class _Reached(Exception):
    """The point just measured is good enough."""


class _Spent(Exception):
    """As many passes were taken as the quick ways have."""


class _Measured:
    """∇L_D; counts passes, keeps the best point, and raises `_Reached` at the first one within the tolerance.

    A point that need not be the last is measured in float32: the answer never is.
    """

    def __init__(self, objective: PreciseObjective, tolerance: float, most: float = math.inf) -> None:
        self.objective, self.most = objective, most
        self._tolerance = tolerance
        self._floor = _FLOOR * objective.loss.constants.lipschitz
        self.passes = 0
        self.point = np.zeros(objective.shape)
        self._best = self._last = math.inf
        self._expected = math.inf

    def quick(self, weights: Vector) -> Vector:
        """The gradient in float32; as `__call__` has it where this point may be good enough, or float32 says too little."""
        if self.passes < self.most and self._expected > max(self._tolerance, self._floor):
            self.passes += 1
            gradient = self.objective.gradient(weights, "float32")
            norm = float(np.linalg.norm(gradient))
            if norm > self._tolerance:
                self._note(weights, norm)
                return gradient
        return self(weights)

    def __call__(self, weights: Vector) -> Vector:
        if self.passes >= self.most:
            raise _Spent
        self.passes += 1
        gradient = self.objective.gradient(weights)
        norm = certified_norm(self.objective, weights, gradient)
        if norm <= self._tolerance:
            self.point = weights
            raise _Reached
        self._note(weights, norm)
        return gradient

    def _note(self, weights: Vector, norm: float) -> None:
        """Keep the best point, and expect of the next one what the last step brought."""
        left = norm / self._last  # 0 at first
        self._expected = norm * min(1.0, max(_MOST_GAINED, left))
        if left > 0.5 and norm < _STALLED * self._floor:  # float32 has nothing more to say
            self._expected = 0.0
        self._last = norm
        if norm <= self._best:
            self._best, self.point = norm, weights


def certified_norm(objective: PreciseObjective, weights: Vector, gradient: Vector) -> float:
    """Upper bound on the true ‖∇L_D(θ)‖, from its float64 value and the bound on its rounding."""
    length, size = (
        float(np.linalg.norm(vector)) * (1 + (vector.size + 4) * 2.0**-53) for vector in (gradient, weights)
    )
    return length + objective.gradient_error(size)


def solve(
    objective: PreciseObjective,
    *,
    start: Vector | None,
    tolerance: float,
    strong_convexity: float,
    objective_smoothness: float,
    fixed: bool = False,
    quick: int | None = None,
    sample: Sample | None = None,
) -> Solution:
    """A point with ‖∇L_D‖ ≤ `tolerance`.

    Args:
        objective: of the current records.
        start: (outputs, features), finite, for example the published model; None, or not much nearer than the centre of the
            regulariser, 0 as a rule: that.
        fixed: take a number of passes that no record can change, from that centre.
        quick: passes after which the proven method begins from that centre, so that no table takes more than these and its own; None: when
            the quick ways stop short.
        sample: of another solution on these records, whose objective differs by linear terms.

    Raises:
        AssumptionViolated: the tolerance was not reached, so the loss is not as smooth or convex as it was declared.
    """
    measured = _Measured(objective, tolerance, math.inf if quick is None else quick)
    curvature = {"strong_convexity": strong_convexity, "objective_smoothness": objective_smoothness}
    far = objective.loss.constants.lipschitz + objective.pull_norm  # the slope at the centre, whatever the records

    def proven(slope: float) -> int:
        return proven_steps(distance=slope / strong_convexity, tolerance=tolerance, **curvature)

    origin: Vector = objective.centre
    steps: float = math.inf
    try:
        if not fixed:
            sample = sample.pulled(objective) if sample else Sample(objective, objective_smoothness / strong_convexity)
            with suppress(_Spent):
                begun = start if start is not None and sample.is_nearer(start) else origin
                steer(sample, measured.quick, begun, objective.loss.constants.lipschitz)
                measured.passes += 1
                steps = proven(certified_norm(objective, measured.point, objective.gradient(measured.point)))
                newton(measured, origin := measured.point, passes=min(NEWTON_PASSES, steps))
        if fixed or (quick is not None and not steps <= proven(far)):
            origin, steps = objective.centre, proven(far)
        measured.passes, measured.most = measured.passes + int(steps), math.inf
        measured(_run_accelerated(objective.gradient, origin, int(steps), **curvature))
    except _Reached:
        beside = 0 if sample is None else math.ceil(sample.passes)
        return Solution(measured.point, measured.passes + beside, sample)
    raise AssumptionViolated(
        f"the solver did not reach gradient norm {tolerance:.3g} within its proven number of steps, so the loss does not "
        "have the constants it states; nothing was published"
    )


def _run_accelerated(
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
