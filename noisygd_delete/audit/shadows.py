"""The audit of releases: a record that was erased, in thousands of histories made by the product itself, whatever the method."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..errors import InvalidRecords, count, positive, probability
from ..methods.plan import Plan
from ..privacy.worlds import Worlds
from ..records import Records
from .attacks import ShadowLikelihoodRatio
from .membership import Fit, Jury, Tables, questions
from .releases import (
    Publish,
    account,
    label_of,
    longest_rows,
    on_any_rows,
    oppose_rows,
    publish_twice,
    repeat_histories,
    without,
)
from .simulation import Chains, World
from .three_samples import KernelWitness, three_samples
from .verdict import AuditResult

_MOST_RUNS = 1_000_000
WORLDS = 4  # histories that a report runs, at most


def audit_releases(
    plan: Plan,
    *,
    target: Records | None = None,
    others: Records | None = None,
    runs: int = 1000,
    publish: Publish = publish_twice,
    false_alarm: float = 0.01,
    factor: float = 3.0,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] | None = None,
) -> AuditResult:
    """Claimed against measured for one record: `learn` and `resume` themselves, many times over in each world, and three samples of them.

    A shadow model and a kernel witness are fitted to half of the runs and counted on the other half; then three samples of the
    release that erased the record say whether it is nearer to models that never had it or to models that still do.

    Args:
        plan: any method. Every run costs a learn and a request on `plan.records` slots: audit a small table.
        target: one record, the one that is attacked; default: the longest row that the plan allows, on the first axis.
        others: the other records, the same in all worlds; default: none, free slots.
        runs: histories to fit to, and as many again to count, in each world.
        publish: what is audited; default: the product. A planted fault is another one.
        false_alarm: probability that an honest product fails anywhere in the report.
        factor: how close to the claim the measured bound must come for a row to pass.
        progress: told the number of worlds that were run, of at most `WORLDS`.

    Raises:
        InvalidRecords: `target` is not one record, or the records do not fit the plan.
    """
    count("runs", runs, minimum=20, maximum=_MOST_RUNS)
    probability("false_alarm", false_alarm)
    positive("factor", factor)
    plan = on_any_rows(plan)
    generator = np.random.default_rng() if rng is None else rng
    tables = _tables(plan, target, others)
    run: list[World] = []

    def histories(world: World) -> list[Chains]:
        made = repeat_histories(plan, world, 2 * runs, generator, publish)
        run.append(world)
        if progress is not None:
            progress(len(run))
        return made

    jury, asked = Jury(histories), questions(account(plan), tables)
    attacks: dict[str, Fit] = {
        "shadow model": ShadowLikelihoodRatio.fit,
        "kernel witness": partial(KernelWitness.fit, generator=generator),
    }
    share = false_alarm / (len(attacks) * len(asked) + 1)
    rows = [
        row for question in asked for row in jury.answer(question, attacks, error=share * len(attacks), factor=factor)
    ]
    three = three_samples(
        jury.histories(World(tables.there, tables.gone)),
        jury.histories(World(tables.never, tables.gone)),
        jury.histories(World(tables.there, tables.there)),
        observed=[2],
        error=share,
        generator=generator,
    )
    return AuditResult(tuple(rows), 2 * runs, false_alarm, three=three)


def _tables(plan: Plan, target: Records | None, others: Records | None) -> Tables:
    if target is not None and (len(target) != 1 or target.slots != 1):
        raise InvalidRecords(f"target has {target.slots} slots; give the one record that is attacked")
    rows = longest_rows(plan, 1) if target is None else target.features
    label = label_of(plan.loss) if target is None else float(target.labels[0])
    beside = [] if others is None else [others.features[others.occupied]]
    labels = np.append([label], [] if others is None else others.labels[others.occupied])

    def table(row: np.ndarray) -> Records:
        return Records(np.concatenate([row, *beside]), labels, slots=plan.records)

    there = table(rows)
    gone = without(there, np.arange(plan.records) == 0)
    worlds = (Worlds(plan.problem.adjacency), Worlds(plan.problem.deletion_notion))
    other, never = (gone if row is None else table(row) for row in (oppose_rows(rows, between) for between in worlds))
    return Tables(there, other, never, gone)
