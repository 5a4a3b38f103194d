"""The cheapest plan that meets targets: ε_dd ≤ x and accuracy loss ≤ y, choosing η, σ² and K.

With the tight bound noise and steps trade against each other: with σ² above the least that ε_dp needs, a request
has less to forget, K_Ā = log(μ_∞/μ_dd)/log(1/c), but the stationary law of the chain is wider. A larger η contracts faster
and widens it too. "Accuracy loss" is the excess regularised risk in the unit of the loss (nats for the logistic loss), by
the bound of `bounds/utility.py`, over any number of requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import methods
from ..bounds import shifted_interpolation
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, positive
from ..losses.base import Loss
from ..methods import Sharp
from ..methods.exact_steps import ROOM
from ..methods.plan import Plan
from ..methods.sharp import stationary_excess
from ..privacy.budget import Budget
from .make import make_plan

STEP_SHARES = (0.125, 0.25, 0.5, 0.75, 0.9, 1.0)  # of the largest step size, 2/(m+M)
NOISE_LEVELS = 32


@dataclass(frozen=True)
class ParetoPoint:
    """A plan, and the bound on the excess risk of every model it releases."""

    plan: Plan
    excess_risk: float


@dataclass(frozen=True)
class Choice:
    """The cheapest plan, and the Pareto table it comes from: of two candidates neither has both less noise and fewer steps."""

    plan: Plan
    excess_risk: float
    table: tuple[ParetoPoint, ...]

    def text(self) -> str:
        """The Pareto table: steps per request against noise; the chosen plan is marked."""
        head = "    σ²          η         steps/request  steps/learn  excess risk at most"
        rows = [
            f"  {'*' if row.plan == self.plan else ' '} {row.plan.noise_variance:<10.4g}  {row.plan.step_size:<9.4g} "
            f"{row.plan.delete_steps:>12}  {row.plan.learn_steps:>11}  {row.excess_risk:.4g}"
            for row in self.table
        ]
        return "\n".join([head, *rows])

    def to_dict(self) -> dict[str, Any]:
        """JSON: the chosen plan's summary and the table."""
        rows = [
            {
                "noise_variance": row.plan.noise_variance,
                "step_size": row.plan.step_size,
                "delete_steps": row.plan.delete_steps,
                "learn_steps": row.plan.learn_steps,
                "excess_risk_bound": row.excess_risk,
            }
            for row in self.table
        ]
        return {"plan": {**self.plan.summary(), "excess_risk_bound": self.excess_risk}, "pareto": rows}


def cheapest_plan(
    loss: Loss,
    *,
    records: int,
    features: int,
    regularization: float,
    budget: Budget,
    excess_risk: float,
    **options: Any,
) -> Choice:
    """The plan with the fewest steps per request whose guarantees lie within `budget` and whose excess risk is at most
    `excess_risk`; ties go to less noise.

    Args:
        loss, records, features, regularization, budget, options: as for `make_plan`, with
            method="sharp". step_size, noise_variance and the utility condition are chosen here.
        excess_risk: bound on E[L_D(θ)] − min L_D of every released model.

    Raises:
        PlanInfeasible: no noise that meets ε_dp is small enough; carries the plan that comes closest.
    """
    target = positive("excess_risk", excess_risk)
    chosen_here = {"step_size", "noise_variance", "utility", "utility_tolerance"} & set(options)
    if chosen_here:
        raise InvalidParameter(f"{', '.join(sorted(chosen_here))} is what cheapest_plan chooses; leave it out")
    if methods.of(options.pop("method", Sharp())) != Sharp():
        raise InvalidParameter("targets need method 'sharp': the noise of Theorem 5.1 is given")
    sizes = {"records": records, "features": features, "regularization": regularization, "budget": budget}
    problem = {**sizes, **options, "method": Sharp.name}
    found = [row for share in STEP_SHARES for row in _candidates(loss, problem, share, target)]
    if not found:
        closest = min((_least(loss, problem, share) for share in STEP_SHARES), key=stationary_excess)
        raise PlanInfeasible(
            "cannot be promised: with the least noise that the dp budget allows the bound is above "
            f"{stationary_excess(closest):.4g}. Ask for more than that, raise ε_dp, raise λ, or collect more records",
            excess_risk=target,
            plan=closest,
            alternatives=(f"excess_risk={2 * stationary_excess(closest):.4g} with the same budget",),
        )
    best = min(found, key=lambda row: (row.plan.delete_steps, row.plan.noise_variance, row.plan.learn_steps))
    return Choice(best.plan, best.excess_risk, tuple(_drop_dominated(found)))


def _least(loss: Loss, problem: dict[str, Any], share: float) -> Plan:
    """The plan with the least noise at this step size, without a utility condition."""
    constants, regularization = loss.constants, positive("regularization", problem["regularization"])
    strong = regularization - constants.weak_convexity
    if not strong > 0:
        raise AssumptionViolated(
            f"must exceed β₋={constants.weak_convexity:g}: a target on the excess risk needs a strongly convex "
            "objective. Raise λ, or plan without a target under method 'composition'",
            regularization=regularization,
        )
    limit = shifted_interpolation.largest_step_size(
        strong_convexity=strong,
        objective_smoothness=regularization + constants.smoothness * ROOM**2,  # as exact steps ask for
    )
    return make_plan(loss, **problem, step_size=share * limit, utility=False)


def _candidates(loss: Loss, problem: dict[str, Any], share: float, target: float) -> Iterator[ParetoPoint]:
    """Plans at one step size, from the least noise to the most that leaves room under the target."""
    least = _least(loss, problem, share)
    room = target / stationary_excess(least)
    if not room > 1:
        return
    for level in range(NOISE_LEVELS):
        noise = least.noise_variance * room ** (level / NOISE_LEVELS)
        chosen: dict[str, Any] = {
            "step_size": least.step_size,
            "noise_variance": noise if level else None,
            "excess_risk_target": target,
        }
        try:
            plan = make_plan(loss, **problem, **chosen)
        except PlanInfeasible:  # the steps that the target asks for are too many, or cost more than the dp budget has
            continue
        yield ParetoPoint(plan, plan.excess_risk)


def _drop_dominated(found: list[ParetoPoint]) -> Iterator[ParetoPoint]:
    """In the order of noise: each takes fewer steps per request than everything with less noise."""
    fewest = math.inf
    for row in sorted(found, key=lambda row: (row.plan.noise_variance, row.plan.delete_steps, row.plan.learn_steps)):
        if row.plan.delete_steps < fewest:
            fewest = row.plan.delete_steps
            yield row
