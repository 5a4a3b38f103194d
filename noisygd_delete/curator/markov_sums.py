"""The curator of a stream of Markov sums, in memory: each release carries on the noise of the one before, which is recomputed and not kept.

    r = y − S(D before the edit);    y = S(D after it) + ⌊c r⌉ + exact discrete Gaussian;    then the table is overwritten

Between releases it keeps the table, y and public facts. The order is the opposite of other curators': the draw is made, and kept, before the
rows are overwritten. Noise recomputed from a table that was edited already is no noise of a draw, and later models would show the row that
is gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accountant import EventKinds, Statuses
from ..bounds.markov_sums import CARRY_BITS
from ..engine import Execution, rows_here
from ..engine.count_tables import CodedMoments
from ..engine.integer_moments import IntegerMoments, Integers, carried
from ..engine.noise import Noise
from ..engine.noisy_moments import NoisyMoments
from ..errors import (
    AssumptionViolated,
    BudgetExceeded,
    InvalidParameter,
    InvalidRecords,
    InvalidRequest,
    NotLearned,
    count,
    scale,
)
from ..methods.markov_sums import SumsPlan
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from ..records import NO_EDITS, EditRequest, Id, Records, SlotEdits
from ..records.sparse import NO_ARRAY
from .curator import Release
from .learning import Model


def moments_of(plan: SumsPlan) -> IntegerMoments:
    """What a plan's sums are of a table."""
    facts = plan.features, plan.outputs, plan.norm_squared, plan.bits, plan.label_bits
    return IntegerMoments(*facts) if plan.coding is None else CodedMoments(*facts, coding=plan.coding)


