"""Markov sums: the law of a chain of releases, the sensitivity of the moments, the equaliser, and the law on a machine."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from noisygd_delete.bounds import correlated_sums
from noisygd_delete.methods.sufficient_statistics import SufficientStatisticsRun
from noisygd_delete.privacy.worlds import Worlds
from tests.oracles import sums_tree

from . import closed_forms
from .framework import ADVERSARIAL, RIGOROUS, Finding, close, require, statement


@statement(
    "M.account",
    "y_j = S(D_j) + c_j (y_parent − S(D_parent)) + σ_j ξ_j: all draws of a tree together are √Q-Gaussian DP about a person's rows, "
    "Q = Σ ‖P_j − c_j P_parent‖²/σ_j², and draws whose tables lack the rows show nothing of them",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(charge=correlated_sums.draw_cost),
    fault=(
        "c² in the place of c",
        SimpleNamespace(charge=lambda *, carry, **facts: correlated_sums.draw_cost(carry=carry**2, **facts)),
    ),
    licenses=("bounds.correlated_sums:draw_cost",),
    scope="Random trees of up to six draws, c up to 1.2, a row that comes, stays, goes and returns, the covariance of all draws inverted in rational "
    "arithmetic; subsets of chains; the requests fixed. Adaptive requests: a martingale argument on paper (the charge is a cap on every path).",
)
def _account(claim, effort: int) -> Finding:
    rng, worst = np.random.default_rng(340), 0.0
    for _ in range(400 * effort):
        number = int(rng.integers(2, 7))
        draws = [(None, Fraction(0), Fraction(1))]
        for j in range(1, number):
            parent = int(rng.integers(0, j))
            draws.append((parent, Fraction(int(rng.integers(1, 13)), 10), Fraction(int(rng.integers(1, 4)))))
        there = [int(x) for x in rng.integers(0, 2, number)]
        exact = sums_tree.divergence(draws, [[Fraction(x)] for x in there], list(range(number)))
        stated = 0.0
        for (parent, carry, deviation), now in zip(draws, there, strict=True):
            before = 0 if parent is None else there[parent]
            rows = {"stay": now * before, "joined": now * (1 - before), "left": before * (1 - now)}
            stated += claim.charge(carry=carry, variance=float(deviation**2), apart=1.0, rounded=0.0, **rows)
        require(0 <= stated - exact <= exact * 2**-44, f"charged {stated}, the law says {float(exact)}")
        worst = max(worst, stated - exact)
        gone = [j for j in range(number) if not there[j]]
        require(not gone or sums_tree.divergence(draws, [[Fraction(x)] for x in there], gone) == 0, "a trace is left")
        chain = [(j - 1 if j else None, carry if j else Fraction(0), s) for j, (_, carry, s) in enumerate(draws)]
        seen = [j for j in range(number) if rng.random() < 0.6] or [number - 1]
        close(
            closed_forms.seen_charge(
                draws=[(float(c), float(s**2)) for _, c, s in chain], moved=[float(x) for x in there], seen=seen
            ),
            float(sums_tree.divergence(chain, [[Fraction(x)] for x in there], seen)),
            f"who saw {seen}",
        )
    return Finding(f"charged at most {worst:.1e} more than the law")


def _moments(row: np.ndarray, label: float, weight: float) -> np.ndarray:
    return np.concatenate([np.outer(row, row).ravel(), weight * label * row])


@statement(
    "M.sensitivity",
    "v = (x xᵀ, β y x), the matrix in Frobenius norm, ‖x‖ ≤ R, y in [−1, 1], b = β/R: ‖v‖ ≤ R²√(1 + b²); two rows are at most √2 R²(1 + b²/2) "
    "apart where b² ≤ 2, else 2βR; both are attained",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(sensitivity=correlated_sums.sensitivity),
    fault=(
        "the first formula for every b",
        SimpleNamespace(
            sensitivity=lambda *, norm_squared, label_weight, between_records: (
                (2 * norm_squared + label_weight**2) / math.sqrt(2)
                if between_records
                else correlated_sums.sensitivity(
                    norm_squared=norm_squared, label_weight=label_weight, between_records=False
                )
            )
        ),
    ),
    licenses=("bounds.correlated_sums:sensitivity", "bounds.correlated_sums:rounding_norm"),
    scope="Norms, angles and labels on a grid of the plane (two rows lie in one), b² from .1 to 6, and random rows of up to five columns; the rounding of every "
    "coordinate by less than a step, the matrix counted in full.",
)
def _sensitivity(claim, effort: int) -> Finding:
    rng, closest = np.random.default_rng(341), math.inf
    for weight in (3, 6, 10, 14, 15, 20, 24):  # R² = 100
        stated = {
            between: float(claim.sensitivity(norm_squared=100, label_weight=weight, between_records=between))
            for between in (False, True)
        }
        most = {False: 0.0, True: 0.0}
        angles = [math.acos(min(1.0, weight**2 / 200)), *np.linspace(0, math.pi, 181 * effort)]
        for angle, first, second in itertools.product(angles, (0.0, 5.0, 9.0, 10.0), (0.0, 7.0, 10.0)):
            rows = np.array([first, 0.0]), second * np.array([math.cos(angle), math.sin(angle)])
            for labels in ((1, 1), (1, -1), (1, 0.3)):
                one, other = (_moments(row, label, weight) for row, label in zip(rows, labels, strict=True))
                most[True] = max(most[True], float(np.linalg.norm(one - other)))
                most[False] = max(most[False], float(np.linalg.norm(one)))
        for _ in range(300 * effort):
            rows = rng.normal(size=(2, 5))
            rows *= 10 / np.linalg.norm(rows, axis=1, keepdims=True)
            one, other = (_moments(row, label, weight) for row, label in zip(rows, (1, -1), strict=True))
            most[True] = max(most[True], float(np.linalg.norm(one - other)))
        for between, found in most.items():
            require(found <= stated[between] * (1 + 1e-12), f"β={weight}: {found} apart, stated {stated[between]}")
            require(stated[between] <= found * (1 + 1e-9), f"β={weight}: stated {stated[between]}, attained {found}")
            closest = min(closest, 1 - found / stated[between])
    full = math.sqrt(7**2 + 9 * 7 * 3)
    close(float(correlated_sums.rounding_norm(features=7, outputs=3, label_weight=3)), full, "rounding", 1e-8)
    return Finding(f"attained within {closest:.1e}")


@statement(
    "M.equaliser",
    "the equaliser's draws charge whoever was there from the first the same in all, 1 + m < 1 + √(T/2), whenever the row goes; whoever comes later "
    "less than twice that",
    evidence=(RIGOROUS,),
    claim=SimpleNamespace(worst=correlated_sums.worst_charges),
    fault=(
        "who joins is charged as who was there from the first",
        SimpleNamespace(worst=lambda *, joiners, **facts: correlated_sums.worst_charges(joiners=False, **facts)),
    ),
    licenses=(
        "bounds.correlated_sums:equalizer_costs",
        "bounds.correlated_sums:equalizer_schedule",
        "bounds.correlated_sums:stationary_schedule",
        "bounds.correlated_sums:worst_charges",
    ),
    scope="T up to 60, every time of coming and going one by one, c rounded to 2⁻²⁰, with and without the rounding of a grid.",
)
def _equaliser(claim, effort: int) -> Finding:
    apart, widest = 1e6, 0.0
    for releases, rounded in itertools.product((2, 3, 10, 30 * effort, 60), (0.0, 1e4)):
        for draws in (
            correlated_sums.equalizer_schedule(releases=releases, variance=1e12),
            correlated_sums.stationary_schedule(releases=releases, variance=1e12, carry=0.875),
        ):
            totals: dict[int, list[float]] = {}
            for come in range(releases):
                total = 0.0
                for number in range(come, releases + 1):
                    if number == releases:
                        totals.setdefault(come, []).append(total)
                        break
                    carry, variance = draws[number]
                    facts = {"carry": carry, "variance": variance, "apart": apart, "rounded": rounded}
                    if number > come:
                        totals.setdefault(come, []).append(total + correlated_sums.draw_cost(**facts, left=1))
                    total += correlated_sums.draw_cost(**facts, **({"joined": 1} if number == come else {"stay": 1}))
            facts = {"draws": draws, "apart": apart, "rounded": rounded}
            every = max(max(each) for each in totals.values())
            for joiners, most, who in ((False, max(totals[0]), "from the first"), (True, every, "joining later")):
                stated = claim.worst(joiners=joiners, **facts)[-1]
                require(most <= stated <= most * (1 + 2**-33), f"{who}: {stated}, one by one {most}")
        if not rounded and releases > 2:
            draws = correlated_sums.equalizer_schedule(releases=releases, variance=1e12)
            worst = correlated_sums.worst_charges(draws=draws, apart=apart, rounded=rounded, joiners=False)[-1]
            require(worst < 1 + math.sqrt(releases / 2), f"T={releases}: {worst}")
            every = correlated_sums.worst_charges(draws=draws, apart=apart, rounded=rounded, joiners=True)[-1]
            require(every < 2 * worst - 1 + 1e-3, f"T={releases}: {every} for who joins")
            widest = max(widest, worst / (1 + math.sqrt(releases / 2)))
    return Finding(f"at most {widest:.3f} of 1 + √(T/2)")


def _weights(variance: int, centre: Fraction, steps: range) -> np.ndarray:
    found = np.array([math.exp(-float((step - centre) ** 2) / (2 * variance)) for step in steps])
    return found / found.sum()


@statement(
    "M.machine",
    "with whole numbers, c (y − S) rounded to the grid and exact discrete Gaussian noise a draw costs q‖shift‖²/(2σ²) at order q, the shift lengthened by "
    "less than a step for each rounded coordinate, and is Gaussian DP with ‖shift‖²/(σ² − 144)",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(charge=correlated_sums.draw_cost, factor=correlated_sums.gaussian_factor),
    fault=(
        "the rounding term forgotten",
        SimpleNamespace(
            charge=lambda *, rounded, **facts: correlated_sums.draw_cost(rounded=Fraction(0), **facts),
            factor=correlated_sums.gaussian_factor,
        ),
    ),
    licenses=("bounds.correlated_sums:draw_cost", "bounds.correlated_sums:gaussian_factor"),
    scope="Two draws in one coordinate, a row of one to three steps in the first alone: the first draw summed term by term with every carried step, the second by its order's bound; c from .1 to .9, orders 1.5 to 4. "
    "That a discrete Gaussian is Gaussian DP with σ² − 144 is the statement on inexact solves; here at σ of 13 to 40 steps, by the error of the best test.",
)
def _machine(claim, effort: int) -> Finding:
    closest = math.inf
    for size, tenths, order in itertools.product((1, 2, 3), (1, 3, 5, 7, 9), (1.5, 2.0, 4.0)):
        carry, variance = Fraction(tenths, 10), 4
        stated = sum(
            claim.charge(carry=carry, variance=variance, apart=Fraction(size), rounded=Fraction(1), **{what: 1})
            for what in ("joined", "left")
        )
        # the first draw is y = P + z; the second carries ρ(c (y − S)): the noise z in one world, z + size in the other
        steps = range(-40, 41)
        first = {world: _weights(variance, Fraction(world), steps) for world in (0, size)}
        total = 0.0
        for number, at in enumerate(steps):
            shift = math.floor(carry * at + Fraction(1, 2)) - math.floor(carry * (at - size) + Fraction(1, 2))
            inner = math.exp(order * (order - 1) * shift**2 / (2 * variance))
            total += first[0][number] ** (1 - order) * first[size][number] ** order * inner if first[0][number] else 0
        found = math.log(total) / (order - 1)
        bound = order / 2 * float(stated)
        require(found <= bound * (1 + 1e-9) + 1e-9, f"c={carry}, size {size}, q={order}: {found} over {bound}")
        closest = min(closest, 1 - found / bound)
    for deviation, shift in itertools.product((18, 25, 40), (1, 7, 30)):
        steps = range(-12 * deviation, 12 * deviation + 1)
        one = _weights(deviation**2, Fraction(0), steps)
        other = _weights(deviation**2, Fraction(shift), steps)
        apart = float(np.abs(one - other).sum() / 2)
        factor = claim.factor(variance=deviation**2, label_weight=1)
        mu = math.sqrt(shift**2 / deviation**2 * float(factor))
        require(apart <= math.erf(mu / 2 / math.sqrt(2)) + 1e-12, f"σ={deviation}, shift {shift}: {apart}, μ={mu}")
    return Finding(f"within {closest:.2f} of the bound")


def _stated(run: SufficientStatisticsRun, worlds: Worlds, steps_with: int, steps_without: int) -> float:
    return run.interval("deletion", worlds, steps_with=steps_with, steps_without=steps_without).gdp_squared


@statement(
    "M.chain",
    "what the accountant charges a chain of releases, by the last draw that holds a record and whether any came after it, is at least the joint law of all its "
    "draws, whenever the record came; without a draw that holds it nothing",
    evidence=(RIGOROUS,),
    claim=SimpleNamespace(stated=_stated),
    fault=(
        "a record leaves for nothing",
        SimpleNamespace(stated=lambda run, worlds, steps_with, _: _stated(run, worlds, steps_with, 0)),
    ),
    licenses=("methods.sufficient_statistics:SufficientStatisticsRun",),
    scope="T up to 7, every time of coming (the first draw alone without joiners), going and stopping; rows of the largest statistic.",
)
def _chain(claim, effort: int) -> Finding:
    closest = 0.0
    for joiners, releases, worlds in itertools.product(
        (True, False), (2, 4, 7), (Worlds.ERASED_VS_NEVER, Worlds.PAIRWISE)
    ):
        run = SufficientStatisticsRun(
            records=1000,
            features=4,
            outputs=1,
            norm_squared=2**28,
            label_weight=9830,
            variance=1e18,
            releases=releases,
            joiners=joiners,
        )
        require(claim.stated(run, worlds, 0, 1) == 0, "a record that was in no draw")
        for weighting, condition in (("by-row", "sums-all-rows"), ("by-person", "persons-once")):
            stated = {name for name, _ in replace(run, weighting=weighting).conditions()}
            require(stated & {"sums-all-rows", "persons-once"} == {condition}, f"weighting {weighting!r}: {stated}")
        norm, label = float(2**28), 9830.0**2
        apart = (2 * norm + label) / math.sqrt(2) if worlds.between_records else math.sqrt(norm**2 + label * norm)
        draws = [
            (number - 1 if number else None, Fraction(carry), Fraction(math.sqrt(variance / 1e18)))
            for number, (carry, variance) in enumerate(run.draws)
        ]
        for come in range(releases if joiners else 1):
            for gone, end in itertools.combinations_with_replacement(range(come + 1, releases + 1), 2):
                held = [[Fraction(come <= number < gone)] for number in range(end)]
                law = float(sums_tree.divergence(draws[:end], held, list(range(end)))) * apart**2 / 1e18
                stated = claim.stated(run, worlds, gone, end - gone)
                require(law <= stated * (1 + 1e-12), f"in {come} to {gone} of {end}: {stated}, the law says {law}")
                closest = max(closest, law / stated)
    require(closest > 0.99, f"not attained: {closest}")
    return Finding(f"attained to {closest:.4f}")


@statement(
    "M.patches",
    "draws that go on from patches show who sees releases alone no more than draws that do not; the last patch as well shows of a record that left by one since "
    "the last release at most what staying so far and leaving by it cost; all patches since a release add less than a quarter of the next draw's variance",
    evidence=(RIGOROUS,),
    claim=SimpleNamespace(figure=SufficientStatisticsRun.patched),
    fault=(
        "a patch has less noise than it says",
        SimpleNamespace(
            figure=lambda run, worlds, *, draws, variance: run.patched(worlds, draws=draws, variance=2 * variance)
        ),
    ),
    licenses=("bounds.correlated_sums:patch_variance", "methods.sufficient_statistics:SufficientStatisticsRun.patched"),
    scope="T of 6, up to three patches between releases, a record of the first release that leaves by any of them; rows of the largest statistic; the rational "
    "law of every draw. On a machine the noise of patches is given away, so the law of a sum of discrete Gaussians is not needed.",
)
def _patches(claim, effort: int) -> Finding:
    rng, closest = np.random.default_rng(38), 0.0
    run = SufficientStatisticsRun(
        records=1000, features=3, outputs=1, norm_squared=2**28, label_weight=9830, variance=1e18, releases=6
    )
    worlds = Worlds.ERASED_VS_NEVER
    apart = (float(2**28) ** 2 + 9830.0**2 * 2**28) / 1e18
    for _ in range(60 * effort):
        draws, releases, spread = [], [], 0
        last = int(rng.integers(1, run.releases))
        for number, (carry, variance) in enumerate(run.draws[:last]):
            releases.append(len(draws))
            draws.append((len(draws) - 1 if draws else None, Fraction(carry), Fraction(math.sqrt(variance / 1e18))))
            coming = dict(zip(("carry", "variance"), run.draws[number + 1], strict=True))
            for patch in range(1, int(rng.integers(number + 1 == last, 4)) + 1):
                spread = correlated_sums.patch_variance(**coming, number=patch, usual=2)
                draws.append((len(draws) - 1, Fraction(1), Fraction(math.sqrt(spread / 1e18))))
        left, end = int(rng.integers(1, len(draws))), len(draws) - 1
        moved = [[Fraction(number < left)] for number in range(len(draws))]
        stated = claim.figure(run, worlds, draws=last, variance=spread).gdp_squared
        alone = float(sums_tree.divergence(draws, moved, releases)) * apart
        require(alone <= run.charges(worlds)[last - 1], f"releases alone: {alone}")
        if left > releases[-1]:
            law = float(sums_tree.divergence(draws, moved, [*releases, end])) * apart
            require(law <= stated, f"a copy of the store: {stated}, the law says {law}")
        if left == end:
            law = float(sums_tree.divergence(draws, moved, list(range(len(draws))))) * apart
            require(law <= stated, f"every patch: {stated}, the law says {law}")
            closest = max(closest, law / stated)
    require(closest > 0.97, f"not attained: {closest}")
    for usual in (1, 8, 100):
        added = [
            correlated_sums.patch_variance(carry=0.75, variance=1e15, number=k, usual=usual) for k in range(1, 3000)
        ]
        require(0.2 * 1e15 < 0.75**2 * sum(added) <= 1e15 / 4, f"{usual} usual ones add {sum(added)}")
    return Finding(f"attained to {closest:.4f}")
