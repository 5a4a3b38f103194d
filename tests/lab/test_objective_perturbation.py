"""Redberg, Koskela & Wang's accounting of objective perturbation: their formula, and what it loses against the exact tilt."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisygd_delete_lab import ObjectivePerturbation
from noisygd_delete_lab import objective_perturbation as theirs
from scipy.integrate import quad

from noisygd_delete import errors, losses
from noisygd_delete.bounds import objective_perturbation as ours

from ..oracles.perturbed_density import line, log_density, ramp, renyi
from .conftest import REGULARIZATION, table


@pytest.mark.parametrize("order", [1.5, 2, 10, 40])
@pytest.mark.parametrize("shift", [0.01, 0.3, 1.0])
def test_the_formula_is_the_integral(order: float, shift: float) -> None:
    """E e^{(q−1)|Z|} by quadrature."""
    tilt = order - 1
    peak = tilt * shift**2  # of e^{tz} φ(z/A)
    moment = (
        2
        * quad(
            lambda z: (
                math.exp(tilt * z - (z / shift) ** 2 / 2 - tilt**2 * shift**2 / 2) / (shift * math.sqrt(2 * math.pi))
            ),
            0,
            peak + 12 * shift,
            points=[peak],
            epsabs=0,
        )[0]
    )
    expected = -math.log(1 - 0.2) + shift**2 / 2 + (math.log(moment) + tilt**2 * shift**2 / 2) / tilt
    assert theirs.renyi(order=order, lipschitz=shift, noise=1.0, ratio=0.2) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("order", [1.5, 4, 10])
@pytest.mark.parametrize(("height", "slope"), [(0.05, 0.02), (0.3, 0.1), (0.05, 0.05)])
def test_it_bounds_exact_densities_and_ours_lies_between(order: float, height: float, slope: float) -> None:
    u = line()
    null, moved = log_density(u, ramp(u, 0.0, 0.0)), log_density(u, ramp(u, height, slope))
    truth = max(renyi(order, *pair, u[1] - u[0]) for pair in ((null, moved), (moved, null)))
    bound = theirs.renyi(order=order, lipschitz=height, noise=1.0, ratio=slope)
    exact = ours.renyi(
        order=order, sensitivity=height, noise=1.0, hessian=ours.zero_out_hessian(order=order, ratio=slope)
    )
    assert truth <= exact < bound
    assert bound > 1.03 * exact


def test_noise_at_the_sizes_of_adult() -> None:
    """The design sheet's table, worked out by another hand: s for ε = 1, 0.1, 0.01 at q = 10, x against null."""
    table = {1e-2: (2.329, 10.43, 90.9), 1e-3: (2.340, 11.22, 2363), 1e-4: (2.466, math.inf, math.inf)}
    for regularization, row in table.items():
        ratio = ours.curvature_ratio(smoothness=0.25, strong_convexity=regularization, records=26_000)
        for budget, expected in zip((1.0, 0.1, 0.01), row, strict=True):
            found = theirs.noise_for_renyi(order=10, budget=budget, lipschitz=1.0, ratio=ratio)
            assert found == pytest.approx(expected, rel=2e-3)
            if found < math.inf:
                assert theirs.renyi(order=10, lipschitz=1.0, noise=found, ratio=ratio) <= budget
                assert theirs.renyi(order=10, lipschitz=1.0, noise=0.999 * found, ratio=ratio) > budget


def test_it_releases_the_tilted_minimiser() -> None:
    """θ has gradient −b/n: its law over draws is N(0, (s/n)²) in every coordinate of the gradient."""
    records = table("binary")
    method = ObjectivePerturbation(
        losses.Logistic(1.0), regularization=REGULARIZATION, records=200, epsilon=4.0, delta=1e-5
    )
    rows, labels = records.features.astype(float), records.labels
    rng, pulls = np.random.default_rng(3), []
    for _ in range(60):
        weights = method.learn(records, rng).weights[0]
        slopes = -labels / (1 + np.exp(labels * (rows @ weights)))
        pulls.append(200 * (slopes @ rows / 200 + REGULARIZATION * weights))
    spread = np.std(np.array(pulls))
    assert spread == pytest.approx(method.noise, rel=0.15)
    assert theirs.epsilon(delta=1e-5, lipschitz=1.0, noise=method.noise, ratio=0.25 / (200 * REGULARIZATION)) <= 4.0


def test_what_it_does_not_cover_is_refused() -> None:
    facts = {"records": 200, "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(errors.AssumptionViolated, match="one gradient direction"):
        ObjectivePerturbation(losses.Softmax(1.0, 3), regularization=1e-2, **facts)
    with pytest.raises(errors.AssumptionViolated, match="raise λ"):
        ObjectivePerturbation(losses.Logistic(1.0), regularization=1e-3, **facts)
