"""A cluster without one: partitions in this process, which answer in any order, and as wrongly as a test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from noisygd_delete_sources.workers.questions import Answer, Partition, PartitionQuestion, answer
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Records
from noisygd_delete.features.schema import Encoded
from noisygd_delete.records import CodedRows


class InProcess:
    """`change` sees the answers to every question but the first, which opens the table."""

    def __init__(self, parts: list[Encoded], change: Callable[[list[Answer]], list[Answer]] | None = None) -> None:
        self.held = [Partition.of(number, part) for number, part in enumerate(parts)]
        self.asked: list[PartitionQuestion] = []
        self.change = change

    @property
    def partitions(self) -> int:
        return len(self.held)

    def ask(self, question: PartitionQuestion) -> Iterator[Answer]:
        self.asked.append(question)
        answers = [answer(question, held.number, lambda held=held: held) for held in reversed(self.held)]
        return iter(answers if self.change is None or len(self.asked) == 1 else self.change(answers))


def cut(records: Records, parts: int) -> list[Encoded]:
    """The records of a table dealt out in order, some partitions empty where there are few."""
    used, coded = records.occupied, records.coded_rows
    rows, labels = records.features[used] if coded is None else coded.select(used), records.labels[used]
    ends = [len(rows) * part // parts for part in range(parts + 1)]
    cuts = [slice(a, b) for a, b in pairwise(ends)]
    found = [rows.select(here) if isinstance(rows, CodedRows) else np.array(rows[here]) for here in cuts]
    return [Encoded(part, np.array(labels[here]), None, None) for part, here in zip(found, cuts, strict=True)]


def in_partitions(
    records: Records, parts: int, change: Callable[[list[Answer]], list[Answer]] | None = None
) -> ClusterRecords:
    cluster = InProcess(cut(records, parts), change)
    codec = None if records.coded_rows is None else records.coded_rows.codec
    return ClusterRecords(cluster, address="a table", width=records.width, slots=records.slots, codec=codec)
