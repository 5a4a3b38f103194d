"""What a driver may ask of a partition. Each question is answered from the partition alone, and nothing of it is kept there."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisygd_delete import errors
from noisygd_delete.engine.moments import IntegerMoments, Integers
from noisygd_delete.engine.sums import HeldSums, check_labels, longest_rows
from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Encoded, Schema, Table
from noisygd_delete.features.schema.encoded import GatheredRows
from noisygd_delete.features.schema.values import arrow_column
from noisygd_delete.losses.base import Loss
from noisygd_delete.records.records import check_size

if TYPE_CHECKING:
    import pyarrow


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
class SumsQuestion(PartitionQuestion):
    """A question that the engine's own sums answer."""

    loss: Loss

    def held(self, partition: Partition) -> HeldSums:
        return HeldSums(partition.rows, partition.labels, self.loss, readings=1)


@dataclass(frozen=True)
class GradientSum(SumsQuestion):
    """Σ ∇ℓ(θ; x) over its rows."""

    weights: NDArray[np.float64]
    dtype: str

    def of(self, partition: Partition) -> NDArray[np.float64]:
        return self.held(partition).gradient(self.weights, self.dtype)


@dataclass(frozen=True)
class ExactSum(PartitionQuestion):
    """What method 'sums' publishes of its rows, before its noise: whole numbers, the same in any order."""

    moments: IntegerMoments

    def of(self, partition: Partition) -> Integers:
        return self.moments.of(partition.rows, partition.labels)


@dataclass(frozen=True)
class EveryStepth(SumsQuestion):
    """Every so-manyth of its rows, the first of partition k at `firsts[k]`, and their labels."""

    firsts: tuple[int, ...]
    step: int

    def of(self, partition: Partition) -> tuple[NDArray[np.float32], NDArray[Any]]:
        return self.held(partition).every(self.step, self.firsts[partition.number])


@dataclass(frozen=True)
class Partition:
    """Some rows of a table, in their order.

    number    0, 1, …: its place among the partitions
    rows      (m, features) float32
    labels    (m,) float64
    digest    of rows and labels: rows that were read again from another table show
    clipped, unknown   cells per column, as `schema.Encoded` counts them
    """

    number: int
    rows: NDArray[np.float32]
    labels: NDArray[np.float64]
    digest: bytes
    clipped: dict[str, int]
    unknown: dict[str, int]

    @classmethod
    def of(cls, number: int, encoded: Encoded) -> Partition:
        seen = hashlib.sha256(np.ascontiguousarray(encoded.rows).data)
        seen.update(np.ascontiguousarray(encoded.labels).data)
        return cls(number, encoded.rows, encoded.labels, seen.digest(), encoded.clipped, encoded.unknown)


@dataclass(frozen=True)
class Encoder:
    """How a worker makes rows of what it reads: the schema, without ids or persons, whose columns are never read.

    address   of the table, as messages name it
    """

    schema: Schema
    address: str

    @classmethod
    def for_rows(cls, schema: Schema, address: str) -> Encoder:
        return cls(replace(schema, id_column=None, subject_column=None, rows_per_subject=None), address)

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys([*self.schema.columns, self.schema.label_column]))

    def encoded(self, batches: Iterable[pyarrow.RecordBatch]) -> Encoded:
        """The rows of these batches, which have `columns`.

        Raises:
            InvalidSchema: a cell does not fit; its record is told by its number in the partition.
            InvalidRecords: they are more than this worker's memory can hold.
        """
        whole, first = GatheredRows(self.schema.features), 1
        for batch in batches:
            if batch.num_rows:
                check_size(first + batch.num_rows, self.schema.features)
                columns = {name: self._texts(batch.column(name)) for name in self.columns}
                table = Table(self.address, columns, range(first, first + batch.num_rows))
                whole.add(self.schema.encode(table))
                first += batch.num_rows
        whole.add(Encoded(np.zeros((0, self.schema.features), np.float32), np.zeros(0), None, None))
        return whole.encoded()

    def _texts(self, values: Any) -> Sequence[str]:
        import pyarrow

        try:
            return arrow_column(values)
        except (pyarrow.ArrowException, ValueError, OverflowError):  # the last two: text or dates that are none
            raise InvalidSchema(f"{self.address}: a cell that is no text and no number; correct the file") from None
