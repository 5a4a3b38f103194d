"""Any history of Noisy-GD on the linear loss, as one Gaussian vector per world, by linear algebra.

A release is a mean plus a linear combination of all noise drawn so far. Simulating both worlds step by step gives the
means of the observed releases and their noise coefficients; the worlds differ in the mean only, and
μ² = dᵀ(CCᵀ)⁻¹d is the squared length of the least noise that explains the difference d = C z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Run:
    """One release: K steps of θ ← (1 − ηλ)θ − (η/n) Σ x + √(2ησ²) ξ from 0 (fresh) or from the last release."""

    fresh: bool
    steps: int
    step_size: float
    regularization: float
    noise_variance: float
    records: int
    others: float = 0.0  # the sum over the other records while this release runs, the same in both worlds


def squared_mu(runs, *, gap, present_from, erased_at, observed):
    """μ² between the world with the record (its gradient differs by `gap`) and the world without it. `gap` may be a list: what each release
    had of it, where a person's rows leave one by one."""
    total = sum(run.steps for run in runs)
    means = np.zeros(2)
    noise = np.zeros(total)
    differences, coefficients = [], []
    step = 0
    for number, run in enumerate(runs, start=1):
        if run.fresh:
            means[:] = 0.0
            noise[:] = 0.0
        there = number >= present_from and (erased_at is None or number < erased_at)
        keep = 1 - run.step_size * run.regularization
        for _ in range(run.steps):
            present = gap[number - 1] if isinstance(gap, list) else gap
            sums = run.others + np.array([present if there else 0.0, 0.0])
            means = keep * means - run.step_size / run.records * sums
            noise *= keep
            noise[step] = np.sqrt(2 * run.step_size * run.noise_variance)
            step += 1
        if number in observed:
            differences.append(means[0] - means[1])
            coefficients.append(noise.copy())
    if not differences:
        return 0.0
    least, *_ = np.linalg.lstsq(np.array(coefficients), np.array(differences), rcond=1e-13)
    return float(least @ least)
