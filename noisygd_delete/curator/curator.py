"""The curator: runs the learner and the unlearner in sequence on one table, and accounts for every release.

Between releases the curator keeps only the current records, the last published model, a patch if sums are pending
(see `carried_noise`), and public facts: no optimizer state, no exact sum, no generator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..accountant import Accountant, Event
from ..engine import CurrentRecords, Execution, local_rows
from ..errors import NotLearned
from ..methods.plan import Plan
from ..records import NO_EDITS, EditCounts, EditRequest, Id, Records, SlotEdits
from .learning import check_edit, check_fit
from .model import Continuation, Model
from .release import Release, ReleaseTask, make_release


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
    def restore(
        cls,
        records: CurrentRecords,
        plan: Plan,
        *,
        accountant: Accountant,
        model: Model | None,
        pending_edits: int | EditCounts,
    ) -> Curator:
        """Return a curator in the state described by these facts, which are all that persists between releases.

        Args:
            records: The table.
            plan: The current plan.
            accountant: Accounts for the releases so far.
            model: The current model, if any.
            pending_edits: Edits that no release covers yet.
        """
        curator = cls(records, plan)
        curator.accountant, curator._model = accountant, model
        curator.pending = EditCounts.of(pending_edits)
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
        release, event = make_release(self._held, replace(self._task(), plan=plan, learn=True), execution)
        self.plan, self.accountant = plan, self.accountant.with_plan(plan)
        return self._adopt(release, event)

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
        edits, execution = check_edit(self.records, self.plan, request), Execution.of(execution, rng)
        if self.plan.mechanism.carries:
            return self._draw(edits, execution, publish=publish)
        self.records.write(edits)
        self.pending += edits.counts
        return replace(self._publish(execution), requested=edits.counts) if publish else None

    def _draw(self, edits: SlotEdits, execution: Execution, *, publish: bool) -> Release | None:
        """Draw the release that covers the edits, or a patch until it comes, and then carry them out."""
        if publish:
            release, event = make_release(self._held, self._task(edits), execution)
            self._drawn = edits, replace(self._adopt(release, event), requested=edits.counts)
        else:
            from .carried_noise import draw_patch

            patch = draw_patch(self.records, self.plan, edits, self._continuation(), execution)
            self._patch, self._drawn, self.pending = patch, (edits, None), self.pending + edits.counts
        return self._carry_out()

    def _task(self, edits: SlotEdits | None = None) -> ReleaseTask:
        """Return the next release, made before `edits` are carried out if they are given."""
        account = self.accountant.account
        return ReleaseTask(self.plan, account, self._model, self.pending, self._continuation(), edits)

    def _continuation(self) -> Continuation | None:
        """Return what the next draw continues: the last release, or the patch that covers the edits made since.

        Returns:
            None if there is nothing to continue: the table was edited without a patch, or its rows are elsewhere.
        """
        held = self._held
        if self._model is None or not isinstance(held, Records) or held.times_written != self._written:
            return None
        return (
            self._patch if self.pending.total else Continuation(self.accountant.account.since_fresh, self._model.sums)
        )

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
        return self._publish(Execution.of(execution, rng))

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

    def _publish(self, execution: Execution) -> Release:
        return self._adopt(*make_release(self._held, self._task(), execution))

    def _adopt(self, release: Release, event: Event | None) -> Release:
        """Make a release the current one; if it was refused, its edits are pending."""
        if event is None:
            self.pending = release.counts
        else:
            self.accountant.record(event)
            self.pending, self._written = NO_EDITS, _write_count(self._held)
        self._model, self._patch = release.model, None
        return release


def _write_count(held: CurrentRecords) -> int:
    """Return the number of writes to the table, if its rows are in this process."""
    return held.times_written if isinstance(held, Records) else 0
