"""One function makes every release: the curator in memory and the store's transaction both call it.

It is given the rows and everything else that persists between releases, and changes neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..accountant import Account, Accountant, Event, EventKinds, Statuses, release_label
from ..engine import CurrentRecords, Execution
from ..errors import BudgetExceeded
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, format_conditions, summarize_guarantee
from ..records import NO_EDITS, EditCounts, SlotEdits
from .learning import check_model, train
from .model import Continuation, Model, Training

ABOUT = {  # for each figure of a release: the record it is about, and what is observed
    "dp": "a record still there, this model alone",
    "dp_cumulative": "a record still there, every model kept",
    "deletion": "an erased record, later models alone",
    "deletion_observed": "an erased record, every model kept",
}
_OF_SEVERAL = ("dp_cumulative", "deletion_observed")  # models


def format_figure_conditions(name: str, guarantee: Guarantee) -> str:
    """Format the conditions (", if …") under which a figure of a release holds."""
    return format_conditions(guarantee, several=name in _OF_SEVERAL)


@dataclass(frozen=True)
class Release:
    """The result of one call: a published release, or one refused by the budget.

    Attributes:
        release: Number of the release.
        kind: One of `EventKinds`.
        steps: Number of Noisy-GD steps.
        gradient_passes: Full passes over the table. With method="output-perturbation" this and `seconds` depend on private data,
            so they are for the caller and never for the ledger.
        edits: Sum of `counts`.
        guarantees: "dp" (this release alone), "dp_cumulative" (all so far); if something was erased (an insertion
            erases nothing), also "deletion" (this release alone, Definition 4.1: only if requests did not depend on
            earlier models) and "deletion_observed" (every release so far, for any requests by others).
        model: The published model; None if refused.
        status: "published", or "withheld": the rows were edited, but the budget refused the release.
        request_id: Id of the request.
        seconds: Running time; see `gradient_passes`.
        answered_before: Whether the request id was known: this is the original result, and nothing was done now.
        counts: Edits that it covers, or that are pending, by kind: `counts.deleted`, `.replaced`, `.inserted`.
        remaining: Rows of the same persons left in the table, as of the request; None if the table does not record
            persons.
        requested: Edits of this request alone; None if the call was not an edit request.
    """

    release: int
    kind: EventKinds
    steps: int
    gradient_passes: int
    edits: int
    guarantees: Mapping[str, Guarantee]
    model: Model | None = field(repr=False)
    status: Statuses = Statuses.PUBLISHED
    request_id: str | None = None
    seconds: float = 0.0
    answered_before: bool = False
    counts: EditCounts = NO_EDITS
    remaining: int | None = None
    requested: EditCounts | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.counts.among(self.edits))
        object.__setattr__(self, "kind", EventKinds(self.kind))
        object.__setattr__(self, "status", Statuses(self.status))

    @property
    def label(self) -> str:
        """The kind for display; an unlearn that erased nothing is a "resume"."""
        return release_label(self.kind, self.counts)

    def __repr__(self) -> str:
        figures = [
            f"  {ABOUT[name] + ':':<41}{summarize_guarantee(guarantee, several=name in _OF_SEVERAL)}"
            for name, guarantee in self.guarantees.items()
        ]
        facts = f"{self.release}, {self.label!r}, {self.status}, edits={self.edits}, steps={self.steps}"
        return "\n".join([f"Release({facts})", *figures])

    @property
    def guarantee(self) -> Guarantee:
        """The main guarantee of the call: deletion if it erased something, dp for a learn."""
        return self.guarantees.get("deletion", self.guarantees["dp_cumulative" if self.model is None else "dp"])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary; everything except `gradient_passes` is public."""
        return {
            "release": self.release,
            "kind": str(self.kind),
            "status": str(self.status),
            "steps": self.steps,
            "edits": self.edits,
            "counts": self.counts.to_dict(),
            "requested": None if self.requested is None else self.requested.to_dict(),
            "gradient_passes": self.gradient_passes,
            "certified": None if self.model is None else self.model.certified,
            "request_id": self.request_id,
            "remaining": self.remaining,
            "answered_before": self.answered_before,
            "guarantees": {name: guarantee.to_dict() for name, guarantee in self.guarantees.items()},
        }


