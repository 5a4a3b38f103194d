"""Which σ², η, K_A and K_Ā meet Theorem 5.2, as printed or in the sharper form: a fixed point and a scan.

(18) asks for σ² of the order of ηK, (19) makes ηK grow with B = e^{2ω/σ²}: the least σ² is a fixed point. Everything
that (19) asks for falls as σ² grows, so there is exactly one crossing. A larger σ² is allowed and needs fewer steps;
what it costs is the model, which moves towards the prior (`data_influence`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from . import theorem_5_2
from .arithmetic import least_safe
from .theorem_5_1 import composition_rate

FACTOR = 10.0  # what "cheapest" leaves on the table


@dataclass(frozen=True)
class NonConvexProblem:
    """What Theorem 5.2 is told. Δ (`sensitivity`) is 2L for replace, L for zero-out; (18) composes `releases`."""

    order: float
    dp: float
    deletion: float
    range: float
    sensitivity: float
    smoothness: float
    regularization: float
    dimension: int
    records: int
    batch: int = 1
    releases: int = 1


@dataclass(frozen=True)
class Schedule:
    """What one σ² needs for (q, ε_dd)-deletion. `dp` is (18)'s ε_q of the composed releases.

    Steps are whole numbers, or infinite where no machine number holds them.
    """

    noise_variance: float
    log_barrier: float
    step_size: float
    learn_steps: float
    delete_steps: float
    dp: float


Form = Callable[[NonConvexProblem, float], Schedule]


def printed_schedule(problem: NonConvexProblem, noise_variance: float) -> Schedule:
    """η, K_A and K_Ā of Theorem 5.2 at this σ², with equality in (19) and the least of both step-size conditions."""
    log_barrier = theorem_5_2.log_barrier_printed(range=problem.range, noise_variance=noise_variance)
    step_size = _step_size(problem, log_barrier)
    learn = theorem_5_2.learn_steps_printed(
        log_barrier=log_barrier,
        order=problem.order,
        deletion=problem.deletion,
        regularization=problem.regularization,
        step_size=step_size,
    )
    delete = theorem_5_2.delete_steps_printed(
        learn_steps=learn,
        log_barrier=log_barrier,
        deletion=problem.deletion,
        regularization=problem.regularization,
        step_size=step_size,
        batch=problem.batch,
        records=problem.records,
    )
    dp = _dp(problem, noise_variance, step_size, learn, delete)
    return Schedule(noise_variance, log_barrier, step_size, learn, delete, dp)


def sharper_schedule(problem: NonConvexProblem, noise_variance: float) -> Schedule:
    """The same induction with B = e^{ω/σ²}, a bounded-range start and the hypothesis R_p ≤ p ε_dd/q for every p ≤ q."""
    log_barrier = theorem_5_2.log_barrier(range=problem.range, noise_variance=noise_variance)
    step_size = _step_size(problem, log_barrier)
    target = problem.deletion / problem.order
    error = theorem_5_2.discretisation_rate(
        log_barrier=log_barrier,
        dimension=problem.dimension,
        regularization=problem.regularization,
        smoothness=problem.smoothness,
        step_size=step_size,
    )
    forgetting = theorem_5_2.forgetting_rate(
        log_barrier=log_barrier, regularization=problem.regularization, step_size=step_size
    )

    def steps(start_rate: float) -> float:
        return theorem_5_2.steps_to_rate(
            start_rate=start_rate, rate=target, discretisation_rate=error, forgetting_rate=forgetting
        )

    learn = steps(min(theorem_5_2.prior_to_gibbs(range=problem.range, noise_variance=noise_variance)))
    move = theorem_5_2.gibbs_move(
        range=problem.range, noise_variance=noise_variance, batch=problem.batch, records=problem.records
    )
    delete = max(1.0, steps(target + move))
    dp = _dp(problem, noise_variance, step_size, learn, delete)
    return Schedule(noise_variance, log_barrier, step_size, learn, delete, dp)


def _step_size(problem: NonConvexProblem, log_barrier: float) -> float:
    return theorem_5_2.step_size(
        log_barrier=log_barrier,
        order=problem.order,
        deletion=problem.deletion,
        dimension=problem.dimension,
        regularization=problem.regularization,
        smoothness=problem.smoothness,
    )


def _dp(problem: NonConvexProblem, noise_variance: float, step_size: float, learn: float, delete: float) -> float:
    """(18) solved for ε, q Δ²ηK/(4σ²n²), with K the most steps that `releases` observed models share with a record."""
    if math.inf in (learn, delete):
        return math.inf
    rate = composition_rate(
        sensitivity=problem.sensitivity,
        noise_variance=noise_variance,
        records=problem.records,
        step_size=step_size,
        steps=int(max(learn, delete) + (problem.releases - 1) * delete),
    )
    return problem.order * rate


def least_noise_schedule(problem: NonConvexProblem, form: Form) -> Schedule:
    """The least σ² that meets (18), on the safe side: bracketed, bisected to neighbouring floats, and re-checked.

    `form` rounds K up before (18) is checked, so σ² ends just past the real-valued crossing where that matters.
    """

    def safe(noise_variance: float) -> bool:
        return form(problem, noise_variance).dp <= problem.dp

    return form(problem, least_safe(safe, guess=problem.range))  # σ² = ω: B of order 1, a natural scale


def cheapest_schedule(problem: NonConvexProblem, form: Form) -> Schedule:
    """The least σ² past which more noise makes the steps at most `FACTOR` times fewer.

    Steps are a logarithm times 2B/(λη), proportional to B²: they fall all the way to σ² = ∞, where the model is a draw
    from the prior. So "fewest" is read as B² ≤ FACTOR, at the least noise that achieves it: σ² of the order of ω.
    """
    unit = form(problem, problem.range)
    calm = 2 * unit.log_barrier * unit.noise_variance / math.log(FACTOR)  # log B falls as 1/σ²
    return form(problem, max(calm, least_noise_schedule(problem, form).noise_variance))
