"""The request in progress. Once it is in the journal it will be carried out, even if the process crashes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ..errors import InvalidParameter, InvalidRequest, StoreCorrupt, check_count
from ..records import NO_EDITS, EditCounts, EditRequest, Labels, Records, Rows, SlotEdits, limited_io
from .disk import Disk, explain_disk_errors, read_file
from .layout import FORMAT, LABEL, ROW, TEMPORARY, Layout

if TYPE_CHECKING:
    from ..methods.plan import Plan
    from .ledger import Ledger

Journalled = TypeVar("Journalled")

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
            section *candidate* of `models`).
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
        rows = np.ascontiguousarray(
            self.edits.rows[held], dtype=ROW
        )  # the rows of erased slots are zero and not stored
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
                "drawn": self.drawn,
            }
        ).encode()
        return add_checksum(body)

    @classmethod
    def from_bytes(cls, data: bytes, room: int | None = None) -> InFlight:
        """Parse `to_bytes`; raise ValueError, TypeError or KeyError for anything else.

        Args:
            data: The bytes.
            room: The number of values in the table; a larger request is refused before its rows are allocated. None:
                not checked.
        """
        fields = limited_io.parse_json(strip_checksum(data).decode())
        if fields["format"] != FORMAT:
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


def accept_drawn(disk: Disk, layout: Layout, change: InFlight) -> None:
    """Record in the journal that a release was drawn.

    The former content, which may include rows, is erased, not merely replaced.
    """
    temporary = layout.request.with_name(layout.request.name + TEMPORARY)
    disk.erase(temporary)
    disk.create(temporary, change.to_bytes())
    disk.exchange(layout.request)


def finish_interrupted(disk: Disk, layout: Layout) -> None:
    """Complete an interrupted `accept_drawn`."""
    if layout.former_request.exists():
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
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreCorrupt(
            f"{layout.request}: not a request this program wrote; restore the store from a backup and send the request again"
        ) from error


def read_in_flight(layout: Layout) -> InFlight | None:
    """Return the request that was accepted and not completed, if any.

    Raises:
        StoreCorrupt: If `write_journal` did not write the journal.
    """

    def parse() -> InFlight:
        values = layout.features.stat().st_size // np.dtype(ROW).itemsize if layout.features.exists() else None
        return InFlight.from_bytes(read_file(layout.request, longest_request(layout)), values)

    return read_journal(layout, parse)


def require_base(base: int, link: str | None, ledger: Ledger) -> None:
    """Raise `StoreCorrupt` unless the ledger continues the one after which the request was accepted."""
    if base > ledger.length or (link is not None and ledger.link(base) != link):
        raise StoreCorrupt(
            f"{ledger.path}: not the ledger that the request in the journal was accepted after ({base} entries; it has {ledger.length}): one "
            "of the two was put back from a copy. Put the whole store back from one backup, and send every request made since again"
        )


def clear_journal(disk: Disk, layout: Layout) -> None:
    """Overwrite and remove the journal after the request was carried out."""
    disk.discard(layout.request)


# --- restricted records ---
#
# Records whose processing is restricted (Article 18 GDPR), encrypted in a file outside the store.
#
# The table deletes them, so no release uses them; only the file can restore them. It is decrypted with its key and
# under its request id only (AES-256-GCM): destroying the key erases the content. The request id precedes the ciphertext
# in clear, so that an interrupted command continues under the id that it had generated.


BEGINS = b"noisygd-delete records kept aside "
_FORMAT = BEGINS + b"1\n"
_NONCE, _KEY = 12, 32  # bytes
_LONGEST = 1 << 28  # bytes of a file
_LONGEST_HEAD = 1 << 14


@dataclass(frozen=True)
class RestrictedRecords:
    """The records of one request.

    Attributes:
        ids: The ids.
        subjects: The subjects; None if the table has none.
        rows: Shape (r, features).
        labels: Shape (r,).
    """

    ids: tuple[str, ...]
    subjects: tuple[str, ...] | None
    rows: Rows
    labels: Labels

    @classmethod
    def of(cls, records: Records, request: EditRequest) -> RestrictedRecords:
        """Return the records that a deletion names, from the current table."""
        found = set(records.names.find(list(request.deletions)).tolist())
        if request.subjects and records.owners is not None:
            found |= set(records.owners.find(list(request.subjects)).tolist())
        slots = sorted(found)
        owners = records.owners
        subjects = None if owners is None else tuple(str(owners[slot]) for slot in slots)
        names = tuple(str(records.names[slot]) for slot in slots)
        return cls(names, subjects, np.array(records.features[slots]), np.array(records.labels[slots]))

    def write(self, path: Path, key: Path, token: str) -> None:
        """Encrypt the records into a new file.

        A file left by an interrupted call for the same request is kept if its content is equal.

        Raises:
            InvalidParameter: If the file holds something else, the records are too large, or the key is not valid.
        """
        secret = read_key(key)
        if path.exists():
            if not RestrictedRecords.read(path, key, token).same(self):
                raise InvalidParameter(f"{path} holds other records; give the name of a new file")
            return
        head, nonce = _FORMAT + json.dumps(token).encode() + b"\n", os.urandom(_NONCE)
        sealed = AESGCM(secret).encrypt(nonce, self._body(), head)
        if len(head) + _NONCE + len(sealed) > _LONGEST:
            raise InvalidParameter(
                f"these records take more than the {_LONGEST >> 20} MiB that a file of records kept aside may have, and could not be read "
                "back; restrict fewer at a time. Nothing was changed"
            )
        with explain_disk_errors(path, "nothing was changed in the store"):
            Disk().place(path, head + nonce + sealed)

    @classmethod
    def read(cls, path: Path, key: Path, token: str) -> RestrictedRecords:
        """Decrypt the records in a file with its key and under its request id.

        Raises:
            InvalidParameter: If it is not such a file, or belongs to another key or another request.
        """
        secret, data = read_key(key), limited_io.read_file(path, _LONGEST)
        bound_to = _FORMAT + json.dumps(token).encode() + b"\n"
        body = data[len(bound_to) :] if data.startswith(bound_to) else b""
        if not data.startswith(_FORMAT):
            raise InvalidParameter(f"{path}: not a file of records kept aside")
        try:
            fields = json.loads(AESGCM(secret).decrypt(body[:_NONCE], body[_NONCE:], bound_to))
        except (InvalidTag, ValueError) as error:
            raise InvalidParameter(
                f"{path}: damaged, or of another request, or not of this key; nothing was changed"
            ) from error
        labels = np.frombuffer(base64.b64decode(fields["labels"]), LABEL).astype(np.float64)
        rows = np.frombuffer(base64.b64decode(fields["rows"]), ROW).astype(np.float32).reshape(len(labels), -1)
        subjects = None if fields["subjects"] is None else tuple(fields["subjects"])
        return cls(tuple(fields["ids"]), subjects, rows, labels)

    @staticmethod
    def token_of(path: Path) -> str | None:
        """Return the request id of a file; None if there is no such file or it names no request id."""
        if not path.is_file():
            return None
        with limited_io.open_plain(path) as file:
            data = file.read(_LONGEST_HEAD)
        if not data.startswith(_FORMAT):
            return None
        try:
            token = json.loads(data[len(_FORMAT) :].partition(b"\n")[0])
        except ValueError:
            return None
        return token if isinstance(token, str) else None

    def same(self, other: RestrictedRecords) -> bool:
        """Return whether both hold the same records, bit for bit."""
        return self._body() == other._body()

    def warning(self, records: Records, plan: Plan, *, back: bool) -> str:
        """Return a warning for the operator if releases carry noise over from one another, else "".

        Rows that are removed and restored are then counted twice, and the guarantees do not hold for a person who has
        more rows than the plan covers.

        Args:
            records: The table, before the rows are removed, or before they are restored.
            plan: The plan of the store.
            back: Whether the rows are being restored.
        """
        owners, planned, times = records.owners, plan.problem.rows_per_subject, 1 + back
        persons = Counter(self.ids if self.subjects is None else self.subjects)
        held = {name: 1 - back if owners is None else len(owners.find([name])) for name in persons}
        rows = max(times * number + held[name] for name, number in persons.items())
        if not plan.mechanism.carries or rows <= planned:
            return ""
        return (
            f"put back, rows count beside those that left, {rows} of a person; figures of this store are of {planned} and will not hold for this "
            f"person. A plan that covers it, before the rows are taken out: --rows-per-subject {rows}, and `relearn`"
        )

    def back(self, token: str) -> EditRequest:
        """Return the request that restores the records to the table, under this request id."""
        return EditRequest.insert(self.ids, self.rows, self.labels, subjects=self.subjects, request_id=token)

    def _body(self) -> bytes:
        rows, labels = np.ascontiguousarray(self.rows, ROW), np.ascontiguousarray(self.labels, LABEL)
        fields = {"ids": self.ids, "subjects": self.subjects}
        coded = {
            "rows": base64.b64encode(rows.tobytes()).decode(),
            "labels": base64.b64encode(labels.tobytes()).decode(),
        }
        return json.dumps({**fields, **coded}).encode()


def read_key(path: Path) -> bytes:
    """Return the key in a file; create a missing file with a new key."""
    if not path.exists() and not path.is_symlink():
        with explain_disk_errors(path, "nothing was changed"):
            Disk().place(path, os.urandom(_KEY).hex().encode() + b"\n")
    return limited_io.read_key(path, _KEY, "a key of records kept aside")
