"""Privacy accounting of single stage runs: the sum over all runs that an observed set depends on.

The proof is at `methods.staged_run.StagedRun`. The accountant answers for a ladder from the exposures of its events. This
is the general form, for runs in any order and with any inputs: varying stages, bases learned again under published
heads, discarded trials. The observed runs are stated with each question and are not stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from noisygd_delete.accountant.events import Event, EventKinds
from noisygd_delete.errors import InvalidParameter, check_count
from noisygd_delete.methods.base import Mechanism
from noisygd_delete.methods.staged_run import StagedRun
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.worlds import NON_ADAPTIVE

GROUP_LAWS = ("linear", "none")


def ancestors(*, parents: Mapping[int, Iterable[int]], seen: Iterable[int]) -> frozenset[int]:
    """Return An(seen): the runs themselves and everything they read, directly or indirectly.

    Args:
        parents: Inputs of every run.
        seen: The observed runs.
    """
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

    Attributes:
        number: Number of the run.
        stage: Number of the stage.
        mechanism: Cost of the run to one row, for every value of its inputs.
        steps: Its noisy steps.
        table: Version of the table that it read.
        parents: All runs whose outputs it read; None: not recorded, so that nothing can be certified.
        slots: Slots of the table that took part; None for all.
        soft: Runs at which a solver started that reaches its solution, within a tolerance, from any start; not parents.
        group: "linear": m rows of a person count as a row m times as heavy. "none": only what the mechanism itself
            covers.
        attempts: Runs from which this one was selected by its outcome.
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
    """A row of the person.

    Attributes:
        slot: Its slot.
        entered: First version of the table with the row.
        left: First later version without it; None if it is still present.
    """

    slot: int
    entered: int
    left: int | None = None

    def within(self, run: StageRun) -> bool:
        """Return whether the run read the row."""
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
    """Return what an observer of some runs learns about all rows of a person together.

    Args:
        runs: Every run, in order of time.
        about: "dp" or "deletion", as `Mechanism.interval`.
        worlds: Neighbouring relation of the question.
        person: The person's rows, including those inserted again under another id.
        observed: O, the runs that the observer sees.
        seen_by_requesters: V, the runs seen by anyone who made or tuned a request. With V empty the figure holds only
            if requests did not depend on earlier models, and states this condition.

    Raises:
        InvalidParameter: If the inputs of a run are not recorded, the group law is not known for so many rows, or no
            order has a finite bound.
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
        if set(run.soft) <= closure:  # given its start, the run is the same in both worlds
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
    """Return the stage runs of releases; the version of the table is the number of the release."""
    runs: list[StageRun] = []
    current: dict[int, int] = {}  # stage -> its last run, whose output is part of the published model
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
        if event.kind is EventKinds.STATISTIC:  # reads the records and the current model; not part of later models
            read = tuple(current.values())
            runs.append(StageRun(len(runs), 0, mechanism, event.steps, number, read))
            continue
        before = {} if afresh else dict(current)
        current = dict(before)
        inner = mechanism.stages_run(event.steps) if isinstance(mechanism, StagedRun) else ()
        for stage, own, steps in inner or ((0, mechanism, event.steps),):
            below = [run for other, run in current.items() if other < stage]
            resumed = [before[stage]] if stage in before and not inner and not event.fresh else []
            soft = (before[stage],) if stage in before and event.warm else ()
            run = StageRun(len(runs), stage, own, steps, number, (*below, *resumed), soft=soft, group="linear")
            runs.append(run)
            current[stage] = run.number
    return runs
