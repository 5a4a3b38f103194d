"""Published models on disk, as safetensors files (numbers only, no code), identified by their digest in the ledger."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ..accountant import Accountant, Event, EventKinds, Statuses
from ..curator.model import Continuation, Model, Training
from ..curator.release import Release, record_release
from ..errors import InvalidParameter, StoreCorrupt, StoreError, check_count
from ..methods.plan import Plan
from ..methods.procedure import CarriedSums
from ..privacy.guarantee import Guarantee
from ..records import EditCounts, limited_io
from . import file_footer, journal
from .disk import Disk, open_own, read_file
from .entry import Entry
from .layout import Layout
from .ledger import Ledger

_PIECE = 1 << 18  # bytes of a model hashed at a time


def write_model(disk: Disk, layout: Layout, model: Model, release: int) -> str:
    """Make the model of a release durable; return its digest. It is in service once the ledger names it."""
    data = pack_model(model, str(release))
    disk.replace(layout.model(release), data)
    return hashlib.sha256(data).hexdigest()


def pack_model(model: Model, release: str) -> bytes:
    """Return a model as a file: its weights, and the sums that they were computed from, if any."""
    arrays = {"weights": np.array(model.weights)}
    if model.sums is not None:
        arrays["sums"] = np.array(model.sums)
    return save(arrays, {"release": release, "loss": json.dumps(model.loss.to_dict(), sort_keys=True)})


def unpack_model(data: bytes, plan: Plan) -> Model:
    """Parse the result of `pack_model`.

    Raises:
        ValueError: If it is not such a file.
    """
    try:
        arrays = load(data)
        weights, sums = arrays["weights"], arrays.get("sums")
    except (SafetensorError, KeyError) as error:
        raise ValueError("not a model file") from error
    for array in (weights, *([] if sums is None else [sums])):
        array.flags.writeable = False
    return Model(weights=weights, loss=plan.model_loss, certified=True, sums=sums)


def load_model(layout: Layout, plan: Plan, release: int, digest: str) -> Model:
    """Return the model of a release.

    Raises:
        StoreCorrupt: If it is missing, or not the file that the ledger names.
    """
    try:
        return unpack_model(read_model(layout, release, digest), plan)
    except ValueError as error:
        raise StoreCorrupt(f"{layout.model(release)}: not a model file; restore the store from a backup") from error


def read_model(layout: Layout, release: int, digest: str) -> bytes:
    """Return the file of a release. Its digest is checked block by block before the file is held in memory.

    Raises:
        StoreCorrupt: If it is missing, or not the file that the ledger names.
    """
    path, found, size = layout.model(release), hashlib.sha256(), 0
    with open_own(path) as file:
        for piece in iter(lambda: file.read(_PIECE), b""):
            found.update(piece)
            size += len(piece)
    if found.hexdigest() != digest:
        raise StoreCorrupt(
            f"{path}: not the model that was published as release {release}: it was changed by hand or damaged. Restore it "
            "from a copy of that release; the records and the ledger are untouched"
        )
    return read_file(path, size)


# --- answers ---
#
# What the ledger keeps of the answer to a request, and how the answer is repeated.


# gradient passes and seconds are missing: they may depend on the data, so they are reported once and never stored
_PUBLIC = ("release", "kind", "status", "steps", "edits", "counts", "certified", "guarantees", "remaining")

OTHER_REQUEST = "this request id was answered before, for another request; nothing was changed. Give every request a random token of its own"


def plain_answer(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields in JSON's own types, as they will be read back."""
    read_back: dict[str, Any] = json.loads(json.dumps(fields, allow_nan=False))
    return read_back


def kept_answer(release: Release) -> dict[str, Any]:
    """Return the public facts of a release."""
    return {name: fact for name, fact in plain_answer(release.to_dict()).items() if name in _PUBLIC}


def repeat_answer(entry: Entry) -> Release:
    """Return the answer stored in `entry`, without its model and its request id. Repeating it costs nothing."""
    fields = dict(entry.answer or {})
    del fields["certified"]
    fields["counts"] = EditCounts.from_dict(fields["counts"])
    guarantees = {name: Guarantee.from_dict(parts) for name, parts in fields.pop("guarantees").items()}
    return Release(**fields, gradient_passes=0, guarantees=guarantees, model=None, answered_before=True)


def spent_answer(ledger: Ledger) -> dict[str, Guarantee]:
    """Return what all releases so far cost a record that is still in the table; empty before the first."""
    return {"dp_cumulative": ledger.accountant.dp_cumulative()} if ledger.releases else {}


def pending_answer(
    ledger: Ledger, counts: EditCounts, request_id: str | None, so_far: dict[str, Guarantee] | None = None
) -> Release:
    """Return the answer to a request whose rows are edited and whose release follows later.

    `so_far`: the result of `spent_answer(ledger)`, if it is known.
    """
    return Release(
        release=ledger.releases,
        kind=EventKinds.UNLEARN,
        steps=0,
        gradient_passes=0,
        edits=counts.total,
        counts=counts,
        guarantees=spent_answer(ledger) if so_far is None else so_far,
        model=None,
        status=Statuses.PENDING,
        request_id=request_id,
    )


