"""Calibration of every baseline to the same guarantee for the erased record, for a fair comparison."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import AssumptionViolated, MissingDependency, PlanInfeasible
from noisygd_delete.losses.base import Loss
from noisygd_delete.planner import make_plan
from noisygd_delete.privacy.budget import Budget
from noisygd_delete.records import Records

from .accelerated import NoisyAcceleratedSGD
from .ascent import GradientAscent
from .base import Baseline
from .certified_removal import CertifiedRemoval
from .dp_sgd import DPSGD
from .langevin import LangevinUnlearning, NoisySGDUnlearning
from .local_randomisation import LocalRandomisation
from .noisy_gd import NoisyGD, PerturbedSolve, PrivateRetraining, SolveThenDiffuse
from .objective_perturbation import ObjectivePerturbation
from .output_perturbation import OutputPerturbation
from .perturbed_gd import PerturbedGD, PublishedPerturbedGD
from .retraining import Retraining
from .sisa import SISA
from .solver import minimise

CLOSE = 0.01  # noise scales are the largest with at most this loss of accuracy


@dataclass(frozen=True)
class Setting:
    """Setting of a comparison: the loss, λ, and both guarantees at one δ."""

    loss: Loss
    regularization: float
    deletion: float
    dp: float
    delta: float
    deletions: int = 5
    removals: int = 300
    attack_rows: int = 400
    attack_trials: int = 20


def accuracy(loss: Loss, weights: NDArray[np.float64], records: Records) -> float:
    """Return the share of occupied slots that are predicted correctly."""
    used = records.occupied
    scores = records.features[used].astype(np.float64) @ weights.T
    return float((loss.predict(scores, np) == records.labels[used]).mean())


def largest_harmless(candidates: list[float], score: Callable[[float], float], reference: float) -> float:
    """Return the largest candidate whose score is within `CLOSE` of the reference; the smallest if there is none."""
    good = [candidate for candidate in candidates if score(candidate) >= reference - CLOSE]
    return max(good, default=min(candidates))


def line_up(setting: Setting, train: Records, test: Records, rng: np.random.Generator) -> list[Baseline]:
    """Return every baseline, calibrated to the setting.

    Noise scales that no theorem fixes are chosen on the test records.
    """
    loss, n, d = setting.loss, train.slots, train.features.shape[1]
    same: dict[str, Any] = {"regularization": setting.regularization}
    erased: dict[str, Any] = {"epsilon": setting.deletion, "delta": setting.delta}
    existing: dict[str, Any] = {"epsilon": setting.dp, "delta": setting.delta}
    outputs = loss.outputs
    optimum = minimise(train, loss, **same).weights
    best = accuracy(loss, optimum, test)
    grid = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]

    def mean(score: Callable[[], float]) -> float:
        return statistics.mean(score() for _ in range(5))

    published = largest_harmless(
        grid, lambda s: mean(lambda: accuracy(loss, optimum + s * rng.standard_normal(optimum.shape), test)), best
    )
    removal: dict[str, Any] = {**same, **erased, "classes": outputs}

    def after_newton(noise: float) -> float:
        learned = CertifiedRemoval(**removal, noise=noise).learn(train, rng)
        return accuracy(loss, learned.weights, test)

    perturbed = largest_harmless([0.3, 1.0, 3.0, 10.0, 30.0], after_newton, after_newton(1e-3))
    sgd: dict[str, Any] = {**same, "batch": min(64, n // 4), "steps": 300}

    def after_sgd(noise: float) -> float:
        return accuracy(loss, NoisyAcceleratedSGD(loss, **sgd, noise=noise).learn(train, rng).weights, test)

    batch_noise = largest_harmless([0.003, 0.01, 0.03, 0.1, 0.3], after_sgd, after_sgd(1e-4))
    budget = Budget.from_epsilon_delta(dp=(setting.dp, setting.delta), deletion=(setting.deletion, setting.delta))
    planned: dict[str, Any] = {"records": n, "features": d, **same, "budget": budget}
    sharp = make_plan(loss, **planned, method="noisy-gd", utility=False)
    theorem = make_plan(loss, **planned, method="noisy-gd:analysis=paper", utility=False)
    solved = make_plan(loss, **planned, method="output-perturbation", solver="cold")
    sized: dict[str, Any] = {"records": n, "features": d}
    methods: list[Baseline] = [
        NoisyGD(sharp, delta=setting.delta),
        NoisyGD(theorem, delta=setting.delta),
        SolveThenDiffuse(solved, delta=setting.delta),
        LangevinUnlearning(sharp, **erased),
        NoisySGDUnlearning(sharp, **erased),
        PrivateRetraining(sharp, delta=setting.delta),
        Retraining(loss, **same),
        CertifiedRemoval(**removal, noise=perturbed),
        PerturbedGD(loss, **same, **sized, **erased, noise_limit=published),
        PublishedPerturbedGD(loss, **same, **sized, **erased, noise_limit=published),
        NoisyAcceleratedSGD(loss, **sgd, noise=batch_noise),
        SISA(loss, **same, shards=5, slices=4, steps=100),
        OutputPerturbation(loss, **same, records=n, **existing),
        LocalRandomisation(loss, **same, **existing),
        GradientAscent(loss, **same),
    ]
    with suppress(PlanInfeasible):  # if λ is too small for its proof
        tilted = make_plan(loss, **planned, method="objective-perturbation", solver="cold")
        methods.insert(3, PerturbedSolve(tilted, delta=setting.delta))
    if loss.outputs == 1:
        with suppress(AssumptionViolated):  # if λ is too small, no noise meets their bound
            methods.insert(-2, ObjectivePerturbation(loss, **same, records=n, **existing))
    try:
        methods.insert(-2, DPSGD(loss, **same, records=n, **existing, batch=max(32, n // 20), steps=100))
        methods.insert(-2, DPSGD(loss, **same, records=n, **erased, batch=max(32, n // 20), steps=100))
    except MissingDependency:
        pass  # the table then has no DP-SGD rows
    return methods


def title(method: Baseline) -> str:
    """Return the method's name, with its setting where two settings run."""
    if type(method) is NoisyGD:
        return f"Noisy-GD, {method.plan.method.analysis}"
    if isinstance(method, DPSGD):
        return f"{method.name} (ε={method.epsilon:g})"
    return method.name
