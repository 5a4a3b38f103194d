"""Published models on disk: safetensors (numbers only, no code), recognised by their digest in the ledger."""

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

from ..accountant import Event, EventKinds, Statuses
from ..curator.curator import Release
from ..curator.model import Continuation, Model
from ..errors import InvalidParameter, StoreCorrupt, StoreError, check_count
from ..methods.plan import Plan
from ..methods.problem import CarriedSums
from ..privacy.guarantee import Guarantee
from ..records import EditCounts, limited_io
from . import file_footer, journal
from .disk import Disk, open_own, read_file
from .entry import Entry
from .layout import Layout
from .ledger import Ledger

_PIECE = 1 << 20  # bytes of a model hashed at a time


def write_model(disk: Disk, layout: Layout, model: Model, release: int) -> str:
    """Make the model of a release durable; returns its digest. It is in force once the ledger names it."""
    data = pack_model(model, str(release))
    disk.replace(layout.model(release), data)
    return hashlib.sha256(data).hexdigest()


def pack_model(model: Model, release: str) -> bytes:
    """A model as a file: its weights, and the sums that they were made from, where it has some."""
    arrays = {"weights": np.array(model.weights)}
    if model.sums is not None:
        arrays["sums"] = np.array(model.sums)
    return save(arrays, {"release": release, "loss": json.dumps(model.loss.to_dict(), sort_keys=True)})


def unpack_model(data: bytes, plan: Plan) -> Model:
    """The same read back.

    Raises:
        ValueError: it is no such file.
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
    """The model of a release.

    Raises:
        StoreCorrupt: it is missing, or not the file that the ledger names.
    """
    try:
        return unpack_model(read_model(layout, release, digest), plan)
    except ValueError as error:
        raise StoreCorrupt(f"{layout.model(release)}: not a model file; restore the store from a backup") from error


def read_model(layout: Layout, release: int, digest: str) -> bytes:
    """Return the file of a release. It is compared with its digest piece by piece before it is held in memory.

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
# What the ledger keeps of the answer to a request, and how it is told again.


# gradient passes and seconds are missing: they may depend on the data, so they are told once and never kept
_PUBLIC = ("release", "kind", "status", "steps", "edits", "counts", "certified", "guarantees", "remaining")

OTHER_REQUEST = "this request id was answered before, for another request; nothing was changed. Give every request a random token of its own"


def plain_answer(fields: dict[str, Any]) -> dict[str, Any]:
    """The same in JSON's own types, as it will be read back."""
    read_back: dict[str, Any] = json.loads(json.dumps(fields, allow_nan=False))
    return read_back


def kept_answer(release: Release) -> dict[str, Any]:
    """The public facts of a release."""
    return {name: fact for name, fact in plain_answer(release.to_dict()).items() if name in _PUBLIC}


def repeat_answer(entry: Entry) -> Release:
    """The answer that `entry` kept, without its model and its request id: it cost nothing this time."""
    fields = dict(entry.answer or {})
    del fields["certified"]
    fields["counts"] = EditCounts.from_dict(fields["counts"])
    guarantees = {name: Guarantee.from_dict(parts) for name, parts in fields.pop("guarantees").items()}
    return Release(**fields, gradient_passes=0, guarantees=guarantees, model=None, answered_before=True)


def spent_answer(ledger: Ledger) -> dict[str, Guarantee]:
    """What all releases so far cost a record that is still there; nothing before the first."""
    return {"dp_cumulative": ledger.accountant.dp_cumulative()} if ledger.releases else {}


def pending_answer(
    ledger: Ledger, counts: EditCounts, request_id: str | None, so_far: dict[str, Guarantee] | None = None
) -> Release:
    """The answer to a request whose rows are edited and whose release comes later. `so_far`: `spent(ledger)`, if it is known."""
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
# A release that was drawn from the table before its edits, while these are carried out: by a method whose noise is carried on.
#
#     journal → draw from the table as it is → this file durable → the journal says so → rows overwritten → ledger entry → this file erased
#
# Where the release comes later it is a patch that is drawn (`curator.drawing`), and before the ledger's entry it takes the place of the patch
# before it in a file of its own, until a release covers it.
#
# Until the journal says so the rows are as they were: what was drawn is destroyed, and drawn again. From then on it is the release, and is
# never drawn again from a table that was touched. Where it cannot be read the chain is cut: the next release begins another one.
# It holds what is about to be published and public facts; nothing of the exact sums.


_SUMS = "<i8"
_MOST_SAID = 1 << 20  # bytes beside the numbers


@dataclass(frozen=True)
class DrawnRelease:
    """stamp: of the edits that it covers (`InFlight.stamp`); event: what the ledger will say of it."""

    stamp: str
    event: Event
    model: Model

    def keep(self, disk: Disk, path: Path) -> None:
        """Make it durable."""
        told = json.dumps({"stamp": self.stamp, "event": plain_answer(self.event.to_dict())}).encode()
        disk.replace(path, journal.add_checksum(told + b"\n" + pack_model(self.model, "candidate")))


@dataclass(frozen=True)
class DrawnPatch:
    """stamp: of the table after the edits that it covers (over a source see `sources.chain`); after: what the next draw goes on from."""

    stamp: str
    after: Continuation

    def keep(self, disk: Disk, path: Path) -> None:
        """Make it durable. A patch before it is erased."""
        told = {"stamp": self.stamp, "draws": self.after.number, "patches": self.after.patches}
        assert self.after.sums is not None
        data = json.dumps(told).encode() + b"\n" + self.after.sums.astype(_SUMS).tobytes()
        disk.erase(path)
        disk.replace(path, journal.add_checksum(data))


def kept_candidate(path: Path, plan: Plan, stamp: str | None = None) -> DrawnRelease | DrawnPatch | None:
    """What was drawn for the edits of this stamp, or of any; None where it cannot be read."""
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
    """Return the bytes that what was drawn by this plan takes: sums and weights of 64 bits, and what is said of them."""
    from ..curator.carried_noise import moments_of

    begin = plan.learning.start
    numbers = math.prod(plan.shape) + (moments_of(begin, plan.shape).size if isinstance(begin, CarriedSums) else 0)
    return 2 * 8 * numbers + _MOST_SAID


def patch_now(layout: Layout, ledger: Ledger) -> Continuation | None:
    """The patch after the last release, which covers the table as it is; over a source, if the rows there are still those of the patch."""
    known = file_footer.tie_of(layout.ids) if ledger.source is None and layout.patch.exists() else None
    stamp = None if known is None else known.stamp.hex()
    found = kept_candidate(layout.patch, ledger.plan, stamp) if known is not None or ledger.source is not None else None
    if not isinstance(found, DrawnPatch) or found.after.number != ledger.account.since_fresh:
        return None
    return found.after if found.after.patches else None


def destroy_candidate(disk: Disk, layout: Layout) -> None:
    """Overwrite it and remove it, if it is there."""
    disk.erase(layout.candidate)
