"""SISA (Bourtoule et al., S&P 2021): shards trained separately, slice by slice, with a checkpoint before every slice.

A deletion restarts the shard that held the record from the checkpoint before its slice. The assignment of slots depends
on a public seed only, and each shard is trained by plain gradient descent from 0, so the result equals retraining bit
by bit.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.engine import Objective
from noisygd_delete.errors import check_count, check_positive
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

from .base import Baseline, Certificate, Erased, Held, Weights


class SISA(Baseline):
    """Sharded training with checkpoints; publishes the average of the shard models.

    Args:
        loss: The loss.
        regularization: λ.
        shards: Number of shards S.
        slices: Number of slices R per shard.
        steps: Steps of gradient descent per slice.
    """

    name: ClassVar[str] = "SISA"
    source: ClassVar[str] = "Bourtoule et al. (IEEE S&P 2021)"
    guarantees: ClassVar[str] = "the release equals retraining without the erased record, bit by bit"
    does_not_guarantee: ClassVar[str] = (
        "privacy of remaining records; two releases side by side show what was erased; adaptive requests"
    )
    secret_state: ClassVar[str] = "a model per shard and slice; none of them depends on erased records"
    stateless: ClassVar[bool] = False
    private: ClassVar[bool] = False

    def __init__(self, loss: Loss, *, regularization: float, shards: int, slices: int, steps: int) -> None:
        self.loss = loss
        self.regularization = check_positive("regularization", regularization)
        self.shards, self.slices, self.steps = (
            check_count("shards", shards),
            check_count("slices", slices),
            check_count("steps", steps),
        )

    def assignment(self, slots: int) -> list[list[NDArray[np.int64]]]:
        """Return the slots per shard and slice, from a public seed, never from data."""
        order = np.random.default_rng(0).permutation(slots)
        return [np.array_split(shard, self.slices) for shard in np.array_split(order, self.shards)]

    def _train(
        self, records: Records, slices: list[NDArray[np.int64]], checkpoints: list[Weights], start: int
    ) -> tuple[list[Weights], int]:
        """Train the slices from `start` on; return the checkpoints after every slice and the gradients evaluated."""
        kept, work = checkpoints[: start + 1], 0
        step = 1 / (self.regularization + self.loss.constants.smoothness)
        for number in range(start, self.slices):
            slots = np.concatenate(slices[: number + 1])
            part = Records.from_slots(records.features[slots], records.labels[slots], [None] * len(slots), None)
            objective = Objective(part, self.loss, regularization=self.regularization)
            weights = np.array(kept[-1])
            for _ in range(self.steps):
                weights -= step * objective.gradient(weights)
            kept.append(weights)
            work += self.steps * len(slots)
        return kept, work

    def learn(self, records: Records, rng: np.random.Generator | None = None) -> Held:
        zero = np.zeros((self.loss.outputs, records.features.shape[1]))
        trained = [self._train(records, slices, [zero], 0) for slices in self.assignment(records.slots)]
        return self._held([checkpoints for checkpoints, _ in trained], len(records), sum(work for _, work in trained))

    def _held(self, shards: list[list[Weights]], present: int, work: int, *, retrained: bool = False) -> Held:
        published = np.mean([checkpoints[-1] for checkpoints in shards], axis=0)
        return Held(published, present, {"checkpoints": shards}, gradient_evaluations=work, retrained=retrained)

    def forget(self, records: Records, erased: Erased, held: Held, rng: np.random.Generator | None = None) -> Held:
        shards, work = list(held.secret["checkpoints"]), 0
        everything = True
        for number, slices in enumerate(self.assignment(records.slots)):
            touched = [index for index, part in enumerate(slices) if np.isin(erased.slots, part).any()]
            everything &= touched[:1] == [0]
            if touched:
                shards[number], cost = self._train(records, slices, shards[number], touched[0])
                work += cost
        return self._held(shards, held.records - len(erased), work, retrained=everything)

    def certificate(self, held: Held) -> Certificate:
        return Certificate(
            deletion=(0.0, 0.0),
            existing=None,
            adaptive=False,
            basis="shards restart before the slice that held the record; checkpoints kept never saw it",
            caveats=("only the average is published", "requests must not depend on earlier releases"),
        )
