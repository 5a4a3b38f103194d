"""One snapshot of a source as a table of rows without ids, in memory or in an encrypted scratch file.

The rows are in order of arrival.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from noisygd_delete.engine import CurrentRecords
from noisygd_delete.engine.kernel import quarter_of_memory
from noisygd_delete.errors import InvalidRecords
from noisygd_delete.features.schema import Encoded, Schema, Table
from noisygd_delete.records import CodedRows, EditCounts, LeftOut, Names, Records
from noisygd_delete.records.records import bytes_of_row, check_size

from .scratch import ScratchRecords
from .source import NOTHING_DONE, Snapshot, Source, SourceHistory

# rows, position, changes, what is left out, and the definition (`source.Snapshot`)
Held = tuple[CurrentRecords, str, EditCounts | None, LeftOut, str | None]
Take = Callable[[Encoded], None]


@dataclass(frozen=True)
class SnapshotSurvey:
    """The counts of one read of a source.

    Attributes:
        rows: Rows that were read.
        clipped: Clipped cells per column.
        unknown: Unknown cells per column.
        left_out: Rows left out because of the subject they belong to.
    """

    rows: int
    clipped: Mapping[str, int]
    unknown: Mapping[str, int]
    left_out: LeftOut


@contextmanager
def rows_of(
    source: Source,
    schema: Schema,
    slots: int,
    since: str | None = None,
    memory: int | None = None,
    done: SourceHistory = NOTHING_DONE,
) -> Iterator[Held]:
    """Open the rows of one snapshot in a table of `slots` slots.

    Yields its rows, its position, the changes since an earlier position by the source's own count (None if not
    counted), what was left out, and the definition.

    Args:
        source: The source.
        schema: The schema of the rows.
        slots: The number of slots.
        since: The earlier position.
        memory: Bytes of rows to hold, as codes or features; None: a quarter of the machine's memory. A larger table is read into
            a scratch file, whatever its number of rows.
        done: The history that the snapshot must show.

    Raises:
        InvalidRecords: If there are more rows than slots, or than memory can hold.
        InvalidSchema: If a cell does not fit the schema. The message names the record by its number, in an order that
            is not stable.
    """
    held = source.open_rows(schema, slots, done)
    if held is not None:
        with held as (there, position, left_out):
            changes = None if since is None else source.changes(since, position, columns_of(schema))
            yield there, position, changes, left_out, None
    elif slots * bytes_of_row(schema.features, schema.codec) <= (quarter_of_memory() if memory is None else memory):
        yield _read_in_memory(source, schema, slots, since, done)
    else:
        check_size(slots, 0)
        with closing(ScratchRecords(slots, schema.features, schema.codec)) as scratch:
            found, snapshot = _read_snapshot(source, schema, slots, since, scratch.append, done)
            scratch.finish()
            yield scratch, snapshot.position, snapshot.changes, found.left_out, snapshot.definition


def _read_in_memory(
    source: Source, schema: Schema, slots: int, since: str | None, done: SourceHistory
) -> tuple[Records, str, EditCounts | None, LeftOut, str | None]:
    codec = schema.codec
    check_size(slots, schema.features, codec)
    labels, filled = np.zeros(slots), 0
    columns, kind = (schema.features, np.float32) if codec is None else (codec.blocks, codec.dtype)
    rows = np.zeros((slots, columns), kind)

    def take(block: Encoded) -> None:
        nonlocal filled
        here = slice(filled, filled + len(block.rows))
        rows[here], labels[here] = block.rows if codec is None else block.rows.codes, block.labels
        filled = here.stop

    found, snapshot = _read_snapshot(source, schema, slots, since, take, done)
    ids = Names.of(range(filled)).with_free_slots(slots - filled)
    held = Records.from_slots(rows if codec is None else CodedRows(rows, codec), labels, ids, None)
    return held, snapshot.position, snapshot.changes, found.left_out, snapshot.definition


def survey(source: Source, schema: Schema) -> SnapshotSurvey:
    """Read the current rows once and count them, without holding them.

    Raises:
        InvalidParameter: If no store may be created over them (see `Source.check`).
        InvalidRecords: If the source has no rows.
        InvalidSchema: As `rows_of`.
    """
    source.check()
    found, _ = _read_snapshot(source, schema, None, None, lambda block: None, NOTHING_DONE)
    if not found.rows:
        more = found.left_out.describe(source.rows_per_subject, source.subject or source.id)
        raise InvalidRecords(f"{source.address} holds no row to learn from" + (f" ({more})" if more else ""))
    return found


def _read_snapshot(
    source: Source, schema: Schema, most: int | None, since: str | None, take: Take, done: SourceHistory
) -> tuple[SnapshotSurvey, Snapshot]:
    """Pass every row of one snapshot to `take`, block by block."""
    rows, clipped, unknown = 0, Counter[str](), Counter[str]()
    with source.snapshot(columns_of(schema), since, done) as snapshot:
        for encoded in encoded_blocks(schema, snapshot.blocks, coded=True):
            rows += len(encoded.rows)
            check_room(source, rows, most)
            clipped.update(encoded.clipped)
            unknown.update(encoded.unknown)
            take(encoded)
    return SnapshotSurvey(rows, clipped, unknown, snapshot.left_out), snapshot


def encoded_blocks(schema: Schema, blocks: Iterable[Table], *, coded: bool) -> Iterator[Encoded]:
    """Encode rows without their ids and subjects; `coded` as for `Schema.encode`."""
    unnamed = replace(schema, id_column=None, subject_column=None, rows_per_subject=None)
    return map(partial(unnamed.encode, coded=coded), blocks)


def check_room(source: Source, rows: int, most: int | None) -> None:
    """Raise `InvalidRecords` if there are more rows than slots."""
    if most is not None and rows > most:
        raise InvalidRecords(
            f"{source.address} holds more rows than the {most} slots of the plan; n is public and part of the noise: relearn "
            "with more --slots, or let the query choose fewer rows"
        )


def columns_of(schema: Schema) -> list[str]:
    """Return all columns that a release reads."""
    return list(dict.fromkeys([*schema.columns, schema.label_column]))
