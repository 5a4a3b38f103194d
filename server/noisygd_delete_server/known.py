"""What is known of a request: from the inbox while something is left to be done, then from the registers and ledgers of the stores.

Nothing here waits for a lock, or for the writer but for the few writes of an edit under way (`table_beside`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from noisygd_delete.errors import InvalidRequest
from noisygd_delete.features.schema import Schema
from noisygd_delete.records import EditCounts, check_repeat
from noisygd_delete.register import Line, Served, States
from noisygd_delete.register.case import day_now
from noisygd_delete.store import training_table
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.requests import Register

from .asked import as_request
from .inbox import Inbox, Stages
from .persons import table_beside

ASIDE = "aside"  # of one that failed again and again, and is tried again every hour
WAITS = "accepted"  # state of a request that is in the inbox as it was asked
REFUSED = "refused"  # of one that could not be carried out, and that a person has to decide about


class InStore(Struct, frozen=True):
    """How a request stands in one store."""

    store: str
    state: Annotated[States, Meta(description="open, pending, withheld, published, decided or answered")]
    rows: Annotated[int, Meta(description="records erased or corrected")]
    edited: str | None
    published: str | None
    release: int | None


class Course(Struct, frozen=True):
    """How a request stands: what is left to be done in the store that is furthest behind."""

    request_id: str
    state: Annotated[
        str,
        Meta(
            description="accepted, aside (it failed again and again), refused, or a state of the register: open, pending, withheld, published, decided, answered"
        ),
    ]
    reason: Annotated[
        str | None, Meta(description="why it was refused or set aside; a person has to decide and to answer")
    ]
    received: str | None
    due: Annotated[str | None, Meta(description="last day on which the person may be told")]
    late: list[str]
    stores: list[InStore]


_STATES = {Stages.ACCEPTED: WAITS, Stages.ASIDE: ASIDE, Stages.REFUSED: REFUSED}
_ORDER = (States.WITHHELD, States.OPEN, States.PENDING, States.PUBLISHED, States.DECIDED, States.ANSWERED)


class Known:
    """What the stores and the inbox of a service know of requests."""

    def __init__(self, stores: Mapping[str, Path], inbox: Inbox) -> None:
        self._layouts = {name: Layout.at(path) for name, path in stores.items()}
        self._inbox = inbox

    def answer(self, token: str) -> Course | None:
        """How the request with this id stands; None where nobody knows it."""
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
            reason=kept.fields["reason"] if kept is not None and stage in (Stages.REFUSED, Stages.ASIDE) else None,
            received=received,
            due=dues[0].isoformat() if dues else None,
            late=sorted({word for line in lines.values() for word in line.late}),
            stores=[_in_store(name, line) for name, line in lines.items() if line.served is not None],
        )

    def asked_by(self, token: str) -> str | None:
        """The name of whose token a request was sent with; None where nobody knows."""
        kept = self._inbox.find(token)
        if kept is not None and "by" in kept.fields:
            return str(kept.fields["by"])
        cases = (Register(layout).case(token) for layout in self._layouts.values())
        return next((case.asked_by for case in cases if case is not None and case.asked_by is not None), None)

    def conflicts(self, token: str, found: Mapping[str, Any]) -> bool:
        """Whether a request with this id was asked before for other contents.

        Contents are not kept, so of one that is done the tables are asked (see `records.records`); of one that was refused nothing is
        known but its id, and it stays refused.
        """
        kept = self._inbox.find(token)
        if kept is not None and kept.stage is not Stages.EDITED:
            return kept.stage is not Stages.REFUSED and kept.fields.get("asked") != found
        served = [(layout, *place) for layout in self._layouts.values() if (place := _place(layout, token)) is not None]
        return bool(served) and not _same(token, found, served, alone=len(self._layouts) == 1)

    def is_known(self, token: str) -> bool:
        """Whether a store has carried it out; one that a desk has only noted is not."""
        return any(_place(layout, token) is not None for layout in self._layouts.values())

    def _lines(self, token: str) -> Iterator[tuple[str, Line]]:
        for name, layout in self._layouts.items():
            register = Register(layout)
            case = register.case(token)
            if case is None:
                continue
            ledger = Ledger.read(layout.ledger)
            yield name, Line(token, case, _served(ledger, token), register.practice, day_now(case.received))


def schema_of(layout: Layout) -> Schema:
    """How the rows of a store are made, from its ledger."""
    ledger = Ledger.read(layout.ledger)
    schema = Schema.from_dict(ledger.schema, str(layout.schema), layout.root)
    return replace(schema, named_map=ledger.plan.problem.feature_map)


def _place(layout: Layout, token: str) -> tuple[Ledger, int] | None:
    """The ledger that has carried out a request, and where in it."""
    if Register(layout).case(token) is None:
        return None
    ledger = Ledger.read(layout.ledger)
    position = ledger.position(token)
    return None if position is None else (ledger, position)


def _served(ledger: Ledger, token: str) -> Served | None:
    position = ledger.position(token)
    if position is None:
        return None
    edits, covering = ledger.edited(position), ledger.covering(position)
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


def _in_store(name: str, line: Line) -> InStore:
    served = line.served
    assert served is not None
    return InStore(name, line.state, served.rows, served.edited, served.published, served.release)


def _same(token: str, found: Mapping[str, Any], served: list[tuple[Layout, Ledger, int]], *, alone: bool) -> bool:
    """Whether the tables look as this request left them, and the ledgers count as many edits."""
    try:
        for layout, ledger, position in served:
            edited = ledger.edited(position)
            if ledger.source is not None or not alone:
                if not _fits(found, edited, elsewhere=ledger.source is not None):
                    return False
                continue
            records = table_beside(layout, ledger)
            request = training_table.in_text(as_request(token, found, schema_of(layout)))
            check_repeat(records, request, edited)
    except InvalidRequest:
        return False
    return True


def _fits(found: Mapping[str, Any], edited: EditCounts, *, elsewhere: bool) -> bool:
    """Whether these edits can be a part of the request: of several stores each has its own, and a source keeps its rows elsewhere,
    where an id can stand twice."""
    persons, named = len(found["subjects"]), len(found["delete"])
    return edited.replaced <= len(found["replace"]) and (
        edited.deleted <= named or persons > 0 or (elsewhere and named > 0)
    )
