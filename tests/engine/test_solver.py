"""The solver reaches its tolerance whatever the data, measured by other arithmetic than its own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from noisygd_delete import Curator, Records, losses
from noisygd_delete.bounds import solver_steps
from noisygd_delete.bounds.solver_steps import proven_steps
from noisygd_delete.engine import sample as sample_module
from noisygd_delete.engine import solver
from noisygd_delete.engine.descent import lbfgs
from noisygd_delete.engine.linear_term import LinearTerm, draw_linear_term
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import solve
from noisygd_delete.errors import AssumptionViolated
from noisygd_delete.losses import LossConstants
from tests.bank import sized_plan


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
    curvature = {"strong_convexity": regularization - constants.weak_convexity}
    curvature["objective_smoothness"] = regularization + constants.smoothness
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


def gives_up(sample, function, start, lipschitz, warm):
    function(np.random.default_rng(0).standard_normal(start.shape) * 10)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("loss", "regularization"), LOSSES[1:], ids=IDS[1:])
def test_the_fallback_meets_it_alone(name, loss, regularization, monkeypatch) -> None:
    """L-BFGS and Newton that give up at once, at a point of their own choice, cost passes and nothing else."""
    monkeypatch.setattr(solver, "minimize", gives_up)
    monkeypatch.setattr(solver, "newton_cg", lambda function, point, passes: function(point))
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

    worst = np.abs(gradient(solver._run_accelerated(gradient, np.ones(800), steps, **curvature))).max()
    assert worst <= tolerance / 2
    assert np.abs(gradient(solver._run_accelerated(gradient, np.ones(800), steps // 2, **curvature))).max() > tolerance
    distances = np.abs(solver._run_accelerated(gradient, np.ones(800), steps, **curvature)).max()
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
    facts = {"tolerance": 1e-8, "strong_convexity": 1e-3, "objective_smoothness": 1e-3 + 1 / 4000}
    with pytest.raises(AssumptionViolated, match="nothing was published"), np.errstate(all="ignore"):
        solve(objective, start=None, **facts, fixed=True)


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
    np.testing.assert_array_equal(warm.weights, cold.weights)
    assert warm.gradient_passes <= cold.gradient_passes + 2  # to see that it is: of this table the sample is the whole
    again = solve(objective, start=cold.weights, tolerance=1e-7, **curvature)
    assert again.gradient_passes <= 4


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0, 30.0])
@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, classes=4)], ids=lambda loss: loss.name)
def test_a_warm_start_costs_about_no_more_than_a_cold_one(loss, noise: float, monkeypatch) -> None:
    """Whatever noise is on the model: some rows tell that a start is far. One that is taken all the same costs more."""
    objective, curvature = (
        several_sizes(loss),
        {"strong_convexity": 1e-4, "objective_smoothness": 1e-4 + loss.constants.smoothness},
    )
    cold = solve(objective, start=None, tolerance=1e-7, **curvature)
    size = noise * np.linalg.norm(cold.weights) / np.sqrt(cold.weights.size)
    draws = np.random.default_rng(3).standard_normal((6, *objective.shape))
    warm = [solve(objective, start=cold.weights + size * draw, tolerance=1e-7, **curvature) for draw in draws]
    assert max(one.gradient_passes for one in warm) <= cold.gradient_passes + 1  # to look at a start
    if noise > 10:
        monkeypatch.setattr(sample_module.Sample, "is_nearer", lambda *_: True)
        taken = solve(objective, start=cold.weights + size * draws[0], tolerance=1e-7, **curvature)
        assert taken.gradient_passes > 1.5 * cold.gradient_passes


def test_a_start_of_a_small_gradient_where_the_objective_is_large_is_not_used(monkeypatch) -> None:
    """As a model with much noise at small λ: taken by its gradient, it costs more than the centre."""
    objective = several_sizes(losses.Logistic(1.0), regularization=1e-6)
    facts = {"tolerance": 1e-7, "strong_convexity": 1e-6, "objective_smoothness": 1e-6 + 0.25}
    cold = solve(objective, start=None, **facts)
    start = cold.weights + 30 * np.random.default_rng(1).standard_normal((1, 20))
    small, large = (np.linalg.norm(objective.gradient(one)) for one in (start, np.zeros((1, 20))))
    assert small < 0.4 * large, "by its gradient it is near"
    np.testing.assert_array_equal(solve(objective, start=start, **facts).weights, cold.weights)
    monkeypatch.setattr(sample_module.Sample, "is_nearer", lambda *_: True)
    assert solve(objective, start=start, **facts).gradient_passes > cold.gradient_passes + 1


def passes_of(objective, start, tolerance, inverse) -> int:
    """Evaluations of L-BFGS with this initial inverse Hessian, measured as `solve` does."""
    measured = solver._Measured(objective, tolerance)
    with pytest.raises(solver._Reached):
        lbfgs(measured, start, measured(start), inverse)
    return measured.passes


def several_sizes(loss, records=4000, features=20, regularization=1e-4) -> PreciseObjective:
    rng = np.random.default_rng(8)
    rows = unit(rng.standard_normal((records, features)) * np.geomspace(1, 0.01, features))
    scores = rows @ rng.standard_normal((loss.outputs, features)).T + 0.1 * rng.standard_normal((records, loss.outputs))
    labels = np.where(scores[:, 0] > 0, 1.0, -1.0) if loss.outputs == 1 else scores.argmax(1).astype(float)
    return PreciseObjective(Records(rows, labels), loss, regularization=regularization)


SHAPES = [
    (losses.Logistic(1.0), 4000, 20, True),
    (losses.Logistic(1.0), 800, 400, False),
    (losses.Softmax(1.0, classes=5), 4000, 20, True),
    (losses.Softmax(1.0, classes=5), 300, 600, False),
    (losses.OneVsRest(1.0, classes=257), 300, 8, True),
    (losses.Softmax(1.0, classes=257), 260, 4, True),
]


@pytest.mark.parametrize(
    ("loss", "records", "features", "narrow"), SHAPES, ids=[f"{s[0].name}-{s[0].outputs}-{s[2]}" for s in SHAPES]
)
def test_the_sample_saves_passes_in_every_shape(loss, records, features, narrow) -> None:
    objective = several_sizes(loss, records, features)
    sample, origin = sample_module.Sample(objective, 2500.0), np.zeros(objective.shape)
    assert sample.narrow == narrow
    steered = passes_of(objective, origin, 1e-7, sample.inverse)
    plain = passes_of(objective, origin, 1e-7, lambda weights: lambda gradient: gradient / 0.1)
    assert steered < 0.5 * plain
    assert sample.passes > 0
    kept = sample.inverse(origin)
    once = passes_of(objective, origin, 1e-7, lambda weights: kept)
    assert steered <= once + 1  # taking it again on the way does not cost passes


def test_a_wide_table_in_which_no_direction_stands_out_is_steered_by_a_multiple_of_one(monkeypatch) -> None:
    rng = np.random.default_rng(3)
    noise, common = rng.standard_normal((2, 800, 2000)), rng.standard_normal(2000)
    sides = rng.choice((-1.0, 1.0), 800)
    objectives = {
        name: PreciseObjective(Records(unit(rows), sides), losses.Logistic(1.0), regularization=1e-3)
        for name, rows in (("noise", noise[0]), ("two groups", noise[1] + 0.5 * sides[:, None] * common))
    }
    steps = {}
    for name, objective in objectives.items():
        sample = sample_module.Sample(objective, 250.0)
        assert not sample.narrow
        direction = rng.standard_normal(objective.shape)
        steps[name] = sample.inverse(np.zeros(objective.shape))(direction) / direction
    assert np.ptp(steps["two groups"]) > 100
    assert np.ptp(steps["noise"]) < 1e-9 * steps["noise"].max()
    rows = objectives["noise"].strided(800)[0].astype(np.float64)
    along = ((rows @ rows.T) ** 2).sum(1).mean() / 4 / 800 + 1e-3  # xᵀHx of its rows at 0, in full
    assert steps["noise"].max() == pytest.approx(1 / along, rel=0.1)

    def passes() -> int:
        facts = {"tolerance": 1e-6, "strong_convexity": 1e-3, "objective_smoothness": 0.251}
        return solve(objectives["noise"], start=None, **facts).gradient_passes

    quick = passes()
    monkeypatch.setattr(sample_module.Sample, "_even", lambda *_: None)
    assert quick < 0.75 * passes()


def test_a_table_of_a_hundred_thousand_columns_is_steered_without_their_matrix() -> None:
    rows, narrow = solver_steps.sample_rows(records=5000, features=100_000, outputs=1, condition_number=1e4)
    assert not narrow
    assert 100 <= rows <= 1000
    assert rows * 100_000 <= solver_steps.MOST_CELLS
    rng = np.random.default_rng(6)
    table = np.zeros((64, 100_000))
    table[np.arange(64)[:, None], rng.integers(0, 100_000, (64, 30))] = 0.18
    labels = np.where(rng.random(64) < 0.5, 1.0, -1.0)
    objective = PreciseObjective(Records(table, labels), losses.Logistic(1.0), regularization=1e-3)
    solution = solve(objective, start=None, tolerance=1e-8, strong_convexity=1e-3, objective_smoothness=0.251)
    assert solution.gradient_passes <= 40


def test_most_passes_are_float32_and_the_answer_is_measured_in_float64(monkeypatch) -> None:
    objective = several_sizes(losses.Logistic(1.0))
    measured, kinds = PreciseObjective.gradient, []

    def noted(self, weights, dtype="float64"):
        kinds.append(dtype)
        return measured(self, weights, dtype)

    monkeypatch.setattr(PreciseObjective, "gradient", noted)
    solve(objective, start=None, tolerance=1e-6, strong_convexity=1e-4, objective_smoothness=0.2501)
    assert kinds[-1] == "float64"
    assert kinds.count("float64") <= 3
    assert kinds.count("float32") > kinds.count("float64")


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_float32_that_is_wrong_costs_passes_and_nothing_else(size, monkeypatch) -> None:
    """What the float32 gradient says enters no answer: with noise in it, or as 0, the tolerance is met in float64."""
    objective = several_sizes(losses.Logistic(1.0))
    measured, rng = PreciseObjective.gradient, np.random.default_rng(1)

    def noisy(self, weights, dtype="float64"):
        true = measured(self, weights, dtype)
        return true if dtype == "float64" else size * 1e-3 * rng.standard_normal(true.shape)

    monkeypatch.setattr(PreciseObjective, "gradient", noisy)
    solution = solve(objective, start=None, tolerance=1e-6, strong_convexity=1e-4, objective_smoothness=0.2501)
    assert np.linalg.norm(measured(objective, solution.weights)) <= 1e-6


def test_a_model_that_is_near_keeps_the_hessian_of_its_sample(monkeypatch) -> None:
    """From a published model whose sample's own problem takes a few steps no second one is taken; from 0 one is."""
    objective, taken = several_sizes(losses.Logistic(1.0), 4000, 20), []
    inverse = sample_module.Sample.inverse
    monkeypatch.setattr(sample_module.Sample, "inverse", lambda *given: taken.append(given) or inverse(*given))
    facts = {"tolerance": 1e-7, "strong_convexity": 1e-4, "objective_smoothness": 0.2501}
    near = solve(objective, start=None, **facts).weights
    far, near = len(taken), near + 0.01
    assert np.linalg.norm(objective.gradient(solve(objective, start=near, **facts).weights)) <= 1e-7
    assert len(taken) - far == 1 < far


