"""Between Rényi DP, Gaussian DP and (ε, δ), each in the direction in which it is a theorem.

    GDP   → (ε, δ):  δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)              exact (Balle & Wang 2018; Dong, Roth & Su 2022)
    Rényi → (ε, δ):  ε = ε_q + log(1/δ)/(q − 1)                          Mironov 2017; Remark 2.1 of the paper
                     ε = ε_q + log((q−1)/q) − (log δ + log q)/(q − 1)    Canonne, Kamath & Steinke 2020
    GDP   → Rényi:   ε_q = q μ²/2 for every q
    composition:     Rényi adds at equal q; GDP adds in squares

A Rényi curve of the form ε_q = q · rate is a *rate* (zero-concentrated DP); it is never turned into μ.

Results are rounded outward, by more than the error of the special functions used: ε and δ up, the μ or rate that a
budget allows down. Every function is total: ε is clamped at 0, δ at 1, and δ is handled by its logarithm, so 1e-300
is an ordinary argument. Searches return the last point checked safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import minimize_scalar
from scipy.special import erfcx, log_ndtr, ndtr

_ULPS = 64 * 2.0**-52  # covers the stated accuracy of erfcx, log_ndtr and exp with room to spare
_SQRT2 = math.sqrt(2)


def gdp_log_delta(*, mu: float, epsilon: float) -> float:
    """Upper bound on log δ(ε) of μ-GDP, tight to rounding; −inf when μ = 0.

    With x = (ε/μ − μ/2)/√2 and y = (ε/μ + μ/2)/√2, e^ε φ(√2 y) = φ(√2 x), so
    δ = (erfcx(x) − erfcx(y)) e^{−x²}/2: no large numbers are subtracted unless x < 0, where δ is not small.
    """
    if mu == 0:
        return -math.inf
    if mu == math.inf:
        return 0.0
    x = (epsilon / mu - mu / 2) / _SQRT2
    y = (epsilon / mu + mu / 2) / _SQRT2
    if x < -1:  # erfcx grows like e^{x²}; here Φ(−√2 x) is close to 1 and the plain form loses nothing
        tail = math.exp(min(0.0, epsilon + float(log_ndtr(-_SQRT2 * y))))
        return min(0.0, math.log(float(ndtr(-_SQRT2 * x)) - tail * (1 - _ULPS)) + _ULPS)
    upper = float(erfcx(x)) * (1 + _ULPS) - float(erfcx(y)) * (1 - _ULPS)
    return min(0.0, math.log(upper / 2) - x * x * (1 - _ULPS) + _ULPS)


def gdp_delta(*, mu: float, epsilon: float) -> float:
    """δ(ε) of μ-GDP, rounded up."""
    return math.exp(gdp_log_delta(mu=mu, epsilon=epsilon))


def _first_safe(safe: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect to neighbouring doubles between an unsafe `low` and a safe `high`; the answer was checked safe."""
    for _ in range(200):
        middle = math.sqrt(low * high) if low > 0 and high / low > 4 else low + (high - low) / 2
        if middle <= low or middle >= high:
            break
        if safe(middle):
            high = middle
        else:
            low = middle
        if high - low <= 1e-15 * high:
            break
    return high


def gdp_epsilon(*, mu: float, delta: float) -> float:
    """The least ε (rounded up) for which μ-GDP implies (ε, δ)-DP; 0 when δ ≥ 2Φ(μ/2) − 1, ∞ when δ = 0 < μ."""
    if mu == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or mu == math.inf:
        return math.inf
    log_delta = math.log(delta)

    def safe(epsilon: float) -> bool:
        return gdp_log_delta(mu=mu, epsilon=epsilon) <= log_delta

    if safe(0.0):
        return 0.0
    high = mu * mu / 2 + mu * math.sqrt(2 * -log_delta) + mu  # Chernoff bound on the privacy loss
    while not safe(high):
        high *= 2
    low = high
    while low > 1e-300 and safe(low):
        low /= 16
    return _first_safe(safe, low, high)


def gdp_for(*, epsilon: float, delta: float) -> float:
    """The largest μ (rounded down) for which μ-GDP implies (ε, δ)-DP."""
    log_delta = math.log(delta)

    def unsafe(inverse: float) -> bool:
        return gdp_log_delta(mu=1 / inverse, epsilon=epsilon) <= log_delta

    low = high = 1.0  # searched in 1/μ, so that "larger" is the safe side
    while not unsafe(high):
        high *= 2
    while unsafe(low) and low > 1e-12:
        low /= 2
    return 1 / _first_safe(unsafe, low, high)


def renyi_epsilon_mironov(*, order: float, renyi: float, delta: float) -> float:
    """ε = ε_q + log(1/δ)/(q − 1), clamped at 0 (Remark 2.1)."""
    return max(0.0, renyi - math.log(delta) / (order - 1))


def renyi_epsilon(*, order: float, renyi: float, delta: float) -> float:
    """ε = ε_q + log((q−1)/q) − (log δ + log q)/(q−1), clamped at 0; never above Mironov's (Canonne et al. 2020)."""
    value = renyi + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
    return max(0.0, value + abs(value) * _ULPS)


def renyi_log_delta(*, order: float, renyi: float, epsilon: float) -> float:
    """log δ at which (q, ε_q)-Rényi DP implies (ε, δ)-DP: the inverse of `renyi_epsilon`, clamped at 0."""
    value = (order - 1) * (renyi - epsilon + math.log1p(-1 / order)) - math.log(order)
    return min(0.0, value + abs(value) * _ULPS)


def best_order(objective: Callable[[float], float], low: float = 1e-9, high: float = 1e12) -> float:
    """An order q in (1 + low, 1 + high) that makes `objective` small. Every order is valid, so plain floats may search."""
    grid = [math.log(low) + i * (math.log(high) - math.log(low)) / 128 for i in range(129)]
    values = [objective(1 + math.exp(point)) for point in grid]
    best = min(range(len(grid)), key=values.__getitem__)
    left, right = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    found = minimize_scalar(
        lambda point: objective(1 + math.exp(point)), bounds=(left, right), method="bounded", options={"xatol": 1e-9}
    )
    candidates = [1 + math.exp(float(found.x)), 1 + math.exp(grid[best])]
    return min(candidates, key=objective)


def rate_epsilon(*, rate: float, delta: float) -> float:
    """The least ε over all orders for a curve ε_q = q · rate, rounded up."""
    if rate == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or rate == math.inf:
        return math.inf

    def objective(order: float) -> float:
        return renyi_epsilon(order=order, renyi=order * rate, delta=delta)

    return objective(best_order(objective))


def rate_for(*, epsilon: float, delta: float) -> tuple[float, float]:
    """(rate, order): the largest rate for which ε_q = q · rate implies (ε, δ)-DP, and the order that shows it."""

    def negative(order: float) -> float:
        target = epsilon - math.log1p(-1 / order) + (math.log(delta) + math.log(order)) / (order - 1)
        return -target / order

    order = best_order(negative)
    rate = -negative(order) * (1 - 1e-14)
    while rate > 0 and renyi_epsilon(order=order, renyi=order * rate, delta=delta) > epsilon:
        rate *= 1 - 1e-14
    return rate, order


def gdp_advantage(*, mu: float) -> float:
    """Largest advantage (true minus false positive rate) of any membership test: 2Φ(μ/2) − 1 = erf(μ/√8)."""
    return min(1.0, math.erf(mu / math.sqrt(8)) * (1 + _ULPS))
