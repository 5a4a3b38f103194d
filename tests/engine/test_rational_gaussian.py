"""The exact discrete Gaussian of a rational variance: against its probabilities, and word by word against its definition."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from noisygd_delete.engine import rational_gaussian as sampler
from noisygd_delete.engine.noise import ResearchNoise

VARIANCES = [
    *(Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(37), Fraction(1601, 3), Fraction(10**6 + 1, 7)),
    Fraction(3 << 61),
]  # steps of 1, then of 2, 32 and 2²⁷


def probabilities(variance: Fraction) -> dict[int, float]:
    most = math.ceil(9 * math.sqrt(variance)) + 3
    weights = {z: math.exp(-z * z / (2 * variance)) for z in range(-most, most + 1)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


@pytest.mark.parametrize("variance", VARIANCES[:5])
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
    monkeypatch.setattr(sampler, "_DOUBT", 2.0)  # every candidate is left to the exact comparison
    assert (sampler.rational_gaussian(300, ResearchNoise(np.random.default_rng(3)), variance=variance) == quick).all()
    monkeypatch.setattr(sampler, "_exp", lambda exponent, digits: Decimal(-float(exponent) * 1.1).exp())
    sampler._sums.cache_clear()
    assert (sampler.rational_gaussian(300, ResearchNoise(np.random.default_rng(3)), variance=variance) != quick).any()
    sampler._sums.cache_clear()


@pytest.mark.parametrize("variance", VARIANCES[4:])
def test_steps_and_places_make_up_the_law(variance: Fraction) -> None:
    """P(a) P(accepted | a, j) by the definition's own numbers, in proportion to exp(−z²/2σ²), in another arithmetic."""
    width = next(1 << k for k in range(50) if 8 << k <= math.sqrt(variance) < 16 << k)
    rate = Fraction(width * width) / (2 * variance)
    with mpmath.workdps(40):
        for a, j in ((0, 0), (0, width - 1), (1, 0), (7, width // 3), (25, width - 1)):
            share = sampler._share(rate, a, 40) - (sampler._share(rate, a - 1, 40) if a else 0)
            accepted = sampler._exp(Fraction(j * (2 * a * width + j)) / (2 * variance), 40)
            law = mpmath.exp(-mpmath.mpf((a * width + j) ** 2) * variance.denominator / (2 * variance.numerator))
            first = mpmath.mpf(str(sampler._share(rate, 0, 40)))
            assert abs(mpmath.mpf(str(share * accepted)) / first / law - 1) < 1e-25


def test_a_tie_is_drawn_further() -> None:
    class Words(ResearchNoise):
        def words(self, size: int) -> NDArray[np.uint64]:
            return np.array([known.pop(0)], np.uint64)

    edge = Decimal(1) / 2 + Decimal(1) / 2**90
    for further, below in (([0], True), ([0, 1 << 60], True), ([64], False), ([1 << 40], False)):
        known = list(further)
        assert sampler._Uniform(1 << 31, Words(np.random.default_rng())).below(lambda digits: edge) is below
    assert sampler._Uniform((1 << 31) - 1, Words(np.random.default_rng())).below(lambda digits: edge)


def test_what_is_no_variance_is_refused() -> None:
    for variance in (Fraction(0), Fraction(-1), Fraction(1 << 90)):
        with pytest.raises(ValueError, match="variance must be"):
            sampler.rational_gaussian(1, ResearchNoise(np.random.default_rng(1)), variance=variance)
