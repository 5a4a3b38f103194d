"""The discrete Gaussian is exact: against probabilities from mpmath, by enumeration of ties, and beside planted faults."""

from __future__ import annotations

import itertools
import pickle

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from noisygd_delete.engine import discrete_gaussian as module
from noisygd_delete.engine.discrete_gaussian import discrete_gaussian, on_noisy_grid
from noisygd_delete.engine.noise import ResearchNoise, SecureNoise


def noise(seed: int = 0) -> ResearchNoise:
    return ResearchNoise(np.random.default_rng(seed))


def probabilities(sigma: float, reach: int) -> np.ndarray:
    with mpmath.workdps(30):
        mass = [mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for z in range(-reach, reach + 1)]
        total = mpmath.fsum(mass)
        return np.array([float(m / total) for m in mass])


def surprise(draws: np.ndarray, sigma: float) -> float:
    """p-value of the chi-square test against the exact law, cells of expectation below 10 thrown together."""
    reach = int(12 * sigma) + 3
    expected = probabilities(sigma, reach) * len(draws)
    seen = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)
    common = expected >= 10
    pairs = [*zip(seen[common], expected[common], strict=True), (seen[~common].sum(), expected[~common].sum())]
    statistic = sum((s - e) ** 2 / e for s, e in pairs if e > 0)
    return float(chi2.sf(statistic, len(pairs) - 1))


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_it_has_the_exact_law(bits) -> None:
    assert surprise(discrete_gaussian(400_000, noise(bits), bits=bits), 2.0**bits) > 1e-3


def test_a_wide_one_has_the_moments_and_the_low_bits_of_the_law() -> None:
    draws = discrete_gaussian(200_000, noise(4))
    sigma = 2.0**module.BITS
    assert np.mean(draws) / sigma == pytest.approx(0, abs=0.011)
    assert np.var(draws) / sigma**2 == pytest.approx(1, abs=0.016)
    assert np.mean((draws / sigma) ** 4) == pytest.approx(3, abs=0.12)
    assert (
        surprise((draws >> (module.BITS - 2)), 4.0) < 1e-3
    )  # floors of a continuous law: not centred, so not this one
    assert np.bincount(draws & 7, minlength=8) / len(draws) == pytest.approx(np.full(8, 1 / 8), abs=0.005)


@pytest.mark.parametrize("fault", ["zero counted twice", "e^−γ without its fraction", "one more run word decides"])
def test_planted_faults_are_seen(fault, monkeypatch) -> None:
    if fault == "zero counted twice":
        plain = module._candidates

        def candidates(tapes, bits):
            tapes = tapes.copy()
            z, accepted, undecided = plain(tapes, bits)
            flipped = tapes.copy()
            flipped[:, 0] &= np.uint64(2**63 - 1)
            return np.where(z == 0, 0, z), accepted | (plain(flipped, bits)[1] & (z == 0)), undecided

        monkeypatch.setattr(module, "_candidates", candidates)
    elif fault == "e^−γ without its fraction":
        plain = module._candidates

        def candidates(tapes, bits):
            tapes = tapes.copy()
            tapes[:, 3] = np.uint64(2**64 - 1)  # the run breaks at once
            return plain(tapes, bits)

        monkeypatch.setattr(module, "_candidates", candidates)
    else:
        plain = module._candidates

        def candidates(tapes, bits):
            tapes = np.concatenate([tapes[:, :3], np.zeros((len(tapes), 1), np.uint64), tapes[:, 3:-1]], axis=1)
            return plain(tapes, bits)

        monkeypatch.setattr(module, "_candidates", candidates)
    monkeypatch.setattr(module._Exact, "decide", lambda self: None)
    assert surprise(discrete_gaussian(100_000, noise(1), bits=2), 4.0) < 1e-6


def test_numpy_decides_as_the_definition_does() -> None:
    tapes = noise(2).words(4000 * module._TAPE).reshape(-1, module._TAPE)
    for bits in (0, 5, 24, 26):
        z, accepted, undecided = module._candidates(tapes, bits)
        assert undecided.mean() < 2e-3
        for row in np.flatnonzero(~undecided)[::3]:
            decided = module._Exact([int(word) for word in tapes[row]], iter(()), bits).decide()
            assert decided == (int(z[row]) if accepted[row] else None)


def test_what_numpy_cannot_decide_it_hands_over() -> None:
    """Ties with an edge, ties inside the run, a run longer than the tape, a word too small for the table."""
    edge = np.uint64(module._digits(2, 64))
    plain = np.array([5, 2**63, 7, 2**62, 2**61, *[2**63 + k for k in range(module._TAPE - 5)]], dtype=np.uint64)
    tie, run, long, small = (plain.copy() for _ in range(4))
    tie[1] = edge
    run[3:6] = [10, 9, 9]
    long[3:] = np.arange(module._RUN, 0, -1)
    small[1] = 0
    for tape in (run, long):
        tape[0] = 2**23 + 5  # a fraction to fall from
    undecided = module._candidates(np.stack([tie, run, long, small]), 24)[2]
    assert undecided.all()


@pytest.mark.parametrize("width", [3, 5])
def test_the_definition_is_exact_when_ties_are_common(width) -> None:
    """Words of three bits tie all the time: only then is the drawing of further bits exercised."""
    generator = np.random.default_rng(width)

    def fresh():
        while True:
            yield from generator.integers(0, 2**width, 4096).tolist()

    words, draws = fresh(), []
    while len(draws) < 40_000:
        tape = list(itertools.islice(words, 3 + 4))
        z = module._Exact(tape, words, 2, width).decide()
        if z is not None:
            draws.append(z)
    assert surprise(np.array(draws), 4.0) > 1e-3


def test_binary_digits_of_powers_of_e() -> None:
    with mpmath.workdps(120):
        for power, bits in itertools.product((1, 2, 17, 40, 90), (64, 128, 192)):
            assert module._digits(power, bits) == int(mpmath.floor(mpmath.exp(-power) * mpmath.mpf(2) ** bits))
    assert module._digits(0, 64) == 2**64


def test_published_weights_lie_on_the_grid_and_are_rounded_first() -> None:
    weights = np.random.default_rng(3).standard_normal((3, 40))
    published = on_noisy_grid(weights, noise(5), output_noise=2.0**-6)
    grid = module.grid_of(2.0**-6)
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
    draws = discrete_gaussian(1000, source, bits=4)
    assert len(set(draws.tolist())) > 20
    assert len(discrete_gaussian(0, source)) == 0
    assert not (source.words(4) == source.words(4)).any()
    with pytest.raises(TypeError):
        pickle.dumps(source)
    with pytest.raises(ValueError, match="bits"):
        discrete_gaussian(1, source, bits=27)
