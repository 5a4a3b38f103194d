"""The learner A and the unlearner Ā as pure functions of the records, the published model and the plan.

Modules used by only one kind of start or step are imported on use, so that a deletion starts quickly.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engine import CurrentRecords, Execution, check_records, local_rows
from ..engine.execution import ALONE, Group
from ..engine.noisygd import Weights
from ..errors import AssumptionViolated, InvalidParameter, InvalidRecords, InvalidRequest
from ..methods.plan import Plan
from ..methods.procedure import Procedure
from ..records import EditRequest, Id, Records, SlotEdits
from .model import FIRST, Continuation, Model, Training
from .starts import Run, finalize_weights, run_start

if TYPE_CHECKING:
    from ..losses.staged import StagedLoss


def check_fit(records: CurrentRecords, plan: Plan, group: Group = ALONE) -> None:
    """Validate the table against the plan: n, features, labels, row norms, rows per subject.

    Raises:
        AssumptionViolated: If the table is not the one that the plan was made for.
        InvalidRecords: If rows or labels are not valid.
    """
    problem = plan.problem
    if records.slots != problem.records:
        raise AssumptionViolated(
            f"the table has {records.slots} slots and the plan {problem.records} records; n is part of the noise: plan for this n"
        )
    coding = plan.learning.coding
    coded = coding is not None and records.width == len(coding.sizes)
    if records.width != problem.features and not coded:
        raise AssumptionViolated(
            f"the table has {records.width} features and the plan {problem.features} (count the constant column)"
        )
    _check_subjects(records.rows_per_subject, plan)
    if problem.by_person:
        local_rows(records)
    _check_rows(records, plan, group)


def _check_rows(records: CurrentRecords, plan: Plan, group: Group = ALONE) -> None:
    """Validate rows and labels against the assumptions of the plan's noise: features, their codes, or both."""
    coding = plan.learning.coding
    if coding is not None and isinstance(records, Records):
        from ..engine.count_tables import check_coded

        check_coded(records, plan.problem.loss, coding)
    if coding is None or records.width == plan.problem.features:
        shape = None if plan.learning.shape is None else np.array(plan.learning.shape)
        check_records(records, plan.problem.loss, group, variances=shape)


def _check_subjects(rows: int, plan: Plan) -> None:
    if rows > plan.problem.rows_per_subject:
        raise AssumptionViolated(
            f"is less than the {rows} rows of one person; plan for {rows}, or keep fewer rows of each person",
            rows_per_subject=plan.problem.rows_per_subject,
        )


def check_edit(records: Records, plan: Plan, request: EditRequest, found: Mapping[Id, int] | None = None) -> SlotEdits:
    """Return the effect of a request on the slots.

    Args:
        records: The table.
        plan: The plan, which must cover the new rows.
        request: The request.
        found: As for `Records.resolve`.

    Raises:
        InvalidRequest: If the request cannot be carried out, or the plan does not cover its new rows.
    """
    edits = records.resolve(request, found)
    counts, takes = edits.counts.to_dict(), plan.promise.edits
    for kind in ("replaced", "inserted"):
        if counts[kind] and kind not in takes:
            raise InvalidRequest(
                f"the plan's method {plan.method.name!r} covers no record that is {kind}; nothing was changed. "
                + (
                    "Delete it, and insert the new one under an id of its own; of the person's rows both count, so plan for one more (rows_per_subject)"
                    if kind == "replaced"
                    else "Plan with joiners=true"
                )
            )
    if plan.problem.by_person and plan.mechanism.carries:
        _check_whole_persons(records, edits)
    if not (request.replacements or request.insertion):
        return edits
    try:
        _check_subjects(records.most_rows_after(edits), plan)
        _check_rows(Records.from_slots(edits.rows, edits.labels, edits.ids, None), plan)
    except (AssumptionViolated, InvalidRecords) as error:
        raise InvalidRequest(f"the new rows do not fit the plan; nothing was changed: {error}") from error
    return edits


