"""Execution of accepted requests in every store: which store holds what a request names, and in what order.

A request is executed completely or not at all: each name in it must be in some store. A store gets the part of the
request that concerns it. Once one store has it in its ledger, the request is accepted and the other stores follow,
across crashes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from noisygd_delete_compliance import Register, RequestCase

from noisygd_delete.curator.stream import Batching, Calendar
from noisygd_delete.engine import Execution
from noisygd_delete.errors import NEVER_THERE, InvalidRequest
from noisygd_delete.methods.objective_perturbation_noise import linear_term_bound
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.procedure import Minimizer, quick_passes, solver_passes
from noisygd_delete.records import EditRequest
from noisygd_delete.store import Store
from noisygd_delete.store.ledger import Ledger

from .inbox import QueuedRequest
from .request_body import case_of, to_request

Stores = Mapping[str, Store]
Published = Callable[[str, Store], None]
Pace = Batching | Calendar
_LONGEST = 300.0  # seconds that a calendar's release is delayed at most, as it blocks the writer
_NUMBER, _CALL = (
    8e-9,
    5e-3,
)  # seconds of a pass: per number in the table (many times what a processor needs), and per call
_BESIDE = 85  # passes over its sample, as if over the table: 70 evaluations of a first step, and 30 steps of half a pass of products
NOT_DONE = (  # one text for all reasons, so that it does not reveal whether another name is in a table
    f"not all that it names is in a table ({NEVER_THERE}, or held out for measuring), or a table does not accept its rows, or that many rows of a person; nothing was changed"
)


@dataclass(frozen=True)
class Outcome:
    """Outcome of an accepted request.

    Attributes:
        stores: Store that has edited its rows -> number of releases before the one that covers the edits.
        refused: Why no store has edited rows; None otherwise.
    """

    stores: Mapping[str, int] = field(default_factory=dict)
    refused: str | None = None


def independent(waiting: Sequence[QueuedRequest]) -> list[QueuedRequest]:
    """Return the longest prefix of requests that have no names in common, so that their order does not matter."""
    names: set[str] = set()
    kinds: set[str] = set()
    found: list[QueuedRequest] = []
    for kept in waiting:
        contents = kept.fields["contents"]
        kinds |= {kind for kind in ("delete", "subjects", "replace") if contents[kind]}
        named = {*contents["delete"], *contents["subjects"], *contents["replace"]}
        if found and (names & named or len(kinds) > 1):
            break
        names |= named
        found.append(kept)
    return found


class Dispatcher:
    """Execution of requests over open stores, each with its release schedule.

    Args:
        stores: The open stores.
        paces: Release schedule of each store.
        published: Called with the name of a store and the store after each release.
        lasts: Duration of a release by a solver in seconds; None: on a calendar date the duration given by public
            numbers, otherwise as long as it takes.
    """

    def __init__(
        self, stores: Stores, paces: Mapping[str, Pace], published: Published, lasts: float | None = None
    ) -> None:
        self._stores, self._paces, self._published, self._lasts = stores, paces, published, lasts

    def carry_out(self, together: Sequence[QueuedRequest]) -> list[Outcome]:
        """Edit the rows of independent requests in every store."""
        tables = {name: _Held.of(store, together) for name, store in self._stores.items()}
        shares = [self._shares(kept, tables) for kept in together]
        refused: dict[int, list[str]] = {kept.number: [] for kept in together}
        for name, store in self._stores.items():
            todo = [
                (kept, share[name])
                for kept, share in zip(together, shares, strict=True)
                if isinstance(share, dict) and name in share
            ]
            for number, reason in self._edit(name, store, todo):
                refused[number].append(reason)
        found = [self._outcome(kept, share, refused[kept.number]) for kept, share in zip(together, shares, strict=True)]
        self.leave_open([kept for kept, outcome in zip(together, found, strict=True) if outcome.refused is not None])
        return found

    def leave_open(self, waiting: Sequence[QueuedRequest]) -> None:
        """Record requests in the register about which a person has to decide."""
        first = next(iter(self._stores.values()))
        Register(first.request_log).receive({str(kept.token): self._case(first, kept) for kept in waiting})

    def begun(self, kept: QueuedRequest) -> bool:
        """Return whether some store has executed its part of a request."""
        return any(store.ledger.position(str(kept.token)) is not None for store in self._stores.values())

    def publish(self, name: str, *, due: bool = False) -> None:
        """Publish the pending edits of a store; do nothing without pending edits or a current model.

        Args:
            name: Name of the store.
            due: Whether its schedule requires the release, rather than a caller.
        """
        store, pace, unused = self._stores[name], self._paces[name], None
        lasts = self._lasts or 0.0
        if store.pending_edits and in_force(store.ledger):
            if due and isinstance(pace, Calendar):
                last = store.ledger.find_release(store.ledger.model_release) or 0
                unused = pace.count_unused(seconds(store.ledger.entry(last).time), time.time())
                if self._lasts is None:
                    lasts = min(public_duration(store.plan), _LONGEST)
            store.publish(unused_dates=unused, execution=Execution(lasts=lasts))
            self._published(name, store)

    def _outcome(self, kept: QueuedRequest, share: dict[str, EditRequest] | str, reasons: Sequence[str]) -> Outcome:
        if isinstance(share, str):
            return Outcome(refused=share)
        token = str(kept.token)
        having = {name: _releases_before(store.ledger, token) for name, store in self._stores.items()}
        stores = {name: before for name, before in having.items() if before is not None}
        return Outcome(stores) if stores else Outcome(refused="; ".join(dict.fromkeys(reasons)) or "no store took it")

    def _shares(self, kept: QueuedRequest, tables: Mapping[str, _Held]) -> dict[str, EditRequest] | str:
        """Return the part of a request for each store that has not executed it; or why it cannot be executed."""
        if "open" in kept.fields:  # left to a person's decision
            return str(kept.fields["open"])
        contents, token = kept.fields["contents"], str(kept.token)
        found = {name: held.part(contents) for name, held in tables.items()}
        begun = {name for name, store in self._stores.items() if store.ledger.position(token) is not None}
        if not begun:
            reason = _missing_reason(contents, found.values())
            if reason is not None:
                return reason
        shares = {}
        for name, part in found.items():
            if name in begun or not any(part.values()):
                continue
            store = self._stores[name]
            try:
                shares[name] = to_request(token, part, store.schema)
                if not begun and (part["replace"] or store.source is not None):
                    store.dry_run(shares[name], publish=False)
            except InvalidRequest:
                return NOT_DONE
        return shares

    def _edit(
        self, name: str, store: Store, todo: list[tuple[QueuedRequest, EditRequest]]
    ) -> Iterator[tuple[int, str]]:
        if not todo:
            return
        Register(store.request_log).receive({str(kept.token): self._case(store, kept) for kept, _ in todo})
        edited = store.edit_all([request for _, request in todo])
        for (kept, _), error in zip(todo, edited.outcomes, strict=True):
            if error is not None:
                yield kept.number, NOT_DONE

    @staticmethod
    def _case(store: Store, kept: QueuedRequest) -> RequestCase:
        """Return the facts for the register; receipt and right stated there before are kept."""
        case, held = case_of(kept.fields), Register(store.request_log).case(str(kept.token))
        known = held is not None and held.received is not None
        return replace(case, received=None, right=held.right) if known and held is not None else case


def in_force(ledger: Ledger) -> bool:
    """Return whether a store may publish on its own: it has learned, and no publication was refused since."""
    return ledger.releases > 0 and ledger.head.model is not None


def seconds(stamp: str) -> float:
    """Return a time of the ledger in seconds since 1970."""
    return datetime.fromisoformat(stamp).timestamp()


def _releases_before(ledger: Ledger, token: str) -> int | None:
    """Return the number of releases before the one that covers this request; None if it is not in the ledger."""
    position = ledger.position(token)
    if position is None:
        return None
    return ledger.releases - (ledger.find_covering_release(position) is not None)


@dataclass(frozen=True)
class _Held:
    """The names in some requests that are in the table of a store."""

    ids: Collection[str]
    persons: Collection[str]

    @classmethod
    def of(cls, store: Store, together: Sequence[QueuedRequest]) -> _Held:
        contents = [kept.fields["contents"] for kept in together]
        ids = sorted({name for one in contents for name in (*one["delete"], *one["replace"])})
        persons = sorted({name for one in contents for name in one["subjects"]})
        return cls(store.table.find_names(ids), store.table.find_names(persons, persons=True))

    def part(self, contents: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part of a request that concerns this table."""
        return {
            "delete": [name for name in contents["delete"] if name in self.ids],
            "subjects": [name for name in contents["subjects"] if name in self.persons],
            "replace": {name: row for name, row in contents["replace"].items() if name in self.ids},
        }


def _missing_reason(contents: Mapping[str, Any], found: Collection[Mapping[str, Any]]) -> str | None:
    """Return why a request cannot be executed; None if all its names are in some table."""
    wanted = {(kind, name) for kind in ("delete", "subjects", "replace") for name in contents[kind]}
    return NOT_DONE if wanted - {(kind, name) for part in found for kind in part for name in part[kind]} else None


def public_duration(plan: Plan) -> float:
    """Return the public duration in seconds of a run; 0 if no record influences how long a run takes.

    It is the most passes that the solver takes on any table (its quick methods, their sample, and the proven method),
    times a duration per pass that depends on sizes only.
    """
    start = plan.serving.start
    if not isinstance(start, Minimizer) or start.solver == "fixed":
        return 0.0
    proven = solver_passes(
        plan.problem, "fixed", start.tolerance, pull=linear_term_bound(plan.problem, plan.calibration.linear_term)
    )
    passes = start.chain * (2 * quick_passes(plan.problem) + _BESIDE + proven + 2) + plan.calibration.delete_steps
    return passes * (_CALL + _NUMBER * plan.problem.records * plan.problem.features * plan.problem.loss.outputs)
