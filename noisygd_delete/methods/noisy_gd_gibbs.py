"""Theorem 5.2 for non-convex losses, as printed or sharper: a runnable plan, or an error with every number.

The model stays near the Gibbs law of the current records, which is independent of a deleted record. Analyses `paper`
and `tight` resolve to this one if the loss is too far from convex for its regulariser.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from ..bounds import theorem_5_1, theorem_5_2
from ..bounds import theorem_5_2_schedule as schedules
from ..bounds.theorem_5_2 import FORMS, Gibbs
from ..bounds.theorem_5_2_schedule import Form, Schedule
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, check_choice, check_positive, renyi_order
from ..privacy.budget import Budget
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import NON_ADAPTIVE, Worlds
from .base import Cost, NoisySteps
from .forecast import Prospects
from .noisy_steps import outlook_of_steps
from .plan import Calibration, Method, Plan
from .problem import Problem
from .procedure import PlannedGuarantees, WorstCaseRun

_ORDERS = [1 + 10 ** (k / 4) for k in range(-4, 9)]  # q from 1.1 to 101, for (ε, δ) budgets
_FORMS: dict[str, Form] = {"printed": schedules.printed_schedule, "sharper": schedules.sharper_schedule}
_SOURCES = {
    "printed": "Chourasia & Shah 2023, Theorem 5.2 (G.22, G.23)",
    "sharper": "Theorem 5.2's induction with the oscillation of the loss, at every order up to q",
}


@dataclass(frozen=True, kw_only=True)
class GibbsNoisyGDRun(NoisySteps):
    """Noisy GD on a bounded non-convex loss.

    Once an earlier model was observed, only the composition of steps is certified; `fading` covers models without an
    observed past.

    Attributes:
        gibbs: Further facts that Theorem 5.2 needs.
    """

    method: ClassVar[str] = "noisy-gd-theorem-5-2"
    source: ClassVar[str] = (
        "composition of noisy steps, each a Gaussian mechanism (in Rényi form: Chourasia & Shah 2023, G.7)"
    )
    gibbs: Gibbs

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        rate = theorem_5_1.composition_rate(**self._chain(), sensitivity=self.sensitivity(worlds), steps=steps_with)
        return {"rate": rate} if self.gibbs.form == "printed" else {"gdp_squared": 2 * rate}

    @property
    def fading(self) -> GibbsNoisyGDRun:
        """The run itself: it has `distance_after` and `guarantee_at`, by which forgetting is forecast."""
        return self

    def distance_after(self, before: float | None, steps: float, edits: int) -> float:
        """Return a bound on the divergence from the Gibbs law after `edits` edits and then `steps` noisy steps.

        It is the Rényi divergence of order q of the model's law. With `before` = None, instead of the bound before the
        edits, the run starts from the prior and `edits` has no effect.
        """
        return self.gibbs.distance_after(before=before, steps=steps, edits=edits, **self._chain())

    def forgets(self, *, learn_steps: int, delete_steps: int, batch: int) -> Guarantee:
        """Return `guarantee_at` for the largest divergence after a learn and one or more requests of `batch` edits."""
        requests = {"learn_steps": learn_steps, "delete_steps": delete_steps, "batch": batch}
        return self.guarantee_at(self.gibbs.worst_closeness(**requests, **self._chain()))

    def guarantee_at(self, closeness: float) -> Guarantee:
        """Return the deletion guarantee of a model whose Rényi divergence from the Gibbs law is at most `closeness`.

        The divergence is of order q, and the law is that of the current records, an ideal law of no run. The guarantee
        is that single bound, on the conditions that no earlier model was observed and requests were non-adaptive.
        """
        facts: dict[str, Any] = {"source": _SOURCES[self.gibbs.form], "points": ((self.gibbs.order, closeness),)}
        hidden = "no earlier model was observed"
        return self._guarantee("deletion", Worlds.IDEAL_LAW, **facts).assuming(hidden).assuming(NON_ADAPTIVE)


@dataclass(frozen=True)
class GibbsNoisyGD(Method):
    """σ², η, K_A and K_Ā from the fixed point of (18) and (19).

    `utility` has no effect: (162) follows from closeness.

    Attributes:
        form: "printed" (Theorem 5.2) or "sharper".
        noise_variance: σ²; None: the least; "cheapest": the least beyond which the steps hardly decrease (the model is
            then near the prior, and the plan states how near).
        order: q; None: the budget's, or the one with the least noise. A plan states the order it uses.
    """

    name: ClassVar[str] = "noisy-gd"
    analysis: ClassVar[str] = "theorem-5-2"
    summary: ClassVar[str] = "noisy gradient descent by Theorem 5.2, as printed or sharpened; rarely runnable"
    weighed: ClassVar[str] = "never"

    form: str = "printed"
    noise_variance: float | str | None = None
    order: float | None = None

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        if self.noise_variance not in (None, "cheapest"):
            check_positive("noise_variance", self.noise_variance)
        if self.order is not None:
            renyi_order("order", self.order)

    @classmethod
    def instead_of(cls, step_size: float | None, noise_variance: float | str | None, *, form: str) -> Self:
        """Return the method that analyses `paper` and `tight` resolve to for a loss that is too far from convex.

        Args:
            step_size: The caller's η, which must be None.
            noise_variance: σ², None or "cheapest".
            form: "printed" or "sharper".

        Raises:
            InvalidParameter: If a step size is given, which Theorem 5.2 determines.
        """
        if step_size is not None:
            raise InvalidParameter("step_size is fixed by Theorem 5.2 and G.22; leave it out")
        return cls(form=form, noise_variance=noise_variance)

    def plan(self, problem: Problem) -> Plan:
        """Return the plan at the method's Rényi order, else the budget's, else the best of 13 orders from 1.1 to 101.

        The best order has the least σ² if none is given, else the fewest steps. The plan's method states it.

        Raises:
            PlanInfeasible: If it needs more than `MOST_STEPS` steps, or more than a float can hold.
            InvalidParameter: If the loss is convex, the deletion notion is pairwise, the budget is in Gaussian DP or
                leaves nothing for ε_dd at any order, or the given σ² is below the least.
            AssumptionViolated: If the loss is unbounded or only declares its constants, or ε_dp is not below d.
        """
        self._check(problem)
        form = _FORMS[self.form]
        asked = [self._ask(problem, order) for order in self._orders(problem.budget)]
        found = [(ask, self._choose(ask, form)) for ask in asked if ask is not None]
        if not found:
            raise InvalidParameter(
                f"no Rényi order turns {problem.budget.describe()} into Theorem 5.2's 0 < ε_dd ≤ ε_dp < d={problem.dimension}; "
                "raise the deletion ε or δ"
            )
        if self.noise_variance is None and len(found) > 1:
            ask, schedule = min(found, key=lambda pair: pair[1].noise_variance)
        else:
            ask, schedule = min(found, key=lambda pair: pair[1].learn_steps + pair[1].delete_steps)
        if schedule.dp > ask.dp:
            least = schedules.least_noise_schedule(ask, form)
            raise InvalidParameter(
                f"is below {least.noise_variance:g}, the least that meets (18); leave it out, raise it, or raise the budget",
                noise_variance=schedule.noise_variance,
            )
        if math.inf in (schedule.learn_steps, schedule.delete_steps):
            raise PlanInfeasible(
                "makes the steps of Theorem 5.2 exceed any float at "
                f"log B={schedule.log_barrier:g}; leave it out or raise it towards ω={ask.range:g}",
                noise_variance=schedule.noise_variance,
            )
        numbers = Calibration(
            step_size=schedule.step_size,
            noise_variance=schedule.noise_variance,
            init_variance=schedule.noise_variance / problem.regularization,
            learn_steps=int(schedule.learn_steps),
            delete_steps_for_deletion=int(schedule.delete_steps),
        )
        stated = replace(self, order=ask.order)
        plan = stated.assemble(replace(problem, method=stated), numbers)
        if max(schedule.learn_steps, schedule.delete_steps) > MOST_STEPS:
            raise infeasible_error(plan, ask, form)
        return plan

    def _orders(self, budget: Budget) -> list[float]:
        if budget.measure == "gdp":
            raise InvalidParameter(
                "a Gaussian-DP budget cannot be met through Theorem 5.2: it bounds one Rényi order; give the "
                "budget with an order, λ > β₋ with analysis 'tight', or analysis 'composition'"
            )
        if self.order is not None:
            return [self.order]
        return _ORDERS if budget.order is None else [budget.order]

    def _ask(self, problem: Problem, order: float) -> schedules.NonConvexProblem | None:
        """Return the problem at one order; None if the budget leaves nothing for ε_dd at it."""
        constants, budget = problem.loss.constants, problem.budget
        rate, _ = problem.dp_rate()
        deletion = problem.deletion_renyi(order)
        dp = problem.dp_gdp() ** 2 / 2 * order if self.form == "sharper" else rate * order
        if budget.order is not None and not dp < problem.dimension:
            raise AssumptionViolated(
                f"must be below d={problem.dimension}, the number of weights: Theorem 5.2 assumes ε_dp < d", dp=dp
            )
        if not deletion > 0:
            return None
        return schedules.NonConvexProblem(
            order=order,
            dp=dp,
            deletion=min(deletion, dp),
            range=constants.range,
            sensitivity=problem.sensitivity(problem.adjacency),
            smoothness=constants.curvature,
            regularization=problem.regularization,
            dimension=problem.dimension,
            records=problem.records,
            batch=problem.batch,
            releases=problem.releases,
        )

    def _choose(self, ask: schedules.NonConvexProblem, form: Form) -> Schedule:
        if self.noise_variance is None:
            return schedules.least_noise_schedule(ask, form)
        if isinstance(self.noise_variance, str):
            return schedules.cheapest_schedule(ask, form)
        return form(ask, self.noise_variance)

    def check_plan(self, plan: Plan) -> None:
        """Check `Method.check_plan`, that Theorem 5.2 covers loss and deletion notion, and init_variance = σ²/λ."""
        super().check_plan(plan)
        self._check(plan.problem)
        if not math.isclose(
            plan.calibration.init_variance, plan.calibration.noise_variance / plan.problem.regularization, rel_tol=1e-9
        ):
            raise AssumptionViolated(
                "must be σ²/λ: Theorem 5.2 starts from that law", init_variance=plan.calibration.init_variance
            )

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan with ε_dp given the model published before (18).

        Its deletion guarantee is `GibbsNoisyGDRun.forgets`.

        Raises:
            InvalidParameter: If the method states no order.
        """
        if self.order is None:
            raise InvalidParameter("a plan by Theorem 5.2 states its Rényi order", order=None)
        constants = problem.loss.constants
        gibbs = Gibbs(
            order=self.order,
            range=constants.range,
            smoothness=constants.curvature,
            regularization=problem.regularization,
            dimension=problem.dimension,
            form=self.form,
        )
        facts = problem.run(step_size=numbers.step_size, noise_variance=numbers.noise_variance)
        known = WorstCaseRun(
            max(numbers.learn_steps, numbers.delete_steps), assuming="the model published before it is known"
        )
        return Plan.of(
            problem,
            GibbsNoisyGDRun(**facts, gibbs=gibbs),
            numbers,
            promise=PlannedGuarantees(dp=known, unbounded=self.form == "sharper"),
        )

    def outlook(self, plan: Plan) -> Prospects:
        """Return prospects with the bound (162) at the larger divergence: of the learned model, or after requests."""
        facts = plan.mechanism
        assert isinstance(facts, GibbsNoisyGDRun)
        gibbs, learned = facts.gibbs, facts.distance_after(None, plan.calibration.learn_steps, 0)
        barrier = theorem_5_2.log_barrier if self.form == "sharper" else theorem_5_2.log_barrier_printed
        risk = theorem_5_2.excess_risk(
            log_barrier=barrier(range=gibbs.range, noise_variance=plan.calibration.noise_variance),
            range=gibbs.range,
            noise_variance=plan.calibration.noise_variance,
            lipschitz=plan.problem.loss.constants.lipschitz,
            smoothness=gibbs.smoothness,
            regularization=plan.problem.regularization,
            dimension=plan.problem.dimension,
            deletion=max(learned, plan.deletion.renyi(gibbs.order)),
        )
        return outlook_of_steps(plan, risk)

    def words(self, plan: Plan) -> tuple[str, ...]:
        problem, numbers = plan.problem, plan.calibration
        form = "Theorem 5.2 as printed" if self.form == "printed" else "Theorem 5.2 sharpened"
        influence = theorem_5_2.data_influence(
            range=problem.loss.constants.range, noise_variance=numbers.noise_variance
        )
        drawn = ", so the weights are nearly a draw from the prior." if influence < 1 / 2 else "."
        return (
            f"{form} at Rényi order q={self.order:g} (λ={problem.regularization:g}, weak convexity "
            f"β₋={problem.loss.constants.weak_convexity:.4g}): the model stays near the Gibbs law of the current records, which never saw "
            f"a deleted one. This speaks of observers who came after the erasure, and holds if {NON_ADAPTIVE}; once an earlier model was observed, only the composition of steps is certified. ε_dp is of one release, given "
            "the model before it (18).",
            f"Noise σ²={numbers.noise_variance:.6g} at step size η={numbers.step_size:.6g}. Learning: K_A={numbers.learn_steps} steps "
            f"({plan.count_gradients()['learn']} record gradients); deleting: K_Ā={numbers.delete_steps} per request. What the model is "
            f"worth: at this noise the data can move its law from the prior by at most {influence:.3g} in total variation{drawn} Bound "
            f"on the excess risk: {plan.outlook.excess_risk:.3g}, for a loss of range {problem.loss.constants.range:g}.",
        )

    def _check(self, problem: Problem) -> None:
        constants = problem.loss.constants
        if constants.convex:
            raise InvalidParameter("is for non-convex losses; use analysis 'tight'", analysis=self.analysis)
        if not constants.proven:
            raise AssumptionViolated(
                f"the {problem.loss.name} loss only declares its constants; Theorem 5.2 needs proven ones: use "
                "analysis 'composition'"
            )
        if not math.isfinite(constants.range):
            raise AssumptionViolated(
                f"the {problem.loss.name} loss has range ω={constants.range:g}: Theorem 5.2 needs a bounded loss. Use a "
                f"bounded one, λ > β₋={constants.weak_convexity:g} with analysis 'tight', or analysis 'composition'"
            )
        if problem.deletion_notion is not Worlds.ERASED_VS_NEVER:
            raise InvalidParameter(
                "is not covered by Theorem 5.2, which compares with a law that never saw the record (Definition 4.1)",
                deletion_notion="pairwise",
            )


