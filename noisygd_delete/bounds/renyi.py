"""Convert Rényi DP to (ε, δ)-DP, and compute the Rényi DP of DP-SGD.

Three conversions are available:

    ε = ε_q + log(1/δ)/(q − 1)                          Mironov 2017; Remark 2.1 of Chourasia & Shah 2023
    ε = ε_q + log((q−1)/q) − (log δ + log q)/(q − 1)    Canonne, Kamath & Steinke 2020
    the optimal conversion at one order                 `renyi_epsilon_optimal`

A curve of the form ε_q = q · rate for every order is a *rate* (zero-concentrated DP); it is never converted to μ.

Every function accepts any argument in its domain and rounds conservatively: ε and δ up, the rate that a budget allows
down.

DP-SGD adds noise to sums of clipped gradients over Poisson samples (Mironov, Talwar & Zhang 2019). For an integer order
α, sampling rate p and noise multiplier z, one step against the null record costs at most

    (1/(α−1)) log Σ_k C(α,k) (1−p)^{α−k} p^k e^{(k²−k)/(2z²)}

in both directions, and the costs of steps add. Replacing one record by another passes through the null record: for laws
P, M, Q (Mironov 2017)

    R_α(P ‖ Q) ≤ ((α − ½)/(α − 1)) R_{2α}(P ‖ M) + R_{2α−1}(M ‖ Q)

Example:
    >>> from noisygd_delete.bounds.renyi import renyi_epsilon, renyi_epsilon_mironov
    >>> round(renyi_epsilon_mironov(order=8, renyi=0.5, delta=1e-6), 3)
    2.474
    >>> round(renyi_epsilon(order=8, renyi=0.5, delta=1e-6), 3)
    2.043
"""

from __future__ import annotations

import math
from collections.abc import Callable

from . import objective_perturbation as flow
from . import objective_perturbation as perturbation
from .arithmetic import LEAST_LOG, MARGIN, UNIT, best_order, golden_section_minimum, least_safe, log_down, sum_up
from .tails import log_sum


def renyi_epsilon_mironov(*, order: float, renyi: float, delta: float) -> float:
    """Return ε = ε_q + log(1/δ)/(q − 1), clamped at 0 (Mironov 2017; Remark 2.1)."""
    return max(0.0, sum_up(renyi, -math.log(delta) / (order - 1)))


def renyi_epsilon(*, order: float, renyi: float, delta: float) -> float:
    """Return ε = ε_q + log((q−1)/q) − (log δ + log q)/(q−1), clamped at 0 (Canonne et al. 2020).

    It never exceeds Mironov's value.
    """
    if renyi == math.inf:
        return math.inf
    rest = order - 1  # exact
    return max(0.0, sum_up(renyi, math.log1p(-1 / order), -math.log(delta) / rest, -math.log(order) / rest))


def renyi_log_delta(*, order: float, renyi: float, epsilon: float) -> float:
    """Return log δ at which (q, ε_q)-Rényi DP implies (ε, δ)-DP: the inverse of `renyi_epsilon`, clamped at 0."""
    if renyi == math.inf:
        return 0.0
    rest = order - 1
    value = sum_up(rest * renyi, -rest * epsilon, rest * math.log1p(-1 / order), -math.log(order))
    return max(LEAST_LOG, min(0.0, value))


