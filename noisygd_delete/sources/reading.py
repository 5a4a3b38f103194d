"""One snapshot of a source as a table in memory: rows without ids, in the order in which they come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from ..engine import CurrentRecords
from ..errors import InvalidParameter, InvalidRecords
from ..methods.plan import Plan
from ..records import EditCounts, Records
from ..records.records import check_size
from ..schema import Encoded, Schema
from ..schema.encoded import Gathered
from .source import Source

Held = tuple[CurrentRecords, str, EditCounts | None]


@contextmanager
def rows_of(source: Source, schema: Schema, slots: int, since: str | None = None) -> Iterator[Held]:
    """What `records_since` returns, while this is open: the rows in memory, or held by the source's own engine.

    Raises:
        As `records_of`.
    """
    held = source.opened(schema, slots)
    if held is None:
        yield records_since(source, schema, slots, since)
        return
    with held as (records, position):
        yield records, position, None


def records_of(source: Source, schema: Schema, slots: int) -> tuple[Records, str]:
    """The rows of one snapshot in so many slots, and the snapshot's position.

    Raises:
        InvalidRecords: more rows than slots.
        InvalidSchema: a cell does not fit the schema; its record is told by its number, in no order that lasts.
    """
    records, position, _ = records_since(source, schema, slots, None)
    return records, position


def records_since(
    source: Source, schema: Schema, slots: int, since: str | None
) -> tuple[Records, str, EditCounts | None]:
    """The same, and what changed since an earlier position by the source's own count (None: it was not counted)."""
    check_size(slots, schema.features)
    encoded, position, changes = _encoded(source, schema, slots, since)
    return Records(encoded.rows, encoded.labels, slots=slots), position, changes


def encoded_of(source: Source, schema: Schema) -> Encoded:
    """The rows as they are now, before they have slots; there must be some."""
    return _encoded(source, schema, None, None)[0]


def _encoded(
    source: Source, schema: Schema, most: int | None, since: str | None
) -> tuple[Encoded, str, EditCounts | None]:
    """`most` None: there must be some; else none is fine, where everybody was erased."""
    unnamed, whole, rows = (
        replace(schema, id_column=None, subject_column=None, rows_per_subject=None),
        Gathered(schema.features),
        0,
    )
    with source.snapshot(columns_of(schema), since) as snapshot:
        for block in snapshot.blocks:
            rows += len(block)
            if most is not None and rows > most:
                raise InvalidRecords(
                    f"{source.address} holds more rows than the {most} slots of the plan; n is public and part of the noise: relearn "
                    "with more --slots, or let the query choose fewer rows"
                )
            check_size(rows, schema.features)
            whole.add(unnamed.encode(block), block.lines)
    if not rows and most is None:
        raise InvalidRecords(f"{source.address} holds no row; there is nothing to learn from")
    whole.add(Encoded(np.zeros((0, schema.features), np.float32), np.zeros(0), None, None), [])
    return whole.encoded(), snapshot.position, snapshot.changes


def columns_of(schema: Schema) -> list[str]:
    """All that a release reads of a row."""
    return list(dict.fromkeys([*schema.columns, schema.label_column]))


def require_any_order(plan: Plan) -> None:
    """Raise unless the plan's proof holds for rows that come in any order and change unseen between releases."""
    if plan.mechanism.fresh and not (plan.learn_steps or plan.delete_steps):
        return
    raise InvalidParameter(
        f"method={plan.method.name!r} does not suit rows that lie elsewhere: "
        + (
            "the rounding that its noisy steps allow for rests on rows that stay in their places"
            if plan.mechanism.fresh
            else "its releases continue from one another, and rows would change in between unseen"
        )
        + ". Plan with method='perturbed'"
    )
