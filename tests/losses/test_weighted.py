"""Public weights of classes: a record of a class of weight w counts as w records, up to the regulariser."""

import numpy as np
import pytest

from noisygd_delete import Budget, Records, losses, make_plan
from noisygd_delete.engine import Objective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter


def table(copies=(1, 1)):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.where(np.arange(40) < 15, -1.0, 1.0)
    times = np.where(labels < 0, *copies)
    return Records(np.repeat(rows, times, axis=0), np.repeat(labels, times))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_weight_of_three_counts_like_three_equal_records(dtype):
    weights = np.array([[0.3, -1.0, 2.0]])
    weighted = Objective(
        table(), losses.with_class_weights(losses.Logistic(1.0), [3.0, 1.0]), regularization=0.1, dtype=dtype
    ).gradient_sum(weights)
    repeated = Objective(table((3, 1)), losses.Logistic(1.0), regularization=0.1, dtype=dtype).gradient_sum(weights)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-5)
    assert not np.allclose(weighted, Objective(table(), losses.Logistic(1.0), regularization=0.1).gradient_sum(weights))


def test_the_heaviest_class_sets_the_noise():
    facts = {"records": 1000, "features": 5, "regularization": 0.01, "budget": Budget(order=10), "method": "noisy-gd"}
    plain = make_plan(losses.Logistic(1.0), **facts)
    heavy = make_plan(losses.with_class_weights(losses.Logistic(1.0), [1.0, 4.0]), **facts)
    assert heavy.mechanism.lipschitz == pytest.approx(4, rel=1e-6)
    assert heavy.calibration.noise_variance > 15 * plain.calibration.noise_variance
    light = make_plan(losses.with_class_weights(losses.Logistic(1.0), [1.0, 0.1]), **facts)
    assert light.calibration.noise_variance == pytest.approx(plain.calibration.noise_variance, rel=1e-5)


def test_weights_of_one_are_no_weights_and_others_are_refused():
    logistic = losses.Logistic(1.0)
    assert losses.with_class_weights(logistic, [1, 1]) == logistic
    for bad in ([1.0], [1.0, 2.0, 3.0], [1.0, -2.0], [0.0, 1.0], [1.0, float("nan")]):
        with pytest.raises(InvalidParameter):
            losses.with_class_weights(logistic, bad)
    with pytest.raises(InvalidParameter, match="weights already"):
        losses.with_class_weights(losses.with_class_weights(logistic, [1.0, 2.0]), [1.0, 2.0])
    with pytest.raises(AssumptionViolated, match="no classes to weigh"):
        losses.with_class_weights(losses.PseudoHuber(1.0, 1.0), [1.0])


@pytest.mark.parametrize(
    "change", [{"weights": "12"}, {"weights": [1.0]}, {"more": 1}, {"weights": None}, {"base": {"name": "nothing"}}]
)
def test_what_a_file_says_of_weights_is_checked(change):
    described = losses.with_class_weights(losses.Logistic(1.0), [1.0, 2.0]).to_dict()
    assert losses.from_dict(described).to_dict() == described
    with pytest.raises(InvalidParameter):
        losses.from_dict({**described, **change})


def test_weights_go_with_clipping():
    clipped = losses.with_class_weights(losses.clip_loss(losses.Logistic(1.0), 0.5), [1.0, 2.0])
    assert clipped.constants.lipschitz == pytest.approx(1.0, rel=1e-6)
    assert clipped.loss_of_fit == pytest.approx(2.0)
