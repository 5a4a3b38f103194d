"""From a store's ledger to the facts of its papers. Reads public entries only; opens no table and no model."""

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
from ..store import disk, publishing, rollback_guard
from ..store.entry import EntryKinds, Occasions
from ..store.layout import Layout
from ..store.ledger import Ledger
from ..store.publishers.address import kind_of
from ..store.request_log import RequestLog
from .facts import Erasure
from .notices import LONGEST, NOTHING_STATED, Notices


def ledger_of(store: str | Path) -> Ledger:
    """The ledger of the store in this folder; needs no lock.

    Raises:
        StoreError, StoreCorrupt: there is no store, or its hash chain is broken.
    """
    layout = Layout.at(store)
    disk.require_store(layout)
    return Ledger.read(layout.ledger)


def release_times(ledger: Ledger) -> list[str]:
    """When each release was made."""
    return [entry.time for entry in ledger.outline if entry.event is not None]


@dataclass(frozen=True)
class Unpublished:
    """Edits that were carried out on the rows without a release of their own, and what came of them.

    kind     "edit": left for a later release; "withheld": the budget allowed none, and the model was withdrawn
    counts   the edits, by kind
    covered  number of the release that has covered them since; None while none has
    counted  by what the source counted them, where nobody told of them
    """

    kind: EntryKinds
    time: str
    counts: EditCounts
    covered: int | None
    counted: str | None = None


@dataclass(frozen=True)
class LedgerStatus:
    """How a store stands: edits no release covers yet, edits that had to wait, and whether a model is in force."""

    pending: EditCounts
    unpublished: tuple[Unpublished, ...]
    withdrawn: str | None  # since when no model is in force, having been published before
    by_hand: bool = False  # its operator took it out of service; else the budget allowed no other
    besides: tuple[publishing.PublisherState, ...] = ()  # where models are put besides the store, as last known
    register_put_back: bool = False  # from an earlier copy: requests noted since are missing there


