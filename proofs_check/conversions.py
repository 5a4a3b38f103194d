"""Between Rényi DP, Gaussian DP and (ε, δ): Theorem B.1 and the conversions of this package."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp

from noisygd_delete.bounds import gaussian, renyi

from .exact import surely_less
from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, require, same, statement


def largest_event(order: float, renyi_cost: float, other: float) -> float:
    """The largest p with p^q r^{1−q} + (1−p)^q (1−r)^{1−q} ≤ e^{(q−1)ε} at r = `other`: bisection on a convex function."""
    log_budget = (order - 1) * renyi_cost

    def cost(p: float) -> float:
        one = order * math.log(p) - (order - 1) * math.log(other)
        two = order * math.log1p(-p) - (order - 1) * math.log1p(-other) if p < 1 else -math.inf
        return max(one, two) + math.log1p(math.exp(-abs(one - two)))

    low, high = other, 1.0
    if -(order - 1) * math.log(other) <= log_budget:
        return 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= log_budget else (low, middle)
    return low


def closest_conversion(convert, effort: int, seed: int, trials: int = 4000) -> float:
    """Least e^ε p′ + δ − p relative to p, over binary laws (enough by data processing) at the edge of the budget."""
    generator, closest = np.random.default_rng(seed), math.inf
    for _ in range(trials * effort):
        order = 1 + math.exp(generator.uniform(-3, 4))
        cost = math.exp(generator.uniform(-5, 2))
        other = math.exp(generator.uniform(-12, -0.01))
        event = largest_event(order, cost, other)
        # the δ at which the tangent is closest is near event·(1/q)
        delta = min(0.999, event * math.exp(generator.uniform(-1.5, 0.5)) / (1 + generator.uniform(0, order)))
        epsilon = convert(order=order, renyi=cost, delta=delta)
        slack = (math.exp(epsilon) * other + delta - event) / event
        require(slack >= -1e-9, f"q={order}, ε_q={cost}, δ={delta}: an event has probability {event} above e^ε p′ + δ")
        closest = min(closest, slack)
    return closest


@statement(
    "B.1",
    "R_q ≤ ε₀ gives P[O] ≤ e^ε P′[O] + δ with ε = ε₀ + log(1/δ)/(q−1) (also Remark 2.1)",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=renyi.renyi_epsilon_mironov,
    fault=("log(1/δ)/q for log(1/δ)/(q−1)", lambda *, order, renyi, delta: max(0.0, renyi - math.log(delta) / order)),
    licenses=("bounds.renyi:renyi_epsilon_mironov",),
    scope="Both cases of the proof as identities of exponents; binary laws on the edge of the Rényi budget, solved by "
    "bisection, as the adversary (binary laws are enough by data processing, which is cited).",
)
def _conversion(claim, effort: int) -> Finding:
    log_delta, s = sp.symbols("log_delta s", real=True)
    q = 1 + s
    # p ≤ x^{(q−1)/q} with x = e^{ε₀} p′, in logarithms. The bounds x δ^{−1/(q−1)} and δ meet at x = δ^{q/(q−1)}:
    threshold = log_delta * q / s
    same(threshold * (q - 1) / q, log_delta, "x^{(q−1)/q} = δ at the threshold")
    same(threshold - log_delta / (q - 1), log_delta, "x δ^{−1/(q−1)} = δ at the threshold")
    # above it x^{(q−1)/q} = x · x^{−1/q} with x^{−1/q} ≤ threshold^{−1/q} = δ^{−1/(q−1)}
    same(-threshold / q, -log_delta / (q - 1), "x^{−1/q} = δ^{−1/(q−1)} at the threshold")
    return Finding(f"closest approach {closest_conversion(claim, effort, 1):.2e}")


def _canonne_inverse(claim, order: float, cost: float, delta: float) -> None:
    back = claim.log_delta(order=order, renyi=cost, epsilon=claim.epsilon(order=order, renyi=cost, delta=delta))
    require(abs(back - math.log(delta)) < 1e-9 or back == 0.0, "renyi_log_delta inverts renyi_epsilon")


class _Canonne:
    epsilon = staticmethod(renyi.renyi_epsilon)
    log_delta = staticmethod(renyi.renyi_log_delta)


class _CanonneFault:
    """log q added instead of subtracted twice."""

    @staticmethod
    def epsilon(*, order: float, renyi: float, delta: float) -> float:
        return max(0.0, renyi + math.log1p(-1 / order) - (math.log(delta) + 2 * math.log(order)) / (order - 1))

    log_delta = staticmethod(renyi.renyi_log_delta)


@statement(
    "S.canonne",
    "ε = ε_q + log((q−1)/q) − (log δ + log q)/(q−1) (Canonne, Kamath & Steinke 2020), and its inverse",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=_Canonne,
    fault=("2 log q for log q", _CanonneFault),
    licenses=("bounds.renyi:renyi_epsilon", "bounds.renyi:renyi_log_delta"),
    scope="The maximiser of (1 − e^{ε−z})e^{−(q−1)z} and its value, symbolically; binary laws as for B.1; the inverse"
    " on a grid.",
)
def _canonne(claim, effort: int) -> Finding:
    q, epsilon, u = sp.symbols("q epsilon u", positive=True)  # u = e^{ε−z}
    weight = (1 - u) * u ** (q - 1)
    same(sp.diff(weight, u).subs(u, (q - 1) / q), 0, "the maximum is at u = (q−1)/q")
    value = weight.subs(u, (q - 1) / q)
    same(value, (1 / q) * ((q - 1) / q) ** (q - 1), "the constant C e^{(q−1)ε}")
    cost = sp.Symbol("r", positive=True)
    delta = value * sp.exp((q - 1) * (cost - epsilon))
    formula = cost + sp.log((q - 1) / q) - (sp.log(delta) + sp.log(q)) / (q - 1)
    # at numeric orders: log of a symbolic product does not split without assumptions on q − 1
    for order in (sp.Rational(3, 2), sp.Integer(2), sp.Integer(10)):
        same(sp.expand_log(formula.subs(q, order), force=True), epsilon, "δ = C e^{(q−1)ε_q} solved for ε")
    closest = closest_conversion(claim.epsilon, effort, 2)
    for order, price, level in ((1.5, 0.3, 1e-5), (2.0, 1.0, 1e-6), (40.0, 0.01, 1e-9)):
        _canonne_inverse(claim, order, price, level)
    return Finding(f"closest approach {closest:.2e}")


def _wrong_direction_gdp(*, mu: float, epsilon: float) -> float:
    return math.log(max(1e-300, 0.5 * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2))))


@statement(
    "S.gdp",
    "μ-GDP gives δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), rounded up, and searches return the safe side",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=gaussian.gdp_log_delta,
    fault=("Φ(−ε/μ − μ/2) for Φ(−ε/μ + μ/2)", _wrong_direction_gdp),
    licenses=(
        "bounds.gaussian:gdp_log_delta",
        "bounds.gaussian:gdp_delta",
        "bounds.gaussian:gdp_epsilon",
        "bounds.gaussian:gdp_for",
        "bounds.tails:erfcx",
        "bounds.tails:upper_tail",
    ),
    scope="The privacy loss of N(0,1) and N(μ,1) symbolically; the code against 60-digit mpmath at 400 points (never "
    "below, and within 1e−9 of it); both searches on the safe side and tight to 1e−6, and their limits. That "
    "the Gaussian pair is worst for μ-GDP is the definition (Dong, Roth & Su 2022).",
)
def _gaussian_dp(claim, effort: int) -> Finding:
    import mpmath as mp

    x, mu = sp.symbols("x mu", positive=True)
    ratio = sp.log(sp.exp(-((x - mu) ** 2) / 2) / sp.exp(-(x**2) / 2))
    same(sp.expand_log(ratio, force=True), mu * x - mu**2 / 2, "the privacy loss is linear in x")
    worst = 0.0
    with mp.workdps(60):
        for size in (1e-3, 0.01, 0.1, 0.5, 1, 2, 5, 20):
            for step in range(50):
                epsilon = 8 * size * step / 50 + size * size / 2 * (step % 5)
                m, e = mp.mpf(size), mp.mpf(epsilon)
                truth = mp.log(mp.ncdf(-e / m + m / 2) - mp.exp(e) * mp.ncdf(-e / m - m / 2))
                found = claim(mu=size, epsilon=epsilon)
                require(found >= truth, f"δ({epsilon}) of {size}-GDP is rounded down")
                worst = max(worst, float(found - truth))
    require(worst < 1e-9, f"δ is {worst} above the truth in logarithm")
    for size, level in ((0.3, 1e-6), (1.0, 1e-9), (3.0, 1e-12), (0.01, 1e-3)):
        epsilon = gaussian.gdp_epsilon(mu=size, delta=level)
        require(claim(mu=size, epsilon=epsilon) <= math.log(level), "gdp_epsilon is on the safe side")
        require(claim(mu=size, epsilon=epsilon * (1 - 1e-6)) > math.log(level), "gdp_epsilon is the least")
        found = gaussian.gdp_for(epsilon=epsilon, delta=level)
        require(claim(mu=found, epsilon=epsilon) <= math.log(level), "gdp_for is on the safe side")
        require(abs(found / size - 1) < 1e-6, "gdp_for inverts gdp_epsilon")
        require(abs(gaussian.gdp_delta(mu=size, epsilon=epsilon) / level - 1) < 1e-6, "gdp_delta")
    require(gaussian.gdp_epsilon(mu=0.0, delta=1e-6) == 0 == gaussian.gdp_epsilon(mu=2.0, delta=1.0), "no ε is needed")
    require(
        gaussian.gdp_epsilon(mu=1.0, delta=0.0) == math.inf == gaussian.gdp_epsilon(mu=math.inf, delta=0.5),
        "no ε suffices",
    )
    require(gaussian.gdp_epsilon(mu=1.0, delta=math.erf(1 / math.sqrt(8)) * 1.001) == 0, "δ above the total variation")
    require(claim(mu=0.0, epsilon=0.0) == -math.inf and claim(mu=math.inf, epsilon=1.0) == 0.0, "limits of μ")
    return Finding(f"at most {worst:.1e} above the truth in log δ")


@statement(
    "S.rate",
    "a curve ε_q = q·rate: the least ε over all orders, and the largest rate for an (ε, δ) budget",
    evidence=(RIGOROUS,),
    claim=renyi.rate_epsilon,
    fault=("only order 2 is tried, without its δ term", lambda *, rate, delta: 2 * rate),
    licenses=(
        "bounds.renyi:rate_epsilon",
        "bounds.renyi:rate_for",
        "bounds.arithmetic:best_order",
    ),
    scope="Never below the exact δ(ε) of the Gaussian pair with μ² = 2·rate (which has that curve), 18 points; the "
    "round trip through `rate_for` stays within the budget. Optimality of the order is compared with a fine "
    "scan, not proven.",
)
def _rate(claim, effort: int) -> Finding:
    closest = math.inf
    for rate in (1e-6, 1e-4, 0.01, 0.1, 0.5, 3.0):
        for delta in (1e-3, 1e-6, 1e-10):
            epsilon = claim(rate=rate, delta=delta)
            exact = gaussian.gdp_epsilon(mu=math.sqrt(2 * rate), delta=delta)
            require(epsilon >= exact, f"rate {rate}, δ = {delta}: ε = {epsilon} below the Gaussian pair's {exact}")
            scan = min(
                renyi.renyi_epsilon(order=1 + math.exp(t / 20), renyi=(1 + math.exp(t / 20)) * rate, delta=delta)
                for t in range(-120, 400)
            )
            require(
                epsilon <= scan * (1 + 1e-9) + 1e-12,
                f"rate {rate}, δ = {delta}: a scanned order gives {scan} < {epsilon}",
            )
            closest = min(closest, epsilon / exact - 1 if exact else math.inf)
            back, order = renyi.rate_for(epsilon=max(epsilon, 1e-3), delta=delta)
            require(renyi.renyi_epsilon(order=order, renyi=order * back, delta=delta) <= max(epsilon, 1e-3), "rate_for")
            require(surely_less(0, back), "rate_for is positive")
    return Finding(f"at least {closest:.1%} above the exact Gaussian ε")
