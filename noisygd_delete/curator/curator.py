"""The curator: runs the learner and the unlearner in sequence on one table, and accounts for every release.

Between releases the curator keeps only the current records, the last published model, a patch if sums are pending
(see `carried_noise`), and public facts: no optimizer state, no exact sum, no generator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..accountant import Accountant, Event, EventKinds, Statuses, release_label
from ..engine import CurrentRecords, Execution, local_rows
from ..errors import BudgetExceeded, NotLearned
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, describe_guarantee, format_conditions
from ..records import NO_EDITS, EditCounts, EditRequest, Id, Records, SlotEdits
from .learning import check_edit, check_fit, train, train_on
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


def _format_limit(name: str, guarantee: Guarantee) -> str:
    return f"({guarantee.adjacency}, {guarantee.unit}) {describe_guarantee(guarantee, several=name in _OF_SEVERAL)}"


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
        told = "; ".join(f"{ABOUT[name]}: {_format_limit(name, each)}" for name, each in self.guarantees.items())
        return f"Release({self.release}, {self.label!r}, {self.status}, {self.edits} edits, {self.steps} steps; {told})"

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


class Curator:
    """Runs A and Ā in sequence on one table in memory. The table is edited in place: an erased row is removed at once.

    Every method that makes a release takes an `Execution` (device, processes, progress), or `rng` alone for research.
    Idempotent request ids need a `Store`.

    Args:
        records: The table; the curator owns it from here on.
        plan: From `make_plan`.
        execution: Its group shares the validation of the rows; default: this process alone.

    Raises:
        AssumptionViolated: If the table is not the one that the plan was made for.
    """

    def __init__(self, records: CurrentRecords, plan: Plan, *, execution: Execution | None = None) -> None:
        check_fit(records, plan, Execution.of(execution, None).group)
        self._held = records
        self.plan = plan
        self.accountant = Accountant(plan)
        self.pending = NO_EDITS  # edits that no release covers yet
        self._model: Model | None = None
        self._written = _write_count(records)
        self._patch: Continuation | None = None  # covers the pending edits
        self._drawn: tuple[SlotEdits, Release | None] | None = None  # release made, edits not carried out yet

    @classmethod
    def restored(
        cls,
        records: CurrentRecords,
        plan: Plan,
        *,
        accountant: Accountant,
        model: Model | None,
        pending_edits: int | EditCounts,
        patch: Continuation | None = None,
        execution: Execution | None = None,
    ) -> Curator:
        """Return a curator in the state described by these facts, which are all that persists between releases.

        Args:
            records: The table.
            plan: The current plan.
            accountant: Accounts for the releases so far.
            model: The current model, if any.
            pending_edits: Edits that no release covers yet.
            patch: The patch that covers the pending edits.
            execution: As for the constructor.
        """
        curator = cls(records, plan, execution=execution)
        curator.accountant = accountant
        curator.pending = EditCounts.of(pending_edits)
        curator._model, curator._patch = model, patch
        return curator

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.plan.mechanism.carries:
            raise TypeError(
                "a curator whose noise is carried on is never copied or pickled: two of them show what they share"
            )
        return super().__reduce_ex__(protocol)

    @property
    def records(self) -> Records:
        """The table, for editing or reading rows.

        Raises:
            InvalidParameter: If the rows are not in this process.
        """
        return local_rows(self._held)

    @property
    def model(self) -> Model:
        """The last published model.

        Raises:
            NotLearned: Before `learn`, or if the last model was withdrawn because edits could not be published.
        """
        if self._model is None:
            raise NotLearned("there is no current model: call learn() first, or relearn() after a withheld release")
        return self._model

    @property
    def pending_edits(self) -> int:
        """Number of edits that no release covers yet; `pending` has their kinds."""
        return self.pending.total

    @property
    def _begun(self) -> bool:
        account = self.accountant.account
        return account.releases > account.trained

    def learn(
        self,
        rng: np.random.Generator | None = None,
        *,
        execution: Execution | None = None,
    ) -> Release:
        """Train from the initial law and publish. A second call is a fresh release and charged as such.

        Raises:
            BudgetExceeded: If the release exceeds the budget; nothing was published.

        Warns:
            NothingPromised: If the plan takes no step to learn, or its bound on the excess risk is vacuous.
        """
        self.plan.warn_if_vacuous()
        return self._learn(self.plan, Execution.of(execution, rng))

    def relearn(
        self,
        plan: Plan | None = None,
        rng: np.random.Generator | None = None,
        *,
        execution: Execution | None = None,
    ) -> Release:
        """Learn afresh, with a new plan if one is given. If refused, nothing changes.

        Raises:
            BudgetExceeded: If the release exceeds the budget; the plan, the model and the account are unchanged.
            AssumptionViolated: If the table does not fit the plan; likewise unchanged.
        """
        chosen = self.plan if plan is None else plan
        if self._begun:
            chosen = chosen.after(self.plan, self.accountant.dp_cumulative(adjacency=chosen.problem.adjacency))
        return self._learn(chosen, Execution.of(execution, rng))

    def _learn(self, plan: Plan, execution: Execution) -> Release:
        self._carry_out()
        accountant = self.accountant.with_plan(plan)
        event = accountant.planned("relearn" if self._begun else "learn", self.pending)
        if not accountant.affordable(event):
            raise BudgetExceeded(_refusal_message(accountant))
        training = train(self._held, plan, plan.learning, None, execution)
        self.plan, self.accountant = plan, accountant  # only now: a refused or interrupted call changes nothing
        return self._publish(event, training)

    def serve(
        self,
        request: EditRequest,
        *,
        publish: bool = True,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release | None:
        """Carry out one request: edit the rows, then publish unless `publish=False` defers that to a later call.

        Raises:
            InvalidRequest: If the request is not valid; nothing was changed.
            NotLearned: If no model was learned yet.
        """
        if self._model is None and not self._begun:
            raise NotLearned(
                "there is no model to delete from yet: call learn() first, or build Records without the rows"
            )
        self._carry_out()
        edits = check_edit(self.records, self.plan, request)
        if publish and self.plan.mechanism.carries:
            drawn = self.draw(edits, execution=Execution.of(execution, rng))
            self._drawn = edits, replace(drawn, requested=edits.counts)
            return self._carry_out()
        after = None if publish else self._continuation(self.pending)
        if after is not None:
            from .carried_noise import change_of_edits, make_patch

            patch = make_patch(
                change_of_edits(self.records, self.plan, edits), self.plan, after, Execution.of(execution, rng)
            )
            self._patch, self._drawn, self.pending = patch, (edits, None), self.pending + edits.counts
            return self._carry_out()
        self.records.write(edits)
        self.pending += edits.counts
        if not publish:
            return None
        return replace(self._release(Execution.of(execution, rng)), requested=edits.counts)

    def draw(self, edits: SlotEdits, *, execution: Execution | None = None) -> Release:
        """Make the release that covers these edits from the table before them; carry the edits out next.

        Only for a method that carries noise on from the previous release.
        """
        waiting, self.pending = self.pending, self.pending + edits.counts
        try:
            return self._release(execution or Execution(), edits)
        except BaseException:
            self.pending = waiting
            raise

    def _continuation(self, made: EditCounts) -> Continuation | None:
        """Return what the next draw continues: the last release, or the patch that covers the edits made since.

        Returns:
            None if there is nothing to continue: the table was edited without a patch, or the method carries no noise
            on. If the rows are not in this process, the code that reads them checks this and passes a patch.
        """
        if not self.plan.mechanism.carries or self._model is None or _write_count(self._held) != self._written:
            return None
        if made.total or not isinstance(self._held, Records):
            return self._patch
        return Continuation(self.accountant.account.since_fresh, self._model.sums)

    def _carry_out(self) -> Release | None:
        """Carry out the edits of a draw. A draw once made is final: none is repeated from an edited table."""
        if self._drawn is None:
            return None
        edits, release = self._drawn
        self.records.write(edits)
        self._written, self._drawn = _write_count(self._held), None
        return release

    def publish(
        self,
        *,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Make one release that covers every pending edit.

        If the budget is exhausted, the release is refused and the old model withdrawn. With no edit pending, the last
        release is repeated with new noise and charged like any release.

        If the horizon of composition is exhausted, only a fresh learn forgets: it is run here if the plan has
        fresh_learn="automatic"; otherwise the release is refused until `relearn` is called.

        Raises:
            BudgetExceeded: If no edit is pending and the budget is exhausted; the current model stays valid.
        """
        self._carry_out()
        return self._release(Execution.of(execution, rng))

    def _release(self, execution: Execution, edits: SlotEdits | None = None) -> Release:
        after = self._continuation(self.pending if edits is None else self.pending - edits.counts)
        event = self.accountant.publication(self.pending, touched=after is None)
        if event is None or (self._model is None and event.kind == "unlearn"):
            if self._model is not None and not self.pending_edits:  # no erasure is pending: no reason to withdraw
                raise BudgetExceeded(_refusal_message(self.accountant))
            self._model = self._patch = None
            spent = {"dp_cumulative": self.accountant.dp_cumulative()}
            number = self.accountant.releases
            return Release(
                release=number,
                kind=EventKinds.UNLEARN,
                steps=0,
                gradient_passes=0,
                edits=self.pending_edits,
                counts=self.pending,
                guarantees=spent,
                model=None,
                status=Statuses.WITHHELD,
            )
        if event.kind is EventKinds.RELEARN:
            begun = Continuation(edits=edits)
            training = train(self._held, self.plan, self.plan.learning, None, execution, begun)
        else:
            goes_on = replace(after or Continuation(), edits=edits)
            training = train_on(self._held, self.model, self.plan, execution, goes_on)
        return self._publish(event, training)

    def delete(
        self,
        ids: Iterable[Id] = (),
        *,
        subjects: Iterable[Id] = (),
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Erase records by id, or all rows of the given subjects, and publish a model that forgot them."""
        return self._served(EditRequest.delete(ids, subjects=subjects), Execution.of(execution, rng))

    def replace(
        self,
        replacements: Mapping[Id, tuple[ArrayLike, float]],
        *,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Replace the content of records; the old content is forgotten like a deleted record."""
        return self._served(EditRequest.replace(replacements), Execution.of(execution, rng))

    def insert(
        self,
        ids: Iterable[Id] | None,
        rows: ArrayLike,
        labels: ArrayLike,
        *,
        subjects: Iterable[Id] | None = None,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Insert new records into free slots and publish a model trained with them."""
        request = EditRequest.insert(ids, rows, labels, subjects=subjects)
        return self._served(request, Execution.of(execution, rng))

    def _served(self, request: EditRequest, execution: Execution) -> Release:
        release = self.serve(request, execution=execution)
        assert release is not None
        return release

    def _publish(self, event: Event, training: Training) -> Release:
        release = record_release(self.accountant, event, training)
        self._model, self._patch, self.pending = training.model, None, NO_EDITS
        self._written = _write_count(self._held)
        return release


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


def _write_count(held: CurrentRecords) -> int:
    """Return the number of writes to the table, if its rows are in this process."""
    return held.times_written if isinstance(held, Records) else 0


def _refusal_message(accountant: Accountant) -> str:
    spent, plan = accountant.remaining(), accountant.plan
    larger = "dp budget" if plan is None or plan.total is None else "total"
    return (
        f"publishing once more would exceed the budget of {spent.allowed}: {accountant.releases} release{'s are' if accountant.releases > 1 else ' is'} out. "
        f"What is spent stays spent: plan afresh with a larger {larger}, and relearn"
    )
