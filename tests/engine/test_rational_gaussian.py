"""The exact discrete Gaussian of a rational variance: against its probabilities, and word by word against its definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from noisygd_delete.engine import rational_gaussian as sampler
from noisygd_delete.engine.noise import ResearchNoise

VARIANCES = [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(37), Fraction(10**6 + 1, 7), Fraction(3 << 61)]


def probabilities(variance: Fraction) -> dict[int, float]:
    most = math.ceil(9 * math.sqrt(variance)) + 3
    weights = {z: math.exp(-z * z / (2 * variance)) for z in range(-most, most + 1)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


@pytest.mark.parametrize("variance", VARIANCES[:4])
def test_frequencies_are_the_probabilities(variance: Fraction) -> None:
    drawn = sampler.rational_gaussian(200_000, ResearchNoise(np.random.default_rng(1)), variance=variance)
    expected = {z: p for z, p in probabilities(variance).items() if p * len(drawn) > 20}
    square = sum(((drawn == z).sum() - p * len(drawn)) ** 2 / (p * len(drawn)) for z, p in expected.items())
    assert square < len(expected) + 5 * math.sqrt(2 * len(expected)) + 5
    biased = {z: p * (1 + 0.02 * z * z / variance) for z, p in expected.items()}  # a variance 4 % off is seen
    total = sum(biased.values())
    wrong = sum(
        ((drawn == z).sum() - p / total * len(drawn)) ** 2 / (p / total * len(drawn)) for z, p in biased.items()
    )
    assert wrong > len(expected) + 5 * math.sqrt(2 * len(expected)) + 5


@pytest.mark.parametrize("variance", VARIANCES[3:])
def test_moments_of_wide_draws(variance: Fraction) -> None:
    drawn = sampler.rational_gaussian(200_000, ResearchNoise(np.random.default_rng(2)), variance=variance)
    scaled = drawn / math.sqrt(variance)
    assert abs(scaled.mean()) < 0.012
    assert abs(scaled.var() - 1) < 0.016
    assert abs((scaled**4).mean() - 3) < 0.12


@pytest.mark.parametrize("variance", VARIANCES)
def test_floating_point_decides_as_the_definition_does(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = sampler.rational_gaussian(300, ResearchNoise(np.random.default_rng(3)), variance=variance)
    monkeypatch.setattr(sampler, "_SAFE", np.uint64((1 << 64) - 1))  # every candidate is left to the exact comparison
    assert (sampler.rational_gaussian(300, ResearchNoise(np.random.default_rng(3)), variance=variance) == quick).all()


def test_what_is_no_variance_is_refused() -> None:
    for variance in (Fraction(0), Fraction(-1), Fraction(1 << 90)):
        with pytest.raises(ValueError, match="variance must be"):
            sampler.rational_gaussian(1, ResearchNoise(np.random.default_rng(1)), variance=variance)
