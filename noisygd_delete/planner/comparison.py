"""Which method for a budget: the cost and noise of each side by side, from public numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..bounds.search import first_whole
from ..errors import NoisyGDDeleteError, count, positive
from ..methods import METHODS, Mechanism
from ..methods.plan import Plan
from ..methods.sharp import SharpRun
from ..methods.theorem import TheoremRun
from .make import make_plan

COMPARED = ("theorem", "sharp", "minimiser", "perturbed", "interleaved")

_ALIKE = 1.05  # forecasts that lie nearer than this do not tell methods apart


@dataclass(frozen=True)
class Candidate:
    """One method of `COMPARED`.

    plan           None where the method does not apply; `reason` then says why
    publications   deletion publications that the budget covers besides the learn
    excess_risk    forecast for each of them, nats per record
    """

    method: str
    plan: Plan | None
    publications: int = 0
    excess_risk: float = math.inf
    reason: str = ""

    @property
    def learn_passes(self) -> int:
        return 0 if self.plan is None else self.plan.learn_solver_passes + self.plan.learn_steps

    @property
    def delete_passes(self) -> int:
        return 0 if self.plan is None else self.plan.delete_solver_passes + self.plan.delete_steps

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "learn_passes": self.learn_passes,
            "delete_passes": self.delete_passes,
            "publications": self.publications,
            "noise_variance": None if self.plan is None else self.plan.noise_variance,
            "linear_term": None if self.plan is None else self.plan.linear_term,
            "excess_risk_forecast": None if self.plan is None else self.excess_risk,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Comparison:
    """All methods for one budget, and the one to take."""

    candidates: tuple[Candidate, ...]
    target: float
    requests: int | None

    @property
    def chosen(self) -> Candidate:
        """Of the methods that meet the target, those that publish most often; of these, the one with the cheapest deletion.

        Where none meets the target, the cheapest deletion among those whose forecast is the least, as far as a forecast can tell.
        """
        possible = [candidate for candidate in self.candidates if candidate.plan is not None]
        good = [candidate for candidate in possible if candidate.excess_risk <= self.target]
        if not good:
            alike = _ALIKE * min(candidate.excess_risk for candidate in possible)
            near = [candidate for candidate in possible if candidate.excess_risk <= alike]
            return min(near, key=lambda candidate: (candidate.delete_passes, candidate.excess_risk))
        return min(good, key=lambda candidate: (-candidate.publications, candidate.delete_passes))

    def table(self) -> str:
        """Plain text, the chosen way marked."""
        head = f"{'method':<12}{'learn':>9}{'delete':>9}{'excess risk':>13}{'publications':>14}  noise"
        lines = [head]
        for candidate in self.candidates:
            if candidate.plan is None:
                lines.append(f"{candidate.method:<12}{candidate.reason}")
                continue
            mark = "  <- chosen" if candidate is self.chosen else ""
            served = "each request" if self.requests is None else f"{candidate.publications} of {self.requests}"
            lines.append(
                f"{candidate.method:<12}{candidate.learn_passes:>9}{candidate.delete_passes:>9}"
                f"{candidate.excess_risk:>13.3g}{served:>14}  {candidate.plan.method.noise(candidate.plan)}{mark}"
            )
        met = self.chosen.excess_risk <= self.target
        verdict = f"target {self.target:g}: " + ("met" if met else "met by none; least forecast chosen")
        return "\n".join([*lines, f"passes over the table; forecast excess risk in nats per record; {verdict}"])

    def to_dict(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen.method,
            "target": self.target,
            "requests": self.requests,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


def compare_plans(*, target: float = 0.01, requests: int | None = None, **arguments: Any) -> Comparison:
    """Plan by every method and compare.

    Args:
        target: forecast excess risk, in nats per record, that a release may have.
        requests: deletion requests that the dp budget has to last for, every publication observed; each method publishes
            as often as its noise stays within the target and batches the rest. None: the budget is per release.
        arguments: those of `make_plan`, without method and releases.
    """
    target = positive("target", target)
    if requests is not None:
        requests = count("requests", requests)
    names = [name for name in COMPARED if requests is not None or not METHODS[name][0].for_streams]
    found = tuple(_candidate(name, target, requests, arguments) for name in names)
    if all(candidate.plan is None for candidate in found):
        make_plan(**arguments, method="sharp")  # raises what is wrong
    return Comparison(found, target, requests)


def _candidate(name: str, target: float, requests: int | None, arguments: dict[str, Any]) -> Candidate:
    batch = arguments.get("batch", 1)
    fewest = 2 if METHODS[name][0].for_streams else 1

    @cache
    def planned(publications: int) -> Candidate:
        each = {} if requests is None else {"batch": batch * math.ceil(requests / publications)}
        releases = 1 if requests is None else publications + 1
        plan = make_plan(**{**arguments, **each, "method": name, "releases": releases})
        if _excess(plan) > target:
            plan = plan.method.towards(plan, target - plan.problem.ridge_cost)
        return Candidate(name, plan, publications, _excess(plan))

    try:
        most = planned(requests or 1)
    except NoisyGDDeleteError as error:
        return Candidate(name, None, reason=str(error))
    try:
        least = most if requests is None or most.excess_risk <= target else planned(min(fewest, requests))
    except NoisyGDDeleteError:
        return most
    if most.excess_risk <= target or least.excess_risk > target:
        return most if most.excess_risk <= target else least
    beyond = first_whole(lambda number: planned(number).excess_risk > target, least.publications, most.publications)
    return planned(beyond - 1)


def _excess(plan: Plan) -> float:
    """Forecast of a release's excess risk in the objective asked for."""
    return plan.method.forecast(plan) + plan.problem.ridge_cost


def bounds_of_same_run(plan: Plan, *, printed_step_size: float) -> tuple[Mechanism, Mechanism]:
    """A plan's run as Theorem 5.1 bounds it (at the step size that it allows) and as shifted interpolation does."""
    facts = plan.problem.run(step_size=plan.step_size, noise_variance=plan.noise_variance)
    return TheoremRun(**{**facts, "step_size": printed_step_size}), SharpRun(**facts)
