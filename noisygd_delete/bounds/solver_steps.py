"""Public costs of the solver: the cost of preconditioning in gradient passes, and a sufficient number of steps.

The steps are those of ITEM, the optimal gradient method for smooth strongly convex functions (Taylor & Drori 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..errors import InvalidParameter

PER_FEATURE = 50  # rows per feature, at κ = 256, of the preconditioner's sample; more do not improve it
MOST_CELLS = 1 << 24  # most entries of the sample

_QUICK = 4  # speed of matrix products relative to the multiplications of a gradient
_SIDE = 1024  # side of the largest matrix that is factorized
_SOLVED, _DECOMPOSED = (
    60,
    3,
)  # relative cost of a Cholesky factor (one output) and of eigenvectors (several): a side of ∛(this · ndK)
_LEAST_SHARE, _MOST_SHARE = 0.5, 2.0  # range of the cost of multiplying the sample out, in passes
_COUNTED = 20_000  # steps up to which the recursion is evaluated exactly


def sample_rows(
    *, records: int, features: int, outputs: int, condition_number: float, filled: float | None = None
) -> tuple[int, bool]:
    """Return the number of rows m of the preconditioner's sample, and whether its Hessian is formed by features.

    Otherwise it is formed by rows. The sample is as large as can be multiplied out in the time of half a gradient pass
    to two passes, more if the condition number κ is large and more directions matter: m d²/2 or m² d/2 multiplications against
    the pass's 2ndK, each `_QUICK` times as fast. The side of the matrix is at most what can be factorized in about that
    time; it is formed by features if d is within that limit.

    Args:
        records: n.
        features: d.
        outputs: K.
        condition_number: κ.
        filled: Nonzero features per row, for the limit on the factorization; None if all are.
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
    """Return the cost of factorizing the Hessian of the solver's sample of rows, in gradient passes.

    It counts multiplications; `sample_rows` gives the size of the sample.
    """
    size = {"records": records, "features": features, "outputs": outputs}
    rows, narrow = sample_rows(**size, condition_number=condition_number, filled=filled)
    products = rows * features * (features if narrow else rows) / 2
    return products / (2 * _QUICK * records * features * outputs)


def growth(condition: float) -> Iterator[tuple[float, float]]:
    """Yield A_k, A_{k+1} of ITEM for q = m/M = `condition`.

    After N steps ‖z_N − θ*‖² ≤ ‖z_0 − θ*‖²/(1 + q A_N).
    """
    q, before = condition, 0.0
    while True:
        after = ((1 + q) * before + 2 * (1 + math.sqrt((1 + before) * (1 + q * before)))) / (1 - q) ** 2
        yield before, after
        before = after


def condition(strong_convexity: float, objective_smoothness: float) -> float:
    """Return q = m/M, capped below 1 (a smaller m is also a valid bound)."""
    return min(strong_convexity / objective_smoothness, 0.5)


def proven_steps(*, distance: float, tolerance: float, strong_convexity: float, objective_smoothness: float) -> int:
    """Return N after which ITEM, started within `distance` of the minimizer, has ‖∇‖ ≤ M‖z_N − θ*‖ ≤ tolerance/2.

    The other half of the tolerance is reserved for rounding. N is the smallest such number if it is below `_COUNTED`;
    otherwise a closed form gives it: A_{k+1} ≥ (√A_k + 1)² and A_{k+1} ≥ A_k/(1 − √q)² (drop terms of the recursion),
        so
    A_k ≥ j²/(1 − √q)^{2(k−j)} for every j ≤ k, best at j = 1/log(1/(1 − √q)).

    Raises:
        InvalidParameter: If the count exceeds 2⁵³.
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
