"""Releases of the product itself for an audit: `learn` and `resume`, repeated many times or with many canaries at once.

The module is independent of the method: a plan of any method is run as its curator runs it, on tables of synthetic
records. A planted fault is another `Publish`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accountant import Accountant
from ..curator.learning import check_model, learn, resume, train
from ..curator.model import Continuation
from ..engine import Execution
from ..errors import AssumptionViolated, InvalidRecords, check_count, check_positive, check_probability
from ..losses.base import Loss
from ..methods.plan import Plan
from ..privacy.worlds import Worlds
from ..records import EditRequest, Records
from .attacks import ShadowLikelihoodRatio
from .membership import Fit, Jury, Tables, make_questions
from .simulation import Chains, World
from .three_samples import KernelWitness, three_samples
from .verdict import AuditResult

Weights = NDArray[np.float64]
Publish = Callable[[Plan, World, np.random.Generator], tuple[Weights, ...]]

_SHORTER = 1 - 2.0**-20  # keeps a row within norm R after rounding to float32


def publish_twice(plan: Plan, world: World, generator: np.random.Generator) -> tuple[Weights, ...]:
    """Return two releases of the product, before and after a request.

    The first is learned on `world.before`; the second serves the request that leads to `world.after`. Each is given as
    the published weights, or as the sums from which they are computed if the sums are published.
    """
    learned = learn(world.before, plan, generator)
    if plan.mechanism.carries:  # the second release starts from the table before
        gone = [name for name in world.before.ids if name not in world.after]
        edits = world.before.resolve(EditRequest.delete(gone)) if gone else None
        after, execution = Continuation(1, learned.sums, edits), Execution.of(None, generator)
        last = train(world.before, plan, plan.serving, check_model(learned, plan), execution, after).model
        return tuple(np.asarray(model.sums, np.float64) for model in (learned, last))
    return learned.weights, resume(world.after, learned, plan, generator).weights


def on_any_rows(plan: Plan) -> Plan:
    """Return the plan with the same noise for arbitrary rows.

    The rows of an audit do not come from a feature map.
    """
    return plan if plan.learning.coding is None else plan.changed(method=replace(plan.method, map=None))  # type: ignore[call-arg]


def repeat_histories(
    plan: Plan, world: World, runs: int, generator: np.random.Generator, publish: Publish
) -> list[Chains]:
    """Return both releases of `runs` histories, each of shape (runs, 1, numbers).

    If the last of several stages continues from the previous one, a release also includes its progress along the step
    of the table's first record, or of the longest row.
    """
    first = world.before.features[:1]
    rows, follows = first if first.any() else longest_rows(plan, 1), _has_followed_stage(plan)

    def seen(weights: Weights) -> Weights:
        flat = np.asarray(weights, np.float64).reshape(1, -1)
        return np.append(flat, measure_climb(plan, weights, rows)[None], axis=1) if follows else flat

    made = [publish(plan, world, generator) for _ in range(runs)]
    return [np.stack([seen(each) for each in release]) for release in zip(*made, strict=True)]


def _has_followed_stage(plan: Plan) -> bool:
    """Return whether the last stage continues from the previous one, with a loss that provides the step of a record."""
    return (
        len(plan.calibration.stages) > 1
        and plan.calibration.stages[-1].shape == plan.calibration.stages[-2].shape
        and hasattr(plan.problem.loss, "clipped_sum")
    )


def measure_climb(plan: Plan, weights: Weights, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return how far the last stage moved from the previous one along the step of each row, shape (rows,).

    The last stage starts at the previous one, and both are published.

    Raises:
        AssumptionViolated: If the last stage is a head, or the loss does not provide the step of a row.
    """
    if not _has_followed_stage(plan):
        raise AssumptionViolated(
            f"the audit of one run follows the last stage's steps from the one before it, and this ladder ends in a head or its "
            f"{plan.problem.loss.name} loss does not tell them: use audit_releases, or audit stages of losses.MultilayerPerceptron"
        )
    model: Any = plan.model_loss
    before, last = model.parts(np.atleast_2d(weights), plan.problem.features)[-2:]
    stage = plan.calibration.stages[-1]
    moved = (
        last
        - (1 - stage.calibration.step_size * stage.problem.regularization) ** stage.calibration.learn_steps * before
    )
    return measure_steps(plan.problem.loss, before, moved, rows)


