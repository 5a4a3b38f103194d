"""Theorem 1 and its corollaries against exact densities; each planted fault is seen by the attack that is meant for it."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from noisygd_delete.bounds import objective_perturbation as bounds

from ..oracles import perturbed_density as exact

U = exact.line()
CELL = U[1] - U[0]
NULL = (np.zeros_like(U), np.zeros_like(U))
CASES = [(0.05, 0.05, 10.0), (0.3, 0.3, 3.0), (0.2, 0.05, 4.0), (0.1, 0.3, 1.5), (0.5, 0.1, 8.0), (0.02, 0.08, 12.0)]


def both(order: float, one, two) -> float:
    first, second = exact.log_density(U, one), exact.log_density(U, two)
    return max(exact.renyi(order, first, second, CELL), exact.renyi(order, second, first, CELL))


def shifts(height: float, up: float, down: float, seed: int, number: int):
    rng = np.random.default_rng(seed)
    yield np.full_like(U, height), np.zeros_like(U)
    yield exact.ramp(U, height, up)
    yield from (exact.ramp(U, height, up, centre) for centre in (-2.0, 1.0, 3.0))
    yield from (exact.random_shift(U, height, up, down, rng) for _ in range(number))


def worst_zero_out(height: float, ratio: float, order: float) -> float:
    return max(both(order, NULL, shift) for shift in shifts(height, ratio, 0.0, 1, 12))


def worst_replace(height: float, ratio: float, order: float) -> float:
    pairs = list(shifts(height, ratio, 0.0, 2, 6))
    mirrored = [(-a[::-1], slope[::-1]) for a, slope in shifts(height, ratio, 0.0, 3, 6)]
    return max(both(order, one, two) for one, two in zip(pairs, mirrored, strict=True))


def bound(order: float, height: float, hessian: float, noise: float = 1.0) -> float:
    return bounds.renyi(order=order, sensitivity=height, noise=noise, hessian=hessian)


@pytest.mark.parametrize(("height", "ratio", "order"), CASES)
def test_zero_out_covers_exact_densities_and_is_close(height, ratio, order) -> None:
    truth = worst_zero_out(height, ratio, order)
    claimed = bound(order, height, bounds.zero_out_hessian(order=order, ratio=ratio))
    assert truth <= claimed * (1 + 1e-6)
    if ratio <= height / 4:  # the shift is most of it: half the noise is seen
        assert truth >= 0.8 * claimed
        assert truth > bound(order, height, bounds.zero_out_hessian(order=order, ratio=ratio), noise=2.0)


@pytest.mark.parametrize(("height", "ratio", "order"), CASES)
def test_replace_covers_exact_densities_and_is_close(height, ratio, order) -> None:
    truth = worst_replace(height, ratio, order)
    hessian = bounds.replace_hessian(order=order, ratio=ratio)
    assert truth <= bound(order, 2 * height, hessian) * (1 + 1e-6)
    if ratio <= height / 4:
        assert truth >= 0.8 * bound(order, 2 * height, hessian)
    assert truth > bound(order, math.sqrt(2) * height, 0.0)  # √2 L for 2L


@pytest.mark.parametrize(("height", "order", "seen"), [(0.05, 10.0, 0.0164), (0.3, 3.0, 0.1707)])
def test_the_designed_ramp_sees_a_forgotten_hessian_term(height, order, seen) -> None:
    """Random search does not: a = clip(κu) at κ = 1 does."""
    truth = both(order, NULL, exact.ramp(U, height, height))
    assert truth == pytest.approx(seen, abs=1e-4)
    assert truth > 1.2 * bound(order, height, 0.0)
    assert truth <= bound(order, height, bounds.zero_out_hessian(order=order, ratio=height))


def test_q_and_q_minus_1_are_not_swapped() -> None:
    """With q−1 for q in front of Δ² a constant shift (a linear loss) breaks the bound; with h₊ for h₋ a ramp does."""
    height, order = 0.4, 2.5
    flat = (np.full_like(U, height), np.zeros_like(U))
    truth = both(order, NULL, flat)
    assert truth == pytest.approx(bound(order, height, 0.0), rel=1e-9)
    assert truth > (order - 1) * height**2 / 2
    # a pure determinant: no shift to speak of, large curvature, the world without against the one with
    ratio, order, height = 0.5, 2.8, 2e-2
    shift = exact.ramp(U, height, ratio)
    density = exact.log_density(U, shift)
    found = exact.renyi(order, exact.log_density(U, NULL), density, CELL)
    h_plus = order * math.log1p(ratio) - math.log1p(order * ratio)
    assert found <= bound(order, height, bounds.zero_out_hessian(order=order, ratio=ratio))
    assert bounds.zero_out_hessian(order=order, ratio=ratio) > 3 * h_plus / (order - 1)


@pytest.mark.parametrize(
    ("up", "down", "order"), [(0.1, 0.1, 4.0), (0.2, 0.2, 2.0), (0.05, 0.1, 5.0), (0.15, 0.15, 3.0)]
)
def test_weakly_convex_covers_opposite_curvature(up, down, order) -> None:
    """x curves up where x′ curves down: the cross term that equal signs do not have."""
    height = 0.15
    one = exact.ramp(U, height, up)
    two = exact.ramp(U, height, down)
    two = -two[0], -two[1]
    truth = both(order, one, two)
    claimed = bounds.weakly_convex_replace_hessian(order=order, ratio=up, below=down)
    rng = np.random.default_rng(4)
    for _ in range(10):
        pair = (exact.random_shift(U, height, up, down, rng) for _ in range(2))
        truth = max(truth, both(order, *pair))
    assert truth <= bound(order, 2 * height, claimed) * (1 + 1e-6)
    alone = max(both(order, NULL, shift) for shift in (one, two, *shifts(height, up, down, 5, 8)))
    hessian = bounds.weakly_convex_zero_out_hessian(order=order, ratio=up, below=down)
    assert alone <= bound(order, height, hessian) * (1 + 1e-6)


def test_the_cross_term_of_opposite_curvatures_is_needed() -> None:
    """Where x curves down and x′ up on one line, det J_q = 1 − qρ₋ − (q−1)ρ₊: equal signs alone fall below Theorem 1's term."""
    up = down = 0.2
    order = 2.0
    slopes = {
        name: np.full(1, value)
        for name, value in (("x", -down), ("x′", up), ("tilt", -order * down - (order - 1) * up))
    }
    origin = np.zeros(1)
    log = {name: exact.log_density(origin, (origin, slope))[0] for name, slope in slopes.items()}
    term = (order * log["x"] + (1 - order) * log["x′"] - log["tilt"]) / (order - 1)
    claimed = bounds.weakly_convex_replace_hessian(order=order, ratio=up, below=down)
    assert term == pytest.approx(claimed, rel=1e-9)
    equal = [
        order * math.log1p(r) - math.log1p(order * r) - (order - 1) * math.log1p(r) - math.log1p(-(order - 1) * r)
        for r in (up, -down)
    ]
    assert term > 1.3 * max(equal) / (order - 1)


