"""What the ledger keeps of the answer to a request, and how it is told again."""

from __future__ import annotations

import json
from typing import Any

from ..accountant import EventKinds, Statuses
from ..curator.curator import Release
from ..privacy.guarantee import Guarantee
from ..records import EditCounts
from .entry import Entry
from .ledger import Ledger

# gradient passes and seconds are missing: they may depend on the data, so they are told once and never kept
_PUBLIC = ("release", "kind", "status", "steps", "edits", "counts", "certified", "guarantees", "remaining")

OTHER_REQUEST = "this request id was answered before, for another request; nothing was changed. Give every request a random token of its own"


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The same in JSON's own types, as it will be read back."""
    read_back: dict[str, Any] = json.loads(json.dumps(fields, allow_nan=False))
    return read_back


def kept(release: Release) -> dict[str, Any]:
    """The public facts of a release."""
    return {name: fact for name, fact in plain(release.to_dict()).items() if name in _PUBLIC}


def told(entry: Entry) -> Release:
    """The answer that `entry` kept, without its model and its request id: it cost nothing this time."""
    fields = dict(entry.answer or {})
    del fields["certified"]
    fields.pop("request_id", None)  # of an earlier version
    if "counts" in fields:
        fields["counts"] = EditCounts.from_dict(fields["counts"])
    guarantees = {name: Guarantee.from_dict(parts) for name, parts in fields.pop("guarantees").items()}
    return Release(**fields, gradient_passes=0, guarantees=guarantees, model=None, answered_before=True)


def spent(ledger: Ledger) -> dict[str, Guarantee]:
    """What all releases so far cost a record that is still there; nothing before the first."""
    return {"dp_cumulative": ledger.accountant.dp_cumulative()} if ledger.releases else {}


def pending(
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
        guarantees=spent(ledger) if so_far is None else so_far,
        model=None,
        status=Statuses.PENDING,
        request_id=request_id,
    )
