"""The tight certificate against chains whose divergence is known by other means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.bounds import shifted_interpolation, theorem_5_1
from noisygd_delete.engine import Objective
from noisygd_delete.engine.noisygd import run_noisy_steps
from tests.oracles.density_grid import densities, renyi
from tests.oracles.gaussian_chain import squared_mu

SETTINGS = [
    {"n": 7, "lam": 0.3, "eta": 0.9, "sigma2": 0.02, "T": 5, "K": 3, "delta": 2.0},
    {"n": 50, "lam": 1e-3, "eta": 3.5, "sigma2": 1e-4, "T": 400, "K": 90, "delta": 1.0},
    {"n": 3, "lam": 0.5, "eta": 1.9, "sigma2": 1.0, "T": 1, "K": 0, "delta": 2.0},
    {"n": 26_000, "lam": 1e-3, "eta": 3.984, "sigma2": 2.95e-5, "T": 2_000, "K": 115, "delta": 1.0},
    {"n": 10, "lam": 1e-9, "eta": 1.0, "sigma2": 0.1, "T": 30, "K": 4, "delta": 2.0},
]


def formula(s, **changes) -> float:
    s = {**s, **changes}
    return shifted_interpolation.gdp(
        sensitivity=s["delta"],
        step_size=s["eta"],
        strong_convexity=s["lam"],
        noise_variance=s["sigma2"],
        records=s["n"],
        steps_with_record=s["T"],
        steps_without_record=s["K"],
    )


def exact(s) -> float:
    gaps = [s["delta"] / s["n"]] * s["T"] + [0.0] * s["K"]
    return float(squared_mu(gaps, step_size=s["eta"], regularization=s["lam"], noise_variance=s["sigma2"]) ** 0.5)


@pytest.mark.parametrize("setting", SETTINGS)
def test_equals_the_gaussian_chain(setting) -> None:
    assert formula(setting) == pytest.approx(exact(setting), rel=1e-9)


@pytest.mark.parametrize("setting", SETTINGS[:3])
def test_equals_the_simulated_engine(setting) -> None:
    """The mean difference from the engine itself (noise off, both worlds), the variance from noise alone."""
    s = {**setting, "delta": 2.0}
    rows = np.random.default_rng(1).uniform(-0.5, 0.5, (s["n"], 1))
    loss = losses.Linear(radius=1.0)

    def last_iterate(record: float) -> float:
        weights = np.zeros((1, 1))
        for value, steps in ((record, s["T"]), (0.0, s["K"])):
            rows[0] = value
            table = Objective(Records(rows, np.zeros(s["n"])), loss, regularization=s["lam"], dtype="float64")
            weights = run_noisy_steps(
                weights, table.gradient, step_size=s["eta"], noise_variance=0, steps=steps, noise=None
            )
        return float(weights[0, 0])

    variance = sum(2 * s["eta"] * s["sigma2"] * (1 - s["eta"] * s["lam"]) ** (2 * k) for k in range(s["T"] + s["K"]))
    measured = abs(last_iterate(1.0) - last_iterate(-1.0)) / math.sqrt(variance)
    assert measured == pytest.approx(formula(s), rel=1e-9)


def test_limits() -> None:
    s = SETTINGS[1]
    chain = {"step_size": s["eta"], "strong_convexity": s["lam"]}
    limit = shifted_interpolation.gdp_limit(sensitivity=2.0, noise_variance=s["sigma2"], records=s["n"], **chain)
    assert formula(s, T=math.inf, K=0, delta=2.0) == limit
    assert formula(s, T=10**7, K=0, delta=2.0) == pytest.approx(limit, rel=1e-12)
    assert formula(s, T=math.inf, K=50, delta=2.0) == pytest.approx(limit * (1 - s["eta"] * s["lam"]) ** 50, rel=1e-12)
    assert formula(s, T=0) == 0
    # ηλ = 1: one clean step forgets everything
    assert formula(s, eta=1.0, lam=1.0, K=1) == 0


def test_calibration_round_trip_and_half_the_printed_noise() -> None:
    eta, lam, n = 2.0, 1e-2, 900
    mu = math.sqrt(2 * 1.0 / 10)  # ε_dp = 1 at order 10
    sigma2 = shifted_interpolation.noise_variance(
        gdp=mu, sensitivity=2.0, step_size=eta, strong_convexity=lam, records=n
    )
    back = shifted_interpolation.gdp_limit(
        sensitivity=2.0, step_size=eta, strong_convexity=lam, noise_variance=sigma2, records=n
    )
    assert back == pytest.approx(mu, rel=1e-12)
    printed = theorem_5_1.noise_variance(rate=1.0 / 10, sensitivity=2.0, regularization=lam, records=n)
    assert sigma2 == pytest.approx(printed * (1 - eta * lam / 2) / 2, rel=1e-12)


# 1-D logistic regression on a grid: the truth lies below the sharp bound, the sharp bound below the printed one


def logistic_map(rows, labels, *, eta, lam):
    def step(theta):
        slopes = -labels * rows / (1 + np.exp(labels * rows * np.asarray(theta)[..., None]))
        return theta - eta * (slopes.mean(-1) + lam * theta)

    return step


def linear_map(rows, labels, *, eta, lam):
    return lambda theta: theta - eta * (rows.mean() + lam * theta)


@pytest.mark.parametrize(("kind", "tight"), [(logistic_map, False), (linear_map, True)])
@pytest.mark.parametrize("order", [2.0, 4.0, 10.0])
def test_bounds_on_a_density_grid(kind, tight: bool, order: float) -> None:
    n, eta, lam, sigma2 = 4, 1.2, 0.4, 0.06
    with_record, without = 6, 4
    scale = math.sqrt(2 * eta * sigma2)
    rows, labels = np.array([1.0, 0.8, -0.6, 0.3]), np.array([1.0, -1.0, -1.0, 1.0])
    absent = rows * np.array([0, 1, 1, 1])
    grid = np.linspace(-9, 9, 1201)
    present_map, absent_map = kind(rows, labels, eta=eta, lam=lam), kind(absent, labels, eta=eta, lam=lam)
    start = 0.3
    one = densities([present_map] * with_record + [absent_map] * without, start=start, scale=scale, grid=grid)
    two = densities([absent_map] * (with_record + without), start=start, scale=scale, grid=grid)
    truth = max(renyi(one, two, order, grid[1] - grid[0]), renyi(two, one, order, grid[1] - grid[0]))
    s = {"n": n, "lam": lam, "eta": eta, "sigma2": sigma2, "T": with_record, "K": without, "delta": 1.0}
    bound = order * formula(s) ** 2 / 2
    printed = order * theorem_5_1.deletion_rate(
        sensitivity=1.0,
        regularization=lam,
        noise_variance=sigma2,
        records=n,
        step_size=eta,
        steps_with_record=with_record,
        steps_without_record=without,
    )
    assert 0 < truth <= bound * (1 + 1e-9)
    assert bound < printed
    if tight:  # the linear loss attains the bound, so each planted fault would fall below the truth
        assert truth == pytest.approx(bound, rel=1e-7)
        for fault in ({"sigma2": 4 * sigma2}, {"K": without + 1}, {"delta": 0.5}, {"n": n + 1}):
            assert order * formula(s, **fault) ** 2 / 2 < truth * 0.999


def test_utility_recursion_covers_the_linear_chain() -> None:
    """V_∞ is the exact stationary variance of the linear loss."""
    dimension, sigma2, lam, eta = 3, 0.2, 0.1, 0.7
    variance = 0.0
    for _ in range(2000):
        variance = (1 - eta * lam) ** 2 * variance + 2 * eta * sigma2
    stationary = shifted_interpolation.stationary_distance(
        dimension=dimension, noise_variance=sigma2, strong_convexity=lam, step_size=eta
    )
    assert dimension * variance == pytest.approx(stationary, rel=1e-9)
    for before, move, steps in ((stationary, 0.3, 5), (50.0, 0.0, 40)):
        exact = (math.sqrt(before) + move) ** 2
        for _ in range(steps):
            exact = (1 - eta * lam) ** 2 * exact + 2 * eta * dimension * sigma2
        chain = {"step_size": eta, "strong_convexity": lam, "stationary": stationary}
        after = shifted_interpolation.distance_after(distance_before=before, move=move, steps=steps, **chain)
        assert after == pytest.approx(exact, rel=1e-9)
