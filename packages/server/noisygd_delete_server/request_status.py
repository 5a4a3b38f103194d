"""The status of a request: from the inbox while it is unfinished, then from the registers and ledgers of the stores.

Nothing here waits for a lock; it may wait for the few writes of an edit in progress (`persons.subjects_table`). A
source is read only to decide whether a repeated request is the one that was executed (`Known.conflicts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from noisygd_delete_compliance import Register, RegisterRow, Served, States

from noisygd_delete.dates import day_now
from noisygd_delete.errors import InvalidRequest
from noisygd_delete.features.schema import Schema
from noisygd_delete.records import EditCounts, check_repeat
from noisygd_delete.store import training_table
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.request_log import RequestLog
from noisygd_delete.store.source_kinds import ExternalSource, source_from

from .inbox import Inbox, Stages
from .persons import subjects_table
from .request_body import to_request

QUARANTINED = "quarantined"  # quarantined after repeated failures, retried every hour
WAITS = "accepted"  # accepted into the inbox, not executed yet
REFUSED = "refused"  # could not be executed; a person has to decide


class InStore(Struct, frozen=True):
    """Status of a request in one store."""

    store: str
    state: Annotated[States, Meta(description="open, pending, withheld, published, decided or answered")]
    rows: Annotated[int, Meta(description="records erased or corrected")]
    edited: str | None
    published: str | None
    release: int | None


class Course(Struct, frozen=True):
    """Status of a request, in the store that is furthest behind."""

    request_id: str
    state: Annotated[
        str,
        Meta(
            description="accepted, quarantined (it failed repeatedly), refused, or a state of the register: open, pending, withheld, published, decided, answered"
        ),
    ]
    reason: Annotated[
        str | None, Meta(description="why it was refused or quarantined; a person has to decide and to answer")
    ]
    received: str | None
    due: Annotated[str | None, Meta(description="last day on which the person may be informed")]
    late: list[str]
    stores: list[InStore]


_STATES = {Stages.ACCEPTED: WAITS, Stages.QUARANTINED: QUARANTINED, Stages.REFUSED: REFUSED}
_ORDER = (States.WITHHELD, States.OPEN, States.PENDING, States.PUBLISHED, States.DECIDED, States.ANSWERED)


class Known:
    """The requests known to the stores and the inbox of a service."""

    def __init__(self, stores: Mapping[str, Path], inbox: Inbox) -> None:
        self._layouts = {name: Layout.at(path) for name, path in stores.items()}
        self._inbox = inbox

    def answer(self, token: str) -> Course | None:
        """Return the status of the request with this id; None if it is unknown."""
        kept = self._inbox.find(token)
        lines = dict(self._lines(token))
        if kept is None and not lines:
            return None
        stage = None if kept is None else kept.stage
        states = [line.state for line in lines.values()]
        state: str = min(states, key=_ORDER.index) if states else States.OPEN
        if kept is not None and stage in _STATES:
            state = _STATES[stage]
        received = None if kept is None else kept.fields.get("received")
        received = next((line.case.received for line in lines.values() if line.case.received), received)
        dues = sorted(line.due for line in lines.values() if line.due is not None)
        return Course(
            request_id=token,
            state=str(state),
            reason=kept.fields["reason"]
            if kept is not None and stage in (Stages.REFUSED, Stages.QUARANTINED)
            else None,
            received=received,
            due=dues[0].isoformat() if dues else None,
            late=sorted({word for line in lines.values() for word in line.late}),
            stores=[_find_in_store(name, line) for name, line in lines.items() if line.served is not None],
        )

    def requested_by(self, token: str) -> str | None:
        """Return the name of the token with which a request was sent; None if not known."""
        kept = self._inbox.find(token)
        if kept is not None and "by" in kept.fields:
            return str(kept.fields["by"])
        cases = (Register(RequestLog(layout)).case(token) for layout in self._layouts.values())
        return next((case.requested_by for case in cases if case is not None and case.requested_by is not None), None)

    def conflicts(self, token: str, found: Mapping[str, Any]) -> bool:
        """Return whether this request id belongs to a request with other contents.

        A pending request is compared with its stored contents. Contents of a finished request are not kept, so the
        current tables and sources decide (`_is_repeat`). Of a refused request only its id is known, and it stays
        refused.

        Raises:
            SourceError: If a source that has to be read does not answer.
        """
        kept = self._inbox.find(token)
        if kept is not None and kept.stage is not Stages.EDITED:
            return kept.stage is not Stages.REFUSED and kept.fields.get("contents") != found
        tables = [_Table(layout, Ledger.read(layout.ledger), token) for layout in self._layouts.values()]
        return any(table.edited is not None for table in tables) and not _is_repeat(token, found, tables)

    def is_known(self, token: str) -> bool:
        """Return whether a store has executed a request, rather than only recorded it in its register."""
        return any(_place(layout, token) is not None for layout in self._layouts.values())

    def _lines(self, token: str) -> Iterator[tuple[str, RegisterRow]]:
        for name, layout in self._layouts.items():
            register = Register(RequestLog(layout))
            case = register.case(token)
            if case is None:
                continue
            ledger = Ledger.read(layout.ledger)
            yield (
                name,
                RegisterRow(token, case, _served_request(ledger, token), register.policy, day_now(case.received)),
            )


def schema_of(layout: Layout) -> Schema:
    """Return the schema of a store, from its ledger."""
    ledger = Ledger.read(layout.ledger)
    schema = Schema.from_dict(ledger.schema, str(layout.schema), layout.root)
    return replace(schema, named_map=ledger.plan.problem.feature_map)


def _place(layout: Layout, token: str) -> tuple[Ledger, int] | None:
    """Return the ledger in which a request was executed, and its position there; None if it was not."""
    if RequestLog(layout).note(token) is None:
        return None
    ledger = Ledger.read(layout.ledger)
    position = ledger.position(token)
    return None if position is None else (ledger, position)


def _served_request(ledger: Ledger, token: str) -> Served | None:
    position = ledger.position(token)
    if position is None:
        return None
    edits, covering = ledger.edits_at(position), ledger.find_covering_release(position)
    published = None if covering is None else ledger.entry(covering)
    return Served(
        edited=ledger.entry(position).time,
        rows=edits.erased,
        inserted=edits.inserted,
        published=None if published is None else published.time,
        release=None if published is None else (published.answer or {}).get("release"),
        withheld=published is None and ledger.head.model is None,
        replaced=edits.replaced,
    )


def _find_in_store(name: str, line: RegisterRow) -> InStore:
    served = line.served
    assert served is not None
    return InStore(name, line.state, served.rows, served.edited, served.published, served.release)


class _Table:
    """One store with respect to a repeated request: its ledger, and what the request edited there (None: nothing)."""

    def __init__(self, layout: Layout, ledger: Ledger, token: str) -> None:
        self.layout, self.ledger = layout, ledger
        position = ledger.position(token) if RequestLog(layout).note(token) is not None else None
        self.edited = None if position is None else ledger.edits_at(position)
        self.records = None if ledger.source is not None else subjects_table(layout, ledger)

    def holds_any(self, ids: Sequence[str], persons: Sequence[str]) -> bool:
        """Return whether a row with one of these ids, or of one of these persons, is in the table or source."""
        if self.records is None:
            source = source_from(self.ledger.source)
            return any(source.held(*names) > 0 for names in _askable(source, ids, persons))
        owners = self.records.owners
        return len(self.records.names.find(ids)) > 0 or (owners is not None and len(owners.find(persons)) > 0)

    def replacements(self, replaced: Mapping[str, Any]) -> dict[str, Any]:
        """Return those corrected rows whose records are in this table."""
        there = set() if self.records is None else set(self.records.slots_of(list(replaced)))
        return {name: row for name, row in replaced.items() if name in there}


def _askable(
    source: ExternalSource, ids: Sequence[str], persons: Sequence[str]
) -> Iterator[tuple[list[str], list[str]]]:
    if ids:
        yield list(ids), []
    if persons and source.subject is not None:
        yield [], list(persons)


def _is_repeat(token: str, found: Mapping[str, Any], tables: Sequence[_Table]) -> bool:
    """Return whether the tables are consistent with this request having been executed, with the edits of the ledgers.

    Nothing that it names for erasure may be left in any table, whichever table served it: an id that was used for
    another person never hides that the person named now is still present.
    """
    try:
        if any(table.holds_any(found["delete"], found["subjects"]) for table in tables):
            return False
    except InvalidRequest:  # a source in which the application deletes cannot be searched for a name
        return False
    served = [table for table in tables if table.edited is not None]
    if len(tables) == 1 and tables[0].records is not None and tables[0].edited is not None:
        return _is_carried_out(token, found, tables[0], tables[0].edited)
    edited = [table.edited for table in served if table.edited is not None]
    named, replaced = len(found["delete"]) + len(found["subjects"]), len(found["replace"])
    if sum(one.deleted for one in edited) < named or sum(one.replaced for one in edited) < replaced:
        return False
    for table, one in zip(served, edited, strict=True):
        deletes_more = one.deleted > len(found["delete"]) and not found["subjects"] and table.records is not None
        if deletes_more or (one.deleted and not named) or one.replaced > replaced:
            return False
    return all(
        _is_carried_out(token, {"replace": part}, table, EditCounts(replaced=len(part)))
        for table in tables
        if (part := table.replacements(found["replace"]))
    )


def _is_carried_out(token: str, found: Mapping[str, Any], table: _Table, edited: EditCounts) -> bool:
    assert table.records is not None
    try:
        request = training_table.names_as_text(to_request(token, found, schema_of(table.layout)))
        check_repeat(table.records, request, edited)
    except InvalidRequest:
        return False
    return True
