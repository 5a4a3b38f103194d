"""Audits accept the honest engine, flag every planted fault, and say "inconclusive" where they cannot see."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from noisygd_delete import Budget, Records, losses, make_plan
from noisygd_delete.audit import Counts, audit
from noisygd_delete.audit.counts import lower_rate, upper_rate
from noisygd_delete.audit.membership import linear_engine
from noisygd_delete.curator.learning import learn, resume
from noisygd_delete.engine import Objective
from noisygd_delete.errors import InvalidParameter
from tests.bank import sized_plan

from .faults import FAULTS, CachedMinimiser, faulty
from .shadows import audit_loss


def sharp_plan(dp: float = 3.0, deletion: float = 0.38, **options):
    """c = 1 − ηλ = 1/2, and budgets that K_Ā steps meet almost exactly: one step fewer doubles μ."""
    settings = {"records": 100, "features": 1, "regularization": 0.25, "method": "noisy-gd", "utility": False}
    budget = Budget.from_gdp(dp=dp, deletion=deletion)
    return make_plan(losses.Logistic(radius=1.0), budget=budget, **{**settings, **options})


def test_confidence_bounds_are_the_exact_binomial_ones() -> None:
    for successes, trials in ((0, 10), (1, 10), (7, 10), (10, 10), (480, 1000)):
        low, high = lower_rate(successes, trials, 0.01), upper_rate(successes, trials, 0.01)
        assert low <= successes / trials <= high
        if successes:
            assert binom.sf(successes - 1, trials, low) == pytest.approx(0.01, rel=1e-6)
        if successes < trials:
            assert binom.cdf(successes, trials, high) == pytest.approx(0.01, rel=1e-6)


def test_counts_bound_every_measure_from_below() -> None:
    mu, order, runs = 1.0, 4.0, 10**7
    hit, alarm = norm.cdf(mu / 2), norm.cdf(-mu / 2)
    counted = Counts(round(hit * runs), runs, round(alarm * runs), runs, error=1e-3)
    assert 0.99 * (hit - alarm) < counted.advantage < hit - alarm
    assert 0.99 * mu < counted.gdp < mu
    binary = math.log(hit**order * alarm ** (1 - order) + alarm**order * hit ** (1 - order)) / (order - 1)
    assert 0.98 * binary < counted.renyi(order) < binary < order * mu**2 / 2
    nothing = Counts(50, 100, 50, 100)
    assert nothing.advantage == nothing.renyi(2.0) == nothing.gdp == 0.0
    with pytest.raises(InvalidParameter, match="at most present"):
        Counts(11, 10, 0, 10)


@pytest.mark.parametrize(
    "loss", [losses.Logistic(1.0), losses.Softmax(1.0, 3), losses.PseudoHuber(1.0), losses.Linear(1.0)]
)
def test_many_chains_have_the_gradient_of_one(loss) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = rng.integers(0, 3, 7) if loss.label_kind == "class" else rng.choice([-1.0, 1.0], 7)
    weights = rng.normal(size=(5, loss.outputs, 4))
    table = Records(rows, labels)
    wide = Objective(table, loss, regularization=0.3, dtype="float64", slots=11).gradient(weights)
    padded = Records(rows, labels, slots=11)  # null slots add nothing
    one = Objective(padded, loss, regularization=0.3, dtype="float64")
    for chain in range(5):
        np.testing.assert_allclose(wide[chain], one.gradient(weights[chain]), atol=1e-12)


def test_the_honest_engine_passes() -> None:
    report = audit(sharp_plan(), chains=8000, rng=np.random.default_rng(1))
    assert report.verdict == "pass"
    assert {row.verdict for row in report.rows} == {"pass"}  # tight claims, and the power to see it
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "pass"
    assert "likelihood ratio" in report.text()


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_flagged(name) -> None:
    plan = sharp_plan()
    assert plan.calibration.delete_steps == 2
    engine = FAULTS[name](linear_engine(plan, later_releases=6))
    report = audit(plan, engine=engine, chains=8000, later_releases=6, rng=np.random.default_rng(2))
    assert report.verdict == "fail"


def test_solve_then_diffuse_passes_and_a_cached_minimiser_is_flagged() -> None:
    """The audited plan starts every release from the minimiser; the fault from the old table's."""
    plan = sharp_plan(dp=1.5, deletion=0.5, method="output-perturbation")
    honest = audit(plan, chains=8000, rng=np.random.default_rng(6))
    assert honest.verdict == "pass"
    assert all(row.measured.advantage < 0.02 for row in honest.rows if row.question.endswith("that erased it"))
    louder = sharp_plan(dp=6.0, deletion=0.5, method="output-perturbation")
    stale = faulty(CachedMinimiser, linear_engine(louder, later_releases=3))
    assert audit(louder, engine=stale, chains=8000, rng=np.random.default_rng(6)).verdict == "fail"


