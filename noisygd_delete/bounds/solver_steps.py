"""Passes of the solver that public numbers fix: what steering costs, and the steps that always reach the tolerance.

The steps are of ITEM, the optimal gradient method for smooth strongly convex functions (Taylor & Drori 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..errors import InvalidParameter

ROWS = 2000  # of the sample whose Hessian steers the solver, or PER_FEATURE times the features if those are more
PER_FEATURE = 10
WIDE = 4  # the most gradient passes that factorising may cost; also the share of the rows that products use

_QUICK = 8  # multiplications of a factorisation are about this much quicker than those of a gradient
_COUNTED = 20_000  # steps that are counted one by one


def factor_passes(*, records: int, features: int, outputs: int) -> int:
    """Gradient passes that one factorisation of the sample's Hessian costs; 0 where it would cost too much and products are
    used instead."""
    rows = min(records, max(ROWS, PER_FEATURE * features))
    passes = math.ceil(share_of_a_pass(rows, records, features, outputs))
    return passes if passes <= WIDE else 0


def share_of_a_pass(rows: int, records: int, features: int, outputs: int) -> float:
    """Gradient passes that forming and factorising the Hessian of so many rows amounts to, by multiplications."""
    return rows * features / (2 * _QUICK * records * outputs)


def growth(condition: float) -> Iterator[tuple[float, float]]:
    """A_k, A_{k+1} of ITEM for q = m/M = `condition`: after N steps ‖z_N − θ*‖² ≤ ‖z_0 − θ*‖²/(1 + q A_N)."""
    q, before = condition, 0.0
    while True:
        after = ((1 + q) * before + 2 * (1 + math.sqrt((1 + before) * (1 + q * before)))) / (1 - q) ** 2
        yield before, after
        before = after


def condition(strong_convexity: float, objective_smoothness: float) -> float:
    """q = m/M, kept below 1 (a smaller m is a true statement too)."""
    return min(strong_convexity / objective_smoothness, 0.5)


def proven_steps(*, distance: float, tolerance: float, strong_convexity: float, objective_smoothness: float) -> int:
    """N after which ITEM from within `distance` of the minimiser has ‖∇‖ ≤ M‖z_N − θ*‖ ≤ tolerance/2.

    The other half of the tolerance is for rounding. The least N where that is below `_COUNTED`; beyond, one that a closed
    form proves: A_{k+1} ≥ (√A_k + 1)² and A_{k+1} ≥ A_k/(1 − √q)² (drop terms of the recursion), so A_k ≥ j²/(1 − √q)^{2(k−j)}
    for every j ≤ k, best at j = 1/log(1/(1 − √q)).

    Raises:
        InvalidParameter: no float holds the count.
    """
    q = condition(strong_convexity, objective_smoothness)
    wanted = 2 * objective_smoothness * (distance / tolerance)  # √(1 + q A_N)
    root = wanted / math.sqrt(q)
    rate = -math.log1p(-math.sqrt(q))
    at_most = root if root <= 1 / rate else 1 / rate + (math.log(root) + math.log(rate)) / rate
    if not at_most < 2.0**53:
        raise InvalidParameter(
            f"a solver would need more than 2⁵³ passes to reach gradient norm {tolerance:.3g} at condition number {1 / q:.3g}; raise "
            "the regularization λ"
        )
    if at_most > _COUNTED:
        return math.ceil(at_most * (1 + 1e-9)) + 1
    return next(steps for steps, (reached, _) in enumerate(growth(q)) if wanted <= math.sqrt(1 + q * reached))
