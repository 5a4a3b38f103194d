"""The solver's parts where a table or a function is unkind: no curvature, no slope, no finite value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from noisygd_delete import Records, losses
from noisygd_delete.bounds import solver_steps
from noisygd_delete.engine import descent
from noisygd_delete.engine import sample as sample_module
from noisygd_delete.engine.descent import lbfgs
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import minimize

from ..bank import unit_rows


def curved(seed: int, size: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    directions, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return (directions * np.exp(rng.uniform(-2, 2, size))) @ directions.T


def test_conjugate_gradients_on_differences_solve_and_stop_where_nothing_is_left() -> None:
    for seed in range(20):
        matrix, right = curved(seed), np.random.default_rng(seed).standard_normal((1, 8))
        point = np.linalg.solve(matrix, right.T).T  # where the gradient is `right`
        found, used = descent._newton_step(lambda x, matrix=matrix: x @ matrix, point, right, 8)
        assert np.linalg.norm(found @ matrix - right) <= descent._RESIDUAL * np.linalg.norm(right) * 1.001
        assert used <= 8


def test_a_direction_without_curvature_ends_the_solve_with_a_step_that_still_descends() -> None:
    """Curvature 0 or below: the answer is what was reached, or the gradient itself; a NaN counts as none."""
    right, origin = np.array([[3.0, -1.0, 2.0]]), np.zeros((1, 3))
    for function in (lambda x: right, lambda x: right - x, lambda x: x * np.nan):
        step, used = descent._newton_step(function, origin, right, 3)
        assert (step == right).all()
        assert used == 1
    half, _ = descent._newton_step(lambda x: right + x * np.array([[1.0, 4.0, -9.0]]), origin, right, 3)
    assert np.vdot(half, right) > 0


def test_a_preconditioner_that_points_uphill_is_not_followed() -> None:
    """Minus the identity, or zero, in place of an inverse Hessian: the gradient takes its place and the value falls."""
    for inverse in (lambda g: -g, lambda g: 0 * g, lambda g: g * np.nan):
        matrix, start = curved(3), np.random.default_rng(3).standard_normal((1, 8))
        found, _ = lbfgs(
            lambda x, matrix=matrix: x @ matrix, start, start @ matrix, lambda _, inverse=inverse: inverse, until=1e-6
        )
        assert np.vdot(found @ matrix, found) < np.vdot(start @ matrix, start) / 2


def test_a_wall_beyond_which_nothing_is_finite_is_backed_away_from() -> None:
    """Finite in a small ball alone: the first steps land outside it and are shortened."""
    asked = []

    def walled(x: np.ndarray):
        asked.append(float(np.linalg.norm(x)))
        return x.copy() if asked[-1] < 1.5 else np.full_like(x, np.nan)

    start = np.full((1, 4), 0.7)
    found, _ = lbfgs(walled, start, start, lambda _: lambda g: 100 * g, until=1e-8)
    assert max(asked) > 50
    assert np.linalg.norm(found) <= 1e-8


def test_a_function_whose_slope_never_falls_ends_the_search() -> None:
    calls = []

    def lying(x: np.ndarray):
        calls.append(1)
        return np.ones_like(x)

    start = np.zeros((1, 3))
    _, evaluations = lbfgs(lying, start, np.ones_like(start), lambda _: lambda g: g)
    assert evaluations == len(calls) == descent.PATIENCE
    descent.newton_cg(lying, start, passes=30)
    assert len(calls) == descent.PATIENCE + 31


def test_a_sample_that_cannot_be_factored_leaves_the_rest_to_the_caller() -> None:
    class Sample:
        latest = None

        def gradient(self, weights: np.ndarray):
            return weights

        def inverse(self, _: np.ndarray):
            raise LinAlgError("not positive definite")

    measured = []

    def function(x: np.ndarray):
        measured.append(x)
        return np.ones_like(x)

    assert minimize(Sample(), function, np.zeros((1, 2)), 1.0) is None
    assert len(measured) == 1


def test_an_inverse_that_is_known_is_where_l_bfgs_begins() -> None:
    """A chain's later minimisers take none of their own as long as that leads on."""
    matrix, taken = curved(3), []

    class Sample:
        latest = staticmethod(lambda gradient: gradient @ np.linalg.inv(matrix))
        pairs: list = []  # noqa: RUF012

        def inverse(self, weights: np.ndarray):
            taken.append(weights)
            return self.latest

    class Reached(Exception):
        pass

    def function(x: np.ndarray):
        gradient = x @ matrix - 1
        if np.linalg.norm(gradient) < 1e-9:
            raise Reached
        return gradient

    with pytest.raises(Reached):
        minimize(Sample(), function, np.zeros((1, 8)), 1.0)
    assert not taken


