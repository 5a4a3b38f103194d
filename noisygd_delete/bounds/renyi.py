"""Rényi DP → (ε, δ), three ways side by side.

    ε = ε_q + log(1/δ)/(q − 1)                          Mironov 2017; Remark 2.1 of the paper
    ε = ε_q + log((q−1)/q) − (log δ + log q)/(q − 1)    Canonne, Kamath & Steinke 2020
    the best that one order allows                      `renyi_epsilon_optimal`

A curve of the form ε_q = q · rate for every order is a *rate* (zero-concentrated DP); it is never turned into μ.

Every function is total and rounds outward: ε and δ up, the rate that a budget allows down.

Rényi DP of DP-SGD: noisy sums of clipped gradients over Poisson samples (Mironov, Talwar & Zhang 2019).

For an integer order α, sampling rate p and noise multiplier z, one step against the null record costs at most

    (1/(α−1)) log Σ_k C(α,k) (1−p)^{α−k} p^k e^{(k²−k)/(2z²)}

in both directions; steps add. Replacing one record by another steps over the null record: for laws P, M, Q (Mironov 2017)

    R_α(P ‖ Q) ≤ ((α − ½)/(α − 1)) R_{2α}(P ‖ M) + R_{2α−1}(M ‖ Q)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .rounding import LEAST_LOG, MARGIN, UNIT, best_order, least, log_down, sum_up
from .tails import log_sum


def renyi_epsilon_mironov(*, order: float, renyi: float, delta: float) -> float:
    """ε = ε_q + log(1/δ)/(q − 1), clamped at 0 (Remark 2.1)."""
    return max(0.0, sum_up(renyi, -math.log(delta) / (order - 1)))


def renyi_epsilon(*, order: float, renyi: float, delta: float) -> float:
    """ε = ε_q + log((q−1)/q) − (log δ + log q)/(q−1), clamped at 0; never above Mironov's (Canonne et al. 2020)."""
    if renyi == math.inf:
        return math.inf
    rest = order - 1  # exact
    return max(0.0, sum_up(renyi, math.log1p(-1 / order), -math.log(delta) / rest, -math.log(order) / rest))


def renyi_log_delta(*, order: float, renyi: float, epsilon: float) -> float:
    """log δ at which (q, ε_q)-Rényi DP implies (ε, δ)-DP: the inverse of `renyi_epsilon`, clamped at 0."""
    if renyi == math.inf:
        return 0.0
    rest = order - 1
    value = sum_up(rest * renyi, -rest * epsilon, rest * math.log1p(-1 / order), -math.log(order))
    return max(LEAST_LOG, min(0.0, value))


def renyi_epsilon_optimal(*, order: float, renyi: float, delta: float) -> float:
    """ε by the best conversion that one Rényi order allows; never above `renyi_epsilon`.

    For an event of probability p and p′ in the two worlds, A = e^{(q−1)ε_q} ≥ p′(p/p′)^q + (1−p′)((1−p)/(1−p′))^q. Both
    powers lie above their tangents, at any r > x ≥ 0:

        q (r^{q−1} − x^{q−1}) p − (q−1)(r^q − x^q) p′ ≤ A − q x^{q−1} + (q−1) x^q = mass

    so *every* pair (r, x) proves p − e^ε p′ ≤ δ for e^ε = (q−1)(r^q − x^q)/(q (r^{q−1} − x^{q−1})) and
    δ = mass/(q (r^{q−1} − x^{q−1})). x = 0 is Canonne et al.; the best x attains the value of Asoodeh et al. 2020. Given δ
    and x, r is explicit. Where the worst event is certain, p = 1 (δ ≥ 1/q), p′ ≥ e^{−ε_q} gives ε = ε_q + log(1 − δ).
    """
    plain = renyi_epsilon(order=order, renyi=renyi, delta=delta)
    rest = order - 1
    if delta * order >= 1:
        plain = min(plain, max(0.0, sum_up(renyi, math.log1p(-delta))))
    if plain == 0 or not rest * renyi < _SECOND_EVENT:
        return plain
    goal = math.log(order) + log_down(delta)

    def at(x: float) -> float:
        log_r = log_sum(rest * math.log(x), _log_mass(order, renyi, x) - goal) / rest
        return _pair_epsilon(order, log_r + MARGIN * (1 + abs(log_r)), x)

    return max(0.0, min(plain, _least_share(at)))


def renyi_log_delta_optimal(*, order: float, renyi: float, epsilon: float) -> float:
    """log δ(ε) by the same family of pairs as `renyi_epsilon_optimal`; never above `renyi_log_delta`."""
    plain = renyi_log_delta(order=order, renyi=renyi, epsilon=epsilon)
    rest = order - 1
    certain = -math.expm1(min(0.0, epsilon - renyi))
    if certain * order >= 1:
        plain = min(plain, math.log(certain) * (1 - MARGIN) + 8 * UNIT)
    if not rest * renyi < _SECOND_EVENT:
        return plain

    def at(x: float) -> float:
        low = _log_r(order, epsilon, x)
        gap = -math.expm1(rest * (math.log(x) - low))
        if not gap > 0:
            return 0.0
        return sum_up(_log_mass(order, renyi, x), -math.log(order), -rest * low, -math.log(gap)) + MARGIN / gap

    return max(LEAST_LOG, min(plain, _least_share(at)))


_SECOND_EVENT = 30.0  # (q−1)ε_q beyond which the second event of the pair is worth nothing


