"""Output perturbation of empirical risk minimisation: solve, add Gaussian noise, publish.

The minimiser of a λ-strongly convex mean of L-Lipschitz losses moves by at most Δ/(λn) when one record changes, Δ = 2L
for x or x′ and L for x or null; both are attained by the linear loss. (A common lecture statement, 4G/(nλ), is twice
the first.) The noise is calibrated by the exact Gaussian trade-off, which unlike √(2 log(1.25/δ))Δ/ε is valid for every
ε.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from noisygd_delete.bounds import gaussian
from noisygd_delete.errors import check_positive, check_probability
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Certificate, Held, Relearning, generator
from .solver import minimise


class OutputPerturbation(Relearning):
    """(ε, δ)-DP for x or x′; a deletion solves again without the erased record."""

    name: ClassVar[str] = "output perturbation"
    source: ClassVar[str] = "Chaudhuri, Monteleoni & Sarwate (JMLR 2011), with the Gaussian mechanism"

    def __init__(
        self, loss: Loss, *, regularization: float, records: int, epsilon: float, delta: float, tolerance: float = 1e-7
    ) -> None:
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.epsilon, self.delta = check_positive("epsilon", epsilon), check_probability("delta", delta)
        self.tolerance = check_positive("tolerance", tolerance)
        moved = 2 * loss.constants.lipschitz / (regularization * records) + 2 * tolerance / regularization
        self.noise = moved / gaussian.gdp_for(epsilon=epsilon, delta=delta)

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        found = minimise(records, self.loss, regularization=self.regularization, tolerance=self.tolerance)
        noisy = found.weights + self.noise * generator(rng).standard_normal(found.weights.shape)
        return Held(noisy, len(records), gradient_evaluations=records.slots * found.gradient_passes)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=(self.epsilon, self.delta),
            adaptive=True,
            basis=self.source,
            caveats=("x or x′ (replace)", "one release; releases compose", "time taken by the solver is not hidden"),
            gdp=gaussian.gdp_for(epsilon=self.epsilon, delta=self.delta) / 2,
        )
