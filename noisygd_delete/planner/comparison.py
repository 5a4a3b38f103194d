"""Which method for a budget: the cost and noise of each side by side, from public numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import methods
from ..bounds.arithmetic import first_whole
from ..errors import InvalidParameter, NoisyGDDeleteError, PlanInfeasible, check_choice, check_count, check_positive
from ..methods import METHODS, Method, compared_methods
from ..methods.explanations import explain_noise
from ..methods.forecast import parts
from ..methods.minimiser import with_diffusion_for
from ..methods.plan import Plan
from ..privacy.guarantee import FIXED_SCHEDULE, NON_ADAPTIVE
from ..privacy.sentences import format_bound
from .defaults import expected_cost
from .planning import make_plan

if TYPE_CHECKING:
    from ..features.maps.base import PublicMap

_FIGURES = ("epsilon_present", "epsilon_erased_later", "epsilon_erased_all_seen")
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
    def delta(self) -> float:
        assert self.plan is not None
        return self.plan.budget.shown_delta

    @property
    def figures(self) -> tuple[float, float, float]:
        """ε at `delta`, of all publications: of a record in all of them; of an erased one to who saw later models alone; and to who saw every
        one. Without a publication that deletes, later models are the one there is."""
        assert self.plan is not None
        seen = self.plan.deletion_observed(self.publications + 1 if self.publications else 1)
        later = self.plan.deletion if self.publications else seen
        present, erased, all_seen = (one.with_slack().epsilon(self.delta) for one in (self.plan.together, later, seen))
        return present, erased, all_seen

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
            "revealed": None if self.plan is None else dict(zip(_FIGURES, map(_finite, self.figures), strict=True)),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Comparison:
    """All methods for one budget, and the one to take.

    once       where requests were counted on and several ways are weighed: one release with the whole budget, which erased records stay in
    alike      forecasts up to so many times the least do not tell methods apart
    patience   passes over the table to learn, beyond which a way is taken only where no quicker one is forecast below `hopeless`
    """

    candidates: tuple[Candidate, ...]
    target: float
    requests: int | None
    once: Candidate | None = None
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
                f"{candidate.excess_risk:>13.3g}{served:>14}  {explain_noise(candidate.plan.learning, [stage.learning for stage in candidate.plan.stages])}{mark}"
            )
        verdict = f"target {self.target:g}: {self._met()}"
        lines.append(f"passes over the table; forecast excess risk in nats per record; {verdict}")
        return "\n".join(lines if self.once is None else [*lines, "", *self._revealed(self.once)])

    def _revealed(self, once: Candidate) -> list[str]:
        """What all publications of each way reveal, one release beside them that is never followed by another, and why the chosen one is."""
        ways = [way for way in (*self.candidates, once) if way.plan is not None]
        told = [(way, map(format_bound, way.figures)) for way in ways]
        within = "within" if self.once_will_do else "more than"
        return [
            f"ε of all publications, δ={format_bound(once.delta)}, if {FIXED_SCHEDULE}:",
            f"{'':<12}{'present':>9}{'erased, later':>15}{'erased, all seen':>18}{'excess risk':>13}",
            *(
                f"{way.method:<12}{present:>9}{later:>15}{seen:>18}{way.excess_risk:>13.3g}"
                for way, (present, later, seen) in told
            ),
            f"later: who sees models after the erasure alone, if {NON_ADAPTIVE}. once: one release with the whole budget, in which erased records stay: "
            f"{within} what was asked for a deletion.{self._why()}",
        ]

    def _why(self) -> str:
        """Why the chosen way is, or is not, one whose releases carry noise on."""
        found = (way for way in self.candidates if way.plan is not None and way.plan.mechanism.carries)
        carried = next(found, None)
        if carried is None or carried.plan is None:
            return ""
        if carried is not self.chosen:
            return f" '{carried.method}' has the better of fresh noise where there are more releases, or fewer columns."
        charge = (
            carried.plan.together.gdp_squared
            / carried.plan.mechanism.interval("dp", carried.plan.problem.adjacency, steps_with=1).gdp_squared
        )
        return f" '{carried.method}': {carried.plan.releases} releases take the noise of {charge:.1f}."

    @property
    def once_will_do(self) -> bool:
        """Whether one release tells no more of a record than a deletion may."""
        plan = None if self.once is None else self.once.plan
        return plan is not None and plan.budget.affords(plan.deletion_observed())

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
            "once": None if self.once is None else self.once.to_dict() | {"will_do": self.once_will_do},
        }


def compare_plans(
    *,
    target: float = 0.01,
    requests: int | None = None,
    ways: Iterable[str] | None = None,
    alike: float = _ALIKE,
    map: PublicMap | None = None,
    **arguments: Any,
) -> Comparison:
    """Plan by every method and compare.

    Args:
        target: forecast excess risk, in nats per record, that a release may have.
        requests: deletion requests that the dp budget has to last for, every publication observed; each method publishes
            as often as its noise stays within the target and batches the rest. None: the budget is per release.
        ways: the methods to weigh; None: every one that is `compared`.
        alike: forecasts up to so many times the least do not tell methods apart: then the cheapest deletion decides.
        map: the public one that makes the rows, of full norm and with a constant; some methods make use of it.
        arguments: those of `make_plan`, without method; without releases where requests are given.
    """
    target = check_positive("target", target)
    if requests is not None:
        requests = check_count("requests", requests)
    many = requests is not None or arguments.get("releases", 1) > 1
    names = [
        name
        for name in dict.fromkeys(compared_methods() if ways is None else ways)
        if many or METHODS[check_choice("ways", name, tuple(METHODS))].weighed != "for several publications"
    ]
    if not names:
        raise InvalidParameter(
            "none of these methods plans a single release: give the deletion requests that the budget has to last for"
        )
    found = tuple(
        _candidate(methods.with_map(methods.resolve_method(name), map), target, requests, arguments) for name in names
    )
    if all(candidate.plan is None for candidate in found):
        make_plan(**arguments, method=names[min(1, len(names) - 1)])  # raises what is wrong: the second asks for least
        raise PlanInfeasible("no method has a plan: " + "; ".join(f"{one.method}: {one.reason}" for one in found))
    once = (
        None
        if requests is None or len(found) == 1
        else _candidate(methods.resolve_method("perturbed"), target, None, arguments)
    )
    once = None if once is None or once.plan is None else replace(once, method="once", publications=0)
    return Comparison(found, target, requests, once, alike)


def _candidate(method: Method, target: float, requests: int | None, arguments: dict[str, Any]) -> Candidate:
    batch = arguments.get("batch", 1)

    @cache
    def planned(publications: int) -> Candidate:
        each = {} if requests is None else {"batch": batch * math.ceil(requests / publications)}
        releases = arguments.get("releases", 1) if requests is None else publications + 1
        plan = make_plan(**{**arguments, **each, "method": method, "releases": releases})
        if expected_cost(plan) > target:
            plan = with_diffusion_for(plan, target * parts(plan.problem) - plan.problem.ridge_cost)
        return Candidate(method.name, plan, publications, expected_cost(plan))

    try:
        most = planned(requests or 1)
    except NoisyGDDeleteError as error:
        return Candidate(method.name, None, reason=str(error))
    least = most
    for fewest in (2, 1) if requests is not None and most.excess_risk > target else ():
        try:
            least = planned(min(fewest, most.publications))
        except NoisyGDDeleteError:  # some share a budget among more than two releases alone
            continue
    if most.excess_risk <= target or least.excess_risk > target:
        return most if most.excess_risk <= target else least
    beyond = first_whole(lambda number: planned(number).excess_risk > target, least.publications, most.publications)
    return planned(beyond - 1)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# --- streams ---
#
# A budget for a stream of requests: how many publications, how many of them fresh, and how many requests each waits for.


@dataclass(frozen=True)
class StreamPlan:
    """The way that `compare_plans` takes for N requests, spread over a period.

    period  days in which the requests come; None: not said
    """

    comparison: Comparison
    requests: int
    period: float | None

    @property
    def plan(self) -> Plan:
        plan = self.comparison.chosen.plan
        assert plan is not None
        return plan

    @property
    def publications(self) -> int:
        """Besides the learn."""
        return self.comparison.chosen.publications

    @property
    def fresh(self) -> int:
        """Publications that start afresh, the learn among them."""
        return self.plan.fresh_publications

    @property
    def requests_each(self) -> int:
        """Requests that a publication waits for."""
        return math.ceil(self.requests / self.publications)

    @property
    def days_each(self) -> float | None:
        """Days between publications, if requests come evenly."""
        return None if self.period is None else self.period / self.publications

    def to_dict(self) -> dict[str, Any]:
        schedule = {
            "requests": self.requests,
            "period_days": self.period,
            "publications": self.publications,
            "fresh": self.fresh,
            "requests_each": self.requests_each,
            "days_each": self.days_each,
        }
        return {"stream": schedule, **self.comparison.to_dict()}

    def text(self) -> str:
        """The schedule in a paragraph, and how to serve it."""
        resumed = self.publications + 1 - self.fresh
        when = "" if self.days_each is None else f", about one in {self.days_each:.3g} days"
        apart = "" if self.days_each is None or self.fresh < 2 else f" (one in {self.period / self.fresh:.3g} days)"  # type: ignore[operator]
        ways = len(self.comparison.candidates)
        among = "" if ways == 1 else " among the methods below"
        serve = f"--batch {self.plan.problem.batch}"
        if self.days_each is not None:
            serve += f" --deadline {self.days_each * 86_400:.0f}"
        return (
            f"Stream of {self.requests} requests: a learn and {self.publications} publications{when}, each for {self.requests_each} "
            f"request(s); {self.fresh} of them all start afresh{apart}, {resumed} resume from the model before. Chosen by forecast{among}, "
            f"under the budget for all publications together. Serve it with: stream STORE FILE {serve}"
        )


def plan_stream(*, requests: int, period: float | None = None, target: float = 0.01, **arguments: Any) -> StreamPlan:
    """The plan for N requests under one budget.

    Args:
        requests, target, arguments: as for `compare_plans`.
        period: days in which the requests come.
    """
    if period is not None:
        period = check_positive("period", period)
    return StreamPlan(compare_plans(requests=requests, target=target, **arguments), requests, period)
