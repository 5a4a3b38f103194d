"""The low-bit attack on objective perturbation: from a published minimiser back to the uniform number behind b.

θ* solves G_D(θ) = −b, so for the right table Φ(−G_D(θ)/s)·2^bits is a whole number and a half, and for the wrong one it is
anything. It wins wherever θ* itself is published; the exact discrete Gaussian on a public grid leaves it guessing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from noisygd_delete.engine.noise import ResearchNoise, draw_linear_term, on_noisy_grid

BITS, NOISE, RIDGE, GAMES = 32, 5.0, 0.5, 300
ROWS = np.linspace(-1, 1, 30)


def gradient_sum(theta: np.ndarray, last: float) -> np.ndarray:
    """G_D of a logistic table on a line whose last label is `last`, for many θ at once."""
    labels = np.append(np.sign(ROWS[:-1] + 0.1), last)
    margins = np.multiply.outer(theta, ROWS * labels)
    return -(ROWS * labels / (1 + np.exp(margins))).sum(-1) + len(ROWS) * RIDGE * theta


def minimisers(b: np.ndarray, last: np.ndarray) -> np.ndarray:
    theta = np.zeros_like(b)
    for _ in range(60):
        residual = np.where(last > 0, gradient_sum(theta, 1.0), gradient_sum(theta, -1.0)) + b
        theta = theta - residual / (len(ROWS) * RIDGE + 4.0)
    return theta


def wins(theta: np.ndarray, last: np.ndarray) -> float:
    """How often the table whose Φ(−G_D(θ)/s)·2³² − 1/2 is nearest a whole number is the right one."""
    off = []
    for guess in (1.0, -1.0):
        number = ndtr(-gradient_sum(theta, guess) / NOISE) * 2.0**BITS - 0.5
        off.append(np.abs(number - np.rint(number)))
    guessed = np.where(off[0] < off[1], 1.0, -1.0)
    return float((guessed == last).mean())


def test_the_attack_wins_on_the_minimiser_and_guesses_on_the_release() -> None:
    rng = np.random.default_rng(1)
    last = rng.choice([-1.0, 1.0], GAMES)
    coarse = NOISE * ndtri((rng.integers(0, 2**BITS, GAMES) + 0.5) * 2.0**-BITS)
    theta = minimisers(-coarse, last)  # any sign convention of b: the law is symmetric
    assert wins(minimisers(coarse, last), last) > 0.97
    assert wins(theta, last) > 0.97
    noise = ResearchNoise(rng)
    tau = 2.0**-16
    published = on_noisy_grid(minimisers(coarse, last), noise, output_noise=tau)
    assert abs(wins(published, last) - 0.5) < 0.1  # even with the coarse uniforms
    ours = draw_linear_term((1, GAMES), noise, deviation=NOISE).per_record(1)[0]
    published = on_noisy_grid(minimisers(ours, last), noise, output_noise=tau)
    assert abs(wins(published, last) - 0.5) < 0.1
