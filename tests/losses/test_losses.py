"""The convex losses: constants attacked by search, gradients against differences, round trips, refusals."""

import json
import math
from functools import partial

import numpy as np
import pytest
import torch

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.methods import METHODS
from tests.oracles import loss_attack

LABELS = {"binary": (-1.0, 1.0), "class": (0, 1, 2), "target": (-1.0, 0.25, 1.0), "none": (0.0,)}
LOSSES = [
    losses.Logistic(radius=1.0),
    losses.Softmax(radius=1.0, classes=3),
    losses.OneVsRest(radius=1.0, classes=3),
    losses.PseudoHuber(radius=1.0, delta=0.5),
    losses.Linear(radius=1.0),
    losses.with_class_weights(losses.Logistic(radius=1.0), [0.5, 3.0]),
]
NETWORKS = [(1.0,), (0.5, -0.25), (2.0, -1.0, 0.5), (30.0, -0.1)]
NONCONVEX = [losses.Sigmoid(radius=1.0), *(losses.TanhNetwork(radius=1.0, outer_weights=a) for a in NETWORKS)]


def values_of(loss, label):
    return lambda scores: loss.value(scores, np.full(len(scores), label), np)


def reached(loss):
    rng = np.random.default_rng(3)
    ends = (
        LABELS[loss.label_kind][-1:]
        if loss.label_kind == "class"
        else {LABELS[loss.label_kind][place] for place in (0, -1)}
    )
    attacks = [loss_attack.constants(values_of(loss, y), loss.outputs, rng) for y in sorted(ends)]
    return np.max(attacks, axis=0)


def within(lipschitz, upper, declared):
    """Whether what was reached is no more than the constants, and close to them."""
    return (
        declared.lipschitz * 0.999 <= lipschitz <= declared.lipschitz * (1 + 1e-6)
        and declared.smoothness * 0.999 - 1e-9 <= upper <= declared.smoothness * (1 + 1e-6) + 1e-6
    )


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_search_reaches_the_constants_and_never_exceeds_them(loss):
    lipschitz, upper, lower, spread = reached(loss)
    assert within(lipschitz, upper, loss.constants)
    assert lower <= 1e-5  # convex, up to rounding
    assert loss.constants.range == math.inf
    assert spread > 10  # and nothing suggests a bound


@pytest.mark.parametrize(
    "loss",
    [*LOSSES, losses.with_class_weights(losses.Softmax(radius=1.0, classes=3), [1.0, 0.25, 2.0]), *NONCONVEX],
    ids=str,
)
def test_derivative_is_the_gradient_of_value_in_numpy_and_torch(loss):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(80, loss.outputs)) * 3
    labels = rng.choice(LABELS[loss.label_kind], size=80)
    derivative = loss.derivative(scores.copy(), labels, np)
    scale = 1 if loss.constants.convex else loss.constants.lipschitz
    assert derivative.shape == scores.shape

    def value(shifted):
        return loss.value(shifted, labels, np)

    assert derivative == pytest.approx(loss_attack.gradient(value, scores), abs=1e-8 * scale)
    variable = torch.tensor(scores, requires_grad=True)
    (automatic,) = torch.autograd.grad(loss.value(variable, torch.tensor(labels), torch).sum(), variable)
    assert derivative == pytest.approx(automatic.numpy(), abs=1e-12 * scale)
    assert loss.derivative(variable.detach(), torch.tensor(labels), torch).numpy() == pytest.approx(
        derivative, abs=1e-14 * (1 if loss.constants.convex else 30)
    )


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_curvature_trace_is_reached_and_not_exceeded(loss):
    """tr ∂²ℓ/∂z² by central differences of the derivative, at random scores and at the flattest ones."""
    rng = np.random.default_rng(5)
    scores = np.concatenate([np.zeros((50, loss.outputs)), 3 * rng.normal(size=(500, loss.outputs))])
    labels = rng.choice(LABELS[loss.label_kind], size=len(scores))
    if loss.label_kind == "target":
        scores[:50, 0] = labels[:50]
    trace = np.zeros(len(scores))
    for output in range(loss.outputs):
        step = np.zeros(loss.outputs)
        step[output] = 1e-5
        forward, backward = (loss.derivative(scores + sign * step, labels, np)[:, output] for sign in (1, -1))
        trace += (forward - backward) / 2e-5
    assert loss.curvature_trace * 0.999 <= trace.max() + 1e-9
    assert trace.max() <= loss.curvature_trace + 1e-6


@pytest.mark.parametrize("loss", [*LOSSES, *NONCONVEX], ids=str)
def test_extreme_scores_stay_finite_and_the_null_label_is_silent(loss):
    scores = 1e4 * np.concatenate([np.eye(loss.outputs), -np.eye(loss.outputs), np.ones((1, loss.outputs))])
    with np.errstate(all="raise", under="ignore"):
        for label in LABELS[loss.label_kind]:
            labels = np.full(len(scores), label)
            assert np.isfinite(loss.value(scores, labels, np)).all()
            assert np.isfinite(loss.derivative(scores.copy(), labels, np)).all()
    if loss.label_kind == "binary":
        assert not loss.derivative(scores, np.zeros(len(scores)), np).any()
        assert loss.derivative(scores[:0], np.zeros(0), np).shape == (0, loss.outputs)


@pytest.mark.parametrize("loss", [*LOSSES, *NONCONVEX], ids=str)
def test_description_round_trip_through_json(loss):
    assert losses.from_dict(json.loads(json.dumps(loss.to_dict()))) == loss
    assert hash(loss) == hash(losses.from_dict(loss.to_dict()))


def test_unknown_descriptions_are_refused():
    with pytest.raises(InvalidParameter, match="loss='hinge'"):
        losses.from_dict({"name": "hinge", "radius": 1.0})
    with pytest.raises(InvalidParameter, match=r"does not take gamma; it takes radius$"):
        losses.from_dict({"name": "logistic", "radius": 1.0, "gamma": 2.0})


def test_squared_loss_is_refused_with_the_reason():
    sizes = {
        "records": 1000,
        "features": 3,
        "regularization": 0.1,
        "releases": 4,
        "budget": Budget(order=10, dp=1.0, deletion=0.1),
    }
    tries = [
        partial(make_plan, losses.Squared(radius=1.0), method=method, **sizes)
        for method in METHODS
        if method != "sufficient-statistics"
    ]
    for attempt in (*tries, lambda: losses.from_dict({"name": "squared", "radius": 1.0})):
        with pytest.raises(AssumptionViolated, match="not Lipschitz"):
            attempt()


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_a_radius_that_bounds_nothing_is_refused(radius):
    with pytest.raises(InvalidParameter, match="radius"):
        losses.Logistic(radius=radius)
