"""Releases over a source that continue from one another: the noisy sums of the last one, and the state of its rows.

    rows to delete are read → their patch is drawn and durable → DELETE committed in the source, which no one else
        changed since → the resulting state is known → the patch replaces the stored one → ledger: deleted there
    the rows, in that state → a release drawn from them → stored with their state → ledger: published

Only the source determines whether the rows are in the stored state: by its count of changes, the files of its version,
or the times of its file. Any other change to the rows, or a restored copy, cuts the chain: the next release begins a
new one. So does a crash between a commit and the recording of its state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from noisygd_delete.accountant import Event
from noisygd_delete.curator.carried_noise import make_patch, moments_of
from noisygd_delete.curator.learning import check_fit
from noisygd_delete.curator.model import Continuation, Model
from noisygd_delete.engine import Execution
from noisygd_delete.engine.count_tables import CodedMoments, CountTables
from noisygd_delete.engine.moments import IntegerMoments, Integers
from noisygd_delete.engine.sums import RowsElsewhere, Sums, check_labels, exact_sums
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.features.schema import Encoded, Schema, Table
from noisygd_delete.losses.base import Loss
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.procedure import CarriedSums
from noisygd_delete.records import EditCounts, LeftOut
from noisygd_delete.store.candidate import DrawnPatch, kept_candidate
from noisygd_delete.store.training_table import OpenedStore

from .reading import check_room, columns_of, encoded_blocks
from .source import NOTHING_DONE, ReleaseChain, Source, SourceHistory

Summed = tuple["SummedRows", str, EditCounts | None, LeftOut, str | None]


class SummedRows(RowsElsewhere):
    """One moment of a source, of which only the exact sums are held, for one draw.

    Attributes:
        state: See `Snapshot`.
        unchanged: See `Snapshot`.
    """

    def __init__(self, plan: Plan, moments: IntegerMoments, sums: Integers, state: str | None, unchanged: bool) -> None:
        self._plan, self._moments, self._sums, self.state, self.unchanged = plan, moments, sums, state, unchanged

    @property
    def slots(self) -> int:
        return self._plan.problem.records

    @property
    def width(self) -> int:
        return self._plan.problem.features

    def check(self, loss: Loss, variances: object) -> None:
        """Do nothing: the rows were checked when they were summed."""

    def sums(self, loss: Loss) -> Sums:
        raise InvalidParameter("rows that were summed for method 'sufficient-statistics' answer nothing else")

    def exact_sums(self, moments: IntegerMoments) -> Integers:
        if moments != self._moments:
            raise InvalidParameter("rows were summed for another plan")
        return self._sums


def sum_snapshot(
    source: Source,
    schema: Schema,
    plan: Plan,
    since: str | None = None,
    done: SourceHistory = NOTHING_DONE,
    chain: ReleaseChain | None = None,
) -> Summed:
    """Return the sums of one snapshot and what describes it.

    These are its position, the changes since an earlier one, what was left out, and the definition. The source counts them if it can; otherwise rows are read block by block and not held.

    Raises:
        As `reading.rows_of`.
    """
    problem = plan.problem
    moments, loss = _moments(plan), problem.loss
    workers = source.open_rows(schema, problem.records, done)
    if workers is not None:
        with workers as (held, position, left_out):
            check_fit(held, plan)
            sums, state = exact_sums(held, moments), source.state_at(position)
            changes = None if since is None else source.changes(since, position, columns_of(schema))
        unchanged = chain is not None and state is not None and state == chain.state
        return SummedRows(plan, moments, sums, state, unchanged), position, changes, left_out, None
    with source.snapshot(columns_of(schema), since, done, chain) as now:
        counts = now.counted(schema) if isinstance(moments, CodedMoments) else None
        if counts is not None and isinstance(moments, CodedMoments):
            check_room(source, counts.rows, problem.records)
            sums = moments.of_counts(counts)
        else:
            sums = _sums_of(
                moments,
                loss,
                encoded_blocks(schema, now.blocks, coded=isinstance(moments, CodedMoments)),
                lambda rows: check_room(source, rows, problem.records),
            )
    held = SummedRows(plan, moments, sums, now.state, now.unchanged)
    return held, now.position, now.changes, now.left_out, now.definition


def _moments(plan: Plan) -> IntegerMoments:
    assert isinstance(plan.learning.start, CarriedSums)
    return moments_of(plan.learning.start, plan.shape)


def _sums_of(moments: IntegerMoments, loss: Loss, blocks: Iterable[Encoded], check: Callable[[int], None]) -> Integers:
    """Return exact sums, independent of the order of rows."""
    rows, tables, whole = 0, CountTables({}, {}), np.zeros(moments.size, np.int64)
    for block in blocks:
        rows += len(block.rows)
        check(rows)
        check_labels(block.labels, np.ones(len(block.labels), bool), loss)
        if isinstance(moments, CodedMoments):
            counted = moments.count(moments.coding.of_rows(block.rows), block.labels)
            tables = CountTables.sum_tables([tables, counted])
        else:
            whole += moments.of(block.rows, block.labels)
    return moments.of_counts(tables) if isinstance(moments, CodedMoments) else whole


class KeptChain:
    """The chain of a store over a source, in its patch file.

    Its stamp is the number of the release it belongs to, and the state.
    """

    def __init__(self, files: OpenedStore) -> None:
        self._files = files
        self._taken: Continuation | None = None  # the patch of the current deletion, until its state is known

    @property
    def columns(self) -> list[str]:
        """The columns that a release reads."""
        return columns_of(self._files.schema)

    @property
    def state(self) -> str | None:
        """The state of the rows that the next release continues from; None if it continues from none."""
        found = self._kept
        return None if found is None else found.stamp.partition(" ")[2]

    @property
    def after(self) -> Continuation | None:
        """What the next draw continues from if the rows are in this state."""
        found = self._kept
        return None if found is None else found.after

    @property
    def _kept(self) -> DrawnPatch | None:
        ledger, path = self._files.ledger, self._files.layout.patch
        if ledger.head.model is None or not ledger.plan.mechanism.carries:
            return None
        found = kept_candidate(path, ledger.plan)
        return found if isinstance(found, DrawnPatch) and self._is_of_now(found) else None

    def _is_of_now(self, found: DrawnPatch) -> bool:
        ledger = self._files.ledger
        release, _, state = found.stamp.partition(" ")
        of_now = release == str(ledger.model_release) and found.after.number == ledger.account.since_fresh
        return of_now and bool(state)

    def take(self, before: Iterable[Table], after: Iterable[Table], state: str = "") -> None:
        """Draw the patch of a deletion; see `source.ReleaseChain`.

        It is durable when this returns, if `state` is given.
        """
        plan, goes_on = self._files.ledger.plan, self.after
        assert goes_on is not None
        moments = _moments(plan)
        coded = isinstance(moments, CodedMoments)
        went, came = (
            _sums_of(
                moments, plan.problem.loss, encoded_blocks(self._files.schema, part, coded=coded), lambda rows: None
            )
            for part in (before, after)
        )
        self._taken = make_patch(came - went, plan, goes_on, Execution())
        self.leave(state)

    def leave(self, state: str | None) -> None:
        """Keep the patch of the current deletion under the state after it; without a state, keep nothing."""
        if self._taken is not None and state is not None:
            self._keep(self._files.ledger.model_release, state, self._taken)

    def publish(self, event: Event, model: Model, number: int, state: str | None) -> None:
        """Store a release that is about to be entered in the ledger under this number, with the state of its rows."""
        if state is not None and model.sums is not None:
            drawn = 1 if event.fresh else self._files.ledger.account.since_fresh + 1
            self._keep(number, state, Continuation(drawn, model.sums))

    def _keep(self, release: int, state: str, after: Continuation) -> None:
        DrawnPatch(f"{release} {state}", after).keep(self._files.disk, self._files.layout.candidate)

    def catch_up(self, *, deleted: bool) -> None:
        """Replace the stored sums by the latest draw: the patch of a committed deletion, or the last release."""
        layout, disk = self._files.layout, self._files.disk
        found = kept_candidate(layout.candidate, self._files.ledger.plan)
        if isinstance(found, DrawnPatch) and self._is_of_now(found) and deleted == bool(found.after.patches):
            found.keep(disk, layout.patch)
        elif not deleted and self._kept is None:
            disk.erase(layout.patch)  # no release will continue from it
