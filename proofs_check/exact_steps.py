"""Noisy-GD on a machine: the roundings of every step beside the gap of the record, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from noisygd_delete.bounds import exact_steps
from noisygd_delete.engine.content_order import order_of_content
from noisygd_delete.engine.execution import ALONE

from .framework import ADVERSARIAL, RIGOROUS, Finding, close, require, statement

U = 2.0**-53


def _without_rounding(**facts: Any) -> float:
    return exact_steps.exact_steps_gdp(**{**facts, "gap": 0.0})


@statement(
    "S.exact-steps",
    "Noisy-GD whose every step ends on a public grid by an exact discrete Gaussian: μ(T, K) ≤ μ_real(T, K; s) + μ_real(T + K, 0; δ), δ = 2(r_X + c r_Π) + h√d, "
    "for every way in which machines of these errors may round",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=exact_steps.exact_steps_gdp,
    fault=("the roundings are left out", _without_rounding),
    licenses=("bounds.exact_steps:exact_steps_gdp",),
    scope="Shifts worked out step by step are feasible (no distance below 0, none left) and cost what is stated; two Gaussian chains that round apart by E each at every step "
    "come to (s + 2E)-gaps exactly, and stay below. Interpolation and composition are the design "
    "sheet's proof; laws of a coarse machine under an adversary are in `tests/bounds/test_exact_steps.py`. Trusted: random words, float64, exp and tanh.",
)
def _exact_steps(claim: Any, effort: int) -> Finding:
    generator, closest = np.random.default_rng(171), math.inf
    for _ in range(150 * effort):
        eta, m = math.exp(generator.uniform(-4, 0)), math.exp(generator.uniform(-4, -0.5))
        c, n, d = 1 - eta * m, int(generator.integers(1, 500)), int(generator.integers(1, 200))
        tau, bits = math.exp(generator.uniform(-5, 2)), int(generator.integers(12, 25))
        h, delta = math.ldexp(tau, -bits), math.exp(generator.uniform(-5, 1))
        error = tau * math.exp(generator.uniform(-14, -2))  # E of one machine
        rounding = 2 * error + h * math.sqrt(d)
        t, k = int(generator.integers(1, 80)), int(generator.integers(0, 60))
        chain = {
            "step_size": eta,
            "strong_convexity": m,
            "noise": tau,
            "grid": h,
            "records": n,
            "gap": rounding,
            "sensitivity": delta,
        }
        found = claim(**chain, steps_with_record=t, steps_without_record=k)
        moved = claim(**chain, steps_with_record=t, steps_without_record=k, in_place=False)
        gone = claim(**chain, steps_with_record=0, steps_without_record=k, in_place=False)
        require(moved >= found * (1 - 1e-12), "rows that move tell no less")
        gaps = [eta * delta / n + rounding] * t + [rounding] * k
        power = c ** np.arange(t + k - 1, -1, -1)
        weight = tau**2 * float((power**2).sum())
        total, left, cost = float(np.dot(gaps, power)), 0.0, 0.0
        for gap, share in zip(gaps, power, strict=True):
            shift = total * share * tau**2 / weight  # all that is there once carried to the end is spent in proportion
            left = c * left + gap - shift
            require(left >= -1e-9 * total, f"a distance below 0: {left}")
            cost += shift**2 / (tau**2 - 144 * h**2)
        require(abs(left) <= 1e-9 * total, f"{left} of {total} is left")
        close(found, math.sqrt(cost), f"T = {t}, K = {k}", 1e-6)
        apart = variance = 0.0  # linear losses, exact Gaussians, roundings E one way here and the other way there
        for place in range(t + k):
            apart = c * apart + (eta * delta / n if place < t else 0.0) + 2 * error
            variance = c**2 * variance + tau**2
        true = apart / math.sqrt(variance)
        require(true <= found * (1 + 1e-12), f"two machines are {true} apart, stated {found}")
        closest = min(closest, 1 - true / found)
        length, spread = 0.0, 0.0  # rows in any order: as many steps apart by rounding alone as there may be
        for _ in range(k):
            length, spread = c * length + 2 * error, c**2 * spread + tau**2
            require(
                length / math.sqrt(spread) <= gone * (1 + 1e-12),
                "what a record that is gone may show is above what is charged",
            )
    require(closest < 0.01, "a case where the roundings are all of it must be near")
    return Finding(f"two rounding machines at most {closest:.2%} below")


def _no_projection(**facts: float) -> float:
    """As if the product with h and the projection were exact: D is left out."""
    return exact_steps.rounding_gap(**{**facts, "strong_convexity": 1 / facts["step_size"]})


@statement(
    "S.exact-step",
    "Lemma 1: a machine's step ends within E = r_X + c r_Π of the step over the reals, whatever rows and weights, W/h within 2⁵¹; δ = 2E + h√d",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=exact_steps.rounding_gap,
    fault=("the projection's rounding is left out", _no_projection),
    licenses=tuple(f"bounds.exact_steps:{name}" for name in ("rounding_gap", "iterate_radius", "grid_bits")),
    scope="δ by its letters, each float operation at its worst; steps in float64 with a gradient e off, in twice the precision. The gradient's own error e is "
    "`bounds.arithmetic`'s; steps in 160 bits, projection and gradient included, are in `tests/methods/test_noisy_gd_exact.py`.",
)
def _exact_step(claim: Any, effort: int) -> Finding:
    generator = np.random.default_rng(174)
    worst = max(_one_step(claim, generator) for _ in range(60 * effort))
    return Finding(f"a step's rounding is at most {worst:.0%} of what is charged")


@statement(
    "S.taut-string",
    "the least μ of shifts a_k with z_k = c_k z_{k−1} + gap_k − a_k ≥ 0, z_t = 0: μ² = Σ rise²/run over the greatest convex minorant of (0, 0), (V_k, C_k); one segment where "
    "gaps never rise, as in every stretch of exact steps that an account states, and then the closed form",
    evidence=(RIGOROUS,),
    claim=exact_steps.exact_steps_gdp,
    fault=("the roundings are left out", _without_rounding),
    licenses=("bounds.exact_steps:exact_steps_gdp",),
    scope="Random gaps, contractions, noises, starts, in exact rationals: the minorant is feasible, its slopes rise, and rise only where it touches, which bounds every other choice from below; "
    "the package's closed form is that least, from one start and from two. Rows in any order are charged as many roundings as there may have been: above it.",
)
def _taut_string(claim: Any, effort: int) -> Finding:
    generator = np.random.default_rng(175)
    most = 0
    for _ in range(40 * effort):
        steps = int(generator.integers(1, 25))
        facts: list[tuple[Fraction, ...]] = [
            tuple(Fraction(int(generator.integers(low, 100)), 64) for low in (0, 20, 1)) for _ in range(steps)
        ]  # gap, c, v
        start = Fraction(int(generator.integers(0, 200)), 64)
        corners = _corners(facts, start)
        hull = _minorant(corners)
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(hull)]
        require(all(slope >= 0 for slope in slopes), "a shift below 0")
        require(all(one < other for one, other in pairwise(slopes)), "slopes that fall")
        require({corners[0], corners[-1]} <= set(hull) <= set(corners), "it bends where it does not touch")
        heights = [_on(hull, width) for width, _ in corners]
        require(all(held <= there for held, (_, there) in zip(heights, corners, strict=True)), "a distance below 0")
        least = sum(slope**2 * (b[0] - a[0]) for slope, (a, b) in zip(slopes, pairwise(hull), strict=True))
        left, spent = start, Fraction(0)  # any other choice costs no less
        for number, (gap, contraction, variance) in enumerate(facts):
            there = contraction * left + gap
            shift = there if number == steps - 1 else there * Fraction(int(generator.integers(0, 65)), 64)
            left, spent = there - shift, spent + shift**2 / variance
        require(spent >= least, "another choice is cheaper")
        most = max(most, len(slopes))
    require(most > 3, "minorants of several segments were met")
    for _ in range(60 * effort):
        eta, m = Fraction(1, 4), Fraction(int(generator.integers(1, 200)), 64)
        present, gone = int(generator.integers(1, 20)), int(generator.integers(0, 15))
        moved, rounding, apart = (Fraction(int(generator.integers(low, 99)), 640) for low in (1, 1, 0))
        one_after_another = [(moved + rounding, 1 - eta * m, Fraction(1))] * present + [
            (rounding, 1 - eta * m, Fraction(1))
        ] * gone
        hull = _minorant(_corners(one_after_another, apart))
        require(len(hull) == 2, "gaps that never rise have one segment")
        cost = (hull[1][1] - hull[0][1]) ** 2 / hull[1][0]
        found = claim(
            sensitivity=float(moved / eta), step_size=float(eta), strong_convexity=float(m), noise=1.0, grid=2.0**-24, records=1, gap=float(rounding),
            steps_with_record=present, steps_without_record=gone, apart=float(apart),
        )  # fmt: skip
        close(found, math.sqrt(cost), f"T = {present}, K = {gone}, z_0 = {apart}", 1e-6)
    return Finding(f"minorants of up to {most} segments are the least; every closed form is the least")


Corner = tuple[Fraction, Fraction]


def _corners(facts: Sequence[tuple[Fraction, ...]], start: Fraction) -> list[Corner]:
    """(0, 0), (V_k, C_k) of steps (gap, c, v)."""
    power, width, height, found = Fraction(1), Fraction(0), start, [(Fraction(0), Fraction(0))]
    for gap, contraction, variance in facts:
        power *= contraction
        width, height = width + variance / power**2, height + gap / power
        found.append((width, height))
    return found


def _minorant(corners: list[Corner]) -> list[Corner]:
    """From each corner to the one that is least steep from there, the last of equals."""
    found = [corners[0]]
    while found[-1] != corners[-1]:
        here, ahead = found[-1], corners[corners.index(found[-1]) + 1 :]
        slopes = [(corner[1] - here[1]) / (corner[0] - here[0]) for corner in ahead]
        found.append([corner for corner, slope in zip(ahead, slopes, strict=True) if slope == min(slopes)][-1])
    return found


def _on(hull: list[Corner], width: Fraction) -> Fraction:
    """The height of the minorant there."""
    one, other = next((a, b) for a, b in pairwise(hull) if a[0] <= width <= b[0])
    return one[1] + (other[1] - one[1]) * (width - one[0]) / (other[0] - one[0])


def _start_forgotten(**facts: Any) -> float:
    """As if both worlds started from one point."""
    return exact_steps.exact_steps_gdp(**{**facts, "apart": 0.0})


@statement(
    "S.exact-solved",
    "the same from starts z_0 apart: μ(T, K; z_0) ≤ μ(T, K; 0) + z_0 c^t/√S_t, t = T + K; from two solvers' answers z_0 = Δ/(nm) + 2γ/m, "
    "and 2γ/m of a record that is gone",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=exact_steps.exact_steps_gdp,
    fault=("the starts are taken for one", _start_forgotten),
    licenses=("bounds.exact_steps:exact_steps_gdp",),
    scope="Linear losses that round apart by E at every step from starts z_0 apart: Gaussian laws, equal to the bound but for the grid; shifts "
    "worked out step by step are feasible and cost what is stated. That two answers are so far apart is S.sharp's; laws of a coarse machine under an adversary are in "
    "`tests/bounds/test_exact_steps.py`.",
)
def _exact_solved(claim: Any, effort: int) -> Finding:
    generator, closest = np.random.default_rng(172), math.inf
    for _ in range(200 * effort):
        eta, m = math.exp(generator.uniform(-4, 0)), math.exp(generator.uniform(-4, -0.5))
        c, n, tau = 1 - eta * m, int(generator.integers(1, 500)), math.exp(generator.uniform(-5, 2))
        h, delta = math.ldexp(tau, -20), math.exp(generator.uniform(-5, 1))
        error, solved = tau * math.exp(generator.uniform(-14, -2)), tau * math.exp(generator.uniform(-10, 1))
        t, k = int(generator.integers(0, 40)), int(generator.integers(0, 30))
        k = k or int(t == 0)
        apart = solved + (delta / (n * m) if t else 0.0)
        found = claim(
            sensitivity=delta, step_size=eta, strong_convexity=m, noise=tau, grid=h, records=n, gap=2 * error + h,
            steps_with_record=t, steps_without_record=k, apart=apart,
        )  # fmt: skip
        gaps = [eta * delta / n + 2 * error + h] * t + [2 * error + h] * k
        power = c ** np.arange(t + k - 1, -1, -1)
        total, left, cost = float(np.dot(gaps, power)) + apart * c ** (t + k), apart, 0.0
        for gap, share in zip(gaps, power, strict=True):
            shift = total * share / float((power**2).sum())
            left = c * left + gap - shift
            require(left >= -1e-9 * total, f"a distance below 0: {left}")
            cost += shift**2 / (tau**2 - 144 * h**2)
        close(found, math.sqrt(cost), f"T = {t}, K = {k}, z_0 = {apart}", 1e-6)
        true = (total - h * float(power.sum())) / (tau * math.sqrt(float((power**2).sum())))
        require(true <= found * (1 + 1e-12), f"two machines are {true} apart, stated {found}")
        closest = min(closest, 1 - true / found)
    return Finding(f"two rounding machines from two answers at most {closest:.1e} below")


def _by_slot(rows: Any, labels: Any, group: Any) -> Any:
    return np.arange(len(labels))


@statement(
    "S.any-slot",
    "rows added in an order that their contents fix: two tables of n slots with the same rows, wherever these lie, have the same float sums, bit for bit",
    evidence=(ADVERSARIAL,),
    claim=order_of_content,
    fault=("rows go by their slots", _by_slot),
    licenses=("engine.content_order:order_of_content",),
    scope="Rows of few values, many alike, free slots, permuted and shifted by one as a line more or less in a file does; running sums in float32 of what comes out. That releases add rows "
    "so, by every method that states a 0 of a machine: `tests/across/test_slots.py`.",
)
def _any_slot(claim: Any, effort: int) -> Finding:
    generator, seen = np.random.default_rng(174), 0
    for _ in range(20 * effort):
        n, width = int(generator.integers(2, 300)), int(generator.integers(1, 9))
        rows = generator.choice(np.array([0.0, -0.0, 0.1, 0.3, -0.7], np.float32), (n, width))
        labels = generator.choice([-1.0, 1.0], n)
        rows[generator.random(n) < 0.2] = 0
        found = set()
        for order in (np.arange(n), np.roll(np.arange(n), 1), generator.permutation(n)):
            table, named = rows[order], labels[order]
            slots = claim(table, named, ALONE)
            require(sorted(slots.tolist()) == list(range(n)), "every slot once")
            found.add((table * named[:, None].astype(np.float32))[slots].cumsum(axis=0).tobytes())
        require(len(found) == 1, "the running sums tell where rows lie")
        seen += n
    return Finding(f"{seen:,} rows in three orders")


def _one_step(claim: Any, generator: np.random.Generator) -> float:
    """A step in float64 against the same in twice the precision, over what is charged; and δ by its letters."""
    d, eta = int(generator.integers(1, 60)), math.exp(generator.uniform(-3, 1))
    lipschitz, lam = math.exp(generator.uniform(-1, 1)), math.exp(generator.uniform(-6, 0))
    tau = math.exp(generator.uniform(-28, 0))
    length = exact_steps.iterate_radius(
        lipschitz=lipschitz, regularization=lam, gap_at_zero=math.log(2), dimension=d, noise=tau, step_size=eta, strong_convexity=min(lam, 0.9 / eta)
    )  # fmt: skip
    c = 1 - eta * min(lam, 0.9 / eta)
    far = min(lipschitz / lam, math.sqrt(2 * math.log(2) / lam)) + (math.sqrt(d) + 37) * tau / math.sqrt(1 - c**2)
    require(far <= length <= 2 * far, f"W = {length}, a chain goes {far}")
    bits = exact_steps.grid_bits(radius=length, lipschitz=lipschitz, regularization=lam, step_size=eta, noise=tau)
    h, reach = math.ldexp(tau, -bits), 1.001 * length + eta * (lipschitz + lam * length)
    require(bits <= 24 and reach <= 2.0**51 * h, f"W/h = {length / h}")
    require(bits == 24 or reach > 2.0**49 * h, "a finer grid would do")
    e = 1e-12 * lipschitz
    facts = {
        "gradient_error": e,
        "step_size": eta,
        "strong_convexity": (1 - c) / eta,
        "lipschitz": lipschitz,
        "regularization": lam,
        "radius": length,
    }
    charged = claim(**facts, dimension=d, grid=h)
    outside = 1.001 * length
    steepest = lipschitz + lam * outside
    centre = 1.01 * (eta * e + 3 * U * eta * steepest + 2 * U * outside) + h * math.sqrt(d) / 2
    close(charged, 2 * (centre + c * 1.01 * (d + 9) * U * outside) + h * math.sqrt(d), "δ", 1e-8)
    theta = generator.standard_normal(d)
    theta *= length * generator.uniform(0.5, 1) / np.linalg.norm(theta)
    slope = generator.standard_normal(d)
    slope *= steepest * generator.uniform(0.5, 1) / np.linalg.norm(slope)
    wrong = slope * (1 + e / np.linalg.norm(slope))  # the measured gradient, e away
    k = np.rint((theta - eta * wrong) / h)
    exact = np.asarray(theta, np.longdouble) - np.longdouble(eta) * np.asarray(slope, np.longdouble)
    off = float(np.sqrt(((np.asarray(k, np.longdouble) * np.longdouble(h) - exact) ** 2).sum()))
    require(off <= charged / 2, f"a step is {off} off, charged {charged / 2}")
    return float(2 * off / charged)
