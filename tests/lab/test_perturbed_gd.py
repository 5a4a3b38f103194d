"""Neel et al. on the quadratic that attains their argument: are the transcribed formulas safe, and how loose?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisygd_delete_lab import PerturbedGD, PublishedPerturbedGD, perturbed_gd

from noisygd_delete import EditRequest, errors, losses
from tests.bank import unit_records

from ..oracles.gaussian_dp import delta_by_sampling, delta_of_shift

L, LAM, N, BETA = 1.0, 0.1, 100, 0.25
GAMMA = BETA / (2 * LAM + BETA)
EPS, DELTA = 0.7, 1e-3


def worst_distance(iterations: int, requests: int) -> float:
    """|iterate − minimiser| on a 1-D quadratic of curvature λ whose minimiser every request pushes by 2L/(λn), by the loop."""
    step = 2 / (2 * LAM + BETA)
    target, iterate = 0.0, 0.0
    for _ in range(requests):
        target += 2 * L / (LAM * N)
        for _ in range(iterations):
            iterate -= step * LAM * (iterate - target)
    return abs(iterate - target)


@pytest.mark.parametrize("iterations", [1, 4, 9])
def test_drift_is_attained(iterations: int) -> None:
    bound = perturbed_gd.drift(lipschitz=L, regularization=LAM, records=N, gamma=GAMMA, iterations=iterations)
    assert worst_distance(iterations, 300) == pytest.approx(bound, rel=1e-9)


def test_contraction_is_the_one_of_gradient_descent() -> None:
    step = 2 / (2 * LAM + BETA)
    assert perturbed_gd.contraction(regularization=LAM, smoothness=BETA) == pytest.approx(abs(1 - step * LAM))
    assert perturbed_gd.contraction(regularization=LAM, smoothness=BETA) == pytest.approx(abs(1 - step * (LAM + BETA)))


def test_theorem_9_noise_is_safe_by_a_factor_two() -> None:
    """Two runs 2r apart under Gaussian noise, exactly: σ/2 would still do, σ/4 (planted) would not."""
    facts = {"lipschitz": L, "regularization": LAM, "records": N, "gamma": GAMMA, "iterations": 5}
    sigma = perturbed_gd.secret_noise(**facts, epsilon=EPS, delta=DELTA)
    apart = 2 * worst_distance(5, 300)
    assert delta_of_shift(apart, sigma, EPS) <= DELTA
    assert delta_of_shift(apart, sigma / 2, EPS) <= DELTA
    assert delta_of_shift(apart, sigma / 4, EPS) > DELTA


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-5), (1.0, 0.05)])
def test_theorem_28_terms_add_up(epsilon: float, delta: float) -> None:
    """What gradient descent has not forgotten (2r) plus the restart noise it allows stays within the Gaussian margin at δ/2."""
    facts = {"lipschitz": L, "regularization": LAM, "records": N, "gamma": GAMMA}
    for dimension in (1, 50, 1000):
        base = perturbed_gd.published_base_iterations(dimension=dimension, gamma=GAMMA, epsilon=epsilon, delta=delta)
        sigma = perturbed_gd.published_noise(**facts, iterations=base, epsilon=epsilon, delta=delta)
        data = 2 * perturbed_gd.drift(**facts, iterations=base)
        restart = sigma * math.sqrt(2 * dimension) * GAMMA**base / (1 - GAMMA**base)
        assert delta_of_shift(data + restart, sigma, epsilon) <= delta / 2


def test_theorem_28_on_the_exact_chain() -> None:
    """Restarting from the published model on the quadratic: both published laws are Gaussian. Noise σ/20 (planted) fails."""
    dimension, delta, rng = 3, 0.02, np.random.default_rng(0)
    base = perturbed_gd.published_base_iterations(dimension=dimension, gamma=GAMMA, epsilon=EPS, delta=delta)
    facts = {"lipschitz": L, "regularization": LAM, "records": N, "gamma": GAMMA, "iterations": base}
    sigma = perturbed_gd.published_noise(**facts, epsilon=EPS, delta=delta)

    def chain(scale):
        mean, variance = 0.0, scale**2
        for request in range(1, 30):
            steps = perturbed_gd.published_iterations(
                iterations=base, dimension=dimension, gamma=GAMMA, delta=delta, request=request
            )
            shrink = GAMMA**steps
            mean, variance = shrink * (mean + 2 * L / (LAM * N)), shrink**2 * variance + scale**2
        return mean, math.sqrt(variance)

    direction = np.eye(dimension)[0]
    fresh = -perturbed_gd.drift(**facts)  # a retrained model, on the far side of the minimiser
    for scale, safe in ((sigma, True), (sigma / 20, False)):
        mean, spread = chain(scale)
        found = delta_by_sampling((mean * direction, spread), (fresh * direction, scale), EPS, rng)
        assert (found <= delta) == safe


def test_the_printed_union_bound_diverges_and_the_repaired_one_does_not() -> None:
    """P(any coordinate of the noise of request i exceeds what its extra iterations cover), summed over requests."""
    dimension, delta = 20, 0.1

    def failures(printed: bool, requests: int) -> float:
        total = 0.0
        for i in range(1, requests):
            union = 4 * dimension * i / delta if printed else 2 * math.pi**2 * dimension * i**2 / (3 * delta)
            extra = perturbed_gd.published_iterations(
                iterations=0, dimension=dimension, gamma=0.999999, delta=delta, request=i, printed=printed
            )
            assert 0.999999**extra * math.log(union) <= 1  # the iterations do what they are for
            total += 2 * dimension * math.exp(-math.log(union))
        return total

    assert failures(printed=True, requests=20_000) > 5 * delta / 2
    assert failures(printed=False, requests=20_000) <= delta / 2


def test_learning_reaches_what_the_first_request_assumes() -> None:
    """From 0, T iterations leave at most γ^I·2L/(λn): the start of the induction. One iteration fewer (planted) does not."""
    iterations = perturbed_gd.learning_iterations(iterations=5, records=N, gamma=GAMMA)
    assert GAMMA**iterations * L / LAM <= GAMMA**5 * 2 * L / (LAM * N)
    assert GAMMA ** (iterations - 1) * L / LAM > GAMMA**5 * 2 * L / (LAM * N)


def test_published_form_needs_more_steps_and_keeps_nothing() -> None:
    records, rng = unit_records(80, 4), np.random.default_rng(0)
    options = {"regularization": 0.05, "records": 80, "features": 4, "epsilon": 0.5, "delta": 1e-5, "noise_limit": 0.05}
    secret = PerturbedGD(losses.Logistic(1.0), **options)
    published = PublishedPerturbedGD(losses.Logistic(1.0), **options)
    for method in (secret, published):
        chosen = method.iterations
        assert method.noise <= 0.05
        method.iterations -= 1
        assert method._noise() > 0.05
        method.iterations = chosen
    works = []
    for method in (secret, published):
        held = method.unlearn(records, EditRequest.delete([3]), method.learn(records, rng), rng)
        works.append(held.gradient_evaluations)
    assert works[0] == 80 * secret.iterations < works[1]
    with pytest.raises(errors.PlanInfeasible):
        PerturbedGD(losses.Logistic(1.0), **{**options, "regularization": 1e-7})
