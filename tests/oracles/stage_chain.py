"""Runs of stages as one joint Gaussian, by linear algebra: what any set of them reveals of a person, exactly.

Every run is a number: a combination of the runs it reads, a shift for every row of the person that it reads, and noise of its
own. The worlds differ in the mean alone, so a set of observed runs reveals μ² = dᵀC⁻¹d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Run:
    """One run: `reads` are (run, weight), `shift` what one row of the person moves it by, `rows` how many of hers it reads."""

    reads: tuple[tuple[int, float], ...]
    shift: float
    noise: float
    rows: int


def squared_mu(runs: list[Run], observed: list[int]) -> float:
    """μ² of an observer of these runs; 0 for none."""
    means = np.zeros(len(runs))
    mixes = np.zeros((len(runs), len(runs)))
    for number, run in enumerate(runs):
        means[number] = run.shift * run.rows + sum(weight * means[other] for other, weight in run.reads)
        for other, weight in run.reads:
            mixes[number] += weight * mixes[other]
        mixes[number, number] += run.noise
    if not observed:
        return 0.0
    mean, mix = means[observed], mixes[observed]
    least, *_ = np.linalg.lstsq(mix, mean, rcond=1e-13)
    return float(least @ least)
