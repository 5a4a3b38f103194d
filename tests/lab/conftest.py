"""Small tables that every baseline can run on in milliseconds."""

from __future__ import annotations

import noisygd_delete_lab as baselines
import numpy as np
import pytest

from noisygd_delete import Budget, Records, losses, make_plan

DELTA = 1e-5
REGULARIZATION = 1e-2
FEATURES = 6
SLOTS = 200


def unit_rows(rng, count, features):
    rows = rng.standard_normal((count, features))
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 2.0**-20))


def table(kind: str) -> Records:
    """195 records in 200 slots."""
    rng = np.random.default_rng(0)
    rows = unit_rows(rng, SLOTS - 5, FEATURES)
    signal = rows[:, 0] + 0.2 * rng.standard_normal(len(rows))
    labels = np.where(signal > 0, 1.0, -1.0) if kind == "binary" else rows[:, :3].argmax(1).astype(float)
    return Records(rows, labels, slots=SLOTS)


def methods(kind: str) -> dict[str, baselines.Baseline]:
    """Every baseline at (ε, δ) = (0.5, 1e-5) for a deleted record."""
    loss = losses.Logistic(1.0) if kind == "binary" else losses.Softmax(1.0, 3)
    epsilon = 0.5
    planned = {
        "records": SLOTS,
        "features": FEATURES,
        "regularization": REGULARIZATION,
        "budget": Budget.from_epsilon_delta(dp=(4.0, DELTA), deletion=(epsilon, DELTA)),
    }
    plan = make_plan(loss, **planned, method="noisy-gd", utility=False)
    solved = make_plan(loss, **planned, method="output-perturbation", solver="cold")
    tilted = make_plan(loss, **planned, method="objective-perturbation", solver="cold")
    same = {"regularization": REGULARIZATION}
    target = {"epsilon": epsilon, "delta": DELTA}
    private = {"records": SLOTS, "epsilon": 4.0, "delta": DELTA}
    newton = {**same, **target, "noise": 1.0, "classes": loss.outputs}
    perturbed = {**same, **target, "records": SLOTS, "features": FEATURES, "noise_limit": 0.1}
    made = [
        baselines.Retraining(loss, **same),
        baselines.PrivateRetraining(plan, delta=DELTA),
        baselines.SolveThenDiffuse(solved, delta=DELTA),
        baselines.PerturbedSolve(tilted, delta=DELTA),
        baselines.NoisyGD(plan, delta=DELTA),
        baselines.LangevinUnlearning(plan, **target),
        baselines.NoisySGDUnlearning(plan, **target),
        baselines.CertifiedRemoval(**newton),
        baselines.PerturbedGD(loss, **perturbed),
        baselines.PublishedPerturbedGD(loss, **perturbed),
        baselines.NoisyAcceleratedSGD(loss, **same, batch=20, steps=30, noise=0.05),
        baselines.SISA(loss, **same, shards=3, slices=3, steps=20),
        baselines.OutputPerturbation(loss, **same, **private),
        baselines.LocalRandomisation(loss, **same, epsilon=4.0, delta=DELTA),
        baselines.GradientAscent(loss, **same),
    ]
    if kind == "binary":
        made.append(baselines.ObjectivePerturbation(loss, **same, **private))
    try:
        import opacus  # noqa: F401
    except ImportError:
        pass
    else:
        made.append(baselines.DPSGD(loss, **same, **private, batch=40, steps=20))
    return {method.name: method for method in made}


@pytest.fixture(scope="session", params=["binary", "class"])
def every_method(request):
    return table(request.param), methods(request.param)
