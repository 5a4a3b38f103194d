"""Noise: cryptographic, Gaussian, never repeated, never stored."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

import numpy as np
import pytest
from scipy import stats

from noisygd_delete.engine.noise import ResearchNoise, SecureNoise, noise_source

FALSE_ALARM = 1e-6  # each statistical test below turns red on a correct build at most this often


def test_standard_normal_and_the_test_has_power() -> None:
    draws = SecureNoise().normal((200_000,))
    assert stats.kstest(draws, "norm").pvalue > FALSE_ALARM
    for scale in (0.95, 1.05):
        assert stats.kstest(draws * scale, "norm").pvalue < FALSE_ALARM


def test_draws_are_independent_of_each_other() -> None:
    draws = SecureNoise().normal((100_000,))
    for lag in (1, 2, 8, 108):
        correlation = np.corrcoef(draws[:-lag], draws[lag:])[0, 1]
        assert abs(correlation) < 5.5 / np.sqrt(len(draws))  # 5.5 standard errors: below 4e-8 a lag


def test_no_two_sources_share_noise() -> None:
    first = np.concatenate([SecureNoise().normal((8,)) for _ in range(200)])
    assert len(np.unique(first)) == first.size


def test_small_draws_continue_one_stream() -> None:
    noise = SecureNoise()
    pieces = np.concatenate([noise.normal((7, 3)).ravel() for _ in range(2_000)])
    assert len(np.unique(pieces)) == pieces.size
    assert np.isfinite(pieces).all()


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_refuses_to_be_stored_or_copied(leak) -> None:
    with pytest.raises(TypeError, match="never copied, pickled or stored"):
        leak(SecureNoise())


def _draw_in_child(noise: SecureNoise, queue) -> None:
    try:
        noise.normal((1,))
        queue.put("drew")
    except RuntimeError as error:
        queue.put(str(error))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_refuses_to_cross_a_fork() -> None:
    context = multiprocessing.get_context("fork")
    noise, queue = SecureNoise(), context.Queue()
    noise.normal((1,))
    child = context.Process(target=_draw_in_child, args=(noise, queue))
    child.start()
    assert "crossed a fork" in queue.get(timeout=30)
    child.join()


def test_research_noise_is_reproducible_and_never_certified() -> None:
    one, two = (ResearchNoise(np.random.default_rng(3)).normal((5,)) for _ in range(2))
    assert (one == two).all()
    assert not noise_source(np.random.default_rng(0)).certified
    assert noise_source(None).certified
    with pytest.raises(TypeError, match="Generator"):
        noise_source(42)
