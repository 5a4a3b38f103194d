"""Noise and solver tolerance of objective perturbation, from public numbers only."""

from __future__ import annotations

import math
from dataclasses import replace

from ..bounds import objective_perturbation as bounds
from ..bounds import renyi
from ..bounds.arithmetic import GRID_BITS, ROOM, gradient_error
from ..errors import InvalidParameter
from ..privacy.budget import Measures
from ..privacy.curves import ONE_DIRECTION
from ..privacy.guarantee import Guarantee
from .objective_perturbation_run import ObjectivePerturbationRun, row_facts
from .problem import Problem

_INEXACT_SHARE = 0.01  # share of the dp budget that the solver's tolerance may cost
_OUTPUT_SHARE = 0.02  # share of the excess risk that the output noise may add
_ROUNDING_ROOM = 10  # γ is at least this many times the rounding of a measured gradient
_MOST_WIDENING = 4  # maximum number of doublings of τ for that
_UNUSUAL = 9.0  # ‖b‖ > s(√d + 9) once in 10¹⁸ draws


def _trial_run(problem: Problem) -> ObjectivePerturbationRun:
    """Return a run with noise 1: its curve has the Hessian cost and ρ of every run of the problem."""
    return ObjectivePerturbationRun(**row_facts(problem), linear_term=1.0, output_noise=1.0, gradient_tolerance=1.0)


def inexact_share(problem: Problem, *, charged: bool, chain: int = 1) -> float:
    """Return the Rényi rate ε_q/q that the solver's tolerance may cost per minimiser of a release.

    0.01 · μ_dp²/(2 · releases · chain); if `charged`, at most μ_dd²/(2 · chain), with μ of the budgets for present and
    for erased records.

    Args:
        problem: The planning problem.
        charged: Whether a deletion is charged for the tolerance.
        chain: Number of minimisers of a release.
    """
    allowed = _INEXACT_SHARE * problem.budget.dp_gdp() ** 2 / 2 / problem.releases / chain
    if not charged:
        return allowed
    deletion = problem.budget.deletion_gdp() * (1 - 1e-9) / math.sqrt(chain)
    return min(allowed, deletion**2 / 2)


def least_noise(problem: Problem, inexact_rate: float, chain: int = 1) -> float:
    """Return the least s at which all releases meet the dp budget; infinity if no s does.

    It is the smaller one of two proofs: in Gaussian DP, for losses of one direction only, and by the Rényi curve, for
    budgets other than a μ.

    Args:
        problem: The planning problem.
        inexact_rate: Rényi rate of the solver's tolerance, from `inexact_share`.
        chain: Number of minimisers of a release.
    """
    budget, releases, trial = problem.budget, problem.releases * chain, _trial_run(problem)
    curve, least = trial.curve(problem.adjacency), math.inf
    constants, rows, blocks = problem.loss.constants, problem.charged_rows, problem.loss.blocks
    delta = problem.adjacency.sensitivity(constants.lipschitz * ROOM, rows)
    if trial.form == ONE_DIRECTION:
        least = renyi.noise_for_gdp(
            gdp=budget.dp_gdp(),
            lipschitz=constants.lipschitz * ROOM / math.sqrt(blocks),
            ratio=curve.ratio,
            rows=rows,
            worlds=2 if problem.adjacency.between_records else 1,
            blocks=blocks,
            inexact_gdp=math.sqrt(2 * inexact_rate) * (1 + 1e-11),
            releases=releases,
        )
    if problem.by_person:
        return least  # the Rényi curve does not cover it
    if budget.measure is Measures.RENYI:
        assert budget.order is not None
        by_order = renyi.noise_for_renyi(
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
    if least < math.inf:  # one conversion decides whether the other proof may need less, before a search
        rate = releases * (delta**2 / (2 * least**2) + inexact_rate)
        spent = Guarantee(
            "dp", problem.adjacency, rate=rate, curves=((replace(curve, rate=0.0, gdp_squared=None), releases),)
        )
        if spent.epsilon(budget.dp_delta) > budget.dp:
            return least
    by_curve = renyi.noise_for_epsilon_delta(
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
    """Return (τ, γ): the output noise, a power of two, and the solver's tolerance on the gradient norm.

    τ may add a fiftieth of the excess risk, and is doubled up to four times until γ is at least ten times the rounding
    of a measured gradient.

    Args:
        problem: The planning problem.
        noise: s.
        inexact_rate: Rényi rate that γ may cost, from `inexact_share`.
        chain: Number of minimisers of a release.

    Raises:
        InvalidParameter: If the budgets leave the solver a tolerance below its rounding error.
    """
    wanted = bounds.output_noise(
        share=_OUTPUT_SHARE,
        noise=noise,
        records=problem.records,
        dimension=problem.dimension,
        hessian_trace=problem.hessian_trace,
    )
    exponent = math.frexp(wanted)[1] - 1
    least = _ROUNDING_ROOM * rounding_of_gradient(problem, noise, chain)
    for wider in range(_MOST_WIDENING + 1):
        output_noise = math.ldexp(1.0, exponent + wider)
        tolerance = bounds.tolerance_for(
            rate=inexact_rate,
            output_noise=output_noise,
            strong_convexity=_trial_run(problem)._least_curvature,
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
    """Return a bound on the rounding error of a measured gradient with b, up to twice as far out as a minimiser.

    A stage ends within (L + ‖b‖/n)/λ of the previous stage's end, where it begins.

    Args:
        problem: The planning problem.
        noise: s.
        chain: Number of minimisers of a release.
    """
    constants, pull = problem.loss.constants, linear_term_bound(problem, noise)
    longest = (constants.lipschitz + pull) / problem.regularization
    return 2.0**-40 * pull + gradient_error(
        lipschitz=constants.lipschitz,
        curvature=constants.curvature,
        outputs=problem.loss.outputs,
        records=problem.records,
        features=problem.features,
        regularization=problem.regularization,
        weights_norm=2 * min(longest, minimizer_norm_bound(problem, pull)) + 2 * (chain - 1) * 2 * longest,
    )


def minimizer_norm_bound(problem: Problem, pull: float) -> float:
    """Return a bound on the norm of a minimiser: the r of λr²/2 = r‖b‖/n + the gap of the loss at 0.

    It holds because a minimiser is no worse than 0. Far less than (L + ‖b‖/n)/λ for small λ; infinite if nothing public
    bounds the gap.

    Args:
        problem: The planning problem.
        pull: ‖b‖/n.
    """
    gap, regularization = problem.loss.gap_at_zero, problem.regularization
    return (pull + math.sqrt(pull**2 + 2 * regularization * gap)) / regularization


def linear_term_bound(problem: Problem, noise: float) -> float:
    """Return a bound on ‖b‖/n, in units of the mean gradient, that fails once in 10¹⁸ draws.

    Args:
        problem: The planning problem, for n, d and the shape of b.
        noise: s.
    """
    widest = math.sqrt(max(problem.noise_shape or (1.0,)))
    return noise * (math.sqrt(problem.noise_trace) + _UNUSUAL * widest) / problem.records
