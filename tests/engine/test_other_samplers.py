"""Integer noise beside the sampler of OpenDP, which was written by others; a planted fault falls out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from noisygd_delete.engine.noise import ResearchNoise, discrete_gaussian

DRAWS = 40_000
LEAST = 1e-6  # probability of a false alarm of one comparison


def draw_by_opendp(scale: float) -> np.ndarray:
    """(DRAWS,) draws of the discrete Gaussian law, by fresh entropy."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp 0.16.0 of requirements/constraints-judges.txt")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int), size=DRAWS), dp.l2_distance(T=float)
    return np.array(dp.m.make_gaussian(*space, scale=scale)([0] * DRAWS))


def same_law(one: np.ndarray, other: np.ndarray) -> float:
    """p-value of the two-sample test by χ², over up to 24 bins of about the same number of draws."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, 25)[1:-1]))
    counts = [np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1) for draws in (one, other)]
    table = np.array(counts)
    return float(chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


@pytest.mark.parametrize("scale", [0.75, 6.0, 1000.0])
def test_draws_follow_the_law_of_opendp_and_a_scale_off_by_a_twentieth_does_not(scale: float) -> None:
    theirs = draw_by_opendp(scale)
    noise = ResearchNoise(np.random.default_rng(61))
    assert same_law(discrete_gaussian(DRAWS, noise, variance=Fraction(scale) ** 2), theirs) > LEAST
    wrong = discrete_gaussian(DRAWS, noise, variance=Fraction(scale * 1.05) ** 2)
    assert same_law(wrong, theirs) < LEAST
