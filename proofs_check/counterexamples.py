"""Sections 3 and 4: existence statements, and Theorem 4.3, whose general form is false."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import sympy as sp

from .exact import root_below
from .framework import FAILS, REPAIRED, RIGOROUS, SYMBOLIC, Finding, require, same, statement


def _median_survives(half: int, replaced: tuple[int, ...], last: int) -> bool:
    """Database 0, …, 2·half with median `half`; the replaced slots hold the median, then slot `half` holds `last`."""
    values = [half if index in replaced else index for index in range(2 * half + 1)]
    values[half] = last
    return sorted(values)[half] == half


@statement(
    "3.1",
    "exact retraining of the median is (0,0)-adaptive-unlearning, yet a release after deletion is the deleted record "
    "with probability ≥ 1 − (1/2)^{i−3}",
    evidence=(RIGOROUS,),
    claim=lambda step: 1 - Fraction(1, 2 ** (step - 3)),
    fault=("(1/2)^{i−1} for (1/2)^{i−3}", lambda step: 1 - Fraction(1, 2 ** (step - 1))),
    licenses=(),
    scope="Every choice of indices for n ≤ 11 enumerated, both sides of the inserted record, exact probabilities; for"
    " n up to 401 the exact hypergeometric tail. The displayed binomial has ⌊n⌋/2 for ⌊n/2⌋ and i − 2 for i − 1"
    " draws (slips; it still bounds). Unlearning itself is an identity of the construction.",
)
def _median(claim, effort: int) -> Finding:
    closest = math.inf
    for half in range(1, 6):
        n = 2 * half + 1
        for step in range(4, n + 2):
            choices = list(itertools.combinations(range(n), step - 1))
            for last in (-1, n):
                survived = sum(_median_survives(half, choice, last) for choice in choices)
                chance = Fraction(survived, len(choices))
                require(chance >= claim(step), f"n = {n}, i = {step}: probability {chance}")
                closest = min(closest, float(chance - claim(step)))
    for half in (10, 50, 200):
        for step in range(4, 2 * half + 2):
            draws, n = step - 1, 2 * half + 1
            fails = Fraction(2 * math.comb(half + 1, draws), math.comb(n, draws))  # no smaller record, or no larger one
            require(1 - fails >= claim(step), f"n = {n}, i = {step}: the bound is {float(1 - fails)}")
    return Finding(f"closest approach {closest:.1e}")


def _visits(step: int) -> int:
    """Shift at release `step` of the repaired publisher: deleted records take turns 1; 1, 2; 1, 2, 3; …; 1 at the first's turn."""
    turn = (math.isqrt(8 * step - 7) - 1) // 2
    return int(step == turn * (turn + 1) // 2 + 1)


@statement(
    "3.2",
    "(ε,0)-unlearning with secret state can reveal a deleted record from the releases after its deletion",
    verdict=REPAIRED,
    evidence=(SYMBOLIC, RIGOROUS),
    claim=_visits,
    fault=("the printed schedule of shifts 1/j", lambda step: Fraction(1, step)),
    scope="The Bhattacharyya coefficient of two Laplace laws, symbolically; its infinite product bounded in "
    "rationals. The printed proof shows an infinite max-divergence and infers that the adversary succeeds: it "
    "does not. The repair publishes count + h of one past deletion in turn, shift ≤ 1, each deletion infinitely"
    " often.",
)
def _laplace(claim, effort: int) -> Finding:
    x, s, e = sp.symbols("x s e", positive=True)
    # ∫ sqrt(p q) over x < 0, 0 < x < s and x > s, for Laplace(1/e) laws at 0 and s
    left = sp.integrate(e / 2 * sp.exp(-e * (x + x + s) / 2), (x, 0, sp.oo))
    middle = sp.integrate(e / 2 * sp.exp(-e * s / 2), (x, 0, s))
    coefficient = sp.exp(-e * s / 2) * (1 + e * s / 2)
    same(2 * left + middle, coefficient, "Bhattacharyya coefficient")
    # printed construction, shift 1/j: −log coefficient = y − log(1+y) ≤ y²/2 at y = ε/(2j); Σ 1/j² = π²/6 < 10/6
    y = sp.Symbol("y", positive=True)
    require(sp.simplify(sp.diff(y**2 / 2 - y + sp.log(1 + y), y)).is_positive, "y − log(1+y) ≤ y²/2")
    epsilon = Fraction(1, 10)
    total = epsilon**2 / 8 * Fraction(10, 6)
    advantage_squared = 2 * total  # TV² ≤ 1 − coefficient² ≤ 2 Σ(−log coefficient)
    require(advantage_squared < Fraction(13, 200) ** 2, "TV of all releases together below 0.065")
    # the repair: −log coefficient per visit is a constant, and visits never end
    size, reached, step = 0.5, 0.0, 0
    while reached < math.log(1e3) and step < 400_000:
        step += 1
        shift = float(claim(step))
        require(0 <= shift <= 1, "shift above the Laplace scale: not (ε,0)-unlearning")
        reached += size * shift / 2 - math.log1p(size * shift / 2)
    require(reached >= math.log(1e3), f"after {step} releases the laws still overlap by {math.exp(-reached):.3f}")
    return Finding(
        "printed: advantage ≤ 0.065 from all releases at ε = 1/10; repaired: → 1",
        "printed pair, ε = 1/10, target deleted at step 1: the releases differ by shifts 1/j, so TV² ≤ 1 − Π BC_j² ≤ "
        "2 Σ_j (ε/2j)²/2 = ε²π²/24 < 1/240 although the max-divergence Σ ε/j is infinite. No adversary has advantage "
        "above 0.065. Publishing count + h(one past deletion, in turn) instead proves the theorem.",
    )


def _pad_world(deleted: int, others: int, write, keep: Fraction) -> dict[tuple[int, int], Fraction]:
    """Exact law of (first bit, ones among the others) in Ā's output, when the requester has written `write(pad)` everywhere."""
    law: dict[tuple[int, int], Fraction] = {}
    for pad in (0, 1):
        bit = write(pad)
        for ones in range(others + 1):
            agree = ones if bit else others - ones
            chance = math.comb(others, ones) * keep**agree * (1 - keep) ** (others - agree) / 2
            key = (pad ^ deleted, ones)
            law[key] = law.get(key, Fraction(0)) + chance
    return law


def _cost_to_any_reference(first: dict, second: dict) -> Fraction:
    """Lower bound on min over π of max_b e^{R_2(P_b‖π)}: (Σ sqrt(P_0² + P_1²))²/2, by Cauchy–Schwarz."""
    total = sum(
        root_below(first.get(k, Fraction(0)) ** 2 + second.get(k, Fraction(0)) ** 2)
        for k in first.keys() | second.keys()
    )
    return total**2 / 2


@statement(
    "4.3",
    "(q, ε_dd) under non-adaptive requests and (q, ε_dp)-Rényi DP give (q, ε_dd + p ε_dp) under p-adaptive requests, "
    "for any pair",
    verdict=FAILS,
    evidence=(RIGOROUS,),
    claim=lambda pad: pad,
    fault=("the requester writes a constant: it does not adapt", lambda pad: 0),
    scope="One counter-example at q = 2, p = 1, exact rationals (square roots bounded below), over every reference "
    "law π; the non-adaptive ε_dd = 0 is verified exactly; ε_dp is that of one randomised response, the only "
    "way a kept record enters. The step (54) → (55) conditions on requests as if that left the hidden pad's law"
    " alone.",
)
def _reduction(claim, effort: int) -> Finding:
    keep = Fraction(3, 5)  # probability that a bit survives randomised response
    dp = keep**2 / (1 - keep) + (1 - keep) ** 2 / keep  # e^{ε_dp} at q = 2: randomised response of one record
    found = None
    for others in range(1, 9):
        fixed = [_pad_world(bit, others, lambda pad: 0, keep) for bit in (0, 1)]
        require(fixed[0] == fixed[1], "non-adaptive requests: the deleted bit leaves no trace, ε_dd = 0")
        worlds = [_pad_world(bit, others, claim, keep) for bit in (0, 1)]
        require(all(sum(world.values()) == 1 for world in worlds), "laws sum to 1")
        lower = _cost_to_any_reference(*worlds)
        if lower > dp:
            found = (others, lower)
            break
    require(found, f"e^(R_2) stays at or below the claimed {dp}")
    others, lower = found
    return Finding(
        f"claimed R_2 ≤ {math.log(dp):.4f}, true for no π below {math.log(lower):.4f}",
        f"records are bits, n = {others + 1}, q = 2, p = 1. A publishes a uniform pad; Ā publishes (pad ⊕ deleted bit, every record "
        f"through randomised response that keeps a bit with probability {keep}). Non-adaptive ε_dd = 0; ε_dp = log({dp}). The requester "
        f"writes the pad into the other {others} records. Then max_b R_2(Θ|b ‖ π) ≥ log {float(lower):.4f} > log {float(dp):.4f} for "
        f"every π. With n → ∞ the deleted bit is read off with certainty while ε_dp stays.",
    )
