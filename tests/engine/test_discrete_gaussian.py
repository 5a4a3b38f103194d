"""The exact discrete Gaussian: against its probabilities, word by word against its definition, and published weights on its grid."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from noisygd_delete.engine import noise as sampler
from noisygd_delete.engine.noise import ResearchNoise, SecureNoise, discrete_gaussian, on_noisy_grid

VARIANCES = [
    *(Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(37), Fraction(1601, 3), Fraction(10**6 + 1, 7)),
    Fraction(3 << 61),
]  # steps of 1, then of 2, 32 and 2²⁷


def noise(seed: int = 0) -> ResearchNoise:
    return ResearchNoise(np.random.default_rng(seed))


def probabilities(variance: Fraction, reach: int) -> np.ndarray:
    with mpmath.workdps(30):
        twice = 2 * mpmath.mpf(variance.numerator) / variance.denominator
        mass = [mpmath.exp(-(mpmath.mpf(z) ** 2) / twice) for z in range(-reach, reach + 1)]
        total = mpmath.fsum(mass)
        return np.array([float(m / total) for m in mass])


def surprise(draws: np.ndarray, variance: Fraction) -> float:
    """p-value of the chi-square test against the exact law, cells of expectation below 10 thrown together."""
    reach = int(12 * math.sqrt(variance)) + 3
    expected = probabilities(variance, reach) * len(draws)
    seen = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)
    common = expected >= 10
    pairs = [*zip(seen[common], expected[common], strict=True), (seen[~common].sum(), expected[~common].sum())]
    statistic = sum((s - e) ** 2 / e for s, e in pairs if e > 0)
    return float(chi2.sf(statistic, len(pairs) - 1))


@pytest.mark.parametrize("variance", VARIANCES[:5])
def test_it_has_the_exact_law(variance: Fraction) -> None:
    draws = discrete_gaussian(200_000, noise(1), variance=variance)
    assert surprise(draws, variance) > 1e-3
    assert surprise(draws, variance * Fraction(26, 25)) < 1e-6
    assert surprise(np.where(np.arange(len(draws)) % 50 == 0, 0, draws), variance) < 1e-6  # zero too often


def test_low_bits_of_a_wide_one_are_those_of_the_law() -> None:
    draws = discrete_gaussian(200_000, noise(4), variance=Fraction(4) ** 24)
    assert surprise(draws >> 22, Fraction(16)) < 1e-3  # floors of a continuous law: not centred, so not this one
    assert np.bincount(draws & 7, minlength=8) / len(draws) == pytest.approx(np.full(8, 1 / 8), abs=0.005)


@pytest.mark.parametrize("variance", VARIANCES[3:])
def test_moments_of_wide_draws(variance: Fraction) -> None:
    drawn = discrete_gaussian(200_000, noise(2), variance=variance)
    scaled = drawn / math.sqrt(variance)
    assert abs(scaled.mean()) < 0.012
    assert abs(scaled.var() - 1) < 0.016
    assert abs((scaled**4).mean() - 3) < 0.12


@pytest.mark.parametrize("variance", VARIANCES)
def test_floating_point_decides_as_the_definition_does(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = discrete_gaussian(300, noise(3), variance=variance)
    monkeypatch.setattr(sampler, "_DOUBT", 2.0)  # every candidate is left to the exact comparison
    assert (discrete_gaussian(300, noise(3), variance=variance) == quick).all()
    monkeypatch.setattr(sampler, "_exp", lambda exponent, digits: Decimal(-float(exponent) * 1.1).exp())
    sampler._sums.cache_clear()
    assert (discrete_gaussian(300, noise(3), variance=variance) != quick).any()
    sampler._sums.cache_clear()


@pytest.mark.parametrize("variance", VARIANCES[4:])
def test_steps_and_places_make_up_the_law(variance: Fraction) -> None:
    """P(a) P(accepted | a, j) by the definition's own numbers, in proportion to exp(−z²/2σ²), in another arithmetic."""
    width = next(1 << k for k in range(50) if 8 << k <= math.sqrt(variance) < 16 << k)
    rate = Fraction(width * width) / (2 * variance)
    with mpmath.workdps(60), sampler._digits(60):
        for a, j in ((0, 0), (0, width - 1), (1, 0), (7, width // 3), (25, width - 1)):
            share = sampler._share(rate, a, 40) - (sampler._share(rate, a - 1, 40) if a else 0)
            accepted = sampler._exp(Fraction(j * (2 * a * width + j)) / (2 * variance), 40)
            law = mpmath.exp(-mpmath.mpf((a * width + j) ** 2) * variance.denominator / (2 * variance.numerator))
            first = mpmath.mpf(str(sampler._share(rate, 0, 40)))
            assert abs(mpmath.mpf(str(share * accepted)) / first / law - 1) < 1e-37  # to the digits asked for


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
            discrete_gaussian(1, noise(1), variance=variance)


def test_published_weights_lie_on_the_grid_and_are_rounded_first() -> None:
    weights = np.random.default_rng(3).standard_normal((3, 40))
    published = on_noisy_grid(weights, noise(5), output_noise=2.0**-6)
    grid = sampler.grid_of(2.0**-6)
    assert (published / grid == np.rint(published / grid)).all()
    assert np.abs(published - weights).max() < 6 * 2.0**-6
    assert np.std(published - weights) == pytest.approx(2.0**-6, rel=0.2)
    same = on_noisy_grid(np.rint(weights / grid) * grid, noise(5), output_noise=2.0**-6)
    assert (same == published).all()  # nothing below the grid is seen
    assert not published.flags.writeable
    for wrong in (0.0, 0.3, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="power of two"):
            on_noisy_grid(weights, noise(), output_noise=wrong)


def test_certified_noise_serves_it() -> None:
    source = SecureNoise()
    draws = discrete_gaussian(1000, source, variance=Fraction(256))
    assert len(set(draws.tolist())) > 20
    assert len(discrete_gaussian(0, source, variance=Fraction(1))) == 0


@pytest.mark.parametrize("digits", [40, 200])
@pytest.mark.parametrize("rate", [Fraction(1, 512), Fraction(1, 3), Fraction(50)])
def test_what_the_sums_leave_out_is_below_the_digits_asked_for(rate: Fraction, digits: int) -> None:
    first = len(sampler._sums(rate, digits))
    with mpmath.workdps(20):
        left = mpmath.nsum(
            lambda a: mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * a**2), [first, first + 500]
        )
        assert first > 0
        assert left < mpmath.mpf(10) ** -digits