MOST_STEPS = 10**8  # one step on a small table takes at least ten microseconds: a quarter of an hour and up

_CHANGES = {  # field -> (name, direction in which it helps, limit)
    "records": ("n", 1 / 10 ** (1 / 8), 1),
    "dimension": ("d", 1 / 10 ** (1 / 8), 1),
    "regularization": ("λ", 10 ** (1 / 8), 1e12),
    "range": ("ω", 1 / 10 ** (1 / 8), 1e-12),
    "deletion": ("ε_dd", 10 ** (1 / 8), math.inf),
}


def infeasible_error(plan: Plan, ask: schedules.NonConvexProblem, form: Form) -> PlanInfeasible:
    """Return the error for `plan`: its K_A and K_Ā, those at larger noise, and alternatives that can be run.

    The message lists both numbers at the noise variances σ²·4^k, k < 6. The alternatives are the cheapest noise, if it
    makes the plan runnable, and for each of n, d, λ, ω and ε_dd the value that does so when changed alone, or that none
    does.

    Args:
        plan: The plan that needs more than `MOST_STEPS` steps.
        ask: Its problem at the chosen order.
        form: Returns the schedule of a problem at a given σ².
    """
    numbers = plan.calibration
    over = "; ".join(
        f"σ²={schedule.noise_variance:.3g}: K_A={schedule.learn_steps:.3g}, K_Ā={schedule.delete_steps:.3g}"
        for schedule in (form(ask, numbers.noise_variance * 4**k) for k in range(6))
    )
    growth = plan.problem.growth**2  # share of the budget taken by the slack
    ways = (*_cheapest(ask, form), *_changes(ask, form))
    message = (
        f"Theorem 5.2 needs K_A={numbers.learn_steps:.3g} and K_Ā={numbers.delete_steps:.3g} steps at n={ask.records}, "
        f"d={ask.dimension}, λ={ask.regularization:g}, ω={ask.range:g}, q={ask.order:g}, ε_dp={ask.dp * growth:g}, "
        f"ε_dd={ask.deletion * growth:g} (σ²={numbers.noise_variance:.4g}, η={numbers.step_size:.3g}); the limit is "
        f"{MOST_STEPS:.0e} steps. "
        f"More noise needs fewer steps: {over}. Ways out: " + "; ".join(ways)
    )
    return PlanInfeasible(message, plan=plan, alternatives=ways)


