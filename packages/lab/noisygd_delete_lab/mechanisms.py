"""Basic mechanisms used in lectures and counter-examples, each with its exact calibration.

Sensitivities refer to the caller's adjacency. For research only: numpy's generator, floats without a grid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisygd_delete.bounds.gaussian import gdp_for
from noisygd_delete.errors import check_count, check_positive


def laplace(
    value: ArrayLike, *, l1_sensitivity: float, epsilon: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return value + Laplace(Δ₁/ε), which is ε-DP."""
    center = np.asarray(value, dtype=np.float64)
    scale = check_positive("l1_sensitivity", l1_sensitivity) / check_positive("epsilon", epsilon)
    return np.asarray(center + rng.laplace(0, scale, center.shape))


def gaussian_noise(*, l2_sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the least σ for (ε, δ), any ε: Δ₂/μ with μ from the exact trade-off (Balle & Wang 2018).

    √(2 log(1.25/δ))Δ₂/ε is larger, and valid for ε ≤ 1 only.
    """
    return check_positive("l2_sensitivity", l2_sensitivity) / gdp_for(epsilon=epsilon, delta=delta)


def gaussian(
    value: ArrayLike, *, l2_sensitivity: float, epsilon: float, delta: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return value + N(0, σ²), which is (ε, δ)-DP, with σ of `gaussian_noise`."""
    center = np.asarray(value, dtype=np.float64)
    scale = gaussian_noise(l2_sensitivity=l2_sensitivity, epsilon=epsilon, delta=delta)
    return np.asarray(center + scale * rng.standard_normal(center.shape))


def exponential_probabilities(scores: ArrayLike, *, sensitivity: float, epsilon: float) -> NDArray[np.float64]:
    """Return the probabilities P(o) ∝ exp(ε s(o)/(2Δ)) of the exponential mechanism, which is ε-DP.

    Without the 2, as in some lectures, both the numerator and the normaliser may change by e^ε: 2ε-DP.
    """
    exponents = (
        check_positive("epsilon", epsilon)
        * np.asarray(scores, float)
        / (2 * check_positive("sensitivity", sensitivity))
    )
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


def exponential(scores: ArrayLike, *, sensitivity: float, epsilon: float, rng: np.random.Generator) -> int:
    """Draw an index by the exponential mechanism."""
    chances = exponential_probabilities(scores, sensitivity=sensitivity, epsilon=epsilon)
    return int(rng.choice(len(chances), p=chances))


def randomized_response(
    values: NDArray[np.int64], *, classes: int, epsilon: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Keep each value with probability e^ε/(e^ε + k − 1), else draw one of the k − 1 others uniformly.

    This is ε-DP per value.
    """
    k = check_count("classes", classes, minimum=2)
    keep = 1 / (1 + (k - 1) * np.exp(-check_positive("epsilon", epsilon)))
    other = (values + rng.integers(1, k, values.shape)) % k
    return np.where(rng.random(values.shape) < keep, values, other)
