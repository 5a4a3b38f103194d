"""The solver's answer beside scikit-learn's, and the rounding of its measured gradient in exact arithmetic."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisygd_delete import Records, losses
from noisygd_delete.bounds.arithmetic import gradient_error
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import certified_norm, solve

TOLERANCE = 1e-9


def table(classes: int = 2, records: int = 2500, features: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(20)
    rows = rng.standard_normal((records, features)) * np.geomspace(1, 0.05, features)
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32) * np.float32(0.999)
    scores = 4 * rows @ rng.standard_normal((features, classes)) + rng.gumbel(size=(records, classes))
    return rows, scores.argmax(1)


def solved(loss, rows, labels, regularization: float) -> np.ndarray:
    constants = loss.constants
    return solve(
        PreciseObjective(Records(rows, labels), loss, regularization=regularization),
        start=None,
        tolerance=TOLERANCE,
        strong_convexity=regularization - constants.weak_convexity,
        objective_smoothness=regularization + constants.smoothness,
    ).weights


@pytest.mark.parametrize("regularization", [1e-2, 1e-4])
@pytest.mark.parametrize("classes", [2, 4])
def test_it_is_scikit_learns_minimiser(classes, regularization) -> None:
    rows, labels = table(classes)
    loss = losses.Logistic(1.0) if classes == 2 else losses.Softmax(1.0, classes=classes)
    ours = solved(
        loss, rows, np.where(labels == 1, 1.0, -1.0) if classes == 2 else labels.astype(float), regularization
    )
    rival = LogisticRegression(
        C=1 / (regularization * len(rows)), fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000
    ).fit(rows.astype(np.float64), labels)
    np.testing.assert_allclose(ours, rival.coef_, rtol=0, atol=3e-9 / regularization)
    assert np.abs(ours).max() > 0.5


def exact_gradient(rows, labels, weights, regularization) -> list[mpmath.mpf]:
    """∇L_D of the logistic loss in 60 digits, from the numbers as they are stored."""
    with mpmath.workdps(60):
        theta = [mpmath.mpf(float(w)) for w in weights]
        total = [mpmath.mpf(0)] * len(theta)
        for row, label in zip(rows, labels, strict=True):
            x, y = [mpmath.mpf(float(v)) for v in row], int(label)
            slope = -y / (1 + mpmath.exp(y * mpmath.fdot(theta, x)))
            total = [t + slope * v for t, v in zip(total, x, strict=True)]
        return [t / len(rows) + mpmath.mpf(regularization) * w for t, w in zip(total, theta, strict=True)]


def error_of(computed: np.ndarray, exact: list[mpmath.mpf]) -> float:
    with mpmath.workdps(60):
        squares = [(mpmath.mpf(float(c)) - e) ** 2 for c, e in zip(computed, exact, strict=True)]
        return float(mpmath.sqrt(mpmath.fsum(squares)))


def cancelling(size: float) -> tuple[np.ndarray, np.ndarray]:
    """One row many times, whose score is the small difference of two large products: every record errs alike."""
    row = np.array([[0.7, -0.7, 0.1]], np.float32)
    return np.repeat(row, 40, axis=0), size / 3 * np.array([1 + 2.0**-30 / 7, 1.0, 1e-9 / size])


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8])
def test_the_rounding_bound_holds_where_scores_cancel(size) -> None:
    rows, weights = cancelling(size)
    labels, loss = np.ones(len(rows)), losses.Logistic(1.0)
    objective = PreciseObjective(Records(rows, labels), loss, regularization=1e-9)
    error = error_of(objective.gradient(weights[None])[0], exact_gradient(rows, labels, weights, 1e-9))
    norm = float(np.linalg.norm(weights))
    assert error <= objective.gradient_error(norm)
    forgotten = gradient_error(
        lipschitz=1.0, curvature=0.0, outputs=1, records=40, features=3, regularization=1e-9, weights_norm=norm
    )
    if size == 1e8:  # planted fault: a bound that forgets the rounding of scores is broken
        assert error > forgotten


@pytest.mark.parametrize("records", [300, 3000])
def test_the_rounding_bound_holds_for_sums_and_float32_breaks_it(records) -> None:
    """Terms of one sign and of many sizes, so that every addition rounds; and the certified norm covers the true one."""
    rng = np.random.default_rng(3)
    rows = np.abs(rng.standard_normal((records, 5)))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True) * rng.random((records, 1))).astype(np.float32)
    labels, weights, loss = np.ones(records), rng.standard_normal(5), losses.Logistic(1.0)
    objective = PreciseObjective(Records(rows, labels), loss, regularization=1e-3)
    exact, norm = exact_gradient(rows, labels, weights, 1e-3), float(np.linalg.norm(weights))
    measured = objective.gradient(weights[None])
    assert error_of(measured[0], exact) <= objective.gradient_error(norm)
    assert error_of(objective.gradient(weights[None], "float32")[0], exact) > objective.gradient_error(norm)
    with mpmath.workdps(60):
        true = float(mpmath.sqrt(mpmath.fsum(e**2 for e in exact)))
    assert true <= certified_norm(objective, weights[None], measured) <= true * (1 + 1e-9)


def test_the_length_of_a_very_long_gradient_is_rounded_up(monkeypatch) -> None:
    """Of 10⁶ equal numbers the computed norm may fall short by more than 10⁻¹² of itself; what is certified does not."""
    objective = PreciseObjective(Records(np.zeros((4, 2)), np.ones(4)), losses.Logistic(1.0), regularization=1e-3)
    gradient = np.full((1, 1_000_000), 1e-5 / 3)
    exact = math.sqrt(math.fsum(float(g) ** 2 for g in gradient[0]))
    monkeypatch.setattr(PreciseObjective, "gradient_error", lambda *_: 0.0)
    monkeypatch.setattr(
        np.linalg, "norm", lambda vector: exact * (1 - 1e-10)
    )  # worse than D·2⁻⁵³ = 1.1e-10 it cannot be
    assert certified_norm(objective, np.zeros((1, 2)), gradient) >= exact
