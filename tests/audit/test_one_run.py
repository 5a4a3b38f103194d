"""Bounds from one run: against linear programming, exact laws and how often they are wrong; and the product's own runs of every method."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from benchmarks.audits import METHODS_THAT_RUN, plan_of, quieter, rows_left_in
from noisygd_delete import Budget, losses, make_plan, maps
from noisygd_delete.audit import AuditRow, OneRun, audit_one_run, audit_releases
from noisygd_delete.audit.one_run import guess_canaries
from noisygd_delete.audit.releases import publish_twice
from noisygd_delete.curator import carried_noise
from noisygd_delete.curator.carried_noise import draw_release
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.methods import method_variants
from noisygd_delete.privacy.guarantee import Guarantee
from tests.oracles import guesses

# ---------------------------------------------------------------- the bounds


def lines_of(mu: float) -> list[tuple[float, float]]:
    """Tangents of G_μ."""
    found = []
    for alarm in norm.cdf(np.linspace(-6, 6, 400)):
        point = norm.isf(alarm)
        slope = -math.exp(mu * point - mu**2 / 2)
        found.append((norm.cdf(point - mu) - slope * alarm, slope))
    return found


@pytest.mark.parametrize(("canaries", "made", "correct"), [(8, 8, 8), (8, 8, 6), (12, 6, 6), (20, 10, 9), (5, 1, 1)])
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
def test_the_least_law_is_the_linear_programme(canaries, made, correct, mu) -> None:
    most = guesses.most_likely(canaries, made, correct, lines_of(mu))
    run = OneRun(canaries, made, correct)

    def refuted(level: float) -> bool:
        return run.beyond(lambda alarm: float(norm.cdf(norm.isf(alarm) - mu)), level)

    assert not refuted(most * (1 - 1e-3))
    assert most > 0.998 or refuted(min(most * (1 + 1e-2), 1 - 1e-9))


def test_bounds_are_wrong_no_more_often_than_stated_and_near_the_truth() -> None:
    """The Gaussian mechanism at a known μ, a coin and a draw for each of 1,000 canaries."""
    rng, canaries, mu, error, wrong, found = np.random.default_rng(0), 1000, 1.0, 0.05, 0, []
    for _ in range(30):
        coins = rng.random(canaries) < 0.5
        run = guess_canaries(rng.normal(size=canaries) + mu * coins, coins, share=0.3, error=error)
        found.append(run.gdp)
        wrong += run.gdp > mu
    assert wrong <= binom.isf(1e-6, 30, error)
    assert np.median(found) > mu / 3


def test_more_right_guesses_prove_more_and_half_of_them_nothing() -> None:
    bounds = [OneRun(200, 100, correct).gdp for correct in (50, 70, 80, 95, 100)]
    assert bounds == sorted(bounds)
    assert bounds[0] == 0.0 < bounds[1]
    assert OneRun(200, 100, 50).gdp == OneRun(200, 0, 0).gdp == 0.0
    assert OneRun(200, 0, 0).estimate == 0.0
    for wrong in ((10, 11, 0), (10, 5, 6), (0, 0, 0)):
        with pytest.raises(InvalidParameter):
            OneRun(*wrong)


def test_a_claim_that_is_not_gaussian_is_refuted_by_its_lines_alone() -> None:
    claimed = Guarantee("deletion", "erased-vs-never", rate=0.02)
    assert OneRun(400, 400, 400).refutes(claimed)
    assert not OneRun(400, 400, 220).refutes(claimed)
    row = AuditRow("left?", "one run", claimed, OneRun(400, 400, 400), 3.0)
    assert row.verdict == "fail"


# ---------------------------------------------------------------- the product


@pytest.mark.parametrize("method", METHODS_THAT_RUN)
def test_one_run_of_every_method_stays_within_its_claims_and_rows_left_in_are_seen(method) -> None:
    plan = plan_of(method, records=800, features=800)
    honest = audit_one_run(plan, rng=np.random.default_rng(4))
    assert honest.verdict != "fail", honest.text()
    assert honest.rows[0].measured.gdp > 0.2  # it sees the records that are there
    assert json.loads(json.dumps(honest.to_dict()))["rows"]
    louder = audit_one_run(plan, publish=rows_left_in, rng=np.random.default_rng(4))
    assert louder.rows[0].measured == honest.rows[0].measured  # the same coins and draws: the learn is the same
    assert louder.rows[1].measured.gdp > honest.rows[1].measured.gdp
    if plan.deletion.with_slack().advantage < 0.2:  # composition promises no more than that
        assert louder.verdict == "fail", louder.text()


def test_every_method_is_here_but_the_one_whose_steps_are_hundreds_of_thousands() -> None:
    assert set(method_variants()) - set(METHODS_THAT_RUN) == {"noisy-gd:analysis=theorem-5-2"}
    assert plan_of("noisy-gd:analysis=theorem-5-2", records=10, features=2).calibration.learn_steps > 100_000


def test_noise_cut_to_a_tenth_is_refuted_by_one_run() -> None:
    plan = plan_of("noisy-gd", records=400, features=400, dp=1.0)
    honest = audit_one_run(plan, rng=np.random.default_rng(2))
    assert honest.verdict == "pass"
    quiet = audit_one_run(
        plan,
        publish=lambda plan, world, rng: publish_twice(quieter(plan, 0.1), world, rng),
        rng=np.random.default_rng(2),
    )
    assert quiet.rows[0].verdict == "fail"
    assert quiet.rows[0].measured.gdp > 1.0


def test_sums_whose_rows_go_before_the_draw_are_refuted_by_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the usual order. What is carried on is then no noise alone, and later models owe the rows more than nothing."""

    def erases_first(held, procedure, after, *others):
        table = held if after.edits is None else held.copy()
        if after.edits is not None:
            table.write(after.edits)
        return draw_release(table, procedure, replace(after, edits=None), *others)

    monkeypatch.setattr(carried_noise, "draw_release", erases_first)
    found = audit_one_run(plan_of("sufficient-statistics", records=400, features=400), rng=np.random.default_rng(1))
    assert [row.verdict for row in found.rows] == ["pass", "fail"]


