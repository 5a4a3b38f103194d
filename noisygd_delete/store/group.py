"""A store under torchrun: process 0 holds it and alone writes; the others map its rows and share every run.

Process 0 sends what a curator may keep between releases, and which of its calls is to be made. Then every process makes
that call of `Curator` on the same rows, each summing over its own, and process 0 goes on to publish. A process that dies
takes the run with it: the request stays in the journal, and the next command finishes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ..accountant import Account, Accountant, Event
from ..curator.curator import Curator, Release
from ..curator.model import Continuation, Model
from ..engine import CurrentRecords, Execution
from ..engine.group import Group
from ..errors import NoisyGDDeleteError, ProcessLost
from ..methods.plan import Plan
from ..records import EditCounts, SlotEdits
from . import table
from .layout import Layout


@dataclass(frozen=True)
class GroupRun:
    """One release to be made: the curator's state, and "learn", "publish", or "draw", before the `edits` that it covers are carried out.
    `held` is the plan of the table on disk; `patch` covers what is pending."""

    action: str
    held: Plan
    plan: Plan
    with_subjects: bool
    account: Account
    model: Model | None
    pending: EditCounts
    request_id: str | None = None
    edits: SlotEdits | None = None
    patch: Continuation | None = None

    def lead(self, records: CurrentRecords, execution: Execution) -> tuple[Release, Event]:
        """Process 0's part: the release, and the last event of the ledger it belongs to."""
        execution.group.share(self)
        return self._run(records, execution)

    def _run(self, records: CurrentRecords, execution: Execution) -> tuple[Release, Event]:
        curator = Curator.restored(
            table.with_slots(records, self.plan.records),
            self.plan,
            accountant=Accountant.resumed(self.plan, self.account),
            model=self.model,
            pending_edits=self.pending,
            patch=self.patch,
            execution=execution,
        )
        if self.action == "draw":
            assert self.edits is not None
            release = curator.draw(self.edits, self.request_id, execution=execution)
        else:
            call = curator.learn if self.action == "learn" else curator.publish
            release = call(request_id=self.request_id, execution=execution)
        return release, curator.accountant.last

    def follow(self, layout: Layout, execution: Execution) -> None:
        """Another process's part."""
        records = table.load(layout, self.held, with_subjects=self.with_subjects)
        try:
            self._run(records, execution)
        except ProcessLost:
            raise
        except NoisyGDDeleteError:
            pass  # what refuses a run refuses it in every process alike, and process 0 says so


def follow(path: str | Path, execution: Execution) -> None:
    """Take part in every release that process 0 of the group makes from the store at `path`, until it says that it is done.

    Raises:
        ProcessLost: a process of the group has gone.
    """
    layout, nothing = Layout.at(path), cast("GroupRun | None", None)
    while (task := execution.group.share(nothing)) is not None:
        task.follow(layout, execution)


@contextmanager
def leading(group: Group) -> Iterator[None]:
    """Process 0's work on a store; the others `follow` until it is done.

    An error of another kind than this package's own may come in the middle of a run: then the others learn of it by the
    end of this process.
    """
    try:
        yield
    except ProcessLost:
        raise
    except NoisyGDDeleteError:
        group.share(None)
        raise
    group.share(None)