# --- candidate ---
#
# A release drawn from the table before its edits are carried out, by a method that carries noise over between releases.
#
#     journal → draw from the current table → this file durable → journal records the draw → rows overwritten
#         → ledger entry → file erased
#
# If the release comes later, a patch is drawn instead (`curator.carried_noise`). Before the ledger entry it replaces
# the previous patch in a separate file, until a release covers it.
#
# Until the journal records the draw, the rows are unchanged: the draw is destroyed and repeated. From then on it is the
# release, and is never repeated from an edited table. If it cannot be read, the chain is cut: the next release begins a
# new one. The file holds what is about to be published and public facts, and nothing of the exact sums.


_SUMS = "<i8"
_MOST_SAID = 1 << 20  # bytes in addition to the numbers


@dataclass(frozen=True)
class DrawnRelease:
    """A release drawn before its edits.

    Attributes:
        stamp: The stamp of the edits that it covers (`InFlight.stamp`).
        event: The event that the ledger will record.
        model: The model.
    """

    stamp: str
    event: Event
    model: Model

    def keep(self, disk: Disk, path: Path) -> None:
        """Write it durably."""
        told = json.dumps({"stamp": self.stamp, "event": plain_answer(self.event.to_dict())}).encode()
        disk.replace(path, journal.add_checksum(told + b"\n" + pack_model(self.model, "candidate")))

    def release(self, accountant: Accountant) -> Release:
        """Return the release, accounted for after those of `accountant`."""
        return record_release(accountant.what_if(), self.event, Training(self.model, 1, 0.0))


@dataclass(frozen=True)
class DrawnPatch:
    """A patch drawn before its edits.

    Attributes:
        stamp: The stamp of the table after the edits that it covers (over a source: the release and the state of its rows).
        after: What the next draw continues from.
    """

    stamp: str
    after: Continuation

    def keep(self, disk: Disk, path: Path) -> None:
        """Write it durably, after erasing the previous patch."""
        told = {"stamp": self.stamp, "draws": self.after.number, "patches": self.after.patches}
        assert self.after.sums is not None
        data = json.dumps(told).encode() + b"\n" + self.after.sums.astype(_SUMS).tobytes()
        disk.erase(path)
        disk.replace(path, journal.add_checksum(data))


def kept_candidate(path: Path, plan: Plan, stamp: str | None = None) -> DrawnRelease | DrawnPatch | None:
    """Return what was drawn for the edits of this stamp, or of any if None; None if it cannot be read."""
    try:
        told, _, data = journal.strip_checksum(read_file(path, _longest_candidate(plan))).partition(b"\n")
        fields = limited_io.parse_json(told.decode())
        own = str(fields["stamp"])
        if stamp not in (own, None):
            return None
        if "event" in fields:
            return DrawnRelease(own, Event.from_dict(fields["event"]), unpack_model(data, plan))
        from ..curator.carried_noise import moments_of

        begin = plan.learning.start
        assert isinstance(begin, CarriedSums)
        sums = np.frombuffer(data, _SUMS).astype(np.int64)
        if len(sums) != moments_of(begin, plan.shape).size:
            return None
        number, patches = check_count("draws", fields["draws"]), check_count("patches", fields["patches"], minimum=0)
        return DrawnPatch(own, Continuation(number, sums, patches=patches))
    except (OSError, StoreError, InvalidParameter, ValueError, KeyError, TypeError, AssertionError):
        return None


def _longest_candidate(plan: Plan) -> int:
    """Return the maximum size in bytes of a draw by this plan: sums and weights of 64 bits, and the header."""
    from ..curator.carried_noise import moments_of

    begin = plan.learning.start
    numbers = math.prod(plan.shape) + (moments_of(begin, plan.shape).size if isinstance(begin, CarriedSums) else 0)
    return 2 * 8 * numbers + _MOST_SAID


def patch_now(layout: Layout, ledger: Ledger) -> Continuation | None:
    """Return the patch after the last release that covers the current table, if any.

    Over a source, the patch is valid only if the rows are still those it was drawn for; this is not checked here.
    """
    known = file_footer.tie_of(layout.ids) if ledger.source is None and layout.patch.exists() else None
    stamp = None if known is None else known.stamp.hex()
    found = kept_candidate(layout.patch, ledger.plan, stamp) if known is not None or ledger.source is not None else None
    if not isinstance(found, DrawnPatch) or found.after.number != ledger.account.since_fresh:
        return None
    return found.after if found.after.patches else None


def destroy_candidate(disk: Disk, layout: Layout) -> None:
    """Overwrite and remove the candidate, if there is one."""
    disk.erase(layout.candidate)
