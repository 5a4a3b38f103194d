"""What a store can be asked to do, each with how to tell whether it happened, and wholly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from noisygd_delete import Budget, EditRequest
from noisygd_delete.methods.plan import Plan
from noisygd_delete.store import Store
from noisygd_delete.store.request_log import Note, NoteUpdate

from .conftest import SLOTS, deaths, found, name, nothing, person, plan, row, traces


@dataclass(frozen=True)
class Operation:
    """`whole(store, happened)` says that the store is in the state before, or after, in every part.

    erased     bytes that must be gone once it has happened
    journalled whether it goes through the journal (a learn does not: interrupted, it has not happened)
    """

    name: str
    run: Callable[[Store], object]
    happened: Callable[[Store], bool]
    whole: Callable[[Store, bool], bool]
    prepare: Callable[[Store], object] = nothing
    erased: list[bytes] = field(default_factory=list)
    journalled: bool = True


def answered(store: Store) -> bool:
    return store.ledger.position("r") is not None


def counted(store: Store, happened: bool, *, publishes: bool = True, edits: int = 1) -> bool:
    """One entry, one release and no pending edit more than before; or one entry and its pending edits."""
    entries, releases = 2 + happened, 1 + (happened and publishes)
    waiting = edits if happened and not publishes else 0
    return (len(store.ledger.entries), store.ledger.releases, store.pending_edits) == (entries, releases, waiting)


def edit_later(store: Store) -> None:
    store.serve(EditRequest.delete([name(3)]), publish=False)


def published(store: Store) -> bool:
    return store.ledger.releases == 2


def published_whole(store: Store, happened: bool) -> bool:
    return (len(store.ledger.entries), store.pending_edits) == (3 + happened, not happened)


def serve(request: EditRequest, *, publish: bool = True, note: NoteUpdate | None = None) -> Callable[[Store], object]:
    return lambda store: store.serve(request, publish=publish, note=note)


def _note(held: Note) -> Note:
    return {**held, "received": "2026-05-04T09:30:00+02:00", "channel": "e-mail"}


DELETE = EditRequest.delete([name(3)], request_id="r")
SUBJECT = EditRequest.delete(subjects=[person(3)], request_id="r")


def make_operations(
    row: Callable[[int], np.ndarray] = row,
    traces: Callable[[int], list[bytes]] = traces,
    plan: Callable[..., Plan] = plan,
) -> tuple[Operation, ...]:
    """The operations on a store whose rows, and what they leave in its bytes, are these."""

    def holds(store: Store, k: int, new: int | None) -> bool:
        """Whether record k has the row of this number in one slot; None: nothing of it is there."""
        slots = [slot for slot, held in enumerate(store.records.ids_by_slot) if held == name(k)]
        if new is None:
            return not slots and not store.records.features[[k] if k < SLOTS else []].any()
        return len(slots) == 1 and bool((store.records.features[slots[0]] == row(new)).all())

    def edited(
        k: int, before: int | None, after: int | None, *, publishes: bool = True
    ) -> Callable[[Store, bool], bool]:
        return lambda store, happened: (
            counted(store, happened, publishes=publishes) and holds(store, k, after if happened else before)
        )

    def grow(store: Store) -> None:
        store.relearn(plan(slots=SLOTS + 5, budget=Budget(order=4, dp=1.0, deletion=0.5)))

    def grown(store: Store, happened: bool) -> bool:
        slots = SLOTS + 5 * happened
        return published_whole(store, happened) and store.records.slots == store.plan.problem.records == slots

    def both(store: Store, happened: bool) -> bool:
        return all(edited(k, k, None)(store, happened) for k in (2, 3))

    insert = EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"], request_id="r")
    replace = EditRequest.replace({name(3): (row(70), 1.0)}, request_id="r")
    later, waits = (
        {"prepare": edit_later, "journalled": False, "erased": traces(3)},
        edited(3, 3, None, publishes=False),
    )
    return (
        Operation("delete", serve(DELETE), answered, edited(3, 3, None), erased=traces(3)),
        Operation("delete-later", serve(DELETE, publish=False, note=_note), answered, waits, erased=traces(3)),
        Operation("delete-subject", serve(SUBJECT), answered, both, erased=[*traces(2), *traces(3)]),
        Operation("replace", serve(replace), answered, edited(3, 3, 70), erased=traces(3)[1:]),
        Operation("insert", serve(insert), answered, edited(99, None, 99)),
        Operation("publish", lambda store: store.publish(), published, published_whole, **later),
        Operation("relearn", grow, published, grown, **later),
    )


OPERATIONS = make_operations()


def check_deaths(path: Path, operation: Operation, step: int = 1) -> int:
    """Let the operation die before every change, or every `step`-th, and require the state before or after; return the number of deaths.

    A request, sent again, is answered as before. A learn that was interrupted has not happened.
    """
    with Store.open(path) as store:
        operation.prepare(store)
        old = store.plan
    outcomes = []
    for copy, accepted in deaths(path, operation.run, again=operation.journalled, step=step):
        with Store.open(copy) as store:
            happened = operation.happened(store)
            assert happened or not (accepted and operation.journalled), "an accepted request is never lost"
            assert operation.whole(store, happened), "done once, or not at all"
            assert (store.plan == old) != (happened and operation.name == "relearn")
            told = store.ledger.head.answer
            if operation.journalled or not happened:
                operation.run(store)  # the caller sends it again
            assert operation.whole(store, True)
            assert not happened or store.ledger.head.answer == told
        assert found(copy, operation.erased) == []
        outcomes.append(happened)
    assert outcomes == sorted(outcomes), "once accepted, it stays accepted"
    assert {*outcomes[:1], *outcomes[-1:]} == {False, True}
    return len(outcomes)
