"""Plans over the reals exceed their budget by the slack alone and are read as they were; δ below which no noise of a machine goes."""

from __future__ import annotations

import mpmath
import pytest
from scipy.special import ndtri

from noisygd_delete import Accountant, Budget, Guarantee, losses, make_plan
from noisygd_delete.accountant import build_report
from noisygd_delete.bounds import gaussian as gaussian_bounds
from noisygd_delete.engine import noise
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import Erasure, erasure_certificate
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.serialization import plan_from_dict
from noisygd_delete.privacy.worlds import LEAST_DELTA

RENYI = Budget(order=10, dp=1.0, deletion=0.1)


LOGISTIC = losses.Logistic(radius=1.0)


def planned(loss, method, budget, **more) -> Plan:
    facts = {"records": 2000, "features": 5, "regularization": 1e-2, **method, **more}
    return make_plan(loss, budget=budget, **facts)


@pytest.mark.parametrize("releases", [1, 5])
def test_a_plan_over_the_reals_reads_back_and_is_planned_again_as_it_was(releases) -> None:
    old = planned(LOGISTIC, {"method": "noisy-gd"}, RENYI, slack_in_budget=False, releases=releases)
    assert old.dp.times(releases).with_slack().renyi(10) > RENYI.dp
    read = plan_from_dict(old.to_dict())
    assert read == old
    assert make_plan(**{name: getattr(read.problem, name) for name in read.problem.__dataclass_fields__}) == old
    accountant = Accountant(read)
    for _ in range(releases):
        assert accountant.affordable(accountant.planned_event())
        accountant.record(accountant.planned_event())


# ---------------------------------------------------------------- δ below which no noise of a machine goes


def gaussian(mu: float) -> Guarantee:
    return Guarantee(about="dp", adjacency="replace", gdp_squared=mu**2)


def test_the_noise_reaches_as_far_as_the_bound_on_delta_says() -> None:
    assert gaussian_bounds.LARGEST_DRAW < -ndtri(2.0**-961) < noise.LARGEST
    assert 8 * (len(bytes(noise.KEY_BYTES)) - 12) == 256  # the key; the rest is the nonce
    assert LEAST_DELTA == 2.0**-256


@pytest.mark.parametrize("mu", [0.1, 1.0, 2.83, 10.0, 18.0, 30.0])
def test_the_least_delta_covers_what_one_step_gives_away(mu) -> None:
    """One noisy step: Φ(μ − B) of one world's outcomes cannot come from the other, and no ε excuses that."""
    reach = -ndtri(2.0**-961)
    truth = mpmath.ncdf(mpmath.mpf(mu) - mpmath.mpf(float(reach)))
    assert gaussian(mu).least_delta >= max(truth, LEAST_DELTA)
    rate = Guarantee(about="dp", adjacency="replace", rate=mu**2 / 2)
    assert rate.least_delta == pytest.approx(gaussian(mu).least_delta)


def test_no_smaller_delta_is_stated() -> None:
    small = LEAST_DELTA / 2
    with pytest.raises(InvalidParameter, match="256-bit"):
        Budget.from_epsilon_delta(dp=(1.0, small), deletion=(0.1, 1e-6))
    with pytest.raises(InvalidParameter, match="256-bit"):
        Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, small))
    plan = planned(LOGISTIC, {"method": "noisy-gd"}, RENYI)
    accountant = Accountant(plan)
    accountant.record(accountant.planned_event())
    with pytest.raises(InvalidParameter, match="256-bit"):
        build_report(accountant, delta=small)
    accountant.record(accountant.planned_event())
    for delta in (small, 2 * LEAST_DELTA):
        try:
            erasure_certificate(Erasure(rows=1, release=2), plan=plan, events=accountant.events, delta=delta)
        except InvalidParameter:
            refused = delta
    assert refused == small
