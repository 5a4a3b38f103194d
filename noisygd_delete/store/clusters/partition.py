"""What a worker holds: the encoded rows of one partition, without ids, and by what the driver knows them again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidSchema
from ...features.schema import Encoded, Schema, Table
from ...features.schema.arrow import column
from ...features.schema.encoded import Gathered
from ...records.records import check_size

if TYPE_CHECKING:
    import pyarrow


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
        whole, first = Gathered(self.schema.features), 1
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
            return column(values)
        except (pyarrow.ArrowException, ValueError, OverflowError):  # the last two: text or dates that are none
            raise InvalidSchema(f"{self.address}: a cell that is no text and no number; correct the file") from None
