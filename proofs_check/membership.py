"""What a test can find out: the package's trade-off curves and advantages, against coins worked out here."""

from __future__ import annotations

import math
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import sympy as sp

from noisygd_delete.bounds import gaussian, renyi

from .conversions import closest_conversion, largest_event
from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, require, same, statement


def coins(order: float, first: float, second: float) -> float:
    """R_q of two coins."""
    terms = [order * math.log(a) - (order - 1) * math.log(b) for a, b in ((first, second), (1 - first, 1 - second))]
    return float(np.logaddexp(*terms)) / (order - 1)


def _log_delta_gap(log_delta, effort: int) -> float:
    """Least δ + e^ε p′ − p relative to p over coins at the edge of the Rényi budget, δ taken from the claim at a random ε."""
    generator, closest = np.random.default_rng(101), math.inf
    for _ in range(400 * effort):
        order, cost = 1 + math.exp(generator.uniform(-2, 3)), math.exp(generator.uniform(-4, 1))
        other = math.exp(generator.uniform(-8, -0.01))
        event = largest_event(order, cost, other)
        epsilon = max(0.0, math.log(event / other) * generator.uniform(0, 1))
        delta = math.exp(log_delta(order=order, renyi=cost, epsilon=epsilon))
        slack = (delta + math.exp(epsilon) * other - event) / event
        require(
            slack >= -1e-9,
            f"q = {order}, ε_q = {cost}, ε = {epsilon}: an event of probability {event} beats δ = {delta}",
        )
        closest = min(closest, slack)
    return closest


@statement(
    "S.optimal",
    "the best (ε, δ) that one Rényi order allows, from two tangents of the moment inequality",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=SimpleNamespace(epsilon=renyi.renyi_epsilon_optimal, log_delta=renyi.renyi_log_delta_optimal),
    fault=(
        "2 % below",
        SimpleNamespace(
            epsilon=lambda **k: 0.98 * renyi.renyi_epsilon_optimal(**k), log_delta=renyi.renyi_log_delta_optimal
        ),
    ),
    licenses=(
        "bounds.renyi:renyi_epsilon_optimal",
        "bounds.tails:log_sum",
        "bounds.renyi:renyi_log_delta_optimal",
        "bounds.renyi:rate_log_delta",
    ),
    scope="The tangent inequality and its sum over an event and its complement, symbolically; coins on the edge of "
    "the Rényi budget attack ε and δ; never above Canonne et al.; `rate_log_delta` never below the exact δ of "
    "the Gaussian pair.",
)
def _optimal(claim, effort: int) -> Finding:
    u, x, q, p, s = sp.symbols("u x q p s", positive=True)
    tangent = x**q + q * x ** (q - 1) * (u - x)  # s·u^q ≥ q x^{q−1} p − (q−1) x^q s at u = p/s
    same(
        sp.expand(s * tangent.subs(u, p / s)), sp.expand(q * x ** (q - 1) * p - (q - 1) * x**q * s), "the tangent at x"
    )
    generator = np.random.default_rng(102)
    for _ in range(150 * effort):
        order, cost = 1 + math.exp(generator.uniform(-2, 3)), math.exp(generator.uniform(-4, 1))
        delta = math.exp(-generator.uniform(0.5, 20))
        found, plain = (
            claim.epsilon(order=order, renyi=cost, delta=delta),
            renyi.renyi_epsilon(order=order, renyi=cost, delta=delta),
        )
        require(found <= plain, "the best conversion is above Canonne's")
    closest = closest_conversion(claim.epsilon, effort, 103, trials=400)
    gap = _log_delta_gap(claim.log_delta, effort)
    with mp.workdps(40):
        for size in (0.1, 1.0, 3.0):
            for epsilon in (0.0, 0.5, 4.0):
                truth = mp.ncdf(size / 2 - epsilon / size) - mp.exp(epsilon) * mp.ncdf(-size / 2 - epsilon / size)
                found = renyi.rate_log_delta(rate=size * size / 2, epsilon=epsilon)
                require(found >= mp.log(truth), f"μ = {size}, ε = {epsilon}: log δ = {found} below the Gaussian pair's")
                require(found <= mp.log(truth) + 4, f"μ = {size}, ε = {epsilon}: log δ = {found} is no use")
    return Finding(f"closest approach ε {max(0.0, closest):.1e}, δ {max(0.0, gap):.1e}")


def _least_error(order: float, cost: float, false_positive: float, both: bool) -> float:
    """Least β with R_q of the coins (1−β, α) within the cost, in either or both directions: bisection here."""

    def least(possible) -> float:
        low, high = 1e-12, 1 - false_positive  # below, both are as good as 0 here
        if possible(low):
            return 0.0
        for _ in range(200):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if possible(middle) else (middle, high)
        return high

    forward = least(lambda rate: coins(order, 1 - rate, false_positive) <= cost)
    backward = least(lambda rate: coins(order, false_positive, 1 - rate) <= cost)
    return max(forward, backward) if both else min(forward, backward)


