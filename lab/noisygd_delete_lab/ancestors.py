"""Runs of stages one by one, and what a set of them reveals: the sum over everything that it rests on (`methods.ladder.LadderRun` has the proof).

The accountant answers for a ladder from the exposures that its events carry. This is the long form, for runs in any order and with
any inputs: levels that vary, bases learned again under published heads, trials that somebody looked at. Who observed what is said
with each question and kept nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from noisygd_delete.accountant.events import Event, EventKinds
from noisygd_delete.errors import InvalidParameter, check_count
from noisygd_delete.methods.base import Mechanism
from noisygd_delete.methods.ladder import LadderRun
from noisygd_delete.privacy.guarantee import NON_ADAPTIVE, Guarantee

GROUP_LAWS = ("linear", "none")


def ancestors(*, parents: Mapping[int, Iterable[int]], seen: Iterable[int]) -> frozenset[int]:
    """An(seen): the runs themselves and whatever they read, directly or not. `parents` names the inputs of every run."""
    found: set[int] = set()
    open_ = list(seen)
    while open_:
        run = open_.pop()
        if run not in found:
            found.add(run)
            open_ += parents[run]
    return frozenset(found)


@dataclass(frozen=True)
class StageRun:
    """One run of one stage, as public facts.

    number       of the run; stage: which rung
    mechanism    what the run costs one row for every value of its inputs; steps: its noisy steps
    table        version of the table that it ran on; slots: which of its slots took part, None for all of them
    parents      runs whose outputs it read, all of them; None: not recorded, and nothing can be said
    soft         runs where a solver started that reaches its answer, within a tolerance, from anywhere: no parents
    group        "linear": m rows of a person count as a row m times as heavy. "none": only what the mechanism itself covers
    attempts     runs of which this one was chosen by its outcome
    """

    number: int
    stage: int
    mechanism: Mechanism
    steps: int
    table: int
    parents: tuple[int, ...] | None = ()
    slots: frozenset[int] | None = None
    soft: tuple[int, ...] = ()
    group: str = "none"
    attempts: int = 1

    def __post_init__(self) -> None:
        for name in ("number", "stage", "table"):
            check_count(name, getattr(self, name), minimum=0)
        check_count("attempts", self.attempts)
        self.mechanism.check(self.steps)
        if self.group not in GROUP_LAWS:
            raise InvalidParameter(
                f"must be one of {', '.join(map(repr, GROUP_LAWS))}: how a run's cost grows with the rows of a person is "
                "not known else, and no figure for a person follows",
                group=self.group,
            )


@dataclass(frozen=True)
class Presence:
    """A row of the person: in a slot from one version of the table on, until another one (None: still there)."""

    slot: int
    entered: int
    left: int | None = None

    def within(self, run: StageRun) -> bool:
        """Whether the run read it."""
        there = self.entered <= run.table and (self.left is None or run.table < self.left)
        return there and (run.slots is None or self.slot in run.slots)


def ancestor_guarantee(
    runs: Sequence[StageRun],
    about: str,
    worlds: str,
    *,
    person: Iterable[Presence],
    observed: Iterable[int],
    seen_by_requesters: Iterable[int] = (),
) -> Guarantee:
    """What an observer of some runs learns about all rows of a person together.

    Args:
        runs: every run, in the order of time.
        person: her rows, those that came back under another id included.
        observed: O, the runs that the observer sees. seen_by_requesters: V, those that anybody saw who made or tuned a request. With
            V empty the figure holds only if requests did not depend on earlier models, and says so.

    Raises:
        InvalidParameter: a run's inputs are not recorded, the group law is not known for so many rows, or no order has a finite bound.
    """
    by_number = {run.number: run for run in runs}
    rows, seen, watched = tuple(person), frozenset(observed), frozenset(seen_by_requesters)
    for run in runs:
        for other in (*(run.parents or ()), *run.soft):
            if other not in by_number or not other < run.number:
                raise InvalidParameter(
                    f"run {run.number} reads run {other}, which is not recorded before it; record every run"
                )
    for number in seen | watched:
        if number not in by_number:
            raise InvalidParameter(f"run {number} was observed and is not recorded; record every run")
    unrecorded = [run.number for run in runs if run.parents is None]
    known = {number: run.parents or () for number, run in by_number.items()}
    closure = ancestors(parents=known, seen=seen | watched)
    if closure & set(unrecorded):
        raise InvalidParameter(
            f"run {min(closure & set(unrecorded))} has no record of what it read: nothing that rests on it can be certified; learn afresh"
        )
    parts = [_charge(by_number[number], about, worlds, rows, closure) for number in sorted(closure)]
    if not parts:
        raise InvalidParameter("nothing was observed; name at least one run")
    total = Guarantee.composed((part, 1) for part in parts)
    if total.points and not any(math.isfinite(total.renyi(order)) for order, _ in total.points):
        raise InvalidParameter(
            "the runs have no order in common at which all of them are bounded; account them at the same orders"
        )
    everything = seen | watched == by_number.keys()
    condition = (
        "every run is observed"
        if everything
        else "requests depended on the named runs alone"
        if watched
        else NON_ADAPTIVE
    )
    return total.assuming(condition)


def _charge(run: StageRun, about: str, worlds: str, rows: tuple[Presence, ...], closure: frozenset[int]) -> Guarantee:
    number, mechanism = sum(row.within(run) for row in rows), run.mechanism
    exposure = mechanism.exposure(run.steps)
    if not number:
        if set(run.soft) <= closure:  # given where it started both worlds run the same
            return mechanism.interval(about, worlds, steps_with=0)
        return mechanism.interval(about, worlds, steps_with=1, steps_without=exposure).times(run.attempts)
    cost = mechanism.interval(about, worlds, steps_with=exposure).times(run.attempts)
    if number <= cost.rows:
        return cost
    if run.group != "linear" or cost.gdp is None:
        raise InvalidParameter(
            f"run {run.number} read {number} rows of the person and its bound covers {cost.rows}: how it grows with rows is not known; plan "
            "with rows_per_subject"
        )
    return replace(cost, gdp_squared=cost.gdp_squared * (number / cost.rows) ** 2, rows=number)


def stage_runs(events: Iterable[Event]) -> list[StageRun]:
    """The runs of stages that releases were made of: the table's version is the number of the release."""
    runs: list[StageRun] = []
    current: dict[int, int] = {}  # stage -> its last run, whose output is in the published model
    for number, event in enumerate(events, start=1):
        mechanism, afresh = event.mechanism, event.kind is not EventKinds.UNLEARN
        if mechanism.carries:
            raise InvalidParameter(
                f"releases by {mechanism.method!r} continue one another's noise: a chain of them counts as one run (`Mechanism.interval`)"
            )
        if event.kind is EventKinds.EXTRACTOR:
            raise InvalidParameter(
                "an extractor trained beforehand is a run of its own: give it as a StageRun that the others read"
            )
        if event.kind is EventKinds.STATISTIC:  # read the records and the model in force, and is no part of a later one
            read = tuple(current.values())
            runs.append(StageRun(len(runs), 0, mechanism, event.steps, number, read))
            continue
        before = {} if afresh else dict(current)
        current = dict(before)
        inner = mechanism.stages_run(event.steps) if isinstance(mechanism, LadderRun) else ()
        for stage, own, steps in inner or ((0, mechanism, event.steps),):
            below = [run for other, run in current.items() if other < stage]
            resumed = [before[stage]] if stage in before and not inner and not event.fresh else []
            soft = (before[stage],) if stage in before and event.warm else ()
            run = StageRun(len(runs), stage, own, steps, number, (*below, *resumed), soft=soft, group="linear")
            runs.append(run)
            current[stage] = run.number
    return runs
