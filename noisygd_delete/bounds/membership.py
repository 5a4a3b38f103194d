"""What a test can find out: trade-off curves and membership advantage.

A test that says "the record was used" with probability p in one world and p′ in the other turns the two models into two
coins, and no divergence of the coins exceeds that of the models. The bounds below are the best that follow from the given
divergence: some pair of models attains each.

    Gaussian DP:            β ≥ Φ(Φ⁻¹(1−α) − μ), advantage 2Φ(μ/2) − 1
    Rényi, one direction:   log(p^q p′^{1−q} + (1−p)^q (1−p′)^{1−q}) ≤ (q−1) ε_q
    Rényi, both directions: the set of (p, p′) is symmetric under (p, p′) → (1−p′, 1−p) and convex, so the largest
                            p − p′ has p = 1 − p′: tanh(s/2) with cosh((q−½)s) = e^{(q−1)ε_q} cosh(s/2)

Advantages are rounded up, a test's least error down.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .rounding import MARGIN, UNIT, best_order
from .search import least_safe


def gdp_advantage(*, mu: float) -> float:
    """Largest advantage (true minus false positive rate) of any membership test: 2Φ(μ/2) − 1 = erf(μ/√8), rounded up."""
    return min(1.0, math.erf(mu / math.sqrt(8)) * (1 + MARGIN))


def gdp_tradeoff(*, mu: float, false_positive: float) -> float:
    """Least false negative rate of any test with this false positive rate: Φ(Φ⁻¹(1−α) − μ), rounded down."""
    if false_positive >= 1 or mu == math.inf:
        return 0.0
    if false_positive <= 0:
        return 1.0
    from scipy.special import log_ndtr, ndtri  # loaded where it is used: most commands never are here

    threshold = -float(ndtri(false_positive)) - mu
    threshold -= 32 * UNIT * (1 + abs(threshold) + mu)
    return math.exp(float(log_ndtr(threshold))) * (1 - MARGIN)


def _possible(order: float, renyi: float, p: tuple[float, float], q: tuple[float, float]) -> bool:
    """Whether coins with (1−p, log p) and (1−p′, log p′) may lie within ε_q of each other; "yes" when rounding could hide it."""
    rest = order - 1
    heads = order * p[1] - rest * q[1]
    tails = order * math.log(p[0]) - rest * math.log(q[0])
    high, low = max(heads, tails), min(heads, tails)
    doubt = 16 * UNIT * (1 + order * (abs(p[1]) + abs(q[1]) + abs(math.log(p[0])) + abs(math.log(q[0]))))
    return high + math.log1p(math.exp(low - high)) <= rest * renyi + doubt


def renyi_tradeoff(*, order: float, renyi: float, false_positive: float, both_directions: bool = False) -> float:
    """Least false negative rate at this false positive rate under (q, ε_q), rounded down.

    A bound in one direction only answers for either world as the test's null hypothesis: the smaller of the two rates.
    """
    if false_positive >= 1 or renyi == math.inf:
        return 0.0
    if (
        false_positive <= 0
    ):  # a bound in one direction allows events of probability 0 in one world, e^{−ε_q} in all but them
        return 1.0 if both_directions else math.exp(-renyi) * (1 - MARGIN)
    fixed = (1 - false_positive, math.log(false_positive))

    def least_rate(possible: Callable[[float], bool]) -> float:
        least = 1 / (1 - false_positive)  # in 1/β, so that "larger" is the impossible, hence safe, side
        inverse = least_safe(lambda inverse: not possible(1 / inverse), guess=least, factor=4, below=least, most=1e300)
        return 1 / inverse if inverse > least else 1 - false_positive

    def power(rate: float) -> tuple[float, float]:
        return rate, math.log1p(-rate) if rate < 1 else -math.inf

    rates = (
        least_rate(lambda rate: _possible(order, renyi, power(rate), fixed)),
        least_rate(lambda rate: _possible(order, renyi, fixed, power(rate))),
    )
    return (max(rates) if both_directions else min(rates)) * (1 - MARGIN)


def rate_tradeoff(*, rate: float, false_positive: float) -> float:
    """The same for a curve ε_q = q · rate, in both directions, by the order that says most."""

    def negative(order: float) -> float:
        return -renyi_tradeoff(order=order, renyi=order * rate, false_positive=false_positive, both_directions=True)

    if rate == 0:
        return max(0.0, 1 - false_positive)
    return -negative(best_order(negative, low=1e-3, high=1e9, points=24, rounds=10))


def renyi_advantage(*, order: float, renyi: float) -> float:
    """Largest advantage under (q, ε_q) in both directions: tanh(s/2), cosh((q−½)s) = e^{(q−1)ε_q} cosh(s/2); rounded up."""
    if renyi == 0:
        return 0.0
    rest = order - 1
    limit = rest * renyi * (1 + MARGIN)

    def beyond(s: float) -> bool:
        # log(cosh((q−½)s)/cosh(s/2)) without cancellation while it is small, without overflow when it is not
        if order * s < 1:
            return math.log1p(2 * math.sinh(order * s / 2) * math.sinh(rest * s / 2) / math.cosh(s / 2)) > limit
        return (
            rest * s + math.log1p(math.exp(-(2 * order - 1) * s)) - math.log1p(math.exp(-s))
            > limit + 4 * UNIT * order * s
        )

    least = least_safe(beyond, guess=1e-150, factor=8, below=1e-151, most=1e3)
    return min(1.0, math.tanh(least / 2) * (1 + MARGIN))


def rate_advantage(*, rate: float) -> float:
    """Largest advantage under ε_q = q · rate for every order, in both directions, by the order that says most."""

    def at(order: float) -> float:
        return renyi_advantage(order=order, renyi=order * rate)

    return at(best_order(at, high=1e9, points=36, rounds=16)) if rate > 0 else 0.0
