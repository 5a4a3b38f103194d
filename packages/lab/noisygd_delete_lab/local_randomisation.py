"""Local randomisation: every record is noised before the curator sees it; everything else is post-processing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import InvalidParameter, check_positive, check_probability
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, generator
from .mechanisms import gaussian_noise, randomized_response
from .solver import minimise


class LocalRandomisation(Baseline):
    """Rows by the Gaussian mechanism (half of ε, all of δ), labels by randomised response (the other half)."""

    name: ClassVar[str] = "local randomisation"
    source: ClassVar[str] = "Warner (1965); Kasiviswanathan et al. (2011)"
    guarantees: ClassVar[str] = (
        "every record hidden at (ε, δ) for ever, from the curator too; after a deletion its noisy row is gone"
    )
    does_not_guarantee: ClassVar[str] = "a usable model: the noise does not shrink with n"
    secret_state: ClassVar[str] = "the randomised table, kept in place of the records; reading it costs nothing more"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = True

    def __init__(self, loss: Loss, *, regularization: float, epsilon: float, delta: float) -> None:
        if loss.label_kind not in ("binary", "class"):
            raise InvalidParameter(f"loss={loss.name!r}: randomised response needs classes")
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.epsilon, self.delta = check_positive("epsilon", epsilon), check_probability("delta", delta)
        self.noise = gaussian_noise(l2_sensitivity=2 * loss.radius, epsilon=epsilon / 2, delta=delta)

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        rng = generator(rng)
        present = records.occupied
        rows = records.features + self.noise * rng.standard_normal(records.features.shape)
        binary = self.loss.label_kind == "binary"
        classes = 2 if binary else self.loss.outputs
        coded = np.where(records.labels > 0, 1, 0) if binary else records.labels.astype(np.int64)
        noisy = randomized_response(coded, classes=classes, epsilon=self.epsilon / 2, rng=rng)
        labels = np.where(noisy > 0, 1.0, -1.0) if binary else noisy.astype(np.float64)
        return self._fit((rows * present[:, None]).astype(np.float32), labels * present, len(records))

    def _fit(self, rows: NDArray[np.float32], labels: NDArray[np.float64], present: int) -> Held:
        table = Records.from_slots(rows, labels, [None] * len(labels), None)
        found = minimise(table, self.loss, regularization=self.regularization, tolerance=1e-4)
        work = len(labels) * found.gradient_passes
        return Held(found.weights, present, {"rows": rows, "labels": labels}, gradient_evaluations=work)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        rows, labels = np.array(held.secret["rows"]), np.array(held.secret["labels"])
        rows[erased.slots] = 0
        labels[erased.slots] = 0
        return self._fit(rows, labels, held.records - len(erased))

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=(self.epsilon, self.delta),
            adaptive=True,
            basis="post-processing of locally private records; any number of releases costs the same",
            caveats=("x or x′ (replace)",),
        )
