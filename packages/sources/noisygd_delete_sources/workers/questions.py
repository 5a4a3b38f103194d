"""Questions that a driver may ask of a partition; each is answered from the partition alone and leaves no state."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from noisygd_delete import errors
from noisygd_delete.engine.coded import CodedSums
from noisygd_delete.engine.count_tables import CodedMoments
from noisygd_delete.engine.moments import IntegerMoments, Integers
from noisygd_delete.engine.sums import HeldSums, check_labels, longest_rows
from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Encoded, Schema, Table
from noisygd_delete.features.schema.arrow import arrow_column
from noisygd_delete.features.schema.encoded import GatheredRows
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import CodedRows, Rows
from noisygd_delete.records.records import check_size

if TYPE_CHECKING:
    import pyarrow


class PartitionQuestion(ABC):
    """A question, the same for every partition."""

    @abstractmethod
    def answer_for(self, partition: Partition) -> Any:
        """Return the answer of this partition."""


@dataclass(frozen=True)
class Answer:
    """Answer of a partition.

    Attributes:
        number: Number of the partition.
        digest: Digest of the rows from which it was computed.
        content: Result of the question's `answer_for`.
        fault: Name and message of an error of this package, instead of the content.
    """

    number: int
    digest: bytes
    content: Any
    fault: tuple[str, str] | None = None

    def unwrap(self) -> Any:
        """Return the content, or raise the worker's error."""
        if self.fault is not None:
            kind, words = self.fault
            raise getattr(errors, kind)(words)
        return self.content


def answer(question: PartitionQuestion, number: int, held: Callable[[], Partition]) -> Answer:
    """Return the answer of one partition; an error of this package becomes its fault.

    Args:
        question: The question.
        number: Number of the partition.
        held: Returns the partition, reading it if necessary.
    """
    try:
        partition = held()
        return Answer(number, partition.digest, question.answer_for(partition))
    except errors.NoisyGDDeleteError as error:
        return Answer(number, b"", None, fault_of(error))


def fault_of(error: errors.NoisyGDDeleteError) -> tuple[str, str]:
    """Return name and message of an error for transport, of a class that is constructed from its message alone."""
    kind = errors.InvalidSchema if isinstance(error, errors.InvalidSchema) else type(error)
    return kind.__name__, str(error)


@dataclass(frozen=True)
class Facts(PartitionQuestion):
    """The number of rows, and the numbers of clipped and of unknown cells by column."""

    def answer_for(self, partition: Partition) -> tuple[int, dict[str, int], dict[str, int]]:
        return len(partition.rows), partition.clipped, partition.unknown


@dataclass(frozen=True)
class Longest(PartitionQuestion):
    """The largest row norms, as by `longest_rows`; labels that do not fit the loss are rejected."""

    loss: Loss
    variances: NDArray[np.float64] | None

    def answer_for(self, partition: Partition) -> list[tuple[float, int]]:
        check_labels(partition.labels, np.ones(len(partition.labels), bool), self.loss)
        return longest_rows(partition.rows, range(len(partition.rows)), self.variances)


@dataclass(frozen=True)
class SumsQuestion(PartitionQuestion):
    """A question answered by the engine's own sums.

    Attributes:
        loss: The loss.
        slots: Slots of the whole table.
    """

    loss: Loss
    slots: int

    def held(self, partition: Partition) -> CodedSums | HeldSums:
        """Return the sums over the rows that a worker holds: by lookup, if they are codes of a large enough table."""
        rows, labels = partition.rows, partition.labels
        looked_up = None
        if isinstance(rows, CodedRows) and len(rows):
            looked_up = CodedSums.of(rows, labels, self.loss, whole=self.slots)
        return HeldSums(cast("Rows", rows), labels, self.loss, readings=1) if looked_up is None else looked_up


@dataclass(frozen=True)
class GradientSum(SumsQuestion):
    """Σ ∇ℓ(θ; x) over the rows."""

    weights: NDArray[np.float64]
    dtype: str

    def answer_for(self, partition: Partition) -> NDArray[np.float64]:
        return self.held(partition).gradient(self.weights, self.dtype)


