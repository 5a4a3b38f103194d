"""A stream of publications: some are fresh (objective perturbation), the others resume from the model published before.

A fresh publication forgets everything and costs its full ε_dp. A resumed one takes K = 1 to 3 steps of Noisy GD and
costs, given the model it starts from, (1−c^K)/(1+c^K) of the chain's long-run cost: almost nothing if c = 1 − ηλ is
near 1. Only the following is proved and counted: given an observed model both datasets restart from it, so over F fresh
and N − F resumed publications

    ε_dp = F · ε(fresh) + (N − F) · ε(K steps from a common point)

for adaptive requests too. K steps do not forget by themselves. An erased record is charged for its last fresh
publication and for every step after it, observed or not, until the next fresh one, which is independent of it and
starts from 0: there its figure is 0. The decay of a hidden fresh publication under clean steps is not used here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ..bounds.arithmetic import least_safe
from ..errors import InvalidParameter, PlanInfeasible, check_choice, check_count
from ..losses.base import ONE_DIRECTION
from ..privacy.budget import Budget
from ..privacy.guarantee import Worlds
from .base import Condition, Cost
from .exact_steps import GridMethod
from .forecast import Prospects, forecast_excess_risk, steps_deviation
from .noisy_steps import chain_risk
from .perturbed import Perturbed, PerturbedRun
from .plan import Calibration, Plan
from .problem import Minimizer, PlannedGuarantees, Problem, WorstCaseRun
from .sharp import SharpRun, contracting_step_size

_STEPS = (1, 3, 10)  # K that a plan may choose
_LITTLE = 0.05  # of the forecast: a smaller lag needs no more steps
_FEWEST_RESUMED = 2
_DIGITS = 1e-3  # of the noise
_MOST = 64.0  # times the noise of the fresh publications alone: upper limit of the search


@dataclass(frozen=True, kw_only=True)
class InterleavedRun(SharpRun):
    """Public facts of both kinds of publication: K steps of Noisy GD from the model published before, and a fresh one.

    Exposure identifies them by its sum: a fresh publication counts 1, K steps count 2K, so an odd sum includes the
    fresh one (at most one: the next starts afresh). It is then charged in full in addition to the steps, as if its
    model had been observed.

    Attributes:
        fresh_release: Facts of a learn.
    """

    method: ClassVar[str] = "interleaved"
    source: ClassVar[str] = (
        "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD from the model published before, composed with the "
        "objective perturbation that it began from"
    )

    fresh_release: PerturbedRun

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shows_order == self.fresh_release.in_place:
            raise InvalidParameter(
                "must say of fresh publications what it says of the steps between them", in_place=not self.shows_order
            )

    def exposure(self, steps: int) -> int:
        return 2 * steps if steps else 1

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        if fresh == bool(steps):
            raise InvalidParameter(
                "must be 0: a fresh publication by 'interleaved' has no noisy steps"
                if fresh
                else "must be at least 1 where a publication by 'interleaved' resumes from the model before",
                steps=steps,
            )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        endless = steps_with == math.inf
        fresh = endless or steps_with % 2 == 1
        with_record, clean = (math.inf if endless else steps_with // 2), steps_without // 2
        cost = super()._cost(worlds, with_record, clean) if with_record or (clean and self.shows_order) else {}
        if fresh:
            cost = {**self.fresh_release._cost(worlds, 1, 0), **cost}
        elif self.shows_order and steps_without % 2 == 1:
            shown = self.fresh_release._cost(worlds, 0, 1)["gdp_squared"]
            cost = {"gdp_squared": shown + cost.get("gdp_squared", 0.0)}
        return cost

    def conditions(self) -> tuple[Condition, ...]:
        return (*super().conditions(), *self.fresh_release.conditions())


@dataclass(frozen=True)
class Interleaved(GridMethod):
    """s and σ² such that fresh and resumed models have the same forecast cost and N publications meet the budget.

    Attributes:
        fresh_every: One publication in this many is fresh; None: as few as keep a deletion within its budget. A plan
            states it.
        resumed_steps: K; None: the one with the least forecast. A plan states it.
        solver: "cold", or "fixed" for a number of passes that no record can change.
        step_size: η; None takes 1/(λ+β).
    """

    name: ClassVar[str] = "interleaved"
    summary: ClassVar[str] = "many publications: a few by objective perturbation, between them a few noisy steps"

    weighed: ClassVar[str] = "for several publications"
    proof: ClassVar[str] = Perturbed.proof

    fresh_every: int | None = None
    resumed_steps: int | None = None
    solver: str = "cold"
    step_size: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("solver", self.solver, ("cold", "fixed"))
        if self.fresh_every is not None:
            check_count("fresh_every", self.fresh_every, minimum=_FEWEST_RESUMED + 1)
        if self.resumed_steps is not None:
            check_count("resumed_steps", self.resumed_steps)

    @property
    def _fresh(self) -> Perturbed:
        return Perturbed(solver=self.solver, in_place=self.in_place)

    def _over_reals(self, problem: Problem) -> Plan:
        if problem.releases <= _FEWEST_RESUMED:
            raise InvalidParameter(
                f"is too few: method 'interleaved' shares a budget among many publications, more than "
                f"{_FEWEST_RESUMED} of them; for one take method 'perturbed'",
                releases=problem.releases,
            )
        if problem.rows_per_subject > 1 and problem.budget.measure == "gdp" and not problem.loss.constants.convex:
            raise InvalidParameter("a Gaussian-DP budget needs a convex loss for method 'interleaved'")
        steps = _STEPS if self.resumed_steps is None else (self.resumed_steps,)
        budget, found = _simple(problem), list[Plan]()
        for number in steps:
            plan = self._best(problem, budget, number)
            if plan is None:
                break  # more steps cost more
            found.append(plan)
            if self._lag_of(plan) <= _LITTLE * plan.outlook.forecast:
                break
        if not found:
            raise PlanInfeasible(
                f"no mix of fresh and resumed publications keeps {problem.releases} of them and a deletion within "
                f"{problem.budget.describe()}; raise the deletion budget or λ, or publish fewer times",
                alternatives=("a larger deletion budget", "method 'perturbed'", "method 'sharp'"),
            )
        return min(found, key=lambda plan: plan.outlook.forecast)

    def _exactly(self, problem: Problem) -> Plan:
        return self._over_reals(problem)

    def _best(self, problem: Problem, budget: Budget, steps: int) -> Plan | None:
        """Return the plan with the fewest fresh publications that keep a deletion within its budget.

        It needs the least noise.
        """
        for every in [self.fresh_every] if self.fresh_every else _candidates(problem.releases):
            plan = self._with(problem, budget, steps, every)
            if plan is not None and budget.affords(plan.deletion.with_slack()):
                return plan
            if plan is None:
                return None  # more fresh ones need even more noise
        return None

    def _with(self, problem: Problem, budget: Budget, steps: int, every: int) -> Plan | None:
        method = replace(self, fresh_every=every, resumed_steps=steps)
        own, eta = replace(problem, method=method), contracting_step_size(problem, self.step_size)
        fresh = self._fresh
        learns = _fresh(problem.releases, every)
        unit = forecast_excess_risk(problem, step_size=eta, noise_variance=1.0)
        single = replace(problem, method=fresh, releases=learns, budget=budget)
        try:
            alone = fresh.plan(single)
        except PlanInfeasible:
            return None

        def complete(noise: float) -> Plan:
            made = fresh.complete(single, noise)
            numbers = replace(
                made.numbers,
                step_size=eta,
                noise_variance=made.outlook.forecast / unit,
                delete_steps_for_deletion=steps,
                delete_solver_passes=0,
                horizon=2 * steps * (every - 2) + 1,
            )
            return method.assemble(own, numbers)

        def affordable(noise: float) -> bool:
            return budget.affords(complete(noise).together.with_slack())

        noise = least_safe(
            affordable,
            guess=alone.linear_term,
            below=alone.linear_term / 2,
            most=_MOST * alone.linear_term,
            digits=_DIGITS,
        )
        return complete(noise) if noise < math.inf else None

    def check_plan(self, plan: Plan) -> None:
        super().check_plan(plan)
        self._fresh.check_plan(plan)

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan.

        dp: a fresh publication and every step that may follow it before the next one. Deletion: erased by the last
        publication before a fresh one, the costliest moment; by a fresh one: 0.
        """
        if self.fresh_every is None:
            raise InvalidParameter(
                "a plan by method 'interleaved' states how many publications start afresh", fresh_every=None
            )
        fresh = replace(self._fresh, solver="cold").run(problem, numbers)
        run = InterleavedRun(**self.run_facts(problem, numbers), fresh_release=fresh)
        steps, resumed = numbers.delete_steps, self.fresh_every - 1
        promise = PlannedGuarantees(
            dp=WorstCaseRun(1 + 2 * resumed * steps),
            deletion=WorstCaseRun(1 + 2 * (resumed - 1) * steps, 2 * steps),
            relearns=True,
            fresh_every=self.fresh_every,
        )
        start = Minimizer(numbers.gradient_tolerance, self.solver)
        return Plan.of(problem, run, numbers, learning=start, promise=promise, exactness=run.exactness)

    def outlook(self, plan: Plan) -> Prospects:
        """Return the bound, forecast and deviation of the stream.

        The bound is the worse of a fresh model's and of the chain's that continues from it, of any length. The forecast
        is that of a fresh model, which a resumed one shares, plus the chain's lag behind the edits. The deviation is
        the larger of a fresh publication's and of the limit of noisy steps: later publications lead from the one to the
        other.
        """
        fresh = self._fresh.outlook(plan)
        resumed = chain_risk(plan, start=2 * fresh.excess_risk / plan.problem.strong_convexity, learn_steps=0)
        steps = steps_deviation(plan.problem, plan.step_size, plan.noise_variance)
        return Prospects(
            max(fresh.excess_risk, resumed),
            fresh.forecast + self._lag_of(plan),
            max(fresh.weight_deviation, steps),
        )

    @staticmethod
    def _lag_of(plan: Plan) -> float:
        """Return the forecast cost of the chain's lag behind the edits.

        Edits move the minimiser; along curvature h a publication makes up 1 − (1−ηh)^{2K} of the cost of not following.
        r edits cost r gᵀH⁻¹g/(2n²) at first, whose mean is at most min(d, L²/λ): public numbers, used for selection
        only.
        """
        rate = min(plan.step_size * plan.problem.strong_convexity, 1.0)
        made_good = 1.0 if rate == 1 else -math.expm1(2 * plan.delete_steps * math.log1p(-rate))
        between = -(-plan.releases // plan.fresh_publications)
        publications = min(between, 1 / made_good)
        gradient = min(plan.dimension, plan.loss.constants.lipschitz**2 / plan.problem.strong_convexity)
        return plan.problem.batch * publications * gradient / (2 * plan.records**2)

    def words(self, plan: Plan) -> tuple[str, ...]:
        assert self.fresh_every is not None
        fresh, one = plan.fresh_publications, plan.together
        shares = plan.mechanism.interval("dp", plan.problem.adjacency, steps_with=1)
        order = plan.budget.order or 2.0
        share = fresh * shares.renyi(order) / one.renyi(order)
        return (
            f"A stream of {plan.releases} publications: {fresh} fresh ones by objective perturbation, the learn and one in every "
            f"{self.fresh_every} after it, and {plan.releases - fresh} that resume from the model published before with K={plan.delete_steps} "
            f"noisy step(s). The fresh ones take {share:.0%} of the budget.",
            f"Fresh: s={plan.linear_term:.6g}, τ={plan.output_noise:.6g}, solved from 0 to γ={plan.gradient_tolerance:.3g}, a forecast of "
            f"{plan.learn_solver_passes} gradient passes. Resumed: η={plan.step_size:.6g}, σ²={plan.noise_variance:.6g}, "
            f"{plan.delete_steps} pass(es). Forecast cost of either in regularised loss: {plan.outlook.forecast:.3g}.",
            "Deleting: rows are erased at once. A resumed publication does not make the model forget them: the figure below counts "
            f"the last fresh publication in full and every step since. The next fresh one, at most {self.fresh_every - 1} publications "
            "later, owes them nothing. That the steps in between let a hidden fresh publication fade is not claimed.",
        )


def _simple(problem: Problem) -> Budget:
    """Return the budget; an (ε, δ) budget becomes its Gaussian-DP equivalent if every part has a μ.

    That is immediate to evaluate and loses little.
    """
    budget, loss = problem.budget, problem.loss
    if budget.measure != "epsilon-delta" or loss.curving != ONE_DIRECTION or not loss.constants.convex:
        return budget
    return Budget.from_gdp(dp=(dp := budget.dp_gdp()), deletion=min(budget.deletion_gdp(), dp))


def _fresh(releases: int, every: int) -> int:
    """Return the number of fresh publications: the learn, and one in `every`."""
    return -(-releases // every)


def _candidates(releases: int) -> Iterator[int]:
    """Yield distances between fresh publications for growing numbers of them: 1, 2, 3, …, then in growing steps."""
    fresh = 1
    while (every := -(-releases // fresh)) > _FEWEST_RESUMED:
        yield every
        fresh = max(fresh + 1, math.floor(fresh * 1.2))