def test_a_subject_with_two_rows_is_covered() -> None:
    """Two ramps of one subject add up: twice the shift and twice the slope."""
    height, ratio, order = 0.05, 0.04, 6.0
    double = exact.ramp(U, 2 * height, 2 * ratio)
    truth = both(order, NULL, double)
    assert truth <= bound(order, 2 * height, bounds.zero_out_hessian(order=order, ratio=ratio, rows=2))
    assert truth > bound(order, height, bounds.zero_out_hessian(order=order, ratio=ratio))


SLOPES = {  # f′ and f″; the offset puts the steep part where one law lives and the flat one where the other does
    "logistic": (1.0, 0.25, lambda z: (-1 / (1 + np.exp(z - 6)), 0.25 / np.cosh((z - 6) / 2) ** 2)),
    "pseudo-huber": (1.0, 1.0, lambda z: ((z - 5) / np.sqrt(1 + (z - 5) ** 2), (1 + (z - 5) ** 2) ** -1.5)),
    "clipped": (0.5, 1.0, lambda z: (np.clip(z - 2, -0.5, 0.5), np.where(np.abs(z - 2) < 0.5, 1.0, 0.0))),
}


@pytest.mark.parametrize("name", SLOPES)
def test_replace_in_the_plane_at_all_angles(name) -> None:
    """G = base·θ + L f′(⟨x,θ⟩)x in units of s: Δ ≤ 2L, ρ = L β/base. Half the noise and √2 L are seen."""
    most, smooth, curve = SLOPES[name]
    plane, height = exact.Plane(base=2.0), 0.4

    def slope(z):
        return tuple(height * part for part in curve(z))

    ratio, closest = height * smooth / plane.base, 0.0
    other = plane.log_density([exact.ridge_gradient(0.0, slope)])
    for angle in (0.0, 0.7, math.pi / 2, 2.4, math.pi):
        first = plane.log_density([exact.ridge_gradient(angle, slope)])
        assert np.exp(first).sum() * plane.cell == pytest.approx(1, abs=3e-3)
        for order in (1.5, 3.0, 5.0):
            hessian = bounds.replace_hessian(order=order, ratio=ratio)
            truth = exact.renyi(order, first, other, plane.cell)
            assert truth <= bound(order, 2 * height * most, hessian) * (1 + 5e-3)
            closest = max(closest, truth / bound(order, math.sqrt(2) * height * most, 0.0))
    assert closest > 1.5  # √2 L for 2L leaves half, half the noise a quarter


def test_softmax_of_three_classes() -> None:
    """Rank two: g = L(p − e_y), Δ ≤ √2·2L, Frobenius norm of the Hessian at most L/2."""
    plane, height = exact.Plane(base=1.5), 0.3
    laws = [plane.log_density([exact.softmax_gradient(label, height, 1.0)]) for label in range(3)]
    null = plane.log_density([])
    ratio, closest = height / (2 * plane.base), 0.0
    for order in (1.2, 1.7, 3.0, 6.0):
        for first, second in ((laws[0], laws[1]), (laws[2], laws[0])):
            claimed = bound(order, 2 * math.sqrt(2) * height, bounds.several_replace_hessian(order=order, ratio=ratio))
            truth = exact.renyi(order, first, second, plane.cell)
            assert truth <= claimed
        single = bound(order, math.sqrt(2) * height, bounds.several_zero_out_hessian(order=order, ratio=ratio))
        for pair in ((laws[0], null), (null, laws[0])):
            truth = exact.renyi(order, *pair, plane.cell)
            assert truth <= single
            closest = max(closest, truth / single)
    assert closest > 0.3


