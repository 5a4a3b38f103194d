"""Sums and steps over sparse rows: those of the dense table within what is declared, and of exact arithmetic."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from noisygd_delete import EditRequest, Records, losses
from noisygd_delete.bounds.arithmetic import BLOCK, CHUNK, SPAN
from noisygd_delete.engine import sample as sample_module
from noisygd_delete.engine.objective import Objective, PreciseObjective
from noisygd_delete.engine.sample import Sample
from noisygd_delete.engine.solver import solve
from noisygd_delete.engine.sums import SparseSums, TransposableRows

LOSSES = [
    losses.Logistic(1.0),
    losses.Softmax(1.0, classes=4),
    losses.OneVsRest(1.0, classes=3),
    losses.PseudoHuber(1.0, delta=0.5),
    losses.Linear(1.0),
    losses.clip_loss(losses.Logistic(1.0), 0.4),
    losses.with_class_weights(losses.Softmax(1.0, classes=3), [1.0, 0.2, 1.0]),
]


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


def both(loss, n: int, width: int, seed: int, free: int = 3) -> tuple[Records, Records]:
    rows, labels = rows_of(n, width, seed), labels_for(loss, n, seed)
    return Records(rows, labels, slots=n + free), Records(rows.toarray(), labels, slots=n + free)


@given(
    st.sampled_from(LOSSES), st.sampled_from([1, 200, BLOCK + 1, CHUNK + 70]), st.integers(1, 60), st.integers(0, 99)
)
@settings(max_examples=30, deadline=None)
def test_sums_are_those_of_the_dense_table(loss, n: int, width: int, seed: int) -> None:
    thin, dense = (PreciseObjective(records, loss, regularization=0.01) for records in both(loss, n, width, seed))
    weights = np.random.default_rng(seed).standard_normal((loss.outputs, width))
    error = thin.gradient_error(float(np.linalg.norm(weights)))
    assert error == dense.gradient_error(float(np.linalg.norm(weights))) < 1e-10
    assert np.linalg.norm(thin.gradient(weights) - dense.gradient(weights)) <= 2 * error
    np.testing.assert_allclose(thin.gradient(weights, "float32"), dense.gradient(weights), rtol=0, atol=1e-5)
    for few in (1, 37, 1000):
        mine, theirs = thin.strided(few), dense.strided(few)
        np.testing.assert_array_equal(mine[0].toarray(), theirs[0])
        np.testing.assert_array_equal(mine[1], theirs[1])


@given(st.sampled_from(LOSSES), st.sampled_from([1, BLOCK + 1, 1000]), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_are_those_of_the_dense_table(dtype: str, loss, n: int, seed: int) -> None:
    thin, dense = both(loss, n, 40, seed)
    weights = np.random.default_rng(seed).standard_normal((loss.outputs, 40))
    facts = {"regularization": 0.01, "dtype": dtype}
    mine, theirs = Objective(thin, loss, **facts), Objective(dense, loss, **facts)
    allowed = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(mine.gradient_sum(weights), theirs.gradient_sum(weights), rtol=0, atol=allowed * n)
    np.testing.assert_allclose(mine.gradient(weights), theirs.gradient(weights), rtol=0, atol=allowed)


# -- in exact arithmetic ---------------------------------------------------------------------------------------------------


def exact_sum(rows: sparse.csr_array) -> list[Fraction]:
    """Σ x, the gradient sum of the linear loss, value by value."""
    total = [Fraction()] * rows.shape[1]
    for column, value in zip(rows.indices.tolist(), rows.data.astype(np.float32).tolist(), strict=True):
        total[column] += Fraction(value)
    return total


def cancelling(n: int = 3 * CHUNK) -> sparse.csr_array:
    """Rows that nearly cancel, first half against second, so that partial sums are large."""
    rng = np.random.default_rng(4)
    half = sparse.random_array((n // 2, 50), density=0.1, rng=rng, format="csr")
    half.data = (0.4 - rng.uniform(0, 1e-4, half.nnz)).astype(np.float32)
    half.data[::5] *= np.float32(1e-7)
    return sparse.csr_array(sparse.vstack([half, -half * (1 - 2.0**-12)], format="csr"), dtype=np.float32)


def off(computed, rows: sparse.csr_array) -> float:
    return math.sqrt(sum(float(Fraction(float(c)) - e) ** 2 for c, e in zip(computed, exact_sum(rows), strict=True)))


def test_the_bounds_cover_exact_sums() -> None:
    rows, loss = cancelling(), losses.Linear(1.0)
    n = rows.shape[0]
    records = Records(rows, np.zeros(n))
    precise = PreciseObjective(records, loss, regularization=0.0)
    assert off(precise.gradient(np.ones((1, 50)))[0] * n, rows) <= n * precise.gradient_error(math.sqrt(50))
    for dtype in ("float32", "float64"):
        steps = Objective(records, loss, regularization=0.0, dtype=dtype).gradient_sum(np.ones((1, 50)))
        roundings = BLOCK * {"float32": 2.0**-24, "float64": 2.0**-53}[dtype] + 2 * SPAN // BLOCK * 2.0**-53
        assert off(steps[0], rows) <= n * roundings  # every term no longer than 1


class Faulty(SparseSums):
    """A chunk whose values are taken from one place too early."""

    def _pieces(self, part, dtype):
        for rows, labels in super()._pieces(part, dtype):
            moved = rows.rows.copy()
            moved.data = np.roll(moved.data, 1)
            yield TransposableRows(moved, CHUNK), labels


class Forgetful(SparseSums):
    """The last piece left out."""

    def _pieces(self, part, dtype):
        return iter(list(super()._pieces(part, dtype))[:-1])


@pytest.mark.parametrize("fault", [Faulty, Forgetful])
def test_a_planted_fault_breaks_the_bound(fault) -> None:
    rows, loss = cancelling(), losses.Linear(1.0)
    n = rows.shape[0]
    records = Records(rows, np.zeros(n))
    wrong = fault(records.sparse, records.labels, loss).gradient(np.ones((1, 50)), "float64")
    right = PreciseObjective(records, loss, regularization=0.0)
    assert off(wrong[0], rows) > n * right.gradient_error(math.sqrt(50))


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


# -- the solver ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES[:4], ids=lambda loss: loss.name)
@pytest.mark.parametrize("width", [30, 3000])
def test_the_solver_takes_the_way_it_takes_on_the_dense_table(loss, width: int) -> None:
    """As many passes, to the same minimiser; on a narrow table the Hessian is taken by features, on a wide one by rows."""
    constants = loss.constants
    facts = {"strong_convexity": 0.01, "objective_smoothness": constants.smoothness + 0.01}
    thin, dense = both(loss, 1500, width, 3)
    found = [
        solve(PreciseObjective(records, loss, regularization=0.01), start=None, tolerance=1e-9, **facts)
        for records in (thin, dense)
    ]
    assert found[0].gradient_passes <= found[1].gradient_passes + 1 <= 30
    assert np.linalg.norm(found[0].weights - found[1].weights) <= 2 * 1e-9 / 0.01


@pytest.mark.parametrize("loss", LOSSES[:2], ids=lambda loss: loss.name)
def test_the_inverse_hessian_is_that_of_dense_rows(loss, monkeypatch) -> None:
    monkeypatch.setattr(sample_module, "sample_rows", lambda **size: (size["records"], False))  # of both the same
    thin, dense = both(loss, 900, 1500, 7)
    rng = np.random.default_rng(0)
    weights, gradient = rng.standard_normal((2, loss.outputs, 1500))
    steps = [
        Sample(PreciseObjective(records, loss, regularization=0.01), 50.0).inverse(weights)(gradient)
        for records in (thin, dense)
    ]
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-4, atol=1e-4 * np.abs(steps[1]).max())


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
