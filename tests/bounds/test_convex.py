"""Theorem 5.1: plans carry exactly the printed numbers."""

from __future__ import annotations

import math

import mpmath
import numpy as np

from noisygd_delete import Budget, losses, make_plan
from tests.oracles.printed_theorem import theorem_5_1 as printed_theorem


def random_settings(seed: int, count: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        eps_dp = float(10 ** rng.uniform(-2, 1.5))
        yield {
            "q": float(1 + 10 ** rng.uniform(-1, 2)),
            "eps_dp": eps_dp,
            "eps_dd": float(eps_dp * 10 ** rng.uniform(-4, 0)),
            "n": int(10 ** rng.uniform(1, 7)),
            "features": int(rng.integers(1, 500)),
            "lam": float(10 ** rng.uniform(-5, 1)),
            "radius": float(10 ** rng.uniform(-1, 1)),
            "r": int(rng.integers(1, 50)),
            "kind": rng.choice(["logistic", "softmax", "pseudo-huber"]),
        }


def plan_and_printed(s):
    R = s["radius"]
    loss, L, beta, d = {
        "logistic": (losses.Logistic(R), R, R**2 / 4, s["features"]),
        "softmax": (losses.Softmax(R, 7), math.sqrt(2) * R, R**2 / 2, 7 * s["features"]),
        "pseudo-huber": (losses.PseudoHuber(R, 0.5), 0.5 * R, R**2, s["features"]),
    }[s["kind"]]
    plan = make_plan(
        loss,
        records=s["n"],
        features=s["features"],
        regularization=s["lam"],
        budget=Budget(order=s["q"], dp=s["eps_dp"], deletion=s["eps_dd"]),
        batch=s["r"],
        method="noisy-gd",
        analysis="paper",
        exact=False,  # over the reals: roundings that are charged may ask for a little more noise
    )
    growth = (1 + mpmath.mpf(plan.mechanism.slack)) ** 2  # the slack counts inside the budget
    printed = printed_theorem(
        q=s["q"],
        eps_dp=s["eps_dp"] / growth,
        eps_dd=s["eps_dd"] / growth,
        n=s["n"],
        d=d,
        lam=s["lam"],
        beta=beta,
        L=L,
        r=s["r"],
    )
    return plan, printed


def near(value, exact):
    return abs(mpmath.mpf(value) - exact) <= abs(exact) * mpmath.mpf("1e-12")


def is_ceiling(steps: int, exact: mpmath.mpf) -> bool:
    """steps = ceil(exact) clamped at 0, allowing float rounding of an almost-integer upward only."""
    return steps == max(0, int(mpmath.ceil(exact))) or (steps - exact < 1 + 1e-9 and steps >= exact)


def test_thousand_plans_equal_the_printed_formulas() -> None:
    for setting in random_settings(seed=51, count=1000):
        plan, printed = plan_and_printed(setting)
        assert near(plan.calibration.step_size, printed.step_size)
        assert near(plan.calibration.noise_variance, printed.noise_variance)
        assert near(plan.calibration.init_variance, printed.init_variance)
        assert is_ceiling(plan.calibration.learn_steps, printed.learn_steps)
        # where (16) asks for none, one: the same weights again would not have forgotten
        assert is_ceiling(plan.calibration.delete_steps_for_deletion, printed.deletion_steps) or (
            plan.calibration.delete_steps_for_deletion == 1 and printed.deletion_steps == 0
        )
        assert is_ceiling(plan.calibration.delete_steps_for_utility, printed.utility_steps)
        assert plan.calibration.delete_steps == max(
            plan.calibration.delete_steps_for_deletion, plan.calibration.delete_steps_for_utility
        )
