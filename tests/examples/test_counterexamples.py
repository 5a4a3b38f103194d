"""The paper's counter-examples: their statistics against independent closed forms. (`test_examples.py` runs each of them.)"""

from __future__ import annotations

import runpy
from math import comb
from pathlib import Path

import numpy as np
import pytest

ATTACKS = Path(__file__).parents[2] / "examples" / "attacks"


def load():
    return runpy.run_path(str(ATTACKS / "counterexamples.py"))


def test_the_median_survives_as_often_as_counting_says() -> None:
    """The exact rate: the victim's new value is the largest, so at least one copy must sit on a record above the median."""
    example, records, step, runs = load(), 21, 5, 4000
    edits, above = step - 1, records // 2
    survives = 1 - comb(records - above, edits) / comb(records, edits)
    found = example["medians_survived"](step, records=records, runs=runs) / runs
    assert abs(found - survives) < 5 * np.sqrt(survives * (1 - survives) / runs)


def test_the_printed_secret_state_never_separates_the_worlds() -> None:
    """Theorem 3.2 as constructed: Σ 1/j² < ∞ bounds the advantage away from 1 (Kakutani); the turn-taking state is not bounded."""
    example = load()
    for epsilon in (0.1, 1.0, 2.0):
        ceilings = [example["ceiling"](example["printed_shifts"](10**power), epsilon) for power in (1, 3, 6)]
        assert ceilings == sorted(ceilings)
        assert ceilings[-1] < 1 - 1e-3
        assert ceilings[-1] - ceilings[-2] < 1e-3
    assert example["ceiling"](example["turn_taking_shifts"](10**5), 0.5) > 1 - 1e-6
    assert example["turn_taking_shifts"](10).tolist() == [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]


def test_one_release_is_as_private_as_the_laplace_mechanism_says() -> None:
    example = load()
    counts = example["measured"](np.ones(1), epsilon=1.0, runs=20_000)[0]
    exact = 1 - np.exp(-0.5)
    assert abs(counts.estimate - exact) < 5 * np.sqrt(0.5 / 20_000)


def test_randomised_response_meets_its_budget() -> None:
    example = load()
    keep, order = example["KEEP"], example["ORDER"]
    law, other = np.array([keep, 1 - keep]), np.array([1 - keep, keep])
    assert np.log((law**order * other ** (1 - order)).sum()) / (order - 1) == pytest.approx(example["DP"], rel=1e-9)