def renyi_epsilon_optimal(*, order: float, renyi: float, delta: float) -> float:
    """Return ε by the best conversion that one Rényi order allows; never above `renyi_epsilon`.

    For an event of probability p under one law and p′ under the other,
    A = e^{(q−1)ε_q} ≥ p′(p/p′)^q + (1−p′)((1−p)/(1−p′))^q. Both powers are bounded below by their tangents, at any r >
    x ≥ 0:

        q (r^{q−1} − x^{q−1}) p − (q−1)(r^q − x^q) p′ ≤ A − q x^{q−1} + (q−1) x^q = mass

    so *every* pair (r, x) proves p − e^ε p′ ≤ δ for e^ε = (q−1)(r^q − x^q)/(q (r^{q−1} − x^{q−1})) and
    δ = mass/(q (r^{q−1} − x^{q−1})). x = 0 gives Canonne et al.; the best x attains the value of Asoodeh et al. 2020.
    Given δ and x, r is explicit. If the worst event is certain, p = 1 (δ ≥ 1/q), then p′ ≥ e^{−ε_q} gives ε = ε_q +
    log(1 − δ).
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
    """Return log δ(ε) by the pairs (r, x) of `renyi_epsilon_optimal`; never above `renyi_log_delta`."""
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


_SECOND_EVENT = 30.0  # (q−1)ε_q beyond which the second event of the pair has no effect


def _log_mass(order: float, renyi: float, x: float) -> float:
    """Return log(A − q x^{q−1} + (q−1)x^q), rounded up."""
    rest = order - 1
    second = order * x**rest + rest * x**order
    mass = math.expm1(rest * renyi) + (1 - order * x**rest + rest * x**order)
    return math.log(max(0.0, mass) + 32 * UNIT * (math.exp(rest * renyi) + second))


def _pair_epsilon(order: float, log_r: float, x: float) -> float:
    """Return ε of the pair (r, x), rounded up."""
    rest, ratio = order - 1, math.log(x) - log_r
    numerator, denominator = -math.expm1(order * ratio), -math.expm1(rest * ratio)
    if not denominator > 0:
        return math.inf
    return sum_up(math.log1p(-1 / order), log_r, math.log(numerator), -math.log(denominator)) + MARGIN


def _log_r(order: float, epsilon: float, x: float) -> float:
    """Return the largest log r found, at least log x, for which the pair (r, x) has at most this ε.

    Newton's method, followed by steps down until the condition holds.
    """
    rest, least_r = order - 1, math.log(x)
    log_r = epsilon + math.log(order / rest)  # upper bound: the ratio of powers grows by 1/2 to 1 per unit of log r
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
    """Return the smallest value of `objective` found over 0 < x < 1."""
    grid = (0.001, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.9999)
    values = [objective(x) for x in grid]
    best = min(range(1, len(grid) - 1), key=values.__getitem__)
    return min(*values, golden_section_minimum(objective, grid[best - 1], grid[best + 1], 20))


def rate_epsilon(*, rate: float, delta: float, way: Callable[..., float] = renyi_epsilon_optimal) -> float:
    """Return the smallest ε found over all orders for a curve ε_q = q · rate, rounded up.

    Args:
        rate: Rényi rate, ε_q/q.
        delta: δ.
        way: Conversion, one of the functions above.
    """
    if rate == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or rate == math.inf:
        return math.inf

    def at(order: float) -> float:
        return way(order=order, renyi=order * rate, delta=delta)

    if way is not renyi_epsilon_optimal:
        return at(best_order(at))
    # the optimal conversion is slower to evaluate, and its best order is slightly smaller than Canonne's
    order = best_order(lambda order: renyi_epsilon(order=order, renyi=order * rate, delta=delta))
    centre = math.log(order - 1)
    return min(at(order), golden_section_minimum(lambda point: at(1 + math.exp(point)), centre - 3, centre + 1, 20))


def rate_log_delta(*, rate: float, epsilon: float) -> float:
    """Return the smallest log δ(ε) found over all orders for a curve ε_q = q · rate, rounded up."""
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
    return min(plain(order), golden_section_minimum(optimal, centre - 3, centre + 1, 20))


def rate_for(*, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the largest rate for which ε_q = q · rate implies (ε, δ)-DP, and an order that proves it."""

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
    """Return ε_α of `steps` DP-SGD steps, a record against the null record in both directions, rounded up.

    Args:
        order: Integer Rényi order α ≥ 2.
        sampling_rate: Poisson sampling rate p in (0, 1].
        noise_multiplier: z, the noise standard deviation over the clipping norm.
        steps: Number of steps.
    """
    import numpy as np  # imported lazily: accounting of models alone does not need it

    k = np.arange(order + 1)
    growth = (k * k - k) / (2 * noise_multiplier**2)
    if sampling_rate == 1:
        return float(steps * growth[-1] / (order - 1) * (1 + MARGIN))
    from scipy.special import gammaln, logsumexp  # imported lazily: most commands do not need it

    choose = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = choose + (order - k) * np.log1p(-sampling_rate) + k * np.log(sampling_rate) + growth
    # the sum is 1 plus the record's contribution; an absolute 1e-13 per order covers the rounding of terms near log 1
    return max(0.0, steps * (float(logsumexp(terms)) * (1 + MARGIN) + 1e-13 * order) / (order - 1))


