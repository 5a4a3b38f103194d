"""Noisy-m-A-SGD (Ullah, Mai, Rao, Rossi & Arora, COLT 2021): store the whole training run, and repair it on deletion.

Learning is accelerated mini-batch SGD with Gaussian noise, every step saved. A deletion replays the saved run: where a
batch contained an erased record, another record drawn uniformly replaces it, and the saved noisy gradient is kept with
the probability given by its new density (rejection); otherwise it is reflected to the new mean (the maximal coupling of
two Gaussians) and all later steps are run afresh. The result has exactly the law of learning without the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import check_count, check_positive
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, Weights, generator


@dataclass(frozen=True)
class Step:
    """A saved step: batch, evaluation point of the gradient, the batch gradient and its noisy version."""

    batch: NDArray[np.int64]
    point: Weights
    gradient: Weights
    noisy: Weights


def reflect_or_keep(
    noisy: Weights, mean: Weights, new_mean: Weights, *, noise: float, rng: np.random.Generator
) -> tuple[Weights, bool]:
    """Return a draw from N(new_mean, noise² I), equal to `noisy` with maximal probability.

    Args:
        noisy: A draw from N(mean, noise² I).
        mean: Its mean.
        new_mean: Mean of the new draw.
        noise: Standard deviation per coordinate.
        rng: Source of randomness.

    Returns:
        The draw, and whether it equals `noisy`.
    """
    gap = mean - new_mean
    distance = float(np.linalg.norm(gap))
    if distance == 0:
        return noisy, True
    log_ratio = (float(np.sum((noisy - mean) ** 2)) - float(np.sum((noisy - new_mean) ** 2))) / (2 * noise**2)
    if math.log(rng.random()) < log_ratio:
        return noisy, True
    across = gap / distance
    offset = noisy - mean
    return new_mean + offset - 2 * float(np.vdot(across, offset)) * across, False


class NoisyAcceleratedSGD(Baseline):
    """Noisy accelerated mini-batch SGD with a saved training run.

    Args:
        loss: The loss.
        regularization: λ.
        batch: Batch size m.
        steps: Number of steps T.
        noise: Standard deviation σ per coordinate of the batch gradient.
        step_size: Step size η; None means 1/(2(λ + β)).
        momentum: Momentum of the extrapolation.
    """

    name: ClassVar[str] = "noisy-m-A-SGD"
    source: ClassVar[str] = "Ullah, Mai, Rao, Rossi & Arora (COLT 2021), Algorithms 1 and 2"
    guarantees: ClassVar[str] = "exactly the law of learning without the erased record"
    does_not_guarantee: ClassVar[str] = (
        "privacy of remaining records; anything for an observer of two releases (most requests change nothing, and which do is "
        "visible); adaptive requests"
    )
    secret_state: ClassVar[str] = "the whole training run: every batch, iterate and noisy gradient"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = False

    def __init__(
        self,
        loss: Loss,
        *,
        regularization: float,
        batch: int,
        steps: int,
        noise: float,
        step_size: float | None = None,
        momentum: float = 0.9,
    ) -> None:
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.batch, self.steps = check_count("batch", batch), check_count("steps", steps)
        self.noise = check_positive("noise", noise)
        self.step_size = step_size or 1 / (2 * (regularization + loss.constants.smoothness))
        self.momentum = momentum

    def _gradient_sum(self, rows: NDArray[np.float64], labels: NDArray[np.float64], point: Weights) -> Weights:
        if self.loss.label_kind == "class":
            labels = labels.astype(np.int64)
        slopes = self.loss.derivative(rows @ point.T, labels, np)
        total: Weights = slopes.T @ rows
        return total

    def _advance(self, weights: Weights, point: Weights, noisy: Weights) -> tuple[Weights, Weights]:
        """Return the next iterate and the next extrapolated point."""
        moved = point - self.step_size * (noisy + self.regularization * point)
        return moved, moved + self.momentum * (moved - weights)

    def _run(
        self,
        records: Records,
        present: NDArray[np.int64],
        weights: Weights,
        point: Weights,
        steps: int,
        rng: np.random.Generator,
    ) -> tuple[list[Step], Weights]:
        saved = []
        for _ in range(steps):
            batch = rng.choice(present, self.batch, replace=False)
            rows = records.features[batch].astype(np.float64)
            gradient = self._gradient_sum(rows, records.labels[batch], point) / self.batch
            noisy = gradient + self.noise * rng.standard_normal(gradient.shape)
            saved.append(Step(batch, point, gradient, noisy))
            weights, point = self._advance(weights, point, noisy)
        return saved, weights

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        start = np.zeros((self.loss.outputs, records.features.shape[1]))
        present = np.flatnonzero(records.occupied)
        saved, weights = self._run(records, present, start, start, self.steps, generator(rng))
        return self._held(weights, len(present), saved, self.steps * self.batch, retrained=False)

    def _held(self, weights: Weights, present: int, run: list[Step], work: int, *, retrained: bool) -> Held:
        flat = [[step.batch, step.point, step.gradient, step.noisy] for step in run]
        return Held(weights, present, {"run": flat}, gradient_evaluations=work, retrained=retrained)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        rng = generator(rng)
        run = [Step(*step) for step in held.secret["run"]]
        present = np.flatnonzero(records.occupied)
        content = {int(s): (row, label) for s, row, label in zip(erased.slots, erased.rows, erased.labels, strict=True)}
        weights = np.zeros_like(held.weights)
        work = 0
        for index, step in enumerate(run):
            gone = [slot for slot in step.batch.tolist() if slot in content]
            if not gone:
                weights, _ = self._advance(weights, step.point, step.noisy)
                continue
            kept = np.array([slot for slot in step.batch.tolist() if slot not in content], np.int64)
            fresh = rng.choice(np.setdiff1d(present, kept), len(gone), replace=False)
            removed = self._gradient_sum(
                np.stack([content[slot][0] for slot in gone]), np.array([content[slot][1] for slot in gone]), step.point
            )
            added = self._gradient_sum(records.features[fresh].astype(np.float64), records.labels[fresh], step.point)
            gradient = step.gradient + (added - removed) / self.batch
            work += 2 * len(gone)
            noisy, same = reflect_or_keep(step.noisy, step.gradient, gradient, noise=self.noise, rng=rng)
            run[index] = Step(np.concatenate([kept, fresh]), step.point, gradient, noisy)
            weights, point = self._advance(weights, step.point, noisy)
            if not same:
                left = self.steps - index - 1
                tail, weights = self._run(records, present, weights, point, left, rng)
                run[index + 1 :] = tail
                return self._held(weights, len(present), run, work + left * self.batch, retrained=index == 0)
        return self._held(weights, len(present), run, work, retrained=False)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=None,
            adaptive=False,
            basis=self.source,
            caveats=("equality of laws, for an observer of the last release only",),
        )
