"""How much noise objective perturbation needs, and how exact its solver must be: from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..bounds import objective_perturbation_gdp as flow
from ..bounds import order_curve
from ..bounds.arithmetic import GRID_BITS, gradient_error
from ..bounds.solver_steps import proven_steps
from ..errors import InvalidParameter
from ..privacy.budget import Measures
from ..privacy.curve import ONE_DIRECTION, WEAKLY_CONVEX
from ..privacy.guarantee import Guarantee
from .perturbed_run import ROOM, PerturbedRun
from .problem import Problem

_INEXACT_SHARE = 0.01  # of the dp budget: what the solver's tolerance may cost
_OUTPUT_SHARE = 0.02  # of the excess risk: what the noise on the output may add
_ROUNDING_ROOM = 10  # γ is at least this many times the rounding of a measured gradient
_MOST_WIDENING = 4  # how far τ may grow for that, in doublings
_UNUSUAL = 9.0  # ‖b‖ > s(√d + 9) once in 10¹⁸ draws


def form_of(problem: Problem) -> str:
    return problem.loss.curving if problem.loss.constants.convex else WEAKLY_CONVEX


def row_facts(problem: Problem) -> dict[str, Any]:
    """What a mechanism states of one row and of the objective."""
    constants = problem.loss.constants
    return {
        "records": problem.records,
        "strong_convexity": problem.strong_convexity,
        "lipschitz": constants.lipschitz,
        "smoothness": constants.smoothness,
        "weak_convexity": constants.weak_convexity,
        "form": form_of(problem),
        "blocks": problem.loss.blocks,
        "dimension": problem.dimension,
        "rows_per_subject": problem.rows_per_subject,
        "proven": constants.proven,
        "shaped": problem.noise_shape is not None,
    }


def _trial(problem: Problem) -> PerturbedRun:
    """A run with noise 1: its curve has the Hessian cost and ρ of every run of the problem."""
    return PerturbedRun(**row_facts(problem), linear_term=1.0, output_noise=1.0, gradient_tolerance=1.0)


def inexact_share(problem: Problem, *, charged: bool, chain: int = 1) -> float:
    """What the solver's tolerance may cost per order and minimiser of a release: a share of the dp budget, and where a deletion is charged for it
    within the deletion budget.

    Deletion compares one ball with its centre (μ/2), or two balls where the question is x or x′ (μ).
    """
    allowed = _INEXACT_SHARE * problem.budget.dp_gdp() ** 2 / 2 / problem.releases / chain
    if not charged:
        return allowed
    grid = math.ldexp(math.sqrt(problem.dimension), -GRID_BITS)
    deletion = problem.budget.deletion_gdp() * (1 - 1e-9) / math.sqrt(chain)
    if not problem.deletion_notion.between_records:
        deletion = 2 * deletion - grid
    return min(allowed, max(deletion, 0.0) ** 2 / 2)


def least_noise(problem: Problem, inexact_rate: float, chain: int = 1) -> float:
    """The smaller s of the two proofs; infinite where neither fits the budget."""
    budget, releases, trial = problem.budget, problem.releases * chain, _trial(problem)
    curve, least = trial.curve(problem.adjacency), math.inf
    constants, rows, blocks = problem.loss.constants, problem.rows_per_subject, problem.loss.blocks
    delta = problem.adjacency.sensitivity(constants.lipschitz * ROOM, rows)
    if trial.form == ONE_DIRECTION:
        least = order_curve.noise_for_gdp(
            gdp=budget.dp_gdp(),
            lipschitz=constants.lipschitz * ROOM / math.sqrt(blocks),
            ratio=curve.ratio,
            rows=rows,
            worlds=2 if problem.adjacency.between_records else 1,
            blocks=blocks,
            inexact_gdp=math.sqrt(2 * inexact_rate) * (1 + 1e-11),
            releases=releases,
        )
    if budget.measure is Measures.RENYI:
        assert budget.order is not None
        by_order = order_curve.noise_for_renyi(
            order=budget.order,
            budget=budget.dp / releases,
            sensitivity=delta,
            hessian=curve.hessian(budget.order),
            inexact_rate=inexact_rate,
        )
        return min(least, by_order)
    if budget.measure is Measures.GDP:
        return least
    assert budget.dp_delta is not None
    if least < math.inf:  # does the other proof want less? One conversion tells, before a search
        rate = releases * (delta**2 / (2 * least**2) + inexact_rate)
        spent = Guarantee(
            "dp", problem.adjacency, rate=rate, curves=((replace(curve, rate=0.0, gdp_squared=None), releases),)
        )
        if spent.epsilon(budget.dp_delta) > budget.dp:
            return least
    by_curve = order_curve.noise_for_epsilon_delta(
        epsilon=budget.dp,
        delta=budget.dp_delta,
        sensitivity=delta,
        hessian=curve.hessian,
        highest_order=curve.highest_order,
        inexact_rate=inexact_rate,
        releases=releases,
    )
    return min(least, by_curve)


def output_of(problem: Problem, noise: float, inexact_rate: float, chain: int = 1) -> tuple[float, float]:
    """τ and γ: τ a power of two from its share of the excess risk, wider where γ would drown in rounding."""
    wanted = flow.output_noise(
        share=_OUTPUT_SHARE,
        noise=noise,
        records=problem.records,
        dimension=problem.dimension,
        hessian_trace=hessian_trace(problem),
    )
    exponent = math.frexp(wanted)[1] - 1
    least = _ROUNDING_ROOM * rounding_of_gradient(problem, noise, chain)
    for wider in range(_MOST_WIDENING + 1):
        output_noise = math.ldexp(1.0, exponent + wider)
        tolerance = flow.tolerance_for(
            rate=inexact_rate,
            output_noise=output_noise,
            strong_convexity=_trial(problem)._least_curvature,
            grid=math.ldexp(output_noise, -GRID_BITS),
            dimension=problem.dimension,
        )
        if tolerance >= least:
            return output_noise, tolerance
    raise InvalidParameter(
        f"the budgets leave the solver a tolerance of {tolerance:.3g} on the gradient, and its rounding needs "
        f"{least:.3g}: raise the deletion budget, or use solver 'cold', which forgets exactly; or raise λ"
    )


def rounding_of_gradient(problem: Problem, noise: float, chain: int = 1) -> float:
    """A bound on the rounding of a measured gradient with b, wherever the solver may end: up to twice as far out as a minimiser.

    A stage ends within (L + ‖b‖/n)/λ of the one before, where it begins.
    """
    constants, pull = problem.loss.constants, _usual_pull(problem, noise)
    longest = (constants.lipschitz + pull) / problem.regularization
    return 2.0**-40 * pull + gradient_error(
        lipschitz=constants.lipschitz,
        curvature=constants.curvature,
        outputs=problem.loss.outputs,
        records=problem.records,
        features=problem.features,
        regularization=problem.regularization,
        weights_norm=2 * min(longest, longest_from_zero(problem, pull)) + 2 * (chain - 1) * 2 * longest,
    )


def longest_from_zero(problem: Problem, pull: float) -> float:
    """How long a minimiser is at most, because it is no worse than 0: the r of λr²/2 = r‖b‖/n + the gap of the loss at 0.

    Far less than (L + ‖b‖/n)/λ for small λ; infinite where nothing public bounds the gap.
    """
    gap, regularization = problem.loss.gap_at_zero, problem.regularization
    return (pull + math.sqrt(pull**2 + 2 * regularization * gap)) / regularization


def _usual_pull(problem: Problem, noise: float) -> float:
    """‖b‖/n, but once in 10¹⁸ draws."""
    widest = math.sqrt(max(problem.noise_shape or (1.0,)))
    return noise * (math.sqrt(problem.noise_trace) + _UNUSUAL * widest) / problem.records


def proven_passes(problem: Problem, noise: float, tolerance: float) -> int:
    steps = proven_steps(
        distance=(problem.loss.constants.lipschitz + _usual_pull(problem, noise)) / problem.strong_convexity,
        tolerance=tolerance,
        strong_convexity=problem.strong_convexity,
        objective_smoothness=problem.objective_smoothness,
    )
    return steps + 1


def hessian_trace(problem: Problem) -> float:
    return problem.loss.curvature_trace + problem.dimension * problem.regularization