def _check_whole_persons(records: Records, edits: SlotEdits) -> None:
    """Check that an edit deletes and inserts whole persons.

    Weighted by person, an edit of some rows changes the weights of the others. Carried noise is charged for what joins,
    stays and leaves, not for what changes.

    Raises:
        InvalidRequest: If it does not.
    """
    owners, counts = records.owners, edits.counts
    if owners is None:
        return
    alike, deleted = records.rows_alike(), edits.slots[: counts.deleted].tolist()
    gone = Counter(owners[slot] for slot in deleted)
    if any(gone[owners[slot]] < alike[slot] for slot in deleted):
        raise InvalidRequest(
            "deletes some rows of a person and leaves others, whose weights it would change; nothing was changed. Delete the "
            "person, or plan with weighting 'by-row'"
        )
    new = {owner for owner in edits.subjects[counts.deleted + counts.replaced :] if owner is not None}
    if len(owners.find(new)):
        raise InvalidRequest(
            "inserts rows of a person who has some, whose weights it would change; nothing was changed. Insert all rows of "
            "a person together, or plan with weighting 'by-row'"
        )


def check_model(model: Model, plan: Plan) -> Weights:
    """Return the weights of a published model as the plan's runs start from them: (outputs, features).

    Raises:
        InvalidParameter: If they have another shape, or are not finite.
    """
    start = np.atleast_2d(model.weights)
    if start.shape != plan.shape or not np.isfinite(start).all():
        raise InvalidParameter(
            f"the model has weights of shape {model.weights.shape}; the plan needs finite {plan.shape}"
        )
    return start


def train(
    records: CurrentRecords,
    plan: Plan,
    procedure: Procedure,
    published: Weights | None,
    execution: Execution,
    after: Continuation = FIRST,
) -> Training:
    """Run a procedure of the plan: its start, its noisy steps, and the noise on its output.

    Args:
        records: The table.
        plan: The plan.
        procedure: `plan.learning` or `plan.serving`.
        published: The published weights to start from; None for a learn.
        execution: Device, processes, noise and progress.
        after: What a draw of sums continues.
    """
    check_fit(records, plan, execution.group)
    if plan.calibration.stages:
        return _train_chain(records, plan, published, execution)
    if execution.device != "cpu" and not execution.group.rank and (not procedure.steps or plan.problem.loss.clips_each):
        warnings.warn(
            f"device={execution.device!r} is not used: what method {plan.method.name!r} runs with this loss runs on the processor; leave the "
            "device out",
            stacklevel=2,
        )
    began = time.perf_counter()
    noise = execution.noise()
    begun = run_start(procedure.start, Run(records, plan, procedure, published, noise, execution, after))
    weights = begun.weights
    if procedure.steps:
        from .noisy_descent import descend

        weights = descend(weights, records, plan, procedure, noise, execution)
    released = finalize_weights(weights, procedure, noise)
    model = Model(
        weights=released[0] if plan.problem.loss.outputs == 1 else released,
        loss=plan.problem.loss,
        certified=noise.certified and after.certified,
        sums=begun.sums,
    )
    if begun.is_timed:
        _wait_until(began + execution.lasts, execution)
    return Training(model, begun.passes + procedure.steps, time.perf_counter() - began)


def _train_chain(records: CurrentRecords, plan: Plan, published: Weights | None, execution: Execution) -> Training:
    """Run all stages of the plan, which are published together."""
    from ..losses.staged import StagedLoss

    loss = plan.model_loss
    assert isinstance(loss, StagedLoss)
    parts, runs = _train_stages(records, plan, loss, published, execution)
    certified = all(run.model.certified for run in runs)
    model = Model(weights=loss.join_parts(parts), loss=loss, certified=certified)
    return Training(model, sum(run.gradient_passes for run in runs), sum(run.seconds for run in runs))


