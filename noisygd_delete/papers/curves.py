"""What the report draws, as plain numbers from public facts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..accountant import Accountant
from ..bounds import shifted_interpolation, theorem_5_1
from ..bounds.utility import excess_of
from ..errors import NoisyGDDeleteError
from ..methods import Mechanism
from ..methods.plan import Plan
from ..planner.comparison import bounds_of_same_run
from ..privacy.guarantee import Guarantee

Curve = NDArray[np.float64]
POINTS = 160
LISTED = 200  # releases that a report lists one by one, the last ones


@dataclass(frozen=True)
class BurnDown:
    """Cost to a record still there, after each of these releases: ε at δ, rounding slack included, of that release alone and of all
    so far."""

    release: Curve
    single: Curve
    cumulative: Curve
    allowed: float | None


@dataclass(frozen=True)
class Forgetting:
    """ε_dd at order q against K_Ā: Theorem 5.1, the sharp bound, and the truth on the linear loss, below which none can go."""

    order: float
    steps: Curve
    theorem: Curve
    sharp: Curve
    exact: Curve
    planned: int
    budget: float | None


@dataclass(frozen=True)
class Costs:
    """Full passes over the table (a solver's as forecast): of each release, summed, and had every request been answered by learning afresh."""

    release: Curve
    passes: Curve
    total: Curve
    relearning: Curve


@dataclass(frozen=True)
class Utility:
    """Proven bound on E[L_D(θ)] − min L_D after each release, and the level the plan keeps."""

    release: Curve
    bound: Curve
    kept: float


def shown(releases: int) -> list[int]:
    """The releases that a report converts and draws: the last `LISTED`, and of those before as many as a picture can show."""
    first = max(1, releases - LISTED + 1)
    before = np.unique(np.linspace(1, first - 1, POINTS).astype(int)) if first > 1 else np.array([], int)
    return [*map(int, before), *range(first, releases + 1)]


def burn_down(accountant: Accountant, plan: Plan, delta: float) -> BurnDown:
    def epsilons(guarantees: Sequence[Guarantee]) -> Curve:
        known = {guarantee: guarantee.with_slack().epsilon(delta) for guarantee in dict.fromkeys(guarantees)}
        return np.array(
            [known[guarantee] for guarantee in guarantees]
        )  # releases of one kind cost the same by themselves

    numbers = shown(accountant.releases)
    return BurnDown(
        release=np.array(numbers, dtype=float),
        single=epsilons(accountant.dp_of_each(at=numbers)),
        cumulative=epsilons(accountant.dp_cumulative_of_each(numbers)),
        allowed=_cap(plan, delta),
    )


def _cap(plan: Plan, delta: float) -> float | None:
    """ε at δ of the cap on the sum; None where there is none, or none at this δ."""
    if plan.total is not None:
        return plan.total.epsilon if plan.total.delta == delta else None
    return plan.allowed.epsilon(delta) if plan.releases > 1 else None


def forgetting(plan: Plan) -> Forgetting | None:
    """At the plan's σ² and n, T = K_A steps with the record; each bound at its own step size rule, equal noise. None
    where the loss is not convex or the run is not plain Noisy-GD."""
    problem = plan.problem
    if not plan.loss.constants.convex or plan.mechanism.fresh:
        return None
    order = plan.budget.order or 10.0
    steps = np.unique(np.linspace(0, max(1.25 * plan.delete_steps, 8), POINTS).astype(int)).astype(float)
    notion = problem.deletion_notion
    printed = theorem_5_1.step_size(regularization=plan.regularization, smoothness=plan.loss.constants.smoothness)
    by_theorem, by_sharp = bounds_of_same_run(plan, printed_step_size=min(plan.step_size, printed))

    def at(mechanism: Mechanism, count: float) -> float:
        bound = mechanism.interval("deletion", notion, steps_with=plan.learn_steps, steps_without=count)
        return float(bound.renyi(order))

    try:
        budget = plan.budget.deletion_rate()[0] * order
    except NoisyGDDeleteError:
        budget = plan.budget.deletion_gdp() ** 2 / 2 * order
    return Forgetting(
        order=order,
        steps=steps,
        theorem=np.array([at(by_theorem, count) for count in steps]),
        sharp=np.array([at(by_sharp, count) for count in steps]),
        exact=np.array([order * linear_gdp_squared(plan, count) / 2 for count in steps]),
        planned=plan.delete_steps,
        budget=budget,
    )


def linear_gdp_squared(plan: Plan, steps: float) -> float:
    """Exact μ² between the two worlds on the linear loss, started from ρ: both laws are Gaussian with equal variance.

    Means differ by c^K s(1 − c^T)/(1 − c); the variance is c^{2(T+K)} of ρ's plus 2ησ²(1 − c^{2(T+K)})/(1 − c²).
    """
    eta, c = plan.step_size, 1 - plan.step_size * plan.problem.strong_convexity
    gap = eta * plan.problem.sensitivity(plan.problem.deletion_notion) / plan.records
    kept = c ** (2 * (plan.learn_steps + steps))
    mean = c**steps * gap * (1 - c**plan.learn_steps) / (1 - c)
    variance = kept * plan.init_variance + 2 * eta * plan.noise_variance * (1 - kept) / (1 - c**2)
    return float(mean**2 / variance)


def costs(accountant: Accountant, plan: Plan) -> Costs:
    known: dict[int, tuple[int, int]] = {}  # of thousands of releases, which are a few events again and again
    own, learn = plan.mechanism, plan.learn_steps + plan.learn_solver_passes
    events = accountant.events
    for event in events:
        if id(event) not in known:
            solver = plan.learn_solver_passes if event.fresh else plan.delete_solver_passes
            passed = event.steps + (solver if event.mechanism == own else 0)
            known[id(event)] = passed, event.steps if event.mechanism.tells else learn
    each = np.array([known[id(event)] for event in events], float).reshape(-1, 2)
    passes, learning = each.T
    numbers = np.array(shown(len(passes)))
    return Costs(
        numbers.astype(float), *(of_all[numbers - 1] for of_all in (passes, passes.cumsum(), learning.cumsum()))
    )


def utility(accountant: Accountant, plan: Plan) -> Utility | None:
    """The bound on the excess risk over the releases of the current plan, from the edits and steps they had."""
    problem = plan.problem
    if not plan.loss.constants.convex:
        return None
    chain = {"step_size": plan.step_size, "strong_convexity": problem.strong_convexity}
    constants = plan.loss.constants
    settled = plan.stationary_distance
    start = plan.dimension * plan.init_variance + (constants.lipschitz / plan.regularization) ** 2
    square, distance, course = start, math.inf, []
    events, drawn = accountant.events, set(shown(accountant.releases))
    same = {mechanism: mechanism == plan.mechanism for mechanism in accountant.account.mechanisms}
    numbers = [number for number, event in enumerate(events, start=1) if same[event.mechanism]]
    if plan.mechanism.fresh:  # every release starts afresh, so one bound holds for all
        numbers = sorted(drawn.intersection(numbers))
        return Utility(np.array(numbers, float), np.full(len(numbers), plan.excess_risk), plan.excess_risk)
    for number in numbers:
        event = events[number - 1]
        move = 0.0
        if event.fresh:
            square, distance = start, math.sqrt(start) + math.sqrt(settled)
        elif event.edits:
            move = shifted_interpolation.minimiser_move(
                lipschitz=constants.lipschitz,
                strong_convexity=problem.strong_convexity,
                records=plan.records,
                batch=event.edits,
            )
        square = shifted_interpolation.distance_after(
            distance_before=square, move=move, steps=event.steps, stationary=settled, **chain
        )
        distance = (1 - plan.step_size * problem.strong_convexity) ** event.steps * (distance + move)
        if number not in drawn:
            continue
        course.append(
            excess_of(
                square=square,
                distance=distance,
                dimension=plan.dimension,
                noise_variance=plan.noise_variance,
                objective_smoothness=problem.objective_smoothness,
                **chain,
            )
        )
    return Utility(np.array(sorted(drawn.intersection(numbers)), float), np.array(course), plan.excess_risk)
