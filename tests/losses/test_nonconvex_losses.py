"""The constants of the sigmoid loss and the tanh network, attacked by search from the loss's values alone."""

import math

import numpy as np
import pytest
import torch

from noisygd_delete import losses
from noisygd_delete.curator.model import Model
from noisygd_delete.errors import InvalidParameter
from tests.oracles import loss_attack

from .test_losses import NONCONVEX as LOSSES
from .test_losses import reached, values_of


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_no_search_exceeds_the_constants(loss):
    declared = loss.constants
    bounds = [declared.lipschitz, declared.smoothness, declared.weak_convexity, declared.range]
    assert np.all(reached(loss) <= np.array(bounds) * (1 + 1e-6))


def test_sigmoid_attains_every_constant():
    declared = losses.Sigmoid(radius=1.0).constants
    bounds = [declared.lipschitz, declared.smoothness, declared.weak_convexity, declared.range]
    # so a constant understated by a part in ten thousand would fail the test above
    assert reached(losses.Sigmoid(radius=1.0)) == pytest.approx(bounds, rel=1e-4)


def test_large_network_approaches_every_constant():
    loss = losses.TanhNetwork(radius=1.0, outer_weights=(200.0, 0.1))
    declared = loss.constants
    z = np.array([[-0.05, 0.0]])  # f ≈ −10 while t′ ≈ 1
    assert np.linalg.norm(loss_attack.gradient(values_of(loss, 1), z)) > 0.99 * declared.lipschitz
    assert (
        np.linalg.eigvalsh(loss_attack.hessian(values_of(loss, 1), np.zeros((1, 2)), 1e-4))[0, -1]
        > 0.97 * declared.smoothness
    )
    z = np.array([[-math.atanh(3**-0.5), 0.0]])  # t² = 1/3 on the wrong side
    assert -np.linalg.eigvalsh(loss_attack.hessian(values_of(loss, 1), z))[0, 0] > 0.999 * declared.weak_convexity
    low, high = loss.value(np.array([[40.0, 40.0], [-40.0, -40.0]]), np.ones(2), np)
    assert high - low == pytest.approx(declared.range, rel=1e-12)


@pytest.mark.parametrize("radius", [0.5, 3.0])
@pytest.mark.parametrize(
    "make", [losses.Sigmoid, lambda radius: losses.TanhNetwork(radius, (1.0, -2.0))], ids=["sigmoid", "tanh"]
)
def test_constants_scale_with_the_radius(make, radius):
    one, scaled = make(1.0).constants, make(radius).constants
    assert scaled.lipschitz == pytest.approx(radius * one.lipschitz)
    assert scaled.smoothness == pytest.approx(radius**2 * one.smoothness)
    assert scaled.weak_convexity == pytest.approx(radius**2 * one.weak_convexity)
    assert scaled.range == one.range


def test_float32_scores_stay_float32():
    loss = losses.TanhNetwork(1.0, (1.0, 2.0))
    assert loss.derivative(np.ones((2, 2), np.float32), np.ones(2, np.float32), np).dtype == np.float32
    assert loss.derivative(torch.ones((2, 2)), torch.ones(2), torch).dtype == torch.float32


def test_network_output_and_dimension():
    loss = losses.TanhNetwork(1.0, [1.0, -3.0])
    assert loss.outer_weights == (1.0, -3.0)
    assert loss.dimension(7) == 14
    assert loss.network(np.array([[0.5, 0.25]]), np) == pytest.approx([math.tanh(0.5) - 3 * math.tanh(0.25)])


@pytest.mark.parametrize("outer", [(), (0.0, 0.0), (math.nan,), (math.inf, 1.0), "12", 3.0, (True,)])
def test_outer_weights_that_certify_nothing_are_refused(outer):
    with pytest.raises(InvalidParameter, match="outer_weights"):
        losses.TanhNetwork(1.0, outer)


def test_a_network_predicts_by_its_output_and_not_by_a_hidden_unit():
    """XOR by three units with weights set by hand, which no single unit and no linear model gets right."""
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) / 1.5
    answers = np.array([1.0, -1.0, -1.0, 1.0])
    loss = losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0, 1.0))
    # x₁ + x₂ is ±4/3 or 0: two steps at ±2/3 against each other, and a constant
    bias = np.ones((4, 1)) / 4
    rows = np.hstack([corners, bias])
    weights = np.array([[9, 9, -24], [9, 9, 24], [0, 0, 99]], float)
    by_hand = []
    for row in rows:
        hidden = [math.tanh(sum(w * x for w, x in zip(unit, row, strict=True))) for unit in weights]
        by_hand.append(hidden[0] - hidden[1] + hidden[2])
    model = Model(weights, loss, certified=False)
    assert model.predict(rows).tolist() == np.sign(by_hand).tolist() == answers.tolist()
    assert model.loss.value(model.scores(rows), answers, np) == pytest.approx(
        [math.log1p(math.exp(-y * f)) for y, f in zip(answers, by_hand, strict=True)]
    )
