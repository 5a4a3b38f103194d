"""Conversions beside the accountants of dp_accounting and OpenDP, which were written by others; a planted fault falls out."""

from __future__ import annotations

import math

import pytest

from noisygd_delete.bounds import gaussian, renyi

MULTIPLIERS = [0.5, 1.0, 4.0, 20.0]
DELTAS = [1e-2, 1e-5, 1e-9]


def brackets(multiplier: float, delta: float) -> tuple[float, float]:
    """ε of a Gaussian mechanism from below and from above, by a discretised privacy loss."""
    distribution = pytest.importorskip("dp_accounting", reason="the accountant of google/differential-privacy").pld
    losses = distribution.privacy_loss_distribution.from_gaussian_mechanism
    found = [
        losses(multiplier, pessimistic_estimate=pessimistic, value_discretization_interval=1e-3)
        for pessimistic in (False, True)
    ]
    return found[0].get_epsilon_for_delta(delta), found[1].get_epsilon_for_delta(delta)


@pytest.mark.parametrize("multiplier", MULTIPLIERS)
@pytest.mark.parametrize("delta", DELTAS)
def test_gaussian_dp_lies_within_the_privacy_loss_distribution(multiplier: float, delta: float) -> None:
    below, above = brackets(multiplier, delta)
    ours = gaussian.gdp_epsilon(mu=1 / multiplier, delta=delta)
    assert below - 1e-9 <= ours <= above + 1e-9
    wrong = gaussian.gdp_epsilon(mu=0.95 / multiplier, delta=delta)
    assert not below <= wrong <= above or above == 0


@pytest.mark.parametrize("multiplier", MULTIPLIERS)
@pytest.mark.parametrize("delta", DELTAS)
def test_a_rate_of_renyi_dp_costs_at_most_what_opendp_converts_it_to(multiplier: float, delta: float) -> None:
    """ε_q = ρq for every order, zCDP: OpenDP optimises over orders by Canonne et al.; the optimal conversion is smaller."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp 0.16.0 of requirements/constraints-judges.txt")
    dp.enable_features("contrib")
    mechanism = dp.m.make_gaussian(
        dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=float(multiplier)
    )
    rho = mechanism.map(1.0)
    assert math.isclose(rho, 1 / (2 * multiplier**2), rel_tol=1e-9)
    theirs = dp.c.make_zCDP_to_approxDP(mechanism).map(1.0).epsilon(delta)
    same = renyi.rate_epsilon(rate=rho, delta=delta, way=renyi.renyi_epsilon)
    assert math.isclose(theirs, same, rel_tol=1e-3)
    assert (
        gaussian.gdp_epsilon(mu=1 / multiplier, delta=delta)
        <= renyi.rate_epsilon(rate=rho, delta=delta)
        <= theirs * (1 + 1e-6)
    )
    assert not math.isclose(
        theirs, renyi.rate_epsilon(rate=0.95 * rho, delta=delta, way=renyi.renyi_epsilon), rel_tol=1e-3
    )
