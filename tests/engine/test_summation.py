"""The rounding of a sum does not grow with its terms: against exact sums, over very many parts, which a running sum fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import optimize

from noisygd_delete import Curator, Execution, Records, losses
from noisygd_delete.bounds import arithmetic
from noisygd_delete.engine import moments as moments_module
from noisygd_delete.engine import objective as clipped
from noisygd_delete.engine import sums as sums_held
from noisygd_delete.engine.kernel import sum_pairwise
from noisygd_delete.engine.objective import ClippedObjective, PreciseObjective
from noisygd_delete.engine.sums import HeldSums, RowsElsewhere
from noisygd_delete.losses import multilayer_perceptron as perceptron
from noisygd_delete.losses.base import Loss
from tests.bank import sized_plan

from ..sources.clusters.in_process import in_partitions

Tree = Callable[[Any, tuple[int, ...]], np.ndarray]


def running(parts: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The planted fault: one part after another."""
    total = np.zeros(shape)
    for part in parts:
        total = total + part
    return total


def columns(many: int) -> dict[str, np.ndarray]:
    """Terms of length 1 at most, so many of each kind."""
    rng, half = np.random.default_rng(0), many // 2
    falling = np.geomspace(1.0, 1e-12, many)
    return {
        "all the same": np.full(many, 0.1),
        "falling": falling,
        "rising": falling[::-1].copy(),
        "nearly cancelling neighbours": np.repeat(rng.uniform(0.9, 1.0, half), 2)
        * np.tile([1.0, -1.0 + 2.0**-30], half),
        "first half against second": np.concatenate([np.full(half, 0.1), np.full(half, -0.1 * (1 - 1e-9))]),
    }


def errors(adding: Tree, many: int) -> dict[str, float]:
    """How far each sum is off, over u Σ|term|."""
    kinds = columns(many)
    rows = np.stack(list(kinds.values()), axis=1)
    found = adding(iter(rows), (len(kinds),))
    exact = {name: Fraction(math.fsum(terms)) for name, terms in kinds.items()}  # correctly rounded
    return {
        name: float(abs(Fraction(float(value)) - exact[name]) / Fraction(math.fsum(abs(kinds[name])))) * 2.0**53
        for name, value in zip(kinds, found, strict=True)
    }


@pytest.mark.parametrize("many", [1 << 16, pytest.param(10**6, marks=pytest.mark.long)])
def test_the_rounding_of_very_many_parts_is_that_of_a_few_additions(many: int) -> None:
    deep = math.ceil(math.log2(many))
    assert max(errors(sum_pairwise, many).values()) <= deep + 1, "one more for the oracle's own rounding"
    assert max(errors(running, many).values()) > 100 * deep, "a running sum is noticed"


@pytest.fixture
def chunks_of_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Very many chunks in a table of moderate size: the bound counts chunks as the engine makes them."""
    monkeypatch.setattr(sums_held, "CHUNK", 1)
    for name in ("CHUNK", "BLOCK", "MOST_PROCESSES"):
        monkeypatch.setattr(arithmetic, name, 1)


def alike(rows: int) -> tuple[Records, np.ndarray, Fraction]:
    """Rows that are all the same, weights at which a running sum of these gradients drifts, and their mean to 45 digits."""
    weight = 0.28125
    with mpmath.workdps(50):
        slope = -1 / (1 + mpmath.exp(mpmath.mpf(weight) / 2))
        true = Fraction(str(mpmath.nstr(slope / 2, 45)))
    return Records(np.full((rows, 1), 0.5), np.ones(rows)), np.array([[weight]]), true


def off(objective: PreciseObjective, weights: np.ndarray, true: Fraction) -> float:
    """The error of a measured gradient, over its declared rounding."""
    found = Fraction(float(objective.gradient(weights)[0, 0]))
    return float(abs(found - true)) / objective.gradient_error(float(np.linalg.norm(weights)))


@pytest.mark.parametrize("holder", ["memory", "partitions"])
def test_very_many_chunks_and_partitions_stay_within_the_declared_rounding(
    holder: str, chunks_of_one_row: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, weights, true = alike(4_000)
    held = records if holder == "memory" else in_partitions(records, records.slots)
    objective = PreciseObjective(held, losses.Logistic(1.0), regularization=0.0)
    assert off(objective, weights, true) <= 1
    monkeypatch.setattr(sums_held, "sum_pairwise", running)
    monkeypatch.setattr("noisygd_delete_sources.workers.table.sum_pairwise", running)
    assert off(objective, weights, true) > 1, "a running sum is noticed"


class Repeated(RowsElsewhere):
    """A small table, every row of it there `times` times, a power of two: no sum of it rounds otherwise than the small one's."""

    def __init__(self, records: Records, times: int) -> None:
        self.records, self.times = records, times

    @property
    def slots(self) -> int:
        return self.records.slots * self.times

    @property
    def width(self) -> int:
        return self.records.width

    def check(self, loss: Loss, variances: np.ndarray | None) -> None:
        pass

    def sums(self, loss: Loss) -> RepeatedSums:
        return RepeatedSums(self, HeldSums(self.records.features, self.records.labels, loss))


