"""The parts of a store's crew in one process: what process 0 says, and what another does when it hears it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.accountant import Account
from noisygd_delete.curator.release import ReleaseTask
from noisygd_delete.engine import Execution
from noisygd_delete.engine.execution import Group
from noisygd_delete.errors import AssumptionViolated, ProcessLost
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store
from noisygd_delete.store import group as groups
from noisygd_delete.store.group import GroupTask, follow_group, lead_group

from .conftest import contents, plan


@dataclass(frozen=True)
class Hearing(Group):
    """A group of one that hears these tasks, one after the other, whenever it has nothing to say itself."""

    tasks: list[GroupTask | None] = field(default_factory=list)
    said: list[object] = field(default_factory=list)

    def share(self, value):
        if value is None and self.tasks:
            return self.tasks.pop(0)
        self.said.append(value)
        return value


def task(events=(), model=None, pending: int = 0, *, learn: bool = False) -> GroupTask:
    release = ReleaseTask(plan(), Account.of(events), model, EditCounts.of(pending), learn=learn)
    return GroupTask(plan(), True, release)


def test_a_follower_runs_what_it_hears_until_the_end(path: Path, monkeypatch) -> None:
    with Store.open(path) as store:
        events, model = store.accountant.events, store.model
    before = contents(path)
    ran, right = [], groups.make_release

    def noted(*given):
        ran.append(right(*given)[1].kind)

    monkeypatch.setattr(groups, "make_release", noted)
    group = Hearing(tasks=[task(learn=True), task(events, model, 1), None])
    follow_group(path, Execution(group=group))
    assert ran == ["learn", "unlearn"]
    assert group.tasks == []
    assert contents(path) == before, "only process 0 writes"


def test_process_0_sends_each_release_with_all_that_it_is_made_from(path: Path) -> None:
    group = Hearing()
    with Store.open(path) as store:
        account, model, held = store.ledger.account, store.model, store.plan
        store.serve(EditRequest.delete(store.records.ids[:2]), execution=Execution(group=group))
        store.relearn(grown := plan(slots=17), execution=Execution(group=group))
    deleted, learned = (said for said in group.said if isinstance(said, GroupTask))
    sent = deleted.task
    assert (deleted.held, deleted.with_subjects, deleted.codec, sent.plan, sent.learn) == (
        held,
        True,
        None,
        held,
        False,
    )
    assert (sent.account, sent.pending) == (account, EditCounts(deleted=2))
    assert (sent.model.weights == model.weights).all()
    assert (learned.held, learned.task.plan, learned.task.learn) == (held, grown, True)


@pytest.mark.parametrize(("error", "heard"), [(AssumptionViolated("planted"), True), (ProcessLost("planted"), False)])
def test_a_refusal_is_everybodys_and_a_lost_process_ends_the_run(path: Path, monkeypatch, error, heard: bool) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(groups, "make_release", fails)
    group = Hearing(tasks=[task(learn=True), None])
    if heard:
        follow_group(path, Execution(group=group))
        assert group.tasks == []
    else:
        with pytest.raises(ProcessLost):
            follow_group(path, Execution(group=group))
    leader = Hearing()
    with pytest.raises(type(error)), lead_group(leader):
        raise error
    assert leader.said == ([None] if heard else [])
    with lead_group(leader):
        pass
    assert leader.said[-1:] == [None]
