"""The curator: runs the learner and the unlearner in sequence on one table, and accounts for every release.

Between releases the curator keeps the current records, the last published model, a patch where sums wait to be published (see `drawing`),
and public facts. Nothing else: no optimiser state, no exact sum, no generator.
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

ABOUT = {  # whom a figure of a release is about, and who observes
    "dp": "a record still there, this model alone",
    "dp_cumulative": "a record still there, every model kept",
    "deletion": "an erased record, later models alone",
    "deletion_observed": "an erased record, every model kept",
}
_OF_SEVERAL = ("dp_cumulative", "deletion_observed")  # models


def format_figure_conditions(name: str, guarantee: Guarantee) -> str:
    """ ", if …": what a figure of a release holds under, by its name."""
    return format_conditions(guarantee, several=name in _OF_SEVERAL)


def _format_limit(name: str, guarantee: Guarantee) -> str:
    return f"({guarantee.adjacency}, {guarantee.unit}) {describe_guarantee(guarantee, several=name in _OF_SEVERAL)}"


@dataclass(frozen=True)
class Release:
    """What one call published, or withheld.

    status           "published", or "withheld": rows edited, publication refused by the budget
    gradient_passes  full passes over the table that it took, and `seconds`: with method="minimiser" both depend on private
                     data, so they are for the caller and never for the ledger
    counts           the edits that it covers, or that wait for one, by kind: `release.counts.deleted`, `.replaced`, `.inserted`; `edits` is
                     their sum
    requested        the edits of this request alone; None where the call was no request to edit
    guarantees       "dp" (this release alone), "dp_cumulative" (all so far); where something was erased (an insertion erases
                     nothing), "deletion" (this release alone, Definition 4.1: only if requests did not depend on earlier
                     models) and "deletion_observed" (every release so far, whatever other requests were)
    model            None when withheld
    remaining        rows of the same persons that were left in the table, as the request found it; None where the table does not say
    answered_before  the request id was known: this is what it was told then, and nothing was done this time
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
        """The kind in a word for people: a release that erased nothing unlearns nothing."""
        return release_label(self.kind, self.counts)

    def __repr__(self) -> str:
        told = "; ".join(f"{ABOUT[name]}: {_format_limit(name, each)}" for name, each in self.guarantees.items())
        return f"Release({self.release}, {self.label!r}, {self.status}, {self.edits} edits, {self.steps} steps; {told})"

    @property
    def guarantee(self) -> Guarantee:
        """What this call was made for: deletion where it erased something, dp for a learn."""
        return self.guarantees.get("deletion", self.guarantees["dp_cumulative" if self.model is None else "dp"])

    def to_dict(self) -> dict[str, Any]:
        """JSON answer to the caller; all but gradient_passes are public facts."""
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
    """Runs A and Ā in sequence on one table, in memory. The table is edited in place: an erased row is gone at once.

    Args:
        records: the table; the curator owns it from here on.
        plan: from `make_plan`.
        execution: whose group shares the check of the rows; default: this process alone.

    Every call that makes a release takes an `Execution` (device, processes, progress), or `rng` alone for research. Request ids are for a
    `Store`, which knows a request again that was answered before.
    """

    def __init__(self, records: CurrentRecords, plan: Plan, *, execution: Execution | None = None) -> None:
        check_fit(records, plan, Execution.of(execution, None).group)
        self._held = records
        self.plan = plan
        self.accountant = Accountant(plan)
        self.pending = NO_EDITS  # edits that no release covers yet
        self._model: Model | None = None
        self._written = _write_count(records)
        self._patch: Continuation | None = None  # that covers what is pending
        self._drawn: tuple[SlotEdits, Release | None] | None = None  # made, and its edits not carried out yet

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
        """A curator in the state that these facts describe: all that may persist between releases. `patch`: that covers the pending edits."""
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
        """The table, for whoever edits it or looks at its rows.

        Raises:
            InvalidParameter: its rows lie elsewhere.
        """
        return local_rows(self._held)

    @property
    def model(self) -> Model:
        """The last published model.

        Raises:
            NotLearned: before `learn`, or when the last model was withdrawn because edits could not be published.
        """
        if self._model is None:
            raise NotLearned("there is no current model: call learn() first, or relearn() after a withheld release")
        return self._model

    @property
    def pending_edits(self) -> int:
        """Edits that no release covers yet; `pending` tells their kinds."""
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
        """Train from the initial law and publish. A second call is a fresh, charged release.

        Raises:
            BudgetExceeded: with the numbers; nothing was published.

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
        """Learn afresh, with a new plan if one is given: how a change of plan is made. Refused, it changes nothing.

        Raises:
            BudgetExceeded, AssumptionViolated: with the numbers; the plan, the model and the account are what they were.
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
        self.plan, self.accountant = plan, accountant  # only now: what was refused, or interrupted, has changed nothing
        return self._publish(event, training)

    def serve(
        self,
        request: EditRequest,
        *,
        publish: bool = True,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release | None:
        """Carry out one request: edit the rows, then publish unless `publish=False` leaves that to a later call.

        Raises:
            InvalidRequest: with nothing changed.
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
        """The release that covers these edits, made from the table before them: whoever asks carries them out next, or has no use for it.

        Only by a method that continues the release before.
        """
        waiting, self.pending = self.pending, self.pending + edits.counts
        try:
            return self._release(execution or Execution(), edits)
        except BaseException:
            self.pending = waiting
            raise

    def _continuation(self, made: EditCounts) -> Continuation | None:
        """The last release, or the patch that covers the edits made since; None where none was made, or none would do: the table was edited
        without one, or the method carries nothing on. Of rows that lie elsewhere, whoever reads them knows it, and gives it as a patch."""
        if not self.plan.mechanism.carries or self._model is None or _write_count(self._held) != self._written:
            return None
        if made.total or not isinstance(self._held, Records):
            return self._patch
        return Continuation(self.accountant.account.since_fresh, self._model.sums)

    def _carry_out(self) -> Release | None:
        """The edits of a draw. Once it was made it stands: none is made again from a table that was touched."""
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
        """One release that covers every pending edit. Withheld, with the old model withdrawn, if the budget is spent.

        With no edit pending it is the last release made again: new noise, charged like any release.

        Where composition's horizon is spent, only a fresh learn forgets: it is run here if the plan says
        fresh_learn="automatic", else the release is withheld until `relearn` is called.

        Raises:
            BudgetExceeded: no edit is pending and the budget is spent; the model stays in force.
        """
        self._carry_out()
        return self._release(Execution.of(execution, rng))

    def _release(self, execution: Execution, edits: SlotEdits | None = None) -> Release:
        after = self._continuation(self.pending if edits is None else self.pending - edits.counts)
        event = self.accountant.publication(self.pending, touched=after is None)
        if event is None or (self._model is None and event.kind == "unlearn"):
            if self._model is not None and not self.pending_edits:  # nobody's erasure waits: no reason to withdraw it
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
        """Put new content in place of records; what they held before is forgotten like a deleted record."""
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
        """Put new records into free slots and publish a model that has seen them."""
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
    """Account for a release that was made, and tell of it."""
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
    """How often the table was written to, where its rows are here."""
    return held.times_written if isinstance(held, Records) else 0


def _refusal_message(accountant: Accountant) -> str:
    spent, plan = accountant.remaining(), accountant.plan
    larger = "dp budget" if plan is None or plan.total is None else "total"
    return (
        f"publishing once more would exceed the budget of {spent.allowed}: {accountant.releases} release{'s are' if accountant.releases > 1 else ' is'} out. "
        f"What is spent stays spent: plan afresh with a larger {larger}, and relearn"
    )
