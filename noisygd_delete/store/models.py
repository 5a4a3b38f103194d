"""Published models on disk, as safetensors files (numbers only, no code), identified by their digest in the ledger."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ..accountant import EventKinds, Statuses
from ..curator.model import Model
from ..curator.release import Release
from ..errors import StoreCorrupt
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee
from ..records import EditCounts
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