def _cheapest(ask: schedules.NonConvexProblem, form: Form) -> Iterable[str]:
    schedule = schedules.cheapest_schedule(ask, form)
    if max(schedule.learn_steps, schedule.delete_steps) <= MOST_STEPS:
        influence = theorem_5_2.data_influence(range=ask.range, noise_variance=schedule.noise_variance)
        yield (
            f"at the cheapest noise variance σ²={schedule.noise_variance:.3g}, K_A={schedule.learn_steps:.0f}, "
            f"K_Ā={schedule.delete_steps:.0f}, but the data can move the model's law from the prior by at most "
            f"{influence:.2f} in total variation"
        )


def _changes(ask: schedules.NonConvexProblem, form: Form) -> Iterable[str]:
    """Yield the value of each number, changed alone, at which the steps become runnable, or that none suffices.

    The noise is the least for each value.
    """
    for field, (name, factor, limit) in _CHANGES.items():
        value = changed = getattr(ask, field)
        whole = isinstance(value, int)
        bound = ask.dp if field == "deletion" else limit
        found = None
        while found is None and changed != bound:
            changed = changed * factor
            changed = min(changed, bound) if factor > 1 else max(changed, bound)
            trial = replace(ask, **{field: max(1, int(changed)) if whole else changed})
            if field == "records" and trial.records < trial.batch:
                break
            schedule = schedules.least_noise_schedule(trial, form)
            if max(schedule.learn_steps, schedule.delete_steps) <= MOST_STEPS:
                found = getattr(trial, field)
        if found is None:
            yield f"no {name} alone suffices (tried from {value:g} to {changed:g})"
        else:
            yield f"{name}={found:.3g} alone suffices (now {value:g})"
