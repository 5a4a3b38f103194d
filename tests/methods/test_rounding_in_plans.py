"""What planning takes the rounding of sums to be: as sums are added today, in a tree."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from noisygd_delete import losses
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.objective_perturbation_noise import minimizer_norm_bound
from noisygd_delete.methods.plan import Plan
from tests.bank import sized_plan

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


def planned(method: str, records: int, features: int, regularization: float) -> Plan:
    return sized_plan(losses.Logistic(1.0), records, features, regularization, method=method, utility=False)


def one_by_one(records: int, features: int, regularization: float) -> Fraction:
    """The rounding that was declared while chunks were added one after another, for weights of length 2L/λ."""
    additions = 2048 + math.ceil(records / 256) + 128
    exact = Fraction(regularization)
    return Fraction(2, 2**53) * (Fraction(1, 4) * (features + 2) * 2 / exact + 28 + additions + 8)


def test_new_plans_pay_for_no_rounding_of_before() -> None:
    """Nothing plans again what was certified: papers state what was run. Both of these had noise or a tolerance by it."""
    assert planned("objective-perturbation", 20_000_000, 8, 1e-3).calibration.output_noise < 2.0**-16
    assert (
        planned("output-perturbation", 10**8, 8, 0.1).calibration.gradient_tolerance
        < float(10 * one_by_one(10**8, 8, 0.1)) / 5
    )


@pytest.mark.parametrize(
    ("records", "features", "regularization"),
    [(25 * 10**6, 8, 1e-4), (10**9, 8, 2e-3), (10**9, 100, 3e-4), (10**10, 8, 2e-2), (10**10, 100, 3e-3)],
)
def test_there_are_plans_where_there_were_none(records: int, features: int, regularization: float) -> None:
    plan = planned("objective-perturbation", records, features, regularization)
    assert plan.learning.start.tolerance < 10 * one_by_one(records, features, regularization)
    with pytest.raises(InvalidParameter, match="the budgets leave the solver a tolerance of"):
        planned("objective-perturbation", records, features, regularization / 20)


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
