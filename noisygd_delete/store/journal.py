"""The request in flight. Once it is in the journal it will be done, whatever happens to the process."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..errors import StoreCorrupt, count
from ..records import NO_EDITS, EditCounts, SlotEdits, bounded
from .disk import Disk, read
from .layout import FORMAT, READABLE, ROW, TEMPORARY, Layout

if TYPE_CHECKING:
    from .ledger import Ledger

Journalled = TypeVar("Journalled")

_SEAL = 65  # characters of the SHA-256 in front of the request, with its line end


@dataclass(frozen=True)
class InFlight:
    """A validated request, resolved to slots, so that doing it again does the same.

    base     ledger entries when it was accepted; a longer ledger says that it has happened
    publish  whether a release follows at once
    parts    where it is several requests in one: each one's id and counts, in order. Each has an entry of the ledger, and
             the release one more
    left     rows that each request leaves of the persons whose rows it edits; None where the table does not say
    link     the ledger's last, when it was accepted; None: of an earlier version, which did not note it
    stamp    random: of the table after these edits (see `tie`)
    drawn    whether the release that covers them was drawn, and the rows may be overwritten by now (see `candidate`)
    """

    base: int
    edits: SlotEdits
    publish: bool
    request_id: str | None
    parts: tuple[tuple[str | None, EditCounts], ...] = ()
    left: tuple[int | None, ...] = ()
    link: str | None = None
    stamp: str = field(default_factory=lambda: secrets.token_hex(16))
    drawn: bool = False

    @property
    def counts(self) -> EditCounts:
        return self.edits.counts

    @property
    def requests(self) -> tuple[tuple[str | None, EditCounts, int | None], ...]:
        """Id and counts of every request in it, and how many rows it leaves of the same persons."""
        named = self.parts or ((self.request_id, self.edits.counts),)
        left = self.left or (None,) * len(named)  # of an earlier version
        return tuple((*one, rows) for one, rows in zip(named, left, strict=True))

    def to_bytes(self) -> bytes:
        held = np.array([name is not None for name in self.edits.ids], dtype=bool)
        rows = np.ascontiguousarray(self.edits.rows[held], dtype=ROW)  # an erased slot's row is zero: not written out
        body = json.dumps(
            {
                "format": FORMAT,
                "base": self.base,
                "link": self.link,
                "stamp": self.stamp,
                "publish": self.publish,
                "request_id": self.request_id,
                "slots": self.edits.slots.tolist(),
                "width": self.edits.rows.shape[1],
                "rows": base64.b64encode(rows.tobytes()).decode(),
                "labels": self.edits.labels.tolist(),
                "ids": self.edits.ids,
                "subjects": self.edits.subjects,
                "next_id": self.edits.next_id,
                "counts": self.edits.counts.to_dict(),
                "parts": [[name, counts.to_dict()] for name, counts in self.parts],
                "left": self.left,
                **({"drawn": True} if self.drawn else {}),
            }
        ).encode()
        return sealed(body)

    @classmethod
    def from_bytes(cls, data: bytes, room: int | None = None) -> InFlight:
        """Read back `to_bytes`; raises ValueError, TypeError or KeyError for anything else.

        Args:
            room: values that the table has; a request for more is refused before its rows are made. None: not looked at.
        """
        fields = bounded.parsed(unsealed(data).decode())
        if fields["format"] not in READABLE:
            raise ValueError(f"format {fields['format']!r}")
        ids, width = tuple(fields["ids"]), int(fields["width"])
        if room is not None and len(ids) * width > room:
            raise ValueError("more values than the table has")
        rows = np.zeros((len(ids), width), dtype=np.float32)
        held = np.array([name is not None for name in ids], dtype=bool)
        rows[held] = np.frombuffer(base64.b64decode(fields["rows"], validate=True), dtype=ROW).reshape(-1, width)
        edits = SlotEdits(
            slots=np.array(fields["slots"], dtype=np.int64),
            rows=rows,
            labels=np.array(fields["labels"], dtype=np.float64),
            ids=ids,
            subjects=tuple(fields["subjects"]),
            next_id=int(fields["next_id"]),
            counts=EditCounts.from_dict(fields["counts"]) if fields["format"] > 1 else EditCounts(unrecorded=len(ids)),
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
        parts = tuple((name, EditCounts.from_dict(counts)) for name, counts in fields.get("parts", ()))
        if parts and sum((counts for _, counts in parts), NO_EDITS) != edits.counts:
            raise ValueError("its requests are not its edits")
        left = tuple(None if one is None else count("left", one, minimum=0) for one in fields.get("left", ()))
        tied = {name: fields[name] for name in ("link", "stamp") if fields.get(name) is not None}
        if any(len(bytes.fromhex(one)) not in (16, 32) for one in tied.values()):
            raise ValueError("not what ties it to ledger and records")
        drawn = bool(fields.get("drawn", False))
        return cls(
            int(fields["base"]), edits, bool(fields["publish"]), fields["request_id"], parts, left, drawn=drawn, **tied
        )


def sealed(body: bytes) -> bytes:
    """A body with its SHA-256 in front: a flipped bit would edit somebody else's slot."""
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unsealed(data: bytes) -> bytes:
    """The body of what `sealed` made; raises ValueError for anything else."""
    body = data[_SEAL:]
    if data != sealed(body):
        raise ValueError("damaged")
    return body


def accept(disk: Disk, layout: Layout, change: InFlight) -> None:
    """Put the request into the journal: from here on it will be done."""
    disk.replace(layout.request, change.to_bytes())


def accept_drawn(disk: Disk, layout: Layout, change: InFlight) -> None:
    """Have the journal say that a release was drawn for the request. What it held, rows perhaps, is erased and not merely replaced."""
    temporary = layout.request.with_name(layout.request.name + TEMPORARY)
    disk.erase(temporary)
    disk.create(temporary, change.to_bytes())
    disk.exchange(layout.request)


def settle(disk: Disk, layout: Layout) -> None:
    """Finish what was cut short while the journal was told so."""
    if layout.former_request.exists():
        disk.exchange(layout.request)


def held(layout: Layout, parse: Callable[[], Journalled]) -> Journalled | None:
    """What `parse` makes of the journal; None where there is none.

    Raises:
        StoreCorrupt: it is not one that this program wrote.
    """
    if not layout.request.exists() and not layout.request.is_symlink():
        return None
    try:
        return parse()
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreCorrupt(
            f"{layout.request}: not a request this program wrote; restore the store from a backup and send the request again"
        ) from error


def in_flight(layout: Layout) -> InFlight | None:
    """The request that was accepted and not finished.

    Raises:
        StoreCorrupt: the journal is not one that `accept` wrote.
    """

    def parse() -> InFlight:
        values = layout.features.stat().st_size // np.dtype(ROW).itemsize if layout.features.exists() else None
        return InFlight.from_bytes(read(layout.request), values)

    return held(layout, parse)


def require_base(base: int, link: str | None, ledger: Ledger) -> None:
    """Raise `StoreCorrupt` unless the ledger continues from the one that a request was accepted after."""
    if base > ledger.length or (link is not None and ledger.link(base) != link):
        raise StoreCorrupt(
            f"{ledger.path}: not the ledger that the request in the journal was accepted after ({base} entries; it has {ledger.length}): one "
            "of the two was put back from a copy. Put the whole store back from one backup, and send every request made since again"
        )


def clear(disk: Disk, layout: Layout) -> None:
    """The request has happened: overwrite it and remove it."""
    disk.discard(layout.request)
