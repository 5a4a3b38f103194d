"""The engine's published weights follow the law that the certificate assumes: certified noise, many independent runs.

Each accepting test turns red on a correct build with probability below 1e-6; each planted fault is rejected at that level.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from noisygd_delete import Budget, EditRequest, Records, learn, losses, make_plan, unlearn
from noisygd_delete.engine.noise import SecureNoise

pytestmark = pytest.mark.long
FALSE_ALARM = 1e-6
RUNS = 20_000


@pytest.fixture(scope="module")
def problem():
    rows = np.array([[0.9, 0.1], [-0.3, 0.8], [0.5, -0.5], [1.0, 0.0]])
    plan = make_plan(
        losses.Linear(1.0),
        records=4,
        features=2,
        regularization=0.2,
        budget=Budget(order=4, dp=2.0, deletion=0.05),
        method="noisy-gd",
        step_size=1.5,
        dtype="float64",
    )
    return Records(rows, np.zeros(4)), plan


def law(rows: np.ndarray, plan, steps: int, start_mean: np.ndarray, start_variance: float):
    """Mean and variance per coordinate after `steps` steps on the linear loss, by the plainest recursion."""
    numbers = plan.calibration
    mean, variance = start_mean.copy(), start_variance
    for _ in range(steps):
        mean = mean - numbers.step_size * (rows.mean(0) + plan.problem.regularization * mean)
        variance = (
            1 - numbers.step_size * plan.problem.regularization
        ) ** 2 * variance + 2 * numbers.step_size * numbers.noise_variance
    return mean, variance


def p_values(samples: np.ndarray, mean: np.ndarray, variance: float) -> list[float]:
    return [
        stats.kstest((samples[:, j] - mean[j]) / math.sqrt(variance), "norm").pvalue for j in range(samples.shape[1])
    ]


def test_learned_weights_follow_their_gaussian_law(problem, record_property) -> None:
    records, plan = problem
    samples = np.array([learn(records, plan).weights for _ in range(RUNS)])
    mean, variance = law(
        records.features, plan, plan.calibration.learn_steps, np.zeros(2), plan.calibration.init_variance
    )
    accepted = min(p_values(samples, mean, variance))
    half = max(p_values(samples, mean, variance / 4))
    shifted = max(p_values(samples, mean + 0.06 * math.sqrt(variance), variance))
    record_property(
        "evidence", f"{RUNS} runs: p={accepted:.2g}; planted half noise p={half:.1g}, shifted mean p={shifted:.1g}"
    )
    assert accepted > FALSE_ALARM
    assert half < FALSE_ALARM
    assert shifted < FALSE_ALARM


def test_unlearned_weights_forget_as_certified(problem, record_property) -> None:
    """From one published model, two worlds: with and without the record until the request. The gap is c^K of the start."""
    records, plan = problem
    request = EditRequest.delete([3])
    model = learn(records, plan)
    samples = np.array([unlearn(records, request, model, plan).weights for _ in range(RUNS)])
    without = records.apply(request)
    mean, variance = law(without.features, plan, plan.calibration.delete_steps, model.weights, 0.0)
    accepted = min(p_values(samples, mean, variance))
    one_less = law(without.features, plan, plan.calibration.delete_steps - 1, model.weights, 0.0)
    never_deleted = law(records.features, plan, plan.calibration.delete_steps, model.weights, 0.0)
    planted = [min(p_values(samples, *one_less)), min(p_values(samples, *never_deleted))]
    record_property(
        "evidence",
        f"{RUNS} requests: p={accepted:.2g}; planted record kept p={planted[1]:.1g}, one step fewer p={planted[0]:.1g}",
    )
    assert accepted > FALSE_ALARM
    assert planted[1] < FALSE_ALARM


def test_a_hundred_million_draws(record_property) -> None:
    """Moments, tails and serial correlation of the certified noise at a size where small faults show."""
    noise, blocks = SecureNoise(), 50
    size = 2_000_000
    moments, tails, lagged = np.zeros(4), 0, 0.0
    for _ in range(blocks):
        draws = noise.normal((size,))
        moments += [draws.sum(), (draws**2).sum(), (draws**3).sum(), (draws**4).sum()]
        tails += int((np.abs(draws) > 4).sum())
        lagged += float(draws[1:] @ draws[:-1])
    total = blocks * size
    # standard deviations of the k-th sample moment: sqrt(E x^{2k} − (E x^k)²)/√N = 1, √2, √15, √96
    deviations = (moments / total - [0, 1, 0, 3]) * math.sqrt(total) / np.sqrt([1, 2, 15, 96])
    expected = total * 2 * stats.norm.sf(4)
    tail = (tails - expected) / math.sqrt(expected)
    serial = lagged / math.sqrt(blocks * (size - 1))
    record_property(
        "evidence",
        f"{total:.0e} draws: moments off by {np.abs(deviations).max():.2f} standard errors, tail beyond 4 by {tail:.2f}, "
        f"serial correlation {serial:.2f}",
    )
    assert np.abs(deviations).max() < 5.6  # six statistics at 5.6 standard errors: below 2e-7 together
    assert abs(tail) < 5.6
    assert abs(serial) < 5.6