def measure_steps(loss: Any, point: Weights, moved: Weights, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return −⟨g_i, moved⟩ of each row, shape (rows,), with its clipped gradient g_i at `point`.

    Weights that the gradients of several rows move are left out.
    """
    label = np.array([label_of(loss)])
    steps = np.array([loss.clipped_sum(point, row[None], label) for row in rows])
    if len(rows) > 1:  # weights that several rows move do not distinguish the rows
        steps[:, (steps != 0).sum(axis=0) > 1] = 0.0
    return -np.asarray(steps @ moved.ravel())


def account(plan: Plan) -> Accountant:
    """Return an accountant that has recorded the two releases of `publish_twice`."""
    accountant = Accountant(plan)
    accountant.record(accountant.planned_event())
    accountant.record(accountant.planned_event("unlearn"))
    return accountant


def label_of(loss: Loss) -> float:
    """Return the label of every record of an audit: class 0, the sign +1, or the target 1."""
    return 0 if loss.label_kind == "class" else 1.0


def longest_rows(plan: Plan, places: int) -> NDArray[np.float32]:
    """Return rows of norm R, each on its own axis, shape (places, features).

    If the noise has a shape, rows that would be longer in it are shortened.
    """
    lengths = (
        np.ones(plan.problem.features) if plan.learning.shape is None else np.sqrt(np.minimum(1.0, plan.learning.shape))
    )
    return np.eye(places, plan.problem.features, dtype=np.float32) * (
        plan.problem.loss.radius * _SHORTER * lengths
    ).astype(np.float32)


def erase_records(records: Records, gone: NDArray[np.bool_]) -> Records:
    """Return the table with some of its records erased."""
    ids = [name for name, erased in zip(records.ids_by_slot, gone, strict=True) if erased and name is not None]
    return records.apply(EditRequest.delete(ids)) if ids else records


def oppose_rows(rows: NDArray[np.float32], worlds: Worlds) -> NDArray[np.float32] | None:
    """Return the rows that the neighbouring dataset holds instead: the opposite ones between records, else None."""
    return -rows if worlds.between_records else None


_MOST_RUNS = 1_000_000
WORLDS = 4  # most worlds that a report runs


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
    """Compare claimed with measured privacy for one record, by many runs of `learn` and `resume` in each world.

    A shadow model and a kernel witness are fitted to half of the runs and counted on the other half. Then three samples
    of the release that erased the record show whether it is nearer to models that never had it or to models that still
    do.

    Args:
        plan: Plan of any method. Every run costs a learn and a request on `plan.problem.records` slots, so use a small table.
        target: The one record to attack; by default the longest row that the plan allows, on the first axis.
        others: The other records, the same in all worlds; by default none, with free slots.
        runs: Number of histories to fit to, and of further ones to count, in each world.
        publish: The implementation to audit; by default the product. A planted fault is another one.
        false_alarm: Probability that an honest product fails anywhere in the report.
        factor: Factor of the claim within which the measured bound must be for a row to pass.
        rng: Random number generator; None for a new one.
        progress: Callback that receives the number of worlds run, of at most `WORLDS`.

    Raises:
        InvalidRecords: If `target` is not one record, or the records do not fit the plan.
    """
    check_count("runs", runs, minimum=20, maximum=_MOST_RUNS)
    check_probability("false_alarm", false_alarm)
    check_positive("factor", factor)
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

    jury, audited = Jury(histories), make_questions(account(plan), tables)
    attacks: dict[str, Fit] = {
        "shadow model": ShadowLikelihoodRatio.fit,
        "kernel witness": partial(KernelWitness.fit, generator=generator),
    }
    share = false_alarm / (len(attacks) * len(audited) + 1)
    rows = [
        row for question in audited for row in jury.answer(question, attacks, error=share * len(attacks), factor=factor)
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
    problem = plan.problem
    if target is not None and (len(target) != 1 or target.slots != 1):
        raise InvalidRecords(f"target has {target.slots} slots; give the one record that is attacked")
    rows = longest_rows(plan, 1) if target is None else target.features
    label = label_of(problem.loss) if target is None else float(target.labels[0])
    beside = [] if others is None else [others.features[others.occupied]]
    labels = np.append([label], [] if others is None else others.labels[others.occupied])

    def table(row: np.ndarray) -> Records:
        return Records(np.concatenate([row, *beside]), labels, slots=problem.records)

    there = table(rows)
    gone = erase_records(there, np.arange(problem.records) == 0)
    worlds = (Worlds(problem.adjacency), Worlds(problem.deletion_notion))
    other, never = (gone if row is None else table(row) for row in (oppose_rows(rows, between) for between in worlds))
    return Tables(there, other, never, gone)