def test_the_first_step_leads_to_the_minimiser_of_the_tilted_sample(monkeypatch) -> None:
    """Where the sample is the table, and its own problem is solved well, that is the minimiser: a far start costs one step."""
    objective = several_sizes(losses.Logistic(1.0), 400, 20)
    start = np.full(objective.shape, 5.0)
    passes = []
    for nearly in (1e-5, 10.0):  # at 10 the sample's problem counts as solved at once, and L-BFGS goes alone
        monkeypatch.setattr(solver, "_NEARLY", nearly)
        sample, measured = sample_module.Sample(objective, 2500.0), solver._Measured(objective, 1e-5)
        with pytest.raises(solver._Reached):
            solver.minimize(sample, measured, start, 1.0)
        passes.append(measured.passes)
    assert passes[0] <= 3 < passes[1]
    warm = solve(objective, start=start, tolerance=1e-5, strong_convexity=1e-4, objective_smoothness=0.2501)
    assert warm.gradient_passes > passes[0]  # the sample's work is counted


ADVERSARIAL = ["kinks everywhere", "a sample that sees null rows", "a sample that lies", "every column its own size"]


def adversarial(name: str) -> tuple[PreciseObjective, losses.Loss, dict[str, float]]:
    rng = np.random.default_rng(0)
    rows = unit(rng.standard_normal((600, 70)) * np.geomspace(1, 0.01, 70))
    labels = np.where(rows[:, 1] > 0, 1.0, -1.0)
    step = 600 // solver_steps.sample_rows(records=600, features=70, outputs=1, condition_number=2.5e4)[0]
    assert step == 2
    loss, regularization = losses.Logistic(1.0), 1e-5
    if name == "kinks everywhere":
        labels, loss = np.where(rng.random(600) < 0.5, 1.0, -1.0), losses.clip_loss(loss, 1e-3)
    elif name == "a sample that sees null rows":
        rows[::step] = 0
    elif name == "a sample that lies":
        rows[::step] = np.eye(70)[0]
    else:
        rows, labels = np.diag(np.geomspace(1, 1e-3, 120)), np.ones(120)
    objective = PreciseObjective(Records(rows, labels), loss, regularization=regularization)
    smoothness = regularization + loss.constants.smoothness
    return objective, loss, {"strong_convexity": regularization, "objective_smoothness": smoothness}


