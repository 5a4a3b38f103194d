"""Output perturbation, DP-SGD, local randomisation, and the mechanisms they stand on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisygd_delete_lab import DPSGD, LocalRandomisation, OutputPerturbation, mechanisms
from noisygd_delete_lab.solver import minimise
from scipy.stats import kstest

from noisygd_delete import EditRequest, Records, errors, losses

from ..oracles.gaussian_dp import delta_of_shift
from .conftest import table


def test_minimiser_moves_by_2l_over_lambda_n_on_the_linear_loss() -> None:
    """The sensitivity behind output perturbation is attained: x against −x on the linear loss."""
    rows = np.zeros((10, 3))
    rows[0, 0] = 1.0
    worlds = [Records(rows, np.zeros(10)), Records(-rows, np.zeros(10))]
    solved = [minimise(world, losses.Linear(1.0), regularization=0.2, tolerance=1e-12).weights for world in worlds]
    assert np.linalg.norm(solved[0] - solved[1]) == pytest.approx(2 / (0.2 * 10))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_output_perturbation_noise(epsilon: float) -> None:
    """Exact at the attained sensitivity; half of it (L for 2L, planted) breaks."""
    method = OutputPerturbation(losses.Logistic(1.0), regularization=0.2, records=10, epsilon=epsilon, delta=1e-5)
    moved = 2 / (0.2 * 10)
    assert delta_of_shift(moved, method.noise, epsilon) <= 1e-5
    assert delta_of_shift(moved, method.noise, epsilon) > 0.99e-5
    assert delta_of_shift(moved, method.noise / 2, epsilon) > 1e-5


def test_solver_reaches_its_tolerance_or_says_so() -> None:
    records = table("class")
    found = minimise(records, losses.Softmax(1.0, 3), regularization=1e-2, tolerance=1e-8)
    rows, labels = records.features.astype(float), records.labels.astype(int)
    scores = rows @ found.weights.T
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True) - np.eye(3)[labels]
    gradient = chances.T @ rows / 200 + 1e-2 * found.weights
    assert np.linalg.norm(gradient) <= 1.1e-8
    with pytest.raises(errors.AssumptionViolated, match="solver"):
        minimise(records, losses.Softmax(1.0, 3), regularization=1e-2, tolerance=1e-18)


def test_dp_sgd_epsilon_against_an_independent_accountant() -> None:
    """dp_accounting's privacy-loss distribution stays within Opacus's ε; half the noise (planted) does not."""
    pytest.importorskip("opacus")
    dp_event = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    options = {"regularization": 0.01, "records": 200, "epsilon": 1.0, "delta": 1e-5, "batch": 20, "steps": 50}
    method = DPSGD(losses.Logistic(1.0), **options)

    def epsilon(noise):
        accountant = PLDAccountant()
        event = dp_event.PoissonSampledDpEvent(20 / 200, dp_event.GaussianDpEvent(noise))
        accountant.compose(event, 50)
        return accountant.get_epsilon(1e-5)

    assert 0.6 < epsilon(method.noise_multiplier) <= 1.0
    assert epsilon(method.noise_multiplier / 2) > 1.0
    assert method.accounted_epsilon() == pytest.approx(1.0, rel=0.01)


def test_dp_sgd_adds_the_noise_it_accounts_for() -> None:
    """On a table of null records the weights are pure noise of known variance."""
    pytest.importorskip("opacus")
    method = DPSGD(
        losses.Logistic(1.0), regularization=0.1, records=50, epsilon=2.0, delta=1e-5, batch=10, steps=20, step_size=0.3
    )
    records = Records(np.zeros((1, 2000)), [1.0], slots=50)
    weights = method.learn(records, np.random.default_rng(0)).weights[0]
    step = 0.3 / 10 * method.noise_multiplier * 1.0  # L = 1
    keep = 1 - 0.3 * 0.1
    scale = step * math.sqrt(sum(keep ** (2 * k) for k in range(1, 21)))
    assert kstest(weights / scale, "norm").pvalue > 1e-3
    assert kstest(weights / scale * 2, "norm").pvalue < 1e-3


def test_dp_sgd_deletion_is_a_no_op_and_says_what_a_group_costs() -> None:
    pytest.importorskip("opacus")
    method = DPSGD(losses.Logistic(1.0), regularization=0.1, records=200, epsilon=2.0, delta=1e-5, batch=20, steps=5)
    records = table("binary")
    learned = method.learn(records)
    served = method.unlearn(records, EditRequest.delete([1, 2]), learned)
    np.testing.assert_array_equal(served.weights, learned.weights)
    assert any("7 records erased" in caveat for caveat in method.certificate(served).caveats)


def test_local_randomisation() -> None:
    """What is stored is noise of the stated size on the rows, labels kept at the stated rate, and a deleted row is gone."""
    records = table("binary")
    method = LocalRandomisation(losses.Logistic(1.0), regularization=0.1, epsilon=4.0, delta=1e-5)
    held = method.learn(records, np.random.default_rng(0))
    present = records.occupied
    noise = (held.secret["rows"] - records.features)[present].ravel()
    assert kstest(noise / method.noise, "norm").pvalue > 1e-3
    assert delta_of_shift(2.0, method.noise, 2.0) <= 1e-5 < delta_of_shift(2.0, method.noise / 1.1, 2.0)
    kept = (held.secret["labels"] == records.labels)[present].mean()
    assert kept == pytest.approx(math.exp(2) / (1 + math.exp(2)), abs=0.08)
    served = method.unlearn(records, EditRequest.delete([11]), held)
    assert not served.secret["rows"][11].any()
    assert not held.secret["rows"][~present].any()
    with pytest.raises(errors.InvalidParameter):
        LocalRandomisation(losses.PseudoHuber(1.0), regularization=0.1, epsilon=1.0, delta=1e-5)


def test_exponential_mechanism_needs_its_two() -> None:
    """Worst case: the best score falls and all others rise by Δ. Without the 2 (as lectures print it) the loss is near 2ε."""
    scores, other = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 1.0, 1.0])
    options = {"sensitivity": 1.0, "epsilon": 0.5}
    right = np.log(mechanisms.exponential_probabilities(scores, **options)) - np.log(
        mechanisms.exponential_probabilities(other, **options)
    )
    assert np.abs(right).max() <= 0.5
    doubled = {"sensitivity": 0.5, "epsilon": 0.5}  # exp(ε s/Δ)
    lecture = np.log(mechanisms.exponential_probabilities(scores, **doubled)) - np.log(
        mechanisms.exponential_probabilities(other, **doubled)
    )
    assert np.abs(lecture).max() > 0.5
    rng = np.random.default_rng(0)
    drawn = np.bincount([mechanisms.exponential(scores, **options, rng=rng) for _ in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(drawn, mechanisms.exponential_probabilities(scores, **options), atol=0.03)


def test_gaussian_mechanism_is_exact_where_the_textbook_formula_fails() -> None:
    for epsilon in (0.1, 1.0, 20.0):
        scale = mechanisms.gaussian_noise(l2_sensitivity=1.0, epsilon=epsilon, delta=1e-5)
        assert 0.999e-5 < delta_of_shift(1.0, scale, epsilon) <= 1e-5
    textbook = math.sqrt(2 * math.log(1.25 / 1e-5)) / 20.0
    assert delta_of_shift(1.0, textbook, 20.0) > 1e-5
    rng = np.random.default_rng(0)
    noise = mechanisms.gaussian(np.zeros(4000), l2_sensitivity=1.0, epsilon=1.0, delta=1e-5, rng=rng)
    scale = mechanisms.gaussian_noise(l2_sensitivity=1.0, epsilon=1.0, delta=1e-5)
    assert kstest(noise / scale, "norm").pvalue > 1e-3


def test_laplace_mechanism_and_randomised_response() -> None:
    rng = np.random.default_rng(0)
    noise = mechanisms.laplace(np.zeros(4000), l1_sensitivity=2.0, epsilon=0.5, rng=rng)
    assert kstest(noise / 4.0, "laplace").pvalue > 1e-3
    assert kstest(noise / 2.0, "laplace").pvalue < 1e-3  # sensitivity forgotten
    values = np.full(40_000, 2)
    answers = mechanisms.randomized_response(values, classes=4, epsilon=1.0, rng=rng)
    shares = np.bincount(answers, minlength=4) / len(values)
    assert shares[2] == pytest.approx(math.e / (math.e + 3), abs=0.01)
    assert shares[2] / shares[[0, 1, 3]].min() < math.exp(1.0) * 1.05
