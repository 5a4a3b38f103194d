"""Reconstruction of a deleted row from the models before and after its deletion.

After exact retraining H(θ_after − θ_before) = (1/n) g x to first order, with H the Hessian of the objective and g the
derivative of the deleted row's loss: the difference of two models shows the row's direction. An attacker who knows the
distribution of the features (from public rows) inverts H; with λI alone the plain difference is used.

The accountant's `deletion(observed=None)` bounds what an observer of both models may learn; the guarantee of the
release after the erasure does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisygd_delete.audit.counts import Counts
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

Vector = NDArray[np.float64]


def curvature(public: Records, loss: Loss, weights: ArrayLike, *, regularization: float) -> NDArray[np.float64]:
    """Return the Hessian of the objective at `weights` for single-output losses, estimated from public rows.

    ∂²ℓ/∂z² is computed by finite differences.

    Args:
        public: Public rows with labels.
        loss: The loss.
        weights: (features,) weights of the model.
        regularization: λ.
    """
    rows = public.features.astype(np.float64)
    scores = rows @ np.asarray(weights, dtype=np.float64)[:, None]
    step = 1e-4
    ahead, behind = (loss.derivative(scores + shift, public.labels, np)[:, 0] for shift in (step, -step))
    second = (ahead - behind) / (2 * step)
    hessian: NDArray[np.float64] = (rows * second[:, None]).T @ rows / public.slots
    return hessian + regularization * np.eye(rows.shape[1])


def difference_direction(before: ArrayLike, after: ArrayLike, hessian: ArrayLike | None = None) -> Vector:
    """Return the attacker's estimate of the deleted row's direction, up to sign.

    It is a unit vector, or 0 if the models are equal.
    """
    gap = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    if hessian is not None:
        gap = np.asarray(hessian) @ gap
    length = float(np.linalg.norm(gap))
    return gap / length if length else gap


@dataclass(frozen=True)
class Reconstruction:
    """Cosines between deleted rows and the attacker's estimates.

    Attributes:
        cosines: |cosine| of each estimate with its deleted row.
        control: |cosine| of the same estimates with public rows: the success that knowing the population already gives.
        error: Error probability of the derived `Counts`.
    """

    cosines: tuple[float, ...]
    control: tuple[float, ...]
    error: float = 0.01

    @property
    def mean_cosine(self) -> float:
        """Mean |cosine| between the deleted rows and their reconstructions; 1 is perfect."""
        return float(np.mean(self.cosines))

    @property
    def mean_control(self) -> float:
        """Mean |cosine| between the same reconstructions and public rows."""
        return float(np.mean(self.control))

    def counts(self, cosine: float) -> Counts:
        """Return the counts of the membership test "|cosine| at least `cosine`", deleted rows against control rows."""
        hits, alarms = (int(np.sum(np.array(values) >= cosine)) for values in (self.cosines, self.control))
        return Counts(hits, len(self.cosines), alarms, len(self.control), self.error)


def reconstruct(
    delete: Callable[[int], tuple[ArrayLike, ArrayLike]],
    rows: ArrayLike,
    public: ArrayLike,
    *,
    hessian: ArrayLike | None = None,
    center: bool = False,
    error: float = 0.01,
) -> Reconstruction:
    """Run the attack once per row.

    Args:
        delete: Index of a row -> (weights before, weights after its deletion).
        rows: (trials, features) the deleted rows.
        public: Rows of the same population that were not deleted.
        hessian: Hessian of the objective, as the attacker estimates it; None uses the plain difference.
        center: Whether to compare directions after removing the public mean, which every row shares.
        error: Error probability of the derived `Counts`.
    """
    targets, others = np.asarray(rows, dtype=np.float64), np.asarray(public, dtype=np.float64)
    mean = others.mean(axis=0) if center else np.zeros(others.shape[1])

    def cosine(guess: Vector, row: Vector) -> float:
        one = guess - mean * (guess @ mean) / (mean @ mean) if center else guess
        two = row - mean * (row @ mean) / (mean @ mean) if center else row
        return float(abs(one @ two) / (float(np.linalg.norm(one) * np.linalg.norm(two)) or 1.0))

    guesses = [difference_direction(*delete(index), hessian) for index in range(len(targets))]
    return Reconstruction(
        tuple(cosine(guess, row) for guess, row in zip(guesses, targets, strict=True)),
        tuple(cosine(guess, others[index % len(others)]) for index, guess in enumerate(guesses)),
        error,
    )