def _log_mass(order: float, renyi: float, x: float) -> float:
    """log(A − q x^{q−1} + (q−1)x^q), rounded up."""
    rest = order - 1
    second = order * x**rest + rest * x**order
    mass = math.expm1(rest * renyi) + (1 - order * x**rest + rest * x**order)
    return math.log(max(0.0, mass) + 32 * UNIT * (math.exp(rest * renyi) + second))


def _pair_epsilon(order: float, log_r: float, x: float) -> float:
    """ε of the pair (r, x), rounded up."""
    rest, ratio = order - 1, math.log(x) - log_r
    numerator, denominator = -math.expm1(order * ratio), -math.expm1(rest * ratio)
    if not denominator > 0:
        return math.inf
    return sum_up(math.log1p(-1 / order), log_r, math.log(numerator), -math.log(denominator)) + MARGIN


def _log_r(order: float, epsilon: float, x: float) -> float:
    """The largest log r found, log x at least, at which the pair has this ε or less: by Newton, and down until it is so."""
    rest, least_r = order - 1, math.log(x)
    log_r = epsilon + math.log(order / rest)  # above it: the ratio of powers grows with r, by 1/2 to 1 a unit of log r
    for _ in range(40):
        ratio = least_r - log_r
        above = _pair_epsilon(order, log_r, x) - epsilon
        if not 0 < above < math.inf:
            break
        raised, lowered = -math.expm1(order * ratio), -math.expm1(rest * ratio)
        slope = 1 + order * math.exp(order * ratio) / raised - rest * math.exp(rest * ratio) / lowered
        step = above / max(0.5, min(1.0, slope))
        if step <= 4 * UNIT * abs(log_r):
            break
        log_r -= step
    step = max(UNIT * abs(log_r), UNIT**2)
    while log_r > least_r and _pair_epsilon(order, log_r, x) > epsilon:
        log_r, step = log_r - step, 2 * step
    return max(log_r, least_r)


def _least_share(objective: Callable[[float], float]) -> float:
    """The smallest value found over 0 < x < 1."""
    grid = (0.001, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.9999)
    values = [objective(x) for x in grid]
    best = min(range(1, len(grid) - 1), key=values.__getitem__)
    return min(*values, least(objective, grid[best - 1], grid[best + 1], 20))


def rate_epsilon(*, rate: float, delta: float, way: Callable[..., float] = renyi_epsilon_optimal) -> float:
    """The least ε found over all orders for a curve ε_q = q · rate, by one of the conversions above; rounded up."""
    if rate == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or rate == math.inf:
        return math.inf

    def at(order: float) -> float:
        return way(order=order, renyi=order * rate, delta=delta)

    if way is not renyi_epsilon_optimal:
        return at(best_order(at))
    # the optimal conversion costs more per order and likes slightly smaller ones than Canonne's
    order = best_order(lambda order: renyi_epsilon(order=order, renyi=order * rate, delta=delta))
    centre = math.log(order - 1)
    return min(at(order), least(lambda point: at(1 + math.exp(point)), centre - 3, centre + 1, 20))


def rate_log_delta(*, rate: float, epsilon: float) -> float:
    """The least log δ(ε) found over all orders for a curve ε_q = q · rate, rounded up."""
    if rate == 0:
        return -math.inf
    if rate == math.inf:
        return 0.0

    def plain(order: float) -> float:
        return renyi_log_delta(order=order, renyi=order * rate, epsilon=epsilon)

    def optimal(point: float) -> float:
        order = 1 + math.exp(point)
        return renyi_log_delta_optimal(order=order, renyi=order * rate, epsilon=epsilon)

    order = best_order(plain)
    centre = math.log(order - 1)
    return min(plain(order), least(optimal, centre - 3, centre + 1, 20))


def rate_for(*, epsilon: float, delta: float) -> tuple[float, float]:
    """(rate, order): the largest rate for which ε_q = q · rate implies (ε, δ)-DP, and the order that shows it."""

    def negative(order: float) -> float:
        rest = order - 1
        terms = (-epsilon, math.log1p(-1 / order), -math.log(delta) / rest, -math.log(order) / rest)
        return sum_up(*terms) / order

    order = best_order(negative)
    rate = -negative(order) * (1 - 1e-13)
    while rate > 0 and renyi_epsilon(order=order, renyi=order * rate, delta=delta) > epsilon:
        rate *= 1 - 1e-12
    return rate, order


def zero_out_renyi(*, order: int, sampling_rate: float, noise_multiplier: float, steps: float) -> float:
    """ε_α of `steps` steps, a record against the null record, both directions; rounded up."""
    import numpy as np  # loaded where it is used: an account of models alone never is here

    k = np.arange(order + 1)
    growth = (k * k - k) / (2 * noise_multiplier**2)
    if sampling_rate == 1:
        return float(steps * growth[-1] / (order - 1) * (1 + MARGIN))
    from scipy.special import gammaln, logsumexp  # loaded where it is used: most commands never are here

    choose = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = choose + (order - k) * np.log1p(-sampling_rate) + k * np.log(sampling_rate) + growth
    # the sum is 1 plus what the record adds; an absolute 1e-13 per order covers the rounding of terms near log 1
    return max(0.0, steps * (float(logsumexp(terms)) * (1 + MARGIN) + 1e-13 * order) / (order - 1))


def replace_renyi(*, order: int, sampling_rate: float, noise_multiplier: float, steps: float) -> float:
    """ε_α of `steps` steps, record x against record x′, over the null record; rounded up."""
    sampling = {"sampling_rate": sampling_rate, "noise_multiplier": noise_multiplier, "steps": steps}
    towards = zero_out_renyi(order=2 * order, **sampling)
    away = zero_out_renyi(order=2 * order - 1, **sampling)
    return (order - 0.5) / (order - 1) * towards + away
