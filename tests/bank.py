"""The bank of problems: what tests of every method go through. A new method adds one row to `PROBLEMS`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from noisygd_delete import Budget, Records, losses, make_plan
from noisygd_delete.engine.execution import Group
from noisygd_delete.methods import NoisyGD, ObjectivePerturbation, OutputPerturbation, Stage, SufficientStatistics
from noisygd_delete.methods.plan import Plan

RENYI, PAIRS = Budget(order=8, dp=1.0, deletion=0.1), Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.2, 1e-6))
USUAL_BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
NETWORK = losses.MultilayerPerceptron(radius=1.0, classes=2, hidden=8)
USUAL = {"loss": losses.Logistic(radius=1.0), "records": 2000, "features": 6, "regularization": 1e-2}
LARGER = {"records": 20_000, "features": 12}

# of every method, and of every way in which its releases differ, a small one
PROBLEMS: dict[str, dict[str, Any]] = {
    "noisy-gd:analysis=paper": {"method": "noisy-gd:analysis=paper", "budget": RENYI},
    "noisy-gd:analysis=paper, over the reals": {"method": "noisy-gd:analysis=paper", "exact": False, "budget": RENYI},
    "noisy-gd": {"method": "noisy-gd", "budget": PAIRS},
    "noisy-gd, over the reals": {"method": NoisyGD(exact=False), "budget": PAIRS},
    "output-perturbation, cold": {"method": OutputPerturbation(solver="cold"), "budget": RENYI},
    "output-perturbation, warm": {"method": OutputPerturbation(solver="warm"), "budget": PAIRS},
    "output-perturbation, over the reals": {"method": OutputPerturbation(exact=False), "budget": RENYI},
    "objective-perturbation": {"method": "objective-perturbation", "budget": PAIRS, "utility": False},
    "objective-perturbation, in a row": {"method": ObjectivePerturbation(chain=3), "budget": PAIRS, "utility": False},
    "noisy-gd:analysis=composition": {"loss": losses.Sigmoid(radius=1.0), "method": "noisy-gd:analysis=composition", "budget": RENYI},
    "staged": {"loss": losses.MultilayerPerceptron(radius=1.0, classes=2, hidden=4), "method": "staged", "budget": RENYI},
    "noisy-gd:analysis=theorem-5-2": {"loss": losses.Sigmoid(radius=1.0), "method": "noisy-gd:analysis=paper", "budget": Budget(order=2, dp=1.9, deletion=0.5),
                   "records": 10, "features": 2, "regularization": 0.05},
    "sufficient-statistics": {"method": "sufficient-statistics", "budget": PAIRS, "releases": 8},
}  # fmt: skip
# other losses, budgets and sizes, where a paper or a page may take another path
FURTHER: dict[str, dict[str, Any]] = {
    "noisy-gd:analysis=paper, rows in any order": {**LARGER, "method": "noisy-gd:analysis=paper", "in_place": False, "budget": RENYI},
    "noisy-gd, of three classes": {**LARGER, "loss": losses.Softmax(radius=1.0, classes=3), "method": "noisy-gd", "budget": PAIRS},
    "noisy-gd, rows in any order": {**LARGER, "loss": losses.Softmax(radius=1.0, classes=3), "method": NoisyGD(in_place=False), "budget": PAIRS},
    "output-perturbation, of three classes": {**LARGER, "loss": losses.Softmax(radius=1.0, classes=3), "method": "output-perturbation", "budget": RENYI},
    "output-perturbation, rows in any order": {**LARGER, "loss": losses.Softmax(radius=1.0, classes=3), "method": OutputPerturbation(solver="fixed", in_place=False), "budget": RENYI},
    "objective-perturbation, one against the rest": {**LARGER, "loss": losses.OneVsRest(radius=1.0, classes=3), "method": "objective-perturbation", "budget": PAIRS},
    "objective-perturbation, of very many rows": {**LARGER, "method": "objective-perturbation", "budget": RENYI, "records": 10**9},
    "objective-perturbation, clipped": {**LARGER, "loss": losses.clip_loss(losses.Logistic(radius=1.0), 0.6), "method": ObjectivePerturbation(chain=3), "budget": PAIRS},
    "objective-perturbation, of weighted classes": {**LARGER, "loss": losses.with_class_weights(losses.Softmax(radius=1.0, classes=3), [1.0, 0.5, 1.0]), "method": "objective-perturbation", "budget": PAIRS},
    "sufficient-statistics, of three classes, deletions only": {**LARGER, "loss": losses.Softmax(radius=1.0, classes=3), "method": SufficientStatistics(joiners=False), "budget": RENYI, "releases": 300, "rows_per_subject": 2},
    "staged of eight units": {**LARGER, "loss": NETWORK, "method": "staged", "budget": RENYI},
    "staged with a head": {**LARGER, "loss": NETWORK, "method": "staged", "budget": PAIRS, "stages": (Stage("network", 20), Stage("head"))},
}  # fmt: skip


class Part(Group):
    """One of several processes, played in this one."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


@cache
def plan_by(name: str) -> Plan:
    """The plan of a row of the bank."""
    return make_plan(**{**USUAL, **{**PROBLEMS, **FURTHER}[name]})


def sized_plan(
    loss: losses.Loss, records: int, features: int, regularization: float, budget: Budget = USUAL_BUDGET, **facts: Any
) -> Plan:
    """A plan by its sizes; the budget where none is given: one of dp, a tenth of it for who was erased, at order 10."""
    sizes = {"records": records, "features": features, "regularization": regularization}
    return make_plan(loss, **sizes, budget=budget, **facts)


def unit_rows(rows: int, width: int, seed: int = 0) -> np.ndarray:
    """(rows, width) directions drawn at random, a hair shorter than 1, so that they stay within it in float32."""
    drawn = np.random.default_rng(seed).standard_normal((rows, width))
    return drawn / (np.linalg.norm(drawn, axis=1, keepdims=True) * 1.000001)


def unit_records(rows: int, width: int, seed: int = 0, **facts: Any) -> Records:
    """Such rows, labelled by the sign of their first value."""
    values = unit_rows(rows, width, seed)
    return Records(values, np.where(values[:, 0] > 0, 1.0, -1.0), **facts)