@pytest.mark.parametrize("rows", [2, 5, 30])
def test_eigenvalues_of_several_rows_cost_no_more_than_one_large_one(rows) -> None:
    rng = np.random.default_rng(rows)
    for order in (1.3, 2.0, 2.7, 9.0):
        ratio = rng.uniform(0.1, 0.99) / (order - 1) / rows
        if not math.isfinite(bounds.replace_hessian(order=order, ratio=ratio, rows=rows)):
            continue
        for _ in range(50):
            r, other = (rows * ratio * rng.dirichlet([0.3] * rows) for _ in range(2))
            minus = float((-(order - 1) * np.log1p(r) - np.log1p(-(order - 1) * r)).sum())
            plus = float((order * np.log1p(other) - np.log1p(order * other)).sum())
            assert minus <= bounds.zero_out_hessian(order=order, ratio=ratio, rows=rows) * (order - 1)
            assert plus + minus <= bounds.replace_hessian(order=order, ratio=ratio, rows=rows) * (order - 1)


def test_costs_are_finite_below_the_highest_order_alone() -> None:
    for rows in (1, 3):
        highest = bounds.highest_order(ratio=0.01, rows=rows)
        assert highest == pytest.approx(1 + 1 / (0.01 * rows))
        for cost in (
            bounds.zero_out_hessian,
            bounds.replace_hessian,
            bounds.several_zero_out_hessian,
            bounds.several_replace_hessian,
        ):
            assert math.isfinite(cost(order=1 + (highest - 1) * 0.999, ratio=0.01, rows=rows))
            assert cost(order=highest * 1.0001, ratio=0.01, rows=rows) == math.inf
            assert cost(order=math.nan, ratio=0.01, rows=rows) == math.inf
            assert cost(order=5.0, ratio=math.nan, rows=rows) == math.inf
            assert cost(order=5.0, ratio=0.0) == pytest.approx(0, abs=1e-12)
    highest = bounds.highest_order(ratio=0.05, below=0.03)
    for cost in (bounds.weakly_convex_zero_out_hessian, bounds.weakly_convex_replace_hessian):
        assert math.isfinite(cost(order=highest * 0.999, ratio=0.05, below=0.03))
        assert cost(order=highest * 1.001, ratio=0.05, below=0.03) == math.inf


def exact_costs(order: float, r: float, below: float) -> dict[str, mpmath.mpf]:
    """Every Hessian cost to 60 digits, of these very floats."""
    with mpmath.workdps(60):
        q, r, below = (mpmath.mpf(value) for value in (order, r, below))
        rest = q - 1

        def without(x):
            return -rest * mpmath.log(1 + x) - mpmath.log(1 - rest * x)

        def with_(x):
            return q * mpmath.log(1 + x) - mpmath.log(1 + q * x)

        def opposite(second, first):
            return q * mpmath.log(1 + second) - rest * mpmath.log(1 + first) - mpmath.log(1 + q * second - rest * first)

        several = max(without(r) / rest, q * r * r / 2)
        found = {
            "zero_out_hessian": without(r) / rest,
            "replace_hessian": -mpmath.log(1 - q * rest * r * r / (1 + r)) / rest,
            "several_zero_out_hessian": several,
            "several_replace_hessian": q * r * r / 2 + several,
        }
        if q * below + rest * r < 1:
            found["weakly_convex_zero_out_hessian"] = max(h(x) for h in (with_, without) for x in (r, -below)) / rest
            same = max(with_(x) + without(x) for x in (r, -below))
            found["weakly_convex_replace_hessian"] = max(same, opposite(r, -below), opposite(-below, r)) / rest
        return found


def test_costs_are_rounded_up_to_the_end_of_the_orders() -> None:
    rng = np.random.default_rng(11)
    seen = dict.fromkeys(exact_costs(2.0, 0.1, 0.01), 0)
    for _ in range(600):
        order = 1 + float(np.exp(rng.uniform(-3, 6)))
        left = 10.0 ** -rng.uniform(0.01, 11.95)  # of the room that J_q has
        share = float(rng.choice([0.0, 0.0, rng.uniform()]))
        r, below = (1 - left) * (1 - share) / (order - 1), (1 - left) * share / order
        for name, true in exact_costs(order, r, below).items():
            facts = {"ratio": r, **({"below": below} if name.startswith("weakly") else {})}
            found = getattr(bounds, name)(order=order, **facts)
            if found < math.inf:
                assert true <= found <= true * (1 + 1e-3) + 1e-12, (name, order, left)
                seen[name] += 1
    assert min(seen.values()) > 100