@dataclass(frozen=True)
class MomentSum(PartitionQuestion):
    """The integer moments of the rows that method 'sufficient-statistics' publishes, before noise; the same in any order."""

    moments: IntegerMoments

    def answer_for(self, partition: Partition) -> Integers:
        rows, moments = partition.rows, self.moments
        if isinstance(rows, CodedRows) and isinstance(moments, CodedMoments):  # the coding came here as a copy
            return moments.of(rows.codec.to_codes(rows.codes), partition.labels)
        return moments.of(rows, partition.labels)


@dataclass(frozen=True)
class EveryStepth(PartitionQuestion):
    """Every `step`-th row, or its codes, with its label, starting at `firsts[k]` in partition k."""

    firsts: tuple[int, ...]
    step: int

    def answer_for(self, partition: Partition) -> tuple[NDArray[Any], NDArray[np.float64]]:
        chosen, rows = slice(self.firsts[partition.number], None, self.step), partition.rows
        stored = rows.codes if isinstance(rows, CodedRows) else rows
        return np.ascontiguousarray(stored[chosen]), partition.labels[chosen]


@dataclass(frozen=True)
class Partition:
    """Consecutive rows of a table.

    Attributes:
        number: Number of the partition: 0, 1, ….
        rows: (m, features) float32, or their codes.
        labels: (m,) float64.
        digest: SHA-256 of rows or codes, and labels, which detects a changed table on rereading.
        clipped: Clipped cells by column, as counted by `schema.Encoded`.
        unknown: Unknown cells by column, as counted by `schema.Encoded`.
    """

    number: int
    rows: NDArray[np.float32] | CodedRows
    labels: NDArray[np.float64]
    digest: bytes
    clipped: dict[str, int]
    unknown: dict[str, int]

    @classmethod
    def of(cls, number: int, encoded: Encoded) -> Partition:
        """Return the partition of these rows."""
        stored = encoded.rows.codes if isinstance(encoded.rows, CodedRows) else encoded.rows
        seen = hashlib.sha256(np.ascontiguousarray(stored).data)
        seen.update(np.ascontiguousarray(encoded.labels).data)
        return cls(number, encoded.rows, encoded.labels, seen.digest(), encoded.clipped, encoded.unknown)


@dataclass(frozen=True)
class Encoder:
    """Encoding of cells as rows on a worker: the schema without ids and persons, whose columns are never read.

    Attributes:
        schema: The schema.
        address: The table, as named in messages.
    """

    schema: Schema
    address: str

    @classmethod
    def for_rows(cls, schema: Schema, address: str) -> Encoder:
        """Return the encoder of a schema without its columns of ids and persons."""
        return cls(replace(schema, id_column=None, subject_column=None, rows_per_subject=None), address)

    @property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        return list(dict.fromkeys([*self.schema.columns, self.schema.label_column]))

    def encoded(self, batches: Iterable[pyarrow.RecordBatch]) -> Encoded:
        """Return the encoded rows of these batches, which have the columns `columns`.

        Raises:
            InvalidSchema: If a cell does not fit; its record is named by its number in the partition.
            InvalidRecords: If the rows exceed the worker's memory.
        """
        whole, first, codec = GatheredRows(self.schema.features), 1, self.schema.codec
        for batch in batches:
            if batch.num_rows:
                check_size(first + batch.num_rows, self.schema.features, codec)
                columns = {name: self._texts(batch.column(name)) for name in self.columns}
                table = Table(self.address, columns, range(first, first + batch.num_rows))
                whole.add(self.schema.encode(table, coded=True))
                first += batch.num_rows
        none = np.zeros((0, self.schema.features), np.float32)
        empty = none if codec is None else CodedRows(codec.encode(none), codec)
        whole.add(Encoded(empty, np.zeros(0), None, None))
        return whole.encoded()

    def _texts(self, values: Any) -> Sequence[str]:
        import pyarrow

        try:
            return arrow_column(values)
        except (pyarrow.ArrowException, ValueError, OverflowError):  # the last two: invalid text or dates
            raise InvalidSchema(f"{self.address}: a cell that is no text and no number; correct the file") from None
