"""Noise: cryptographic, Gaussian, never repeated, never stored."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest
from scipy import stats

from noisygd_delete.engine.noise import LARGEST, ResearchNoise, SecureNoise, noise_source

from ..forks import exit_status

FALSE_ALARM = 1e-6  # each statistical test below turns red on a correct build at most this often


class Planted:
    """A key stream with chosen words, and zeros after them."""

    def __init__(self, *words: int) -> None:
        self.bytes = b"".join(word.to_bytes(8, "little") for word in words)

    def update(self, data: bytes) -> bytes:
        taken, self.bytes = self.bytes[: len(data)], self.bytes[len(data) :]
        return taken.ljust(len(data), b"\0")


def planted(*words: int, draws: int = 1) -> np.ndarray:
    noise = SecureNoise()
    noise._stream = Planted(*words)
    return noise._draw(draws)


ONES = 2**64 - 1


@pytest.mark.parametrize(
    ("word", "further", "tail"),
    [
        (2**63, (), 2.0**-2),
        (2**1, (2**63,), 1.5 * 2.0**-64),  # one significant bit in the first word: the next ones follow
        (2**31 + 2**20, (2**63 + 2**40,), (2**30 + 2**19 + 0.5 + 2.0**-24) * 2.0**-64),
        (0, (2**60,), 2.0**-4 * 2.0**-64),
        (0, (0, 2**62), 2.0**-2 * 2.0**-128),
        (0, (), 2.0**-961),  # nothing but zeros: the smallest there is
    ],
)
def test_a_planted_word_gives_the_quantile_of_its_tail(word, further, tail) -> None:
    for sign in (0, 1):
        (drawn,) = planted(word + sign, *further)
        assert drawn == pytest.approx((1 - 2 * sign) * stats.norm.isf(tail), rel=1e-12)
        assert abs(drawn) < LARGEST


def quantile_at_length(bits: list[int]) -> float:
    """−Φ⁻¹(p) for the words as they would go on for ever with ones and zeros in turn, worked out by mpmath."""
    import mpmath

    with mpmath.workdps(340):
        p = mpmath.mpf(bits[0] >> 1) / 2**64
        endless = [*bits[1:], *[0xAAAAAAAAAAAAAAAA] * 4]
        p += sum(mpmath.mpf(word) / mpmath.mpf(2) ** (64 * (k + 2)) for k, word in enumerate(endless))
        x = mpmath.sqrt(-2 * mpmath.log(p))
        for _ in range(40):  # Newton on log Φ(−x)
            tail = mpmath.erfc(x / mpmath.sqrt(2)) / 2
            x += (mpmath.log(tail) - mpmath.log(p)) * tail * mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(x * x / 2)
        return float(x)


def test_a_draw_is_good_down_to_the_tail_that_is_declared_and_not_beyond() -> None:
    for last in (2**63, 2**53, 2**41 + 1):  # p ≥ 2⁻⁹²⁰
        words = [0] * 14 + [last]
        assert abs(planted(*words)[0] - quantile_at_length(words)) <= 2.0**-44 * 37
    words = [0] * 14 + [1]
    assert abs(planted(*words)[0] - quantile_at_length(words)) > 1e-3, (
        "fifteen words are all: the sampler says where it ends"
    )


def test_no_word_gives_an_infinite_draw_and_the_sign_is_one_bit() -> None:
    for word in (0, 1, 2, 3, ONES, ONES - 1, ONES - 2, ONES >> 1, (ONES >> 1) - 1, 1 << 63, (1 << 63) + 1, 0x7FF << 53):
        for further in (0, 1, ONES):
            (one,), (other,) = planted(word & ~1, further, further), planted(word | 1, further, further)
            assert np.isfinite(one)
            assert one == -other >= 0


def test_the_tails_mirror_each_other_and_are_resolved_alike() -> None:
    """The step from one possible draw to the next, a million times out in either tail: no wider than a double is fine."""
    for bits in (62, 40, 20, 3):
        far, further = 2**bits, (2**63, 2**63 + 2**34)
        steps = [planted(far + sign, word)[0] for sign in (0, 1) for word in further]
        gaps = abs(steps[0] - steps[1]), abs(steps[2] - steps[3])
        assert gaps[0] == gaps[1]
        assert gaps[0] < 1e-9  # 53-bit uniforms had cells of 0.03 and an infinite one beyond 8


def test_moments_and_tails_of_a_million_draws() -> None:
    draws = SecureNoise().normal((1_000_000,))
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        spread = np.sqrt((stats.norm.moment(2 * power) - moment**2) / draws.size)
        assert abs((draws**power).mean() - moment) < 5.5 * spread
    for threshold in (1, 2, 3, 4):
        for side in (draws > threshold, draws < -threshold):
            share = stats.norm.sf(threshold)
            assert abs(side.mean() - share) < 5.5 * np.sqrt(share / draws.size) + 1e-6


def test_draws_are_independent_of_each_other() -> None:
    draws = SecureNoise().normal((100_000,))
    for lag in (1, 2, 8, 108):
        correlation = np.corrcoef(draws[:-lag], draws[lag:])[0, 1]
        assert abs(correlation) < 5.5 / np.sqrt(len(draws))  # 5.5 standard errors: below 4e-8 a lag


def test_small_draws_continue_one_stream() -> None:
    noise = SecureNoise()
    pieces = np.concatenate([noise.normal((7, 3)).ravel() for _ in range(2_000)])
    assert len(np.unique(pieces)) == pieces.size
    assert np.isfinite(pieces).all()


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_refuses_to_be_stored_or_copied(leak) -> None:
    with pytest.raises(TypeError, match="never copied, pickled or stored"):
        leak(SecureNoise())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("draw", [lambda noise: noise.normal((2,)), lambda noise: noise.words(2)])
def test_refuses_to_cross_a_fork(draw) -> None:
    noise = SecureNoise()
    assert len(draw(noise)) == 2

    def draw_in_child() -> None:
        with pytest.raises(RuntimeError, match="crossed a fork"):
            draw(noise)

    assert exit_status(draw_in_child) == 0


def test_research_noise_is_reproducible_and_never_certified() -> None:
    one, two = (ResearchNoise(np.random.default_rng(3)).normal((5,)) for _ in range(2))
    assert (one == two).all()
    assert not noise_source(np.random.default_rng(0)).certified
    assert noise_source(None).certified
    with pytest.raises(TypeError, match="Generator"):
        noise_source(42)


def test_standard_normal_and_the_test_has_power() -> None:
    draws = SecureNoise().normal((200_000,))
    assert stats.kstest(draws, "norm").pvalue > FALSE_ALARM
    for scale in (0.95, 1.05):
        assert stats.kstest(draws * scale, "norm").pvalue < FALSE_ALARM
