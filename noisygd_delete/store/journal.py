"""The request in progress. Once it is in the journal it will be carried out, even if the process crashes."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..errors import InvalidRecords, InvalidRequest, StoreCorrupt, check_count
from ..records import NO_EDITS, CodedRows, EditCounts, SlotEdits, limited_io
from .disk import Disk, read_file
from .layout import FORMAT, LABEL, ROW, TEMPORARY, Layout

if TYPE_CHECKING:
    from ..records.values import Codec
    from .ledger import Ledger

Journalled = TypeVar("Journalled")

MOST_VALUES = 2**28  # values of a request whose table is not known
SEAL = 65  # characters of the SHA-256 before the request, with the newline


@dataclass(frozen=True)
class InFlight:
    """A validated request, resolved to slots, so that repeating it has the same effect.

    Attributes:
        base: The number of ledger entries when it was accepted; if the ledger is longer, the request has been
            committed.
        edits: The edits by slot.
        publish: Whether a release follows at once.
        request_id: The id of the request.
        left: For each request, the number of rows it leaves of the subjects whose rows it edits; None if the table has
            no subjects.
        link: The last link of the ledger when it was accepted.
        parts: If several requests share the change: the id and counts of each, in order. Each has a ledger entry, and
            the release has one more.
        stamp: The random stamp of the table after these edits (see `file_footer`).
        drawn: Whether the release that covers the edits was drawn, so that rows may already be overwritten (see the
            module `candidate`).
    """

    base: int
    edits: SlotEdits
    publish: bool
    request_id: str | None
    left: tuple[int | None, ...]
    link: str
    parts: tuple[tuple[str | None, EditCounts], ...] = ()
    stamp: str = field(default_factory=lambda: secrets.token_hex(16))
    drawn: bool = False

    @property
    def counts(self) -> EditCounts:
        """The number of edits, by kind."""
        return self.edits.counts

    @property
    def of_slots(self) -> InFlight:
        """See `training_table.Change`."""
        return self

    @property
    def requests(self) -> tuple[tuple[str | None, EditCounts, int | None], ...]:
        """Id and counts of every request, and the number of rows it leaves of the same subjects."""
        named = self.parts or ((self.request_id, self.edits.counts),)
        return tuple((*one, rows) for one, rows in zip(named, self.left, strict=True))

    def to_bytes(self) -> bytes:
        """Return the content of the journal."""
        held = np.array([name is not None for name in self.edits.ids], dtype=bool)
        given = self.edits.rows
        values = given.codes if isinstance(given, CodedRows) else np.asarray(given, dtype=ROW)
        rows = np.ascontiguousarray(values[held])  # the rows of erased slots are zero and not stored
        body = json.dumps(
            {
                "format": FORMAT,
                "base": self.base,
                "link": self.link,
                "stamp": self.stamp,
                "publish": self.publish,
                "request_id": self.request_id,
                "slots": self.edits.slots.tolist(),
                "width": values.shape[1],
                "rows": base64.b64encode(rows.tobytes()).decode(),
                "labels": self.edits.labels.tolist(),
                "ids": self.edits.ids,
                "subjects": self.edits.subjects,
                "next_id": self.edits.next_id,
                "counts": self.edits.counts.to_dict(),
                "parts": [[name, counts.to_dict()] for name, counts in self.parts],
                "left": self.left,
                "drawn": self.drawn,
            }
        ).encode()
        return add_checksum(body)

    @classmethod
    def from_bytes(cls, data: bytes, room: int | None = None, codec: Codec | None = None) -> InFlight:
        """Parse `to_bytes`; raise ValueError, TypeError or KeyError for anything else.

        Args:
            data: The bytes.
            room: The number of values in the table; a larger request is refused before its rows are allocated. None:
                `MOST_VALUES`.
            codec: How the store keeps rows as codes; None if it keeps their features.
        """
        fields = limited_io.parse_json(strip_checksum(data).decode())
        if fields["format"] != FORMAT:
            raise ValueError(f"format {fields['format']!r}")
        ids, width = tuple(fields["ids"]), int(fields["width"])
        if len(ids) * width > (MOST_VALUES if room is None else room):
            raise ValueError("more values than the table has")
        if codec is not None and width != codec.blocks:
            raise ValueError(f"{width} codes a row")
        kind = np.dtype(ROW) if codec is None else codec.dtype
        rows, held = np.zeros((len(ids), width), kind), np.array([name is not None for name in ids], dtype=bool)
        rows[held] = np.frombuffer(base64.b64decode(fields["rows"], validate=True), kind).reshape(-1, width)
        if codec is not None:
            codec.check(rows)
        edits = SlotEdits(
            slots=np.array(fields["slots"], dtype=np.int64),
            rows=rows.astype(np.float32, copy=False) if codec is None else CodedRows(rows, codec),
            labels=np.array(fields["labels"], dtype=np.float64),
            ids=ids,
            subjects=tuple(fields["subjects"]),
            next_id=int(fields["next_id"]),
            counts=EditCounts.from_dict(fields["counts"]),
        )
        lengths = {len(edits.slots), len(edits.labels), len(ids), len(edits.subjects)}
        if (
            len(lengths | {edits.counts.total}) != 1
            or len(set(edits.slots.tolist())) != len(ids)
            or not (edits.slots >= 0).all()
        ):
            raise ValueError("its parts do not fit together")
        if not (np.isfinite(rows).all() and np.isfinite(edits.labels).all()):
            raise ValueError("not finite")
        parts = tuple((name, EditCounts.from_dict(counts)) for name, counts in fields["parts"])
        if parts and sum((counts for _, counts in parts), NO_EDITS) != edits.counts:
            raise ValueError("its requests are not its edits")
        left = tuple(None if one is None else check_count("left", one, minimum=0) for one in fields["left"])
        if len(left) != max(1, len(parts)):
            raise ValueError("it leaves rows for other requests than its own")
        link, stamp = fields["link"], fields["stamp"]
        if (len(bytes.fromhex(link)), len(bytes.fromhex(stamp))) != (32, 16):
            raise ValueError("not what ties it to ledger and records")
        of_requests = fields["request_id"], left, link, parts
        return cls(int(fields["base"]), edits, bool(fields["publish"]), *of_requests, stamp, bool(fields["drawn"]))


def add_checksum(body: bytes) -> bytes:
    """Return a body preceded by its SHA-256; a flipped bit would otherwise edit the wrong slot."""
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def strip_checksum(data: bytes) -> bytes:
    """Return the body of what `add_checksum` made; raise ValueError for anything else."""
    body = data[SEAL:]
    if data != add_checksum(body):
        raise ValueError("damaged")
    return body


def longest_request(layout: Layout) -> int:
    """Return the maximum size in bytes of a request in the journal: every row and name of the table, as JSON."""
    held = sum(path.stat().st_size for path in layout.holding_rows())
    slots = layout.labels.stat().st_size // np.dtype(LABEL).itemsize if layout.labels.exists() else 0
    return 2 * held + min(slots * _LONGEST_NAMES, _MOST_NAMES) + _MOST_ELSE


_LONGEST_NAMES = 2 * 12 * 1000  # bytes of a slot's id and subject, each of a thousand characters written as JSON
_MOST_NAMES, _MOST_ELSE = 1 << 28, 1 << 20
_MARKED = 64  # more bytes, once it records that a release was drawn


def write_journal(disk: Disk, layout: Layout, change: InFlight) -> None:
    """Write the request to the journal; from then on it will be carried out.

    Raises:
        InvalidRequest: If it is longer than the limit for reading it back.
    """
    data, most = change.to_bytes(), longest_request(layout)
    if len(data) + _MARKED > most:
        raise InvalidRequest(f"takes {len(data)} bytes, and a request of this table may take {most}; send it in parts")
    disk.replace(layout.request, data)


def mark_drawn(disk: Disk, layout: Layout, change: InFlight) -> None:
    """Replace the journal atomically by `change`, marked as drawn, and overwrite the former file, which may hold rows.

    A crash in between is completed by repeating the exchange, see `transaction`.
    """
    temporary = layout.request.with_name(layout.request.name + TEMPORARY)
    disk.erase(temporary)
    disk.create(temporary, change.to_bytes())
    disk.exchange(layout.request)


def read_journal(layout: Layout, parse: Callable[[], Journalled]) -> Journalled | None:
    """Return what `parse` makes of the journal, or None without a journal.

    Raises:
        StoreCorrupt: If this program did not write it.
    """
    if not layout.request.exists() and not layout.request.is_symlink():
        return None
    try:
        return parse()
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, InvalidRecords) as error:
        raise StoreCorrupt(
            f"{layout.request}: not a request this program wrote; restore the store from a backup and send the request again"
        ) from error


def read_in_flight(layout: Layout, codec: Codec | None = None) -> InFlight | None:
    """Return the request that was accepted and not completed, if any; `codec` as in `InFlight.from_bytes`.

    Raises:
        StoreCorrupt: If `write_journal` did not write the journal.
    """

    def parse() -> InFlight:
        path, kind = (layout.features, np.dtype(ROW)) if codec is None else (layout.codes, codec.dtype)
        values = path.stat().st_size // kind.itemsize if path.exists() else None
        return InFlight.from_bytes(read_file(layout.request, longest_request(layout)), values, codec)

    return read_journal(layout, parse)


def require_base(base: int, link: str | None, ledger: Ledger) -> None:
    """Raise `StoreCorrupt` unless the ledger continues the one after which the request was accepted."""
    if base > ledger.length or (link is not None and ledger.link(base) != link):
        raise StoreCorrupt(
            f"{ledger.path}: not the ledger that the request in the journal was accepted after ({base} entries; it has {ledger.length}): one "
            "of the two was restored from a copy. Restore the whole store from one backup, and send every request made since again"
        )


def clear_journal(disk: Disk, layout: Layout) -> None:
    """Overwrite and remove the journal after the request was carried out."""
    disk.discard(layout.request)
