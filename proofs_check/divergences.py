"""Appendix B: Rényi divergence, its conversions, and the bounds on Gibbs laws (G.21, G.23, bounded range)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy as sp
from mpmath import iv

from noisygd_delete.bounds import theorem_5_2

from .exact import enclose, surely_at_most
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


@statement(
    "B.2",
    "R_q increases with q",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda low, high, first, second: (
        moment(low, first, second) ** (high - 1) <= moment(high, first, second) ** (low - 1)
    ),
    fault=(
        "exponent q for q − 1 on one side",
        lambda low, high, first, second: moment(low, first, second) ** high <= moment(high, first, second) ** (low - 1),
    ),
    scope="Integer orders 2..6 on random rational laws in exact arithmetic (equality at equal laws), and the Gaussian"
    " curve; non-integer orders by log-convexity of q ↦ E_q, which is cited (Mironov 2017).",
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
    licenses=("privacy.guarantee:Guarantee.__add__",),
    scope="E_q of the joint law against the product of worst cases, exact rational arithmetic, orders 2 to 4, second "
    "kernel depending on the first output; the package's sum at equal order on Gaussian, rate and listed parts.",
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
    from noisygd_delete.privacy.guarantee import Guarantee

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
    scope="One counter-example, exact up to two rational bounds on logarithms. It is why the nonconvex induction may "
    "add only R_∞ bounds at equal order.",
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


@statement(
    "G.21",
    "Donsker–Varadhan: E_ν f ≤ KL(ν‖ν′) + log E_ν′ e^f",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=lambda first, second: float(np.sum(first * np.log(first / second))),
    fault=("KL(ν′‖ν) for KL(ν‖ν′)", lambda first, second: float(np.sum(second * np.log(second / first)))),
    scope="The gap is KL(ν‖ν_f) for the tilted law ν_f ∝ ν′e^f: an identity on three points, symbolically; random "
    "laws and f.",
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
    scope="Two-level and random multi-level potentials as the adversary, q up to 10⁴. (In words: each of "
    "e^{(L′−L)/σ²} and Λ′/Λ is at most e^{c/σ²}.) The displayed proof has the exponential outside its integral "
    "(a slip).",
)
def _gibbs_shift(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(7), math.inf
    for _ in range(4000 * effort):
        order, size, variance = (
            1 + math.exp(generator.uniform(-2, 9)),
            math.exp(generator.uniform(-3, 1)),
            math.exp(generator.uniform(-1, 2)),
        )
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


def _range_claim(order: float, ratio: float) -> float:
    linear, quadratic = theorem_5_2.prior_to_gibbs(range=3 * ratio, noise_variance=3.0)
    return min(linear, order * quadratic)


@statement(
    "S.range",
    "a Gibbs law of a potential of range ω has R_q(ρ‖π) ≤ min(ω/σ², qω²/(8σ⁴)), both ways round",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=_range_claim,
    fault=("qω²/(16σ⁴)", lambda order, ratio: min(ratio, order * ratio**2 / 16)),
    licenses=("bounds.theorem_5_2:prior_to_gibbs",),
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
                value = (iv.log(centre * iv.exp(q * r) + 1 - centre) - q * iv.log(centre * iv.exp(r) + 1 - centre)) / (
                    q - 1
                )
                require(
                    surely_at_most(value, bound * (1 + iv.mpf("1e-12"))),
                    f"order {order}, ω/σ² = {ratio}, mass {centre.mid}",
                )
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