def ledger_status(ledger: Ledger) -> LedgerStatus:
    """What the releases alone do not show: what is pending, what was withheld, and since when the model is withdrawn."""
    found, release, entries = [], ledger.releases, ledger.outline
    following: int | None = None
    for position in range(len(entries) - 1, 0, -1):
        entry = entries[position]
        if entry.event is not None:
            following, release = release, release - 1
        elif entry.kind in (EntryKinds.EDIT, EntryKinds.WITHHELD):
            found.append(Unpublished(entry.kind, entry.time, ledger.edited(position), following, entry.counted))
    gone = [entry for before, entry in pairwise(entries) if before.in_force and not entry.in_force]
    withdrawn = gone[-1].time if gone and not ledger.head.in_force else None
    layout = Layout(ledger.path.parent)
    return LedgerStatus(
        ledger.head.pending_counts,
        tuple(reversed(found)),
        withdrawn,
        ledger.head.withdrawn,
        publishing.destinations(layout),
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
    """What `erasure_certificate` needs, for the request with this id, or for all edits that a release covered. Whether rows were only
    set aside, and came back, is what the register says.

    Raises:
        InvalidParameter: no such request or release, it erased nothing, its kind was not recorded, nothing has been published yet,
            or the release covered rows that were only set aside, or may have: those have a paper of their own.
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
    register = RequestLog(Layout(ledger.path.parent))
    if release is not None:
        _require_erased(ledger, register, first, release)
    elif (case := register.case(str(request_id))) is not None:
        notices = replace(notices, set_aside=case.restricted, put_back=case.lifted)
    published = ledger.covering(first)
    last = first if published is None else published
    edited: str | None = ledger.entry(first).time
    served = None if published is None else ledger.entry(published).time
    if release is not None or (served is not None and served < str(edited)):
        edited = None  # several requests, or a clock that was set back in between: no one time is right
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
        publishers=publisher_facts(ledger),
        remaining=None if release is not None else _remaining_rows(ledger, first),
        from_data=from_data_of(ledger),
        by_calendar=is_on_calendar(ledger),
    )
    return erasure, plan_from_dict(ledger.plan_at(last)), events


def _require_erased(ledger: Ledger, register: RequestLog, place: int, release: int) -> None:
    """Raise `InvalidParameter` where the release at this place (from 0) covered rows that were only set aside, or may have."""
    known = {committed: (token, case) for token, (committed, case) in register.cases().items()}
    before = takewhile(lambda entry: entry.event is None, reversed(ledger.outline[:place]))
    for entry in (ledger.outline[place], *before):
        if entry.commitment is not None and entry.commitment not in known:
            raise InvalidParameter(
                "covered a request that the register was made to forget, so nobody knows whether it only set rows aside; certify the "
                "others by their ids",
                release=release,
            )
        token, case = known.get(entry.commitment or "", ("", None))
        if case is not None and case.restricted is not None:
            raise InvalidParameter(
                f"covered rows that request {token!r} set aside; certify each request by its own id", release=release
            )


def from_data_of(ledger: Ledger) -> tuple[str, ...]:
    """Columns whose range or list of values was read off the data, as the store's schema says of them, in characters that a page can show."""
    schema = ledger.schema
    label = schema.get("label", {})
    columns = {**schema.get("columns", {}), str(label.get("column")): label}
    named = [name if name.strip() else repr(name) for name, column in columns.items() if column.get("from_data")]
    return tuple(dict.fromkeys(escape_unprintable(name)[:LONGEST] for name in named))


def is_on_calendar(ledger: Ledger) -> bool:
    """Whether every publication after the first was made on a date of a calendar, and no date went by unused: whether one is used depends
    on requests."""
    made = [entry for entry in ledger.outline if entry.event is not None and entry.kind is not EntryKinds.STATISTIC]
    return len(made) > 1 and all(entry.occasion == Occasions.CALENDAR and not entry.unused_dates for entry in made[1:])


def _remaining_rows(ledger: Ledger, position: int) -> int | None:
    """Rows that a request left of the persons whose rows it edited, as it found the table; None: not known."""
    answer = ledger.entry(position).answer or {}
    left = answer.get("remaining")
    return left if isinstance(left, int) else None


def publisher_facts(ledger: Ledger) -> tuple[dict[str, Any], ...]:
    """What the publishers of a store were last known to hold; their addresses are the operator's own."""
    found = publishing.destinations(Layout(ledger.path.parent))
    return tuple({"kind": kind_of(each.address), "release": each.release, "oldest": each.oldest} for each in found)


def _status(ledger: Ledger, published: int | None) -> Statuses:
    if published is not None:
        return Statuses.PUBLISHED
    return Statuses.WITHHELD if ledger.head.model is None else Statuses.PENDING


def _find_entry(ledger: Ledger, request_id: str | None, release: int | None) -> tuple[int, EditCounts]:
    """(position of the entry, the edits it stands for)."""
    if (request_id is None) == (release is None):
        raise InvalidParameter("name the erasure by its request id or by the release that covered it, one of the two")
    asked = f"release {release}" if request_id is None else f"request {request_id!r}"
    position = ledger.position(request_id)
    if position is not None:
        return position, _known_erasure(ledger.edited(position), asked)
    if release is not None and 1 <= release <= ledger.releases:
        made = (place for place, entry in enumerate(ledger.outline) if entry.event is not None)
        return next(islice(made, release - 1, None)), _known_erasure(ledger.events[release - 1].counts, asked)
    lost = RequestLog(Layout(ledger.path.parent)).lost_ids_in_words(ledger.outline) if release is None else ""
    raise InvalidParameter(
        f"{asked} is not in the ledger; `status` counts the releases, and request ids are the caller's{lost}"
    )


def _known_erasure(counts: EditCounts, asked: str) -> EditCounts:
    """The edits, if some of them erased something."""
    if not counts.erased:
        done = f"{counts.text()}, and erased none" if counts.total else "edited no record"
        raise InvalidParameter(f"{asked}: {done}; there is no erasure to certify")
    return counts
