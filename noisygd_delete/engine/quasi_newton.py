"""L-BFGS on gradients alone, steered by a sample of rows (`preconditioner`).

It only steers: what it returns is measured by the caller, and nothing of it enters a certificate. The first step goes to the
minimiser of the sample's objective, tilted so that its gradient at the start is the table's (DANE; Shamir, Srebro & Zhang
2014): what the sample knows of how the loss bends is used there, at a cost of a few hundredths of a pass an evaluation. From
there L-BFGS goes on from the sample's inverse Hessian, renewed on the way.

Values are never asked for: the objective is convex, so along a line the derivative says whether a step went too far
(approximate Wolfe condition; Hager & Zhang 2005), and it says so in float32 where the values of two near points are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from .preconditioner import Operator, Pair, Sample

Vector = NDArray[np.float64]
Gradient = Callable[[Vector], Vector]

MEMORY = 20  # pairs that L-BFGS keeps
RENEWED = 10  # evaluations after which the Hessian is taken again
_KEPT = 4  # times that a Hessian which is known is not taken again
PATIENCE = 50  # evaluations in which the gradient must fall by half
_OVERSHOT = 0.8  # of the derivative at the start of a step: one as large in the other direction is too far
_NEARLY = 0.1  # of the first gradient: to here the sample's own problem is solved
_INNER = 30  # evaluations of that
_SHORTENED = 40  # evaluations of one step
_FLOOR = 2.0**-23  # of L: what float32 can tell from 0


def steer(sample: Sample, gradient: Gradient, start: Vector, lipschitz: float) -> None:
    """Minimise the measured objective of which `sample` is one; `gradient` raises when it is content.

    Where the inverse of a Hessian is known already, L-BFGS goes on from it: to take another costs more than the passes that it would save.
    """
    try:
        begun = gradient(start)
        if (known := sample.latest) is not None:
            asked = count()

            def going_on(weights: Vector) -> Operator:
                return known if next(asked) < _KEPT else sample.inverse(weights)

            descend(gradient, start, begun, going_on, pairs=sample.pairs)
            return
        tilt = begun - sample.gradient(start)
        at_start = sample.inverse(start)

        def tilted(weights: Vector) -> Vector:
            return sample.gradient(weights) + tilt

        def near_start(weights: Vector) -> Operator:
            return at_start if weights is start else sample.inverse(weights)

        until = max(_NEARLY * float(np.linalg.norm(begun)), _FLOOR * lipschitz)
        near, taken = descend(tilted, start, begun, near_start, until=until, most=_INNER)

        def on_the_way(weights: Vector) -> Operator:
            return at_start if weights is near and taken <= 1 else sample.inverse(weights)

        descend(gradient, start, begun, on_the_way, first=near, pairs=sample.pairs)
    except LinAlgError:  # the loss curves as it said it would not: the caller goes on from what was measured
        return


def descend(
    function: Gradient,
    point: Vector,
    gradient: Vector,
    inverse: Callable[[Vector], Operator],
    *,
    first: Vector | None = None,
    pairs: list[Pair] | None = None,
    until: float = 0.0,
    most: float = math.inf,
) -> tuple[Vector, int]:
    """L-BFGS from `point`, where the gradient is `gradient`; `inverse(θ)` is asked for every `RENEWED` evaluations.

    Returns the last point and the evaluations it took, when ‖∇‖ ≤ `until`, after `most` evaluations, or when `PATIENCE` of them brought too little; `function` may raise
    to stop it earlier.

    Args:
        first: where the first step leads, if not where L-BFGS would go.
        pairs: of the same Hessian, from before; those of this descent come to stand there.
    """
    pairs = [] if pairs is None else pairs
    norm = least = checked = float(np.linalg.norm(gradient))
    evaluations, renew, check = 0, 0, PATIENCE
    initial: Operator = np.copy
    while norm > until and evaluations < most:
        if evaluations >= check:
            if least > checked / 2:
                break
            checked, check = least, evaluations + PATIENCE
        if first is not None and first is not point:
            step, first = point - first, None
        else:
            if evaluations >= renew:
                initial, renew = inverse(point), evaluations + RENEWED
            step = _two_loops(gradient, pairs, initial)
        slope = float(np.vdot(gradient, step))
        if not 0 < slope < math.inf:
            step, slope = gradient, norm**2
            pairs.clear()
        moved, bent, used = search_along(function, point, step, slope)
        evaluations += used
        change, bend = moved - point, bent - gradient
        if (curved := float(np.vdot(change, bend))) > 0:
            pairs.append((change, bend, 1 / curved))
            del pairs[:-MEMORY]
        point, gradient, norm = moved, bent, float(np.linalg.norm(bent))
        least = min(least, norm)
    return point, evaluations


def search_along(function: Gradient, point: Vector, step: Vector, slope: float) -> tuple[Vector, Vector, int]:
    """A point towards `point` − `step` that is not too far, its gradient, and the evaluations it took.

    Args:
        slope: ⟨∇, step⟩ > 0 at `point`.
    """
    length, used = 1.0, 0
    while True:
        moved = point - length * step
        gradient, used = function(moved), used + 1
        left = float(np.vdot(gradient, step))
        if left >= -_OVERSHOT * slope or used >= _SHORTENED:
            return moved, gradient, used
        length *= max(0.1, slope / (slope - left))  # where the derivative is 0 if it is linear


def _two_loops(gradient: Vector, pairs: list[Pair], initial: Operator) -> Vector:
    """The step of L-BFGS: newest pair first, the initial inverse, then back (Nocedal 1980)."""
    step, shares = gradient.copy(), []
    for change, bend, weight in reversed(pairs):
        shares.append(weight * float(np.vdot(change, step)))
        step -= shares[-1] * bend
    step = initial(step)
    for (change, bend, weight), share in zip(pairs, reversed(shares), strict=True):
        step += change * (share - weight * float(np.vdot(bend, step)))
    return step
