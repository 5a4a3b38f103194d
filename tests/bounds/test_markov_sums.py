"""Every figure of Markov sums in floats is at least its exact value, worked out in rational numbers, and hardly more."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from noisygd_delete.bounds import correlated_sums

CASES, NEAR = 2500, Fraction(1, 2**30)


def length_squared(norm: int, weight: int, *, between: bool) -> Fraction:
    """Δ² of a row: from the closed form, whose proof `proofs_check` searches."""
    if not between:
        return Fraction(norm * norm + weight * weight * norm)
    return (
        Fraction((2 * norm + weight * weight) ** 2, 2)
        if weight * weight <= 2 * norm
        else Fraction(4 * weight * weight * norm)
    )


def cost(carry, variance, apart, rounded, *, stay: int = 0, joined: int = 0, left: int = 0) -> Fraction:
    """(shift/σ)² of a draw, by the definition."""
    carry, apart = Fraction(carry), Fraction(apart)
    kept = Fraction(rounded) if (stay or left) and carry.denominator > 1 else 0
    return ((abs(1 - carry) * stay + joined + carry * left) * apart + kept) ** 2 / Fraction(variance)


def dearest(draws, apart, rounded, *, joiners: bool) -> Fraction:
    """Over every time to come and to go, one by one."""
    found = Fraction(0)
    for come in range(len(draws) if joiners else 1):
        total = Fraction(0)
        for number in range(come, len(draws)):
            rows = {"stay" if number > come else "joined": 1}
            if number > come:
                found = max(found, total + cost(*draws[number], apart, rounded, left=1))
            total += cost(*draws[number], apart, rounded, **rows)
            found = max(found, total)
    return found


def facts(rng: np.random.Generator) -> tuple[int, int]:
    """R² and β in steps, of any size and any proportion."""
    norm = int(rng.integers(1, 2 ** int(rng.integers(2, 45))))
    return norm, max(1, int(math.sqrt(norm) * rng.uniform(0.05, 2.5)))


def below(rng: np.random.Generator, number: int) -> tuple[int, Fraction]:
    """(figures below their exact values, the largest excess of any)."""
    wrong, widest = 0, Fraction(0)

    def weigh(stated: float, exact: Fraction, *, squared: bool = False) -> None:
        nonlocal wrong, widest
        value = Fraction(stated) ** 2 if squared else Fraction(stated)
        wrong, widest = wrong + (value < exact), max(widest, value / exact - 1)

    for _ in range(number):
        norm, weight = facts(rng)
        columns, outputs = int(rng.integers(1, 5000)), int(rng.integers(1, 12))
        for between in (False, True):
            stated = correlated_sums.sensitivity(norm_squared=norm, label_weight=weight, between_records=between)
            weigh(stated, length_squared(norm, weight, between=between), squared=True)
        rounded = correlated_sums.rounding_norm(features=columns, outputs=outputs, label_weight=weight)
        weigh(rounded, Fraction(columns**2 + weight**2 * columns * outputs), squared=True)
        carry = int(rng.integers(0, 2**20 + 2**18)) / 2**20
        variance = float(rng.uniform(1, 2) * 2.0 ** int(rng.integers(1, 72)))
        rows = dict(zip(("stay", "joined", "left"), rng.integers(0, 4, 3).tolist(), strict=True))
        if any(rows.values()) and cost(carry, variance, stated, rounded, **rows):
            charged = correlated_sums.draw_cost(carry=carry, variance=variance, apart=stated, rounded=rounded, **rows)
            weigh(charged, cost(carry, variance, stated, rounded, **rows))
        factor = correlated_sums.gaussian_factor(variance=variance, label_weight=weight)
        lost = 144 * max(2, weight**2)
        assert Fraction(variance) > lost or factor == math.inf
        if factor < math.inf:
            weigh(factor, Fraction(variance) / (Fraction(variance) - lost))
    return wrong, widest


def test_no_figure_is_below_its_exact_value() -> None:
    wrong, widest = below(np.random.default_rng(1), CASES)
    assert wrong == 0
    assert widest < NEAR


def test_roundings_that_are_not_turned_up_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlated_sums, "_UP", 1.0)
    assert below(np.random.default_rng(1), 200)[0] > 50


def test_a_factor_of_noise_hardly_above_what_its_grid_takes_is_none() -> None:
    """Planted: at 2⁻³⁴ above, with β² beyond 53 bits, the difference of floats is wrong in its sixth digit."""
    weight = 2**40 + 1
    lost = 144 * weight**2
    for much, finite in ((1 + 2.0**-33, False), (1.1, True)):
        factor = correlated_sums.gaussian_factor(variance=lost * much, label_weight=weight)
        assert (factor < math.inf) == finite
        assert factor >= Fraction(lost * much) / (Fraction(lost * much) - lost)


@pytest.mark.parametrize("joiners", [False, True])
def test_the_dearest_of_all_times_to_come_and_go_is_no_more_than_stated(joiners: bool) -> None:
    rng = np.random.default_rng(2)
    for trial in range(60):
        releases, variance = int(rng.integers(2, 9)), float(rng.integers(10**6, 10**15))
        apart, rounded = float(rng.uniform(1, 1e6)), float(rng.choice([0.0, 1e-3, 10.0]))
        draws = correlated_sums.equalizer_schedule(releases=releases, variance=variance)
        if trial % 2:  # any other chain
            draws = [
                (0.0, variance),
                *[(int(rng.integers(1, 2**20)) / 2**20, variance * rng.uniform(0.1, 1)) for _ in range(releases - 1)],
            ]
        stated = correlated_sums.worst_charges(draws=draws, apart=apart, rounded=rounded, joiners=joiners)
        for number in range(1, releases + 1):
            exact = dearest(draws[:number], apart, rounded, joiners=joiners)
            assert exact <= Fraction(stated[number - 1]) <= exact * (1 + NEAR)
