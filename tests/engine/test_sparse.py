"""Sparse rows: what one of them moves, and what is held for them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from noisygd_delete import EditRequest, Records, losses
from noisygd_delete.bounds.arithmetic import BLOCK
from noisygd_delete.engine.objective import Objective, PreciseObjective
from noisygd_delete.engine.sample import Sample
from noisygd_delete.engine.solver import solve


def rows_of(n: int, width: int, seed: int, filled: float = 0.05) -> sparse.csr_array:
    """Rows over eight decades of norm, some of them empty."""
    rng = np.random.default_rng(seed)
    whole = np.where(rng.random((n, width)) < filled, rng.standard_normal((n, width)), 0.0)
    norms = np.maximum(np.linalg.norm(whole, axis=1), 1e-300)
    return sparse.csr_array(whole * (10.0 ** rng.uniform(-8, 0, n) / norms * (1 - 2.0**-20))[:, None])


def labels_for(loss, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    kinds = {"binary": rng.choice([-1.0, 1.0], n), "class": rng.integers(0, loss.outputs, n).astype(float)}
    return kinds.get(loss.label_kind, rng.uniform(-1, 1, n))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_row_moves_its_own_block_alone(dtype: str) -> None:
    """What the declared sensitivity rests on: spans and blocks that the row is not in are the same bits."""
    loss, rows = losses.Logistic(1.0), rows_of(5 * BLOCK, 40, 2)
    records = Records(rows, labels_for(loss, 5 * BLOCK, 2))
    weights = np.random.default_rng(0).standard_normal((40, 1)).astype(dtype)

    def block_sums():
        steps = Objective(records, loss, regularization=0.0, dtype=dtype)
        labels, parts = steps._labels, []
        for block in range(5):
            steps._labels = labels[: (block + 1) * BLOCK]
            parts.append(steps._sparse_span(weights, block * BLOCK))
        return np.array(parts)

    before = block_sums()
    records.edit(EditRequest.replace({2 * BLOCK + 7: (np.full(40, 0.15), 1.0)}))
    changed = (before != block_sums()).any(axis=(1, 2))
    assert changed.tolist() == [False, False, True, False, False]


def test_nothing_as_large_as_the_dense_table_is_made() -> None:
    """d = 10⁵: no table of features by features, and no sample of rows written out."""
    width = 100_000
    rng = np.random.default_rng(1)
    starts, columns = np.arange(501) * 10, rng.integers(0, width, 5000)
    rows = sparse.csr_matrix((np.full(5000, 0.3), columns, starts), (500, width))
    records, loss = Records(rows, rng.choice([-1.0, 1.0], 500)), losses.Logistic(1.0)
    tracemalloc.start()
    solve(
        PreciseObjective(records, loss, regularization=0.01),
        start=None,
        tolerance=1e-8,
        strong_convexity=0.01,
        objective_smoothness=0.26,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 500 * width / 4


def test_the_sample_of_sparse_rows_is_as_large_as_their_passes_pay_for() -> None:
    """A pass costs what is not 0, so a factor that costs as much is of fewer rows than a dense table of that width would get."""
    loss, n, width = losses.Logistic(1.0), 4000, 1500
    thin = Records(rows_of(n, width, 1, filled=0.02), labels_for(loss, n, 1))
    full = Records(thin.sparse.written_out(), thin.labels)
    few, many = (Sample(PreciseObjective(r, loss, regularization=1e-3), 250.0) for r in (thin, full))
    assert not few.narrow
    assert few._rows.shape[0] <= 0.7 * many._rows.shape[0]
    direction = np.random.default_rng(0).standard_normal((1, width))
    moved = few.inverse(np.zeros((1, width)))(direction)
    assert float(np.vdot(moved, direction)) > 0  # a descent direction still
