"""What a solve is asked for, and the gradient passes that it is expected to take."""

from __future__ import annotations

import math

from ..bounds.solver_steps import proven_steps, sample_rows
from .problem import Problem

SOLVERS = ("warm", "cold", "fixed")


def solver_passes(problem: Problem, solver: str, tolerance: float) -> int:
    """Gradient passes of one solve: the proven number for solver="fixed", else the forecast."""
    if solver == "fixed":
        steps = proven_steps(
            distance=problem.loss.constants.lipschitz / problem.strong_convexity,
            tolerance=tolerance,
            strong_convexity=problem.strong_convexity,
            objective_smoothness=problem.objective_smoothness,
        )
        return steps + 1
    return forecast_passes(problem)


def forecast_passes(problem: Problem) -> int:
    """An empirical rule over κ, the sample's work included; benchmarks/solver.py prints it beside what was measured."""
    kappa = problem.objective_smoothness / problem.strong_convexity
    outputs = problem.loss.outputs
    _, narrow = sample_rows(records=problem.records, features=problem.features, outputs=outputs, condition_number=kappa)
    if narrow and outputs == 1:
        return 1 + math.ceil(2 * math.pow(kappa, 0.25))
    return math.ceil(4 * math.pow(kappa, 0.27))


def quick_passes(problem: Problem) -> int:
    """After so many a run that is to last a public time leaves the quick ways for the proven one: hardly a table takes more."""
    return 4 * forecast_passes(problem)
