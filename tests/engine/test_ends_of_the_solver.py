"""The solver's parts where a table or a function is unkind: no curvature, no slope, no finite value."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from noisygd_delete import Records, losses
from noisygd_delete.bounds import solver_steps
from noisygd_delete.engine import descent, solver
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


@pytest.mark.parametrize(
    ("slopes", "length"),
    [
        ([1.0], 1.0),
        ([-0.8], 1.0),  # opposite, and just not too far
        ([-0.81, 0.0], 1 / 1.81),  # the zero of a linear derivative
        ([-3.0, -1.0, 0.0], 1 / 8),
        ([-99.0, 0.0], 0.1),  # no less than a tenth at a time
        ([np.nan, np.inf * -1, 0.5], 0.01),
        ([-9.0] * 39 + [-5.0], 1e-39),  # forty times are all
    ],
)
def test_a_step_is_shortened_until_it_is_not_too_far(slopes: list[float], length: float) -> None:
    point, step, left = np.array([[3.0, 1.0]]), np.array([[2.0, 0.0]]), list(slopes)
    moved, gradient, used = descent.search_along(lambda at: np.array([[left.pop(0) / 2, 7.0]]), point, step, 1.0)
    np.testing.assert_allclose(moved, point - length * step, rtol=1e-12, atol=1e-300)
    assert (used, left, gradient[0, 1]) == (len(slopes), [], 7.0)
    assert gradient[0, 0] == slopes[-1] / 2


def test_two_loops_are_the_product_with_the_matrix_of_the_pairs() -> None:
    """The BFGS update of the inverse, H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ, oldest pair first."""
    rng, matrix, initial = np.random.default_rng(6), curved(6), np.diag(np.arange(1.0, 9.0))
    inverse, pairs = initial, []
    for _ in range(3):
        change = rng.standard_normal((1, 8))
        bend = change @ matrix
        weight = 1 / float(np.vdot(change, bend))
        pairs.append((change, bend, weight))
        left = np.eye(8) - weight * change.T @ bend
        inverse = left @ inverse @ left.T + weight * change.T @ change
    gradient = rng.standard_normal((1, 8))
    np.testing.assert_allclose(
        descent._two_loops(gradient, pairs, lambda g: g @ initial), gradient @ inverse, rtol=1e-9
    )


def descended(factors: list[float], start: float = 1.0, **options) -> tuple[int, list[int], list]:
    """Evaluations of L-BFGS where the gradient is multiplied by these factors in turn; when an inverse was asked for; the pairs."""
    norm, asked, calls, pairs = [start], [], [0], []

    def function(at: np.ndarray) -> np.ndarray:
        norm[0] *= factors[calls[0] % len(factors)]
        calls[0] += 1
        return np.array([[norm[0]]])

    def inverse(at: np.ndarray):
        asked.append(calls[0])
        return np.copy

    _, used = lbfgs(function, np.zeros((1, 1)), np.array([[start]]), inverse, pairs=pairs, **options)
    assert used == calls[0]
    return used, asked, pairs


@pytest.mark.parametrize(
    ("factors", "options", "expected"),
    [
        ([0.5], {"until": 1.0}, 0),
        ([0.5], {"until": 0.5}, 1),
        ([0.5], {"until": 0.49}, 2),
        ([0.99], {"most": 7}, 7),
        ([0.99], {"most": 0}, 0),
        ([1.0], {}, descent.PATIENCE),
        ([1.0] * 49 + [0.5], {"until": 0.1}, 200),  # it halves just in time: 1/2, 1/4, 1/8, 1/16
        ([1.0] * 49 + [0.51], {}, descent.PATIENCE),
        ([1.0] * 50 + [0.5] * 50, {"until": 1e-12}, descent.PATIENCE),  # and not a step later
        ([0.4] + [1.0] * 49 + [2.5] + [1.0] * 49, {}, 100),  # the least so far counts, not the last
    ],
)
def test_l_bfgs_ends_where_it_says(factors: list[float], options: dict, expected: int) -> None:
    used, asked, _ = descended(factors, **options)
    assert used == expected
    assert asked == list(range(0, expected, descent.RENEWED))


def test_pairs_of_no_curvature_are_not_kept_and_the_newest_are() -> None:
    """Steps go down by the gradient; where it grows on the way, the pair has negative curvature."""
    assert len(descended([0.9], most=15)[2]) == 15
    assert len(descended([0.9], most=descent.MEMORY + 9)[2]) == descent.MEMORY
    assert not descended([1.1], most=15)[2]
    change, bend, weight = descended([0.9], most=1)[2][0]
    np.testing.assert_allclose([change[0, 0], bend[0, 0], weight], [-1.0, -0.1, 10.0])


def test_the_first_step_goes_where_it_is_told_to() -> None:
    matrix, start, target = curved(4), np.ones((1, 8)), np.full((1, 8), 0.25)
    seen: list[np.ndarray] = []

    def function(at: np.ndarray) -> np.ndarray:
        seen.append(at)
        return at @ matrix

    lbfgs(function, start, start @ matrix, lambda _: np.copy, first=target, most=1)
    np.testing.assert_allclose(seen[0], target)
    lbfgs(function, start, start @ matrix, lambda _: lambda g: g / 8, first=start, most=1)
    np.testing.assert_allclose(seen[1], start - start @ matrix / 8)


@pytest.mark.parametrize("most", [1, 3, 8, 20])
@pytest.mark.parametrize("residual", [1e-7, 0.3])
def test_preconditioned_products_solve_to_the_residual_or_as_many_times_as_they_may(most: int, residual: float) -> None:
    """Beside conjugate directions by Gram-Schmidt: after k products the best point of the k-th Krylov space, in the norm of H."""
    matrix, approximate = curved(9), np.diag(np.linspace(0.5, 2, 8))
    right = np.random.default_rng(9).standard_normal((1, 8))
    found, used = descent.solve_by_products(lambda v: v @ matrix, right, residual, most, lambda v: v @ approximate)
    krylov = [right @ approximate]
    while len(krylov) < 8:
        krylov.append(krylov[-1] @ matrix @ approximate)

    def best(number: int) -> np.ndarray:
        basis = np.linalg.qr(np.concatenate(krylov[:number]).T)[0].T
        return np.linalg.solve(basis @ matrix @ basis.T, basis @ right.T).T @ basis

    def left(solution: np.ndarray) -> float:
        rest = right - solution @ matrix
        return float(np.sqrt(np.vdot(rest, rest @ approximate) / np.vdot(right, right @ approximate)))

    enough = next(k for k in range(1, 9) if left(best(k)) <= residual or k == 8)
    assert used == min(most, enough)
    np.testing.assert_allclose(found, best(used), rtol=1e-5, atol=1e-7)


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


FLOOR = solver._FLOOR


@pytest.mark.parametrize(
    ("norms", "tolerance", "kinds"),
    [
        ([1.0, 0.2, 0.011, 0.5], 1e-3, "ssss"),
        ([1.0, 0.2, 0.009, 0.5], 1e-3, "sssd"),  # a tenth of 0.009, the most that is expected of a step, would do
        ([0.011, 0.02, 0.02], 1e-3, "sss"),
        ([0.02, 1e-3, 1.1e-3, 1.0], 1e-3, "ssdd"),  # what float32 counts as within is measured again
        ([15 * FLOOR, 8 * FLOOR, 1.0], 0.0, "ssd"),  # it stalls where float32 ends
        ([16 * FLOOR, 8 * FLOOR, 1.0], 0.0, "sss"),
        ([40 * FLOOR, 39 * FLOOR, 1.0], 0.0, "sss"),
        ([5 * FLOOR, 1.0], 0.0, "sd"),
    ],
)
def test_points_are_measured_in_float32_where_it_can_tell_and_may_be_far(
    norms: list, tolerance: float, kinds: str
) -> None:
    left, asked, best = list(norms), [], math.inf

    def gradient(weights: np.ndarray, dtype: str = "float64") -> np.ndarray:
        asked.append({"float32": "s", "float64": "d"}[dtype])
        return np.array([[left.pop(0)]])

    objective = SimpleNamespace(
        shape=(1, 1), gradient=gradient, gradient_error=lambda size: 0.0, loss=losses.Logistic(radius=1.0)
    )
    measured = solver._Measured(objective, tolerance, len(norms))
    while left:
        place = np.array([[float(len(left))]])
        found = measured.quick(place)[0, 0]
        best = min(best, found)
        assert (measured.point is place) == (found == best)
    assert "".join(asked) == kinds
    assert measured.passes == len(norms)
    with pytest.raises(solver._Spent):
        measured.quick(place)


@pytest.mark.parametrize(("warm", "most"), [(False, 1), (True, solver._AT_HAND)])
@pytest.mark.parametrize("more", [0, 1])
def test_the_hessian_of_the_start_serves_as_long_as_the_first_step_was_short(warm, most, more, monkeypatch) -> None:
    made, descents = iter("abcdefgh"), []
    sample = SimpleNamespace(
        latest=None, even=False, pairs=[], inverse=lambda weights: next(made), gradient=lambda weights: weights
    )

    def descend(function, point, gradient, inverse, **options):
        descents.append("".join(inverse(point) for _ in range(2)))
        return point, most + more

    monkeypatch.setattr(solver, "lbfgs", descend)
    minimize(sample, lambda weights: weights + 1, np.ones((1, 2)), 1.0, warm=warm)
    assert descents == ["ab", "cd" if more else "ac"]


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
