"""Solve, then diffuse: both formulas against chains whose divergence is known by other means."""

from __future__ import annotations

import numpy as np
import pytest

from noisygd_delete.bounds import shifted_interpolation
from tests.oracles.density_grid import densities, renyi
from tests.oracles.solved_chain import squared_mu

SETTINGS = [
    {"n": 26_000, "lam": 1e-3, "eta": 3.984, "sigma2": 2.8e-4, "K": 14, "delta": 2.0, "gamma": 3.8e-7},
    {"n": 7, "lam": 0.3, "eta": 0.9, "sigma2": 0.02, "K": 3, "delta": 1.0, "gamma": 0.05},
    {"n": 50, "lam": 1e-3, "eta": 3.5, "sigma2": 1e-4, "K": 1, "delta": 2.0, "gamma": 1e-2},
    {"n": 3, "lam": 0.5, "eta": 1.9, "sigma2": 1.0, "K": 2, "delta": 2.0, "gamma": 0.3},
    {"n": 10, "lam": 1e-6, "eta": 1.0, "sigma2": 0.1, "K": 40, "delta": 2.0, "gamma": 1e-3},
]


def chain(s) -> dict[str, float]:
    return {"step_size": s["eta"], "strong_convexity": s["lam"], "records": s["n"]}


def facts(s) -> dict[str, float]:
    return {**chain(s), "noise_variance": s["sigma2"], "steps": s["K"], "gradient_tolerance": s["gamma"]}


def dp(s, **changes) -> float:
    s = {**s, **changes}
    return shifted_interpolation.minimiser_dp_gdp(sensitivity=s["delta"], **facts(s))


def deletion(s, **changes) -> float:
    return shifted_interpolation.minimiser_deletion_gdp(**facts({**s, **changes}))


def exact(s, gap: float) -> float:
    run = {"steps": s["K"], "step_size": s["eta"], "regularization": s["lam"], "noise_variance": s["sigma2"]}
    return float(squared_mu((-gap / 2, gap / 2), tolerance=s["gamma"], **run) ** 0.5)


@pytest.mark.parametrize("setting", SETTINGS)
def test_both_are_equalities_on_the_linear_loss(setting) -> None:
    assert dp(setting) == pytest.approx(exact(setting, setting["delta"] / setting["n"]), rel=1e-9)
    assert deletion(setting) == pytest.approx(exact(setting, 0.0), rel=1e-9)


def test_limits() -> None:
    s = {**SETTINGS[1], "gamma": 0.0}
    # K → ∞: the certificate of the resumed chain; K = 1: Gaussian noise on the minimiser
    limit = shifted_interpolation.gdp_limit(sensitivity=s["delta"], noise_variance=s["sigma2"], **chain(s))
    assert dp(s, K=10**6) == pytest.approx(limit)
    perturbed = s["delta"] / (s["lam"] * s["n"]) / (2 * s["eta"] * s["sigma2"]) ** 0.5
    assert dp(s, K=1) == pytest.approx(perturbed)
    assert deletion(s) == 0.0


# Upper bounds where nothing is linear: 1-D tables, minimisers by bisection, densities on a grid.


def logistic(theta, x):
    return -x / (1 + np.exp(x * theta))  # label folded into x


def pseudo_huber(theta, x):
    residual = x * theta - 0.7
    return x * residual / np.sqrt(1 + residual**2)


def sigmoid(theta, x):
    s = 1 / (1 + np.exp(x * theta))
    return -x * s * (1 - s)


# (gradient of one record, L, β₊, β₋) for rows |x| ≤ 1
LOSSES = {
    "logistic": (logistic, 1.0, 0.25, 0.0),
    "pseudo-huber": (pseudo_huber, 1.0, 1.0, 0.0),
    "sigmoid": (sigmoid, 0.25, 0.0962250448649, 0.0962250448649),
}


def point_with_gradient(gradient, value: float) -> float:
    """θ with ∇L(θ) = value, by bisection (∇L is increasing)."""
    low, high = -50.0, 50.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if gradient(middle) > value else (middle, high)
    return (low + high) / 2


def divergences(name: str, rows, others, *, lam, eta, sigma2, steps, gamma, orders):
    """Largest R_q over both directions and all four corners of where the solver may stop."""
    record_gradient = LOSSES[name][0]
    grid = np.linspace(-9, 9, 701)
    scale = np.sqrt(2 * eta * sigma2)
    found = dict.fromkeys(orders, 0.0)
    worlds = [
        lambda theta, table=table: sum(record_gradient(theta, x) for x in table) / len(table) + lam * theta
        for table in (rows, others)
    ]
    for first in (-gamma, gamma):
        for second in (-gamma, gamma):
            p, r = (
                densities(
                    [lambda theta, world=world: theta - eta * world(theta)] * steps,
                    start=point_with_gradient(world, stop),
                    scale=scale,
                    grid=grid,
                )
                for world, stop in zip(worlds, (first, second), strict=True)
            )
            for order in orders:
                spacing = grid[1] - grid[0]
                found[order] = max(found[order], renyi(p, r, order, spacing), renyi(r, p, order, spacing))
    return found


def grid_case(name: str, *, delta_share: float = 1.0, gamma_share: float = 1.0):
    """For each K and order: divergence over its bound, for dp and for deletion."""
    _, lipschitz, plus, minus = LOSSES[name]
    lam = 0.3
    rows, others, after = [1.0, 0.4, -0.3], [-1.0, 0.4, -0.3], [0.0, 0.4, -0.3]
    eta = 2 / (2 * lam - minus + plus) * 0.9
    ratios = {"dp": [], "deletion": []}
    for steps in (1, 4):
        run = {"lam": lam, "eta": eta, "sigma2": 0.1, "steps": steps, "gamma": 0.06}
        bound = {
            "step_size": eta,
            "strong_convexity": lam - minus,
            "noise_variance": run["sigma2"],
            "records": 3,
            "steps": steps,
            "gradient_tolerance": run["gamma"] * gamma_share,
        }
        mu = {
            "dp": shifted_interpolation.minimiser_dp_gdp(sensitivity=2 * lipschitz * delta_share, **bound),
            "deletion": shifted_interpolation.minimiser_deletion_gdp(**bound),
        }
        for part, pair in (("dp", (rows, others)), ("deletion", (after, after))):
            for order, value in divergences(name, *pair, orders=(1.5, 2, 6), **run).items():
                ratios[part].append(value / (order * mu[part] ** 2 / 2))
    return ratios


@pytest.mark.parametrize("name", LOSSES)
def test_bounds_hold_on_density_grids(name) -> None:
    ratios = grid_case(name)
    for part in ratios.values():
        assert max(part) <= 1 + 1e-6
        assert max(part) > 0.02  # the grid sees something


def test_the_grid_catches_a_forgotten_half() -> None:
    # logistic gradients of the pair ±1 add up to exactly L = Δ/2 in norm, so half of Δ cannot be seen there; γ can
    assert max(grid_case("logistic", gamma_share=0.25)["deletion"]) > 1
    assert max(grid_case("pseudo-huber", delta_share=0.25)["dp"]) > 1
