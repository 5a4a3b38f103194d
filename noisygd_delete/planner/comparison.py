"""Which way of learning and deleting for a budget: every way's cost and noise side by side, from public numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import NoisyGDDeleteError, count, positive
from ..methods.minimiser import forecast_excess_risk
from ..methods.plan import Plan
from . import make_plan

WAYS: dict[str, dict[str, str]] = {
    "theorem": {"certificate": "theorem"},
    "sharp": {"certificate": "sharp"},
    "minimiser": {"certificate": "sharp", "start": "minimiser"},
}
_MOST_STEPS = 1 << 16


@dataclass(frozen=True)
class Candidate:
    """One way: "theorem", "sharp" (both resume from the published model) or "minimiser" (solve, then diffuse).

    plan           None where the way does not apply; `reason` then says why
    publications   deletion publications that the budget covers besides the learn
    excess_risk    forecast for each of them, nats per record
    """

    way: str
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
            "way": self.way,
            "learn_passes": self.learn_passes,
            "delete_passes": self.delete_passes,
            "publications": self.publications,
            "noise_variance": None if self.plan is None else self.plan.noise_variance,
            "excess_risk_forecast": None if self.plan is None else self.excess_risk,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Comparison:
    """All ways for one budget, and the one to take."""

    candidates: tuple[Candidate, ...]
    target: float
    requests: int | None

    @property
    def chosen(self) -> Candidate:
        """Of the ways that meet the target, those that publish most often; of these, the one with the cheapest deletion.

        Where none meets the target, the one with the least forecast excess risk.
        """
        possible = [candidate for candidate in self.candidates if candidate.plan is not None]
        good = [candidate for candidate in possible if candidate.excess_risk <= self.target]
        if not good:
            return min(possible, key=lambda candidate: candidate.excess_risk)
        return min(good, key=lambda candidate: (-candidate.publications, candidate.delete_passes))

    def table(self) -> str:
        """Plain text, the chosen way marked."""
        head = f"{'way':<12}{'learn':>9}{'delete':>9}{'noise σ²':>12}{'excess risk':>13}{'publications':>14}"
        lines = [head]
        for candidate in self.candidates:
            if candidate.plan is None:
                lines.append(f"{candidate.way:<12}{candidate.reason}")
                continue
            mark = "  <- chosen" if candidate is self.chosen else ""
            served = "each request" if self.requests is None else f"{candidate.publications} of {self.requests}"
            lines.append(
                f"{candidate.way:<12}{candidate.learn_passes:>9}{candidate.delete_passes:>9}"
                f"{candidate.plan.noise_variance:>12.3g}{candidate.excess_risk:>13.3g}{served:>14}{mark}"
            )
        met = self.chosen.excess_risk <= self.target
        verdict = f"target {self.target:g}: " + ("met" if met else "met by none; least forecast chosen")
        return "\n".join([*lines, f"passes over the table; forecast excess risk in nats per record; {verdict}"])

    def to_dict(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen.way,
            "target": self.target,
            "requests": self.requests,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


def compare_plans(*, target: float = 0.01, requests: int | None = None, **arguments: Any) -> Comparison:
    """Plan every way and compare.

    Args:
        target: forecast excess risk, in nats per record, that a release may have.
        requests: deletion requests that the dp budget has to last for, every publication observed; each way publishes
            as often as its noise stays within the target and batches the rest. None: the budget is per release.
        arguments: those of `make_plan`, without certificate, start, releases and diffusion_steps.
    """
    target = positive("target", target)
    if requests is not None:
        requests = count("requests", requests)
    found = tuple(_candidate(way, target, requests, arguments) for way in WAYS)
    if all(candidate.plan is None for candidate in found):
        make_plan(**arguments, **WAYS["sharp"])  # type: ignore[arg-type]  # raises what is wrong
    return Comparison(found, target, requests)


def _candidate(way: str, target: float, requests: int | None, arguments: dict[str, Any]) -> Candidate:
    batch = arguments.get("batch", 1)

    def planned(publications: int) -> Candidate:
        each = {} if requests is None else {"batch": batch * math.ceil(requests / publications)}
        releases = 1 if requests is None else publications + 1
        facts = {**arguments, **each, **WAYS[way], "releases": releases}
        plan = make_plan(**facts)
        if way == "minimiser" and _forecast(plan) > target:
            plan = _diffused_longer(plan, facts, target)
        return Candidate(way, plan, publications, _forecast(plan))

    try:
        most = planned(requests or 1)
        least = most if requests is None or most.excess_risk <= target else planned(1)
    except NoisyGDDeleteError as error:
        return Candidate(way, None, reason=str(error))
    if most.excess_risk <= target or least.excess_risk > target:
        return most if most.excess_risk <= target else least
    while most.publications - least.publications > 1:
        middle = planned((least.publications + most.publications) // 2)
        least, most = (middle, most) if middle.excess_risk <= target else (least, middle)
    return least


def _forecast(plan: Plan) -> float:
    """Of a release in the long run, where nothing is left of the start."""
    return forecast_excess_risk(
        plan.problem,
        step_size=plan.step_size,
        noise_variance=plan.noise_variance,
        steps=plan.delete_steps if plan.problem.start == "minimiser" else math.inf,
    )


def _diffused_longer(plan: Plan, facts: dict[str, Any], target: float) -> Plan:
    """The fewest diffusion steps (to 5 %) that meet the target, if any do; else the plan as it is."""
    few, longer = plan.delete_steps, None
    many = 2 * few
    while many < _MOST_STEPS and longer is None:
        tried = make_plan(**{**facts, "diffusion_steps": many})
        if _forecast(tried) <= target:
            longer = tried
        else:
            few, many = many, 2 * many
    while longer is not None and many - few > max(1, 0.05 * many):
        middle = (few + many) // 2
        tried = make_plan(**{**facts, "diffusion_steps": middle})
        if _forecast(tried) <= target:
            longer, many = tried, middle
        else:
            few = middle
    return longer or plan
