"""The utility bound against chains on quadratics, whose law is Gaussian, and against a simulated logistic model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete.bounds import shifted_interpolation, utility


def quadratic_risk(curvatures, start, *, step_size, noise_variance, steps):
    """E f − f* after K steps on f = Σ h θ²/2 from a point, coordinate by coordinate."""
    shrink = 1 - step_size * curvatures
    mean, variance = start * shrink**steps, np.zeros_like(curvatures)
    for _ in range(steps):
        variance = shrink**2 * variance + 2 * step_size * noise_variance
    return float(np.sum(curvatures * (mean**2 + variance)) / 2)


def stationary_law(curvatures, *, step_size, noise_variance):
    """Variance per coordinate: σ²/(h(1 − ηh/2))."""
    return noise_variance / (curvatures * (1 - step_size * curvatures / 2))


SPECTRA = [
    np.array([0.5]),
    np.array([0.01, 1.0]),
    np.full(6, 0.3),
    np.geomspace(1e-3, 1, 20),
    np.concatenate([[0.05], np.full(30, 2.0)]),
]


def bound_of(curvatures, share, sigma2):
    low, high = curvatures.min(), curvatures.max()
    facts = {"step_size": share * 2 / (low + high), "objective_smoothness": high}
    law = {**facts, "noise_variance": sigma2, "hessian_trace": float(curvatures.sum())}
    square = utility.stationary_gradient_square(**law)
    stationary = utility.stationary_excess(dimension=len(curvatures), strong_convexity=low, **law)
    return facts["step_size"], square, stationary


@pytest.mark.parametrize("curvatures", SPECTRA, ids=lambda h: f"{len(h)}d")
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_stationary_excess_covers_every_quadratic_within_a_small_factor(curvatures, share):
    eta, square, stationary = bound_of(curvatures, share, 0.7)
    variance = stationary_law(curvatures, step_size=eta, noise_variance=0.7)
    truth = float(np.sum(curvatures * variance) / 2)
    assert truth <= stationary * (1 + 1e-12)
    assert float(np.sum(curvatures**2 * variance)) <= square * (1 + 1e-12)
    if share <= 0.5:
        assert stationary <= 3.1 * truth  # not vacuous


@pytest.mark.parametrize("curvatures", SPECTRA, ids=lambda h: f"{len(h)}d")
@pytest.mark.parametrize("steps", [1, 4, 40])
def test_excess_at_a_distance_covers_a_chain_from_afar(curvatures, steps):
    eta, square, stationary = bound_of(curvatures, 0.7, 0.05)
    start = np.linspace(-2, 3, len(curvatures))
    variance = stationary_law(curvatures, step_size=eta, noise_variance=0.05)
    far = math.sqrt(float(np.sum(start**2 + variance)))  # W₂ from a point to the stationary law
    distance = (1 - eta * curvatures.min()) ** steps * far
    bound = utility.excess_at_distance(
        stationary=stationary, gradient_square=square, distance=distance, objective_smoothness=float(curvatures.max())
    )
    assert quadratic_risk(curvatures, start, step_size=eta, noise_variance=0.05, steps=steps) <= bound


def law_on_a_grid(lam, *, share, sigma2):
    """Stationary law of the chain on logistic losses with labels of both signs, by its transition matrix: no formula of ours.

    f(θ) = [3 log(1 + e^{−2θ}) + log(1 + e^{2θ})]/4 + λθ²/2, whose curvature varies between λ and λ + 1.
    """
    theta = np.linspace(-6, 6, 401)
    eta = share * 2 / (2 * lam + 1)
    tau = math.sqrt(2 * eta * sigma2)
    up, down = 1 / (1 + np.exp(-2 * theta)), 1 / (1 + np.exp(2 * theta))
    slope = (-6 * down + 2 * up) / 4 + lam * theta
    value = (3 * np.logaddexp(0, -2 * theta) + np.logaddexp(0, 2 * theta)) / 4 + lam / 2 * theta**2
    kernel = np.exp(-((theta[None] - (theta - eta * slope)[:, None]) ** 2) / (2 * tau**2))
    kernel /= kernel.sum(1, keepdims=True)
    density = np.full(len(theta), 1 / len(theta))
    for _ in range(12):  # squares: 4,096 steps
        kernel = kernel @ kernel
    density = density @ kernel
    return eta, float(density @ slope**2), float(density @ value - value.min())


def check_stationary_law(share, sigma2, trace):
    lam = 0.05
    eta, square, excess = law_on_a_grid(lam, share=share, sigma2=sigma2)
    law = {"hessian_trace": trace * (1 + lam), "noise_variance": sigma2, "step_size": eta}
    law["objective_smoothness"] = 1 + lam
    assert square <= utility.stationary_gradient_square(**law)
    assert excess <= utility.stationary_excess(dimension=1, strong_convexity=lam, **law)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.98])
@pytest.mark.parametrize("sigma2", [0.02, 0.5])
def test_the_stationary_law_of_a_logistic_model_is_within_both_bounds(share, sigma2):
    check_stationary_law(share, sigma2, trace=1.0)


def test_a_trace_below_the_curvature_is_caught():
    with pytest.raises(AssertionError):
        check_stationary_law(0.9, 0.02, trace=0.2)


def test_a_planted_fault_in_the_stationary_bound_is_caught(monkeypatch):
    right = utility.stationary_gradient_square
    monkeypatch.setattr(
        utility, "stationary_gradient_square", lambda **given: right(**{**given, "step_size": given["step_size"] / 2})
    )
    with pytest.raises(AssertionError):
        test_stationary_excess_covers_every_quadratic_within_a_small_factor(SPECTRA[4], 0.9)


def test_a_logistic_model_keeps_the_promise_after_an_edit():
    """4,000 chains through a learn and a request that replaces three records; the minimiser by Newton's method."""
    rng = np.random.default_rng(7)
    n, d, lam, sigma2 = 40, 3, 0.1, 0.002
    rows = rng.normal(size=(n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.sign(rows[:, 0] + 0.3 * rng.normal(size=n))
    edited_rows, edited_labels = rows.copy(), labels.copy()
    edited_rows[:3], edited_labels[:3] = -rows[:3], labels[:3]
    low, high = lam, lam + 0.25
    eta = 1.2 / (low + high)

    def gradient(theta, x, y):
        weights = -y / (1 + np.exp(y * (theta @ x.T)))
        return weights @ x / n + lam * theta

    def risk(theta, x, y):
        return np.log1p(np.exp(-y * (theta @ x.T))).mean(-1) + lam / 2 * (theta**2).sum(-1)

    best = np.zeros(d)
    for _ in range(4000):
        best = best - gradient(best, edited_rows, edited_labels) / high
    theta = np.zeros((4000, d))
    for _ in range(150):
        theta = theta - eta * gradient(theta, rows, labels) + math.sqrt(2 * eta * sigma2) * rng.normal(size=theta.shape)
    steps = 5
    for _ in range(steps):
        theta = theta - eta * gradient(theta, edited_rows, edited_labels)
        theta += math.sqrt(2 * eta * sigma2) * rng.normal(size=theta.shape)
    measured = float(risk(theta, edited_rows, edited_labels).mean() - risk(best, edited_rows, edited_labels))
    law = {"step_size": eta, "objective_smoothness": high, "noise_variance": sigma2, "hessian_trace": d * lam + 0.25}
    square = utility.stationary_gradient_square(**law)
    stationary = utility.stationary_excess(dimension=d, strong_convexity=low, **law)
    moved = shifted_interpolation.minimiser_move(lipschitz=1.0, strong_convexity=low, records=n, batch=3)
    bound = utility.excess_at_distance(
        stationary=stationary,
        gradient_square=square,
        distance=(1 - eta * low) ** steps * moved,
        objective_smoothness=high,
    )
    assert measured <= bound
    assert stationary <= 10 * measured