class RepeatedSums:
    def __init__(self, table: Repeated, held: HeldSums) -> None:
        self.held, self.times, self.slots, self.width = held, table.times, table.slots, table.width

    def gradient(self, weights: np.ndarray, dtype: str) -> np.ndarray:
        return self.held.gradient(weights, dtype) * self.times

    def strided(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        return self.held.strided(min(rows, self.held.slots))


@pytest.mark.parametrize(
    ("slots", "d", "regularization"), [(10**9, 4, 0.1), (10**10, 4, 0.1), (10**9, 100, 3e-4), (10**10, 100, 3e-3)]
)
def test_there_are_plans_and_releases_for_ten_billion_rows(slots: int, d: int, regularization: float) -> None:
    """Refused while chunks were added one after another. A release is the minimiser to within tolerance and noise."""
    rng = np.random.default_rng(1)
    times = 1 << (slots // 4000).bit_length()
    rows = (rng.uniform(-0.99, 0.99, (slots // times + 1, d)) / math.sqrt(d)).astype(np.float32)
    labels = np.where(rows @ np.ones(d) + rng.standard_normal(len(rows)) / 4 > 0, 1.0, -1.0)
    table = Repeated(Records(rows, labels), times)
    assert table.slots >= slots
    loss = losses.Logistic(1.0)
    plan = sized_plan(
        loss, table.slots, d, regularization, method="objective-perturbation", utility=False
    ).allow_any_order()
    release = Curator(table, plan).learn(execution=Execution(rng=np.random.default_rng(3)))
    signed = rows.astype(np.float64) * labels[:, None]

    def gradient(weights: np.ndarray) -> np.ndarray:
        return -signed.T @ (1 / (1 + np.exp(signed @ weights))) / len(rows) + regularization * weights

    exact = optimize.root(gradient, np.zeros(d), tol=1e-14).x
    noise = plan.calibration.linear_term / table.slots / regularization + plan.calibration.output_noise
    apart = np.linalg.norm(release.model.weights - exact)
    assert apart <= plan.learning.start.tolerance / regularization + 6 * math.sqrt(d) * noise
    assert np.linalg.norm(exact) > 1e5 * apart


@pytest.mark.parametrize("which", ["moments", "network of this package"])
def test_other_sums_over_a_table_are_added_in_a_tree_too(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 1 << 14
    records = Records(np.full((many, 1), 0.1, np.float32), np.ones(many))
    value = float(np.float32(0.1))
    if which == "moments":
        monkeypatch.setattr(moments_module, "_BLOCK", 1)

        def off() -> float:
            return abs(moments_module.compute_moments(records, outputs=1, radius=1.0)[1][0, 0] / many / value**2 - 1)
    else:
        loss = losses.MultilayerPerceptron(1.0, hidden=1, clip=1e-3)
        monkeypatch.setattr(perceptron, "_BLOCK", 1)
        weights = np.array([[0.7, -0.3]])
        one = loss.clipped_sum(weights, records.features[:1], records.labels[:1])

        def off() -> float:
            found = ClippedObjective(records, loss, regularization=0.0).gradient(weights)[0]
            return float(np.abs(found / one - 1).max())

    assert off() <= 16 * 2.0**-53
    monkeypatch.setattr(moments_module, "sum_pairwise", running)
    monkeypatch.setattr(clipped, "sum_pairwise", running)
    assert off() > 100 * 2.0**-53, "a running sum is noticed"