def test_a_claim_for_half_the_sensitivity_is_flagged() -> None:
    """L where 2L belongs: the zero-out claim does not cover replacement."""
    replaced = sharp_plan()
    wrong = sharp_plan(adjacency="zero-out", noise_variance=replaced.calibration.noise_variance)
    honest = audit(wrong, chains=4000, rng=np.random.default_rng(3))
    assert honest.verdict == "pass"
    engine = replace(linear_engine(wrong, later_releases=3), slots=wrong.problem.records // 2)
    assert audit(wrong, engine=engine, chains=4000, rng=np.random.default_rng(3)).verdict == "fail"


def test_what_cannot_be_seen_is_inconclusive() -> None:
    loose = sized_plan(losses.Logistic(radius=1.0), 100, 1, 0.25, Budget(order=10, dp=1.0, deletion=1e-4))
    report = audit(loose, chains=1000, rng=np.random.default_rng(4))
    erased = [row for row in report.rows if row.question.endswith("the release that erased it")]
    assert {row.verdict for row in erased} == {"inconclusive"}
    vacuous = sharp_plan(dp=60.0, deletion=50.0)
    assert audit(vacuous, chains=1000, rng=np.random.default_rng(4)).verdict == "inconclusive"


def test_the_real_curator_with_certified_noise_passes() -> None:
    """`learn` and `resume` themselves, chain by chain, with noise from the operating system's keys."""
    plan = sharp_plan()
    linear = sized_plan(
        losses.Linear(radius=1.0),
        100,
        1,
        0.25,
        plan.problem.budget,
        method="noisy-gd",
        step_size=plan.calibration.step_size,
        utility=False,
    )

    def engine(world, chains, _):
        before, after = (Records(t.features, t.labels, slots=100) for t in (world.before, world.after))
        learned = [learn(before, linear) for _ in range(chains)]
        later = [resume(after, model, linear) for model in learned]
        assert all(model.certified for model in later)
        return [np.array([model.weights[None] for model in models]) for models in (learned, later)]

    report = audit(linear, engine=engine, chains=100, later_releases=1, false_alarm=1e-6, factor=4.0)
    assert report.verdict == "pass"


def test_shadow_models_on_the_logistic_loss() -> None:
    plan = sharp_plan(features=2)
    others = Records([[0.6, 0.8], [-0.6, 0.8], [0.0, -1.0]], [1, -1, 1])
    target = ([1.0, 0.0], 1.0)
    report = audit_loss(plan, record=target, others=others, chains=8000, rng=np.random.default_rng(5), factor=4.0)
    assert report.verdict == "pass"
    quiet = sized_plan(
        losses.Logistic(1.0), 100, 2, 0.25, Budget.from_gdp(dp=12.0, deletion=1.52), method="noisy-gd", utility=False
    )
    # the same claims, an engine whose noise is that of a four times larger budget
    assert quiet.calibration.delete_steps == plan.calibration.delete_steps
    loud = audit_loss(plan, record=target, chains=8000, rng=np.random.default_rng(5), engine_plan=quiet, factor=3.0)
    assert loud.verdict == "fail"