@pytest.mark.parametrize(("number", "width"), [(120, 3), (12, 40)])
@pytest.mark.parametrize("kind", [losses.Softmax, losses.OneVsRest])
def test_of_very_many_outputs_the_inverse_hessian_is_that_of_one_output_beside_another(
    kind: type, number: int, width: int, monkeypatch
) -> None:
    """One against the rest: every output by itself, with its own curvature. Softmax: what all outputs have in common bends nothing but λ."""
    monkeypatch.setattr(sample_module, "sample_rows", lambda **size: (number, width < number))
    outputs, regularization = sample_module._MOST_CLASSES + 4, 0.05
    rng = np.random.default_rng(5)
    rows = unit_rows(number, width).astype(np.float32)
    records = Records(rows, rng.integers(0, outputs, number).astype(float))
    loss = kind(radius=1.0, classes=outputs)
    objective = PreciseObjective(records, loss, regularization=regularization)
    sample = sample_module.Sample(objective, 1e3)
    weights = rng.standard_normal((outputs, width))
    inverse = sample.inverse(weights)
    gradient = rng.standard_normal((outputs, width))
    if kind is losses.Softmax:
        common = np.broadcast_to(gradient[:1], gradient.shape)
        np.testing.assert_allclose(inverse(common), common / regularization, rtol=1e-9)
        apart = gradient - gradient.mean(axis=0)
        np.testing.assert_allclose(inverse(apart).mean(axis=0), 0, atol=1e-9)
        assert np.vdot(inverse(apart), apart) > 0
        return
    scores = rows @ weights.T
    bend = (1 / (2 + np.exp(scores) + np.exp(-scores))).mean(axis=0)
    moment = rows.T.astype(np.float64) @ rows / len(rows)
    expected = [
        np.linalg.solve(share * moment + regularization * np.eye(width), one)
        for share, one in zip(bend, gradient, strict=True)
    ]
    np.testing.assert_allclose(inverse(gradient), expected, rtol=3e-3, atol=3e-3 * np.abs(expected).max())


def test_a_sample_is_the_largest_that_costs_what_it_may() -> None:
    """Half a pass to two, by the fourth root of κ; its side can be factored in about that time."""
    kinds = set()
    for records, features, outputs, filled in itertools.product(
        (50, 2000, 10**6), (1, 8, 300, 50_000), (1, 3), (None, 5.0)
    ):
        for condition, share in ((1.0, 0.5), (256.0, 1.0), (1e9, 2.0)):
            size = {
                "records": records,
                "features": features,
                "outputs": outputs,
                "condition_number": condition,
                "filled": filled,
            }
            rows, narrow = solver_steps.sample_rows(**size)
            cheap = solver_steps._SOLVED if outputs == 1 else solver_steps._DECOMPOSED
            side = min(solver_steps._SIDE, (cheap * records * (filled or features) * outputs) ** (1 / 3))
            work = share * 2 * records * features * outputs * solver_steps._QUICK

            assert narrow == (features <= side and features**2 / 2 * features <= work)
            longest = solver_steps.PER_FEATURE * share * features if narrow else side
            for taken, allowed in ((rows, True), (rows + 1, False)):
                product = taken * features * (features if narrow else taken) / 2
                fits = (
                    taken <= min(records, longest) and taken * features <= solver_steps.MOST_CELLS and product <= work
                )
                assert fits == allowed or (allowed and rows == 1)
            kinds.add((narrow, rows == records))
            products = rows * features * (features if narrow else rows) / 2
            cost = products / solver_steps._QUICK / (2 * records * features * outputs)
            assert solver_steps.factor_passes(**size) == pytest.approx(cost)
    assert len(kinds) == 4
