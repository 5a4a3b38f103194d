"""The kernel: with the noise off it is gradient descent; with it on, the noise has the stated scale; nothing hides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.noisygd import initial_weights, on_grid, publication_grid, run_in_blocks, run_noisy_steps


def quadratic(weights):
    return 0.5 * weights


def test_noise_off_is_gradient_descent() -> None:
    start = np.array([[1.0, -2.0]])
    after = run_noisy_steps(start, quadratic, step_size=0.3, noise_variance=0, steps=7, noise=None)
    assert after == pytest.approx(start * (1 - 0.15) ** 7, rel=1e-14)
    assert (start == [[1.0, -2.0]]).all()  # the argument is untouched


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.5, False), (2.0, False)])
def test_one_step_adds_noise_of_variance_two_eta_sigma2(factor: float, accepted: bool) -> None:
    noise = ResearchNoise(np.random.default_rng(0))
    eta, sigma2 = 0.3, 0.8
    after = run_noisy_steps(
        np.zeros((1, 4000)), quadratic, step_size=eta, noise_variance=sigma2 * factor**2, steps=1, noise=noise
    )
    p = stats.kstest(after.ravel() / np.sqrt(2 * eta * sigma2), "norm").pvalue
    assert bool(p > 1e-6) is accepted


def test_initial_law() -> None:
    noise = ResearchNoise(np.random.default_rng(1))
    start = initial_weights((2, 5000), init_variance=9.0, noise=noise)
    assert stats.kstest(start.ravel() / 3, "norm").pvalue > 1e-6
    assert abs(start.mean()) < 0.2  # mean 0, not 1000


def test_running_in_two_parts_is_running_once() -> None:
    """The only state is θ: stopping and going on with the same noise stream changes nothing."""

    def steps(*parts):
        noise, weights = ResearchNoise(np.random.default_rng(2)), np.ones((1, 3))
        for count in parts:
            weights = run_noisy_steps(weights, quadratic, step_size=0.1, noise_variance=0.5, steps=count, noise=noise)
        return weights

    assert (steps(3, 0, 4) == steps(7)).all()


def test_progress_reports_steps_only() -> None:
    seen: list[int] = []
    run_noisy_steps(
        np.ones((1, 1)), quadratic, step_size=0.1, noise_variance=0, steps=3, noise=None, progress=seen.append
    )
    assert seen == [1, 2, 3]


def test_progress_in_blocks_ends_with_the_last_step_and_without_a_listener_nobody_is_told() -> None:
    def descend(weights, blocks, *, step_size):
        for block in blocks:
            for row in block:
                weights = weights - step_size * quadratic(weights) + row
        return weights

    facts = {"step_size": 0.1, "noise_variance": 0.5, "steps": 7}
    seen: list[int] = []
    told = run_in_blocks(
        np.ones((1, 2)), descend, **facts, noise=ResearchNoise(np.random.default_rng(1)), block=3, progress=seen.append
    )
    untold = run_in_blocks(np.ones((1, 2)), descend, **facts, noise=ResearchNoise(np.random.default_rng(1)), block=3)
    plain = run_noisy_steps(np.ones((1, 2)), quadratic, **facts, noise=ResearchNoise(np.random.default_rng(1)))
    assert seen == [3, 6, 7]
    np.testing.assert_array_equal(told, untold)
    np.testing.assert_allclose(told, plain)


def test_published_weights_hide_the_low_bits() -> None:
    """Haney et al. 2022: from v + noise in floats, the size of v's last place shows. On the grid it does not."""
    grid = publication_grid(step_size=0.5, noise_variance=1.0)
    noise = np.random.default_rng(4).standard_normal((2, 100_000))

    def betrays(published: np.ndarray) -> float:
        """Share of small outputs that are not multiples of ulp(1/2): impossible for 1 + noise, common for 0 + noise."""
        small = np.abs(published) < 0.25
        return float(((published % 2.0**-53 != 0) & small).mean())

    zero, one = noise[0], 1.0 + noise[1]
    assert betrays(zero) > 0.05  # the un-rounded sums are told apart
    assert betrays(one) == 0.0
    assert betrays(on_grid(zero, grid)) == betrays(on_grid(one, grid)) == 0.0


def test_grid_is_public_and_fine() -> None:
    for sigma2 in (1e-12, 1e-3, 1.0, 1e6):
        grid = publication_grid(step_size=0.7, noise_variance=sigma2)
        scale = np.sqrt(2 * 0.7 * sigma2)
        assert scale / 2**21 <= grid <= scale / 2**20
        assert np.log2(grid) == int(np.log2(grid))
    published = on_grid(np.array([0.3, -1e-30]), 0.25)
    assert published.tolist() == [0.25, 0.0]
    assert not np.signbit(published[1])
    assert not published.flags.writeable
