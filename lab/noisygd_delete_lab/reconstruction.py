"""Reconstruction of a deleted row from the models before and after its deletion.

After exact retraining H(θ_after − θ_before) = (1/n) g x to first order, with H the Hessian of the objective and g the
derivative of the deleted row's loss: the row's direction is read off the difference of two models. An attacker who knows
how features vary in general (from public rows) undoes H; with λI alone the plain difference is used.

What an observer of both models may learn at most is the accountant's `deletion(observed=None)`, not the guarantee of the
release after the erasure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisygd_delete.audit.simulation import Counts
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

Vector = NDArray[np.float64]


def curvature(public: Records, loss: Loss, weights: ArrayLike, *, regularization: float) -> NDArray[np.float64]:
    """Hessian of the objective at `weights` for single-output losses, estimated from public rows: ∂²ℓ/∂z² by differences."""
    rows = public.features.astype(np.float64)
    scores = rows @ np.asarray(weights, dtype=np.float64)[:, None]
    step = 1e-4
    ahead, behind = (loss.derivative(scores + shift, public.labels, np)[:, 0] for shift in (step, -step))
    second = (ahead - behind) / (2 * step)
    hessian: NDArray[np.float64] = (rows * second[:, None]).T @ rows / public.slots
    return hessian + regularization * np.eye(rows.shape[1])


def difference_direction(before: ArrayLike, after: ArrayLike, hessian: ArrayLike | None = None) -> Vector:
    """The attacker's estimate of the deleted row's direction, up to sign: a unit vector (0 if the models are equal)."""
    gap = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    if hessian is not None:
        gap = np.asarray(hessian) @ gap
    length = float(np.linalg.norm(gap))
    return gap / length if length else gap


@dataclass(frozen=True)
class Reconstruction:
    """Cosines between deleted rows and the attacker's guesses, beside guesses about rows that were never deleted.

    control   |cosine| of the same guesses with rows drawn from the public: what knowing the population already gives
    """

    cosines: tuple[float, ...]
    control: tuple[float, ...]
    error: float = 0.01

    @property
    def mean(self) -> float:
        return float(np.mean(self.cosines))

    @property
    def mean_control(self) -> float:
        return float(np.mean(self.control))

    def counts(self, cosine: float) -> Counts:
        """The membership test "|cosine| at least so large" on deleted rows against control rows."""
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
        delete: index of a row -> (weights before, weights after its deletion).
        rows: (trials, features) the deleted rows. public: rows of the same population that were not deleted.
        center: compare directions after removing the public mean, which every row shares.
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