@dataclass(frozen=True)
class ReleaseTask:
    """One release to make: what persists between releases besides the rows, and what the release covers.

    Attributes:
        plan: The plan of the release.
        account: The sums of all releases so far.
        model: The last published model, if any.
        pending: Edits of the rows that no release covers yet.
        after: What the noise of this release continues; None if the rows were edited without a draw for it.
        edits: Edits that the release covers and that the rows do not have yet, for a method that carries noise on.
        learn: Whether to learn afresh.
    """

    plan: Plan
    account: Account
    model: Model | None
    pending: EditCounts = NO_EDITS
    after: Continuation | None = None
    edits: SlotEdits | None = None
    learn: bool = False


def make_release(records: CurrentRecords, task: ReleaseTask, execution: Execution) -> tuple[Release, Event | None]:
    """Return a release and its event; the event is None if the budget refused a release that erases something.

    Args:
        records: The table; for a method that carries noise on, as the last release left it.
        task: The release to make.
        execution: Device, processes, noise and progress.

    Raises:
        BudgetExceeded: If the release exceeds the budget and covers no edit, so that the current model stays valid.
        AssumptionViolated: If the table is not the one that the plan was made for.
    """
    plan, account, model = task.plan, task.account, task.model
    pending = task.pending if task.edits is None else task.pending + task.edits.counts
    accountant = Accountant.from_account(plan, account)
    event: Event | None
    if task.learn:
        accountant = accountant.with_plan(plan)  # raises if it contradicts the releases so far
        event = accountant.planned_event("relearn" if account.releases > account.trained else "learn", pending)
        if not accountant.affordable(event):
            raise BudgetExceeded(_refusal_message(accountant))
    else:
        event = accountant.publication(pending, touched=task.after is None)
        if event is None or (model is None and event.kind is EventKinds.UNLEARN):
            if model is not None and not pending.total:  # no erasure is pending: no reason to withdraw
                raise BudgetExceeded(_refusal_message(accountant))
            return _withheld_release(accountant, pending), None
    if model is None or event.kind is not EventKinds.UNLEARN:
        training = train(records, plan, plan.learning, None, execution, Continuation(edits=task.edits))
    else:
        after = replace(task.after or Continuation(), edits=task.edits)
        training = train(records, plan, plan.serving, check_model(model, plan), execution, after).continue_from(model)
    return record_release(accountant, event, training), event


def _withheld_release(accountant: Accountant, pending: EditCounts) -> Release:
    return Release(
        release=accountant.releases,
        kind=EventKinds.UNLEARN,
        steps=0,
        gradient_passes=0,
        edits=pending.total,
        counts=pending,
        guarantees={"dp_cumulative": accountant.dp_cumulative()},
        model=None,
        status=Statuses.WITHHELD,
    )


def record_release(accountant: Accountant, event: Event, training: Training) -> Release:
    """Record a release in the accountant and return its result."""
    number = accountant.record(event)
    guarantees = {"dp": accountant.dp(), "dp_cumulative": accountant.dp_cumulative()}
    if event.counts.erased:
        guarantees["deletion"] = accountant.deletion_later_releases()
        guarantees["deletion_observed"] = accountant.deletion_observed()
    return Release(
        release=number,
        kind=event.kind,
        steps=event.steps,
        gradient_passes=training.gradient_passes,
        seconds=training.seconds,
        edits=event.edits,
        counts=event.counts,
        guarantees=guarantees,
        model=training.model,
    )


def _refusal_message(accountant: Accountant) -> str:
    spent, plan = accountant.remaining(), accountant.plan
    larger = "dp budget" if plan is None or plan.problem.total is None else "total"
    return (
        f"publishing once more would exceed the budget of {spent.allowed}: {accountant.releases} release{'s are' if accountant.releases > 1 else ' is'} out. "
        f"What is spent stays spent: plan afresh with a larger {larger}, and relearn"
    )
