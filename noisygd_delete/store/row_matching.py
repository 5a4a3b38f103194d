"""Count rows that equal a row of a table, by their codes or by digests of their values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..records import CodedRows, Labels, Records, Rows

if TYPE_CHECKING:
    from ..features.schema import Encoded
    from ..records.values import Codec

_PART = 2048  # slots read at a time
_DIGEST = 16  # bytes


def table_parts(records: Records) -> Iterator[tuple[Rows | CodedRows, Labels]]:
    """Yield the records, block by block, as codes if the table holds these."""
    used = records.occupied
    for start in range(0, records.slots, _PART):
        here = slice(start, start + _PART)
        coded = None if records.coded_rows is None else records.coded_rows.select(here).select(used[here])
        yield records.features[here][used[here]] if coded is None else coded, records.labels[here][used[here]]


def count_equal(held: Iterable[tuple[Rows | CodedRows, Labels]], encoded: Encoded) -> int:
    """Return how many of the encoded rows equal a row of the table."""
    given, wanted, found = encoded.rows, list[bytes](), set[bytes]()
    for rows, labels in held:
        codec = rows.codec if isinstance(rows, CodedRows) and isinstance(given, CodedRows) else None
        codec = codec if codec is not None and isinstance(given, CodedRows) and given.codec is codec else None
        wanted = wanted or _row_keys(given, encoded.labels, codec)
        found.update(_row_keys(rows, labels, codec))
    return sum(key in found for key in wanted)


def _row_keys(rows: Rows | CodedRows, labels: Labels, codec: Codec | None) -> list[bytes]:
    """Return what identifies the content of each row: its codes and label, or a digest of its values and label."""
    keys = list[bytes]()
    for first in range(0, len(rows), _PART):
        here = slice(first, first + _PART)
        ends = np.ascontiguousarray(labels[here], np.float64)[:, None]
        if isinstance(rows, CodedRows) and codec is not None:
            parts = [np.ascontiguousarray(part).view(np.uint8) for part in (rows.codes[here], ends)]
            whole = np.hstack(parts)
            keys += whole.view(f"V{whole.shape[1]}").ravel().tolist()
        else:
            pairs = zip(np.ascontiguousarray(rows[here]), ends, strict=True)
            keys += [hashlib.blake2b(row.tobytes() + end.tobytes(), digest_size=_DIGEST).digest() for row, end in pairs]
    return keys
