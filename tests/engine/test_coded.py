"""Sums by lookup: within the declared rounding, the same bits in any order."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.engine import coded as module
from noisygd_delete.engine.coded import LEAST_ROWS, CodedSums
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import solve
from noisygd_delete.errors import AssumptionViolated, InvalidRecords
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.codec import RowCodec
from noisygd_delete.records import CodedRows

from .test_nested import MAP, coded, rows_of
from .test_sparse import labels_for

N = LEAST_ROWS + 1027
LOSSES = [losses.clip_loss(losses.Logistic(1.0), 0.6), losses.Softmax(1.0, classes=3), losses.PseudoHuber(1.0)]


@pytest.fixture(scope="module")
def rows() -> CodedRows:
    """Rows with gaps, amounts of 0 and unknown categories, so that their norms differ, and some null records."""
    made = coded(rows_of(N, 1))
    made.codes[::97] = 0
    return made


def objective(rows, labels, loss, **given) -> PreciseObjective:
    return PreciseObjective(Records(rows, labels, slots=N + 2), loss, regularization=0.01, **given)


def excess(rows: CodedRows, loss, weights: np.ndarray) -> float:
    """How far a gradient is from that of the whole rows, relative to the declared rounding of both."""
    labels = labels_for(loss, N)
    thin, dense = objective(rows, labels, loss), objective(np.asarray(rows), labels, loss)
    assert isinstance(thin._sums, CodedSums)
    off = np.linalg.norm(thin.gradient(weights) - dense.gradient(weights))
    return float(off) / (2 * thin.gradient_error(float(np.linalg.norm(weights))))


def test_a_solver_of_one_score_expands_no_row(rows, monkeypatch) -> None:
    monkeypatch.setattr(RowCodec, "_parts", None)
    made = objective(rows, labels_for(LOSSES[0], N), LOSSES[0])
    found = solve(made, start=None, tolerance=1e-9, strong_convexity=0.01, objective_smoothness=0.26)
    assert np.linalg.norm(made.gradient(found.weights)) < 1e-9


def test_a_sample_saves_passes_with_several_outputs(rows, monkeypatch) -> None:
    """The planted fault is a sample whose products are left out: the rounded Kronecker factors alone."""
    loss = losses.Softmax(1.0, classes=3)
    scores = np.random.default_rng(8).standard_normal((rows.shape[1], 3))
    labels = np.argmax(np.asarray(rows) @ (3 * scores), axis=1).astype(float)
    made = PreciseObjective(Records(rows, labels), loss, regularization=1e-4)
    monkeypatch.setattr(module, "_CHEAP", 1)
    monkeypatch.setattr("noisygd_delete.engine.sample._MOST_BESIDE", 9.0)

    def passes() -> int:
        found = solve(made, start=None, tolerance=1e-6, strong_convexity=1e-4, objective_smoothness=0.51)
        return found.gradient_passes - math.ceil(found.sample.passes)

    few = passes()
    monkeypatch.setattr("noisygd_delete.engine.sample._MOST_PRODUCTS", 1)
    assert 1.5 * few < passes()


def test_a_slope_beyond_the_bound_and_a_code_of_no_block_are_refused(rows) -> None:
    loss = losses.Logistic(1.0)
    steep = SimpleNamespace(
        constants=loss.constants,
        radius=1.0,
        label_kind="binary",
        outputs=1,
        derivative=lambda scores, labels, np: 1.01 + 0 * scores,
    )
    made = CodedSums.of(rows, labels_for(loss, N), steep)
    with pytest.raises(AssumptionViolated):
        made.gradient(np.zeros((1, rows.shape[1])), "float64")
    wrong = rows.copy()
    wrong.codes[5, 0] = 255
    with pytest.raises(InvalidRecords):
        CodedSums.of(wrong, labels_for(loss, N), loss)


def test_rows_of_a_hundred_norms_are_looked_up() -> None:
    """A column with gaps for each norm: no number of columns below that of the bound switches to sparse rows."""
    loss, rng = LOSSES[0], np.random.default_rng(9)
    map = Additive((0,) * 100, levels=2, amounts=tuple(range(100)))
    codec = RowCodec(map.coding)
    codes = np.where(rng.random((N, 100)) < rng.random((N, 1)), rng.integers(0, 4, (N, 100)), 4)
    rows = CodedRows(codec.to_stored(codes), codec, skips_zeros=True)
    weights = rng.standard_normal((1, codec.width))
    made = CodedSums.of(rows, labels_for(loss, N), loss)
    assert made is not None
    assert len(made._values) > 64
    assert excess(rows, loss, weights) <= 1


def test_tables_that_the_declared_rounding_does_not_cover_are_summed_otherwise(rows, monkeypatch) -> None:
    loss = LOSSES[0]
    assert CodedSums.of(rows.select(slice(LEAST_ROWS - 1)), labels_for(loss, N)[: LEAST_ROWS - 1], loss) is None
    for name in ("_MOST_FACTORS", "_MOST_CODES", "_MOST_CELLS"):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 1)
            assert CodedSums.of(rows, labels_for(loss, N), loss) is None
    assert MAP.coding is rows.codec.coding
