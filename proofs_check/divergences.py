"""Appendix B: Rényi divergence, its conversions, and the bounds on Gibbs laws (G.21, G.23, bounded range)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy as sp
from mpmath import iv

from noisygd_delete.guarantees import conversion

from .exact import enclose, surely_at_most, surely_less
from .framework import ADVERSARIAL, FAILS, RIGOROUS, SYMBOLIC, Finding, require, same, statement


def moment(order: int, first: list[Fraction], second: list[Fraction]) -> Fraction:
    """E_q = Σ p^q r^{1−q} in exact arithmetic, integer q."""
    return sum((p**order / r ** (order - 1) for p, r in zip(first, second, strict=True) if p), Fraction(0))


def rational_law(generator: np.random.Generator, size: int) -> list[Fraction]:
    """A random law with small numerators; skewed, because the extremes are where inequalities are close."""
    weights = [int(w) for w in np.exp(generator.uniform(0, 6, size)).astype(int) + 1]
    return [Fraction(w, sum(weights)) for w in weights]


def renyi(order: float, first: np.ndarray, second: np.ndarray) -> float:
    return float(np.log(np.sum(first**order * second ** (1 - order))) / (order - 1))


# ---------------------------------------------------------------- conversions


def _largest_event(order: float, renyi_cost: float, other: float) -> float:
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


def _closest_conversion(convert, effort: int, seed: int) -> float:
    """Least e^ε p′ + δ − p relative to p, over binary laws (enough by data processing) at the edge of the budget."""
    generator, closest = np.random.default_rng(seed), math.inf
    for _ in range(4000 * effort):
        order = 1 + math.exp(generator.uniform(-3, 4))
        cost = math.exp(generator.uniform(-5, 2))
        other = math.exp(generator.uniform(-12, -0.01))
        event = _largest_event(order, cost, other)
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
    claim=conversion.renyi_epsilon_mironov,
    fault=("log(1/δ)/q for log(1/δ)/(q−1)", lambda *, order, renyi, delta: max(0.0, renyi - math.log(delta) / order)),
    licenses=("guarantees.conversion:renyi_epsilon_mironov",),
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
    return Finding(f"closest approach {_closest_conversion(claim, effort, 1):.2e}")


def _canonne_inverse(claim, order: float, cost: float, delta: float) -> None:
    back = claim.log_delta(order=order, renyi=cost, epsilon=claim.epsilon(order=order, renyi=cost, delta=delta))
    require(abs(back - math.log(delta)) < 1e-9 or back == 0.0, "renyi_log_delta inverts renyi_epsilon")


class _Canonne:
    epsilon = staticmethod(conversion.renyi_epsilon)
    log_delta = staticmethod(conversion.renyi_log_delta)


class _CanonneFault:
    """log q added instead of subtracted twice."""

    @staticmethod
    def epsilon(*, order: float, renyi: float, delta: float) -> float:
        return max(0.0, renyi + math.log1p(-1 / order) - (math.log(delta) + 2 * math.log(order)) / (order - 1))

    log_delta = staticmethod(conversion.renyi_log_delta)


@statement(
    "S.canonne",
    "ε = ε_q + log((q−1)/q) − (log δ + log q)/(q−1) (Canonne, Kamath & Steinke 2020), and its inverse",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=_Canonne,
    fault=("2 log q for log q", _CanonneFault),
    licenses=("guarantees.conversion:renyi_epsilon", "guarantees.conversion:renyi_log_delta"),
    scope="The maximiser of (1 − e^{ε−z})e^{−(q−1)z} and its value, symbolically; binary laws as for B.1; the inverse on a grid.",
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
    closest = _closest_conversion(claim.epsilon, effort, 2)
    for order, price, level in ((1.5, 0.3, 1e-5), (2.0, 1.0, 1e-6), (40.0, 0.01, 1e-9)):
        _canonne_inverse(claim, order, price, level)
    return Finding(f"closest approach {closest:.2e}")


def _wrong_direction_gdp(*, mu: float, epsilon: float) -> float:
    return math.log(max(1e-300, 0.5 * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2))))


@statement(
    "S.gdp",
    "μ-GDP gives δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), rounded up, and searches return the safe side",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=conversion.gdp_log_delta,
    fault=("Φ(−ε/μ − μ/2) for Φ(−ε/μ + μ/2)", _wrong_direction_gdp),
    licenses=(
        "guarantees.conversion:gdp_log_delta",
        "guarantees.conversion:gdp_delta",
        "guarantees.conversion:gdp_epsilon",
        "guarantees.conversion:gdp_for",
        "guarantees.conversion:gdp_advantage",
    ),
    scope="The hockey-stick divergence of N(0,1) and N(μ,1) symbolically; the code against 60-digit mpmath at 400 points "
    "(never below, and within 1e−9 of it); both searches checked on the safe side. That the Gaussian pair is worst for μ-GDP "
    "is the definition (Dong, Roth & Su 2022).",
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
    for size, level in ((0.3, 1e-6), (1.0, 1e-9), (3.0, 1e-12)):
        epsilon = conversion.gdp_epsilon(mu=size, delta=level)
        require(claim(mu=size, epsilon=epsilon) <= math.log(level), "gdp_epsilon is on the safe side")
        require(claim(mu=conversion.gdp_for(epsilon=epsilon, delta=level), epsilon=epsilon) <= math.log(level), "gdp_for")
        half = enclose(size) / (2 * iv.sqrt(2))
        require(conversion.gdp_advantage(mu=size) >= math.erf(float(half.a)), "gdp_advantage")
    return Finding(f"at most {worst:.1e} above the truth in log δ")


# ---------------------------------------------------------------- B.2 to B.4


@statement(
    "B.2",
    "R_q increases with q",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda low, high, first, second: moment(low, first, second) ** (high - 1) <= moment(high, first, second) ** (low - 1),
    fault=(
        "exponent q for q − 1 on one side",
        lambda low, high, first, second: moment(low, first, second) ** high <= moment(high, first, second) ** (low - 1),
    ),
    scope="Integer orders 2..6 on random rational laws in exact arithmetic (equality at equal laws), and the Gaussian curve; "
    "non-integer orders by log-convexity of q ↦ E_q, which is cited (Mironov 2017).",
)
def _monotone(claim, effort: int) -> Finding:
    q, mu = sp.symbols("q mu", positive=True)
    require(sp.diff(q * mu**2 / 2, q).is_positive, "the Gaussian curve increases")
    generator, closest = np.random.default_rng(3), math.inf
    for _ in range(600 * effort):
        size = int(generator.integers(2, 5))
        first, second = rational_law(generator, size), rational_law(generator, size)
        low, high = sorted(generator.choice(range(2, 7), 2, replace=False).tolist())
        require(claim(low, high, first, second), f"R_{low} > R_{high} at {first}, {second}")
        exponents = math.log(moment(low, first, second)) / (low - 1), math.log(moment(high, first, second)) / (high - 1)
        closest = min(closest, exponents[1] - exponents[0])
    return Finding(f"closest approach {closest:.1e} (equality at equal laws)")


@statement(
    "B.3",
    "Rényi DP composes: the costs add at equal order, also when the second mechanism is chosen by the first output",
    evidence=(ADVERSARIAL,),
    claim=lambda one, two: one * two,
    fault=("the larger cost instead of the sum", max),
    licenses=("guarantee:Guarantee.__add__",),
    scope="E_q of the joint law against the product of worst cases, exact rational arithmetic, orders 2 to 4, second kernel "
    "depending on the first output; the package's sum at equal order on Gaussian, rate and listed parts.",
)
def _composition(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(4), math.inf
    for trial in range(300 * effort):
        order = int(generator.integers(2, 5))
        first, second = rational_law(generator, 3), rational_law(generator, 3)
        kernels = [(rational_law(generator, 2), rational_law(generator, 2)) for _ in range(3)]
        if trial % 3 == 0:
            kernels = kernels[:1] * 3  # not adaptive: the bound is attained
        joint = [p * k for p, (kernel, _) in zip(first, kernels, strict=True) for k in kernel]
        other = [p * k for p, (_, kernel) in zip(second, kernels, strict=True) for k in kernel]
        worst = max(moment(order, one, two) for one, two in kernels)
        bound = claim(moment(order, first, second), worst)
        truth = moment(order, joint, other)
        require(truth <= bound, f"order {order}: E_q = {float(truth)} above {float(bound)}")
        closest = min(closest, float(1 - truth / bound))
    from noisygd_delete.guarantee import Guarantee

    parts = [
        Guarantee("dp", "replace", gdp_squared=0.3, points=((4.0, 0.5), (8.0, 0.9))),
        Guarantee("dp", "replace", rate=0.02, points=((4.0, 0.1), (16.0, 0.7))),
    ]
    for order in (1.5, 4.0, 6.0, 8.0):
        bound = math.log(claim(math.exp(parts[0].renyi(order)), math.exp(parts[1].renyi(order))))
        require(abs((parts[0] + parts[1]).renyi(order) - bound) < 1e-12, f"Guarantee.__add__ at order {order}")
    return Finding(f"closest approach {closest:.1e} (attained by products)")


@statement(
    "B.4",
    "weak triangle inequality: R_q(ν‖ν′) ≤ R_q(ν‖ρ) + R_∞(ρ‖ν′)",
    evidence=(ADVERSARIAL,),
    claim=lambda order, middle, last: max(p / r for p, r in zip(middle, last, strict=True)) ** (order - 1),
    fault=("R_q(ρ‖ν′) for R_∞(ρ‖ν′)", moment),
    scope="Exact rational arithmetic, integer orders 2 to 6, random laws, point masses included (equality there).",
)
def _triangle(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(5), math.inf
    for trial in range(600 * effort):
        order, size = int(generator.integers(2, 7)), int(generator.integers(2, 5))
        first, middle, last = (rational_law(generator, size) for _ in range(3))
        if trial % 2:
            peak = max(range(size), key=lambda i: middle[i] / last[i])
            first = [Fraction(int(i == peak)) for i in range(size)]
        truth, bound = moment(order, first, last), moment(order, first, middle) * claim(order, middle, last)
        require(truth <= bound, f"order {order}: {float(truth)} above {float(bound)}")
        closest = min(closest, float(1 - truth / bound))
    return Finding(f"closest approach {closest:.1e} (attained by point masses)")


@statement(
    "B.4-equal-order",
    "the triangle inequality with R_q(ρ‖ν′), or with the quadratic bound q c²/8 on a Gibbs law, at the same order q",
    verdict=FAILS,
    evidence=(RIGOROUS,),
    claim=Fraction(9, 20),
    fault=("ν′ = ρ: the two middle laws are equal", Fraction(1, 2)),
    scope="One counter-example, exact up to two rational bounds on logarithms. It is why the nonconvex induction may add only "
    "R_∞ bounds at equal order.",
)
def _equal_order(claim, effort: int) -> Finding:
    # ν a point mass, ρ = (1/2, 1/2), ν′ = (a, 1−a); q = 2; log-ratio range c = log((1−a)/a)
    a, half = claim, Fraction(1, 2)
    order, nu, rho, last = 2, [Fraction(1), Fraction(0)], [half, half], [a, 1 - a]
    truth = moment(order, nu, last) / moment(order, nu, rho)  # e^{R_2(ν‖ν′) − R_2(ν‖ρ)} = 1/(2a)
    excess_low = 1 - 1 / truth  # log x ≥ 1 − 1/x
    width_high = (1 - a) / a - 1  # log x ≤ x − 1
    quadratic_high = Fraction(order, 8) * width_high**2
    require(excess_low > quadratic_high, "the quadratic bound covers the excess")
    require(truth > moment(order, rho, last), "R_2(ρ‖ν′) covers the excess")
    return Finding(
        f"the step costs more than {float(excess_low):.3f}, the quadratic bound is below {float(quadratic_high):.4f}",
        "q = 2, ν = (1, 0), ρ = (1/2, 1/2), ν′ = (9/20, 11/20): R_2(ν‖ν′) − R_2(ν‖ρ) = log(10/9) ≥ 1/10, while "
        "q c²/8 = log²(11/9)/4 ≤ 1/81 and R_2(ρ‖ν′) = log(100/99).",
    )


# ---------------------------------------------------------------- Gibbs laws


@statement(
    "G.21",
    "Donsker–Varadhan: E_ν f ≤ KL(ν‖ν′) + log E_ν′ e^f",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda first, second: float(np.sum(first * np.log(first / second))),
    fault=("KL(ν′‖ν) for KL(ν‖ν′)", lambda first, second: float(np.sum(second * np.log(second / first)))),
    scope="The gap is KL(ν‖ν_f) for the tilted law ν_f ∝ ν′e^f: an identity on three points, symbolically; random laws and f.",
)
def _variational(claim, effort: int) -> Finding:
    p = sp.symbols("p1:4", positive=True)
    r = sp.symbols("r1:4", positive=True)
    f = sp.symbols("f1:4", real=True)
    total = sum(x * sp.exp(y) for x, y in zip(r, f, strict=True))
    gap = sum(x * sp.log(x / y) for x, y in zip(p, r, strict=True)) + sp.log(total) * sum(p)
    gap -= sum(x * y for x, y in zip(p, f, strict=True))
    tilted = sum(x * sp.log(x * total / (y * sp.exp(z))) for x, y, z in zip(p, r, f, strict=True))
    same(sp.expand(sp.expand_log(gap - tilted, force=True)), 0, "gap = KL(ν‖ν_f)")
    generator, closest = np.random.default_rng(6), math.inf
    for _ in range(2000 * effort):
        first, second = generator.dirichlet([0.7] * 4), generator.dirichlet([0.7] * 4)
        first, second = (first + 1e-9) / (1 + 4e-9), (second + 1e-9) / (1 + 4e-9)
        function = np.log(first / second) + generator.normal(0, 0.3, 4) * generator.integers(0, 2)
        slack = claim(first, second) + math.log(float(np.sum(second * np.exp(function)))) - float(first @ function)
        require(slack >= -1e-9, f"E f exceeds the bound by {-slack}")
        closest = min(closest, slack)
    return Finding(f"closest approach {max(0.0, closest):.1e} (attained by the tilted law)")


def _two_levels(order: float, range_: float, mass: float) -> float:
    """R_q(ν‖ν′) for ν ∝ ν′ e^{h}, h = `range_` with ν′-probability `mass` and 0 otherwise."""
    top = mass * math.exp(order * range_) + 1 - mass
    return (math.log(top) - order * math.log(mass * math.exp(range_) + 1 - mass)) / (order - 1)


@statement(
    "G.23",
    "|L − L′| ≤ c gives R_q(ν‖ν′) ≤ 2c/σ² for the Gibbs laws, every q (and q = ∞, where Theorem 5.2 needs it)",
    evidence=(ADVERSARIAL,),
    claim=lambda c, variance: 2 * c / variance,
    fault=("c/σ² for 2c/σ²", lambda c, variance: c / variance),
    scope="Two-level and random multi-level potentials as the adversary, q up to 10⁴. (In words: each of e^{(L′−L)/σ²} and Λ′/Λ is "
    "at most e^{c/σ²}.) The displayed proof has the exponential outside its integral (a slip).",
)
def _gibbs_shift(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(7), math.inf
    for _ in range(4000 * effort):
        order, size, variance = 1 + math.exp(generator.uniform(-2, 9)), math.exp(generator.uniform(-3, 1)), math.exp(generator.uniform(-1, 2))
        if order * 2 * size / variance > 600:
            continue
        mass = math.exp(-generator.uniform(0, 40))
        bound = claim(size, variance)
        truth = _two_levels(order, 2 * size / variance, mass)
        if order < 20:
            base = generator.dirichlet([0.5] * 5) + 1e-12
            base /= base.sum()
            tilted = base * np.exp(size / variance * generator.uniform(-1, 1, 5))
            truth = max(truth, renyi(order, tilted / tilted.sum(), base))
        require(truth <= bound * (1 + 1e-9), f"R_{order} = {truth} above {bound}")
        closest = min(closest, 1 - truth / bound)
    return Finding(f"closest approach {closest:.1e} of the bound")


@statement(
    "S.range",
    "a Gibbs law of a potential of range ω has R_q(ρ‖π) ≤ min(ω/σ², qω²/(8σ⁴)), both ways round",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=lambda order, ratio: min(ratio, order * ratio**2 / 8),
    fault=("qω²/(16σ⁴)", lambda order, ratio: min(ratio, order * ratio**2 / 16)),
    licenses=("guarantees.nonconvex:gibbs_renyi",),
    scope="Two-level potentials in interval arithmetic at 40 masses × 8 orders × 6 ranges, random multi-level "
    "ones in floating point. That two levels are extreme for a fixed range is cited (Hoeffding; Bun & Steinke 2016).",
)
def _range_bound(claim, effort: int) -> Finding:
    closest = math.inf
    for ratio in (Fraction(1, 100), Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(3), Fraction(8)):
        for order in (Fraction(11, 10), Fraction(3, 2), 2, 3, 4, 8, 16, 40):
            q, r = enclose(order), enclose(ratio)
            bound = enclose(claim(float(order), float(ratio)))
            for k in range(40):
                centre = enclose(Fraction(2 * k + 1, 80))
                value = (iv.log(centre * iv.exp(q * r) + 1 - centre) - q * iv.log(centre * iv.exp(r) + 1 - centre)) / (q - 1)
                require(surely_at_most(value, bound * (1 + iv.mpf("1e-12"))), f"order {order}, ω/σ² = {ratio}, mass {centre.mid}")
                closest = min(closest, 1 - float(value.b) / float(bound.b))
    generator = np.random.default_rng(8)
    for _ in range(1500 * effort):
        ratio, order = math.exp(generator.uniform(-4, 2)), 1 + math.exp(generator.uniform(-2, 3))
        base = generator.dirichlet([0.5] * 5) + 1e-12
        base /= base.sum()
        tilt = np.exp(-ratio * generator.beta(0.3, 0.3, 5))
        other = base * tilt / np.sum(base * tilt)
        for truth in (renyi(order, base, other), renyi(order, other, base)):
            bound = claim(order, ratio)
            require(truth <= bound * (1 + 1e-9) + 1e-12, f"R_{order} = {truth} above {bound}")
            closest = min(closest, 1 - truth / bound)
    return Finding(f"closest approach {closest:.1e} of the bound")


def _rate_budget(rate: float, epsilon: float, delta: float) -> float:
    return conversion.rate_epsilon(rate=rate, delta=delta) - epsilon


@statement(
    "S.rate",
    "a curve ε_q = q·rate: the least ε over all orders, and the largest rate for an (ε, δ) budget",
    evidence=(RIGOROUS,),
    claim=conversion.rate_epsilon,
    fault=("only order 2 is tried, without its δ term", lambda *, rate, delta: 2 * rate),
    licenses=("guarantees.conversion:rate_epsilon", "guarantees.conversion:rate_for", "guarantees.conversion:best_order"),
    scope="Never below the exact δ(ε) of the Gaussian pair with μ² = 2·rate (which has that curve), 60 points; the round trip "
    "through `rate_for` stays within the budget. Optimality of the order is compared with a fine scan, not proven.",
)
def _rate(claim, effort: int) -> Finding:
    closest = math.inf
    for rate in (1e-6, 1e-4, 0.01, 0.1, 0.5, 3.0):
        for delta in (1e-3, 1e-6, 1e-10):
            epsilon = claim(rate=rate, delta=delta)
            exact = conversion.gdp_epsilon(mu=math.sqrt(2 * rate), delta=delta)
            require(epsilon >= exact, f"rate {rate}, δ = {delta}: ε = {epsilon} below the Gaussian pair's {exact}")
            scan = min(
                conversion.renyi_epsilon(order=1 + math.exp(t / 20), renyi=(1 + math.exp(t / 20)) * rate, delta=delta)
                for t in range(-120, 400)
            )
            require(epsilon <= scan * (1 + 1e-9) + 1e-12, f"rate {rate}, δ = {delta}: a scanned order gives {scan} < {epsilon}")
            closest = min(closest, epsilon / exact - 1 if exact else math.inf)
            back, order = conversion.rate_for(epsilon=max(epsilon, 1e-3), delta=delta)
            require(conversion.renyi_epsilon(order=order, renyi=order * back, delta=delta) <= max(epsilon, 1e-3), "rate_for")
            require(surely_less(0, back), "rate_for is positive")
    return Finding(f"at least {closest:.1%} above the exact Gaussian ε")
