"""`plan.outlook.excess_risk` holds for the steps of the plan itself: exact linear chains, and quadratics with a spectrum."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.methods.noisy_steps import stationary_distance

BUDGET = Budget(order=2, dp=1.0, deletion=0.25)
PAPER = {"method": "noisy-gd", "analysis": "paper"}
METHODS = [
    {"method": "noisy-gd:analysis=paper"},
    {"method": "noisy-gd:analysis=paper", "utility": False},
    {"method": "noisy-gd"},
    {"method": "noisy-gd", "utility": False},
    {"method": "noisy-gd", "excess_risk_target": 40.0},
    {"method": "output-perturbation"},
    {"method": "output-perturbation", "diffusion_steps": 1},
]
SIZES = [(63, 10, 0.1, 1), (63, 10, 1e-3, 1), (400, 3, 0.02, 5), (20, 1, 1.0, 20), (5000, 40, 1e-2, 1)]


def exact_chain(plan, requests=60):
    """Largest E L(θ) − L* over a learn and requests that flip as many rows as they may, on the linear loss.

    All rows are ±e: θ* = −(mean of the signs) e/λ, and every coordinate of the chain is Gaussian.
    """
    problem, numbers = plan.problem, plan.calibration
    n, d, lam, eta = (
        problem.records,
        problem.dimension,
        problem.regularization,
        numbers.step_size,
    )
    c = 1 - eta * lam
    signs = np.ones(n)
    variance, mean = numbers.init_variance, 0.0

    def run(mean, variance, steps):
        target = -signs.mean() / lam
        if plan.mechanism.fresh:
            mean, variance = target, 0.0  # the solver's answer, to a tolerance far below the noise
        kept = c**steps
        settled = numbers.noise_variance / (lam * (1 - eta * lam / 2))
        mean = target + kept * (mean - target)
        variance = kept**2 * variance + (1 - kept**2) * settled
        return mean, variance, lam / 2 * ((mean - target) ** 2 + d * variance)

    mean, variance, worst = run(mean, variance, numbers.learn_steps)
    at, sign = 0, -1.0
    for _ in range(requests):
        for _ in range(problem.batch):
            signs[at] = sign
            at += 1
            if at == n:
                at, sign = 0, -sign
        mean, variance, risk = run(mean, variance, numbers.delete_steps)
        worst = max(worst, risk)
    return worst


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_release_of_a_linear_chain_costs_more_than_the_plan_says(size, method) -> None:
    asked = dict(zip(("records", "features", "regularization", "batch"), size, strict=True))
    plan = make_plan(losses.Linear(radius=1.0), **asked, budget=BUDGET, **method)
    worst = exact_chain(plan)
    assert worst <= plan.outlook.excess_risk * (1 + 1e-9)
    assert plan.outlook.excess_risk < math.inf


def test_a_short_learn_is_not_hidden_behind_the_long_run() -> None:
    """Theorem 5.1 with few records: (17) asks for few steps, and the model still lies where it started."""
    few = {"records": 63, "features": 10, "regularization": 0.1, "budget": Budget(order=10, dp=0.1, deletion=0.05)}
    plan = make_plan(losses.Linear(radius=1.0), **few, **PAPER)
    worst = exact_chain(plan)
    settled = plan.problem.regularization / 2 * stationary_distance(plan)
    assert worst > settled  # what was printed before is false
    assert worst <= plan.outlook.excess_risk <= 1.2 * worst  # and what is printed now is no more than it must be


def test_where_its_conditions_hold_the_printed_bound_may_answer() -> None:
    """Theorem 5.1 (3), 10κqdL²/(λε_dp n²), where the contraction alone says more than that; not without its conditions."""
    few = {"records": 4, "features": 400, "regularization": 1e-3, "budget": BUDGET}
    plan = make_plan(losses.Logistic(radius=1.0), **few, **PAPER)
    kappa = 1 + 0.25 / plan.problem.regularization
    printed = 10 * kappa * 400 * 2 / (plan.problem.regularization * 1.0 * 16)
    assert plan.outlook.excess_risk <= printed
    without = make_plan(losses.Logistic(radius=1.0), **few, **PAPER, utility=False)
    assert without.calibration.delete_steps < plan.calibration.delete_steps
    assert without.outlook.excess_risk >= plan.outlook.excess_risk


def test_without_steps_to_follow_edits_nothing_is_promised_but_the_truth() -> None:
    """utility=False: the few steps that deletion needs do not follow many edits, and the bound says so."""
    facts = {"records": 200, "features": 2, "regularization": 1e-3, "budget": Budget(order=2, dp=1.0, deletion=0.99)}
    plan = make_plan(losses.Linear(radius=1.0), **facts, method="noisy-gd", utility=False, batch=200)
    assert plan.outlook.excess_risk >= exact_chain(plan)
    assert plan.outlook.excess_risk >= plan.problem.regularization / 2 * stationary_distance(plan)


def test_quadratics_with_a_spectrum_stay_below_the_bound() -> None:
    """A logistic model near 0 is a quadratic of curvatures between λ and λ + β: the worst spectra at the plan's own steps."""
    few = {"records": 50, "features": 6, "regularization": 1e-2, "budget": BUDGET}
    plan = make_plan(losses.Logistic(radius=1.0), **few, method="noisy-gd", utility=False)
    rng = np.random.default_rng(3)
    for _ in range(200):
        curvature = plan.problem.regularization + 0.25 * rng.beta(0.3, 0.3, size=plan.problem.dimension)
        shrink = 1 - plan.calibration.step_size * curvature
        settled = plan.calibration.noise_variance / (curvature * (1 - plan.calibration.step_size * curvature / 2))
        far = rng.standard_normal(plan.problem.dimension)
        far *= 1 / plan.problem.regularization / np.linalg.norm(far)
        kept = shrink**plan.calibration.learn_steps
        variance = kept**2 * plan.calibration.init_variance + (1 - kept**2) * settled
        risk = float((curvature * ((kept * far) ** 2 + variance)).sum() / 2)
        assert risk <= plan.outlook.excess_risk * (1 + 1e-9)