def test_sums_of_counted_rows_are_audited_by_rows_of_any_form() -> None:
    map = maps.Additive((0,) * 20, levels=3)
    facts = {
        "records": 300,
        "features": map.width + 1,
        "regularization": 0.1,
        "budget": Budget.from_gdp(dp=2.0, deletion=0.3),
    }
    plan = make_plan(losses.Logistic(radius=1.0), method="sufficient-statistics", map=map, releases=2, **facts)
    found = audit_one_run(plan, rng=np.random.default_rng(1))
    assert found.verdict != "fail"
    assert found.rows[0].measured.gdp > 0.2


def test_one_column_is_refused() -> None:
    with pytest.raises(AssumptionViolated, match="column of its own"):
        audit_one_run(plan_of("noisy-gd", records=100, features=1))


@pytest.mark.parametrize("by", ["one run", "releases"])
@pytest.mark.parametrize(
    "facts",
    [
        {"loss": losses.Softmax(radius=1.0, classes=3), "method": "noisy-gd"},
        {"loss": losses.OneVsRest(radius=1.0, classes=3), "method": "objective-perturbation"},
        {"loss": losses.Logistic(radius=1.0), "method": "objective-perturbation", "one_hot_blocks": (3, 5, 0)},
        {"loss": losses.Softmax(radius=1.0, classes=3), "method": "sufficient-statistics", "releases": 4},
    ],
    ids=["softmax", "one against the rest", "a shape of the noise", "classes in sums"],
)
def test_rows_and_labels_of_an_audit_are_such_as_every_plan_takes(by, facts):
    budget = Budget.from_epsilon_delta(dp=(4.0, 1e-5), deletion=(0.5, 1e-5))
    plan = make_plan(records=200, features=9, regularization=0.1, budget=budget, **facts)
    rng = np.random.default_rng(3)
    assert (
        audit_one_run(plan, rng=rng) if by == "one run" else audit_releases(plan, runs=20, rng=rng)
    ).verdict != "fail"
