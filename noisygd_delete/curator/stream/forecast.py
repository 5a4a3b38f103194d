"""What serving a stream would take and cost, before anything is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...errors import InvalidRequest
from ...privacy.guarantee import FIXED_SCHEDULE, NON_ADAPTIVE
from ...privacy.sentences import shown
from ...records import NO_EDITS, EditCounts, EditRequest
from ..learning import check_edit
from .serving import Batching, Curating


@dataclass(frozen=True)
class StreamForecast:
    """Judged against the table as it is now: a request that an earlier one of the stream makes possible counts as refused, and so does
    another one under a request_id that the stream used; one that an earlier deletion or the same request_id makes moot is seen to be so.

    releases  publications the budget allows; `withheld` says whether it ends before the stream does
    epsilon_before, epsilon_after   at `delta`, of a record still there, over all releases
    epsilon_deletion                of an erased record, from its release on, if requests did not depend on earlier models;
                                    epsilon_deletion_observed: every release observed. None if nothing is erased or released
    """

    requests: int
    repeated: int
    refused: int
    edits: int
    releases: int
    withheld: bool
    steps: int
    gradient_evaluations: int
    delta: float
    epsilon_before: float | None
    epsilon_after: float | None
    epsilon_deletion: float | None
    epsilon_deletion_observed: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        lines = [
            f"would serve {self.requests - self.repeated - self.refused} of {self.requests} requests ({self.repeated} answered before, "
            f"{self.refused} refused): {self.edits} edits, {self.releases} releases, {self.steps} steps, "
            f"{self.gradient_evaluations} record gradients"
        ]
        if self.withheld:
            lines.append("the budget ends before the requests do: rows would be erased, later releases withheld")
        if self.epsilon_before is not None and self.epsilon_after is not None:
            lines.append(
                f"a record still there, over all releases: ε={shown(self.epsilon_before)} now, ε={shown(self.epsilon_after)} after "
                f"(δ={shown(self.delta)}), if {FIXED_SCHEDULE}"
            )
        if self.epsilon_deletion is not None:
            lines.append(
                f"an erased record, from its release on: ε={shown(self.epsilon_deletion)} (δ={shown(self.delta)}), if {NON_ADAPTIVE}; "
                f"every release observed: ε={shown(self.epsilon_deletion_observed)}, if {FIXED_SCHEDULE}"
            )
        return "\n".join(lines)


def forecast(
    curator: Curating,
    requests: Iterable[EditRequest | InvalidRequest],
    batching: Batching,
    *,
    repeats: Callable[[EditRequest], bool] = lambda _: False,
    delta: float = 1e-6,
) -> StreamForecast:
    """Count what `Stream` would do; deadlines are taken as not reached.

    Args:
        repeats: whether a request was answered before; it raises `InvalidRequest` for other contents under a known id.
    """
    plan, ahead = curator.plan, curator.accountant.ahead()
    learned = bool(ahead.account.releases)
    total = repeated = refused = releases = steps = gradients = 0
    told: dict[str, object] = {}
    erased: set[int] = set()
    edits, waiting, withheld = NO_EDITS, EditCounts.of(curator.pending_edits), False

    def publish() -> None:
        nonlocal releases, waiting, withheld, steps, gradients
        event = None if withheld or not learned else ahead.publication(waiting)
        if event is None:
            withheld = learned
            return
        ahead.add(event)
        releases, waiting, steps = releases + 1, NO_EDITS, steps + event.steps
        gradients += plan.gradient_evaluations["learn" if event.kind == "relearn" else "delete"]

    for request in requests:
        total += 1
        if isinstance(request, InvalidRequest):
            refused += 1
            continue
        try:
            if request.request_id in told:
                same = told[request.request_id] == _named(request)
                repeated, refused = repeated + same, refused + (not same)
                continue
            if repeats(request):
                repeated += 1
                continue
            found = check_edit(curator.records, plan, request)
        except InvalidRequest:
            refused += 1
            continue
        slots, deleted = found.slots.tolist(), found.counts.deleted
        named = slots[: len(request.deletions)] + slots[deleted:]
        people = [check_edit(curator.records, plan, EditRequest.delete(subjects=[one])) for one in request.subjects]
        if erased.intersection(named) or any(erased.issuperset(one.slots.tolist()) for one in people):
            refused += 1
            continue
        if request.request_id is not None:
            told[request.request_id] = _named(request)
        gone = set(slots[:deleted])
        counts = replace(
            found.counts, deleted=len(gone - erased)
        )  # rows of a person that went before are not erased again
        erased |= gone
        edits, waiting = edits + counts, waiting + counts
        if batching.size is not None and waiting.total >= batching.size:
            publish()
    if waiting.total:
        publish()
    foreseen = ahead.foresight(delta)
    alone, observed = ahead.deletion(delta) if releases and edits.erased else (None, None)
    return StreamForecast(
        requests=total,
        repeated=repeated,
        refused=refused,
        edits=edits.total,
        releases=releases,
        withheld=withheld,
        steps=steps,
        gradient_evaluations=gradients,
        delta=delta,
        epsilon_before=foreseen.before,
        epsilon_after=foreseen.after,
        epsilon_deletion=alone,
        epsilon_deletion_observed=observed,
    )


def _named(request: EditRequest) -> object:
    """What the request names, to be told from another one under the same id."""
    inserted = request.insertion.ids if request.insertion else None
    return set(request.deletions), set(request.subjects), set(request.replacements), inserted
