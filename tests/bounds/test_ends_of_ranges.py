"""Formulas at the ends of their ranges: no noise costs everything, no privacy is asked for nothing, and nothing is rounded into a promise."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from noisygd_delete.bounds import adaptive, objective_perturbation, renyi, shifted_interpolation, stopping, utility


@pytest.mark.parametrize("noise", [0.0, -1.0, math.nan])
def test_without_noise_objective_perturbation_promises_nothing(noise) -> None:
    assert objective_perturbation.renyi(order=2, sensitivity=1, noise=noise, hessian=0.1) == math.inf
    assert objective_perturbation.gdp(lipschitz=1, noise=noise, ratio=0.1) == math.inf


def test_the_output_noise_costs_at_most_its_share_of_the_excess_risk() -> None:
    """E ½ Zᵀ H Z for Z = τN against E ½ bᵀ H⁻¹ b for b = (s/n)N: equal where H is a multiple of I, less elsewhere."""
    rng = np.random.default_rng(3)
    share, noise, records, dimension = 0.01, 5.0, 1000.0, 6
    for spread in (0.0, 0.5, 3.0):
        curvatures = np.exp(spread * rng.standard_normal(dimension))
        tau = objective_perturbation.output_noise(
            share=share, noise=noise, records=records, dimension=dimension, hessian_trace=float(curvatures.sum())
        )
        of_output = tau**2 * curvatures.sum() / 2
        of_linear_term = (noise / records) ** 2 * (1 / curvatures).sum() / 2
        if spread:
            assert of_output < share * of_linear_term
        else:
            assert of_output == pytest.approx(share * of_linear_term, rel=1e-12)


def test_a_curve_at_the_ends_of_delta() -> None:
    facts = {"renyi": lambda order: 0.1 * order, "highest_order": 50.0}
    assert renyi.curve_epsilon(delta=1.0, **facts) == 0
    assert renyi.curve_epsilon(delta=0.0, **facts) == math.inf
    inside = [renyi.curve_epsilon(delta=delta, **facts) for delta in (1e-12, 1e-6, 1e-2)]
    assert math.inf > inside[0] > inside[1] > inside[2] > 0


def test_no_noise_is_enough_where_the_budget_is_spent_before_it() -> None:
    """A solver's tolerance alone, or a Hessian's cost alone, may exceed the budget: then s is infinite, not large."""
    gdp = {"gdp": 1.0, "lipschitz": 1.0, "ratio": 0.1}
    assert renyi.noise_for_gdp(**gdp, inexact_gdp=1.0) == math.inf
    assert renyi.noise_for_gdp(**gdp, inexact_gdp=0.6, releases=4) == math.inf
    assert 0 < renyi.noise_for_gdp(**gdp, inexact_gdp=0.5) < math.inf
    rates = {"order": 10.0, "budget": 1.0, "sensitivity": 1.0}
    assert renyi.noise_for_renyi(**rates, hessian=1.0) == math.inf
    assert renyi.noise_for_renyi(**rates, hessian=0.5, inexact_rate=0.06) == math.inf
    assert 0 < renyi.noise_for_renyi(**rates, hessian=0.5, inexact_rate=0.01) < math.inf


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 20.0, 500.0])
@pytest.mark.parametrize("delta", [1e-30, 1e-9, 1e-3])
def test_the_rate_for_a_budget_keeps_it(epsilon, delta) -> None:
    rate, order = renyi.rate_for(epsilon=epsilon, delta=delta)
    assert rate >= 0
    if rate:
        assert renyi.renyi_epsilon(order=order, renyi=order * rate, delta=delta) <= epsilon
        assert renyi.renyi_epsilon(order=order, renyi=order * rate * (1 + 1e-6), delta=delta) > epsilon


@pytest.mark.parametrize("order", [1 + 1e-9, 1.5, 2.0, 64.0, 1e6])
@pytest.mark.parametrize("cost", [0.0, 1e-12, 1e-3, 1.0, 29.0])
def test_the_better_log_delta_is_never_above_the_plain_one_nor_above_certainty(order, cost) -> None:
    for epsilon in (0.0, 1e-9, 0.5, 40.0):
        plain = renyi.renyi_log_delta(order=order, renyi=cost, epsilon=epsilon)
        better = renyi.renyi_log_delta_optimal(order=order, renyi=cost, epsilon=epsilon)
        assert better <= min(plain, 0.0)


def test_a_run_that_forgets_nothing_settles_nowhere() -> None:
    """c^{2K} = 1 in floats: requests that move the minimiser add up without end, and those that do not leave nothing."""
    facts = {"steps": 1, "step_size": 1e-200, "strong_convexity": 1e-200, "stationary": 1.0}
    assert utility.settled_square(move=0.1, **facts) == math.inf
    assert utility.settled_square(move=0.0, **facts) == 0.0


def test_steps_to_forget_are_the_least_that_reach_the_target() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        step, convexity = 1.0, float(10 ** rng.uniform(-8, -0.1))
        before, after = float(10 ** rng.uniform(-3, 2)), float(10 ** rng.uniform(-5, 2))
        steps = shifted_interpolation.deletion_steps(
            gdp_before=before, gdp_after=after, step_size=step, strong_convexity=convexity
        )
        left = math.exp(steps * math.log1p(-step * convexity)) * before
        assert left <= after * (1 + 2e-13)
        if steps > 1:
            assert left / (1 - step * convexity) > after * (1 - 1e-9)


STOPPED = {
    "gdp": lambda cost, delta, many=1: stopping.gdp_stopping_epsilon(mu=cost, delta=delta, candidates=many),
    "renyi": lambda cost, delta, many=1: stopping.renyi_stopping_epsilon(
        order=8, renyi=cost, delta=delta, candidates=many
    ),
}


@pytest.mark.parametrize("by", STOPPED)
def test_an_observer_who_stops_at_the_ends_of_delta_and_cost(by: str) -> None:
    epsilon = STOPPED[by]
    for cost in (1e-3, 0.5, 3.0):
        assert epsilon(cost, 0.0) == epsilon(cost, -1e-9) == math.inf
        told = [epsilon(cost, delta) for delta in (1e-300, 1e-9, 1e-3, 0.5)]
        assert math.inf > told[0] > told[1] > told[2] > told[3] > 0
        assert epsilon(cost, 1e-6, 1000) > epsilon(cost, 1e-6)
        assert epsilon(0.0, 1e-6) == epsilon(0.0, 0.0) == 0.0
    assert epsilon(math.inf, 1e-6) == math.inf


@pytest.mark.parametrize(("highest", "cost"), [(1.5, 0.6), (4.0, 0.02), (60.0, 0.6), (1e5, 1e-4)])
def test_a_curve_gives_the_least_over_its_orders(highest: float, cost: float) -> None:
    """Nothing on a grid of orders below the highest one is better, by more than the search leaves."""
    curve = {"renyi": lambda order: cost * order, "highest_order": highest}
    orders = 1 + (highest - 1) * (1 - 1e-6) * np.logspace(-7, 0, 100)
    for epsilon in (0.05, 0.5, 3.0):
        least = min(renyi.renyi_log_delta_optimal(order=q, renyi=cost * q, epsilon=epsilon) for q in orders)
        assert least * 1.05 - 1e-6 <= renyi.curve_log_delta(epsilon=epsilon, **curve) <= least * 0.98 + 1e-3
    for delta in (1e-9, 1e-4, 0.05):
        least = min(renyi.renyi_epsilon_optimal(order=q, renyi=cost * q, delta=delta) for q in orders)
        assert least * 0.97 - 1e-6 <= renyi.curve_epsilon(delta=delta, **curve) <= least * 1.001 + 1e-6


@pytest.mark.parametrize("order", [2, 3, 17])
def test_without_samples_a_record_against_another_costs_the_triangle_over_the_null_record(order: int) -> None:
    for multiplier, steps in ((0.7, 1), (3.0, 40)):
        facts = {"sampling_rate": 1.0, "noise_multiplier": multiplier, "steps": steps}
        rate = steps / (2 * multiplier**2)
        assert renyi.zero_out_renyi(order=order, **facts) == pytest.approx(order * rate, rel=1e-9)
        apart = (order - 0.5) / (order - 1) * 2 * order * rate + (2 * order - 1) * rate
        assert renyi.replace_renyi(order=order, **facts) == pytest.approx(apart, rel=1e-9)


@pytest.mark.parametrize("order", [1.05, 1.5, 2.0, 8.0, 300.0])
def test_theorem_4_1_is_the_smaller_of_its_two_printed_terms(order: float) -> None:
    smaller = set()
    for cost in (1e-9, 1e-3, 0.02, 0.2, 0.5, 0.69, 0.999):
        q, epsilon = mpmath.mpf(order), mpmath.mpf(cost)
        terms = [
            mpmath.sqrt(2 * epsilon),
            q * mpmath.exp(epsilon * (q - 1) / q) / (q - 1) * (2 * (q - 1)) ** (1 / q) - 1,
        ]
        found = adaptive.theorem_4_1(order=order, renyi=cost)
        assert min(1, *terms) <= found <= min(1, *terms) * (1 + 1e-12) + 1e-11
        smaller.add(terms[0] < terms[1])
        assert adaptive.membership_advantage(order=order, renyi=cost) <= found
    assert (False in smaller) == (order > 100)
    assert adaptive.theorem_4_1(order=order, renyi=1.0) == adaptive.theorem_4_1(order=order, renyi=math.inf) == 1.0
    assert adaptive.membership_advantage(order=order, renyi=0.0) == 0.0
