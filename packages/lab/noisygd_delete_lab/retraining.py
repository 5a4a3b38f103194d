"""Retraining from scratch: the reference of every definition of deletion."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Certificate, Held, Relearning
from .solver import minimise


class Retraining(Relearning):
    """Minimisation on the remaining records, without noise."""

    name: ClassVar[str] = "retrain"
    source: ClassVar[str] = "this package's solver from 0, no noise"
    guarantees: ClassVar[str] = (
        "the release is a function of the remaining records: nothing about the erased one is in it"
    )
    does_not_guarantee: ClassVar[str] = (
        "privacy of the remaining records; two releases side by side show what was erased; and a requester who saw an earlier "
        "release can write what it showed into later requests"
    )
    private: ClassVar[bool] = False

    def __init__(self, loss: Loss, *, regularization: float, tolerance: float = 1e-6) -> None:
        self.loss = loss
        self.regularization = regularization
        self.tolerance = tolerance

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        found = minimise(records, self.loss, regularization=self.regularization, tolerance=self.tolerance)
        return Held(found.weights, len(records), gradient_evaluations=records.slots * found.gradient_passes)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=None,
            adaptive=False,
            basis="the solver starts from 0 and reads the remaining records only",
            caveats=("requests must not depend on earlier releases: those are not private",),
        )
