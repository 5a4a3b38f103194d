"""Rivals at equal ε: what is said of their relation holds by their own densities, and factors of streams are those of known mechanisms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks import rivals

GRID = np.linspace(-60, 60, 200_001)  # of weights, in one dimension
OTHERS = np.array([1.0, -1.0])  # rows of norm 1, all with label 1


def losses_at(weights: np.ndarray, rows: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative of the sum of the logistic losses of rows with label 1, with its ridge."""
    chance = 1 / (1 + np.exp(-np.multiply.outer(rows, weights)))
    return ridge * weights - (rows @ (1 - chance)), ridge + (rows**2) @ (chance * (1 - chance))


def log_density(rows: np.ndarray, ridge: float, log_noise: object) -> np.ndarray:
    """Of the minimiser of the losses with a random linear term, at the points of the grid."""
    slope, curvature = losses_at(GRID, rows, ridge)
    return log_noise(-slope) + np.log(curvature)  # type: ignore[operator]


def diffprivlib_loss(epsilon: float, *worlds: np.ndarray) -> float:
    """Largest |log ratio| of the densities of diffprivlib 0.6.6's weights (mechanisms.Vector, C = 1) at its ε."""
    ridge, curvature = 1.0, 0.25
    rest = epsilon - 2 * np.log(1 + curvature / ridge)
    assert rest > 0
    first, second = (log_density(rows, ridge, lambda tilt: -np.abs(tilt) * rest / 2) for rows in worlds)
    return float(np.abs(first - second).max())


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_diffprivlib_at_twice_epsilon_is_epsilon_private_for_an_empty_slot(epsilon: float) -> None:
    rows = np.append(OTHERS, 1.0)
    assert 0.5 * epsilon < diffprivlib_loss(rivals.REPLACED * epsilon, rows, OTHERS) <= epsilon
    assert diffprivlib_loss(1.5 * rivals.REPLACED * epsilon, rows, OTHERS) > epsilon, "a wrong factor must be seen"


def excess(epsilon: float, ridge: float, scale: float, first: np.ndarray, second: np.ndarray) -> float:
    """δ of the weights under a Gaussian linear term at this ε, in the costlier direction."""
    one, two = (np.exp(log_density(rows, ridge, norm(scale=scale).logpdf)) for rows in (first, second))
    step = GRID[1] - GRID[0]
    return max(float(np.clip(a - np.exp(epsilon) * b, 0, None).sum() * step) for a, b in ((one, two), (two, one)))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_generalized_perturbation_keeps_epsilon_and_delta_for_an_empty_slot(epsilon: float) -> None:
    rows = np.append(OTHERS, 1.0)
    ridge, scale = rivals.objective_noise(epsilon, rivals.DELTA)
    assert excess(epsilon, ridge, scale, rows, OTHERS) <= rivals.DELTA
    assert excess(epsilon, ridge, scale / 3, rows, OTHERS) > rivals.DELTA, "too little noise must be seen"


def square_root(releases: int) -> np.ndarray:
    """Coefficients of the square root of the matrix of running sums (Fichtenberger, Henzinger & Upadhyay 2023)."""
    places = np.arange(1, releases)
    return np.cumprod(np.append(1.0, (2 * places - 1) / (2 * places)))


@pytest.mark.parametrize(("releases", "root", "first", "joins"), [(101, 10.0, 7.6, 14.1), (1001, 17.7, 23.2, 45.0)])
def test_factors_of_streams(releases: int, root: float, first: float, joins: float) -> None:
    factors = rivals.factors_of(square_root(releases))
    assert round(factors.joins_and_leaves, 1) == root
    assert factors.never_leaves < 0.7 * root, "who forgets that rows leave understates the square root"
    assert factors.mean < factors.joins_and_leaves
    assert round(rivals.stateless_factor(releases, False), 1) == first
    assert round(rivals.stateless_factor(releases, True), 1) == joins


def test_fresh_noise_costs_a_release_each() -> None:
    """C = A, the running sums themselves: every release has noise of its own, and a row is in all of them."""
    factors = rivals.factors_of(np.ones(20))
    assert factors == pytest.approx((20.0, 20.0, 20.0, 20.0))
