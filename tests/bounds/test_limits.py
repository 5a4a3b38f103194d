"""Every bound at its ends: no cost reveals nothing, unbounded cost promises nothing, and the ends are met continuously."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from noisygd_delete.bounds import (
    adaptive,
    arithmetic,
    forgetting_limits,
    gaussian,
    renyi,
    shifted_interpolation,
    stopping,
    theorem_5_2,
    utility,
)
from noisygd_delete.bounds import objective_perturbation as perturbation
from noisygd_delete.bounds.arithmetic import LEAST_LOG
from noisygd_delete.privacy.guarantee import Guarantee

DELTA, ORDER = 1e-6, 10.0


CURVE = {"renyi": lambda order: 0.1 * order, "highest_order": 50.0}
LINE = {"step_size": 1.0, "strong_convexity": 1.0}
NOWHERE = {"renyi": lambda order: math.inf, "highest_order": 1.0001}
NO_NUMBER = {"renyi": lambda order: math.nan, "highest_order": 10.0}
SMALL = {"step_size": 1e-200, "strong_convexity": 1e-200}
ENDS = {  # what a bound is at an end of its range -> the expressions that are at it
    "nothing is revealed, whatever the probability": (-math.inf, [
        lambda: gaussian.gdp_log_delta(mu=0, epsilon=0),
        lambda: renyi.rate_log_delta(rate=0, epsilon=0),
        lambda: stopping.gdp_stopping_log_delta(mu=0, epsilon=1e-9),
        lambda: stopping.renyi_stopping_log_delta(order=ORDER, renyi=0, epsilon=1e-9),
    ]),
    "no cost, or a probability of 1": (0.0, [
        lambda: gaussian.gdp_epsilon(mu=0, delta=DELTA), lambda: renyi.rate_epsilon(rate=0, delta=DELTA),
        lambda: gaussian.gdp_epsilon(mu=3, delta=1), lambda: renyi.rate_epsilon(rate=3, delta=1),
        lambda: renyi.curve_epsilon(delta=1.0, **CURVE), lambda: gaussian.gdp_delta(mu=0, epsilon=0),
        lambda: gaussian.gdp_advantage(mu=0), lambda: gaussian.renyi_advantage(order=ORDER, renyi=0), lambda: gaussian.rate_advantage(rate=0),
        lambda: adaptive.membership_advantage(order=ORDER, renyi=0.0),
        lambda: stopping.gdp_stopping_epsilon(mu=0.0, delta=0.0), lambda: stopping.renyi_stopping_epsilon(order=ORDER, renyi=0.0, delta=0.0),
        lambda: perturbation.inexact_gdp(spread=0.0, output_noise=0.0, grid=0.0), lambda: perturbation.inexact_rate(spread=0.0, output_noise=0.0),
        lambda: shifted_interpolation.gdp(sensitivity=1, noise_variance=1, records=1, steps_with_record=0, **LINE),
        lambda: utility.settled_distance(steps=1, move=3.0, **LINE), lambda: utility.settled_square(steps=1, move=0.0, stationary=1.0, **SMALL),
        lambda: forgetting_limits.barrier_exponent(lipschitz=1, weak_convexity=0.9, regularization=0.9, noise_variance=1),
        lambda: perturbation.tolerance_for(rate=1e-9, output_noise=0.1, strong_convexity=1e-3, grid=1e-4, dimension=100),
    ]),
    "log of a probability of 1": (0.0, [
        lambda: gaussian.gdp_log_delta(mu=math.inf, epsilon=5), lambda: renyi.renyi_log_delta(order=ORDER, renyi=math.inf, epsilon=5),
        lambda: renyi.renyi_log_delta_optimal(order=ORDER, renyi=math.inf, epsilon=5), lambda: renyi.rate_log_delta(rate=math.inf, epsilon=5),
        lambda: renyi.curve_log_delta(epsilon=1.0, **NOWHERE), lambda: renyi.curve_log_delta(epsilon=1.0, **NO_NUMBER),
        lambda: stopping.gdp_stopping_log_delta(mu=0, epsilon=0), lambda: stopping.gdp_stopping_log_delta(mu=1, epsilon=0),
        lambda: stopping.gdp_stopping_log_delta(mu=1e160, epsilon=9), lambda: stopping.renyi_stopping_log_delta(order=ORDER, renyi=0, epsilon=0),
        lambda: stopping.renyi_stopping_log_delta(order=ORDER, renyi=1, epsilon=1),
        lambda: stopping.renyi_stopping_log_delta(order=ORDER, renyi=math.inf, epsilon=math.inf),
    ]),
    "errors that a test cannot avoid are none": (0.0, [
        lambda: gaussian.gdp_tradeoff(mu=math.inf, false_positive=0.3), lambda: gaussian.gdp_tradeoff(mu=math.inf, false_positive=0),
        lambda: gaussian.renyi_tradeoff(order=ORDER, renyi=math.inf, false_positive=0.3),
        lambda: gaussian.renyi_tradeoff(order=ORDER, renyi=math.inf, false_positive=0, both_directions=True),
    ]),
    "certain, and no more than that": (1.0, [
        lambda: gaussian.gdp_advantage(mu=1e3), lambda: gaussian.renyi_advantage(order=ORDER, renyi=700.0), lambda: gaussian.support_delta(mu=40),
        lambda: adaptive.membership_advantage(order=ORDER, renyi=1.0),
        lambda: adaptive.theorem_4_1(order=ORDER, renyi=1.0), lambda: adaptive.theorem_4_1(order=ORDER, renyi=math.inf),
        lambda: gaussian.gdp_delta(mu=math.inf, epsilon=5), lambda: arithmetic.probability_from_log(0.0), lambda: arithmetic.probability_from_log(9.0),
    ]),
    "nothing is promised": (math.inf, [
        lambda: gaussian.gdp_epsilon(mu=1e160, delta=DELTA), lambda: gaussian.gdp_epsilon(mu=3, delta=0),
        lambda: renyi.rate_epsilon(rate=3, delta=0), lambda: renyi.rate_epsilon(rate=math.inf, delta=DELTA),
        *(lambda way=way: way(order=ORDER, renyi=math.inf, delta=DELTA)
          for way in (renyi.renyi_epsilon_mironov, renyi.renyi_epsilon, renyi.renyi_epsilon_optimal)),
        lambda: renyi.curve_epsilon(delta=0.0, **CURVE), lambda: renyi.curve_epsilon(delta=DELTA, **NOWHERE), lambda: renyi.curve_epsilon(delta=DELTA, **NO_NUMBER),
        *(lambda cost=cost, delta=delta: stopping.gdp_stopping_epsilon(mu=cost, delta=delta)
          for cost, delta in ((1e-3, 0.0), (3.0, -1e-9), (math.inf, DELTA))),
        *(lambda cost=cost, delta=delta: stopping.renyi_stopping_epsilon(order=ORDER, renyi=cost, delta=delta)
          for cost, delta in ((1e-3, 0.0), (3.0, -1e-9), (math.inf, DELTA))),
        *(lambda noise=noise: perturbation.renyi(order=2, sensitivity=1, noise=noise, hessian=0.1) for noise in (0.0, -1.0, math.nan)),
        *(lambda noise=noise: perturbation.gdp(lipschitz=1, noise=noise, ratio=0.1) for noise in (0.0, -1.0, math.nan)),
        lambda: perturbation.inexact_rate(spread=1.0, output_noise=0.0), lambda: perturbation.inexact_gdp(spread=1.0, output_noise=11.9, grid=1.0),
        *(lambda kappa=kappa: perturbation.flow_constant(kappa=kappa) for kappa in (0.2500001, 3.0, -0.1, math.nan, math.inf)),
        lambda: perturbation.highest_order(ratio=0.0), lambda: perturbation.most_noise(lipschitz=1.0, ratio=0.0),
        lambda: utility.settled_square(steps=1, move=0.1, stationary=1.0, **SMALL), lambda: utility.settled_distance(steps=1, move=0.1, **SMALL),
        lambda: forgetting_limits.steps_worth_waiting(expansion=1.0),
        lambda: renyi.noise_for_gdp(gdp=1.0, lipschitz=1.0, ratio=0.1, inexact_gdp=1.0),
        lambda: renyi.noise_for_gdp(gdp=1.0, lipschitz=1.0, ratio=0.1, inexact_gdp=0.6, releases=4),
        lambda: renyi.noise_for_renyi(order=10.0, budget=1.0, sensitivity=1.0, hessian=1.0),
        lambda: renyi.noise_for_renyi(order=10.0, budget=1.0, sensitivity=1.0, hessian=0.5, inexact_rate=0.06),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_a_bound_at_an_end_of_its_range(end: str) -> None:
    expected, found = ENDS[end]
    assert [one() for one in found] == [expected] * len(found)


@pytest.mark.parametrize(
    "errors",
    [
        lambda alpha: gaussian.gdp_tradeoff(mu=1, false_positive=alpha),
        lambda alpha: gaussian.renyi_tradeoff(order=ORDER, renyi=0.5, false_positive=alpha, both_directions=True),
        lambda alpha: gaussian.rate_tradeoff(rate=0.1, false_positive=alpha),
    ],
)
def test_a_test_that_never_or_always_accuses(errors) -> None:
    assert errors(0.0) == 1
    assert errors(1.0) == 0
    between = [errors(alpha) for alpha in (0.0, 1e-12, 0.1, 0.5, 0.9, 1 - 1e-12)]
    assert between == sorted(between, reverse=True)
    assert between[1] > 0.99


def test_a_renyi_bound_in_one_direction_allows_a_test_that_never_errs() -> None:
    """P always shows "a", Q shows "a" with probability p: D_q(P‖Q) = −log p for every q, and "not a" accuses Q for sure."""
    for p in (0.9, 0.5, 1e-3):
        assert gaussian.renyi_tradeoff(order=ORDER, renyi=-math.log(p), false_positive=0) == pytest.approx(p, rel=1e-9)
        assert gaussian.renyi_tradeoff(order=ORDER, renyi=-math.log(p), false_positive=0) <= p
        assert Guarantee("dp", "replace", points=((ORDER, -math.log(p)),)).tradeoff(0.0) <= p


def gdp_log_delta_by_mpmath(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(400):
        a, b = mpmath.mpf(epsilon) / mu - mpmath.mpf(mu) / 2, mpmath.mpf(epsilon) / mu + mpmath.mpf(mu) / 2
        tail = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2  # noqa: E731
        return mpmath.log(tail(a) - mpmath.exp(epsilon) * tail(b))


@pytest.mark.parametrize(("mu", "epsilon"), [(1e-7, 0.5), (1e-3, 3e3), (2.0, 5e6), (6.0, 1.0)])
def test_far_tails_of_gaussian_dp_stay_above_the_truth(mu: float, epsilon: float) -> None:
    """δ far below any double, and δ near 1: log δ is never below the truth and close to it."""
    with mpmath.workdps(30):
        a = mpmath.mpf(epsilon) / mu - mpmath.mpf(mu) / 2
        if a > 1e5:  # asymptotically φ(a)(m(a) − m(b)), with 1/t − 1/t³ ≤ m(t) ≤ 1/t
            b = a + mu
            low = 1 / a - 1 / a**3 - 1 / b
            truth = -(a**2) / 2 - mpmath.log(mpmath.sqrt(2 * mpmath.pi)) + mpmath.log(max(low, mpmath.mpf(10) ** -300))
        else:
            truth = gdp_log_delta_by_mpmath(mu, epsilon)
        bound = gaussian.gdp_log_delta(mu=mu, epsilon=epsilon)
        assert bound >= truth
        assert bound <= truth + abs(truth) * 1e-9 + 1e-6
    assert gaussian.gdp_log_delta(mu=1e-150, epsilon=1e10) == LEAST_LOG


def test_the_least_epsilon_is_found_where_the_first_guess_is_too_small() -> None:
    for mu, delta in itertools.product((1e-3, 0.5, 30.0), (1e-300, 1e-6, 0.4)):
        epsilon = gaussian.gdp_epsilon(mu=mu, delta=delta)
        assert gaussian.gdp_log_delta(mu=mu, epsilon=epsilon) <= math.log(delta) * (1 - 1e-12)
        if epsilon > 1e-9:
            assert gaussian.gdp_log_delta(mu=mu, epsilon=epsilon * (1 - 1e-9)) > math.log(delta)


def test_a_small_order_and_a_large_delta() -> None:
    """δq ≥ 1 has a conversion of its own: ε_q + log(1 − δ), never above the general one."""
    for delta in (0.3, 0.6, 0.999):
        small = renyi.renyi_epsilon_optimal(order=4.0, renyi=2.0, delta=delta)
        assert small <= renyi.renyi_epsilon(order=4.0, renyi=2.0, delta=delta)
        assert small <= max(0.0, 2.0 + math.log1p(-delta)) * (1 + 1e-12)


def test_searches_end_where_floats_end() -> None:
    assert arithmetic.first_safe(lambda x: x > 1, 1.0, math.nextafter(1.0, 2)) == math.nextafter(1.0, 2)
    found = arithmetic.first_safe(lambda x: x >= 0.7, 1e-300, 1e300)
    assert 0.7 <= found <= 0.7 * (1 + 2e-15)


def test_no_steps_are_needed_where_nothing_is_to_be_forgotten_or_travelled() -> None:
    chain = {"step_size": 0.5, "strong_convexity": 0.4}
    assert shifted_interpolation.deletion_steps(gdp_before=0.5, gdp_after=0.5, **chain) == 0
    assert shifted_interpolation.deletion_steps(gdp_before=0.5, gdp_after=0.5 * (1 - 1e-15), **chain) == 1
    assert utility.steps_to_distance(before=1.0, after=1.0, **chain) == 0
    assert shifted_interpolation.distance_after(distance_before=4.0, move=1.0, steps=0, stationary=1.0, **chain) == 9.0
    for before, after in ((3.0, 1.0), (1e9, 1e-9)):
        steps = shifted_interpolation.deletion_steps(gdp_before=before, gdp_after=after, **chain)
        assert 0.8**steps * before <= after * (1 + 1e-12) < 0.8 ** (steps - 1) * before


def test_a_search_that_runs_out_of_rounds_still_answers_safely() -> None:
    """From 0 the bisection is arithmetic: 200 halvings of 1e300 do not reach 0.7, and what is returned was checked."""
    assert arithmetic.first_safe(lambda x: x >= 0.7, 0.0, 1e300) >= 0.7


def test_a_pair_that_is_one_point_bounds_nothing() -> None:
    assert renyi._pair_epsilon(4.0, math.log(0.3), 0.3) == math.inf


@pytest.mark.parametrize(("per_step", "rate"), [(0.43952266841451854, 228.99131024396414), (0.1, 0.3), (0.1, 0.7)])
def test_the_horizon_of_composition_is_never_a_step_too_long(per_step: float, rate: float) -> None:
    """Division rounds to a whole number of steps that the rate, by the last bit, does not cover."""
    facts = {"sensitivity": 2.0, "noise_variance": 1.0, "records": 1, "step_size": per_step}
    steps = theorem_5_2.composition_horizon(rate=rate, **facts)
    assert steps * per_step <= rate < (steps + 2) * per_step


def test_the_horizon_of_composition_includes_a_step_that_spends_the_rate_to_the_last_bit() -> None:
    facts = {"sensitivity": 2.0, "noise_variance": 1.0, "records": 1, "step_size": 0.25}
    assert [theorem_5_2.composition_horizon(rate=rate, **facts) for rate in (2.875, 3.0, 3.125)] == [11, 12, 12]


@pytest.mark.parametrize(
    ("order", "cost", "epsilon"), [(2.0, 3.0, 0.5), (1.5, 4.0, 1.0), (3.0, 2.0, 0.2), (1.2, 2.0, 0.1)]
)
def test_an_event_that_is_certain_in_one_world_sets_the_least_delta(order, cost, epsilon) -> None:
    """p = 1 against p′ = e^{−ε_q} is within ε_q at every order, and has δ(ε) = 1 − e^{ε − ε_q}: attained, not only bounded."""
    least = math.log1p(-math.exp(epsilon - cost))
    found = renyi.renyi_log_delta_optimal(order=order, renyi=cost, epsilon=epsilon)
    assert found == pytest.approx(least, abs=1e-9)
    assert found >= least - 1e-15


@pytest.mark.parametrize("rate", [1e-6, 0.02, 0.5, 3.0])
def test_the_advantage_under_a_rate_is_the_least_over_all_orders(rate: float) -> None:
    """And never less than that of the Gaussian pair with this rate, μ² = 2 · rate."""
    found = gaussian.rate_advantage(rate=rate)
    orders = [1 + 10 ** (12 * k / 300 - 4) for k in range(301)]
    least = min(gaussian.renyi_advantage(order=order, renyi=order * rate) for order in orders)
    assert 0.999 * least <= found <= least * (1 + 1e-9)
    assert math.erf(math.sqrt(rate) / 2) <= found


@pytest.mark.parametrize("order", [1 + 1e-9, 1.5, 2.0, 64.0, 1e6])
@pytest.mark.parametrize("cost", [0.0, 1e-12, 1e-3, 1.0, 29.0])
def test_the_better_log_delta_is_never_above_the_plain_one_nor_above_certainty(order, cost) -> None:
    for epsilon in (0.0, 1e-9, 0.5, 40.0):
        plain = renyi.renyi_log_delta(order=order, renyi=cost, epsilon=epsilon)
        better = renyi.renyi_log_delta_optimal(order=order, renyi=cost, epsilon=epsilon)
        assert better <= min(plain, 0.0)


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

        def plain(q: float, delta: float = delta) -> float:
            return renyi.renyi_epsilon(order=q, renyi=cost * q, delta=delta)

        assert renyi.curve_least(plain, highest_order=highest) == pytest.approx(min(map(plain, orders)), rel=0.01)
