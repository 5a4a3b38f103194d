"""A store under torchrun: only process 0 holds the lock and writes; the others map its rows and take part in every run.

Process 0 sends what a release is made from besides the rows. Every process then makes that release from the same
rows, each summing over its own share, and process 0 publishes. If a process dies, the run fails: the request stays in
the journal, and the next command completes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..curator.release import ReleaseTask, make_release
from ..engine import Execution
from ..engine.execution import Group
from ..errors import NoisyGDDeleteError, ProcessLost
from ..methods.plan import Plan
from . import training_table
from .layout import Layout

if TYPE_CHECKING:
    from ..records.values import Codec


@dataclass(frozen=True)
class GroupTask:
    """A release to make, as process 0 sends it to the others.

    Attributes:
        held: The plan of the table on disk.
        with_subjects: Whether the table has subjects.
        task: The release.
        codec: How the rows are stored as codes, if they are.
    """

    held: Plan
    with_subjects: bool
    task: ReleaseTask
    codec: Codec | None = None


def follow_group(path: str | Path, execution: Execution) -> None:
    """Take part in every release that process 0 of the group makes from the store at `path`, until it signals the end.

    Raises:
        ProcessLost: If a process of the group has exited.
    """
    layout, nothing = Layout.at(path), cast("GroupTask | None", None)
    while (shared := execution.group.share(nothing)) is not None:
        held, task = shared.held, shared.task
        records = training_table.load_table(
            layout, held.problem.records, held.problem.features, with_subjects=shared.with_subjects, codec=shared.codec
        )
        try:
            make_release(training_table.with_slots(records, task.plan.problem.records), task, execution)
        except ProcessLost:
            raise
        except NoisyGDDeleteError:
            pass  # raised in every process alike; process 0 reports it


@contextmanager
def lead_group(group: Group) -> Iterator[None]:
    """Run process 0's work on a store in the body; the others run `follow_group` until it ends.

    An error that is not this package's own may occur in the middle of a run; the others then notice when this process
    exits.
    """
    try:
        yield
    except ProcessLost:
        raise
    except NoisyGDDeleteError:
        group.share(None)
        raise
    group.share(None)