@pytest.mark.parametrize("alone", ["all three", "newton", "the proven steps"])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_the_tolerance_is_always_reached_in_the_proven_number_of_passes(name, alone, monkeypatch) -> None:
    """Each fallback alone, after a quasi-Newton method that failed: Newton within as many passes as are proven for the last."""
    objective, _, curvature = adversarial(name)
    regularization, tolerance = curvature["strong_convexity"], 1e-5
    if alone != "all three":
        monkeypatch.setattr(solver, "minimize", gives_up)
        start = np.random.default_rng(0).standard_normal(objective.shape) * 10
        slope = float(np.linalg.norm(objective.gradient(start)))
        proven = proven_steps(distance=slope * 1.001 / regularization, tolerance=tolerance, **curvature)
    if alone == "the proven steps":
        monkeypatch.setattr(solver, "newton_cg", lambda function, point, passes: None)
    solution = solve(objective, start=None, tolerance=tolerance, **curvature)
    assert np.linalg.norm(objective.gradient(solution.weights)) <= tolerance
    if alone == "all three":
        assert solution.gradient_passes <= 600
    elif alone == "newton":
        assert solution.gradient_passes <= solver.newton_passes(proven) + 3
    else:
        assert solution.gradient_passes <= proven + 3


@pytest.mark.parametrize("quick", [0, 7, 60])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_table_takes_more_than_the_quick_ways_and_the_proven_steps(name, quick: int, monkeypatch) -> None:
    """Whoever holds a release until the longest time needs one: passes of the whole table, counted where they are made."""
    objective, loss, curvature = adversarial(name)
    regularization, tolerance, made = curvature["strong_convexity"], 1e-5, []
    gradient = PreciseObjective.gradient
    monkeypatch.setattr(PreciseObjective, "gradient", lambda *asked: made.append(1) or gradient(*asked))
    proven = proven_steps(distance=loss.constants.lipschitz / regularization, tolerance=tolerance, **curvature)
    start = np.full(objective.shape, 40.0)  # worse than the centre
    solution = solve(objective, start=start, tolerance=tolerance, quick=quick, **curvature)
    assert len(made) <= quick + proven + 2
    assert solution.gradient_passes <= 2 * quick + 70 + proven + 2, "the sample's work beside them"
    assert np.linalg.norm(gradient(objective, solution.weights)) <= tolerance


