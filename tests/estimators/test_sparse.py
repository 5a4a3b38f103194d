"""Sparse X stays sparse from fit to predict where 0 is the middle of the bounds, and gives what dense X gives."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy import sparse

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.estimators.scaling import RowScaling

pytestmark = pytest.mark.filterwarnings("ignore::noisygd_delete.errors.ValuesClipped")  # `texts` are meant to be
WIDE = Budget(order=2, dp=100.0, deletion=10.0)
COMMON = {"budget": WIDE, "method": "noisy-gd", "regularization": 1e-2, "random_state": 0, "feature_bounds": (-2, 2)}


def texts(n: int = 300, width: int = 40, seed: int = 0) -> sparse.csr_matrix:
    """Counts beyond the bounds among them, and empty rows."""
    rng = np.random.default_rng(seed)
    return sparse.csr_matrix(np.where(rng.random((n, width)) < 0.05, rng.normal(0, 1.5, (n, width)), 0))


def labels(X, classes: int) -> np.ndarray:
    truth = np.random.default_rng(9).standard_normal((X.shape[1], classes))
    return np.array(["a", "b", "c", "d"])[(X @ truth).argmax(axis=1)]


def table_of(model) -> np.ndarray:
    records = model._curator.records
    return records.features if records.sparse is None else records.sparse.written_out()


@pytest.mark.parametrize(
    ("row_norm", "fit_intercept", "classes"),
    [("unit", True, 2), ("unit", False, 4), ("bounds", True, 4), (1.5, True, 2), (1.5, False, 2)],
)
def test_fit_and_requests_are_those_of_dense_rows(row_norm, fit_intercept: bool, classes: int) -> None:
    X = texts()
    y, new = labels(X, classes), texts(4, seed=1)
    facts = {**COMMON, "row_norm": row_norm, "fit_intercept": fit_intercept, "slots": 303}
    thin, dense = (NoisyGDClassifier(**facts).fit(rows, y) for rows in (X, X.toarray()))
    assert thin._curator.records.sparse is not None
    for each, rows in ((thin, new), (dense, new.toarray())):
        each.delete([3, 4])
        each.replace({5: (rows[:1] if each is thin else rows[0], "b"), 6: (new.toarray()[3], "a")})
        each.insert(rows[1:3], ["a", "b"])
    np.testing.assert_allclose(table_of(thin), table_of(dense), rtol=0, atol=2e-7)
    np.testing.assert_allclose(thin.model_.weights, dense.model_.weights, rtol=0, atol=2e-5)
    assert thin.release_.guarantee == dense.release_.guarantee
    assert thin.plan_ == dense.plan_


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_predictions_take_sparse_rows(make) -> None:
    X = texts()
    model = NoisyGDClassifier(**COMMON).fit(make(X), labels(X, 4))
    np.testing.assert_allclose(model.predict_proba(make(X)), model.predict_proba(X.toarray()), rtol=1e-12)
    assert (model.predict(make(X)) == model.predict(X.toarray())).mean() > 0.99
    regressor = NoisyGDRegressor(**COMMON, target_bounds=(-1, 1)).fit(make(X), X.toarray()[:, 0].clip(-1, 1))
    np.testing.assert_allclose(regressor.predict(make(X)), regressor.predict(X.toarray()), rtol=1e-12, atol=1e-12)


def test_a_value_named_twice_is_clipped_as_the_sum() -> None:
    twice = sparse.csr_matrix((np.array([1.5, 1.5, -3.0]), np.array([0, 0, 1]), np.array([0, 3])), (1, 3))
    scaling = RowScaling(np.full(3, -2.0), np.full(3, 2.0), 9.0, False)
    np.testing.assert_allclose(scaling.sparse_rows(twice).toarray(), [[1, -1, 0]])
    np.testing.assert_array_equal(twice.data, [1.5, 1.5, -3.0])


def test_an_unpickled_model_gets_its_sparse_rows_back() -> None:
    X = texts()
    y = labels(X, 2)
    model = pickle.loads(pickle.dumps(NoisyGDClassifier(**COMMON).fit(X, y)))
    assert model.attach(X, y)._curator.records.sparse is not None
    assert model.delete([7]).edits == 1


def test_a_device_from_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISYGD_DELETE_DEVICE", "cuda")
    X = texts()
    with pytest.raises(InvalidParameter, match="on the processor"):
        NoisyGDClassifier(**COMMON).fit(X, labels(X, 2))


@pytest.mark.parametrize("method", ["objective-perturbation", "output-perturbation"])
def test_a_hundred_thousand_columns_are_never_written_out(method: str) -> None:
    """Fit, delete, predict in less than a tenth of what 2,000 rows would take as an array."""
    n, width, each = 2000, 100_000, 20
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random(n * each), rng.integers(0, width, n * each), np.arange(n + 1) * each), (n, width))
    y = labels(X, 2)
    model = NoisyGDClassifier(**{**COMMON, "method": method})
    tracemalloc.start()
    model.fit(X, y).delete([3])
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * n * width / 10
    assert model.release_.gradient_passes < 40
