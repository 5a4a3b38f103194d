"""Read the facts of certificates and reports from a store's ledger.

Reads public entries only; opens no table and no model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any

from ..accountant import Event, Statuses
from ..errors import InvalidParameter, escape_unprintable
from ..methods.plan import Plan
from ..methods.serialization import plan_from_dict
from ..records import EditCounts
from ..store import disk, rollback_guard
from ..store.destinations import Destination, list_destinations
from ..store.entry import EntryKinds, Occasions
from ..store.layout import Layout
from ..store.ledger import Ledger
from ..store.request_log import RequestLog, Restriction
from .facts import Erasure
from .notices import LONGEST, NOTHING_STATED, Notices


def ledger_of(store: str | Path) -> Ledger:
    """Return the ledger of the store in this folder; no lock is needed.

    Raises:
        StoreError: If there is no store.
        StoreCorrupt: If its hash chain is broken.
    """
    layout = Layout.at(store)
    disk.require_store(layout)
    return Ledger.read(layout.ledger)


def release_times(ledger: Ledger) -> list[str]:
    """Return the time of each release."""
    return [entry.time for entry in ledger.outline if entry.event is not None]


@dataclass(frozen=True)
class Unpublished:
    """Edits of the rows without a release of their own, and the release that covered them later.

    Attributes:
        kind: "edit" (left for a later release) or "withheld" (the budget allowed none, and the model was withdrawn).
        time: Time of the edits.
        counts: The edits, by kind.
        covered: Number of the release that has covered them since; None if there is none.
        counted: How the source counted them, if it did.
    """

    kind: EntryKinds
    time: str
    counts: EditCounts
    covered: int | None
    counted: str | None = None


@dataclass(frozen=True)
class LedgerStatus:
    """The state of a store beyond its releases.

    Attributes:
        pending: Edits that no release covers yet.
        unpublished: Edits that had to wait for a release.
        withdrawn: Since when no model is published, if one was published before.
        by_hand: Whether the operator withdrew it; otherwise the budget allowed no other.
        besides: External locations that models are published to, as last known.
        register_restored: Whether the register was restored from an earlier copy and lacks requests noted since.
    """

    pending: EditCounts
    unpublished: tuple[Unpublished, ...]
    withdrawn: str | None
    by_hand: bool = False
    besides: tuple[Destination, ...] = ()
    register_restored: bool = False


def ledger_status(ledger: Ledger) -> LedgerStatus:
    """Return what releases do not show: pending edits, refused publications, and the time of a withdrawal."""
    found, release, entries = [], ledger.releases, ledger.outline
    following: int | None = None
    for position in range(len(entries) - 1, 0, -1):
        entry = entries[position]
        if entry.event is not None:
            following, release = release, release - 1
        elif entry.kind in (EntryKinds.EDIT, EntryKinds.WITHHELD):
            found.append(Unpublished(entry.kind, entry.time, ledger.edits_at(position), following, entry.counted))
    gone = [entry for before, entry in pairwise(entries) if before.in_force and not entry.in_force]
    withdrawn = gone[-1].time if gone and not ledger.head.in_force else None
    layout = Layout(ledger.path.parent)
    return LedgerStatus(
        ledger.head.pending_counts,
        tuple(reversed(found)),
        withdrawn,
        ledger.head.withdrawn,
        list_destinations(layout),
        rollback_guard.is_register_restored(layout),
    )


def erasure_in(
    ledger: Ledger,
    *,
    request_id: str | None = None,
    release: int | None = None,
    received: str | None = None,
    controller: str | None = None,
    checked: str | None = None,
    notices: Notices = NOTHING_STATED,
) -> tuple[Erasure, Plan, list[Event]]:
    """Return the arguments of `erasure_certificate` for one request, or for all edits that a release covered.

    Restrictions, and whether they were lifted, are taken from the request log.

    Args:
        ledger: The ledger of the store.
        request_id: The request; give this or `release`.
        release: Number of the release; give this or `request_id`.
        received: Time of receipt, with time zone.
        controller: The organisation responsible for the data.
        checked: What was checked on the store afterwards, with the result.
        notices: Further statements of the operator.

    Returns:
        The facts, the plan of the release, and every release so far.

    Raises:
        InvalidParameter: If there is no such request or release, it erased nothing, its kind was not recorded, nothing
            has been published yet, or the release covered rows that were, or may have been, restricted only: these have
            their own certificates.
    """
    first, counts = _find_entry(ledger, request_id, release)
    if release is not None and ledger.source is not None:
        raise InvalidParameter(
            "rows lie in a source of their own, where each request has its own deletion: certify by request id"
        )
    events = list(ledger.events)
    if not events:
        raise InvalidParameter(
            "nothing has been published from this store: there is no model a record could be seen in"
        )
    log = RequestLog(Layout(ledger.path.parent))
    if release is not None:
        _require_erased(ledger, log, first, release)
    else:
        restricted, lifted = log.restriction(str(request_id))
        notices = replace(notices, restricted=restricted, lifted=lifted)
    published = ledger.find_covering_release(first)
    last = first if published is None else published
    edited: str | None = ledger.entry(first).time
    served = None if published is None else ledger.entry(published).time
    if release is not None or (served is not None and served < str(edited)):
        edited = None  # several requests, or a clock set back in between: there is no single correct time
    erasure = Erasure(
        rows=counts.deleted + counts.replaced,
        replaced=counts.replaced,
        inserted=counts.inserted,
        release=None
        if published is None
        else sum(entry.event is not None for entry in ledger.outline[: published + 1]),
        status=_status(ledger, published),
        request_id=request_id,
        received=received,
        edited=edited,
        served=served,
        model_before=ledger.entry(first - 1).model,
        model_after=None if published is None else ledger.entry(published).model,
        checked=checked,
        controller=controller,
        ledger_entries=ledger.length,
        ledger_sha256=ledger.digest,
        notices=notices,
        deleted_at=None if release is not None else ledger.entry(first).position,
        read_at=None if published is None or release is not None else ledger.entry(published).position,
        counted=None if published is None or release is not None else ledger.entry(published).counted,
        publishers=destination_facts(ledger),
        remaining=None if release is not None else _remaining_rows(ledger, first),
        from_data=from_data_of(ledger),
        by_calendar=is_on_calendar(ledger),
    )
    return erasure, plan_from_dict(ledger.plan_at(last)), events


def _require_erased(ledger: Ledger, log: RequestLog, place: int, release: int) -> None:
    """Check that the release at position `place` of the ledger covers no rows that were only restricted.

    Raises:
        InvalidParameter: If it does, or may: the register was made to forget one of its requests.
    """
    known = {committed: (token, log.restriction_in(note)) for token, (committed, note) in log.notes().items()}
    before = takewhile(lambda entry: entry.event is None, reversed(ledger.outline[:place]))
    for entry in (ledger.outline[place], *before):
        if entry.commitment is not None and entry.commitment not in known:
            raise InvalidParameter(
                "covered a request that the register has forgotten, so it may only have restricted rows; certify the "
                "others by their ids",
                release=release,
            )
        token, found = known.get(entry.commitment or "", ("", Restriction()))
        if found.restricted is not None:
            raise InvalidParameter(
                f"covered rows that request {token!r} restricted; certify each request by its own id", release=release
            )


def from_data_of(ledger: Ledger) -> tuple[str, ...]:
    """Return the columns whose range or values were read off the data, per the schema, in printable characters."""
    schema = ledger.schema
    label = schema.get("label", {})
    columns = {**schema.get("columns", {}), str(label.get("column")): label}
    named = [name if name.strip() else repr(name) for name, column in columns.items() if column.get("from_data")]
    return tuple(dict.fromkeys(escape_unprintable(name)[:LONGEST] for name in named))


def is_on_calendar(ledger: Ledger) -> bool:
    """Return whether every publication after the first followed a calendar, and no date was left unused.

    Whether a date is used depends on requests.
    """
    made = [entry for entry in ledger.outline if entry.event is not None and entry.kind is not EntryKinds.STATISTIC]
    return len(made) > 1 and all(entry.occasion == Occasions.CALENDAR and not entry.unused_dates for entry in made[1:])


def _remaining_rows(ledger: Ledger, position: int) -> int | None:
    """Return the rows that a request left of the persons concerned, in the table it found; None if not known."""
    answer = ledger.entry(position).answer or {}
    left = answer.get("remaining")
    return left if isinstance(left, int) else None


def destination_facts(ledger: Ledger) -> tuple[dict[str, Any], ...]:
    """Return what the destinations of a store were last known to hold, without their addresses."""
    found = list_destinations(Layout(ledger.path.parent))
    return tuple({"kind": each.kind, "release": each.release, "oldest": each.oldest} for each in found)


def _status(ledger: Ledger, published: int | None) -> Statuses:
    if published is not None:
        return Statuses.PUBLISHED
    return Statuses.WITHHELD if ledger.head.model is None else Statuses.PENDING


def _find_entry(ledger: Ledger, request_id: str | None, release: int | None) -> tuple[int, EditCounts]:
    """Return the position of the ledger entry and the edits it covers."""
    if (request_id is None) == (release is None):
        raise InvalidParameter("name the erasure by its request id or by the release that covered it, one of the two")
    subject = f"release {release}" if request_id is None else f"request {request_id!r}"
    position = ledger.position(request_id)
    if position is not None:
        return position, _known_erasure(ledger.edits_at(position), subject)
    if release is not None and 1 <= release <= ledger.releases:
        made = (place for place, entry in enumerate(ledger.outline) if entry.event is not None)
        return next(islice(made, release - 1, None)), _known_erasure(ledger.events[release - 1].counts, subject)
    lost = RequestLog(Layout(ledger.path.parent)).lost_ids_in_words(ledger.outline) if release is None else ""
    raise InvalidParameter(
        f"{subject} is not in the ledger; `status` counts the releases, and request ids are the caller's{lost}"
    )


def _known_erasure(counts: EditCounts, subject: str) -> EditCounts:
    """Return `counts` if some of the edits erased a record; otherwise raise `InvalidParameter`."""
    if not counts.erased:
        done = f"{counts.text()}, and erased none" if counts.total else "edited no record"
        raise InvalidParameter(f"{subject}: {done}; there is no erasure to certify")
    return counts
