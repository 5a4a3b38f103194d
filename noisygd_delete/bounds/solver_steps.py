"""Passes of the solver that public numbers fix: what steering costs, and the steps that always reach the tolerance.

The steps are of ITEM, the optimal gradient method for smooth strongly convex functions (Taylor & Drori 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..errors import InvalidParameter

PER_FEATURE = 50  # rows for each feature, at κ = 256, of the sample whose Hessian steers: more show no more of it
MOST_CELLS = 1 << 24  # numbers of the sample

_QUICK = 4  # multiplications of matrices are about this much quicker than those of a gradient
_SIDE = 1024  # of the largest matrix that is factorised
_SOLVED, _DECOMPOSED = (
    60,
    3,
)  # how cheap a Cholesky factor (one output) and eigenvectors (several) are: a side of ∛(this · ndK)
_LEAST_SHARE, _MOST_SHARE = 0.5, 2.0  # of a pass, for multiplying the sample out
_COUNTED = 20_000  # steps that are counted one by one


def sample_rows(
    *, records: int, features: int, outputs: int, condition_number: float, filled: float | None = None
) -> tuple[int, bool]:
    """Rows m of the sample that steers the solver, and whether its Hessian is taken features by features (else rows by rows).

    As many as can be multiplied out in half a gradient pass to two, more where the condition number κ is large and more
    directions count: m d²/2 or m² d/2 multiplications against the pass's 2ndK, each `_QUICK` times as quick. And no larger a
    matrix than can be factorised in about that time. Where a row has only so many `filled` features, that is what a pass costs.
    """
    share = min(_MOST_SHARE, max(_LEAST_SHARE, condition_number**0.25 / 4))
    affordable = 4 * _QUICK * share * records * outputs  # m d, or m²
    cheap = _SOLVED if outputs == 1 else _DECOMPOSED
    side = min(_SIDE, math.cbrt(cheap * records * (filled or features) * outputs))
    narrow = features <= side and features**2 <= affordable
    rows = min(PER_FEATURE * share * features, affordable / features) if narrow else min(side, math.sqrt(affordable))
    return max(1, min(int(rows), records, MOST_CELLS // features)), narrow


def factor_passes(
    *, records: int, features: int, outputs: int, condition_number: float, filled: float | None = None
) -> float:
    """Gradient passes that one factorisation of the sample's Hessian amounts to, by multiplications."""
    size = {"records": records, "features": features, "outputs": outputs}
    rows, narrow = sample_rows(**size, condition_number=condition_number, filled=filled)
    products = rows * features * (features if narrow else rows) / 2
    return products / (2 * _QUICK * records * features * outputs)


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
