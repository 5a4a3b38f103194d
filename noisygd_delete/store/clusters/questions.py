"""What a driver may ask of a partition. Each question is answered from the partition alone, and nothing of it is kept there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import errors
from ...engine.assumptions import check_labels, longest_rows
from ...engine.sums_held import HeldSums
from ...losses.base import Loss
from .partition import Partition


class PartitionQuestion(ABC):
    """One question, the same for every partition."""

    @abstractmethod
    def of(self, partition: Partition) -> Any:
        """What this partition answers."""


@dataclass(frozen=True)
class Answer:
    """What a partition answered.

    digest   of the rows that it was answered from
    content  as the question's `of` returns it
    fault    instead of it: name and words of an error of this package
    """

    number: int
    digest: bytes
    content: Any
    fault: tuple[str, str] | None = None

    def told(self) -> Any:
        """The content; an error of the worker is raised here."""
        if self.fault is not None:
            kind, words = self.fault
            raise getattr(errors, kind)(words)
        return self.content


def answer(question: PartitionQuestion, number: int, held: Callable[[], Partition]) -> Answer:
    """What the partition that `held` gives answers."""
    try:
        partition = held()
        return Answer(number, partition.digest, question.of(partition))
    except errors.NoisyGDDeleteError as error:
        return Answer(number, b"", None, fault_of(error))


def fault_of(error: errors.NoisyGDDeleteError) -> tuple[str, str]:
    """Name and words of an error as they travel: of a class that is made of its words alone."""
    kind = errors.InvalidSchema if isinstance(error, errors.InvalidSchema) else type(error)
    return kind.__name__, str(error)


@dataclass(frozen=True)
class Facts(PartitionQuestion):
    """How many rows it has, and cells that were clipped to their bounds or unknown, per column."""

    def of(self, partition: Partition) -> tuple[int, dict[str, int], dict[str, int]]:
        return len(partition.rows), partition.clipped, partition.unknown


@dataclass(frozen=True)
class Longest(PartitionQuestion):
    """The largest norms of its rows, as `longest_rows` has them; labels that are not of the loss's kind are refused."""

    loss: Loss
    variances: NDArray[np.float64] | None

    def of(self, partition: Partition) -> list[tuple[float, int]]:
        check_labels(partition.labels, np.ones(len(partition.labels), bool), self.loss)
        return longest_rows(partition.rows, range(len(partition.rows)), self.variances)


@dataclass(frozen=True)
class OfSums(PartitionQuestion):
    """A question that the engine's own sums answer."""

    loss: Loss

    def held(self, partition: Partition) -> HeldSums:
        return HeldSums(partition.rows, partition.labels, self.loss, readings=1)


@dataclass(frozen=True)
class GradientSum(OfSums):
    """Σ ∇ℓ(θ; x) over its rows."""

    weights: NDArray[np.float64]
    dtype: str

    def of(self, partition: Partition) -> NDArray[np.float64]:
        return self.held(partition).gradient(self.weights, self.dtype)


@dataclass(frozen=True)
class EveryStepth(OfSums):
    """Every so-manyth of its rows, the first of partition k at `firsts[k]`, and their labels."""

    firsts: tuple[int, ...]
    step: int

    def of(self, partition: Partition) -> tuple[NDArray[np.float32], NDArray[Any]]:
        return self.held(partition).every(self.step, self.firsts[partition.number])
