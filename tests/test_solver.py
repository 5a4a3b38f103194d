"""The solver reaches its tolerance whatever the data, measured by other arithmetic than its own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.engine import Objective, solver
from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.engine.solver import proven_steps, solve
from noisygd_delete.errors import AssumptionViolated
from noisygd_delete.losses import LossConstants


def true_gradient(records: Records, loss, regularization: float, weights: np.ndarray) -> np.ndarray:
    """∇L_D in 80-bit arithmetic, record by record, from the definition of each loss."""
    rows, labels = records.features.astype(np.longdouble), records.labels.astype(np.longdouble)
    theta = weights.astype(np.longdouble)
    scores = rows @ theta.T
    if loss.name == "logistic":
        slopes = (-labels / (1 + np.exp(labels * scores[:, 0])))[:, None]
    elif loss.name == "sigmoid":
        s = 1 / (1 + np.exp(labels * scores[:, 0]))
        slopes = (-labels * s * (1 - s))[:, None]
    elif loss.name == "pseudo-huber":
        residual = scores[:, 0] - labels
        slopes = (residual / np.sqrt(1 + (residual / loss.delta) ** 2))[:, None]
    elif loss.name == "linear":
        slopes = np.ones_like(scores)
    else:
        chosen = np.eye(loss.classes)[labels.astype(int)]
        if loss.name == "softmax":
            powers = np.exp(scores - scores.max(1, keepdims=True))
            slopes = powers / powers.sum(1, keepdims=True) - chosen
        else:
            slopes = 1 / (1 + np.exp(-scores)) - chosen
    return slopes.T @ rows / len(rows) + np.longdouble(regularization) * theta


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) * (1 - 1e-6)


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(3)
    plain = unit(rng.standard_normal((300, 6)))
    binary = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    wide = unit(rng.standard_normal((20, 90)))
    one = np.zeros((300, 6))
    one[7, 2] = 1
    scaled = plain * np.logspace(0, -6, 6)
    return {
        "random labels": (plain, binary),
        "separable": (plain, np.where(plain[:, 0] > 0, 1.0, -1.0)),
        "one row 300 times": (np.repeat(plain[:1], 300, axis=0), binary),
        "one row, both labels": (np.repeat(plain[:1], 300, axis=0), np.tile([1.0, -1.0], 150)),
        "all null": (np.zeros((300, 6)), np.zeros(300)),
        "one record": (one, np.where(np.arange(300) == 7, 1.0, 0.0)),
        "more features than rows": (wide, np.where(wide[:, 0] > 0, 1.0, -1.0)),
        "columns of size 1 to 1e-6": (scaled, binary),
    }


TABLES = tables()


def problem(name: str, loss, regularization: float):
    rows, labels = TABLES[name]
    if loss.label_kind == "class":
        labels = np.abs(np.arange(len(labels)) % loss.classes).astype(float)
    records = Records(rows, labels)
    constants = loss.constants
    curvature = {
        "strong_convexity": regularization - constants.weak_convexity,
        "objective_smoothness": regularization + constants.smoothness,
    }
    return records, PreciseObjective(records, loss, regularization=regularization), curvature


def residual(records, loss, regularization, weights) -> float:
    return float(np.sqrt((true_gradient(records, loss, regularization, weights) ** 2).sum()))


LOSSES = [
    (losses.Logistic(1.0), 1e-6),
    (losses.Logistic(1.0), 1e-2),
    (losses.PseudoHuber(1.0, 0.3), 1e-4),
    (losses.Softmax(1.0, classes=4), 1e-4),
    (losses.OneVsRest(1.0, classes=3), 1e-4),
    (losses.Sigmoid(1.0), 0.1),
    (losses.Linear(1.0), 1e-2),
]
IDS = [f"{loss.name}-{regularization:g}" for loss, regularization in LOSSES]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("loss", "regularization"), LOSSES, ids=IDS)
@pytest.mark.parametrize("far", [False, True], ids=["cold", "warm from far away"])
def test_the_tolerance_is_met(name, loss, regularization, far) -> None:
    records, objective, curvature = problem(name, loss, regularization)
    start = np.full(objective.shape, 1e3) if far else None
    solution = solve(objective, start=start, tolerance=1e-8, **curvature)
    assert residual(records, loss, regularization, solution.weights) <= 1e-8
    assert solution.gradient_passes >= 1


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("loss", "regularization"), LOSSES[1:], ids=IDS[1:])
def test_the_fallback_meets_it_alone(name, loss, regularization, monkeypatch) -> None:
    """L-BFGS that gives up at once, at a point of its own choice, costs passes and nothing else."""

    def gives_up(measured, start, strong_convexity):
        measured(np.random.default_rng(0).standard_normal(start.size) * 10)

    monkeypatch.setattr(solver, "_lbfgs", gives_up)
    records, objective, curvature = problem(name, loss, regularization)
    solution = solve(objective, start=None, tolerance=1e-7, **curvature)
    assert residual(records, loss, regularization, solution.weights) <= 1e-7


@pytest.mark.parametrize(("loss", "regularization"), LOSSES[1:], ids=IDS[1:])
def test_fixed_passes_depend_on_no_record(loss, regularization) -> None:
    counts = set()
    for name in ("random labels", "separable", "all null", "one record"):
        records, objective, curvature = problem(name, loss, regularization)
        start = np.full(objective.shape, 5.0)  # never used
        solution = solve(objective, start=start, tolerance=1e-6, fixed=True, **curvature)
        assert residual(records, loss, regularization, solution.weights) <= 1e-6
        counts.add(solution.gradient_passes)
    assert len(counts) == 1


@pytest.mark.parametrize("condition", [3.0, 50.0, 2000.0])
def test_proven_steps_are_enough_and_not_idle(condition) -> None:
    """The rate of the method on quadratics over the whole spectrum; half the steps miss on some of them."""
    smoothness, convexity, tolerance = 2.0, 2.0 / condition, 1e-6
    curvature = {"strong_convexity": convexity, "objective_smoothness": smoothness}
    steps = proven_steps(distance=1.0, tolerance=tolerance, **curvature)
    spectrum = np.concatenate([np.geomspace(convexity, smoothness, 400), np.linspace(convexity, smoothness, 400)])

    def gradient(theta):  # every direction its own one-dimensional quadratic with minimiser 0
        return spectrum * theta

    worst = np.abs(gradient(solver._accelerated(gradient, np.ones(800), steps, **curvature))).max()
    assert worst <= tolerance / 2
    assert np.abs(gradient(solver._accelerated(gradient, np.ones(800), steps // 2, **curvature))).max() > tolerance
    distances = np.abs(solver._accelerated(gradient, np.ones(800), steps, **curvature)).max()
    *_, (reached, _) = itertools.islice(solver._growth(convexity / smoothness), steps + 1)
    assert distances <= (1 + reached * convexity / smoothness) ** -0.5 * (1 + 1e-6)


@dataclass(frozen=True)
class Liar(losses.Logistic):
    """Claims to be a thousand times smoother than it is."""

    @property
    def constants(self) -> LossConstants:
        return LossConstants(lipschitz=self.radius, smoothness=self.radius**2 / 4000)


def test_a_loss_that_lies_about_its_constants_publishes_nothing() -> None:
    _, objective, _ = problem("separable", Liar(1.0), 1e-3)
    with pytest.raises(AssumptionViolated, match="nothing was published"), np.errstate(all="ignore"):
        solve(
            objective,
            start=None,
            tolerance=1e-8,
            strong_convexity=1e-3,
            objective_smoothness=1e-3 + 1 / 4000,
            fixed=True,
        )


@pytest.mark.parametrize(("loss", "regularization"), LOSSES, ids=IDS)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e3])
def test_the_rounding_bound_covers_float64_gradients(loss, regularization, size) -> None:
    records, objective, _ = problem("random labels", loss, regularization)
    weights = size * np.random.default_rng(5).standard_normal(objective.shape)
    truth = true_gradient(records, loss, regularization, weights)
    error = float(np.sqrt(((objective.gradient(weights) - truth) ** 2).sum()))
    norm = float(np.linalg.norm(weights))
    bound = objective.gradient_error(norm)
    assert error <= bound
    assert bound <= 1e-12 * (1 + norm)
    engine = Objective(records, loss, regularization=regularization, dtype="float64")
    np.testing.assert_allclose(objective.gradient(weights), engine.gradient(weights), rtol=0, atol=2 * bound)
    assert objective.value(weights) == pytest.approx(engine.value(weights), rel=1e-12, abs=1e-15)


def test_the_tolerance_covers_rounding(monkeypatch) -> None:
    """With an inflated rounding bound the solver must go further; a bound above γ can never be met."""
    records, objective, curvature = problem("random labels", losses.Logistic(1.0), 1e-2)
    tolerance = 1e-5
    monkeypatch.setattr(PreciseObjective, "gradient_error", lambda *_: 0.99 * tolerance)
    solution = solve(objective, start=None, tolerance=tolerance, **curvature)
    assert residual(records, losses.Logistic(1.0), 1e-2, solution.weights) <= 0.0101 * tolerance
    monkeypatch.setattr(PreciseObjective, "gradient_error", lambda *_: 1.01 * tolerance)
    with pytest.raises(AssumptionViolated):
        solve(objective, start=None, tolerance=tolerance, **curvature)


def test_a_start_that_is_mostly_noise_is_not_used() -> None:
    loss = losses.Softmax(1.0, classes=4)
    _, objective, curvature = problem("random labels", loss, 1e-3)
    noise = 100 * np.random.default_rng(2).standard_normal(objective.shape)
    cold = solve(objective, start=None, tolerance=1e-7, **curvature)
    warm = solve(objective, start=noise, tolerance=1e-7, **curvature)
    assert warm.gradient_passes == cold.gradient_passes
    again = solve(objective, start=cold.weights, tolerance=1e-7, **curvature)
    assert again.gradient_passes <= 2
    assert objective.value_at_zero() == pytest.approx(np.log(4))


def test_whitening_saves_passes_where_it_is_taken() -> None:
    rng = np.random.default_rng(8)
    rows = unit(rng.standard_normal((4000, 20)) * np.geomspace(1, 0.01, 20))
    labels = np.where(rows @ rng.standard_normal(20) + 0.1 * rng.standard_normal(4000) > 0, 1.0, -1.0)
    objective = PreciseObjective(Records(rows, labels), losses.Logistic(1.0), regularization=1e-5)
    curvature = {"strong_convexity": 1e-5, "objective_smoothness": 0.25 + 1e-5}
    assert solver.whitening_passes(records=4000, features=20, outputs=1) == 1
    white = solve(objective, start=None, tolerance=1e-7, **curvature).gradient_passes
    plain = solver._Measured(objective, 1e-7)
    with pytest.raises(solver._Reached):
        solver._run_lbfgs(plain, np.zeros(20))
    assert white < 0.7 * plain.passes
    assert solver.whitening_passes(records=1600, features=784, outputs=1) == 0


@pytest.mark.parametrize("kind", ["warm", "cold", "fixed"])
def test_releases_carry_passes_and_events_do_not(kind) -> None:
    loss, events, passes = losses.Logistic(1.0), [], []
    for name in ("random labels", "separable"):
        plan = make_plan(
            loss,
            records=300,
            features=6,
            regularization=1e-3,
            budget=Budget(order=10, dp=1.0, deletion=0.1),
            certificate="sharp",
            start="minimiser",
            solver=kind,
        )
        curator = Curator(Records(*TABLES[name]), plan)
        releases = [curator.learn(), curator.delete([1, 2])]
        passes.append([release.gradient_passes for release in releases])
        events.append([event.to_dict() for event in curator.accountant.events])
        assert all(release.gradient_passes > release.steps for release in releases)
        assert all(release.seconds > 0 for release in releases)
        if kind == "fixed":
            assert passes[-1] == [plan.delete_solver_passes + plan.delete_steps] * 2
    assert events[0] == events[1]
    assert (passes[0] == passes[1]) == (kind == "fixed")