class PublishedSums:
    """What one publication gives, all of it for nothing more: models of any ridge, components.

    Args:
        published: as `SumsCurator.published` has them, of a plan like this one.
    """

    def __init__(self, plan: SumsPlan, published: Integers, *, certified: bool = True) -> None:
        self._plan, self._certified = plan, certified
        moments = moments_of(plan)
        self._moments = NoisyMoments.of(moments, published, variance=plan.variance, coding=plan.coding)

    def model(self, regularization: float | None = None) -> Model:
        """Log odds of normal classes where rows share a constant (a coded map's do), else least squares.

        Args:
            regularization: λ per slot, in the place of the plan's; a share of the noise is added to the ridge.
        """
        found, plan = self._moments, self._plan
        share = plan.regularization if regularization is None else scale("regularization", regularization)
        ridge = plan.records * share + plan.ridge_share * found.noise
        classes = plan.loss.label_kind != "target" and plan.coding is not None
        weights = found.discriminant(ridge) if classes else found.ridge(ridge) * max(1, plan.outputs)
        weights.flags.writeable = False
        return Model(weights[0] if plan.outputs == 1 else weights, plan.loss, self._certified)

    def components(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(number, features) directions of unit length in which rows spread most, and the sums of squares along each."""
        return self._moments.components(count("number", number, maximum=self._plan.features))

    def whitening(self, number: int) -> NDArray[np.float64]:
        """(number, features): rows times its transpose have mean squares of about 1 in so many directions, of those that stand out
        of the noise."""
        along, sizes = self.components(number)
        floor = self._plan.ridge_share * self._moments.noise
        return along * np.sqrt(self._plan.records / np.maximum(sizes, floor))[:, None]


class SumsCurator:
    """Learns, and serves requests, by Markov sums; one table in memory, which it owns and nobody else edits.

    It refuses to be copied: two that carry on one release's noise show the rows that left since twice.

    Args:
        records: the table, its rows in memory.
        plan: from `plan_sums`.

    Raises:
        AssumptionViolated, InvalidRecords: the table is not the one the plan was made for.
    """

    def __init__(self, records: Records, plan: SumsPlan) -> None:
        self.plan = plan
        self._records = rows_here(records)
        self._moments = moments_of(plan)
        widths = {plan.features} if plan.coding is None else {plan.coding.width, len(plan.coding.sizes)}
        if records.slots != plan.records or records.width not in widths:
            raise AssumptionViolated(
                f"the table has {records.slots} slots and {records.width} features, and the plan {plan.records} and {plan.features}"
            )
        self._check_persons(records.rows_per_subject)
        if records.sparse is not None:
            raise InvalidParameter(NO_ARRAY)
        self._moments.check_rows(records, plan.loss)
        self._written = self._records.times_written
        self._published: Integers | None = None
        self._candidate: tuple[Integers, SlotEdits | None, bool] | None = (
            None  # drawn; the table is not overwritten yet
        )
        self._certified = True
        self._releases = 0

    @property
    def releases(self) -> int:
        """How many were made; the plan covers `plan.releases`."""
        return self._releases

    @property
    def published(self) -> Integers:
        """The sums of the last release, with their noise: whole numbers, as they may be published.

        Raises:
            NotLearned: before `learn`.
        """
        if self._published is None:
            spent = "the last model was withdrawn with rows that no release of the plan was left for"
            raise NotLearned(spent if self._releases else "there is no release yet: call learn() first")
        return self._published

    @property
    def sums(self) -> PublishedSums:
        """The last release, to make models of."""
        return PublishedSums(self.plan, self.published, certified=self._certified)

    @property
    def model(self) -> Model:
        """From the last release alone."""
        return self.sums.model()

    def learn(self, rng: np.random.Generator | None = None, *, execution: Execution | None = None) -> Release:
        """The first release.

        Raises:
            InvalidRequest: it was made already.
        """
        if self._releases:
            raise InvalidRequest(
                "was learned already; a fresh start is another plan and curator, and its budget adds to this one's"
            )
        return self._release(None, None, Execution.of(execution, rng))

    def delete(
        self,
        ids: Iterable[Id] = (),
        *,
        subjects: Iterable[Id] = (),
        request_id: str | None = None,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Erase records by id, or all rows of the given persons, and publish a model to which they are as if they had never been."""
        return self.serve(
            EditRequest.delete(ids, subjects=subjects, request_id=request_id), rng=rng, execution=execution
        )

    def insert(
        self,
        ids: Iterable[Id] | None,
        rows: ArrayLike,
        labels: ArrayLike,
        *,
        subjects: Iterable[Id] | None = None,
        request_id: str | None = None,
        rng: np.random.Generator | None = None,
        execution: Execution | None = None,
    ) -> Release:
        """Put new records into free slots and publish a model that has seen them; only where the plan has `joiners`."""
        request = EditRequest.insert(ids, rows, labels, subjects=subjects, request_id=request_id)
        return self.serve(request, rng=rng, execution=execution)

    def serve(
        self, request: EditRequest, *, rng: np.random.Generator | None = None, execution: Execution | None = None
    ) -> Release:
        """Carry out one request and publish. Where every release of the plan was made the rows are erased all the same; the publication is
        withheld, and the old model withdrawn.

        Raises:
            InvalidRequest, AssumptionViolated: with nothing changed.
        """
        if request.replacements:
            raise InvalidRequest(
                "sums take no replacement of a record: delete it, and insert the new one under an id of its own"
            )
        if request.insertion is not None and not self.plan.joiners:
            raise InvalidRequest("the plan covers no inserted row: plan with joiners=True")
        self._finish()
        if not self._releases:
            raise NotLearned(
                "there is no model to delete from yet: call learn() first, or build Records without the rows"
            )
        edits = self._records.resolve(request)
        self._check_persons(self._records.most_rows_after(edits))
        self._moments.check_rows(Records.from_slots(edits.rows, edits.labels, edits.ids, None), self.plan.loss)
        return self._release(edits, request.request_id, Execution.of(execution, rng))

    def publish(self, *, rng: np.random.Generator | None = None, execution: Execution | None = None) -> Release:
        """One more release of the same table: new noise, charged like any.

        Raises:
            BudgetExceeded: every release of the plan was made.
        """
        self.published  # noqa: B018 - there is something to carry on
        return self._release(None, None, Execution.of(execution, rng))

    def _check_persons(self, rows: int) -> None:
        if rows > self.plan.rows_per_subject:
            raise AssumptionViolated(
                f"is less than the {rows} rows of one person; plan for {rows}",
                rows_per_subject=self.plan.rows_per_subject,
            )

    def _release(self, edits: SlotEdits | None, request_id: str | None, execution: Execution) -> Release:
        began = time.perf_counter()
        self._finish()
        if self._releases == self.plan.releases:
            return self._withhold(edits, request_id)
        if self._records.times_written != self._written:
            raise InvalidRecords(
                "the table was edited elsewhere since the last release; what its noise was is lost: learn afresh"
            )
        noise = execution.noise()
        self._candidate = self._draw(edits, noise), edits, self._certified and noise.certified
        self._finish()
        counts = NO_EDITS if edits is None else edits.counts
        return Release(
            release=self._releases,
            kind=EventKinds.LEARN if self._releases == 1 else EventKinds.UNLEARN,
            steps=0,
            gradient_passes=1,
            edits=counts.total,
            counts=counts,
            guarantees=self._guarantees(erased=bool(counts.erased)),
            model=self.model,
            request_id=request_id,
            seconds=time.perf_counter() - began,
        )

    def _withhold(self, edits: SlotEdits | None, request_id: str | None) -> Release:
        """Erase what no release is left for."""
        if edits is None:
            raise BudgetExceeded(
                f"all {self.plan.releases} releases of the plan were made; learn afresh by a new plan, whose budget adds to this one's"
            )
        self._records.write(edits)
        self._published, self._written = None, self._records.times_written
        return Release(
            release=self._releases,
            kind=EventKinds.UNLEARN,
            steps=0,
            gradient_passes=0,
            edits=edits.counts.total,
            counts=edits.counts,
            guarantees={"dp_cumulative": self.plan.observed(self.plan.adjacency, self._releases)},
            model=None,
            status=Statuses.WITHHELD,
            request_id=request_id,
        )

    def _draw(self, edits: SlotEdits | None, noise: Noise) -> Integers:
        """y of the next release; the sums, and the noise before it, are dropped with the call."""
        carry, variance = self.plan.draws[self._releases]
        before = self._moments.of_table(self._records)
        after = before if edits is None else before + self._change(edits)
        fresh = self._moments.noise(noise, variance=variance, label_weight=self.plan.label_weight)
        rest = 0 if self._published is None else carried(self._published - before, carry, CARRY_BITS)
        drawn: Integers = after + rest + fresh
        drawn.flags.writeable = False
        return drawn

    def _change(self, edits: SlotEdits) -> Integers:
        """What an edit changes the sums by: of the slots that it touches alone."""
        held = self._records.occupied[edits.slots]
        gone = edits.slots[held]
        new = np.array([name is not None for name in edits.ids], bool)
        came = self._moments.of(edits.rows[new], edits.labels[new])
        return came - self._moments.of(self._records.features[gone], self._records.labels[gone])

    def _finish(self) -> None:
        """Overwrite the rows and switch to what was drawn. Once it was begun the draw stands: it is never made again from a table
        that has been touched."""
        if self._candidate is None:
            return
        drawn, edits, certified = self._candidate
        if edits is not None:
            self._records.write(edits)
        self._published, self._certified = drawn, certified
        self._written, self._candidate = self._records.times_written, None
        self._releases += 1

    def _guarantees(self, *, erased: bool) -> dict[str, Guarantee]:
        plan, number = self.plan, self._releases
        told = plan.observed(plan.adjacency, number)
        found = {"dp": told, "dp_cumulative": told}
        if erased:
            found["deletion"] = plan.later()
            found["deletion_observed"] = plan.observed(Worlds.DEFINITION_4_1, number)
        return found

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            "a curator of sums is never copied or pickled: two that carry on one noise show what they share"
        )

    __reduce_ex__ = __reduce__ = __copy__ = __deepcopy__ = _refuse
