"""The minimizer of the objective of the current records, to a public tolerance: the first step of output perturbation.

Privacy requires only this: the result θ̃ has ‖∇L_D(θ̃)‖ ≤ γ in real arithmetic, for any data. So the gradient is
computed in float64, a bound on its rounding is added, and the first point found to meet the tolerance is the result.
With the linear term of objective perturbation the gradient is that of L_D(θ) + ⟨b, θ⟩/n for the *ideal* b, and the
bound covers the rounding of b. How the point was found does not matter:

* L-BFGS preconditioned by a sample of rows (`minimize`) usually takes four to twenty passes, all but the last in
  float32;
* if it stalls, Newton's method on differences of the gradient (`newton_cg`) runs for at most 500 passes, or an
  eighth of those of the last method if that is more;
* if that stalls, the optimal gradient method for smooth strongly convex functions (ITEM; Taylor & Drori 2023)
  takes its proven number of steps.

`fixed=True` runs only the last method, from 0: its number of passes depends only on public numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.linalg import LinAlgError

from ..bounds.solver_steps import condition, growth, proven_steps
from ..errors import AssumptionViolated
from .descent import Gradient, Operator, Vector, lbfgs, newton_cg
from .objective import PreciseObjective
from .sample import Sample

_KEPT = 4  # number of times that a known Hessian is reused
_NEARLY = 0.1  # relative to the first gradient: tolerance of the sample's own problem
_INNER = 30  # most evaluations of the sample's own problem
_AT_HAND = 4  # at most this many of them from a published model: its Hessian is then reused
_NOTHING = 2.0**-23  # relative to L: what float32 can distinguish from 0
NEWTON_PASSES = 500
_NEWTON_SHARE = 8  # one more pass for so many proven steps: clipped slopes at a tiny λ take thousands, not hundreds
_FLOOR = 2.0**-26  # relative to L: gradient norms that float32 can measure, as errors of many rows average out
_STALLED = 16  # times `_FLOOR`: below this, stalling may be caused by float32
_MOST_GAINED = 0.1  # least expected ratio of gradient norms after and before a step


@dataclass(frozen=True)
class Solution:
    """The result of a solver. All of it depends on private data and is for the caller only.

    Attributes:
        weights: θ̃, (outputs, features).
        gradient_passes: Number of gradient passes.
        sample: The sample that guided the solver.
    """

    weights: Vector = field(repr=False)
    gradient_passes: int
    sample: Sample | None = field(default=None, repr=False)


class _Reached(Exception):
    """The last measured point meets the tolerance."""


class _Spent(Exception):
    """The pass limit of the fast methods was reached."""


class _Measured:
    """∇L_D with a pass counter; keeps the best point and raises `_Reached` at the first within the tolerance.

    Intermediate points may be measured in float32; the result never is.
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
        """Return the gradient in float32; as `__call__` if the point may meet the tolerance or float32 is too coarse."""
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
        """Update the best point, and predict the norm at the next one from the progress of the last step."""
        left = norm / self._last  # 0 at first
        self._expected = norm * min(1.0, max(_MOST_GAINED, left))
        if left > 0.5 and norm < _STALLED * self._floor:  # at the accuracy limit of float32
            self._expected = 0.0
        self._last = norm
        if norm <= self._best:
            self._best, self.point = norm, weights


def certified_norm(objective: PreciseObjective, weights: Vector, gradient: Vector) -> float:
    """Return an upper bound on the true ‖∇L_D(θ)‖, from its float64 value and the bound on its rounding."""
    length, size = (
        float(np.linalg.norm(vector)) * (1 + (vector.size + 4) * 2.0**-53) for vector in (gradient, weights)
    )
    return length + objective.gradient_error(size)


def newton_passes(steps: int) -> int:
    """Return the passes of Newton's method before the proven method, which takes `steps`."""
    return min(steps, max(NEWTON_PASSES, steps // _NEWTON_SHARE))


def minimize(sample: Sample, gradient: Gradient, start: Vector, lipschitz: float, *, warm: bool = False) -> None:
    """Minimize the measured objective guided by `sample`; `gradient` raises `_Reached` once the tolerance is met.

    The first step goes to the minimizer of the sample's objective, tilted so that its gradient at the start is the
    table's (DANE; Shamir, Srebro & Zhang 2014): this uses the sample's curvature at a cost of a few hundredths of a pass
    per evaluation. From there L-BFGS continues with the sample's inverse Hessian, updated on the way. The sample only
    guides the search: the caller measures the result.

    If an inverse Hessian is known already, or is only a scale, L-BFGS continues with it: another one costs more than
    the passes that it would save.
    """

    def first_of(known: Operator, times: int) -> Callable[[Vector], Operator]:
        asked = count()
        return lambda weights: known if next(asked) < times else sample.inverse(weights)

    try:
        begun = gradient(start)
        near, known, times = None, sample.latest, _KEPT
        if known is None:
            known = sample.inverse(start)
            if not sample.even:
                tilt = begun - sample.gradient(start)
                until = max(_NEARLY * float(np.linalg.norm(begun)), _NOTHING * lipschitz)
                near, taken = lbfgs(
                    lambda weights: sample.gradient(weights) + tilt,
                    start,
                    begun,
                    first_of(known, 1),
                    until=until,
                    most=_INNER,
                )
                times = int(taken <= (_AT_HAND if warm else 1))
        lbfgs(gradient, start, begun, first_of(known, times), first=near, pairs=sample.pairs)
    except LinAlgError:  # the curvature contradicts the loss's declaration: the caller continues with the best point
        return


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
    """Return a point with ‖∇L_D‖ ≤ `tolerance`.

    Args:
        objective: The objective of the current records.
        start: (outputs, features), finite, for example the published model; None, or a start not much nearer than the
            centre of the regularizer (usually 0), means that centre.
        tolerance: γ.
        strong_convexity: Strong convexity of the objective.
        objective_smoothness: Smoothness of the objective.
        fixed: Take a number of passes that no record can change, from that centre.
        quick: Number of passes after which the proven method starts from that centre, so that no table takes more than
            these and its own; None: when the fast methods stall.
        sample: Sample of another solution on these records, whose objective differs by linear terms.

    Raises:
        AssumptionViolated: If the tolerance was not reached, so the loss is not as smooth or convex as declared.
    """
    measured = _Measured(objective, tolerance, math.inf if quick is None else quick)
    curvature = {"strong_convexity": strong_convexity, "objective_smoothness": objective_smoothness}
    far = objective.loss.constants.lipschitz + objective.pull_norm  # gradient norm at the centre for any records

    def proven(slope: float) -> int:
        return proven_steps(distance=slope / strong_convexity, tolerance=tolerance, **curvature)

    origin: Vector = objective.centre
    steps: float = math.inf
    try:
        if not fixed:
            sample = sample.pulled(objective) if sample else Sample(objective, objective_smoothness / strong_convexity)
            with suppress(_Spent):
                begun = start if start is not None and sample.is_nearer(start) else origin
                minimize(sample, measured.quick, begun, objective.loss.constants.lipschitz, warm=begun is start)
                measured.passes += 1
                steps = proven(certified_norm(objective, measured.point, objective.gradient(measured.point)))
                newton_cg(measured, origin := measured.point, passes=newton_passes(steps))
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
    """Return the weights after `steps` steps of ITEM (Taylor & Drori 2023, Algorithm 1), one gradient each."""
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
