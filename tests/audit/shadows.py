"""Shadow models of a real loss: hundreds of thousands of runs at once, which `audit_releases`, running the product itself, could not make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from noisygd_delete import Records
from noisygd_delete.audit import AuditResult, ShadowLikelihoodRatio, World
from noisygd_delete.audit.membership import Jury, Question, linear_engine, recorded_accountant, simulate
from noisygd_delete.methods.plan import Plan


def audit_loss(
    plan: Plan,
    *,
    record: tuple[Sequence[float], float],
    others: Records | None = None,
    engine_plan: Plan | None = None,
    chains: int,
    later_releases: int = 1,
    false_alarm: float = 0.01,
    factor: float,
    rng: np.random.Generator,
) -> AuditResult:
    """Claimed against measured: a target record beside others, against the null record.

    engine_plan  what is run, where that is a planted fault; default: `plan`
    """
    run = plan if engine_plan is None else engine_plan
    linear = linear_engine(run, later_releases=later_releases)
    engine = replace(linear, loss=run.problem.loss, regularization=run.problem.regularization)
    row, label = record

    def table(values: Sequence[float]) -> Records:
        beside = ([], []) if others is None else (others.features.tolist(), others.labels.tolist())
        return Records([*beside[0], list(values)], [*beside[1], label])

    here, null = table(row), table([0.0] * len(row))
    accountant, later = recorded_accountant(engine, plan), frozenset(range(2, later_releases + 2))
    asked = [
        Question(
            "record still there, the learned model",
            World(here, here),
            World(null, null),
            frozenset({1}),
            accountant.dp_cumulative(observed=[1], adjacency="zero-out"),
        ),
        Question(
            "erased record, releases from its erasure on",
            World(here, null),
            World(null, null),
            later,
            accountant.deletion(1, 2, later, notion="erased-vs-never"),
        ),
    ]
    jury = Jury(lambda world: simulate(engine, world, 2 * chains, rng))
    attacks = {"shadow model": ShadowLikelihoodRatio.fit}
    share = false_alarm / len(asked)
    rows = [row for question in asked for row in jury.answer(question, attacks, error=share, factor=factor)]
    return AuditResult(tuple(rows), chains, false_alarm)
