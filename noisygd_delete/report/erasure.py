"""From a store's ledger to the facts of a certificate. Reads public entries only; opens no table and no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..accountant import Event
from ..errors import InvalidParameter
from ..methods.plan import Plan
from ..store import presence
from ..store.layout import Layout
from ..store.ledger import Entry, Ledger
from .erasure_certificate import Erasure


def ledger_of(store: str | Path) -> Ledger:
    """The ledger of the store in this folder; needs no lock.

    Raises:
        StoreError, StoreCorrupt: there is no store, or its hash chain is broken.
    """
    layout = Layout.at(store)
    presence.require_store(layout)
    return Ledger.read(layout.ledger)


def events_of(ledger: Ledger) -> list[Event]:
    """Every release so far."""
    return [Event.from_dict(entry.event) for entry in ledger.entries if entry.event is not None]


def release_times(ledger: Ledger) -> list[str]:
    """When each release was made."""
    return [entry.time for entry in ledger.entries if entry.event is not None]


def erasure_in(
    ledger: Ledger,
    *,
    request_id: str | None = None,
    release: int | None = None,
    received: str | None = None,
    controller: str | None = None,
    checked: str | None = None,
    audit: Sequence[Mapping[str, Any]] = (),
) -> tuple[Erasure, Plan, list[Event]]:
    """What `erasure_certificate` needs, for the request with this id, or for all edits that a release covered.

    The ledger counts edits and does not say of which sort: name a request that erased something.

    Raises:
        InvalidParameter: no such request or release, or nothing has been published yet.
    """
    first, rows = _named(ledger, request_id, release)
    events = events_of(ledger)
    if not events:
        raise InvalidParameter(
            "nothing has been published from this store: there is no model a record could be seen in"
        )
    published = next((i for i in range(first, len(ledger.entries)) if ledger.entries[i].event is not None), None)
    last = first if published is None else published
    erasure = Erasure(
        rows=rows,
        release=None if published is None else _releases(ledger.entries[: published + 1]),
        status="published" if published is not None else "withheld" if ledger.head.model is None else "pending",
        request_id=ledger.entries[first].request_id if release is None else None,
        received=received,
        served=ledger.entries[last].time,
        model_before=ledger.entries[first - 1].model,
        model_after=None if published is None else ledger.entries[published].model,
        checked=checked,
        audit=tuple(audit),
        controller=controller,
        ledger_entries=len(ledger.entries),
        ledger_sha256=ledger.digests[-1],
    )
    plans = [entry.plan for entry in ledger.entries[: last + 1] if entry.plan is not None]
    return erasure, Plan.from_dict(plans[-1]), events


def _releases(entries: Sequence[Entry]) -> int:
    return sum(entry.event is not None for entry in entries)


def _named(ledger: Ledger, request_id: str | None, release: int | None) -> tuple[int, int]:
    """(position of the entry, rows edited by it)."""
    if (request_id is None) == (release is None):
        raise InvalidParameter("name the erasure by its request id or by the release that covered it, one of the two")
    for position, entry in enumerate(ledger.entries):
        covered = None if entry.event is None else int(entry.event["edits"])
        if release is not None:
            if covered is not None and _releases(ledger.entries[: position + 1]) == release:
                return position, _some(covered, f"release {release}")
        elif entry.request_id == request_id:
            waiting = ledger.entries[position - 1].pending
            return position, _some((entry.pending if covered is None else covered) - waiting, f"request {request_id!r}")
    asked = f"release {release}" if request_id is None else f"request {request_id!r}"
    raise InvalidParameter(
        f"{asked} is not in the ledger; `status` counts the releases, and request ids are the caller's"
    )


def _some(rows: int, asked: str) -> int:
    if rows < 1:
        raise InvalidParameter(f"{asked} edited no record; there is nothing to certify")
    return rows
