"""Choose σ², η, K_A and K_Ā that meet Theorem 5.2, as printed or in the sharper form.

(18) requires σ² of the order of ηK, and (19) makes ηK grow with B = e^{2ω/σ²}, so the smallest σ² is a fixed point.
Every requirement of (19) decreases in σ², so there is exactly one crossing. A larger σ² is allowed and needs fewer
steps, but moves the model towards the prior (`data_influence`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from . import theorem_5_2
from .arithmetic import least_safe
from .theorem_5_1 import composition_rate

FACTOR = 10.0  # largest factor by which more noise could still reduce the steps of the "cheapest" schedule


@dataclass(frozen=True)
class NonConvexProblem:
    """Parameters of Theorem 5.2.

    Attributes:
        order: Rényi order q.
        dp: Budget ε_dp at order q.
        deletion: Budget ε_dd at order q.
        range: ω, the range of one record's loss.
        sensitivity: Δ, 2L for replace-one and L for zero-out.
        smoothness: β.
        regularization: λ.
        dimension: d.
        records: n.
        batch: Edits per request r.
        releases: Number of releases that (18) composes.
    """

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
    """Step size and step counts that one σ² needs for (q, ε_dd)-deletion.

    Steps are whole numbers, or infinite if no float represents them.

    Attributes:
        noise_variance: σ².
        log_barrier: log B.
        step_size: η.
        learn_steps: K_A.
        delete_steps: K_Ā.
        dp: ε_q of the composed releases by (18).
    """

    noise_variance: float
    log_barrier: float
    step_size: float
    learn_steps: float
    delete_steps: float
    dp: float


Form = Callable[[NonConvexProblem, float], Schedule]


def printed_schedule(problem: NonConvexProblem, noise_variance: float) -> Schedule:
    """Return the schedule of Theorem 5.2 as printed at this σ², with log B = 2ω/σ²: η, K_A, K_Ā and ε_q of (18).

    (19) holds with equality, and η is the smaller of the two step-size limits.
    """
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
    """Return the schedule of the sharper form at this σ².

    The induction is the same, with B = e^{ω/σ²}, a start of bounded range and the hypothesis R_p ≤ p ε_dd/q for every p
    ≤ q.
    """
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
    """Return ε of (18), q Δ²ηK/(4σ²n²), with K the most steps that `releases` observed models share with a record."""
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
    """Return the schedule of the smallest σ² that meets (18), bisected to neighbouring floats and checked.

    `form` rounds K up before (18) is checked, so σ² may be slightly above the real-valued crossing.
    """

    def safe(noise_variance: float) -> bool:
        return form(problem, noise_variance).dp <= problem.dp

    return form(problem, least_safe(safe, guess=problem.range))  # σ² = ω: B of order 1, a natural scale


def cheapest_schedule(problem: NonConvexProblem, form: Form) -> Schedule:
    """Return the schedule of the smallest σ² beyond which more noise reduces the steps by at most the factor `FACTOR`.

    Steps are a logarithm times 2B/(λη), proportional to B²: they decrease up to σ² = ∞, where the model is a draw from
    the prior. So the criterion is B² ≤ FACTOR, at the smallest noise that achieves it: σ² of the order of ω.
    """
    unit = form(problem, problem.range)
    calm = 2 * unit.log_barrier * unit.noise_variance / math.log(FACTOR)  # log B is proportional to 1/σ²
    return form(problem, max(calm, least_noise_schedule(problem, form).noise_variance))
