"""The requests of a store: what was stated about each, joined with the ledger. Opens no table and no model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from noisygd_delete.accountant import Event
from noisygd_delete.dates import day_now, holidays_that_extend, local_day, parse_datetime
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.notices import TEXTS, Notices, OperatorStatements
from noisygd_delete.records import EditCounts
from noisygd_delete.store import disk
from noisygd_delete.store.destinations import Destination, list_destinations
from noisygd_delete.store.entry import EntryKinds, Outline
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger

from .case import RegisterPolicy
from .register import Register, register_of
from .row import RegisterRow, Served, sort_by_urgency


def register_lines(store: str | Path, *, today: date | None = None) -> list[RegisterRow]:
    """Return every request of a store, overdue and next due first. No lock is needed.

    Args:
        store: Folder of the store.
        today: Day by which a request is overdue; None takes the current day at each place of receipt.

    Raises:
        StoreError: If there is no store.
        StoreCorrupt: If its files contradict each other.
    """
    layout = Layout.at(store)
    disk.require_store(layout)
    register, ledger = register_of(store), Ledger.read(layout.ledger)
    return lines_of(ledger, register, today=today)


def lines_of(ledger: Ledger, register: Register, *, today: date | None = None) -> list[RegisterRow]:
    """Return every request of a ledger and a register, as `register_lines`."""
    policy, known = register.policy, register.cases()
    served = dict(_served_requests(ledger.outline, list_destinations(Layout(ledger.path.parent))))
    found = [
        RegisterRow(token, case, served.get(committed), policy, today or day_now(case.received))
        for token, (committed, case) in known.items()
    ]
    return sort_by_urgency(found)


def line_of(store: str | Path, token: str) -> RegisterRow:
    """Return one request of a store.

    Raises:
        InvalidParameter: If it is not in the register.
    """
    found = [line for line in register_lines(store) if line.token == token]
    if not found:
        raise InvalidParameter(f"request {token!r} is not in the register of {store}; `register list` shows what is")
    return found[0]


def policy_of(store: str | Path) -> RegisterPolicy:
    """Return what the operator of a store stated for every request."""
    return register_of(store).policy


def _served_requests(entries: list[Outline], destinations: Sequence[Destination]) -> Iterator[tuple[str, Served]]:
    """Yield the name in the ledger and the outcome of every request; the first entry of each name comes last."""
    covering: tuple[int, str] | None = None  # the next release after this entry: its number and time
    gone: str | None = None  # when the store stopped publishing the previous model
    known = False  # whether this is known of all its locations: others may serve a model that no publisher removed
    number = sum(entry.event is not None for entry in entries)
    counted: dict[bytes, EditCounts] = {}
    for position in range(len(entries) - 1, 0, -1):
        entry, before = entries[position], entries[position - 1]
        if entry.event is not None:
            covering, number = (number, entry.time), number - 1
        if entry.event is not None or not entry.in_force:
            gone, known = entry.time, bool(destinations) or not entry.in_force
        if entry.commitment is None or entry.kind is EntryKinds.WITHDRAWN:
            continue
        edits = _counts(entry, counted) - before.pending_counts
        still = [
            each.address
            for each in destinations
            if gone is not None and each.oldest is not None and (covering is None or each.oldest < covering[0])
        ]
        yield (
            entry.commitment,
            Served(
                edited=entry.time,
                rows=edits.erased,
                inserted=edits.inserted,
                published=None if covering is None else covering[1],
                release=None if covering is None else covering[0],
                withheld=covering is None and entries[-1].model is None,
                withdrawn=gone if known and not still else None,
                still_at=tuple(still),
                replaced=edits.replaced,
            ),
        )


def _counts(entry: Outline, counted: dict[bytes, EditCounts]) -> EditCounts:
    """Return the edits that an entry covers, or leaves pending."""
    if entry.event is None:
        return entry.pending_counts
    if entry.event not in counted:
        counted[entry.event] = Event.from_dict(json.loads(entry.event)).counts
    return counted[entry.event]


def received_of(line: RegisterRow | None, given: str | None) -> str | None:
    """Return when a request was received: as in the register, with which `given` must agree.

    Raises:
        InvalidParameter: If `given` differs from the register.
    """
    known = None if line is None else line.case.received
    stated = None if given is None else parse_datetime("received", given, utc=False)
    if known is not None and stated not in (None, known):
        raise InvalidParameter(
            f"is not what the register holds ({known}); leave it out, or look at the request: `register show`",
            received=stated,
        )
    return known or stated


def certificate_statements(store: str | Path, token: str | None, received: str | None) -> OperatorStatements:
    """Return what a register states for a certificate.

    Args:
        store: Folder of the store.
        token: The request id; None for a certificate of a release.
        received: Time of receipt as given, with which the register must agree.
    """
    line, policy = None if token is None else line_of(store, token), policy_of(store)
    found = received_of(line, received)
    return OperatorStatements(found, policy.controller, notices_of(line, policy, found))


def notices_of(line: RegisterRow | None, policy: RegisterPolicy, received: str | None) -> Notices:
    """Return the notices of a certificate, from this request and from the operator's general statements."""
    texts = {name: getattr(policy, name) for name in TEXTS}
    moved = () if received is None else holidays_that_extend(received, holidays=policy.holidays)
    if line is None:
        return Notices(**texts, holidays=moved)
    case, served = line.case, line.served
    withdrawn = None if served is None or served.withdrawn is None else local_day(served.withdrawn, received)
    waits = served is not None and served.published is None
    stated: dict[str, Any] = {"informed": line.answered, **_facts_after_edit(line)}
    stated |= {name: getattr(case, name) for name in ("extended_until", "extension_reason")} if received else {}
    return Notices(
        **texts, **stated, withdrawn=withdrawn, publish_by=case.publish_by if waits else None, holidays=moved
    )


def _facts_after_edit(line: RegisterRow) -> dict[str, Any]:
    """Return what was stated about recipients and backups, unless it precedes the edit and cannot refer to it."""
    case, edited = line.case, line.edited or date.min
    informed = case.recipients_informed is None or case.recipients_informed >= edited
    return {
        "recipients": case.recipients if informed else None,
        "recipients_informed": case.recipients_informed if informed else None,
        "backups_until": case.backups_until if case.backups_until and case.backups_until >= edited else None,
    }
