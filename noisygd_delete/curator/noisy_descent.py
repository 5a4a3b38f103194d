"""The noisy steps of a run, for each kind of gradient: exact, sampled, clipped, on a device, or over the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import CurrentRecords, Execution, Objective, local_rows
from ..engine.execution import limit_threads
from ..engine.noise import Noise, poisson
from ..engine.noisygd import Weights, run_exactly, run_in_blocks, run_noisy_steps
from ..engine.objective import ClippedObjective, PreciseObjective
from ..errors import AssumptionViolated, InvalidParameter
from ..methods.plan import Plan
from ..methods.procedure import Exactness, Procedure, Sampling


@limit_threads()  # of matrix products: large ones are split into parallel parts
def descend(
    start: Weights, records: CurrentRecords, plan: Plan, procedure: Procedure, noise: Noise, execution: Execution
) -> Weights:
    """Run the noisy steps of `procedure` from `start` and return the weights.

    Raises:
        AssumptionViolated: If the weights overflow.
        InvalidParameter: If exact steps are requested on a device.
    """
    problem = plan.problem
    steps_and_noise: dict[str, Any] = {
        "step_size": procedure.step_size,
        "noise_variance": procedure.noise_variance,
        "steps": procedure.steps,
        "noise": noise,
        "progress": execution.progress,
    }
    if procedure.exactness is not None:
        return _descend_exactly(start, records, plan, procedure.exactness, steps_and_noise, execution)
    records = local_rows(records)
    facts: dict[str, Any] = {"regularization": problem.regularization, "dtype": problem.dtype}
    facts["by_person"] = problem.by_person
    if procedure.sampling is not None or problem.loss.clips_each:  # a network computes its own sums
        clipped = ClippedObjective(records, problem.loss, regularization=problem.regularization)
        if procedure.sampling is not None:
            weights = _on_samples(start, clipped, records.slots, procedure.sampling, steps_and_noise)
        else:
            weights = run_noisy_steps(start, clipped.gradient, **steps_and_noise)
    elif execution.device == "cpu":
        objective = Objective(records, problem.loss, group=execution.group, readings=procedure.steps, **facts)
        weights = run_noisy_steps(start, objective.gradient, **steps_and_noise)
    else:
        from ..engine.device import STEPS, DeviceObjective

        there = DeviceObjective(records, problem.loss, device=execution.device, group=execution.group, **facts)
        weights = run_in_blocks(start, there.descend, block=STEPS, **steps_and_noise)
    if not np.isfinite(weights).all():
        raise AssumptionViolated(
            "the weights overflowed; the step size is too large for this loss, plan it with make_plan"
        )
    return weights


def _descend_exactly(
    start: Weights,
    records: CurrentRecords,
    plan: Plan,
    exactness: Exactness,
    facts: dict[str, Any],
    execution: Execution,
) -> Weights:
    """Run the noisy steps on their grid, wherever the rows are stored."""
    if execution.device != "cpu":
        raise InvalidParameter(
            f"method {plan.method.name!r} takes exact steps on the processor: leave the device out, or plan with exact=False, over the reals",
            device=execution.device,
        )
    own = {"group": execution.group, "readings": facts["steps"], "by_content": not plan.mechanism.shows_order}
    own["by_person"] = plan.problem.by_person
    objective = PreciseObjective(records, plan.problem.loss, regularization=plan.problem.regularization, **own)
    return run_exactly(start, objective.gradient, grid_bits=exactness.grid_bits, radius=exactness.radius, **facts)


def _on_samples(start: Weights, objective: Any, slots: int, sampling: Sampling, facts: dict[str, Any]) -> Weights:
    """Run noisy steps on Poisson samples of the slots; progress is reported in equivalent full passes."""
    noise, progress, rate = facts["noise"], facts["progress"], sampling.rate
    passed: Callable[[int], None] | None = None
    if progress is not None:

        def passed(step: int) -> None:
            done = math.ceil(rate * step * (1 - 1e-12))
            if done > math.ceil(rate * (step - 1) * (1 - 1e-12)):
                progress(done)

    def gradient(weights: Weights) -> Weights:
        sample: Weights = objective.gradient_on(weights, poisson(slots, noise, rate=rate), rate)
        return sample

    return run_noisy_steps(start, gradient, **{**facts, "steps": sampling.draws, "progress": passed})
