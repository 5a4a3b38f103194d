"""Closed forms in floats against the same in 40 digits, at random arguments: never on the wrong side of a rounding, and near."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from noisygd_delete.bounds import (
    adaptive,
    arithmetic,
    correlated_sums,
    exact_steps,
    forgetting_limits,
    gaussian,
    moments,
    renyi,
    shifted_interpolation,
    solver_steps,
    stopping,
    theorem_5_1,
    utility,
)
from noisygd_delete.bounds import objective_perturbation as perturbation

from ..accountant.checks import optimal_against_coins

DRAWS, NEAR = 40, 2e-11
WHOLE = {  # arguments that are whole numbers, drawn on a logarithmic scale like all others
    "records": (10, 10**6), "steps": (1, 400), "steps_with_record": (1, 400), "steps_without_record": (1, 200), "learn_steps": (1, 400),
    "delete_steps": (1, 60), "dimension": (1, 500), "outputs": (1, 9), "features": (2, 400), "rows": (1, 6), "worlds": (1, 2), "blocks": (1, 5),
    "batch": (1, 20), "number": (1, 50), "usual": (1, 50), "coordinates": (1, 900), "candidates": (1, 1000),
}  # fmt: skip
REAL = {
    "step_size": (0.01, 1), "strong_convexity": (0.005, 0.9), "regularization": (0.005, 0.9), "ratio": (1e-5, 0.9), "grid": (1e-6, 1e-3),
    "output_noise": (0.1, 3), "deviation": (0.1, 30), "gradient_tolerance": (1e-4, 0.1), "order": (1.05, 300), "delta": (1e-12, 0.4),
    "renyi": (1e-4, 0.99), "share": (1e-3, 0.5), "advantage": (0.05, 1), "carry": (0.05, 0.95), "expansion": (1.001, 2), "value": (1e-300, 1),
    "mu": (0.01, 30), "kappa": (1e-4, 0.25), "objective_smoothness": (0.9, 1.9), "noise": (0.3, 3), "lipschitz": (0.3, 3),
}  # fmt: skip
OTHERS = (0.05, 20)


def draw(rng: np.random.Generator, name: str) -> float:
    if name == "between_records":
        return bool(rng.integers(2))
    low, high = WHOLE.get(name) or REAL.get(name) or OTHERS
    value = math.exp(rng.uniform(math.log(low), math.log(high)))
    return round(value) if name in WHOLE else min(high, max(low, value))


def power(step_size: Any, strong_convexity: Any, steps: Any) -> Any:
    return (1 - step_size * strong_convexity) ** steps


def settled(dimension: Any, noise_variance: Any, strong_convexity: Any, step_size: Any) -> Any:
    """V_∞, as the sum over the past steps of their noise."""
    return 2 * step_size * dimension * noise_variance / (1 - power(step_size, strong_convexity, 2))


def of_one_gap(sensitivity: Any, step_size: Any, noise_variance: Any, records: Any, shifts: Any, weights: Any) -> Any:
    """μ of a chain whose distance the shifts a_k ∝ c^{t−k} take away: their sum of weights over the root of that of squares."""
    return step_size * sensitivity / records * shifts / mp.sqrt(2 * step_size * noise_variance * weights)


def gdp(sensitivity, step_size, strong_convexity, noise_variance, records, steps_with_record, steps_without_record):
    c, total = power(step_size, strong_convexity, 1), steps_with_record + steps_without_record
    shifts = c**steps_without_record * (1 - c**steps_with_record) / (1 - c)
    return of_one_gap(sensitivity, step_size, noise_variance, records, shifts, (1 - c ** (2 * total)) / (1 - c**2))


def minimiser_gdp(sensitivity, step_size, strong_convexity, noise_variance, records, steps, gradient_tolerance):
    """From a start at distance Δ/(mn) + 2γ/m, with the gap ηΔ/n at every step."""
    c = power(step_size, strong_convexity, 1)
    start = (sensitivity / records + 2 * gradient_tolerance) / strong_convexity
    left = c**steps * start + step_size * sensitivity / records * (1 - c**steps) / (1 - c)
    return left / mp.sqrt(2 * step_size * noise_variance * (1 - c ** (2 * steps)) / (1 - c**2))


def gradient_square(hessian_trace, noise_variance, step_size, objective_smoothness):
    return 2 * hessian_trace * noise_variance / (2 - step_size * objective_smoothness)


def stationary_excess(
    dimension, hessian_trace, noise_variance, step_size, strong_convexity, objective_smoothness
) -> Any:
    square = gradient_square(hessian_trace, noise_variance, step_size, objective_smoothness)
    variance = settled(dimension, noise_variance, strong_convexity, step_size)
    return min(dimension * noise_variance + step_size * square / 2, objective_smoothness * variance / 2)


def excess_at(stationary, gradient_square, distance, objective_smoothness):
    return stationary + distance * mp.sqrt(gradient_square) + objective_smoothness * distance**2 / 2


def excess_of(
    square, distance, dimension, hessian_trace, noise_variance, step_size, strong_convexity, objective_smoothness
):
    law = (hessian_trace, noise_variance, step_size)
    stationary = stationary_excess(dimension, *law, strong_convexity, objective_smoothness)
    at = excess_at(stationary, gradient_square(*law, objective_smoothness), distance, objective_smoothness)
    return min(objective_smoothness * square / 2, at)


def settled_square(steps, move, step_size, strong_convexity, stationary):
    """The V that a request of K steps gives back: V = c^{2K}(√V + s)² + (1 − c^{2K})V_∞."""
    kept = power(step_size, strong_convexity, 2 * steps)
    (root,) = (
        x for x in mp.polyroots([1 - kept, -2 * kept * move, -kept * move**2 - (1 - kept) * stationary]) if x > 0
    )
    return root**2


def settled_distance(steps, move, step_size, strong_convexity):
    kept = power(step_size, strong_convexity, steps)
    return kept * move / (1 - kept)


def released_excess(
    start, learn_steps, delete_steps, move, dimension, hessian_trace, noise_variance, step_size, strong_convexity, objective_smoothness
):  # fmt: skip
    chain = (step_size, strong_convexity)
    stationary = settled(dimension, noise_variance, strong_convexity, step_size)
    kept = power(*chain, learn_steps)
    square = max(
        kept**2 * start + (1 - kept**2) * stationary, settled_square(delete_steps, move, *chain, stationary=stationary)
    )
    distance = max(kept * (mp.sqrt(start) + mp.sqrt(stationary)), settled_distance(delete_steps, move, *chain))
    return excess_of(
        square,
        distance,
        dimension,
        hessian_trace,
        noise_variance,
        step_size,
        strong_convexity,
        objective_smoothness,
    )


def flow_constant(kappa):
    """The smaller root m of m = 1 + 2 ln 2 κ² m²/…: 1 + 2 ln2 κ²/(1 + √(1 − 8 ln2 κ²)) = 1 + (1 − √(1 − 8 ln2 κ²))/4."""
    return 1 + (1 - mp.sqrt(1 - 8 * mp.log(2) * kappa**2)) / 4


def rounded_distance(gradient_tolerance, strong_convexity, grid, dimension):
    return 2 * gradient_tolerance / strong_convexity + grid * mp.sqrt(dimension)


def inexact_gdp(spread, output_noise, grid):
    return spread / mp.sqrt(output_noise**2 - 144 * grid**2)


def moments_gdp(sensitivity, deviation, coordinates, grid):
    return inexact_gdp(sensitivity / deviation + grid * mp.sqrt(coordinates), 1, grid)


def without_record(order, r):
    """h₋(r); infinite from the order on at which the determinant vanishes."""
    return -(order - 1) * mp.log(1 + r) - mp.log(1 - (order - 1) * r) if (order - 1) * r < 1 else mp.inf


def replace_hessian(order, ratio, rows):
    """Several rows beyond the inflection of h₊ have its bound q(q−1)r²/2."""
    r, beyond = rows * ratio, rows > 1 and order * (rows * ratio) ** 2 > 1
    with_record = order * (order - 1) * r**2 / 2 if beyond else order * mp.log(1 + r) - mp.log(1 + order * r)
    return (with_record + without_record(order, r)) / (order - 1)


def several_replace_hessian(order, ratio, rows):
    half = order * (rows * ratio) ** 2 / 2
    return half + max(without_record(order, rows * ratio) / (order - 1), half)


def gradient_error(lipschitz, curvature, outputs, records, features, regularization, weights_norm):
    """To first order, doubled: in units of 2⁻⁵³, each term times the additions and products it passes through."""
    additions = min(2048, records) + mp.ceil(mp.log(mp.ceil(records / 256), 2)) + 128
    summed = (24 + 4 * outputs + additions) * lipschitz
    return mp.mpf(2) ** -52 * (curvature * (features + 2) * weights_norm + summed + 4 * regularization * weights_norm)


def theorem_4_1(order, renyi):
    printed = order * mp.exp(renyi * (order - 1) / order) / (order - 1) * (2 * (order - 1)) ** (1 / mp.mpf(order)) - 1
    return min(1, mp.sqrt(2 * renyi), printed)


def log_mean_power(order, t):
    return mp.log(((1 + t) ** order + (1 - t) ** order) / 2)


def lower_bound(order, advantage):
    printed = mp.log(order - 1) + order / (order - 1) * mp.log((1 + advantage**2) / (order * 2 ** (1 / mp.mpf(order))))
    return max(0, advantage**4 / 2, printed)


def sampled(order, sampling_rate, noise_multiplier, steps):
    terms = (
        mp.binomial(order, k) * (1 - sampling_rate) ** (order - k) * sampling_rate**k * mp.exp(k * (k - 1) / noise_multiplier**2 / 2)
        for k in range(order + 1)
    )  # fmt: skip
    return steps * mp.log(mp.fsum(terms)) / (order - 1)


UP, DOWN, EITHER = 1, -1, 0
FORMULAS: tuple[tuple[Callable[..., Any], int, Callable[..., Any]], ...] = (
    # Theorem 5.1
    (theorem_5_1.condition_number, EITHER, lambda regularization, smoothness: 1 + smoothness / regularization),
    (theorem_5_1.step_size, EITHER, lambda regularization, smoothness: mp.mpf(0.5) / (regularization + smoothness)),
    (theorem_5_1.noise_variance, EITHER,
     lambda rate, sensitivity, regularization, records: (sensitivity / records) ** 2 / (regularization * rate)),
    (theorem_5_1.init_variance, EITHER,
     lambda noise_variance, regularization, step_size: settled(1, noise_variance, regularization, step_size)),
    (theorem_5_1.dp_rate, EITHER,
     lambda sensitivity, regularization, noise_variance, records, step_size, steps: (sensitivity / records) ** 2
     / (regularization * noise_variance) * (1 - mp.exp(-regularization * step_size * steps / 2))),
    (theorem_5_1.composition_rate, EITHER,
     lambda sensitivity, noise_variance, records, step_size, steps: (sensitivity / records) ** 2 * step_size * steps / (4 * noise_variance)),
    (theorem_5_1.excess_risk, EITHER,
     lambda rate, lipschitz, regularization, smoothness, records, dimension: 10 * (1 + smoothness / regularization) * dimension
     * lipschitz**2 / (regularization * rate * records**2)),
    # shifted interpolation
    (shifted_interpolation.largest_step_size, EITHER, lambda strong_convexity, objective_smoothness: 2 / (strong_convexity + objective_smoothness)),
    (shifted_interpolation.gdp, EITHER, gdp),
    (shifted_interpolation.minimiser_dp_gdp, EITHER, minimiser_gdp),
    (shifted_interpolation.stationary_distance, EITHER, settled),
    (shifted_interpolation.distance_after, EITHER,
     lambda distance_before, move, steps, step_size, strong_convexity, stationary: power(step_size, strong_convexity, 2 * steps)
     * (mp.sqrt(distance_before) + move) ** 2 + (1 - power(step_size, strong_convexity, 2 * steps)) * stationary),
    (shifted_interpolation.excess_risk, EITHER, lambda distance, objective_smoothness: objective_smoothness * distance / 2),
    (shifted_interpolation.minimiser_move, EITHER,
     lambda lipschitz, strong_convexity, records, batch: 2 * lipschitz * batch / (strong_convexity * records)),
    # utility
    (utility.stationary_gradient_square, EITHER, gradient_square),
    (utility.stationary_excess, EITHER, stationary_excess),
    (utility.excess_at_distance, EITHER, excess_at),
    (utility.settled_distance, EITHER, settled_distance),
    (utility.settled_square, EITHER, settled_square),
    (utility.excess_of, EITHER, excess_of),
    (utility.released_excess, EITHER, released_excess),
    # objective perturbation
    (perturbation.curvature_ratio, UP,
     lambda smoothness, strong_convexity, records, weak_convexity: smoothness / (records * strong_convexity + weak_convexity)),
    (perturbation.highest_order, DOWN, lambda ratio, rows, below: (1 + rows * ratio) / (rows * (ratio + below))),
    (perturbation.zero_out_hessian, UP, lambda order, ratio, rows: without_record(order, rows * ratio) / (order - 1)),
    (perturbation.replace_hessian, UP, replace_hessian),
    (perturbation.several_replace_hessian, UP, several_replace_hessian),
    (perturbation.renyi, UP,
     lambda order, sensitivity, noise, hessian, inexact_gdp: order * (sensitivity / noise) ** 2 / 2 + hessian + order * inexact_gdp**2 / 2),
    (perturbation.excess_risk, EITHER,
     lambda dimension, noise, strong_convexity, records, gradient_tolerance, output_noise, hessian_trace:
     (mp.sqrt(dimension) * noise / records + gradient_tolerance) ** 2 / (2 * strong_convexity) + output_noise**2 * hessian_trace / 2),
    (perturbation.flow_constant, UP, flow_constant),
    (perturbation.gdp, UP, lambda lipschitz, noise, ratio, rows, worlds, blocks: rows * worlds * mp.sqrt(blocks) * lipschitz / noise
     * flow_constant(ratio * noise / lipschitz) if ratio * noise / lipschitz < 0.25 else mp.inf),
    (perturbation.most_noise, DOWN, lambda lipschitz, ratio: lipschitz / (4 * ratio)),
    (perturbation.rounded_solution_distance, UP, rounded_distance),
    (perturbation.inexact_rate, UP, lambda spread, output_noise: (spread / output_noise) ** 2 / 2),
    (perturbation.inexact_gdp, UP, inexact_gdp),
    (perturbation.output_noise, EITHER,
     lambda share, noise, records, dimension, hessian_trace: mp.sqrt(share) * noise * dimension / (records * hessian_trace)),
    (perturbation.ridge_cost, EITHER, lambda requested, used, model_norm: (used - requested) * model_norm**2 / 2),
    # moments
    (moments.coordinates, EITHER, lambda outputs, features: outputs * features + mp.binomial(features + 1, 2)),
    (moments.moments_sensitivity, UP, lambda between_records, rows: rows * (2 if between_records else mp.sqrt(1.5))),
    (moments.moments_gdp, UP, moments_gdp),
    # Rényi DP
    (renyi.renyi_epsilon_mironov, UP, lambda order, renyi, delta: renyi - mp.log(delta) / (order - 1)),
    (renyi.renyi_log_delta, UP,
     lambda order, renyi, epsilon: min(0, (order - 1) * (renyi - epsilon) + (order - 1) * mp.log(1 - 1 / order) - mp.log(order))),
    # what is said of limits and of adversaries
    (forgetting_limits.barrier_exponent, EITHER,
     lambda lipschitz, weak_convexity, regularization, noise_variance: max(0, 1 / regularization - 1 / weak_convexity)
     * lipschitz**2 / (2 * noise_variance)),
    (forgetting_limits.steps_worth_waiting, EITHER, lambda expansion: (mp.log(2) - 0.5) / mp.log(expansion)),
    (adaptive.theorem_4_1, UP, theorem_4_1),
    (adaptive.deletion_lower_bound, DOWN, lower_bound),
    (adaptive.deletion_lower_bound_sharp, DOWN,
     lambda order, advantage: max(lower_bound(order, advantage), log_mean_power(order, advantage**2) / (order - 1))),
    (stopping.renyi_stopping_log_delta, UP,
     lambda order, renyi, epsilon, candidates: min(0, -(order - 1) * (epsilon - renyi) + mp.log(1 + mp.exp(-epsilon)) + mp.log(candidates))
     if epsilon > renyi else 0),
    (gaussian.gdp_advantage, UP, lambda mu: 1 - mp.erfc(mu / mp.sqrt(8))),
    (gaussian.support_delta, UP, lambda mu: min(1, 10**18 * mp.ncdf(mu - mp.mpf("36.3")))),
    # roundings
    (arithmetic.gradient_error, EITHER, gradient_error),
    (arithmetic.log_down, DOWN, lambda value: 1 * mp.log(value)),
    (correlated_sums.patch_variance, EITHER,
     lambda carry, variance, number, usual: max(1, mp.floor(variance / (4 * carry**2) * usual / ((number + usual - 1) * (number + usual))))),
)  # fmt: skip


@pytest.mark.parametrize(("found", "side", "exact"), FORMULAS, ids=lambda one: getattr(one, "__qualname__", ""))
def test_a_formula_is_what_it_says_on_the_side_to_which_it_is_rounded(found, side: int, exact) -> None:
    rng, names = np.random.default_rng(7), inspect.signature(exact).parameters
    for _ in range(DRAWS):
        given = {name: draw(rng, name) for name in names}
        stated = mp.mpf(found(**given))
        with mp.workdps(40):
            true = exact(**{name: mp.mpf(value) for name, value in given.items()})
            if not mp.isfinite(true):
                assert stated == true, given
                continue
            assert abs(stated - true) <= NEAR * (1 + abs(true) if side else abs(true)), (given, stated, true)
            assert side * (stated - true) >= 0, (given, stated, true)


# --- inverses: what is returned keeps the budget, and hardly more would break it ---


def at_most(cost: Callable[..., float], name: str, budget: float, value: float, **facts: Any) -> None:
    """The cost falls with this argument: `value` is the least that keeps the budget."""
    assert cost(**facts, **{name: value}) <= budget * (1 + 1e-12)
    assert cost(**facts, **{name: value * (1 - 1e-8)}) > budget


def argument(rng: np.random.Generator, *names: str) -> dict[str, float]:
    return {name: draw(rng, name) for name in names}


def test_the_least_noise_keeps_the_budget() -> None:
    rng = np.random.default_rng(8)
    for _ in range(DRAWS):
        gdp, rate = draw(rng, "mu"), draw(rng, "rate")
        chain = argument(rng, "sensitivity", "step_size", "strong_convexity", "records")
        variance = shifted_interpolation.noise_variance(gdp=gdp, **chain)
        at_most(shifted_interpolation.gdp_limit, "noise_variance", gdp, variance, **chain)
        solved = {**chain, **argument(rng, "steps", "gradient_tolerance")}
        least = shifted_interpolation.minimiser_noise_variance(gdp=gdp, **solved)
        at_most(shifted_interpolation.minimiser_dp_gdp, "noise_variance", gdp, least, **solved)
        paper = argument(rng, "sensitivity", "regularization", "records")
        at_most(theorem_5_1.full_rate, "noise_variance", rate, theorem_5_1.noise_variance(rate=rate, **paper), **paper)
        sums = argument(rng, "sensitivity", "coordinates", "grid")
        deviation = moments.least_deviation(gdp=gdp, **sums)
        if deviation < math.inf:
            at_most(moments.moments_gdp, "deviation", gdp, deviation, **sums)
        else:
            assert moments.moments_gdp(deviation=1e15, **sums) > gdp


def test_the_largest_tolerance_and_distance_keep_what_they_are_for() -> None:
    rng, none = np.random.default_rng(9), 0
    for _ in range(DRAWS):
        rate, noise = draw(rng, "rate"), draw(rng, "output_noise")
        ball = argument(rng, "strong_convexity", "dimension") | {"grid": draw(rng, "grid") * rng.choice([1, 100])}

        def cost(gradient_tolerance: float, ball: Any = ball, noise: float = noise) -> float:
            spread = perturbation.rounded_solution_distance(gradient_tolerance=gradient_tolerance, **ball)
            return perturbation.inexact_rate(spread=spread, output_noise=noise)

        most = perturbation.tolerance_for(rate=rate, output_noise=noise, **ball)
        assert (cost(most) <= rate) == (most > 0) or not most
        assert cost(most + 1e-7 + most * 1e-7) > rate
        none += most == 0
        law = argument(rng, "stationary", "gradient_square", "objective_smoothness")
        target = draw(rng, "target")
        distance = utility.largest_distance(target=target, **law)
        assert (distance > 0) == (target > law["stationary"])
        if distance:
            assert utility.excess_at_distance(distance=distance, **law) <= target
            assert utility.excess_at_distance(distance=distance * (1 + 1e-9), **law) > target
    assert 0 < none < DRAWS


def test_steps_are_the_least_whole_number_that_reaches_what_is_asked() -> None:
    rng = np.random.default_rng(10)
    for _ in range(DRAWS):
        before, after, step, strong = argument(rng, "before", "after", "step_size", "strong_convexity").values()
        with mp.workdps(40):
            exact = mp.log(mp.mpf(before) / after) / -mp.log(1 - mp.mpf(step) * strong)
        chain = {"step_size": step, "strong_convexity": strong}
        whole = max(0, int(mp.ceil(exact)))
        assert utility.steps_to_distance(before=before, after=after, **chain) == whole
        assert shifted_interpolation.deletion_steps(gdp_before=before, gdp_after=after, **chain) == whole
        with mp.workdps(40):
            printed = mp.log(mp.mpf(before) / after) * 2 / (mp.mpf(step) * strong)
        paper = {"regularization": strong, "step_size": step}
        assert theorem_5_1.deletion_steps(dp=before, deletion=after, **paper) == max(0, int(mp.ceil(printed)))
    sure = {"step_size": 1.0, "strong_convexity": 1.0}
    assert utility.steps_to_distance(before=2.0, after=1.0, **sure) == 1
    assert utility.settled_distance(steps=1, move=3.0, **sure) == 0.0


# --- roots: the largest advantage, the crossing of a curve and a ray, the least error of the other kind ---


def root(function: Callable[[Any], Any], value: Any, low: Any, high: Any) -> Any:
    """Where an increasing function passes a value, to 25 digits."""
    low, high = mp.mpf(low), mp.mpf(high)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > value else (middle, high)
    return low


def from_alarm(order: Any, q: Any, p: Any) -> Any:
    """(q − 1) times the Rényi divergence of a coin of probability p from one of probability q."""
    return mp.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order))


def to_alarm(order: Any, q: Any, p: Any) -> Any:
    return from_alarm(order, p, q) if p < 1 else mp.inf


def between_fair_coins(order: Any, t: Any) -> Any:
    return to_alarm(order, (1 + t) / 2, (1 - t) / 2) if t < 1 else mp.inf


def log_slope(mu: Any, y: Any) -> Any:
    return mp.log(mp.ncdf(y - mu) / mp.ncdf(y))


def test_advantages_are_the_roots_of_their_equations() -> None:
    rng = np.random.default_rng(11)
    for _ in range(8):
        order, cost = draw(rng, "order"), draw(rng, "renyi")
        both = gaussian.renyi_advantage(order=order, renyi=cost)
        third = adaptive.membership_advantage(order=order, renyi=cost)
        with mp.workdps(40):
            limit = (mp.mpf(order) - 1) * cost
            exact = root(partial(between_fair_coins, mp.mpf(order)), limit, 0, 1)
            one_sided = root(partial(log_mean_power, mp.mpf(order)), limit, 0, 1)
        assert exact <= both <= exact * (1 + 1e-9), (order, cost)
        assert one_sided <= third <= one_sided * (1 + 1e-9), (order, cost)


@pytest.mark.parametrize("both_directions", [False, True])
def test_the_trade_off_is_where_two_coins_are_as_far_apart_as_they_may_be(both_directions: bool) -> None:
    rng, certain = np.random.default_rng(12), 0
    for _ in range(8):
        order, cost, alarm = draw(rng, "order"), 3 * draw(rng, "renyi"), rng.uniform(0.01, 0.99)
        found = gaussian.renyi_tradeoff(order=order, renyi=cost, false_positive=alarm, both_directions=both_directions)
        with mp.workdps(40):
            limit, own = (mp.mpf(order) - 1) * cost, mp.mpf(alarm)
            misses = [
                1 - root(partial(one_way, mp.mpf(order), own), limit, own, 1) for one_way in (from_alarm, to_alarm)
            ]
            exact = max(misses) if both_directions else min(misses)
        certain += exact < 1e-20
        assert exact * (1 - 1e-9) - 1e-15 <= found <= exact + 1e-20, (order, cost, alarm)
    assert both_directions or certain


def test_odds_at_any_time_are_the_crossing_of_the_curve_with_the_ray() -> None:
    rng = np.random.default_rng(13)
    for _ in range(8):
        mu, epsilon, many = rng.uniform(0.05, 4), draw(rng, "epsilon"), draw(rng, "candidates")
        found = stopping.gdp_stopping_log_delta(mu=mu, epsilon=epsilon, candidates=many)
        with mp.workdps(60):
            y = root(partial(log_slope, mu), -epsilon, -500, 60)
            exact = min(0, mp.log(mp.ncdf(y)) + mp.log(1 + mp.exp(-mp.mpf(epsilon))) + mp.log(many))
        assert exact <= found <= exact + 1e-9 * (1 + abs(exact)), (mu, epsilon, many)
        if found < 0:
            least = stopping.gdp_stopping_epsilon(mu=mu, delta=math.exp(found), candidates=many)
            assert least == pytest.approx(epsilon, rel=1e-8)
            order = draw(rng, "order")
            cost = stopping.renyi_stopping_epsilon(order=order, renyi=0.3, delta=math.exp(found), candidates=many)
            told = stopping.renyi_stopping_log_delta(order=order, renyi=0.3, epsilon=cost, candidates=many)
            assert told == pytest.approx(found, rel=1e-8)
            assert told <= found


def test_the_optimal_conversion_is_that_of_the_worst_pair_of_coins() -> None:
    optimal_against_coins(settings=4)
    rng = np.random.default_rng(16)
    for _ in range(8):
        facts = argument(rng, "order", "renyi")
        delta = draw(rng, "delta")
        least = renyi.renyi_epsilon_optimal(delta=delta, **facts)
        assert renyi.renyi_log_delta_optimal(epsilon=least, **facts) <= math.log(delta) + 1e-6
        if least > 0.01:
            assert renyi.renyi_log_delta_optimal(epsilon=least * 0.99, **facts) > math.log(delta)


# --- DP-SGD, the solver, and schedules ---


def test_sampled_steps_cost_the_sum_over_samples() -> None:
    rng = np.random.default_rng(14)
    for order in (2, 3, 9):
        facts = {
            "sampling_rate": 1.0 if order == 9 else rng.uniform(0.01, 0.9),
            "noise_multiplier": rng.uniform(0.6, 4),
            "steps": 30,
        }
        found, apart = (cost(order=order, **facts) for cost in (renyi.zero_out_renyi, renyi.replace_renyi))
        with mp.workdps(40):
            one, towards, away = (sampled(q, **facts) for q in (order, 2 * order, 2 * order - 1))
            through = (order - mp.mpf(0.5)) / (order - 1) * towards + away
        assert one <= found <= one * (1 + 1e-9) + 1e-9
        assert through <= apart <= through * (1 + 1e-9) + 1e-9


def test_the_rate_for_a_budget_is_the_best_over_the_orders() -> None:
    """ρ = max over q of (ε − log((q−1)/q) + (log δ + log q)/(q−1))/q."""
    for epsilon, delta in ((0.01, 1e-9), (1.0, 1e-6), (30.0, 0.2)):
        orders = 1 + np.exp(np.linspace(-20, 34, 20_001))
        terms = epsilon - np.log1p(-1 / orders) + (math.log(delta) + np.log(orders)) / (orders - 1)
        assert renyi.rate_for(epsilon=epsilon, delta=delta)[0] == pytest.approx(float((terms / orders).max()), rel=1e-5)


@pytest.mark.parametrize(("strong", "smooth"), [(1e-3, 1.0), (0.02, 0.7), (0.9, 1.0)])
@pytest.mark.parametrize("distance", [1e-9, 0.3, 1e6])
def test_the_solver_takes_the_least_steps_that_its_recursion_proves(strong, smooth, distance) -> None:
    found = solver_steps.proven_steps(
        distance=distance, tolerance=1e-6, strong_convexity=strong, objective_smoothness=smooth
    )
    with mp.workdps(40):
        q, grown, steps = min(mp.mpf(strong) / smooth, mp.mpf(0.5)), mp.mpf(0), 0
        while smooth * distance / mp.sqrt(1 + q * grown) > mp.mpf(0.5e-6):
            grown = ((1 + q) * grown + 2 * (1 + mp.sqrt((1 + grown) * (1 + q * grown)))) / (1 - q) ** 2
            steps += 1
    assert found == steps


def test_the_equalizer_charges_every_erasure_alike() -> None:
    """m⁽¹⁾ = 1/3 for the last draw; the cost of staying for one and leaving at the next equals that of leaving now."""
    costs = correlated_sums.equalizer_costs(12)
    assert len(costs) == 11
    assert costs[-1] == 1 / 3
    for later, now in zip(costs[1:], costs[:-1], strict=True):
        assert now == pytest.approx(later + (math.sqrt(1 + now) - math.sqrt(now)) ** 2, rel=1e-12)
    steps = correlated_sums.equalizer_schedule(releases=12, variance=1e9)
    assert steps[0] == (0.0, 1e9)
    for (carry, variance), cost in zip(steps[1:], costs, strict=True):
        assert carry == pytest.approx(math.sqrt(cost / (1 + cost)), abs=2.0**-20)
        assert carry * 2**20 == int(carry * 2**20)
        assert variance == pytest.approx(1e9 * (1 - carry**2), rel=1e-12)
    again = correlated_sums.stationary_schedule(releases=4, variance=10.0, carry=0.5)
    assert again == [(0.0, 10.0)] + [(0.5, 7.5)] * 3
    for carry, variance in ((0.5, 1e9), (0.1, 1e12)):
        patches = [
            correlated_sums.patch_variance(carry=carry, variance=variance, number=number, usual=8)
            for number in range(1, 3000)
        ]
        assert patches == sorted(patches, reverse=True)
        assert sum(patches) * carry**2 <= variance / 4
        assert sum(patches) * carry**2 > 0.99 * variance / 4


def test_the_radius_and_the_grid_of_exact_steps_are_powers_of_two_that_fit() -> None:
    rng = np.random.default_rng(15)
    for _ in range(DRAWS):
        chain = argument(
            rng, "lipschitz", "regularization", "gap_at_zero", "dimension", "noise", "step_size", "strong_convexity"
        )
        radius = exact_steps.iterate_radius(**chain)
        far = min(
            chain["lipschitz"] / chain["regularization"],
            math.sqrt(2 * chain["gap_at_zero"] / chain["regularization"]),
        )
        spread = math.sqrt(settled(1, 1, chain["strong_convexity"], chain["step_size"]) / 2 / chain["step_size"])
        reach = far + (math.sqrt(chain["dimension"]) + 37) * chain["noise"] * spread
        assert radius / 2 <= reach < radius
        assert math.frexp(radius)[0] == 0.5
        step = {name: chain[name] for name in ("lipschitz", "regularization", "step_size", "noise")}
        for wide in (radius, radius * 2.0 ** rng.integers(20, 40)):
            bits = exact_steps.grid_bits(radius=wide, **step)
            most = 1.001 * wide + step["step_size"] * (step["lipschitz"] + step["regularization"] * wide)
            assert most / step["noise"] * 2.0**bits < 2**51
            assert bits == 24 or most / step["noise"] * 2.0 ** (bits + 1) >= 2**51


@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_the_slack_of_a_sum_counts_every_addition_of_its_path(dtype: str, unit: float) -> None:
    """256 rows in a block, 64 blocks in a span, a tree over the spans, one addition for each of 128 processes."""
    for records in (1, 10**4, 2**14, 10**6, 10**10):
        within = 2 * 256 * (256 * unit / (1 - 256 * unit))
        additions = 64 + 2 * math.ceil(math.log2(records // 2**14 + 2)) + 128
        exact = within + 4 * records * additions * 2.0**-53 + 2.0**-20 + 2.0**-21
        found = arithmetic.sensitivity_slack(records=records, dtype=dtype)
        assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-12)


@pytest.mark.parametrize("power", [1.0, 0.5, 3.0])
def test_the_ridge_balances_its_own_cost(power: float) -> None:
    """The smallest λ′ with F(λ′) ≤ λ′B²/2, to the accuracy asked for; λ where that holds, infinite where no λ′ is allowed."""
    for scale in (1e-6, 1e-2, 3.0):
        asked = {"regularization": 1e-3, "model_norm": 2.0, "accuracy": 0.01}

        def cost(ridge: float, scale: float = scale) -> float:
            return scale / ridge**power if ridge > 2e-3 else math.inf

        exact = max((scale / 2) ** (1 / (power + 1)), 2e-3)
        found = perturbation.balanced_ridge(cost, most=1e9, **asked)
        assert exact * (1 - 1e-12) <= found <= exact * 1.02
        assert perturbation.balanced_ridge(cost, most=exact * 0.99, **asked) == math.inf
        below = perturbation.balanced_ridge(cost, most=1e9, **{**asked, "regularization": exact * 0.9})
        assert exact * (1 - 1e-12) <= below <= exact * 1.02
        exactly = {**asked, "regularization": exact * 1.0001}
        assert perturbation.balanced_ridge(cost, most=1e9, **exactly) == exact * 1.0001
