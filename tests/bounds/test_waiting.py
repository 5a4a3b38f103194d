"""What waiting can be certified to buy, against the optimisation that it solves, and the barrier, against two wells."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from noisygd_delete.bounds import forgetting_limits
from proofs_check import closed_forms


def by_programme(expansion, steps_with, steps_without):
    """The least Σ a_k² over all feasible shifts, by a general solver."""
    gaps = np.array([1.0] * steps_with + [0.0] * steps_without)
    total = len(gaps)
    matrix = np.tril(expansion ** np.subtract.outer(np.arange(total), np.arange(total)).clip(0).astype(float))
    distances = matrix @ gaps
    found = minimize(
        lambda a: (a**2).sum(),
        gaps,
        jac=lambda a: 2 * a,
        bounds=[(0, None)] * total,
        constraints=[
            {"type": "ineq", "fun": lambda a: (distances - matrix @ a)[:-1], "jac": lambda a: -matrix[:-1]},
            {"type": "eq", "fun": lambda a: (distances - matrix @ a)[-1:], "jac": lambda a: -matrix[-1:]},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("expansion", [1.0, 1.05, 1.2, 1.6])
@pytest.mark.parametrize(("steps_with", "steps_without"), [(1, 1), (4, 3), (8, 2), (6, 12)])
def test_the_optimum_over_all_shifts(expansion, steps_with, steps_without):
    found = closed_forms.charged_steps(expansion=expansion, steps_with=steps_with, steps_without=steps_without)
    assert found == pytest.approx(by_programme(expansion, steps_with, steps_without), rel=2e-3)


@pytest.mark.parametrize(("expansion", "share"), [(1.1, 0.98), (1.01, 0.82), (1.001, 0.55), (1.0, 0.50)])
def test_a_hundred_clean_steps_after_a_hundred_with_the_record(expansion, share):
    assert closed_forms.charged_steps(expansion=expansion, steps_with=100, steps_without=100) == pytest.approx(
        100 * share, abs=0.6
    )


def test_waiting_for_ever_saves_no_more_than_the_constant():
    for expansion in (1.3, 1.1, 1.03, 1.01):
        worth = forgetting_limits.steps_worth_waiting(expansion=expansion)
        saved = 2000 - closed_forms.charged_steps(expansion=expansion, steps_with=2000, steps_without=100_000)
        assert saved <= worth * (1 + 1e-3)
        assert saved >= worth * (1 - 0.3 * math.log(expansion)) - 0.3
    assert forgetting_limits.steps_worth_waiting(expansion=1.0) == math.inf


def test_nothing_is_gained_without_clean_steps_where_steps_expand():
    assert closed_forms.charged_steps(expansion=1.5, steps_with=7, steps_without=0) <= 7


def test_the_barrier_between_the_wells_of_the_worst_loss():
    """Slope L beyond ±L/β₋, curvature −β₋ between: (λ/2)x² on top has its wells at ±L/λ."""
    lipschitz, weak, lam, noise = 1.3, 0.9, 0.25, 0.07
    x = np.linspace(0, 2 * lipschitz / lam, 200_001)
    potential = (
        np.where(x < lipschitz / weak, -weak * x**2 / 2, -lipschitz * x + lipschitz**2 / (2 * weak)) + lam * x**2 / 2
    )
    facts = {"lipschitz": lipschitz, "weak_convexity": weak, "noise_variance": noise}
    assert -potential.min() / noise == pytest.approx(
        forgetting_limits.barrier_exponent(regularization=lam, **facts), rel=1e-6
    )
    assert forgetting_limits.barrier_exponent(regularization=0.9, **facts) == 0
    assert forgetting_limits.barrier_exponent(**{**facts, "weak_convexity": math.inf}, regularization=lam) > 0
