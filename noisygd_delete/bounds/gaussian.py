"""Convert between Gaussian DP and (ε, δ)-DP exactly, and bound membership tests.

    δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)              (Balle & Wang 2018; Dong, Roth & Su 2022)

Every function accepts any argument in its domain and rounds conservatively: ε and δ up, the μ that a budget allows
down.

Example:
    >>> from noisygd_delete.bounds.gaussian import gdp_advantage, gdp_epsilon
    >>> round(gdp_epsilon(mu=1.0, delta=1e-6), 3)
    4.887
    >>> round(gdp_advantage(mu=1.0), 4)
    0.3829
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .arithmetic import LEAST_LOG, MARGIN, UNIT, best_order, least_safe, log_down, probability_from_log
from .tails import erfcx, log_lower_tail, upper_tail

_HALF = (  # positive half of the 16-point Gauss–Legendre nodes and weights on [−1, 1]
    (0.09501250983763744, 0.1894506104550685),
    (0.28160355077925892, 0.1826034150449236),
    (0.45801677765722739, 0.1691565193950025),
    (0.61787624440264375, 0.1495959888165767),
    (0.75540440835500303, 0.1246289712555339),
    (0.86563120238783174, 0.09515851168249279),
    (0.94457502307323258, 0.06225352393864789),
    (0.98940093499164993, 0.02715245941175409),
)
_GAUSS = tuple((sign * node, weight) for node, weight in _HALF for sign in (-1, 1))

_SQRT2, _SQRT_HALF_PI = math.sqrt(2), math.sqrt(math.pi / 2)
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2


def _mills(t: float) -> float:
    """Return the Mills ratio m(t) = Φ(−t)/φ(t)."""
    return _SQRT_HALF_PI * erfcx(t / _SQRT2)


def _mills_slope(t: float) -> float:
    """Return −m′(t) = 1 − t m(t) > 0 for t ≥ −1, accurate to a few ulps.

    Below t = 3 the subtraction loses at most a factor of 10 in accuracy. Above, 1 − t m = r/(t + r) with the continued
    fraction r = 1/(t + 2/(t + 3/(t + …))), whose terms are positive, truncated after 60 terms.
    """
    if t < 3:
        return 1 - t * _mills(t)
    tail = 0.0
    for term in range(60, 0, -1):
        tail = term / (t + tail)
    return tail / (t + tail)


def gdp_log_delta(*, mu: float, epsilon: float) -> float:
    """Return an upper bound on log δ(ε) of μ-GDP, within 1e-10 of it wherever δ is a double.

    With a = ε/μ − μ/2, b = ε/μ + μ/2 and e^ε φ(b) = φ(a):

        a ≥ −1:  δ = φ(a) (m(a) − m(b)); if μ is too small to subtract, m(a) − m(b) = ∫ₐᵇ −m′ is integrated
        a < −1:  δ = Φ(−a) − φ(a) m(b); then μ > 2 and b > 1, so δ > 0.6 and there is no cancellation

    Args:
        mu: Gaussian DP parameter μ ≥ 0; may be infinite.
        epsilon: ε ≥ 0.

    Returns:
        log δ, rounded up and at most 0; −∞ if μ = 0.
    """
    if mu == 0:
        return -math.inf
    if mu == math.inf:
        return 0.0
    far = epsilon / mu
    a, b = far - mu / 2, far + mu / 2
    if a > 1e150:
        return LEAST_LOG
    wobble = 4 * UNIT * b  # rounding error of a
    if a < -1:
        density = math.exp(-a * a / 2 - _LOG_SQRT_2PI)
        delta = upper_tail(a) - density * _mills(b)
        return min(0.0, math.log(delta) + density * wobble + 64 * UNIT)
    if a > 1e6:  # −m′(t) ≤ 1/t²
        log_drop = min(math.log(mu) - 2 * math.log(a), -math.log(a))
    elif mu < 0.5:
        mean = math.fsum(weight * _mills_slope(far + mu / 2 * node) for node, weight in _GAUSS)
        log_drop = math.log(mu / 2) + math.log(mean)
    else:
        log_drop = math.log(_mills(a) * (1 + 32 * UNIT) - _mills(b))
    exponent = a * a / 2
    slack = MARGIN + 4 * UNIT * exponent + (abs(a) + 2) * wobble
    value = log_drop - exponent - _LOG_SQRT_2PI + slack
    return max(LEAST_LOG, min(0.0, value))


def gdp_delta(*, mu: float, epsilon: float) -> float:
    """Return δ(ε) of μ-GDP, rounded up."""
    return probability_from_log(gdp_log_delta(mu=mu, epsilon=epsilon))


def gdp_epsilon(*, mu: float, delta: float) -> float:
    """Return the smallest ε for which μ-GDP implies (ε, δ)-DP, rounded up.

    Returns:
        ε; 0 if δ ≥ 2Φ(μ/2) − 1, and infinity if δ = 0 < μ.
    """
    if mu == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or mu > 1e150:
        return math.inf
    log_delta = log_down(delta)

    def safe(epsilon: float) -> bool:
        return gdp_log_delta(mu=mu, epsilon=epsilon) <= log_delta

    if safe(0.0):
        return 0.0
    chernoff = mu * mu / 2 + mu * math.sqrt(2 * -log_delta) + mu  # Chernoff bound on the privacy loss
    return least_safe(safe, guess=chernoff, factor=16)


def gdp_for(*, epsilon: float, delta: float) -> float:
    """Return the largest μ for which μ-GDP implies (ε, δ)-DP, rounded down."""
    log_delta = log_down(delta)

    def safe(inverse: float) -> bool:  # searched in 1/μ, so that larger values are safe
        return gdp_log_delta(mu=1 / inverse, epsilon=epsilon) <= log_delta

    return math.nextafter(1 / least_safe(safe, guess=1.0, factor=4), 0.0)


LARGEST_DRAW = 36.3  # largest draw of the noise source, in standard deviations, rounded down
_DRAWS = 1e18  # upper bound on the draws of any run


def support_delta(*, mu: float) -> float:
    """Return an upper bound on the δ added because the noise source has bounded support.

    Ideal noise has outcomes beyond `LARGEST_DRAW` standard deviations, which the source never produces. Let the steps
    separate the two neighbouring runs by a_1, a_2, … (Σ a² = μ²). A step distinguishes the runs if a draw of one run is
    impossible in the other, which has probability at most Φ(|a_i| − B) with |a_i| ≤ μ and B = `LARGEST_DRAW`.
    """
    return min(1.0, math.exp(log_lower_tail(mu - LARGEST_DRAW) + math.log(_DRAWS) + MARGIN))


# --- membership ---
#
# Limits on membership tests: trade-off functions and membership advantage.
#
# A test that answers "the record was used" with probability p on one dataset and p′ on its neighbour reduces the two
# models to two coins. By post-processing, no divergence of the coins exceeds that of the models. The bounds below are
# tight: some pair of models attains each.
#
#     Gaussian DP:            β ≥ Φ(Φ⁻¹(1−α) − μ), advantage 2Φ(μ/2) − 1
#     Rényi, one direction:   log(p^q p′^{1−q} + (1−p)^q (1−p′)^{1−q}) ≤ (q−1) ε_q
#     Rényi, both directions: the set of (p, p′) is symmetric under (p, p′) → (1−p′, 1−p) and convex, so the largest
#                             p − p′ has p = 1 − p′: tanh(s/2) with cosh((q−½)s) = e^{(q−1)ε_q} cosh(s/2)
#
# Advantages are rounded up, error rates down.


def gdp_advantage(*, mu: float) -> float:
    """Return the largest advantage of any membership test, 2Φ(μ/2) − 1 = erf(μ/√8), rounded up.

    The advantage of a test is its true positive rate minus its false positive rate.
    """
    return min(1.0, math.erf(mu / math.sqrt(8)) * (1 + MARGIN))


def gdp_tradeoff(*, mu: float, false_positive: float) -> float:
    """Return the trade-off function of μ-GDP, Φ(Φ⁻¹(1−α) − μ), rounded down.

    This is the smallest false negative rate of any test with false positive rate α = `false_positive`.
    """
    if false_positive >= 1 or mu == math.inf:
        return 0.0
    if false_positive <= 0:
        return 1.0
    from scipy.special import log_ndtr, ndtri  # imported lazily: most commands do not need it

    threshold = -float(ndtri(false_positive)) - mu
    threshold -= 32 * UNIT * (1 + abs(threshold) + mu)
    return math.exp(float(log_ndtr(threshold))) * (1 - MARGIN)


def _is_possible_pair(order: float, renyi: float, p: tuple[float, float], q: tuple[float, float]) -> bool:
    """Return whether two coins can be within Rényi divergence ε_q; True if rounding could hide it.

    The coins are given as (1−p, log p) and (1−p′, log p′).
    """
    rest = order - 1
    heads = order * p[1] - rest * q[1]
    tails = order * math.log(p[0]) - rest * math.log(q[0])
    high, low = max(heads, tails), min(heads, tails)
    doubt = 16 * UNIT * (1 + order * (abs(p[1]) + abs(q[1]) + abs(math.log(p[0])) + abs(math.log(q[0]))))
    return high + math.log1p(math.exp(low - high)) <= rest * renyi + doubt


def renyi_tradeoff(*, order: float, renyi: float, false_positive: float, both_directions: bool = False) -> float:
    """Return the smallest false negative rate that (q, ε_q) allows at a false positive rate, rounded down.

    Args:
        order: Rényi order q > 1.
        renyi: Rényi divergence ε_q.
        false_positive: False positive rate of the test.
        both_directions: Whether ε_q bounds the divergence in both directions. If it bounds only one direction, either
            neighbouring dataset may be the null hypothesis, and the smaller of the two rates is returned.
    """
    if false_positive >= 1 or renyi == math.inf:
        return 0.0
    if (
        false_positive <= 0
    ):  # a one-directional bound allows events of probability 0 on one side whose complement has e^{−ε_q} on the other
        return 1.0 if both_directions else math.exp(-renyi) * (1 - MARGIN)
    fixed = (1 - false_positive, math.log(false_positive))

    def least_rate(possible: Callable[[float], bool]) -> float:
        least = 1 / (1 - false_positive)  # searched in 1/β, so that larger values are impossible, hence safe
        inverse = least_safe(lambda inverse: not possible(1 / inverse), guess=least, factor=4, below=least, most=1e300)
        return 1 / inverse if inverse > least else 1 - false_positive

    def power(rate: float) -> tuple[float, float]:
        return rate, math.log1p(-rate) if rate < 1 else -math.inf

    rates = (
        least_rate(lambda rate: _is_possible_pair(order, renyi, power(rate), fixed)),
        least_rate(lambda rate: _is_possible_pair(order, renyi, fixed, power(rate))),
    )
    return (max(rates) if both_directions else min(rates)) * (1 - MARGIN)


def rate_tradeoff(*, rate: float, false_positive: float) -> float:
    """Return the rate of `renyi_tradeoff` for a curve ε_q = q · rate in both directions, at the best order."""

    def negative(order: float) -> float:
        return -renyi_tradeoff(order=order, renyi=order * rate, false_positive=false_positive, both_directions=True)

    if rate == 0:
        return max(0.0, 1 - false_positive)
    return -negative(best_order(negative, low=1e-3, high=1e9, points=24, rounds=10))


def renyi_advantage(*, order: float, renyi: float) -> float:
    """Return the largest membership advantage under (q, ε_q) in both directions, rounded up.

    The advantage is tanh(s/2) with cosh((q−½)s) = e^{(q−1)ε_q} cosh(s/2).
    """
    if renyi == 0:
        return 0.0
    rest = order - 1
    limit = rest * renyi * (1 + MARGIN)

    def beyond(s: float) -> bool:
        # log(cosh((q−½)s)/cosh(s/2)) without cancellation if it is small and without overflow if it is large
        if order * s < 1:
            return math.log1p(2 * math.sinh(order * s / 2) * math.sinh(rest * s / 2) / math.cosh(s / 2)) > limit
        return (
            rest * s + math.log1p(math.exp(-(2 * order - 1) * s)) - math.log1p(math.exp(-s))
            > limit + 4 * UNIT * order * s
        )

    least = least_safe(beyond, guess=1e-150, factor=8, below=1e-151, most=1e3)
    return min(1.0, math.tanh(least / 2) * (1 + MARGIN))


def rate_advantage(*, rate: float) -> float:
    """Return the largest membership advantage under ε_q = q · rate in both directions, at the best order."""

    def at(order: float) -> float:
        return renyi_advantage(order=order, renyi=order * rate)

    return at(best_order(at, high=1e9, points=36, rounds=16)) if rate > 0 else 0.0
