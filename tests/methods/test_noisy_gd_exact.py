"""`noisy-gd` in exact steps end to end: plan, run, store, certificate; what its bounds assume of the machine, tried on the machine."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import sparse, stats

from noisygd_delete import Budget, Curator, EditRequest, Execution, Records, learn, losses, make_plan
from noisygd_delete.bounds import exact_steps
from noisygd_delete.curator import noisy_descent
from noisygd_delete.curator.learning import train
from noisygd_delete.engine import noisygd as engine
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from noisygd_delete.methods import NoisyGD
from noisygd_delete.methods.serialization import mechanism_from_dict

from ..bank import unit_records

RENYI, PAIRS = Budget(order=10, dp=1.0, deletion=0.1), Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.1, 1e-5))


def plan_by(method: str = "noisy-gd", loss: Any = None, **facts: Any) -> Any:
    sizes = {"records": 26_000, "features": 108, "regularization": 1e-3, "budget": RENYI}
    return make_plan(loss or losses.Logistic(1.0), **{**sizes, **facts}, method=method)


def test_what_is_not_covered_or_too_dear_is_planned_over_the_reals_unless_exact_was_asked_for() -> None:
    for facts in ({"loss": losses.Sigmoid(1.0), "regularization": 0.3}, {"records": 10**15, "regularization": 1e-4}):
        plan = plan_by(**facts)
        assert plan.method.exact is False
        assert any("real numbers" in words for words in plan.deletion.assumptions)
        with pytest.raises((AssumptionViolated, PlanInfeasible)):
            plan_by(**facts, exact=True)
    assert plan_by(slack_in_budget=False).method.exact is False
    with pytest.raises(InvalidParameter, match="in any order"):
        plan_by(exact=False, in_place=False)


def table(n: int = 400, d: int = 5) -> Records:
    return unit_records(n, d, seed=2)


class Declared(losses.Logistic):
    """A user's own: who knows how its slope is rounded?"""

    @property
    def constants(self) -> losses.LossConstants:
        return losses.LossConstants(lipschitz=self.radius, smoothness=self.radius**2 / 4)


def test_steps_on_a_loss_that_a_user_declares_are_bounded_over_the_reals() -> None:
    plan = plan_by(loss=Declared(1.0))
    assert plan.mechanism.exact is None
    assert [plan.dp.proven, plan.deletion.proven] == [False, False], "it does not say that it is"
    assert "real-arithmetic" in dict(plan.mechanism.conditions())
    with pytest.raises(AssumptionViolated, match="last bit"):
        plan_by(NoisyGD(exact=True), loss=Declared(1.0))


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, 3), losses.PseudoHuber(1.0, 0.3)])
@pytest.mark.parametrize("change", [lambda m: m * 1.5, lambda m: math.nextafter(m, 1.0)])
def test_a_strong_convexity_that_other_facts_fix_cannot_be_stated_otherwise(loss: Any, change: Any) -> None:
    """A ledger or certificate with a larger m would state less than a run costs."""
    facts = plan_by(loss=loss).mechanism.to_dict()
    assert mechanism_from_dict(facts).to_dict() == facts
    facts["strong_convexity"] = change(facts["strong_convexity"])
    with pytest.raises(InvalidParameter, match="strong_convexity"):
        mechanism_from_dict(facts)


def test_refusals_name_a_way_out() -> None:
    with pytest.raises(AssumptionViolated, match="leave exact out"):
        plan_by(loss=losses.Sigmoid(1.0), regularization=0.3, exact=True)
    with pytest.raises(AssumptionViolated, match="'noisy-gd:analysis=composition'"):
        plan_by(loss=losses.MultilayerPerceptron(1.0), exact=True)
    with pytest.raises(InvalidParameter, match="leave it out"):
        plan_by(records=100, features=3, regularization=0.1, noise_variance="cheapest")
    with pytest.raises(PlanInfeasible, match="objective-perturbation"):
        plan_by(records=10**15, regularization=1e-4, exact=True)
    plan = plan_by(records=400, features=5, regularization=0.1)
    with pytest.raises(InvalidParameter, match="on the processor"):
        learn(table(), plan, execution=Execution("cpu:0"))


