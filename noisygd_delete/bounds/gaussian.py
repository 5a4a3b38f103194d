"""Gaussian DP → (ε, δ), exactly, and back.

    δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)              (Balle & Wang 2018; Dong, Roth & Su 2022)

Every function is total and rounds outward: ε and δ up, the μ that a budget allows down.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .arithmetic import LEAST_LOG, MARGIN, UNIT, best_order, exp_up, least_safe, log_down
from .tails import erfcx, log_lower_tail, upper_tail

_HALF = (  # Gauss and Legendre's sixteen points on [−1, 1] and their weights: the positive half
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
    """m(t) = Φ(−t)/φ(t)."""
    return _SQRT_HALF_PI * erfcx(t / _SQRT2)


def _mills_slope(t: float) -> float:
    """−m′(t) = 1 − t m(t) > 0 for t ≥ −1, to a few ulps.

    The difference loses at most a factor 10 below t = 3. Beyond, 1 − t m = r/(t + r) with the continued fraction
    r = 1/(t + 2/(t + 3/(t + …))) of positive terms, cut after 60.
    """
    if t < 3:
        return 1 - t * _mills(t)
    tail = 0.0
    for term in range(60, 0, -1):
        tail = term / (t + tail)
    return tail / (t + tail)


def gdp_log_delta(*, mu: float, epsilon: float) -> float:
    """Upper bound on log δ(ε) of μ-GDP, within 1e-10 of it wherever δ is a double; −∞ when μ = 0.

    With a = ε/μ − μ/2, b = ε/μ + μ/2 and e^ε φ(b) = φ(a):

        a ≥ −1:  δ = φ(a) (m(a) − m(b)), and m(a) − m(b) = ∫ₐᵇ −m′ where μ is too small to subtract
        a < −1:  δ = Φ(−a) − φ(a) m(b); then μ > 2 and b > 1, so that δ > 0.6 and nothing cancels
    """
    if mu == 0:
        return -math.inf
    if mu == math.inf:
        return 0.0
    far = epsilon / mu
    a, b = far - mu / 2, far + mu / 2
    if a > 1e150:
        return LEAST_LOG
    wobble = 4 * UNIT * b  # error of a
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
    """δ(ε) of μ-GDP, rounded up."""
    return exp_up(gdp_log_delta(mu=mu, epsilon=epsilon))


def gdp_epsilon(*, mu: float, delta: float) -> float:
    """The least ε (rounded up) for which μ-GDP implies (ε, δ)-DP; 0 when δ ≥ 2Φ(μ/2) − 1, ∞ when δ = 0 < μ."""
    if mu == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or mu > 1e150:
        return math.inf
    log_delta = log_down(delta)

    def safe(epsilon: float) -> bool:
        return gdp_log_delta(mu=mu, epsilon=epsilon) <= log_delta

    if safe(0.0):
        return 0.0
    chernoff = mu * mu / 2 + mu * math.sqrt(2 * -log_delta) + mu  # on the privacy loss
    return least_safe(safe, guess=chernoff, factor=16)


def gdp_for(*, epsilon: float, delta: float) -> float:
    """The largest μ (rounded down) for which μ-GDP implies (ε, δ)-DP."""
    log_delta = log_down(delta)

    def safe(inverse: float) -> bool:  # searched in 1/μ, so that "larger" is the safe side
        return gdp_log_delta(mu=1 / inverse, epsilon=epsilon) <= log_delta

    return math.nextafter(1 / least_safe(safe, guess=1.0, factor=4), 0.0)


LARGEST_DRAW = 36.3  # of the noise source, in standard deviations, rounded down
_DRAWS = 1e18  # more than any run takes


def support_delta(*, mu: float) -> float:
    """Upper bound on the δ that noise without draws beyond `LARGEST_DRAW` adds: ideal noise has outcomes that it has not.

    Steps that move the two worlds a_1, a_2, … apart (Σ a² = μ²) are told apart where a draw of one world is none of the
    other: with probability at most Φ(|a_i| − B) each, |a_i| ≤ μ.
    """
    return min(1.0, math.exp(log_lower_tail(mu - LARGEST_DRAW) + math.log(_DRAWS) + MARGIN))


# --- membership ---
#
# What a test can find out: trade-off curves and membership advantage.
#
# A test that says "the record was used" with probability p in one world and p′ in the other turns the two models into two
# coins, and no divergence of the coins exceeds that of the models. The bounds below are the best that follow from the given
# divergence: some pair of models attains each.
#
#     Gaussian DP:            β ≥ Φ(Φ⁻¹(1−α) − μ), advantage 2Φ(μ/2) − 1
#     Rényi, one direction:   log(p^q p′^{1−q} + (1−p)^q (1−p′)^{1−q}) ≤ (q−1) ε_q
#     Rényi, both directions: the set of (p, p′) is symmetric under (p, p′) → (1−p′, 1−p) and convex, so the largest
#                             p − p′ has p = 1 − p′: tanh(s/2) with cosh((q−½)s) = e^{(q−1)ε_q} cosh(s/2)
#
# Advantages are rounded up, a test's least error down.


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


def _is_possible_pair(order: float, renyi: float, p: tuple[float, float], q: tuple[float, float]) -> bool:
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
        least_rate(lambda rate: _is_possible_pair(order, renyi, power(rate), fixed)),
        least_rate(lambda rate: _is_possible_pair(order, renyi, fixed, power(rate))),
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
