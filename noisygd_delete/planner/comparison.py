"""Which method for a budget: the cost and noise of each side by side, from public numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..bounds.search import first_whole
from ..errors import InvalidParameter, NoisyGDDeleteError, PlanInfeasible, choice, count, positive
from ..methods import METHODS, compared
from ..methods.minimiser import diffused_towards
from ..methods.plan import Plan
from ..methods.words import noise
from .make import make_plan
from .ridge import expected_cost, parts

_ALIKE = 1.05  # forecasts that lie nearer than this do not tell methods apart


@dataclass(frozen=True)
class Candidate:
    """One of the methods that are compared.

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
    """All methods for one budget, and the one to take.

    alike      forecasts up to so many times the least do not tell methods apart
    patience   passes over the table to learn, beyond which a way is taken only where no quicker one is forecast below `hopeless`
    """

    candidates: tuple[Candidate, ...]
    target: float
    requests: int | None
    alike: float = _ALIKE
    patience: float = math.inf
    hopeless: float = math.inf

    @property
    def chosen(self) -> Candidate:
        """Of the methods that meet the target, or come as near to the least forecast as forecasts can tell, those that publish most
        often; of these, the one with the cheapest deletion. Where none meets the target, the cheapest deletion.
        """
        possible = [candidate for candidate in self.candidates if candidate.plan is not None]
        quick = [one for one in possible if one.learn_passes <= self.patience and one.excess_risk < self.hopeless]
        possible = quick or possible
        least = min(candidate.excess_risk for candidate in possible)
        near = [one for one in possible if one.excess_risk <= max(self.target, self.alike * least)]
        if least <= self.target:
            return min(near, key=lambda candidate: (-candidate.publications, candidate.delete_passes))
        return min(near, key=lambda candidate: (candidate.delete_passes, candidate.excess_risk))

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
                f"{candidate.excess_risk:>13.3g}{served:>14}  {noise(candidate.plan)}{mark}"
            )
        verdict = f"target {self.target:g}: {self._met()}"
        return "\n".join([*lines, f"passes over the table; forecast excess risk in nats per record; {verdict}"])

    def _met(self) -> str:
        if self.chosen.excess_risk <= self.target:
            return "met"
        if any(candidate.excess_risk <= self.target for candidate in self.candidates):
            return "met, but by no way that deletes as cheaply as the one chosen, which comes near"
        least = min(candidate.excess_risk for candidate in self.candidates)
        if self.chosen.excess_risk <= least:
            return "met by none; least forecast chosen"
        if self.chosen.excess_risk <= self.alike * least:
            return (
                f"met by none; chosen is the cheapest deletion of those forecast within {self.alike:g} times the least"
            )
        return (
            f"met by none; of ways that learn in at most {self.patience:,.0f} passes, chosen is the cheapest deletion of those forecast "
            f"within {self.alike:g} times the least of them"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen.method,
            "target": self.target,
            "requests": self.requests,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


def compare_plans(
    *,
    target: float = 0.01,
    requests: int | None = None,
    ways: Iterable[str] | None = None,
    alike: float = _ALIKE,
    **arguments: Any,
) -> Comparison:
    """Plan by every method and compare.

    Args:
        target: forecast excess risk, in nats per record, that a release may have.
        requests: deletion requests that the dp budget has to last for, every publication observed; each method publishes
            as often as its noise stays within the target and batches the rest. None: the budget is per release.
        ways: the methods to weigh; None: every one that is `compared`.
        alike: forecasts up to so many times the least do not tell methods apart: then the cheapest deletion decides.
        arguments: those of `make_plan`, without method; without releases where requests are given.
    """
    target = positive("target", target)
    if requests is not None:
        requests = count("requests", requests)
    many = requests is not None or arguments.get("releases", 1) > 1
    names = [
        name
        for name in dict.fromkeys(compared() if ways is None else ways)
        if many or not METHODS[choice("ways", name, tuple(METHODS))].for_streams
    ]
    if not names:
        raise InvalidParameter(
            "none of these methods plans a single release: give the deletion requests that the budget has to last for"
        )
    found = tuple(_candidate(name, target, requests, arguments) for name in names)
    if all(candidate.plan is None for candidate in found):
        make_plan(**arguments, method=names[min(1, len(names) - 1)])  # raises what is wrong: the second asks for least
        raise PlanInfeasible("no method has a plan: " + "; ".join(f"{one.method}: {one.reason}" for one in found))
    return Comparison(found, target, requests, alike)


def _candidate(name: str, target: float, requests: int | None, arguments: dict[str, Any]) -> Candidate:
    batch = arguments.get("batch", 1)
    fewest = 2 if METHODS[name].for_streams else 1

    @cache
    def planned(publications: int) -> Candidate:
        each = {} if requests is None else {"batch": batch * math.ceil(requests / publications)}
        releases = arguments.get("releases", 1) if requests is None else publications + 1
        plan = make_plan(**{**arguments, **each, "method": name, "releases": releases})
        if expected_cost(plan) > target:
            plan = diffused_towards(plan, target * parts(plan.problem) - plan.problem.ridge_cost)
        return Candidate(name, plan, publications, expected_cost(plan))

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