def replace_renyi(*, order: int, sampling_rate: float, noise_multiplier: float, steps: float) -> float:
    """Return ε_α of `steps` DP-SGD steps, record x against record x′ by way of the null record, rounded up."""
    sampling = {"sampling_rate": sampling_rate, "noise_multiplier": noise_multiplier, "steps": steps}
    towards = zero_out_renyi(order=2 * order, **sampling)
    away = zero_out_renyi(order=2 * order - 1, **sampling)
    return (order - 0.5) / (order - 1) * towards + away


# --- order curve ---
#
# Rényi curves given as functions of the order and finite below a public order: conversion to (ε, δ)-DP, and the
# smallest noise that meets a budget.
#
# A curve is ε_q = `renyi(q)`, any function that is a valid Rényi bound at every order (infinite if there is no bound).
# Curves compose by addition at equal orders. Every order gives a valid bound, so the best one may be searched in plain
# floats; the returned value was evaluated at one order and rounded up.


Curve = Callable[[float], float]

_LEAST, _MOST = 1e-3, 1e9  # range of q − 1 on the grid of orders
_DIGITS = 1e-9  # relative width at which a bisection for the noise stops


def _infinite_if_nan(renyi: Curve) -> Curve:
    """Return the curve with NaN replaced by infinity."""

    def at(order: float) -> float:
        cost = renyi(order)
        return cost if cost < math.inf else math.inf

    return at


def _best_order(objective: Curve, highest_order: float, rounds: int = 36) -> tuple[float, float]:
    """Return the best order for Canonne, Kamath & Steinke's conversion, and the largest log(q−1) worth trying."""
    high = min(_MOST, max(highest_order - 1, 1e-12) * (1 - 1e-9))  # the highest order may be too close to 1 for floats
    return best_order(objective, low=min(_LEAST, high / 1e3), high=high, rounds=rounds), math.log(high)


def curve_least(objective: Curve, *, highest_order: float) -> float:
    """Return the smallest value of `objective` found over the orders below `highest_order`.

    `objective` must be a valid bound at every such order.
    """
    return objective(_best_order(objective, highest_order)[0])


def curve_epsilon(*, renyi: Curve, highest_order: float, delta: float) -> float:
    """Return the smallest ε found over the orders below `highest_order`, rounded up.

    It is that of `renyi_epsilon` at its best order, or of `renyi_epsilon_optimal` near it: 0 for δ ≥ 1, infinite for δ ≤ 0.
    """
    if delta >= 1:
        return 0.0
    if delta <= 0:
        return math.inf
    renyi = _infinite_if_nan(renyi)
    order, most = _best_order(lambda q: renyi_epsilon(order=q, renyi=renyi(q), delta=delta), highest_order)
    if renyi(order) == math.inf:
        return math.inf

    def optimal(point: float) -> float:
        q = 1 + math.exp(min(point, most))
        return renyi_epsilon_optimal(order=q, renyi=renyi(q), delta=delta) if renyi(q) < math.inf else math.inf

    centre = math.log(order - 1)
    plain = renyi_epsilon(order=order, renyi=renyi(order), delta=delta)
    return min(plain, optimal(centre), golden_section_minimum(optimal, centre - 2, centre + 0.5, 20))


def curve_log_delta(*, renyi: Curve, highest_order: float, epsilon: float) -> float:
    """Return the smallest log δ(ε) found over all orders below `highest_order`, rounded up."""
    renyi = _infinite_if_nan(renyi)
    order, most = _best_order(lambda q: renyi_log_delta(order=q, renyi=renyi(q), epsilon=epsilon), highest_order)
    if renyi(order) == math.inf:
        return 0.0

    def optimal(point: float) -> float:
        q = 1 + math.exp(min(point, most))
        return renyi_log_delta_optimal(order=q, renyi=renyi(q), epsilon=epsilon) if renyi(q) < math.inf else 0.0

    centre = math.log(order - 1)
    plain = renyi_log_delta(order=order, renyi=renyi(order), epsilon=epsilon)
    return min(plain, optimal(centre), golden_section_minimum(optimal, centre - 2, centre + 0.5, 20))


