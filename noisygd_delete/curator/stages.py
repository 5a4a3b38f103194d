"""A plan of several stages: each trained on what it reads of the records, all published together."""

from __future__ import annotations

from dataclasses import replace

from ..engine import CurrentRecords, Execution, rows_here
from ..engine.noisygd import Weights
from ..losses.staged import Staged
from ..methods.plan import Plan
from ..records import Records
from .learning import Model, Training, train


def train_in_a_row(records: CurrentRecords, plan: Plan, published: Weights | None, execution: Execution) -> Training:
    """Every stage that the plan runs, published together."""
    parts, runs = _train_stages(records, plan, published, execution)
    loss = plan.model_loss
    assert isinstance(loss, Staged)
    certified = all(run.model.certified for run in runs)
    model = Model(weights=loss.joined(parts), loss=loss, certified=certified)
    return Training(model, sum(run.gradient_passes for run in runs), sum(run.seconds for run in runs))


def _train_stages(
    records: CurrentRecords, plan: Plan, published: Weights | None, execution: Execution
) -> tuple[list[Weights], list[Training]]:
    """Run the stages that are not kept, each on what it reads of the records, in order. Returns (θ_0, …, θ_S) and what the runs made and cost.

    A network stage begins at the network stage before it, and the first at the initial law; a head from 0. Where the last
    published model's later stages were is never a start: they are overwritten and nothing reads them.
    """
    staged = plan.model_loss
    assert isinstance(staged, Staged)
    parts = [] if published is None else staged.parts(published, plan.features)[: plan.kept]
    trainings: list[Training] = []
    done = 0
    for number in range(len(parts), len(plan.stages)):
        stage, start = plan.stages[number], staged.start(number, parts)
        own = _read(staged, number, parts, records)
        procedure = stage.learning if start is None else stage.serving
        trained = train(own, stage, procedure, start, _further(execution, done))
        done += stage.learn_steps
        parts.append(trained.model.weights.reshape(stage.shape))
        trainings.append(trained)
    return parts, trainings


def _read(staged: Staged, number: int, parts: list[Weights], held: CurrentRecords) -> Records:
    """The table as a stage reads it: the same slots, in memory where their rows are mapped."""
    records = rows_here(held)
    rows = staged.read(number, parts, records.features)
    if rows is records.features or rows.shape[1] == records.features.shape[1]:
        return records
    return Records.from_slots(rows, records.labels, records.names, records.owners, records.next_id)


def _further(execution: Execution, done: int) -> Execution:
    """The same way of making runs, whose steps are counted on from those of the stages before."""
    told = execution.progress
    return execution if told is None else replace(execution, progress=lambda step: told(done + step))
