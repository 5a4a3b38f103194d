"""Clipping keeps convexity with one gradient direction per record, and not in general (Lemma F.3)."""

import json

import numpy as np
import pytest
import torch

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from tests.oracles import loss_attack


def symmetric_part(field, point, step=1e-6):
    columns = [(field(point + step * e) - field(point - step * e)) / (2 * step) for e in np.eye(len(point))]
    jacobian = np.stack(columns, axis=1)
    return (jacobian + jacobian.T) / 2


def softmax_field(classes, limit):
    loss = losses.Softmax(1.0, classes)

    def clipped(z):
        gradient = loss.derivative(z[None].copy(), np.array([0]), np)[0]
        return gradient * min(1.0, limit / np.linalg.norm(gradient))

    return clipped


def test_clipped_softmax_is_not_convex_for_three_classes():
    rng = np.random.default_rng(0)
    worst = {
        classes: min(
            np.linalg.eigvalsh(symmetric_part(softmax_field(classes, 0.3), z))[0]
            for z in 2 * rng.standard_normal((300, classes))
        )
        for classes in (2, 3)
    }
    assert worst[3] < -1e-3
    assert worst[2] > -1e-8  # two classes have one direction: convexity survives


def test_the_engine_refuses_to_clip_what_it_may_not():
    with pytest.raises(AssumptionViolated, match=r"Lemma F\.3"):
        losses.clip_loss(losses.Softmax(1.0, 3), 0.5)
    with pytest.raises(AssumptionViolated, match="gradient directions"):
        losses.clip_loss(losses.TanhNetwork(1.0, (1.0, 1.0)), 0.5)
    for loss in (losses.Sigmoid(1.0), losses.Linear(1.0)):
        with pytest.raises(InvalidParameter, match="smaller radius"):
            losses.clip_loss(loss, 0.1)
    assert losses.clip_loss(losses.Softmax(1.0, 3), 2.0) == losses.Softmax(1.0, 3)  # nothing to clip


ALLOWED = [
    (losses.clip_loss(losses.Logistic(2.0), 0.5), (-1.0, 1.0)),
    (losses.clip_loss(losses.Logistic(1.0), 0.8), (-1.0, 1.0)),
    (losses.clip_loss(losses.PseudoHuber(1.0, 1.0), 0.3), (-1.0, 0.4)),
]


@pytest.mark.parametrize(("loss", "labels"), ALLOWED, ids=str)
def test_clipped_scalar_losses_keep_their_constants(loss, labels):
    rng, declared = np.random.default_rng(1), loss.constants
    points = np.linspace(-20, 20, 40_001)
    for label in labels:
        # kinks defeat high-order differences; a monotone g with bounded increments is convexity and smoothness themselves
        g = loss.derivative(points[:, None], np.full(len(points), label), np)[:, 0]
        assert np.abs(g).max() * loss.radius == pytest.approx(declared.lipschitz)
        increments = np.diff(g) / np.diff(points) * loss.radius**2
        assert increments.min() >= 0
        assert increments.max() <= declared.smoothness * (1 + 1e-9)
        assert np.ptp(loss.value(points[:, None], np.full(len(points), label), np)) > 1
    scores, targets = rng.normal(size=(60, 1)) * 4, rng.choice(labels, 60)
    derivative = loss.derivative(scores, targets, np)
    assert derivative == pytest.approx(loss_attack.gradient(lambda z: loss.value(z, targets, np), scores), abs=1e-6)
    there = loss.derivative(torch.tensor(scores), torch.tensor(targets), torch)
    assert there.numpy() == pytest.approx(derivative, abs=1e-14)
    assert losses.from_dict(json.loads(json.dumps(loss.to_dict()))) == loss


def test_clipped_losses_get_the_tight_certificate_and_not_the_printed_theorem():
    options = {"records": 200, "features": 2, "regularization": 0.1, "budget": Budget(order=2, dp=1.0, deletion=0.1)}
    loss = losses.clip_loss(losses.Logistic(1.0), 0.5)
    with pytest.raises(AssumptionViolated, match="twice differentiable"):
        make_plan(loss, method="noisy-gd:analysis=paper", **options)
    plan = make_plan(loss, method="noisy-gd", **options)
    whole = make_plan(losses.Logistic(1.0), method="noisy-gd", **options)
    # each takes the step size with the fewest deletion steps, so noises differ a little from the square of the bound
    assert plan.calibration.noise_variance == pytest.approx(whole.calibration.noise_variance / 4, rel=0.05)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * 1.0001
    curator = Curator(Records(rows, np.where(rows[:, 0] > 0, 1, -1)), plan)
    curator.learn()
    assert curator.delete([0]).model.accuracy(curator.records) > 0.9


@pytest.mark.parametrize("base", [losses.Logistic(1.0), losses.PseudoHuber(2.0, delta=0.5)])
@pytest.mark.parametrize("share", [0.9, 0.7, 0.2])
def test_the_loss_of_fit_is_what_it_says(base: losses.Loss, share: float) -> None:
    """The base loss is at most L/limit times the clipped one, is equal where nothing is clipped, and comes near the factor."""
    clipped = losses.clip_loss(base, share * base.constants.lipschitz)
    assert clipped.loss_of_fit == pytest.approx(1 / share)
    assert base.loss_of_fit == 1
    scores = np.linspace(-2000, 2000, 400_001)[:, None]
    labels = np.ones(len(scores))
    asked, fitted = base.value(scores, labels, np), clipped.value(scores, labels, np)
    assert (asked <= clipped.loss_of_fit * fitted * (1 + 1e-12) + 1e-300).all()
    assert (asked >= fitted * (1 - 1e-12)).all()
    assert (asked / np.maximum(fitted, 1e-300)).max() > 0.99 * clipped.loss_of_fit
