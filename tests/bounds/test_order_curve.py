"""Conversion below a public order, and calibration: nothing returned overshoots its budget, and not much is left unused."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from noisygd_delete.bounds import objective_perturbation as perturbation
from noisygd_delete.bounds import renyi as order_curve

RATIOS = [0.0, 1e-4, 1e-2, 0.05]
PAIR = {"epsilon": 1.0, "delta": 1e-6, "sensitivity": 2.0}


def replace_curve(noise: float, ratio: float):
    def renyi(order: float) -> float:
        hessian = perturbation.replace_hessian(order=order, ratio=ratio)
        return perturbation.renyi(order=order, sensitivity=2.0, noise=noise, hessian=hessian)

    return renyi


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("budget", [1.0, 0.1, 0.01])
def test_renyi_calibration_stays_within_its_budget_and_uses_it(ratio, budget) -> None:
    for order in (2.0, 10.0):
        hessian = perturbation.replace_hessian(order=order, ratio=ratio)
        noise = order_curve.noise_for_renyi(
            order=order, budget=budget, sensitivity=2.0, hessian=hessian, inexact_rate=1e-5
        )
        if hessian + order * 1e-5 >= budget:
            assert noise == math.inf
            continue
        cost = perturbation.renyi(order=order, sensitivity=2.0, noise=noise, hessian=hessian) + order * 1e-5
        assert budget * (1 - 1e-8) <= cost <= budget


@pytest.mark.parametrize("ratio", RATIOS)
def test_epsilon_delta_calibration_stays_within_its_budget_and_uses_it(ratio) -> None:
    highest = perturbation.highest_order(ratio=ratio)
    noise = order_curve.noise_for_epsilon_delta(
        **PAIR, hessian=lambda order: perturbation.replace_hessian(order=order, ratio=ratio), highest_order=highest
    )
    renyi = replace_curve(noise, ratio)
    assert 0.99 < order_curve.curve_epsilon(renyi=renyi, highest_order=highest, delta=1e-6) <= 1.0
    assert order_curve.curve_log_delta(renyi=renyi, highest_order=highest, epsilon=1.0) <= math.log(1e-6)
    smaller = replace_curve(noise / 2, ratio)
    assert order_curve.curve_epsilon(renyi=smaller, highest_order=highest, delta=1e-6) > 1.8


def test_more_releases_take_more_noise() -> None:
    highest = perturbation.highest_order(ratio=1e-4)
    hessian = partial(perturbation.replace_hessian, ratio=1e-4)
    facts = {**PAIR, "hessian": lambda order: hessian(order=order), "highest_order": highest}
    one, four = (order_curve.noise_for_epsilon_delta(**facts, releases=n) for n in (1, 4))
    assert four == pytest.approx(2 * one, rel=1e-3)
    one, four = (order_curve.noise_for_gdp(gdp=0.5, lipschitz=1.0, ratio=1e-4, releases=n) for n in (1, 4))
    assert four == pytest.approx(2 * one, rel=1e-3)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("rows", [1, 3])
def test_gdp_calibration_stays_within_its_budget_and_uses_it(ratio, rows) -> None:
    facts = {"lipschitz": 1.0, "ratio": ratio, "rows": rows, "worlds": 2, "blocks": 1}
    noise = order_curve.noise_for_gdp(gdp=0.45, inexact_gdp=0.02, **facts)
    if noise == math.inf:  # κ would exceed 1/4
        assert perturbation.gdp(noise=perturbation.most_noise(lipschitz=1.0, ratio=ratio), **facts) > 0.44
        return
    total = math.hypot(perturbation.gdp(noise=noise, **facts), 0.02)
    assert 0.45 * (1 - 1e-8) <= total <= 0.45


def test_an_order_above_the_highest_is_never_used() -> None:
    asked = []

    def renyi(order: float) -> float:
        asked.append(order)
        return 0.01 * order

    order_curve.curve_epsilon(renyi=renyi, highest_order=5.0, delta=1e-9)
    order_curve.curve_log_delta(renyi=renyi, highest_order=5.0, epsilon=2.0)
    assert max(asked) < 5.0
    assert max(asked) > 4.5


def test_the_shape_of_a_one_hot_schema_leaves_every_row_its_norm() -> None:
    """xᵀΣ⁻¹x = ‖x‖² for one hot column in each block, the constant, and any numbers; the trace is S²/N and one for each number."""
    rng, sizes, numbers = np.random.default_rng(5), [9, 17, 3, 42], 3
    shape = np.array(perturbation.column_variances(blocks=[*sizes, 1, *[0] * numbers]))
    assert shape.tolist()[:9] == [perturbation.block_variances(categories=sizes)[0]] * 9
    for _ in range(20):
        blocks = [np.eye(size)[rng.integers(size)] for size in (*sizes, 1)]
        row = np.concatenate([*blocks, rng.uniform(-1, 1, numbers)])
        assert (row**2 / shape).sum() == pytest.approx((row**2).sum(), rel=1e-12)
    roots = np.sqrt([*sizes, 1])
    assert shape.sum() == pytest.approx(roots.sum() ** 2 / len(roots) + numbers)
    assert perturbation.block_variances(categories=[4], constant=False) == (1.0,)


def test_an_inexact_solver_costs_noise_under_epsilon_and_delta() -> None:
    """The noise returned keeps (ε, δ) with the solver's rate added at every order, and hardly less noise does."""
    facts = {**PAIR, "highest_order": 1e4, "hessian": lambda order: 0.0}
    exact = order_curve.noise_for_epsilon_delta(**facts)
    for rate in (1e-4, 1e-3, 5e-3):
        noise = order_curve.noise_for_epsilon_delta(**facts, inexact_rate=rate)
        assert noise > exact * (1 + rate)

        def log_delta(noise: float, rate: float = rate) -> float:
            orders = np.geomspace(1.05, 1e4, 4000)
            costs = [order * (2.0**2 / (2 * noise**2) + rate) for order in orders]
            pairs = zip(orders, costs, strict=True)
            return min(order_curve.renyi_log_delta(order=order, renyi=cost, epsilon=1.0) for order, cost in pairs)

        assert log_delta(noise) <= math.log(1e-6) + 1e-3
        assert log_delta(noise * 0.999) > math.log(1e-6)
