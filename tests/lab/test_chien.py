"""The rivals' step counts against the exact divergence of the linear chain, and against figures their own code gives."""

from __future__ import annotations

import pytest
from noisygd_delete_lab import LangevinUnlearning, NoisySGDUnlearning, langevin

from noisygd_delete import Budget, losses
from tests.bank import sized_plan

from ..oracles.gaussian_chain import squared_mu

# the sizes of the peers' measurement: λ = 1e-3, β = 1/4, L = 1, n = 26,000, η = 1/(λ+β), σ² = 4qL²/(λ ε_dp n²) at q = 10, ε_dp = 1
FACTS = {"strong_convexity": 1e-3, "records": 26_000, "step_size": 1 / 0.251, "noise_variance": 40 / (1e-3 * 26_000**2)}


def least(bound, target):
    steps = 1
    while bound(steps) > target:
        steps += 1
    return steps


@pytest.mark.parametrize(("target", "steps"), [(0.5, 138), (0.1, 301), (0.01, 578)])
def test_noisy_sgd_steps_are_the_peers(target: float, steps: int) -> None:
    def bound(k):
        return langevin.noisy_sgd_renyi(order=10, sensitivity=2.0, steps=k, **FACTS)

    assert least(bound, target) == steps


@pytest.mark.parametrize(("target", "steps"), [(0.5, 1_740), (0.1, 5_780), (0.01, 11_559)])
def test_langevin_steps_are_the_peers(target: float, steps: int) -> None:
    def bound(k):
        return langevin.langevin_renyi(order=10, lipschitz=1.0, steps=k, **FACTS)

    assert least(bound, target) == pytest.approx(steps, abs=1)


@pytest.mark.parametrize("steps", [1, 20, 200, 1500])
def test_bounds_hold_on_the_linear_chain(steps: int) -> None:
    """x against −x for 4,000 steps, then absent: truth below both; a third of the sharper one (planted) is below the truth."""
    gaps = [2.0 / FACTS["records"]] * 4_000 + [0.0] * steps
    facts = {"step_size": FACTS["step_size"], "regularization": 1e-3, "noise_variance": FACTS["noise_variance"]}
    truth = 10 / 2 * float(squared_mu(gaps, **facts))
    sharper = langevin.noisy_sgd_renyi(order=10, sensitivity=2.0, steps=steps, **FACTS)
    assert truth <= sharper
    assert truth <= langevin.langevin_renyi(order=10, lipschitz=1.0, steps=steps, **FACTS)
    if steps == 1500:
        assert sharper == pytest.approx(2 * truth, rel=0.01)
        assert truth > sharper / 3
        assert truth > langevin.langevin_renyi(order=10, lipschitz=1.0, steps=30 * steps, **FACTS)  # e^{−3ηmK}: planted


def test_least_steps_is_least() -> None:
    def bound(order, steps):
        return langevin.noisy_sgd_renyi(order=order, sensitivity=2.0, steps=steps, **FACTS)

    steps = langevin.least_steps(bound, epsilon=0.1, delta=1e-5)

    def epsilon(k):
        from noisygd_delete.bounds.renyi import renyi_epsilon

        return min(renyi_epsilon(order=q, renyi=bound(q, k), delta=1e-5) for q in langevin._ORDERS)

    assert epsilon(steps) <= 0.1 < epsilon(steps - 1)


def test_no_rival_needs_fewer_steps_for_the_same_pair_of_worlds() -> None:
    plan = sized_plan(
        losses.Logistic(1.0),
        26_000,
        108,
        1e-3,
        Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.1, 1e-5)),
        method="noisy-gd",
        deletion_notion="pairwise",
        utility=False,
    )
    target = {"epsilon": 0.1, "delta": 1e-5}
    noisy_sgd = NoisySGDUnlearning(plan, delta=1e-5, epsilon=0.1).plan.calibration.delete_steps
    langevin = LangevinUnlearning(plan, **target).plan.calibration.delete_steps
    assert plan.calibration.delete_steps < noisy_sgd < langevin
