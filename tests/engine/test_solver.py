"""The solver reaches its tolerance whatever the data, measured by other arithmetic than its own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.bounds import solver_steps
from noisygd_delete.bounds.solver_steps import proven_steps
from noisygd_delete.engine import Objective, quasi_newton, solver
from noisygd_delete.engine.linear_term import LinearTerm, draw_linear_term
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.engine.solver import solve
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
            slopes = 0.5 * (1 + np.tanh(scores / 2)) - chosen
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

    def gives_up(sample, function, start, *, cold):
        function(np.random.default_rng(0).standard_normal(start.shape) * 10)

    monkeypatch.setattr(solver, "steer", gives_up)
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
    *_, (reached, _) = itertools.islice(solver_steps.growth(convexity / smoothness), steps + 1)
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


def passes_of(objective, start, tolerance, inverse) -> int:
    """Evaluations of L-BFGS with this initial inverse Hessian, measured as `solve` does."""
    measured = solver._Measured(objective, tolerance)
    with pytest.raises(solver._Reached):
        quasi_newton.descend(measured, start, inverse)
    return measured.passes


def several_sizes(loss) -> PreciseObjective:
    rng = np.random.default_rng(8)
    rows = unit(rng.standard_normal((4000, 20)) * np.geomspace(1, 0.01, 20))
    scores = rows @ rng.standard_normal((loss.outputs, 20)).T + 0.1 * rng.standard_normal((4000, loss.outputs))
    labels = np.where(scores[:, 0] > 0, 1.0, -1.0) if loss.outputs == 1 else scores.argmax(1).astype(float)
    return PreciseObjective(Records(rows, labels), loss, regularization=1e-4)


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, classes=5)], ids=["one output", "five"])
def test_the_hessian_of_a_sample_saves_passes_with_one_output_and_with_several(loss) -> None:
    objective = several_sizes(loss)
    sample, origin = quasi_newton.Sample(objective), np.zeros(objective.shape)
    assert sample.dense
    steered = passes_of(objective, origin, 1e-7, sample.inverse)
    plain = passes_of(objective, origin, 1e-7, lambda weights: lambda gradient: gradient / 0.01)
    assert steered < 0.5 * plain
    kept = sample.inverse(origin)
    once = passes_of(objective, origin, 1e-7, lambda weights: kept)
    assert steered <= once  # taking it again on the way does not cost passes


def test_wide_tables_are_steered_without_a_matrix() -> None:
    rng = np.random.default_rng(9)
    rows = unit(rng.standard_normal((800, 300)) * np.geomspace(1, 0.03, 300))
    labels = np.where(rows @ rng.standard_normal(300) > 0, 1.0, -1.0)
    objective = PreciseObjective(Records(rows, labels), losses.Logistic(1.0), regularization=1e-3)
    sample, origin = quasi_newton.Sample(objective), np.zeros(objective.shape)
    assert not sample.dense
    assert sample.share == 0.25
    steered = passes_of(objective, origin, 1e-7, sample.inverse)
    plain = passes_of(objective, origin, 1e-7, lambda weights: lambda gradient: gradient / 0.01)
    assert steered < plain
    assert sample.passes > 0
    assert quasi_newton.factor_passes(records=1600, features=784, outputs=1) == 0
    assert quasi_newton.factor_passes(records=26_000, features=108, outputs=1) == 1


def test_a_cold_start_begins_at_the_minimiser_of_the_sample() -> None:
    rng = np.random.default_rng(10)
    rows = unit(rng.standard_normal((20_000, 10)))
    labels = np.where(rows @ rng.standard_normal(10) * 20 > rng.standard_normal(20_000), 1.0, -1.0)
    objective = PreciseObjective(Records(rows, labels), losses.Logistic(1.0), regularization=1e-5)
    curvature = {"strong_convexity": 1e-5, "objective_smoothness": 0.25 + 1e-5}
    cold = solve(objective, start=None, tolerance=1e-8, **curvature)
    sample = quasi_newton.Sample(objective)
    alone = passes_of(objective, np.zeros(objective.shape), 1e-8, sample.inverse)
    assert cold.gradient_passes < alone + sample.passes


def drawn(shape: tuple[int, int], deviation: float) -> LinearTerm:
    return draw_linear_term(shape, ResearchNoise(np.random.default_rng(11)), deviation=deviation)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("loss", "regularization"), LOSSES[1:], ids=IDS[1:])
@pytest.mark.parametrize("kind", ["cold", "warm", "fixed"])
def test_the_tolerance_is_met_with_a_linear_term(name, loss, regularization, kind) -> None:
    """‖∇L_D(θ̃) + b/n‖ ≤ γ, in 80-bit arithmetic; without b the same point is far from it."""
    records, plain, curvature = problem(name, loss, regularization)
    term = drawn(plain.shape, 30.0)
    objective = PreciseObjective(records, loss, regularization=regularization, linear=term)
    start = np.ones(plain.shape) if kind == "warm" else None
    solution = solve(objective, start=start, tolerance=1e-7, fixed=kind == "fixed", **curvature)
    gradient = true_gradient(records, loss, regularization, solution.weights)
    pull = term.per_record(records.slots)
    assert np.sqrt(((gradient + pull) ** 2).sum()) <= 1e-7
    assert np.sqrt((gradient**2).sum()) > 0.5 * np.linalg.norm(pull)


def test_the_rounding_of_b_is_part_of_the_certified_norm() -> None:
    records, plain, _ = problem("random labels", losses.Logistic(1.0), 1e-2)
    term = drawn(plain.shape, 30.0)
    tilted = PreciseObjective(records, losses.Logistic(1.0), regularization=1e-2, linear=term)
    weights = np.full(plain.shape, 0.3)
    assert tilted.gradient_error(1.0) >= plain.gradient_error(1.0) + term.per_record_rounding(300)
    truth = true_gradient(records, losses.Logistic(1.0), 1e-2, weights) + term.per_record(300)
    assert np.sqrt(((tilted.gradient(weights) - truth) ** 2).sum()) <= tilted.gradient_error(
        float(np.linalg.norm(weights))
    )
    shifted = tilted.value(weights) - plain.value(weights)
    assert shifted == pytest.approx(float(np.vdot(weights, term.per_record(300))), rel=1e-12)
    term.rounding = 3e-4  # 1e-6 per record: above γ, so it cannot be met
    with pytest.raises(AssumptionViolated):
        solve(tilted, start=None, tolerance=9e-7, strong_convexity=1e-2, objective_smoothness=0.26)


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
            method="minimiser",
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
