"""The account of Markov sums against the joint law of random trees, worked out by inverting its covariance."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from noisygd_delete.bounds import correlated_sums
from proofs_check import closed_forms
from tests.oracles import sums_tree

TREES = 6000


def charge_of_tree(draws, held, apart=1.0, rounded=0.0) -> float:
    """Q of a person for who saw every draw. draws: (parent, c, σ²); held: for each, which rows of the person its table had; a row edited
    in place is another row."""
    total = 0.0
    for number, (parent, carry, variance) in enumerate(draws):
        now, before = set(held[number]), set() if parent is None else set(held[parent])
        rows = {"stay": len(now & before), "joined": len(now - before), "left": len(before - now)}
        total += correlated_sums.draw_cost(carry=carry, variance=variance, apart=apart, rounded=rounded, **rows)
    return total


def random_tree(rng: np.random.Generator):
    """(draws as the oracle takes them, what each holds of a person's rows)."""
    number, rows = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    draws, held, version = [], [], itertools.count(rows)
    for j in range(number):
        root = j == 0 or rng.random() < 0.15
        parent = None if root else int(rng.integers(0, j)) if rng.random() < 0.3 else j - 1
        carry = Fraction(0) if root else Fraction(int(rng.integers(1, 13)), 10)
        draws.append((parent, carry, Fraction(int(rng.integers(1, 5)))))
        before = set(range(rows)) if j == 0 else set(held[parent if parent is not None else j - 1])
        now = {row if rng.random() < 0.9 else next(version) for row in before if rng.random() < 0.8}
        if rng.random() < 0.2:
            now.add(next(version))
        held.append(now)
    return draws, held


def account(draws, held, fault=None) -> float:
    tree = []
    for parent, carry, deviation in draws:
        kept = carry**2 if fault == "c² for c" else carry
        tree.append((parent, kept, int(deviation**2 if fault != "σ for σ²" else deviation)))
    if fault == "exit dropped":
        held = [now | (held[draw[0]] if draw[0] is not None else set()) for now, draw in zip(held, draws, strict=True)]
    return charge_of_tree(tree, held)


def law(draws, held) -> Fraction:
    """Of all rows together, which share one statistic."""
    moved = [[Fraction(len(now))] for now in held]
    return sums_tree.divergence(draws, moved, list(range(len(draws))))


def of_one_row(draws, held, row):
    return [{row} & now for now in held]


def test_account_is_the_joint_law_on_random_trees() -> None:
    """Of one row it is the law itself; of a person's rows together, never below it."""
    rng, worst, several = np.random.default_rng(34), 0.0, 0
    for _ in range(TREES):
        draws, held = random_tree(rng)
        rows = sorted(set().union(*held))
        if rows:
            row = rows[int(rng.integers(0, len(rows)))]
            alone = of_one_row(draws, held, row)
            exact = sums_tree.divergence(draws, [[Fraction(len(now))] for now in alone], list(range(len(draws))))
            stated = account(draws, alone)
            worst = max(worst, float(abs(stated - exact) / (exact or 1)))
        together = law(draws, held)
        assert account(draws, held) >= together
        several += len(rows) > 1
    assert worst <= 1e-12
    assert several > TREES // 2


@pytest.mark.parametrize("fault", ["exit dropped", "c² for c", "σ for σ²"])
def test_a_planted_fault_of_the_account_is_seen(fault: str) -> None:
    rng, seen = np.random.default_rng(35), 0
    for _ in range(200):
        draws, held = random_tree(rng)
        for row in set().union(*held):
            alone = of_one_row(draws, held, row)
            seen += abs(account(draws, alone, fault) - account(draws, alone)) > Fraction(1, 10**6)
    assert seen > 20


def test_rows_of_a_person_that_go_different_ways_attain_the_bound() -> None:
    """One row comes where another of the opposite statistic goes: |1 + c|, which is what joined + c · left says."""
    draws = [(None, Fraction(0), Fraction(1)), (0, Fraction(9, 10), Fraction(1))]
    exact = sums_tree.divergence(draws, [[Fraction(1)], [Fraction(-1)]], [0, 1])
    assert account(draws, [{0}, {1}]) == pytest.approx(float(exact), rel=1e-15)
    assert exact == 1 + Fraction(19, 10) ** 2


def test_who_missed_draws_of_a_chain() -> None:
    rng, worst = np.random.default_rng(37), 0.0
    for _ in range(400):
        number = int(rng.integers(2, 8))
        chain = [(None, Fraction(0), Fraction(int(rng.integers(1, 4))))]
        chain += [
            (j - 1, Fraction(int(rng.integers(0, 13)), 10), Fraction(int(rng.integers(1, 4)))) for j in range(1, number)
        ]
        moved = [Fraction(int(rng.integers(0, 2))) for _ in range(number)]
        seen = sorted(rng.choice(number, int(rng.integers(1, number + 1)), replace=False).tolist())
        exact = float(sums_tree.divergence(chain, [[value] for value in moved], seen))
        facts = [(float(carry), float(deviation**2)) for _, carry, deviation in chain]
        stated = closed_forms.seen_charge(draws=facts, moved=[float(value) for value in moved], seen=seen)
        worst = max(worst, abs(stated - exact) / (exact or 1))
    assert worst <= 1e-12


@pytest.mark.parametrize("carry", [Fraction(2**60 - 1, 2**60), 1 - Fraction(1, 3 * 2**45), Fraction(1, 3)])
def test_a_carry_that_is_no_float_is_charged_as_it_is(carry: Fraction) -> None:
    """Taken for 1, the first would round nothing and its rows would stay for nothing."""
    variance, apart, rounded = 10**12, 10.0**6, 10.0**3
    tree = [(None, 0, variance), (0, carry, variance)]
    truth = 1 + ((1 - carry) * Fraction(apart) + Fraction(rounded)) ** 2 / variance
    assert truth <= Fraction(charge_of_tree(tree, [{0}, {0}], apart, rounded)) <= truth * (1 + Fraction(1, 10**13))