@statement(
    "S.tradeoff",
    "least false negative rate of a test: Φ(Φ⁻¹(1−α) − μ) under μ-GDP, the coins' edge under (q, ε_q)",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=gaussian.renyi_tradeoff,
    fault=("order q − 1/2 for q", lambda **k: gaussian.renyi_tradeoff(**{**k, "order": k["order"] - 0.5})),
    licenses=(
        "bounds.gaussian:gdp_tradeoff",
        "bounds.gaussian:renyi_tradeoff",
        "bounds.gaussian:rate_tradeoff",
    ),
    scope="Gaussian curve against 40 digits; Rényi curves against a bisection written here, never above and within "
    "1e−6; `rate_tradeoff` never above the Gaussian pair that has that curve.",
)
def _tradeoff(claim, effort: int) -> Finding:
    generator, worst = np.random.default_rng(104), 0.0
    for _ in range(150 * effort):
        order, cost = 1.6 + math.exp(generator.uniform(-2, 3)), math.exp(generator.uniform(-4, 0.5))
        rate, both = float(generator.uniform(0.01, 0.95)), bool(generator.integers(2))
        truth = _least_error(order, cost, rate, both)
        found = claim(order=order, renyi=cost, false_positive=rate, both_directions=both)
        require(
            found <= truth * (1 + 1e-12),
            f"q = {order}, ε_q = {cost}, α = {rate}: β = {found} above the possible {truth}",
        )
        require(
            found >= truth * (1 - 1e-6) - 1e-12,
            f"q = {order}, ε_q = {cost}, α = {rate}: β = {found}, {truth} is provable",
        )
        worst = max(worst, 1 - found / truth if truth else 0.0)
    with mp.workdps(40):
        for size in (0.01, 1.0, 4.0):
            for rate in (0.001, 0.3, 0.9):
                exact = mp.ncdf(-mp.sqrt(2) * mp.erfinv(2 * mp.mpf(rate) - 1) - size)
                found = gaussian.gdp_tradeoff(mu=size, false_positive=rate)
                require(
                    found <= exact and found >= exact * (1 - 1e-9),
                    f"gdp_tradeoff({size}, {rate}) = {found}, exact {exact}",
                )
                require(gaussian.rate_tradeoff(rate=size * size / 2, false_positive=rate) <= exact, "rate_tradeoff")
    return Finding(f"within {worst:.0e} of the edge")


@statement(
    "S.advantage",
    "largest advantage of a test: 2Φ(μ/2) − 1; tanh(s/2) with cosh((q−½)s) = e^{(q−1)ε_q} cosh(s/2) under (q, ε_q) "
    "both ways",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=gaussian.renyi_advantage,
    fault=(
        "cosh((q+½)s)",
        lambda *, order, renyi: gaussian.renyi_advantage(order=order + 1, renyi=renyi * (order - 1) / order),
    ),
    licenses=(
        "bounds.gaussian:renyi_advantage",
        "bounds.gaussian:rate_advantage",
        "bounds.gaussian:gdp_advantage",
    ),
    scope="The moment of coins p = 1 − p′ symbolically; random coins (not only mirrored ones) with both divergences "
    "measured; `rate_advantage` never below the Gaussian pair's 2Φ(μ/2) − 1.",
)
def _advantage(claim, effort: int) -> Finding:
    s = sp.Symbol("s", positive=True)
    p = 1 / (1 + sp.exp(-s))  # p/(1−p) = e^s, advantage p − (1−p) = tanh(s/2)
    for order in (2, 3, 5):
        moment = p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
        closed = sp.cosh((sp.Integer(order) - sp.Rational(1, 2)) * s) / sp.cosh(s / 2)
        same(sp.simplify((moment - closed).rewrite(sp.exp)), 0, f"moment of mirrored coins, q = {order}")
    generator, closest = np.random.default_rng(105), math.inf
    for trial in range(4000 * effort):
        order = 1 + math.exp(generator.uniform(-3, 4))
        up = generator.uniform(0.01, 0.99)
        down = 1 - up if trial % 2 else generator.uniform(0.01, 0.99)
        cost = max(coins(order, up, down), coins(order, down, up))
        if cost < 1e-3:  # below, the rounding of `coins` shows
            continue
        bound = claim(order=order, renyi=cost)
        require(abs(up - down) <= bound * (1 + 1e-9), f"q = {order}: coins {up}, {down} have advantage above {bound}")
        closest = min(closest, 1 - abs(up - down) / bound)
    for size in (0.01, 0.5, 2.0):
        exact = math.erf(size / math.sqrt(8))
        require(exact <= gaussian.gdp_advantage(mu=size) <= exact * (1 + 1e-9), "gdp_advantage")
        require(exact <= gaussian.rate_advantage(rate=size * size / 2) <= 1.3 * exact, "rate_advantage")
    return Finding(f"closest approach {max(0.0, closest):.1e}")
