"""What planning takes the rounding of sums to be: as sums are added today, in a tree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from noisygd_delete import losses
from noisygd_delete.methods.objective_perturbation_noise import minimizer_norm_bound

LABELS = {"binary": (-1.0, 1.0), "class": (0, 1, 2), "target": (-1.0, 0.25, 7.0), "none": (0.0,)}
KINDS = [
    losses.Logistic(1.0),
    losses.Softmax(1.0, classes=3),
    losses.OneVsRest(1.0, classes=3),
    losses.PseudoHuber(1.0, delta=0.5),
    losses.Sigmoid(1.0),
    losses.Linear(1.0),
    losses.clip_loss(losses.Logistic(1.0), 0.3),
    losses.clip_loss(losses.PseudoHuber(1.0, delta=0.5), 0.1),
    losses.with_class_weights(losses.Softmax(1.0, classes=3), [1.0, 0.25, 2.0]),
]


@pytest.mark.parametrize("loss", KINDS, ids=str)
def test_the_gap_at_zero_is_what_a_search_finds(loss: losses.Loss) -> None:
    """Nowhere exceeded, and reached; infinite where a label or a score can make it as large as it likes."""
    directions = np.vstack([np.eye(loss.outputs), -np.eye(loss.outputs), 2 * np.eye(loss.outputs) - 1])
    scores = (directions[None] * 10.0 ** np.linspace(-3, 3, 50)[:, None, None]).reshape(-1, loss.outputs)
    found = 0.0
    for label in (*LABELS[loss.label_kind], *([1e6] if loss.label_kind == "target" else [])):
        zero = loss.value(np.zeros((1, loss.outputs)), np.full(1, label), np)[0]
        found = max(found, float(zero - loss.value(scores, np.full(len(scores), label), np).min()))
    if loss.gap_at_zero == math.inf:
        assert found > 50
    else:
        assert found == pytest.approx(loss.gap_at_zero, rel=1e-9) or (
            loss.name == "clipped" and 0 < found < loss.gap_at_zero
        )


@pytest.mark.parametrize("loss", [each for each in KINDS if each.gap_at_zero < math.inf and each.outputs == 1], ids=str)
@pytest.mark.parametrize("regularization", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("pull", [0.0, 1e-3, 1.0])
def test_no_minimiser_is_longer_than_planning_takes_it_to_be(
    loss: losses.Loss, regularization: float, pull: float
) -> None:
    """Rows that all pull the same way, and b with them."""
    problem = type("Asked", (), {"loss": loss, "regularization": regularization})()
    declared = minimizer_norm_bound(problem, pull)
    label = np.ones(1)

    def objective(weight: float) -> float:
        return float(loss.value(np.array([[weight]]), label, np)[0]) + regularization / 2 * weight**2 - pull * weight

    found = optimize.minimize_scalar(objective, bounds=(0, 2.2 * declared), method="bounded", options={"xatol": 1e-9}).x
    assert found <= declared
    assert pull < 1 or found > declared / 2.5, "near enough to mean something"
