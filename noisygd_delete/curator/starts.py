"""How a run begins: one function for each kind of start that a `Procedure` may have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from ..engine import CurrentRecords, Execution, local_rows
from ..engine.execution import ALONE, limit_threads
from ..engine.kernel import is_worth
from ..engine.linear_term import draw_linear_term
from ..engine.moments import Integers
from ..engine.noise import Noise, on_noisy_grid
from ..engine.noisygd import Weights, initial_weights, on_grid, publication_grid
from ..engine.objective import PreciseObjective
from ..engine.solver import solve
from ..engine.sums import numbers_of, to_sparse_records
from ..methods.plan import Plan
from ..methods.procedure import (
    CarriedSums,
    InitialLaw,
    Minimizer,
    NoisyLeastSquares,
    Procedure,
    Published,
    Start,
    quick_passes,
)
from ..records import Records
from .model import Continuation


@dataclass(frozen=True)
class Run:
    """What a start is run with.

    Attributes:
        records: The table.
        plan: The plan.
        procedure: The run of the plan that begins.
        published: Weights of the last published model; None for a learn.
        noise: The noise of the run.
        execution: Device, processes and progress.
        after: What a draw of sums continues.
    """

    records: CurrentRecords
    plan: Plan
    procedure: Procedure
    published: Weights | None
    noise: Noise
    execution: Execution
    after: Continuation


@dataclass(frozen=True)
class Begun:
    """The result of a start.

    Attributes:
        weights: Where the noisy steps begin.
        passes: Full passes over the table so far.
        sums: Noisy sums to publish with the weights.
        is_timed: Whether the passes depend on the records: the model is then held back until `Execution.lasts`.
    """

    weights: Weights
    passes: int = 0
    sums: Integers | None = None
    is_timed: bool = False


@singledispatch
def run_start(begin: Start, run: Run) -> Begun:
    """Run a start.

    Raises:
        TypeError: If this kind of start has no function.
    """
    raise TypeError(f"no function runs a start of kind {type(begin).__name__}")


@run_start.register
def _(begin: InitialLaw, run: Run) -> Begun:
    return Begun(initial_weights(run.plan.shape, init_variance=begin.variance, noise=run.noise))


@run_start.register
def _(begin: Published, run: Run) -> Begun:
    assert run.published is not None
    return Begun(run.published)


@run_start.register
def _(begin: NoisyLeastSquares, run: Run) -> Begun:
    from ..engine.moments import add_noise, compute_moments, least_squares

    loss = run.plan.problem.loss
    sums = compute_moments(local_rows(run.records), outputs=loss.outputs, radius=loss.radius)
    noisy = add_noise(*sums, deviation=begin.deviation, noise=run.noise)
    if run.execution.progress is not None:
        run.execution.progress(1)
    return Begun(least_squares(*noisy, ridge=begin.ridge) / loss.radius, passes=1)


@run_start.register
def _(begin: CarriedSums, run: Run) -> Begun:
    from .carried_noise import draw_release

    weights, sums = draw_release(run.records, begin, run.after, run.plan.shape, run.noise)
    if run.execution.progress is not None:
        run.execution.progress(1)
    return Begun(weights, passes=1, sums=sums)


@run_start.register
def _(begin: Minimizer, run: Run) -> Begun:
    """Return the minimizer, or the last of a chain. Intermediate results are not published."""
    records, plan, procedure, noise, execution = run.records, run.plan, run.procedure, run.noise, run.execution
    sample, passes, start = None, 0, run.published if begin.solver == "warm" else None
    if isinstance(records, Records) and execution.group is ALONE and begin.solver != "fixed":
        if records.sparse is None:
            is_worth(plan.problem.loss, records.features, procedure.solver_passes)
        records = to_sparse_records(records)  # if it is faster; timing may then reveal the sparsity of the rows
    objective = PreciseObjective(
        records,
        plan.problem.loss,
        regularization=plan.problem.regularization,
        group=execution.group,
        readings=procedure.solver_passes,
        by_content=not plan.mechanism.shows_order,
        by_person=plan.problem.by_person,
    )
    centre = np.zeros(plan.shape)
    with limit_threads(numbers_of(records) * plan.problem.loss.outputs):
        for link in range(begin.chain):
            if link:
                centre, start = finalize_weights(centre, procedure, noise), None
            linear = None  # drawn afresh for every stage and discarded after it
            if procedure.linear_term:
                shape = None if procedure.shape is None else np.array(procedure.shape)
                linear = draw_linear_term(plan.shape, noise, deviation=procedure.linear_term, variances=shape)
            solution = solve(
                objective.pulled(linear, centre),
                start=start,
                sample=sample,
                tolerance=begin.tolerance,
                strong_convexity=plan.problem.strong_convexity,
                objective_smoothness=plan.problem.objective_smoothness,
                fixed=begin.solver == "fixed",
                quick=quick_passes(plan.problem) if execution.lasts else None,
            )
            centre, sample, passes = solution.weights, solution.sample, passes + solution.gradient_passes
    return Begun(centre, passes, is_timed=True)


def finalize_weights(weights: Weights, procedure: Procedure, noise: Noise) -> Weights:
    """Return the weights in publishable form: on a public grid, with the procedure's noise on its output."""
    if procedure.output_noise:
        return on_noisy_grid(weights, noise, output_noise=procedure.output_noise)
    if procedure.exactness is not None:  # already grid points
        return on_grid(weights, 0.0)
    grid = publication_grid(step_size=procedure.step_size, noise_variance=procedure.noise_variance)
    return on_grid(weights, grid)