def test_clipped_slopes_at_a_tiny_regularization_take_far_fewer_passes_than_are_proven() -> None:
    """L-BFGS stalls at the kinks, and Newton needs some thousand passes: more than its least number, and an eightieth of the proven ones."""
    rng = np.random.default_rng(212)
    rows = unit(rng.standard_normal((50, 30)))
    labels = np.where(rows[:, 0] + 0.3 * rng.standard_normal(50) > 0, 1.0, -1.0)
    loss, facts = losses.clip_loss(losses.Logistic(1.0), 0.3), {"strong_convexity": 1e-8, "objective_smoothness": 0.25}
    objective = PreciseObjective(Records(rows, labels), loss, regularization=1e-8)
    solution = solve(objective, start=None, tolerance=1e-8, **facts)
    assert np.linalg.norm(objective.gradient(solution.weights)) <= 1e-8
    assert [*map(solver.newton_passes, (3, 500, 4000, 4008))] == [3, 500, 500, 501]
    assert solver.NEWTON_PASSES < solution.gradient_passes < proven_steps(distance=1e8, tolerance=1e-8, **facts) / 80


def test_newton_goes_to_a_kink_where_no_second_derivative_is() -> None:
    """Two rows whose clipped slopes end in the minimiser itself: the generalised derivative there is neither side's."""
    loss = losses.clip_loss(losses.PseudoHuber(1.0, 1.0), 0.5)
    edge = 0.5 / np.sqrt(0.75)  # residual at which the slope is clipped
    records = Records(np.array([[0.9, 0.0], [0.0, 0.9]]), np.array([0.9 + edge, -0.9 - edge]))
    regularization = 0.225  # the slopes ∓.5 · .9/2 and λ(±1) cancel
    objective = PreciseObjective(records, loss, regularization=regularization)
    measured = solver._Measured(objective, 1e-12)
    with pytest.raises(solver._Reached):
        solver.newton_cg(measured, np.array([[50.0, -80.0]]), passes=60)
    np.testing.assert_allclose(measured.point, [[1.0, -1.0]], rtol=1e-6)


