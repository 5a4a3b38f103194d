"""The audit of releases: a record that was erased, in thousands of histories made by the product itself, whatever the method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import InvalidRecords, count, positive, probability
from ..methods.plan import Plan
from ..privacy.worlds import Worlds
from ..records import Records
from .attacks import Attack, ShadowLikelihoodRatio, counts
from .membership import Question
from .releases import Publish, account, label_of, longest_rows, oppose_rows, publish_twice, repeat_histories, without
from .simulation import Chains, World
from .three_samples import KernelWitness, three_samples
from .verdict import AuditResult, AuditRow

_MOST_RUNS = 1_000_000
_ATTACKS = 2
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
    generator = np.random.default_rng() if rng is None else rng
    worlds = _Worlds(plan, target, others)
    made: dict[tuple[int, int], list[Chains]] = {}

    def sample(before: Records, after: Records) -> list[Chains]:
        key = id(before), id(after)
        if key not in made:
            made[key] = repeat_histories(plan, World(before, after), 2 * runs, generator, publish)
            if progress is not None:
                progress(len(made))
        return made[key]

    rows: list[AuditRow] = []
    asked = worlds.questions(plan)
    share = false_alarm / (_ATTACKS * len(asked) + 1)
    for question in asked:
        present = sample(question.present.before, question.present.after)
        absent = sample(question.absent.before, question.absent.after)
        observed = sorted(question.observed)
        shadows = [[each[:runs] for each in releases] for releases in (present, absent)]
        held = [[each[runs:] for each in releases] for releases in (present, absent)]
        attacks: list[tuple[str, Attack]] = [
            ("shadow model", ShadowLikelihoodRatio.fit(shadows[0], shadows[1], observed)),
            ("kernel witness", KernelWitness.fit(shadows[0], shadows[1], observed, generator)),
        ]
        rows += [
            AuditRow(question.name, name, question.claimed, counts(attack, held[0], held[1], error=share), factor)
            for name, attack in attacks
        ]
    three = three_samples(
        sample(worlds.there, worlds.gone),
        sample(worlds.never, worlds.gone),
        sample(worlds.there, worlds.there),
        observed=[2],
        error=share,
        generator=generator,
    )
    return AuditResult(tuple(rows), 2 * runs, false_alarm, three=three)


class _Worlds:
    """The tables of the audit: the record there, what the other world holds in its place (of dp, of deletion), and gone."""

    def __init__(self, plan: Plan, target: Records | None, others: Records | None) -> None:
        if target is not None and (len(target) != 1 or target.slots != 1):
            raise InvalidRecords(f"target has {target.slots} slots; give the one record that is attacked")
        rows = longest_rows(plan, 1) if target is None else target.features
        label = label_of(plan.loss) if target is None else float(target.labels[0])
        beside = [] if others is None else [others.features[others.occupied]]
        labels = np.append([label], [] if others is None else others.labels[others.occupied])
        first = np.arange(plan.records) == 0

        def table(row: np.ndarray) -> Records:
            return Records(np.concatenate([row, *beside]), labels, slots=plan.records)

        self.there = table(rows)
        self.gone = without(self.there, first)
        tables = [
            self.gone if other is None else table(other)
            for other in (
                oppose_rows(rows, Worlds(kind)) for kind in (plan.problem.adjacency, plan.problem.deletion_notion)
            )
        ]
        self.other, self.never = tables

    def questions(self, plan: Plan) -> list[Question]:
        accountant = account(plan)

        def erased(name: str, observed: frozenset[int]) -> Question:
            claimed = accountant.deletion(1, 2, observed)
            return Question(name, World(self.there, self.gone), World(self.never, self.gone), observed, claimed)

        present = accountant.dp_cumulative(observed=[1])
        return [
            Question(
                "record still there, the learned model",
                World(self.there, self.there),
                World(self.other, self.other),
                frozenset({1}),
                present,
            ),
            erased("erased record, the release that erased it", frozenset({2})),
            erased("erased record, the learned model and the later one", frozenset({1, 2})),
        ]
