"""Gradient ascent on the erased record: a folklore method without a guarantee, which publishes the record's direction.

One step adds η∇ℓ(θ; x) = ηg·x to the model, so the difference of two releases *is* the erased row up to a factor.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from noisygd_delete.errors import check_count, check_positive
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held
from .retraining import Retraining


class GradientAscent(Baseline):
    """Gradient ascent: `steps` of θ ← θ + (η/n) Σ_erased ∇ℓ."""

    name: ClassVar[str] = "gradient ascent"
    source: ClassVar[str] = "folklore"
    guarantees: ClassVar[str] = "nothing"
    does_not_guarantee: ClassVar[str] = "anything: two releases side by side show the erased row itself"
    secret_state: ClassVar[str] = "none"
    stateless: ClassVar[bool] = True
    private: ClassVar[bool] = False

    def __init__(self, loss: Loss, *, regularization: float, steps: int = 1, step_size: float | None = None) -> None:
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.steps = check_count("steps", steps)
        self.step_size = step_size or 1 / (regularization + loss.constants.smoothness)

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        return Retraining(self.loss, regularization=self.regularization).learn(records, rng)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        weights = np.array(held.weights)
        labels = erased.labels.astype(np.int64) if self.loss.label_kind == "class" else erased.labels
        for _ in range(self.steps):
            slopes = self.loss.derivative(erased.rows @ weights.T, labels, np)
            weights += self.step_size / records.slots * (slopes.T @ erased.rows)
        work = self.steps * len(erased)
        return Held(weights, held.records - len(erased), gradient_evaluations=work)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(deletion=None, existing=None, adaptive=False, basis="none")
