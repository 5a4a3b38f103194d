"""Sensitivity in floats (Casacuberta et al. 2022): worst orders, magnitudes and signs stay within Δ and the declared slack.

Their attacks reorder or rescale the other rows so that one record's influence on a computed sum exceeds Δ. Here the slots
are fixed, so neighbours never differ in order; orders are tried all the same, for what they do to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.bounds.arithmetic import BLOCK, MOST_PROCESSES, sensitivity_slack
from noisygd_delete.engine import Objective, kernel

Array = np.ndarray
ORDERS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "as drawn": lambda sizes, rng: np.arange(len(sizes)),
    "ascending": lambda sizes, rng: np.argsort(sizes),
    "descending": lambda sizes, rng: np.argsort(-sizes),
    "large and small in turn": lambda sizes, rng: np.argsort(sizes).reshape(2, -1)[:, ::-1].T.ravel(),
    "large at block ends": lambda sizes, rng: np.argsort(np.where(np.argsort(-sizes) % BLOCK < 2, -1.0, 1.0)),
    "shuffled": lambda sizes, rng: rng.permutation(len(sizes)),
}
SIGNS = ("random", "all the same", "in turn", "first half against second")
N, D = 4 * BLOCK, 3
DIRECTION = np.ones((1, D)) * 40 / math.sqrt(D)  # every gradient saturates: |g| = 1


def problem(order: str, signs: str, seed: int) -> tuple[Array, Array]:
    """Rows over eight decades, in this order, their labels making the gradients add up or cancel as `signs` says."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-8, 0, N)
    sizes[rng.random(N) < 0.3] = 1.0
    sizes = sizes[ORDERS[order](sizes, rng)]
    rows = np.ones((N, D)) / math.sqrt(D) * sizes[:, None] * (1 - 2.0**-22)
    labels = {
        "random": rng.choice([-1.0, 1.0], N),
        "all the same": -np.ones(N),
        "in turn": np.where(np.arange(N) % 2, 1.0, -1.0),
        "first half against second": np.where(np.arange(N) < N // 2, 1.0, -1.0),
    }[signs]
    return rows, labels


def summed(rows: Array, labels: Array, dtype: str, weights: Array = DIRECTION) -> Array:
    return Objective(Records(rows, labels), losses.Logistic(1.0), regularization=0, dtype=dtype).gradient_sum(weights)


@pytest.mark.parametrize("path", ["products", "compiled"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ORDERS)
def test_one_record_moves_the_sum_by_no_more_than_declared(dtype: str, order: str, path: str, monkeypatch) -> None:
    if path == "compiled":
        pytest.importorskip("numba", reason="the compiled kernel needs the extra `fast`")
        monkeypatch.setattr(kernel, "LEAST", 0)
    allowed = 2.0 * (1 + sensitivity_slack(records=N, dtype=dtype))
    weights = np.array([[1e4, 0.0, 0.0]])
    aslant = np.array([0.01, math.sqrt(1 - 0.01**2 - 2.0**-20), 0.0])  # saturated, and almost across the weights
    worst = 0.0
    for seed, signs in enumerate(SIGNS):
        rows, labels = problem(order, signs, seed)
        for slot in (0, 1, BLOCK - 1, BLOCK, N // 2, N - 1):
            labels[slot] = -1.0
            sums = []
            for record in (aslant, aslant * [1, -1, 1], np.zeros(D)):
                rows[slot] = record
                sums.append(summed(rows, labels, dtype, weights))
            worst = max(worst, float(np.linalg.norm(sums[0] - sums[1])))
            assert np.linalg.norm(sums[0] - sums[2]) <= allowed / 2
    assert 1.99 <= worst <= allowed, "the attack must reach Δ, and not exceed it"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_order_of_rows_changes_the_sum_by_less_than_the_declared_slack(dtype: str) -> None:
    """Not one record but all of them moved: the sums agree to the slack of a single record's Δ = 2L."""
    slack = 2.0 * sensitivity_slack(records=N, dtype=dtype)
    spread = 0.0
    for seed, signs in enumerate(SIGNS):
        rows, labels = problem("as drawn", signs, seed)
        first = summed(rows, labels, dtype)
        for order in ORDERS.values():
            place = order(np.linalg.norm(rows, axis=1), np.random.default_rng(seed))
            assert sorted(place) == list(range(N))
            spread = max(spread, float(np.linalg.norm(summed(rows[place], labels[place], dtype) - first)))
    assert spread <= slack
    assert spread > 0, "the orders must reach the rounding"


@pytest.mark.parametrize("records", [1, 255, 16_383, 16_384, 10**6, 10**9])
@pytest.mark.parametrize(("dtype", "unit"), [("float32", Fraction(1, 2**24)), ("float64", Fraction(1, 2**53))])
def test_the_slack_is_the_stated_sum_in_exact_arithmetic(records, dtype, unit) -> None:
    """2bγ_b with γ_b = bu/(1 − bu), b = 256; 4nk·2⁻⁵³ with k = 64 + 2⌈log₂⌉ of the spans + one per process; 2⁻²⁰ and 2⁻²¹."""
    block, spans = 256, records // (64 * 256) + 1
    gamma = block * unit / (1 - block * unit)
    additions = 64 + 2 * math.ceil(math.log2(spans + 1)) + MOST_PROCESSES
    exact = 2 * block * gamma + 4 * records * additions * Fraction(1, 2**53) + Fraction(3, 2**21)
    assert sensitivity_slack(records=records, dtype=dtype) == pytest.approx(float(exact), rel=1e-12)
