"""A cluster without one: partitions in this process, which answer in any order, and as wrongly as a test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from noisygd_delete_sources import parquet_files as files
from noisygd_delete_sources.workers.questions import Answer, Encoder, Partition, PartitionQuestion, answer
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Records
from noisygd_delete.features.schema import Encoded, Schema
from noisygd_delete.records import NONE_LEFT_OUT, CodedRows, LeftOut


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


@contextmanager
def in_this_process(
    engine: str, address: str, schema: Schema, slots: int, *, pinned: Any = None, selection: Any = None
) -> Iterator[tuple[ClusterRecords, str, LeftOut]]:
    """What workers would hold of the files, in partitions of this process."""
    assert selection is None
    encoder = Encoder.for_rows(schema, address)
    found = files.list_files(address) if pinned is None else pinned.files
    parts = files.partition_row_groups(address, found, pinned=pinned is not None)
    cluster = InProcess([encoder.encoded(files.read_part(address, part, encoder.columns)) for part in parts])
    records = ClusterRecords(cluster, address=address, width=schema.features, slots=slots)
    yield records, files.position() if pinned is None else pinned.position, NONE_LEFT_OUT
