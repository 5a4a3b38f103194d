"""A partitioned table as the driver sees it: every pass asks each partition once and adds the answers in order.

Workers die and are replaced, and slow ones are duplicated. So one answer per partition is counted, from any worker, and
only if its digest shows that it was computed from the rows present when the table was opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.engine.coded import LEAST_ROWS, CodedSums
from noisygd_delete.engine.kernel import sum_pairwise
from noisygd_delete.engine.moments import IntegerMoments, Integers
from noisygd_delete.engine.nested import sample_size
from noisygd_delete.engine.sums import RowsElsewhere, check_norms, check_partitions
from noisygd_delete.errors import InvalidRecords, SourceError
from noisygd_delete.features.maps.codec import RowCodec
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import CodedRows

from .questions import Answer, EveryStepth, Facts, GradientSum, Longest, MomentSum, PartitionQuestion

_MOST_ANSWERED = 1 << 30  # most bytes of all answers to one question


class Cluster(Protocol):
    """Workers that hold the partitions of one table."""

    @property
    def partitions(self) -> int:
        """Number of partitions, which depends on the table and not on the workers."""

    def ask(self, question: PartitionQuestion) -> Iterable[Answer]:
        """Return every partition's answer, in any order; afterwards no copy of the question remains.

        Raises:
            ProcessLost: If the cluster does not answer after retries.
        """


class ClusterRecords(RowsElsewhere):
    """The current records, held by a cluster.

    Args:
        cluster: The cluster.
        address: The table, as named in messages.
        width: Number of features.
        slots: Number of slots n; None means the number of rows.
        codec: The codes as which workers hold the rows; None: they hold features.

    Raises:
        InvalidRecords: If there are more rows than slots, or none.
        InvalidSchema: If a cell does not fit the schema.
    """

    def __init__(
        self, cluster: Cluster, *, address: str, width: int, slots: int | None, codec: RowCodec | None = None
    ) -> None:
        check_partitions(address, cluster.partitions)
        self.codec = codec
        self._cluster, self._address, self._width = cluster, address, width
        self._digests: list[bytes] = []
        self.clipped, self.unknown = Counter[str](), Counter[str]()
        self.rows_in: tuple[int, ...] = ()  # rows of each partition
        for rows, clipped, unknown in self.ask(Facts()):
            self.rows_in += (rows,)
            self.clipped.update(clipped)
            self.unknown.update(unknown)
        self._slots = self.rows if slots is None else slots
        if self.rows > self._slots:
            raise InvalidRecords(
                f"{address} holds more rows than the {slots} slots of the plan; n is public and part of the noise: relearn with more "
                "--slots, or let fewer rows be there"
            )
        if not self._slots:
            raise InvalidRecords(f"{address} holds no row; there is nothing to learn from")

    @property
    def rows(self) -> int:
        """Number of records."""
        return sum(self.rows_in)

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def width(self) -> int:
        return self._width

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return self._cluster.partitions

    def ask(self, question: PartitionQuestion) -> list[Any]:
        """Return the answers of all partitions, in order.

        Raises:
            SourceError: If a partition answered not exactly once, or from other rows than before.
        """
        answers = sorted(self._cluster.ask(question), key=lambda answer: answer.number)
        contents = [answer.unwrap() for answer in answers]
        if [answer.number for answer in answers] != list(range(self._cluster.partitions)):
            raise SourceError(
                f"{self._address}: a part of the table was not counted exactly once; nothing was published"
            )
        digests = [answer.digest for answer in answers]
        if digests != (self._digests or digests):
            raise SourceError(
                f"{self._address}: a part of the table was read again, and its rows are others now. Nothing was published; try again "
                "when nothing writes there"
            )
        self._digests = digests
        return contents

    def check(self, loss: Loss, variances: NDArray[np.float64] | None) -> None:
        longest = [max(norms) for norms in zip(*self.ask(Longest(loss, variances)), strict=True)]
        check_norms(longest, loss, lambda _: f"a row of {self._address}")

    def sums(self, loss: Loss) -> ClusterSums:
        self._check_answers(8 * loss.outputs * self._width)
        return ClusterSums(self, loss)

    def exact_sums(self, moments: IntegerMoments) -> Integers:
        self._check_answers(8 * moments.size)
        return sum(self.ask(MomentSum(moments)), np.zeros(moments.size, np.int64))

    def _check_answers(self, size: int) -> None:
        if size * self.partitions > _MOST_ANSWERED:
            raise InvalidRecords(
                f"{self.partitions} parts of {self._address} would answer {size} bytes each in one pass, more than the {_MOST_ANSWERED} "
                "bytes that the driver takes at a time; merge its files into larger ones"
            )


class ClusterSums:
    """Sums over the records of a cluster (see `engine.sums.Sums`)."""

    def __init__(self, records: ClusterRecords, loss: Loss) -> None:
        self._records, self._loss = records, loss
        self.slots, self.width = records.slots, records.width

    def gradient(self, weights: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
        """Return the gradient of the sum of losses."""
        question = GradientSum(self._loss, self.slots, weights, dtype)
        return sum_pairwise(self._records.ask(question), weights.shape)

    def strided(self, rows: int) -> tuple[Any, NDArray[Any]]:
        """Return the same slots as for a table in memory, whose free slots are last."""
        codec = self._records.codec
        rows = rows if codec is None or self.slots < LEAST_ROWS else sample_size(rows, self.slots)
        step, before, firsts = max(1, self.slots // rows), 0, []
        for size in self._records.rows_in:
            firsts.append(-before % step)
            before += size
        parts = self._records.ask(EveryStepth(tuple(firsts), step))
        found, labels = (np.concatenate(both) for both in zip(*parts, strict=True))
        free = -(-self.slots // step) - len(found)
        found, labels = np.pad(found, ((0, free), (0, 0))), np.pad(labels, (0, free))
        if codec is not None:
            sample = CodedSums.of(CodedRows(found, codec), labels, self._loss, whole=self.slots)
            if sample is not None:
                return sample.strided(sample.slots)
            found = codec.decode(found)
        return found, labels.astype(np.int64 if self._loss.label_kind == "class" else np.float32)