def drawn(shape: tuple[int, int], deviation: float) -> LinearTerm:
    return draw_linear_term(shape, ResearchNoise(np.random.default_rng(11)), deviation=deviation)


@pytest.mark.parametrize("name", [*TABLES][1::2])
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
    term.rounding = 3e-4  # 1e-6 per record: above γ, so it cannot be met
    with pytest.raises(AssumptionViolated):
        solve(tilted, start=None, tolerance=9e-7, strong_convexity=1e-2, objective_smoothness=0.26)


@pytest.mark.parametrize("kind", ["warm", "cold", "fixed"])
def test_releases_carry_passes_and_events_do_not(kind) -> None:
    loss, events, passes = losses.Logistic(1.0), [], []
    for name in ("random labels", "separable"):
        plan = sized_plan(loss, 300, 6, 1e-3, method="output-perturbation", solver=kind)
        curator = Curator(Records(*TABLES[name]), plan)
        releases = [curator.learn(), curator.delete([1, 2])]
        passes.append([release.gradient_passes for release in releases])
        events.append([event.to_dict() for event in curator.accountant.events])
        assert all(release.gradient_passes > release.steps for release in releases)
        assert all(release.seconds > 0 for release in releases)
        if kind == "fixed":
            assert passes[-1] == [plan.calibration.delete_solver_passes + plan.calibration.delete_steps] * 2
    assert events[0] == events[1]
    assert (passes[0] == passes[1]) == (kind == "fixed")
