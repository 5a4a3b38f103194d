"""The solver's parts where a table or a function is unkind: no curvature, no slope, no finite value; and noise that must not be drawn."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from noisygd_delete.engine import quasi_newton
from noisygd_delete.engine.discrete_gaussian import MOST_BITS, discrete_gaussian
from noisygd_delete.engine.noise import SecureNoise
from noisygd_delete.engine.quasi_newton import conjugate_gradients, descend, steer


def curved(seed: int, size: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    directions, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return (directions * np.exp(rng.uniform(-2, 2, size))) @ directions.T


def test_conjugate_gradients_solve_and_stop_where_nothing_is_left() -> None:
    for seed in range(20):
        matrix, right = curved(seed), np.random.default_rng(seed).standard_normal((1, 8))
        found = conjugate_gradients(lambda x, matrix=matrix: x @ matrix, right)
        assert np.linalg.norm(found @ matrix - right) <= quasi_newton._RESIDUAL * np.linalg.norm(right) * 1.001


def test_a_direction_without_curvature_ends_the_solve_with_a_step_that_still_descends() -> None:
    """Curvature 0 or below: the answer is what was reached, or the gradient itself; a NaN counts as none."""
    right = np.array([[3.0, -1.0, 2.0]])
    for product in (lambda x: 0 * x, lambda x: -x, lambda x: x * np.nan):
        assert (conjugate_gradients(product, right) == right).all()
    half = conjugate_gradients(lambda x: x * np.array([[1.0, 4.0, -9.0]]), right)
    assert np.vdot(half, right) > 0


def quadratic(matrix: np.ndarray):
    return lambda x: (float(np.vdot(x @ matrix, x)) / 2, x @ matrix)


def test_a_preconditioner_that_points_uphill_is_not_followed() -> None:
    """Minus the identity, or zero, in place of an inverse Hessian: the gradient takes its place and the value falls."""
    for inverse in (lambda g: -g, lambda g: 0 * g, lambda g: g * np.nan):
        matrix, start = curved(3), np.random.default_rng(3).standard_normal((1, 8))
        found = descend(quadratic(matrix), start, lambda _, inverse=inverse: inverse, until=1e-6)
        assert quadratic(matrix)(found)[0] < quadratic(matrix)(start)[0] / 2


def test_a_wall_of_infinite_values_is_backed_away_from() -> None:
    """Finite in a small ball alone: the first steps land outside it and are shortened."""
    asked = []

    def walled(x: np.ndarray):
        asked.append(float(np.linalg.norm(x)))
        inside = asked[-1] < 1.5
        return (float(np.vdot(x, x)) / 2 if inside else np.inf), x.copy()

    start = np.full((1, 4), 0.7)
    found = descend(walled, start, lambda _: lambda g: 100 * g, until=1e-8)
    assert max(asked) > 50
    assert np.linalg.norm(found) <= 1e-8


def test_a_function_that_never_falls_ends_the_search_where_it_began() -> None:
    calls = []

    def lying(x: np.ndarray):
        calls.append(1)
        return float(len(calls)), np.ones_like(x)  # each value above the last, a slope all the while

    start = np.zeros((1, 3))
    assert (descend(lying, start, lambda _: lambda g: g) == start).all()
    assert len(calls) <= quasi_newton._MOST


def test_a_sample_that_cannot_be_factored_leaves_the_rest_to_the_caller() -> None:
    class Sample:
        share, passes = 1.0, 0.0

        def inverse(self, _: np.ndarray):
            raise LinAlgError("not positive definite")

    measured = []

    def function(x: np.ndarray):
        measured.append(x)
        return 1.0, np.ones_like(x)

    assert steer(Sample(), function, np.zeros((1, 2)), cold=True) is None
    assert len(measured) == 1


@pytest.mark.parametrize("bits", [-1, MOST_BITS + 1, 64])
def test_a_discrete_gaussian_beyond_its_integers_is_refused(bits) -> None:
    with pytest.raises(ValueError, match="bits"):
        discrete_gaussian(3, SecureNoise(), bits=bits)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("draw", [lambda noise: noise.normal((2,)), lambda noise: noise.words(2)])
def test_a_source_that_crossed_a_fork_draws_neither_numbers_nor_words(draw, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = SecureNoise()
    assert len(draw(noise)) == 2
    monkeypatch.setattr(os, "getpid", lambda: 1)  # what a child of this process would see is another number
    with pytest.raises(RuntimeError, match="crossed a fork"):
        draw(noise)
