"""Choose the method, λ, number of releases and batch from public numbers only; warn if no useful plan exists."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .. import methods
from ..bounds.arithmetic import first_whole, last_whole
from ..errors import InvalidParameter, NoisyGDDeleteError, NothingWorthHaving, check_choice
from ..losses.base import Loss
from ..methods import METHODS, compared_methods
from ..methods.base import AUTO, PROOFS
from ..methods.forecast import parts as parts_of
from ..methods.objective_perturbation import ObjectivePerturbation
from ..methods.objective_perturbation_chain import chain_plan
from ..methods.plan import Plan
from ..privacy.budget import Budget, Measures, Total
from ..privacy.sentences import format_bound, format_number
from ..privacy.worlds import FIXED_SCHEDULE
from .comparison import Candidate, Comparison, compare_plans
from .defaults import PUBLICATIONS, compose_publications, default_total, expected_cost, with_total
from .planning import make_plan

_GOOD = 1 / 20  # target forecast, as a share of the loss of guessing
_DEAR = 1 / 4  # share from which on the loss may well be noticeable
# by label kind, the forecast share below which this many bins are more informative than columns
# (benchmarks/results/levels.md, linear.md; for targets chosen on six tables of benchmarks/regression.py;
# for ranges known only in order of magnitude, ranges.md)
_MOST_LOST = {
    "many": {"binary": 1 / 8, "class": 1 / 3},
    "few": {"binary": 1 / 4, "class": 1.0, "target": 2.0},
    "wide": {"binary": 1 / 4, "class": 1.0, "target": 3.0},
}
_HOPELESS = 1.0  # share from which on no useful model can be expected: it loses as much as guessing
# the same for a target, if rows are spread evenly: one solve gave R² of -.5 to .1 from .6 on, three in sequence .2 to .75
# up to 2 (the tables of benchmarks/regression.py that it chose on, at ε = .12 to 2, some with 400 and 800 rows)
_HOPELESS_FOR_TARGET, _HOPELESS_IN_SEQUENCE = 0.5, 2.0
_ALIKE = 2.0  # forecasts within this factor count as equal, since they are upper estimates of varying tightness
_PATIENCE = 10_000  # passes over the table that a first model may take to learn
_BATCHED = 10  # releases for requests in batches, of which the forecast is shown beside the default's
_STRAY = 1 / 4  # expected distance of a target from the middle of its public range, in half ranges


@dataclass(frozen=True)
class Advice:
    """The recommended plan, the alternatives, and the changes that would help if no plan is good enough.

    Attributes:
        comparison: Comparison of all methods.
        guessing: Loss of the model with zero weights, in nats per record; forecasts are relative to it.
        chained: The chosen method run several times in sequence (`Method.chained`), if public numbers indicate a better
            fit.
        find: Function that computes the `remedies` on demand, which takes about a second.
        find_shared: Function that computes `within_total` on demand.
    """

    comparison: Comparison
    guessing: float
    chained: Candidate | None = None
    find: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False)
    find_shared: Callable[[], str] = field(default=str, repr=False)

    @cached_property
    def within_total(self) -> str:
        """The forecasts of fewer releases and of sums within the default total, as a sentence; "" if much is not lost."""
        return self.find_shared()

    @cached_property
    def remedies(self) -> tuple[str, ...]:
        """Changes of n, budget, publications or columns, one at a time, at which the forecast is a quarter of guessing."""
        return self.find()

    @property
    def chosen(self) -> Candidate:
        """The chosen candidate."""
        return self.comparison.chosen if self.chained is None else self.chained

    @property
    def plan(self) -> Plan:
        """The plan of the chosen candidate."""
        assert self.chosen.plan is not None
        return self.chosen.plan

    @property
    def share(self) -> float:
        """Forecast loss by noise and regularizer, as a share of the loss of guessing."""
        return self.chosen.excess_risk / self.guessing

    @property
    def share_if_spread(self) -> float:
        """Value of `share` if rows are spread evenly over the columns.

        Such rows curve the objective by β/columns in every direction, whereas the forecast, an upper estimate, uses λ
        alone.
        """
        regularization, curvature = (
            self.plan.problem.regularization,
            self.plan.problem.loss.constants.smoothness / self.plan.problem.features,
        )
        return self.share * regularization / (regularization + curvature)

    @property
    def worth_having(self) -> bool:
        """Whether a useful model can be expected."""
        if self.plan.problem.loss.label_kind != "target":
            return self.share_if_spread < _HOPELESS
        return self.share_if_spread < (_HOPELESS_FOR_TARGET if self.chained is None else _HOPELESS_IN_SEQUENCE)

    def bears_curves(self, bins: str) -> bool:
        """Return whether rows of an additive feature map can be expected to be at least as informative as the columns.

        Args:
            bins: "many", "few", or "wide" (few, for ranges known only in order of magnitude).
        """
        wanted, chosen = self.comparison.preferred, self.chosen
        if wanted and chosen.method != wanted and chosen.excess_risk > self.comparison.target:
            return False  # the preferred method has no useful plan for so many columns
        return self.worth_having and self.undivided_share < _MOST_LOST[bins].get(self.plan.problem.loss.label_kind, 0.0)

    @property
    def undivided_share(self) -> float:
        """`share` times the square root of the number of `parts`: the forecast if a wide table is not split into parts."""
        return self.share * math.sqrt(parts_of(self.plan.problem))

    def require_plan(self) -> Plan:
        """Return the plan if it is worth having.

        Raises:
            NothingWorthHaving: If it is not; the message states the remedies and how to proceed nevertheless.
        """
        if self.worth_having:
            return self.plan
        raise NothingWorthHaving(
            f"{self.refusal()}. To go on all the same name a method, '{self.chosen.method}', and λ "
            f"({format_number(self.plan.problem.regularization)}): every certificate holds, the model may be no better than guessing"
        )

    @property
    def doubt(self) -> str:
        """The caution if the forecast loss may well be noticeable; "" otherwise."""
        return self.caution if self._is_dear else ""

    @property
    def _is_dear(self) -> bool:
        """Whether the forecast loss may well be noticeable; of solves in sequence for a target, if rows are spread evenly."""
        numbers = self.chained is not None and self.plan.problem.loss.label_kind == "target"
        return (self.share_if_spread if numbers else self.share) >= _DEAR

    @property
    def caution(self) -> str:
        """A caution about the forecast loss, as a sentence; "" if it is small."""
        if self.share <= _GOOD or not self.worth_having:
            return ""
        much = "Much may be lost" if self._is_dear else "Careful"
        spread = (
            f", {_percent(self.share_if_spread)} if rows lie spread evenly over the columns"
            if self.share >= _HOPELESS
            else ""
        )
        return (
            f"{much}: noise and regulariser are forecast to cost {_percent(self.share)} of what guessing loses{spread}, and the model may be no better "
            "than always saying the most frequent class or the median. Measure it with `evaluate` on held-out rows before relying on it."
        )

    @property
    def advisory(self) -> str:
        """The caution, with the changes that would help if much may be lost; "" if the forecast loss is small."""
        if not (self.doubt and self.remedies):
            return self.caution
        changes = f"Each of these changes alone reduces the forecast cost to a quarter: {'; '.join(self.remedies)}."
        return "\n".join(filter(None, (self.caution, changes, self.within_total)))

    def table(self) -> str:
        """Return the comparison of methods, the privacy cost of each, and the choice as text."""
        revealed = self._revealed() if self.comparison.requests is None else ""  # otherwise part of the comparison
        return "\n\n".join(filter(None, (self.comparison.table(), revealed, self._verdict(), self.advisory)))

    def summarize(self) -> str:
        """Return the chosen method, the reason, the forecast share and the caution, or the refusal with its remedies."""
        if not self.worth_having:
            return self._verdict()
        text = (
            f"'{self.chosen.method}'{self._in_a_row()} is advised, λ={format_number(self.plan.problem.regularization)}"
        )
        forecast = f": noise and regulariser are forecast to cost {_percent(self.share)} of what guessing loses"
        return f"{self.which()}\n{text}" + (f"\n{self.advisory}" if self.caution else forecast)

    def which(self) -> str:
        """Return in one line which method runs, whether it is noisy gradient descent, and why it was chosen."""
        return f"Chosen by auto: {self.plan.method.describe()}; {self.comparison.reason}."

    def _in_a_row(self) -> str:
        if self.chained is None:
            return ""
        return f" ({', '.join(f'{name} {format_number(value)}' for name, value in self._own_options().items())})"

    def _own_options(self) -> dict[str, Any]:
        """Return the method's options that differ from the defaults, and the clipping norm; not the feature map."""
        method = self.plan.method
        usual = vars(type(method)())
        own = {option.name: getattr(method, option.name) for option in fields(method) if option.name != "map"}
        clip = {} if self.chained is None else {"clip": self.plan.problem.loss.constants.lipschitz}
        analysis = {} if type(method) is METHODS[method.name] else {"analysis": method.analysis}
        return {**analysis, **{name: value for name, value in own.items() if value != usual[name]}, **clip}

    def _verdict(self) -> str:
        plan, chosen = self.plan, self.chosen
        if not self.worth_having:
            return "\n".join([self._hopeless(), *(f"  - {way}" for way in self._ways_out())])
        return (
            f"Take '{chosen.method}'{self._in_a_row()} with λ={format_number(plan.problem.regularization)}: by forecast its noise and its regulariser cost {format_number(chosen.excess_risk, 3)} of the "
            f"loss, {_percent(self.share)} of the {format_number(self.guessing, 3)} that guessing loses; {chosen.learn_passes} passes over the table to "
            f"learn, {chosen.delete_passes} for a publication that deletes. The forecast rests on sizes, loss and budget alone; what "
            "the model will score is for `evaluate` to say."
        )

    def refusal(self) -> str:
        """Return a message that no useful plan can be expected, with the remedies."""
        return f"{self._hopeless()} {'; '.join(self._ways_out())}"

    def _hopeless(self) -> str:
        return (
            f"Nothing here is likely to be worth having: the best way, '{self.chosen.method}' with λ={format_number(self.plan.problem.regularization)}, is forecast "
            f"to lose {_percent(self.share)} of what guessing loses to noise and regulariser, and {_percent(self.share_if_spread)} even if rows "
            "lie spread evenly over the columns. What would do, one at a time:"
        )

    def _ways_out(self) -> tuple[str, ...]:
        return (
            *(self.remedies or ("nothing within a factor of 10,000 does",)),
            "public bounds that are tighter, which lower the noise's share",
        )

    def _revealed(self) -> str:
        """Return ε of one release and of several, for every method."""
        lines = [
            f"  {name:<24}one publication ε={format_bound(one)}, {number} together ε={format_bound(many)}"
            for name, one, number, many in self.costs()
        ]
        head = f"What publications reveal of a record still there, every one observed (δ={format_bound(self.plan.problem.budget.shown_delta)}), if {FIXED_SCHEDULE}:"
        return "\n".join([head, *lines])

    def costs(self) -> list[tuple[str, float, int, float]]:
        """Return the privacy cost of every method with a plan.

        Returns:
            Tuples (method, ε of a fresh release, number of releases, ε of that many together).
        """
        found = []
        for way in self.comparison.candidates:
            if way.plan is None:
                continue
            plan, delta = way.plan, way.plan.problem.budget.shown_delta
            number = PUBLICATIONS if plan.problem.releases == 1 else plan.problem.releases
            one, many = (compose_publications(plan, times).with_slack().epsilon(delta) for times in (1, number))
            if plan.problem.releases > 1:  # calibrated to be within the budget
                many = (
                    plan.problem.budget.dp if plan.problem.budget.dp_delta is not None else plan.allowed.epsilon(delta)
                )
            found.append((way.method, one, number, many))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible fields."""
        return {
            **self.comparison.to_dict(),
            "guessing": self.guessing,
            "share_of_guessing": self.share,
            "share_if_spread": self.share_if_spread,
            "worth_having": self.worth_having,
            "remedies": list(self.remedies),
            "caution": self.advisory or None,
            "revealed": [
                dict(zip(("method", "epsilon", "publications", "epsilon_together"), one, strict=True))
                for one in self.costs()
            ],
            "options": self.list_options(),
        }

    def list_options(self) -> dict[str, Any]:
        """Return the arguments of `make_plan` and `init` for the chosen plan.

        They are method, regularization, releases, batch, and the options of the method that differ from its defaults.
        """
        problem = self.plan.problem
        return {
            "method": self.plan.method.name,
            "regularization": problem.regularization,
            "releases": problem.releases,
            "batch": problem.batch,
            **self._own_options(),
        }


def advise(
    loss: Loss,
    *,
    records: int,
    features: int,
    budget: Budget,
    method: str = AUTO,
    regularization: float | None = None,
    requests: int | None = None,
    proof: str = PROOFS[-1],
    **arguments: Any,
) -> Advice:
    """Recommend the method, λ, number of releases and batch to begin with.

    λ starts at β/n, the curvature of one record among n, and is raised by the forecast's ridge if a method's noise
    requires it. A method is good if its forecast is at most a twentieth of the loss of guessing. Among the good methods
    the one with the most releases is chosen, then the one with the cheapest deletion. If there is none, the one with
    the smallest forecast is chosen, for a target objective perturbation, several times in sequence (`Advice.chained`). A
    method that needs more than 10,000 passes to learn is not chosen while a faster one is worth having.

    Args:
        loss: As for `make_plan`. Losses that are not linear models also need model_norm=.
        records: As for `make_plan`.
        features: As for `make_plan`.
        budget: Budget of one release; with `requests`, dp is the total of all releases, every one observed.
        method: "auto", or the method to use.
        regularization: λ to use unchanged; None to choose it.
        requests: Deletion requests that the budget has to cover.
        proof: "by-hand" excludes the methods whose bounds depend on a computer-checked step.
        **arguments: Further arguments of `compare_plans`, such as adjacency or rows_per_subject.

    Returns:
        The advice; its plan may not be worth having.

    Raises:
        InvalidParameter: If the loss has no labels, or the arguments conflict.
        NoisyGDDeleteError: As for `make_plan`, if no method has a plan.
    """
    if loss.label_kind == "none":
        raise InvalidParameter(
            f"the {loss.name} loss has no labels to guess, so nothing tells a good plan from a bad one: use make_plan"
        )
    for name in ("ridge", "target"):
        if name in arguments:
            raise InvalidParameter(f"advise chooses {name}; leave that out, or use make_plan or compare_plans")
    if requests is not None and arguments.get("releases", 1) > 1:
        raise InvalidParameter(
            "are two ways to say how many releases there are; give one of them",
            releases=arguments["releases"],
            requests=requests,
        )
    guessing, ways = guessing_loss(loss), _candidate_methods(method, proof)
    facts = {"loss": loss, "records": records, "features": features, "budget": budget, **arguments}
    facts |= {"regularization": loss.constants.smoothness / records if regularization is None else regularization}
    facts |= {"ridge": "forecast" if regularization is None else "given"}
    found = compare_plans(requests=requests, target=_GOOD * guessing, ways=ways, alike=_ALIKE, **facts)
    free = method == AUTO and regularization is None
    if free and requests is None and loss.label_kind == "target":
        found = replace(found, patience=_PATIENCE, preferred=ObjectivePerturbation.name)
    else:
        found = replace(found, patience=_PATIENCE, hopeless=_HOPELESS * guessing)
    advice = Advice(found, guessing)
    plan = advice.plan  # not the chained one, whose options are of another problem
    if free and (advice.worth_having or loss.label_kind == "target"):
        advice = _with_solves_in_sequence(advice)
    if found.preferred and not advice.worth_having:
        advice = Advice(replace(found, hopeless=_HOPELESS * guessing), guessing)
        plan = advice.plan
        advice = _with_solves_in_sequence(advice) if advice.worth_having else advice
    if advice.share < _DEAR:
        return advice
    if method == AUTO and regularization is None:
        advice = replace(advice, find_shared=partial(_forecast_shared, plan, {**facts, "proof": proof}))
    return replace(advice, find=partial(find_remedies, plan, facts, _DEAR * guessing, free=regularization is None))


def _with_solves_in_sequence(advice: Advice) -> Advice:
    """Return the advice to run the chosen method several times in sequence, where public numbers indicate a better fit."""
    chained = chain_plan(advice.plan)
    if chained is None:
        return advice
    return replace(advice, chained=replace(advice.chosen, plan=chained, excess_risk=expected_cost(chained)))


def advise_shared(total: Total, releases: int, **facts: Any) -> Advice | None:
    """Return the advice for this many releases that share the total; None if the method has no plan for them.

    Args:
        total: (ε, δ) of all releases.
        releases: Number of releases.
        **facts: The other arguments of `advise`.
    """
    budget = Budget.from_epsilon_delta(dp=(total.epsilon, total.delta), deletion=(total.epsilon / 10, total.delta))
    try:
        return advise(**facts, budget=budget, releases=releases)
    except NoisyGDDeleteError:
        return None


def _forecast_shared(plan: Plan, facts: Mapping[str, Any]) -> str:
    """Return what fewer releases, and as many by sums, are forecast to lose within the default total of `plan`."""
    total, own = default_total(plan), ("regularization", "ridge", "budget", "releases")
    if total is None:
        return ""
    given = {name: value for name, value in facts.items() if name not in own}
    ways = {
        f"{_BATCHED} publications in batches": (_BATCHED, plan.method.name),
        f"{PUBLICATIONS} by sums ('sufficient-statistics')": (PUBLICATIONS, "sufficient-statistics"),
    }
    found = {name: advise_shared(total, releases, method=method, **given) for name, (releases, method) in ways.items()}
    parts = [f"{_percent(one.share)} for {name}" for name, one in found.items() if one is not None]
    return f"Within the same total: {', '.join(parts)}." if parts else ""


def make_advised_plan(advice: Advice, total: Total | tuple[float, float] | str | None = AUTO) -> Plan:
    """Return the plan of an advice that is worth having, under a total.

    Args:
        advice: The advice.
        total: (ε, δ) of all releases, "auto" for the default total, or None for no total.

    Raises:
        NothingWorthHaving: If the plan is not worth having.
    """
    plan = advice.require_plan()
    return with_total(plan, default_total(plan) if isinstance(total, str) else total)


def guessing_loss(loss: Loss) -> float:
    """Return the loss of an uninformed model, in nats per record.

    It has zero weights on a class; on a target it is off by a quarter of half the target's range.
    """
    if loss.label_kind == "target":
        return float(loss.value(np.zeros((1, loss.outputs)), np.full(1, _STRAY), np)[0])
    return loss.largest_at_zero(np)


def _percent(share: float) -> str:
    if share > 1:
        return "more than all"
    return f"{format_number(100 * share, 2)} %" if share < 0.1 else f"{100 * share:.0f} %"


def _candidate_methods(method: str, proof: str) -> tuple[str, ...]:
    """Return the methods to compare.

    Raises:
        InvalidParameter: If a name is unknown, or the proof of `method` is excluded by `proof`.
    """
    accepted = PROOFS[: PROOFS.index(check_choice("proof", proof, PROOFS)) + 1]
    if check_choice("method", method, (AUTO, *METHODS)) == AUTO:
        return tuple(name for name in compared_methods() if METHODS[name].proof in accepted)
    if METHODS[method].proof not in accepted:
        raise InvalidParameter(
            f"rests on a {METHODS[method].proof} step and proof={proof!r} leaves it out; choose another method or "
            f"proof={METHODS[method].proof!r}",
            method=method,
        )
    return (method,)


_STEPS = 4  # trials per decade: records, budgets and columns are varied by powers of 10^(1/4)
_DECADES = 4


def find_remedies(plan: Plan, facts: Mapping[str, Any], target: float, *, free: bool) -> tuple[str, ...]:
    """Return the changes for which the plan's method has a forecast below `target`.

    Args:
        plan: The plan.
        facts: Arguments of `compare_plans` from which the plan was made.
        target: Forecast cost, in nats per record.
        free: Whether λ is chosen anew for each trial, starting at β/n.
    """
    problem = plan.problem
    given = {name: value for name, value in facts.items() if name not in ("regularization", "one_hot_blocks", "map")}
    given |= {
        "method": methods.with_map(type(plan.method)(), facts.get("map")),
        "releases": problem.releases,
        "batch": problem.batch,
    }
    records, features, budget = problem.records, problem.features, problem.budget

    def make(**changed: Any) -> Plan:
        sizes = {**given, **changed}
        regularization = problem.loss.constants.smoothness / sizes["records"] if free else facts["regularization"]
        return make_plan(**sizes, regularization=regularization)

    def good(**changed: Any) -> bool:
        try:
            return expected_cost(make(**changed)) < target
        except NoisyGDDeleteError:
            return False

    found = []
    more = _least_power(lambda factor: good(records=math.ceil(records * factor)))
    if more is not None:
        found.append(f"n={_round_up(records * more):,.0f} records in place of {records}, all else equal")
    wider = _least_power(lambda factor: good(budget=_wider(budget, factor)))
    if wider is not None:
        larger = _wider(budget, wider)
        found.append(_format_larger(larger, budget))
        room = _affordable(plan, make(budget=larger)) if problem.releases == 1 else 0
        if room:
            found[-1] += f", which leaves {room} of {PUBLICATIONS} publications within the default total"
    if problem.releases > 2:
        rarer = _least_power(lambda factor: good(releases=_fewer(problem.releases, factor)))
        if rarer is not None:
            found.append(
                f"{_fewer(problem.releases, rarer)} publications in place of {problem.releases}, the learn included"
            )
    if features > 2:
        fewer = _least_power(lambda factor: good(features=_fewer(features, factor)))
        if fewer is not None:
            found.append(f"{_fewer(features, fewer)} columns in place of {features}, the constant one included")
    return tuple(found)


def _format_larger(larger: Budget, budget: Budget) -> str:
    if budget.measure is not Measures.EPSILON_DELTA:
        return f"{larger.describe()} in place of {budget.describe()}"
    erased = f"{format_number(larger.deletion)} for erased records"
    return f"ε={format_number(larger.dp)}, {erased}, in place of ε={format_number(budget.dp)}"


def _affordable(plan: Plan, larger: Plan) -> int:
    """Return the number of publications like those of `larger` within the default total of `plan`; 0 without a total."""
    total = default_total(plan)
    if total is None:
        return 0
    return last_whole(lambda times: times <= PUBLICATIONS and total.affords(compose_publications(larger, times)))


def _least_power(good: Callable[[float], bool]) -> float | None:
    """Return the smallest power of 10^(1/4), up to 10⁴, for which `good` holds; None if there is none."""

    def at(step: int) -> bool:
        return good(10 ** (step / _STEPS))

    for decades in range(_DECADES, 0, -1):  # some methods have no plan for the largest of all sizes
        if at(_STEPS * decades):
            return float(10 ** (first_whole(at, 0, _STEPS * decades) / _STEPS))
    return None


def _fewer(number: int, factor: float) -> int:
    return max(2, math.floor(number / factor))  # at least a constant and a feature column; a learn and a deletion


def _wider(budget: Budget, factor: float) -> Budget:
    """Return the budget with both parts multiplied by `factor` and rounded up to two digits."""
    return replace(budget, dp=_round_up(budget.dp * factor), deletion=_round_up(budget.deletion * factor))


def _round_up(value: float) -> float:
    """Return `value` rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.2g}")