def least_noise(*, affordable: Callable[[float], bool], guess: float, most: float = 1e150) -> float:
    """Return the smallest s for which `affordable(s)` holds, to nine digits; `math.inf` if there is none.

    The result was checked to be affordable.

    Args:
        affordable: Monotone predicate: false below some s and true from there up to `most` (λ′ may grow with s).
        guess: Starting point of the search.
        most: Largest s to try.
    """
    return least_safe(affordable, guess=guess, factor=4, most=most, digits=_DIGITS)


def noise_for_renyi(
    *, order: float, budget: float, sensitivity: float, hessian: float, inexact_rate: float = 0.0
) -> float:
    """Return the noise s = Δ √(q/(2(ε_q − Hessian cost − q·rate))) that meets a Rényi budget.

    The result was checked to satisfy Theorems 1 and 3 (`objective_perturbation`) within ε_q; it is infinite if no s
    does.
    """
    left = budget - hessian - order * inexact_rate
    if not left > 0:
        return math.inf

    def affordable(noise: float) -> bool:
        cost = perturbation.renyi(order=order, sensitivity=sensitivity, noise=noise, hessian=hessian)
        return cost + order * inexact_rate * (1 + 4 * UNIT) <= budget

    return least_noise(affordable=affordable, guess=sensitivity * math.sqrt(order / (2 * left)) * (1 + 1e-12))


def noise_for_epsilon_delta(
    *,
    epsilon: float,
    delta: float,
    sensitivity: float,
    hessian: Curve,
    highest_order: float,
    inexact_rate: float = 0.0,
    releases: float = 1,
) -> float:
    """Return the smallest s for which N releases are (ε, δ)-DP by Theorems 1 and 3; infinite if there is none.

    The releases are composed at equal orders. The conversion is Canonne, Kamath & Steinke's at the best order, for
    which s is explicit; `curve_epsilon` gives a slightly smaller ε for the same s.
    """

    def budget(order: float) -> float:
        conversion = renyi_epsilon(order=order, renyi=1.0, delta=delta) - 1.0  # independent of the cost
        return (epsilon - conversion) / releases * (1 - 8 * UNIT)

    def noise(order: float) -> float:
        left = budget(order) - hessian(order) - order * inexact_rate
        return sensitivity * math.sqrt(order / (2 * left)) if left > 0 else math.inf

    order, _ = _best_order(noise, highest_order)
    facts = {"sensitivity": sensitivity, "hessian": hessian(order), "inexact_rate": inexact_rate}
    return noise_for_renyi(order=order, budget=budget(order), **facts)


def noise_for_gdp(
    *,
    gdp: float,
    lipschitz: float,
    ratio: float,
    rows: float = 1,
    worlds: float = 1,
    blocks: float = 1,
    inexact_gdp: float = 0.0,
    releases: float = 1,
) -> float:
    """Return the smallest s for which N releases are μ-GDP by Theorems 2 and 3 (κ ≤ 1/4); infinite if there is none."""

    def affordable(noise: float) -> bool:
        one = flow.gdp(lipschitz=lipschitz, noise=noise, ratio=ratio, rows=rows, worlds=worlds, blocks=blocks)
        return math.sqrt(releases) * math.hypot(one, inexact_gdp) * (1 + 4 * UNIT) <= gdp

    left = gdp**2 / releases - inexact_gdp**2
    if not left > 0:
        return math.inf
    guess = rows * worlds * math.sqrt(blocks) * lipschitz / math.sqrt(left) * (1 + 1e-12)
    return least_noise(
        affordable=affordable, guess=guess, most=min(1e150, flow.most_noise(lipschitz=lipschitz, ratio=ratio))
    )