def _train_stages(
    records: CurrentRecords, plan: Plan, staged: StagedLoss, published: Weights | None, execution: Execution
) -> tuple[list[Weights], list[Training]]:
    """Run in order the stages that are not kept, each on its view of the records.

    A network stage starts from the previous network stage, and the first from the initial law; a head starts from 0.
    The later stages of the last published model are never a start: they are overwritten and not read.

    Returns:
        (θ_0, …, θ_S), and the models and costs of the runs.
    """
    parts = [] if published is None else staged.parts(published, plan.problem.features)[: plan.calibration.kept]
    trainings: list[Training] = []
    done = 0
    for number in range(len(parts), len(plan.calibration.stages)):
        stage, start = plan.calibration.stages[number], staged.start(number, parts)
        own = _stage_records(staged, number, parts, records)
        procedure = stage.learning if start is None else stage.serving
        trained = train(own, stage, procedure, start, _continue_progress(execution, done))
        done += stage.calibration.learn_steps
        parts.append(trained.model.weights.reshape(stage.shape))
        trainings.append(trained)
    return parts, trainings


def _stage_records(staged: StagedLoss, number: int, parts: list[Weights], held: CurrentRecords) -> Records:
    """Return the table as a stage reads it: the same slots, in memory if their rows are mapped."""
    records = local_rows(held)
    rows = staged.read(number, parts, records.features)
    if rows is records.features or rows.shape[1] == records.features.shape[1]:
        return records
    return Records.from_slots(rows, records.labels, records.names, records.owners, records.next_id)


def _continue_progress(execution: Execution, done: int) -> Execution:
    """Return an execution whose progress counts on from the `done` steps of earlier stages."""
    report = execution.progress
    return execution if report is None else replace(execution, progress=lambda step: report(done + step))


def _wait_until(until: float, execution: Execution) -> None:
    """Sleep until `until`; warn if it has passed, because the delay may reveal something about the records."""
    left = until - time.perf_counter()
    if execution.lasts and left < 0:
        warnings.warn(
            f"a run took {execution.lasts - left:.3g} seconds, longer than the {execution.lasts:g} that it was to last: when its model came out "
            "may tell something of the records; give it more",
            stacklevel=3,
        )
    time.sleep(max(left, 0.0))


def learn(
    records: CurrentRecords, plan: Plan, rng: np.random.Generator | None = None, *, execution: Execution | None = None
) -> Model:
    """Return a model trained on the records.

    A(D): K_A steps of Noisy-GD from the initial law ρ (or from the minimizer, if the plan says so).

    Args:
        records: The table D.
        plan: From `make_plan`.
        rng: None for certified noise; a `numpy.random.Generator` for research (the model is then not certified).
        execution: Device, processes and progress callback; default: `Execution(rng=rng)`.

    Raises:
        AssumptionViolated: If the table is not the one that the plan was made for.
        InvalidRecords: If rows or labels are not valid.

    Warns:
        NothingPromised: If the plan takes no step to learn, or its bound on the excess risk is vacuous.
    """
    plan.warn_if_vacuous()
    return train(records, plan, plan.learning, None, Execution.of(execution, rng)).model


def resume(
    records: CurrentRecords,
    model: Model,
    plan: Plan,
    rng: np.random.Generator | None = None,
    *,
    execution: Execution | None = None,
) -> Model:
    """Return a model that continues from a published one: K_Ā steps of Noisy-GD on edited records.

    Args:
        records: The table after the request has been applied.
        model: The published model.
        plan: The plan of the model.
        rng: None for certified noise; a `numpy.random.Generator` for research (the model is then not certified).
        execution: Device, processes and progress callback; default: `Execution(rng=rng)`.

    Raises:
        InvalidParameter: If the method continues from the table before the edits, or the model does not fit the plan.
    """
    if plan.mechanism.carries:
        raise InvalidParameter(
            "goes on from the table as the release before left it, which is gone: take a Curator or a Store",
            method=plan.method.name,
        )
    start = check_model(model, plan)
    return train(records, plan, plan.serving, start, Execution.of(execution, rng)).continue_from(model).model


def unlearn(
    records: Records,
    request: EditRequest,
    model: Model,
    plan: Plan,
    rng: np.random.Generator | None = None,
    *,
    execution: Execution | None = None,
) -> Model:
    """Return a model without the deleted records: Ā(D, u, θ) = resume(D ∘ u, θ).

    `records` is not modified; erase the rows in your own copy too. Arguments are as for `resume`.
    """
    return resume(records.apply(request), model, plan, rng, execution=execution)