def true_gradient(loss: Any, records: Any, regularization: float, weights: np.ndarray) -> list[Any]:
    """To 60 digits, where a row's product is a sum of fractions."""
    exact = [Fraction(0)] * len(weights)
    for row, label in zip(records.features, records.labels, strict=True):
        x = [Fraction(float(value)) for value in row]
        score = sum(a * Fraction(float(w)) for a, w in zip(x, weights, strict=True))
        score = mpmath.mpf(score.numerator) / score.denominator
        if isinstance(loss, losses.Logistic):
            slope = -label / (1 + mpmath.exp(label * score))
        else:
            residual = (score - label) / mpmath.mpf(0.3)
            slope = mpmath.mpf(0.3) * residual / mpmath.sqrt(1 + residual**2)
        slope = Fraction(int(mpmath.nint(mpmath.ldexp(slope, 180))), 2**180)
        exact = [total + slope * a for total, a in zip(exact, x, strict=True)]
    n, lam = len(records.labels), Fraction(regularization)
    return [total / n + lam * Fraction(float(w)) for total, w in zip(exact, weights, strict=True)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_measured_gradient_is_within_its_error_in_every_order_of_the_rows(dtype: str) -> None:
    """200 orders beside exact rational sums, at the ends of the ball, rows of very unlike lengths; in float32, the planted fault, they are not."""
    worst = 0.0
    for loss, scale in (
        (losses.Logistic(1.0), 1.0),
        (losses.PseudoHuber(1.0, 0.3), 0.01),
        (losses.Logistic(1.0), 30.0),
    ):
        plan = plan_by(loss=loss, records=300, features=4, regularization=0.05)
        records, mechanism = table(300, 4), plan.mechanism
        rng = np.random.default_rng(1)
        lengths = np.where(rng.random(300) < 0.5, 1.0, 2.0 ** -rng.integers(0, 60, 300))
        records = Records(records.features * lengths[:, None], records.labels)
        weights = rng.standard_normal((1, 4))
        weights *= min(1.0, scale / 30) * mechanism.exact.radius / np.linalg.norm(weights)
        with mpmath.workdps(60):
            exact = true_gradient(loss, records, 0.05, weights[0])
        for place in range(200):
            order = rng.permutation(300)
            shuffled = Records(records.features[order], records.labels[order])
            if place % 2:  # as sparse rows are added
                shuffled = Records(sparse.csr_array(shuffled.features), shuffled.labels)
            found = PreciseObjective(shuffled, loss, regularization=0.05).gradient(weights, dtype)[0]
            off = math.sqrt(sum(float(Fraction(float(one)) - two) ** 2 for one, two in zip(found, exact, strict=True)))
            worst = max(worst, off / mechanism.exact.measured_error(mechanism))
    assert (worst <= 1) == (dtype == "float64")


def test_a_plan_in_any_order_keeps_its_noise() -> None:
    plan = plan_by()
    charged = plan.allow_any_order()
    assert charged.allow_any_order() == charged != plan
    assert (charged.calibration.noise_variance, charged.calibration.delete_steps) == (
        plan.calibration.noise_variance,
        plan.calibration.delete_steps,
    )
    assert charged.deletion.gdp >= plan.deletion.gdp
    assert charged.problem.budget.affords(charged.deletion)
    assert "rows-in-place" not in dict(charged.mechanism.conditions())
    gone = {"steps_with": 0, "steps_without": plan.calibration.delete_steps}
    left = [each.mechanism.interval("deletion", "erased-vs-never", **gone).gdp for each in (plan, charged)]
    assert left[0] == 0 < left[1]


def test_every_point_lies_on_the_grid_and_every_step_begins_inside_the_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, records = plan_by(records=400, features=5, regularization=0.1), table()
    begun: list[float] = []

    class Seen(PreciseObjective):
        def gradient(self, weights: np.ndarray, dtype: str = "float64") -> np.ndarray:
            assert dtype == "float64"
            begun.append(float(np.linalg.norm(weights)))
            return super().gradient(weights, dtype)

    monkeypatch.setattr(noisy_descent, "PreciseObjective", Seen)
    curator = Curator(records, plan)
    for release in (curator.learn(), curator.delete([3])):
        steps = release.model.weights / plan.mechanism.exact.grid(plan.mechanism)
        assert (np.rint(steps) * plan.mechanism.exact.grid(plan.mechanism) == release.model.weights).all(), (
            "the float of a whole number of grid steps"
        )
        assert release.model.certified
    assert len(begun) == plan.calibration.learn_steps + plan.calibration.delete_steps
    far = np.full((1, 5), 1e6)
    train(records, plan, plan.serving, far, Execution())
    assert max(begun) <= plan.mechanism.exact.radius * (1 + 1e-12)


def test_the_law_is_that_of_the_chain() -> None:
    """Linear loss: mean and variance of a learn and a deletion; one step more or noise 3 % off would show."""
    rows = np.full((4, 1), 0.5)
    facts = {"records": 4, "features": 1, "regularization": 0.5, "step_size": 0.4}
    plan = plan_by(loss=losses.Linear(1.0), **facts, budget=Budget.from_gdp(dp=3.0, deletion=1.0))
    records, start, rng = Records(rows, np.zeros(4)), np.array([[0.25]]), np.random.default_rng(5)
    run = {"step_size": 0.4, "grid_bits": 24, "radius": plan.mechanism.exact.radius, "steps": 3}
    objective, tau = PreciseObjective(records, plan.problem.loss, regularization=0.5), plan.mechanism.noise_scale
    drawn = np.array([
        engine.run_exactly(start, objective.gradient, noise_variance=plan.calibration.noise_variance, noise=ResearchNoise(rng), **run)[0, 0] for _ in range(3000)
    ])  # fmt: skip
    c, pull = 0.8, -0.4 * 0.5
    mean, variance = 0.25 * c**3 + pull * (1 + c + c**2), tau**2 * (1 + c**2 + c**4)
    assert stats.kstest(drawn, stats.norm(mean, math.sqrt(variance)).cdf).pvalue > 1e-6
    for wrong in (0.9, 1.1):
        assert stats.kstest(drawn, stats.norm(mean, math.sqrt(variance) * wrong).cdf).pvalue < 0.05


def test_what_is_gone_leaves_nothing_after_a_model_that_was_seen() -> None:
    """The same words, the same start, the same rows in the same places: the same bits, whatever stood there once."""
    plan, records = plan_by(records=400, features=5, regularization=0.1), table()
    other = records.copy().apply(EditRequest.delete([7]))
    first = records.apply(EditRequest.delete([7]))
    start = np.full((1, 5), 0.3)
    found = [
        train(held, plan, plan.serving, start, Execution(rng=np.random.default_rng(1))).model.weights
        for held in (first, other)
    ]
    assert (found[0] == found[1]).all()
    assert plan.mechanism.interval("deletion", "erased-vs-never", steps_with=0, steps_without=9).gdp == 0


class Still:
    """Noise whose words are never asked for: the discrete Gaussian is put in its place."""

    certified = False

    def words(self, count: int) -> np.ndarray:
        assert count == 0, "more is asked for than whether this process was forked"
        return np.zeros(0, np.uint64)


def off_the_true_step(plan: Any, records: Records, step_size: float, point: np.ndarray) -> float:
    """‖machine's step − true step from the same grid point‖ in 160 bits, over E = (δ − h√d)/2."""
    problem, numbers = plan.problem, plan.calibration
    mechanism = plan.mechanism
    objective = PreciseObjective(records, problem.loss, regularization=problem.regularization)
    found = engine.run_exactly(
        point, objective.gradient, step_size=step_size, noise_variance=numbers.noise_variance * numbers.step_size / step_size,
        grid_bits=mechanism.exact.grid_bits, radius=mechanism.exact.radius, steps=1, noise=Still(),
    )  # fmt: skip
    with mpmath.workprec(160):
        length = mpmath.sqrt(sum(mpmath.mpf(float(w)) ** 2 for w in point[0]))
        inside = [mpmath.mpf(float(w)) * min(1, mpmath.mpf(mechanism.exact.radius) / length) for w in point[0]]
        slope = [mpmath.mpf(problem.regularization) * w for w in inside]
        for row, label in zip(records.features, records.labels, strict=True):
            x = [mpmath.mpf(float(value)) for value in row]
            pull = -label / (1 + mpmath.exp(label * mpmath.fdot(x, inside))) / len(records.labels)
            slope = [one + pull * a for one, a in zip(slope, x, strict=True)]
        true = [w - mpmath.mpf(numbers.step_size) * g for w, g in zip(inside, slope, strict=True)]
        off = mpmath.sqrt(sum((mpmath.mpf(float(one)) - two) ** 2 for one, two in zip(found[0], true, strict=True)))
    facts = {
        "lipschitz": 1 + 2.0**-19,
        "regularization": problem.regularization,
        "step_size": numbers.step_size,
    }
    d, h = point.size, mechanism.exact.grid(mechanism)
    charged = exact_steps.rounding_gap(
        gradient_error=mechanism.exact.measured_error(mechanism), strong_convexity=problem.strong_convexity,
        radius=mechanism.exact.radius, dimension=d, grid=h, **facts,
    )  # fmt: skip
    return float(off) / ((charged - h * math.sqrt(d)) / 2)


@pytest.mark.parametrize("fault", ["none", "η once more rounded", "no projection"])
def test_a_step_is_within_what_is_charged_of_the_same_step_in_160_bits(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, records, rng = plan_by(records=60, features=5, regularization=0.05), table(60), np.random.default_rng(9)
    monkeypatch.setattr(engine, "discrete_gaussian", lambda size, noise, variance: np.zeros(size))
    if fault == "no projection":
        monkeypatch.setattr(engine, "project_to_ball", lambda weights, radius: weights)
    step_size = (
        float(np.float32(plan.calibration.step_size)) if fault == "η once more rounded" else plan.calibration.step_size
    )
    mechanism, worst = plan.mechanism, 0.0
    for place in range(24):
        point = rng.standard_normal((1, 5))
        point *= mechanism.exact.radius * (1.0, 0.2, 1.5, 1 + 1e-9)[place % 4] / np.linalg.norm(point)
        point = np.rint(point / mechanism.exact.grid(mechanism)) * mechanism.exact.grid(mechanism)
        worst = max(worst, off_the_true_step(plan, records, step_size, point))
    assert (worst <= 1) == (fault == "none"), worst


@pytest.mark.parametrize("fault", [False, True])
def test_low_bits_of_a_release_do_not_name_the_table(fault: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last noise on a coarser grid than its centre, the planted fault, leaves the centre's low bits as they were."""
    plan, draw = plan_by(records=400, features=5, regularization=0.1), engine.discrete_gaussian
    if fault:
        monkeypatch.setattr(
            engine,
            "discrete_gaussian",
            lambda size, noise, variance: np.rint(draw(size, noise, variance=variance) / 1024) * 1024,
        )
    start, rng, mechanism = np.full((1, 5), 0.25), np.random.default_rng(4), plan.mechanism
    one = table()
    other = one.copy().apply(EditRequest.delete([7]))
    objectives = [PreciseObjective(held, plan.problem.loss, regularization=0.1) for held in (one, other)]
    centres = [
        np.rint((start - plan.calibration.step_size * each.gradient(start)) / mechanism.exact.grid(mechanism))[0, 0]
        for each in objectives
    ]
    assert centres[0] % 1024 != centres[1] % 1024
    run = {
        "step_size": plan.calibration.step_size,
        "noise_variance": plan.calibration.noise_variance,
        "radius": mechanism.exact.radius,
    }
    told = 0
    for world, objective in enumerate(objectives):
        for _ in range(500):
            point = engine.run_exactly(
                start, objective.gradient, grid_bits=mechanism.exact.grid_bits, noise=ResearchNoise(rng), steps=1, **run
            )
            told += (point[0, 0] / mechanism.exact.grid(mechanism)) % 1024 == centres[world] % 1024
    assert (told < 20) != fault, "one residue in 1,024 by chance"
