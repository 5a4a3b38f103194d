"""The audits themselves: how often they cry wolf, and how often they see one.

Every test here turns red on a correct build with probability below 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.audits import METHODS_THAT_RUN, plan_of, rows_left_in
from noisygd_delete import Budget, losses
from noisygd_delete.audit import audit, audit_one_run, audit_releases
from noisygd_delete.audit.membership import linear_engine
from tests.bank import sized_plan

from ..audit.faults import FAULTS
from ..audit.shadows import audit_loss

pytestmark = pytest.mark.long

FALSE_ALARM = 0.05
SUITE = 1e-6
RUNS = 300
STEPS = {"method": "noisy-gd", "utility": False}


def tight_plan():
    """c = 1/2 per step and budgets that the steps meet almost exactly: the hardest honest engine to acquit."""
    return sized_plan(losses.Logistic(1.0), 100, 1, 0.25, Budget.from_gdp(dp=3.0, deletion=0.376), **STEPS)


def test_an_honest_engine_is_accused_no_more_often_than_stated(record_property) -> None:
    plan = tight_plan()
    reports = [
        audit(plan, chains=2000, later_releases=2, false_alarm=FALSE_ALARM, rng=np.random.default_rng(seed))
        for seed in range(RUNS)
    ]
    verdicts = [report.verdict for report in reports]
    accused = verdicts.count("fail")
    allowed = int(binom.isf(SUITE, RUNS, FALSE_ALARM))
    # a report that trusted its estimates, or forgot how many bounds it makes, would accuse most honest engines
    careless = sum(any(row.measured.estimate > row.claimed.advantage for row in report.rows) for report in reports)
    record_property(
        "evidence",
        f"{accused} of {RUNS} honest audits failed (stated rate {FALSE_ALARM}), {allowed} allowed; by their estimates {careless} would",
    )
    assert accused <= allowed < careless
    assert verdicts.count("pass") >= 0.9 * RUNS  # and the audit is not blind


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_seen_almost_always(name, record_property) -> None:
    plan = tight_plan()
    engine = FAULTS[name](linear_engine(plan, later_releases=6))
    seen = sum(
        audit(plan, engine=engine, chains=8000, later_releases=6, rng=np.random.default_rng(seed)).verdict == "fail"
        for seed in range(40)
    )
    record_property("evidence", f"{name}: flagged in {seen} of 40 audits of 8000 chains")
    assert seen >= 36


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.PseudoHuber(1.0), losses.Softmax(1.0, 3)])
def test_real_losses_stay_under_their_claims(loss, record_property) -> None:
    """Shadow models, two features; the claims are those of the worst case."""
    plan = sized_plan(loss, 100, 2, 0.25, Budget.from_gdp(dp=3.0, deletion=0.4), **STEPS)
    rng = np.random.default_rng(0)
    label = 2.0 if loss.label_kind == "class" else 1.0
    runs = {"chains": 200_000, "later_releases": 2, "false_alarm": SUITE, "factor": 10.0, "rng": rng}
    report = audit_loss(plan, record=([0.6, 0.8], label), **runs)
    rows = "; ".join(
        f"{row.claimed.advantage:.3f} claimed, {row.measured.estimate:.3f} measured" for row in report.rows
    )
    record_property("evidence", f"{loss.name}: {rows}; false-alarm rate {SUITE:g}")
    assert report.verdict == "pass"


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
def test_a_practical_size(method, record_property) -> None:
    """n = 5,000, λ = 0.01: hundreds of steps per release."""
    budget = Budget(order=10, dp=1.0, deletion=0.3)
    plan = sized_plan(losses.Logistic(1.0), 5000, 10, 0.01, budget, method=method, utility=False)
    report = audit(plan, chains=100_000, later_releases=2, false_alarm=SUITE, rng=np.random.default_rng(1))
    record_property("evidence", f"{method}: {report.verdict}; {len(report.rows)} rows, false-alarm rate {SUITE:g}")
    assert report.verdict == "pass"


@pytest.mark.parametrize("method", METHODS_THAT_RUN)
def test_every_method_s_own_releases_stay_under_their_claims_and_rows_left_in_are_seen(method, record_property) -> None:
    small, wide = plan_of(method, records=10, features=2), plan_of(method, records=1500, features=1500)
    rng = np.random.default_rng(7)
    honest = [
        audit_releases(small, runs=500, false_alarm=SUITE, rng=rng),
        audit_one_run(wide, false_alarm=SUITE, rng=rng),
    ]
    left = [
        audit_releases(small, runs=500, false_alarm=SUITE, publish=rows_left_in, rng=rng),
        audit_one_run(wide, false_alarm=SUITE, publish=rows_left_in, rng=rng),
    ]
    told = "; ".join(
        f"{row.claimed.advantage:.3f} claimed, {row.measured.advantage:.3f} at least"
        for each in honest
        for row in each.rows
    )
    record_property(
        "evidence", f"{method}: {told}; rows left in: {[each.verdict for each in left]}; false-alarm rate {SUITE:g}"
    )
    assert "fail" not in [each.verdict for each in honest]
    promised = small.deletion.with_slack().advantage
    assert promised > 0.2 or "fail" in [each.verdict for each in left]  # composition promises no less
