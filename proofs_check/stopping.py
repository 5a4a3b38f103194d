"""Odds at any stopping time under a cap, and the worst case of several guarantees."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np

from noisygd_delete.accountant import Accountant
from noisygd_delete.bounds import gaussian, stopping
from noisygd_delete.bounds import renyi as conversions
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.guarantee import Guarantee, WorstCase

from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, close, require, statement

_NAMES = ("gdp_stopping_log_delta", "renyi_stopping_log_delta", "gdp_stopping_epsilon", "renyi_stopping_epsilon")


def _claims(**changes: Any) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(stopping, name) for name in _NAMES} | changes)


def _by_reflection(*, mu: float, delta: float, candidates: float = 1) -> float:
    """The least ε by the reflection principle, for a Brownian motion that is observed itself."""
    with mpmath.workdps(30):
        time, m = mpmath.mpf(mu) ** 2, mpmath.mpf(mu)

        def excess(epsilon: mpmath.mpf) -> mpmath.mpf:
            once = mpmath.ncdf((time / 2 - epsilon) / m) + mpmath.exp(epsilon) * mpmath.ncdf((-epsilon - time / 2) / m)
            return candidates * (1 + mpmath.exp(-epsilon)) * once - delta

        low, high = mpmath.mpf(0), mpmath.mpf(40) * (m + time)
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(high)


def _one_bit(mu: float, epsilon: float) -> mpmath.mpf:
    """P(either odds of e^ε) of the bit that says on which side of two thresholds N(±μ/2, 1) lies, its odds being e^ε beyond each."""
    with mpmath.workdps(30):
        m, low, high = mpmath.mpf(mu), mpmath.mpf(-60), mpmath.mpf(epsilon) / mu
        for _ in range(120):
            middle = (low + high) / 2
            near, far = mpmath.ncdf(m / 2 - middle), mpmath.ncdf(-m / 2 - middle)
            low, high = (middle, high) if near < mpmath.exp(epsilon) * far else (low, middle)
        return mpmath.ncdf(m / 2 - high) + mpmath.ncdf(-m / 2 - high)


def _trees(generator: np.random.Generator, order: float) -> tuple[float, list[tuple[float, float, float]]]:
    """A random tree of releases on two points each: (R_q of the whole, larger way round; leaves (P₁, P₀, largest |log Λ| on the way))."""
    leaves = [(1.0, 1.0, 0.0)]
    for _ in range(int(generator.integers(1, 7))):
        grown = []
        for first, second, most in leaves:
            if generator.random() < 0.3:  # stops here, as what was seen decided
                grown.append((first, second, most))
                continue
            p, r = generator.uniform(0.02, 0.98, 2)
            for a, b in ((p, r), (1 - p, 1 - r)):
                grown.append((first * a, second * b, max(most, abs(math.log(first * a) - math.log(second * b)))))
        leaves = grown
    ways = [
        math.fsum(a**order * b ** (1 - order) for a, b, _ in leaves),
        math.fsum(b**order * a ** (1 - order) for a, b, _ in leaves),
    ]
    return math.log(max(ways)) / (order - 1), leaves


@statement(
    "S.stopping",
    "under a cap on the whole transcript, fixed beforehand, odds about one of m records exceed e^ε to 1 either way at any time with probability at most "
    "m (1 + e^−ε) p: p = Φ(y), log Φ(y) − log Φ(y − μ) = ε for a cap of μ; p = e^{−(q−1)(ε − ρ)} for a Rényi cap ρ at order q",
    evidence=(SYMBOLIC, RIGOROUS, ADVERSARIAL),
    claim=_claims(),
    fault=(
        "the reflection principle, of a motion that is observed itself",
        _claims(gdp_stopping_epsilon=_by_reflection),
    ),
    licenses=(
        *(f"bounds.stopping:{name}" for name in _NAMES),
        "privacy.budget:Total.stopping_epsilon",
        "accountant.accountant:Accountant.stopping_epsilon",
    ),
    scope="A release of one bit that attains the Gaussian bound, in 30 digits; random trees of releases on two points, with stops that depend on what "
    "was seen, whose exact Rényi divergence is the cap; the cap of a total against every cost that it affords. The argument: the event is one of the "
    "whole transcript, and P₁ ≥ e^ε P₀ on it. Fully adaptive composition under a filter is cited, not checked.",
)
def _stopping(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(11), math.inf
    for mu, delta in itertools.product((0.05, 0.5, 1.0, 3.0, 6.0), (1e-9, 1e-4, 0.05)):
        epsilon = claim.gdp_stopping_epsilon(mu=mu, delta=delta)
        truth = float(_one_bit(mu, epsilon))
        require(truth <= delta * (1 + 1e-9), f"μ={mu}: odds of e^{epsilon} with probability {truth}, claimed {delta}")
        closest = min(closest, 1 - truth / delta)
        many = claim.gdp_stopping_epsilon(mu=mu, delta=delta, candidates=50)
        close(many, claim.gdp_stopping_epsilon(mu=mu, delta=delta / 50), "fifty records", 1e-6)
        require(claim.gdp_stopping_log_delta(mu=mu, epsilon=epsilon) <= math.log(delta), "δ of this ε")
        usual = gaussian.gdp_epsilon(mu=mu, delta=delta)
        require(usual <= epsilon, "odds at any time are no less than those of a fixed test")
    beaten = 0.0
    for _ in range(300 * effort):
        order, epsilon = float(generator.choice([1.5, 2.0, 5.0])), float(generator.uniform(0.5, 4))
        cost, leaves = _trees(generator, order)
        for place in (1, 0):
            truth = math.fsum(leaf[1 - place] for leaf in leaves if leaf[2] >= epsilon)
            bound = math.exp(claim.renyi_stopping_log_delta(order=order, renyi=cost, epsilon=epsilon))
            require(truth <= bound * (1 + 1e-9), f"order {order}, ρ={cost}, ε={epsilon}: {truth} above {bound}")
            beaten = max(beaten, truth / bound if bound else 0.0)
        own = claim.renyi_stopping_epsilon(order=order, renyi=cost, delta=0.01)
        require(
            cost == 0 or claim.renyi_stopping_log_delta(order=order, renyi=cost, epsilon=own) <= math.log(0.01),
            "ε of this δ",
        )
    for _ in range(20 * effort):
        size, order = float(generator.uniform(0.5, 12)), float(generator.uniform(1.5, 30))
        for total in (Total(size, 1e-6, gdp=True), Total(size, 1e-6, order=order)):
            stated = total.stopping_epsilon(1e-6)
            assert stated is not None
            squared = 1.0
            for _ in range(200):  # the dearest Gaussian guarantee that the total affords, from below
                squared *= 1.05 if total.affords(Guarantee("dp", "replace", gdp_squared=squared * 1.05)) else 0.999
            if not total.affords(Guarantee("dp", "replace", gdp_squared=squared)):
                continue
            known = {"delta": 1e-6}
            spent = (
                claim.gdp_stopping_epsilon(mu=math.sqrt(squared), **known)
                if total.gdp
                else claim.renyi_stopping_epsilon(order=order, renyi=order * squared / 2, **known)
            )
            require(spent <= stated * (1 + 1e-9), f"{total}: {spent} above {stated}")
            require(
                total.gdp
                or conversions.renyi_epsilon_optimal(order=order, renyi=order * squared / 2, delta=1e-6)
                <= size * (1 + 1e-9),
                "affords",
            )
    require(Total(1.0, 1e-6).stopping_epsilon(1e-6) is None, "a total in no measure is no filter")
    require(Total(1.0, 1e-6, gdp=True, late=True).stopping_epsilon(1e-6) is None, "nor is one that was fixed late")
    require(Accountant().stopping_epsilon(1e-6) is None, "no total, no odds")
    return Finding(f"attained by one bit within {max(closest, 0):.1e}; trees reach {beaten:.2f} of the Rényi bound")


def _by_advantage(guarantees: Any) -> WorstCase:
    return WorstCase((max(guarantees, key=lambda case: case.with_slack().advantage),))


@statement(
    "S.worst-case",
    "of several guarantees about the same worlds, each figure of the worst case is the largest of them; leaving out what another bounds part by part changes none",
    evidence=(RIGOROUS,),
    claim=WorstCase.of,
    fault=("one of them, by its advantage, for all figures", _by_advantage),
    licenses=("privacy.guarantee:WorstCase", "accountant.accountant:Accountant.costliest_deletion"),
    scope="Random sets of guarantees with Gaussian parts, rates, listed orders and slack, every figure asked of each by itself.",
)
def _worst_case(claim, effort: int) -> Finding:
    generator, dropped = np.random.default_rng(12), 0
    for _ in range(60 * effort):
        each = []
        for _ in range(int(generator.integers(1, 5))):
            gdp, rate, listed = (float(x) for x in np.exp(generator.uniform(-3, 1, 3)) * (generator.random(3) < 0.6))
            points = ((2.0, listed), (8.0, 3 * listed)) if listed else ()
            slack = float(generator.choice([0.0, 0.01]))
            each.append(Guarantee("deletion", "pairwise", gdp_squared=gdp, rate=rate, points=points, slack=slack))
        worst = claim(each)
        dropped += len(each) - len(worst.cases)
        exact, own = worst.with_slack(), [one.with_slack() for one in each]
        for delta in (1e-9, 1e-4, 0.1):
            close(exact.epsilon(delta), max(one.epsilon(delta) for one in own), f"ε at {delta}", 1e-9)
        for epsilon in (0.1, 1.0, 4.0):
            close(exact.delta(epsilon), max(one.delta(epsilon) for one in own), f"δ at {epsilon}", 1e-9)
        for order in (1.5, 2.0, 8.0):
            most = max(one.renyi(order) for one in own)
            require(exact.renyi(order) == most or abs(exact.renyi(order) / most - 1) < 1e-9, f"order {order}")
        close(exact.advantage, max(one.advantage for one in own), "advantage", 1e-9)
        none = any(one.gdp is None for one in own)
        require((exact.gdp is None) == none, "a μ only where each has one")
    require(dropped > 0, "some were bounded part by part")
    return Finding(f"{dropped} left out")
