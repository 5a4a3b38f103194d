"""Compare the methods for a budget by cost and noise, from public numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import methods
from ..bounds.arithmetic import first_whole
from ..errors import InvalidParameter, NoisyGDDeleteError, PlanInfeasible, check_count, check_positive
from ..methods import Method, compared_methods
from ..methods.explanations import explain_noise
from ..methods.forecast import parts
from ..methods.output_perturbation import with_diffusion_for
from ..methods.plan import Plan
from ..privacy.sentences import format_bound
from ..privacy.worlds import FIXED_SCHEDULE, NON_ADAPTIVE
from .defaults import expected_cost
from .planning import make_plan

if TYPE_CHECKING:
    from ..features.maps.base import PublicMap

_FIGURES = ("epsilon_present", "epsilon_erased_later", "epsilon_erased_all_seen")
_ALIKE = 1.05  # factor within which forecasts count as equal


@dataclass(frozen=True)
class Candidate:
    """One of the compared methods.

    Attributes:
        method: Name of the method.
        plan: The plan; None if the method does not apply.
        publications: Deletion releases that the budget covers in addition to the learn.
        excess_risk: Forecast for each of them, in nats per record.
        reason: The reason if there is no plan.
    """

    method: str
    plan: Plan | None
    publications: int = 0
    excess_risk: float = math.inf
    reason: str = ""

    @property
    def delta(self) -> float:
        """δ of the displayed figures."""
        assert self.plan is not None
        return self.plan.problem.budget.shown_delta

    @property
    def figures(self) -> tuple[float, float, float]:
        """ε at `delta` of all releases, for three cases.

        The cases are a record that is in all of them, an erased record against an observer of later models only, and an
        erased record against an observer of every model. Without a deletion release, the later models are the single
        existing one.
        """
        assert self.plan is not None
        seen = self.plan.deletion_observed(self.publications + 1 if self.publications else 1)
        later = self.plan.deletion if self.publications else seen
        present, erased, all_seen = (
            one.with_slack().epsilon(self.delta) for one in (self.plan.dp_observed(), later, seen)
        )
        return present, erased, all_seen

    @property
    def learn_passes(self) -> int:
        """Passes over the table to learn."""
        return 0 if self.plan is None else self.plan.calibration.learn_solver_passes + self.plan.calibration.learn_steps

    @property
    def delete_passes(self) -> int:
        """Passes over the table for a deletion."""
        return (
            0 if self.plan is None else self.plan.calibration.delete_solver_passes + self.plan.calibration.delete_steps
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields."""
        return {
            "method": self.method,
            "learn_passes": self.learn_passes,
            "delete_passes": self.delete_passes,
            "publications": self.publications,
            "noise_variance": None if self.plan is None else self.plan.calibration.noise_variance,
            "linear_term": None if self.plan is None else self.plan.calibration.linear_term,
            "excess_risk_forecast": None if self.plan is None else self.excess_risk,
            "revealed": None if self.plan is None else dict(zip(_FIGURES, map(_finite, self.figures), strict=True)),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Comparison:
    """Candidates of all methods for one budget, and the chosen one.

    Attributes:
        candidates: The methods compared.
        target: Forecast excess risk that a release may have, in nats per record.
        requests: Deletion requests that the budget has to cover; None if the budget is per release.
        once: A single release with the whole budget, in which erased records remain. It is given if requests were
            specified and several methods are compared.
        alike: Factor within which forecasts count as equal.
        patience: Passes over the table to learn, beyond which a method is chosen only if no faster one has a forecast
            below `hopeless`.
        hopeless: Forecast from which on no useful model can be expected.
        preferred: Name of the method to choose where no forecast meets the target and its own is below `hopeless`; "" for
            none.
    """

    candidates: tuple[Candidate, ...]
    target: float
    requests: int | None
    once: Candidate | None = None
    alike: float = _ALIKE
    patience: float = math.inf
    hopeless: float = math.inf
    preferred: str = ""

    @property
    def chosen(self) -> Candidate:
        """The chosen candidate.

        Among the methods that meet the target, or whose forecast equals the smallest within `alike`, it is the one with
        the most releases, then the one with the cheapest deletion. If no method meets the target, it is the `preferred`
        one, or else the one with the cheapest deletion.
        """
        possible = [candidate for candidate in self.candidates if candidate.plan is not None]
        quick = [one for one in possible if one.learn_passes <= self.patience and one.excess_risk < self.hopeless]
        possible = quick or possible
        least = min(candidate.excess_risk for candidate in possible)
        near = [one for one in possible if one.excess_risk <= max(self.target, self.alike * least)]
        if least <= self.target:
            return min(near, key=lambda candidate: (-candidate.publications, candidate.delete_passes))
        near = [one for one in possible if one.method == self.preferred and one.excess_risk < self.hopeless] or near
        return min(near, key=lambda candidate: (candidate.delete_passes, candidate.excess_risk))

    @property
    def reason(self) -> str:
        """Why the chosen candidate was chosen, as a clause."""
        if len(self.candidates) == 1:
            return "no other method was compared"
        if self.chosen.excess_risk <= self.target:
            return "of the methods whose forecast loss is within the target, it deletes at the least cost"
        if self.chosen.method == self.preferred:
            return "no method's forecast meets the target; it is preferred for targets, where forecasts rank methods poorly"
        return f"no method's forecast meets the target; of those within {self.alike:g} times the least, it deletes at the least cost"

    def table(self) -> str:
        """Return the comparison as plain text, with the chosen method marked."""
        head = f"{'method':<24}{'learn':>9}{'delete':>9}{'excess risk':>13}{'publications':>14}  noise"
        lines = [head]
        for candidate in self.candidates:
            if candidate.plan is None:
                lines.append(f"{candidate.method:<24}{candidate.reason}")
                continue
            mark = "  <- chosen" if candidate is self.chosen else ""
            served = "each request" if self.requests is None else f"{candidate.publications} of {self.requests}"
            lines.append(
                f"{candidate.method:<24}{candidate.learn_passes:>9}{candidate.delete_passes:>9}"
                f"{candidate.excess_risk:>13.3g}{served:>14}  {explain_noise(candidate.plan.learning, [stage.learning for stage in candidate.plan.calibration.stages])}{mark}"
            )
        verdict = f"target {self.target:g}: {self._met()}"
        lines.append(f"passes over the table; forecast excess risk in nats per record; {verdict}")
        return "\n".join(lines if self.once is None else [*lines, "", *self._revealed(self.once)])

    def _revealed(self, once: Candidate) -> list[str]:
        """Return lines on the privacy cost of all releases of each method, of a single release, and on the choice."""
        ways = [way for way in (*self.candidates, once) if way.plan is not None]
        formatted = [(way, map(format_bound, way.figures)) for way in ways]
        within = "within" if self.once_will_do else "more than"
        return [
            f"ε of all publications, δ={format_bound(once.delta)}, if {FIXED_SCHEDULE}:",
            f"{'':<24}{'present':>9}{'erased, later':>15}{'erased, all seen':>18}{'excess risk':>13}",
            *(
                f"{way.method:<24}{present:>9}{later:>15}{seen:>18}{way.excess_risk:>13.3g}"
                for way, (present, later, seen) in formatted
            ),
            f"later: who sees models after the erasure alone, if {NON_ADAPTIVE}. once: one release with the whole budget, in which erased records stay: "
            f"{within} what was asked for a deletion.{self._why()}",
        ]

    def _why(self) -> str:
        """Return the reason why a method whose releases carry noise on is, or is not, chosen."""
        found = (way for way in self.candidates if way.plan is not None and way.plan.mechanism.carries)
        carried = next(found, None)
        if carried is None or carried.plan is None:
            return ""
        if carried is not self.chosen:
            return f" '{carried.method}' has the better of fresh noise where there are more releases, or fewer columns."
        charge = (
            carried.plan.dp_observed().gdp_squared
            / carried.plan.mechanism.interval("dp", carried.plan.problem.adjacency, steps_with=1).gdp_squared
        )
        return f" '{carried.method}': {carried.plan.problem.releases} releases take the noise of {charge:.1f}."

    @property
    def once_will_do(self) -> bool:
        """Whether a single release reveals no more about a record than a deletion may."""
        plan = None if self.once is None else self.once.plan
        return plan is not None and plan.problem.budget.affords(plan.deletion_observed())

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
        """Return JSON-compatible fields."""
        return {
            "chosen": self.chosen.method,
            "reason": self.reason,
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
    """Return a comparison of the plans of several methods.

    Args:
        target: Forecast excess risk that a release may have, in nats per record.
        requests: Deletion requests that the dp budget has to cover, with every release observed. Each method releases
            as often as its noise stays within the target and batches the requests accordingly. None: the budget is per
            release.
        ways: Methods to compare; None for all that are `compared`.
        alike: Factor on the smallest forecast within which forecasts count as equal, so that the cheapest deletion
            decides.
        map: Public feature map that makes the rows, of full norm and with a constant; some methods use it.
        **arguments: Arguments of `make_plan`, without method, and without releases if requests are given.

    Raises:
        InvalidParameter: If an argument is invalid, or no method in `ways` plans a single release.
        PlanInfeasible: If no method has a plan.
    """
    target = check_positive("target", target)
    if requests is not None:
        requests = check_count("requests", requests)
    many = requests is not None or arguments.get("releases", 1) > 1
    named = {name: methods.resolve_method(name) for name in (compared_methods() if ways is None else ways)}
    names = [name for name, method in named.items() if many or method.weighed != "for several publications"]
    if not names:
        raise InvalidParameter(
            "none of these methods plans a single release: give the deletion requests that the budget has to last for"
        )
    found = tuple(_candidate(methods.with_map(named[name], map), target, requests, arguments) for name in names)
    if all(candidate.plan is None for candidate in found):
        make_plan(**arguments, method=names[0])  # raises the error
        raise PlanInfeasible("no method has a plan: " + "; ".join(f"{one.method}: {one.reason}" for one in found))
    once = (
        None
        if requests is None or len(found) == 1
        else _candidate(methods.resolve_method("objective-perturbation"), target, None, arguments)
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
        return Candidate(method.variant_name(), plan, publications, expected_cost(plan))

    try:
        most = planned(requests or 1)
    except NoisyGDDeleteError as error:
        return Candidate(method.variant_name(), None, reason=str(error))
    least = most
    for fewest in (2, 1) if requests is not None and most.excess_risk > target else ():
        try:
            least = planned(min(fewest, most.publications))
        except NoisyGDDeleteError:  # some methods share a budget only among more than two releases
            continue
    if most.excess_risk <= target or least.excess_risk > target:
        return most if most.excess_risk <= target else least
    beyond = first_whole(lambda number: planned(number).excess_risk > target, least.publications, most.publications)
    return planned(beyond - 1)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# --- streams ---
#
# A budget for a stream of requests: the number of releases, of fresh ones among them, and of requests per release.


@dataclass(frozen=True)
class StreamPlan:
    """The plan that `compare_plans` chooses for N requests, spread over a period.

    Attributes:
        comparison: The comparison.
        requests: N.
        period: Days in which the requests arrive; None if unspecified.
    """

    comparison: Comparison
    requests: int
    period: float | None

    @property
    def plan(self) -> Plan:
        """The chosen plan."""
        plan = self.comparison.chosen.plan
        assert plan is not None
        return plan

    @property
    def publications(self) -> int:
        """Number of releases in addition to the learn."""
        return self.comparison.chosen.publications

    @property
    def fresh(self) -> int:
        """Number of releases that start afresh, including the learn."""
        return self.plan.problem.releases if self.plan.mechanism.fresh else 1

    @property
    def requests_each(self) -> int:
        """Number of requests per release."""
        return math.ceil(self.requests / self.publications)

    @property
    def days_each(self) -> float | None:
        """Days between releases, if requests arrive evenly; None if the period is unspecified."""
        return None if self.period is None else self.period / self.publications

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields."""
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
        """Return the schedule as a paragraph, with the command that serves it."""
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
    """Return the plan for N requests under one budget.

    Args:
        requests: N, as for `compare_plans`.
        period: Days in which the requests arrive.
        target: As for `compare_plans`.
        **arguments: As for `compare_plans`.
    """
    if period is not None:
        period = check_positive("period", period)
    return StreamPlan(compare_plans(requests=requests, target=target, **arguments), requests, period)
