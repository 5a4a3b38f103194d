"""The interface of methods and the plans they make.

Everything in a plan is public and fixed before any record is seen.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..bounds.arithmetic import best_order
from ..bounds.renyi import renyi_epsilon
from ..errors import InvalidParameter, NoisyGDDeleteError, NothingPromised, check_count
from ..losses.base import Loss
from ..privacy.budget import Measures
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_number
from .base import BY_PERSON, PROOFS, Mechanism
from .problem import MethodRef, Problem
from .procedure import (
    Exactness,
    InitialLaw,
    Minimizer,
    NoisyLeastSquares,
    PlannedGuarantees,
    Procedure,
    Published,
    Sampling,
    Start,
    WorstCaseRun,
)

if TYPE_CHECKING:
    from .forecast import Prospects

MOST_STAGES = 16  # of a ladder
_LARGER = (3, 10, 30, 100)  # times λ, tried in this order


@dataclass(frozen=True)
class Method(MethodRef):
    """A way of learning and deleting, with validated options and its proof; it calibrates a `Plan`."""

    name: ClassVar[str]
    proof: ClassVar[str] = PROOFS[0]  # weakest kind of proof behind its bounds
    weighed: ClassVar[str] = (
        "always"  # when the planner compares it if no method is named; or "for several publications", or "never"
    )
    own_ridge: ClassVar[bool] = False  # whether it adds the regularisation that its noise requires to λ itself

    @abstractmethod
    def plan(self, problem: Problem) -> Plan:
        """Return the plan with the least noise and the fewest steps within the budget.

        Raises:
            InvalidParameter: If the method does not cover the problem.
            AssumptionViolated: If an assumption of the method's proof does not hold.
            PlanInfeasible: If no machine can run the plan, or nothing meets the budget.
        """

    @abstractmethod
    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan that these numbers define: the facts of a run, its procedures and its guarantees.

        Nothing is calibrated, and the budget is not checked; only numbers calibrated by this method are valid.
        """

    def allow_any_order(self) -> Self:
        """Return the variant for rows in a different order in every release; the method itself if it has none."""
        return self

    def check_any_order(self, problem: Problem, instead: str) -> None:
        """Check that the proof covers rows that arrive in any order and change unobserved between releases.

        The base method always refuses; a method whose proof covers such rows overrides this check.

        Args:
            problem: The problem, for its loss.
            instead: What to do instead, from `methods.external_row_methods`, for the message.

        Raises:
            InvalidParameter: If the proof does not cover them with these options, here always.
            AssumptionViolated: In overrides, if it does not cover them for this loss.
        """
        raise InvalidParameter(
            f"rests on rows that stay in their places, and these lie elsewhere; {instead}", method=self.name
        )

    def check_plan(self, plan: Plan) -> None:
        """Check that the proof covers what the plan runs, beyond what its mechanism checks.

        The numbers may be of any origin. The base method checks that the loss has a finite Lipschitz constant.

        Raises:
            InvalidParameter: If the method does not cover the plan.
            AssumptionViolated: If an assumption of the proof does not hold.
        """
        if not math.isfinite(plan.problem.loss.constants.lipschitz):
            raise InvalidParameter(
                f"the {plan.problem.loss.name} loss has no Lipschitz constant; clip its gradients to L"
            )

    def outlook(self, plan: Plan) -> Prospects:
        """Return the expected quality of the models: forecasts, and a bound on the excess risk if one is proven.

        Here the prospects of many noisy steps, without a bound (infinite).
        """
        from .forecast import Prospects

        return Prospects.of_steps(plan.problem, plan.calibration.step_size, plan.calibration.noise_variance)

    def words(self, plan: Plan) -> tuple[str, ...]:
        """Return explanations of what determines the plan's noise and steps, one paragraph each; here none."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The numbers that a method calibrates; a file stores these and the problem. Unused numbers are 0.

    Attributes:
        step_size: η.
        noise_variance: σ².
        init_variance: Variance per coordinate of the initial law ρ.
        learn_steps: K_A.
        delete_steps_for_deletion: K_Ā that the deletion guarantee needs.
        delete_steps_for_utility: K_Ā that keeps the accuracy over any number of requests; 0 if not required.
        gradient_tolerance: γ of the solver, if every release starts from the minimiser.
        learn_solver_passes: Gradient passes of the solver in a learn: a forecast from public numbers, exact for
            solver="fixed".
        delete_solver_passes: The same in a request.
        horizon: Steps since the last fresh learn that the budget covers under composition; None if unlimited.
        linear_term: s, the standard deviation per coordinate of objective perturbation's linear term.
        output_noise: τ, the standard deviation of the noise on the published weights.
        stages: Plans of several consecutive runs, each published; empty for one run.
        kept: Number of stages that a request leaves unchanged.
    """

    step_size: float = 0.0
    noise_variance: float = 0.0
    init_variance: float = 0.0
    learn_steps: int = 0
    delete_steps_for_deletion: int = 0
    delete_steps_for_utility: int = 0
    gradient_tolerance: float = 0.0
    learn_solver_passes: int = 0
    delete_solver_passes: int = 0
    horizon: int | None = None
    linear_term: float = 0.0
    output_noise: float = 0.0
    stages: tuple[Plan, ...] = ()
    kept: int = 0

    def __post_init__(self) -> None:
        for name in ("learn_steps", "delete_steps_for_deletion", "delete_steps_for_utility", "kept"):
            check_count(name, getattr(self, name), minimum=0)

    @property
    def delete_steps(self) -> int:
        """K_Ā, the larger of the two conditions."""
        return max(self.delete_steps_for_deletion, self.delete_steps_for_utility)


@dataclass(frozen=True)
class Plan:
    """The procedures that will be run and their guarantees, made by the method of the problem (`Method.plan`).

    The problem and the calibration define the plan; `Method.assemble` derives the other parts from them.

    Attributes:
        problem: The planning problem.
        calibration: The calibrated numbers.
        mechanism: Public facts of a run, as the accountant sees it.
        learning: Procedure of a learn.
        serving: Procedure of a request.
        promise: The runs that the guarantees cover.
        model_loss: The loss that a published model predicts by; differs from the problem's if several stages are
            published together.
    """

    problem: Problem
    calibration: Calibration
    mechanism: Mechanism
    learning: Procedure
    serving: Procedure
    promise: PlannedGuarantees
    model_loss: Loss

    def __post_init__(self) -> None:
        for procedure, fresh in ((self.learning, True), (self.serving, self.mechanism.fresh)):
            self.mechanism.check(procedure.counted_steps, fresh=fresh)

    @classmethod
    def of(
        cls,
        problem: Problem,
        mechanism: Mechanism,
        numbers: Calibration,
        *,
        learning: Start | None = None,
        serving: Start | None = None,
        promise: PlannedGuarantees | None = None,
        exactness: Exactness | None = None,
        sampling: Sampling | None = None,
        model_loss: Loss | None = None,
    ) -> Plan:
        """Return the plan of these numbers: procedures from the given starts, and default guarantees.

        By default a learn starts at the initial law and a request at the model published before. Both run the numbers'
        noisy steps; a start at the minimiser adds s and τ, and least squares on moments takes no step.

        Args:
            problem: The planning problem.
            mechanism: Public facts of a run.
            numbers: The calibrated numbers.
            learning: Start of a learn; None: the initial law.
            serving: Start of a request; None: the model published before.
            promise: The guarantees. None: the deletion guarantee covers any number of steps with the record, then K_Ā
                without.
            exactness: Grid of exact steps, if any.
            sampling: Poisson sampling of the steps, if any.
            model_loss: The loss that a published model predicts by; None: the problem's.

        Raises:
            InvalidParameter: If a number is given that these procedures have no use for, or the mechanism does not
                cover the steps.
        """
        steps = {"step_size": numbers.step_size, "noise_variance": numbers.noise_variance}
        # a linear term is part of the solved objective, and the solution needs output noise
        noise = {"linear_term": numbers.linear_term, "output_noise": numbers.output_noise}
        shape = problem.noise_shape if numbers.linear_term else None

        def run(start: Start, number: int, passes: int) -> Procedure:
            own: dict[str, Any] = {**steps, **({**noise, "shape": shape} if isinstance(start, Minimizer) else {})}
            taken = 0 if isinstance(start, NoisyLeastSquares) else number
            return Procedure(start, taken, solver_passes=passes, exactness=exactness, sampling=sampling, **own)

        begin = InitialLaw(numbers.init_variance) if learning is None else learning
        plan = cls(
            problem,
            numbers,
            mechanism,
            run(begin, numbers.learn_steps, numbers.learn_solver_passes),
            run(serving or Published(), numbers.delete_steps, numbers.delete_solver_passes),
            promise or PlannedGuarantees(deletion=WorstCaseRun(steps_without=mechanism.exposure(numbers.delete_steps))),
            problem.loss if model_loss is None else model_loss,
        )
        unused = [name for name, kind in _OF_START.items() if getattr(numbers, name) and not isinstance(begin, kind)]
        if plan.learning.counted_steps != numbers.learn_steps:
            unused.append("learn_steps")
        if unused:
            given = {name: getattr(numbers, name) for name in unused}
            raise InvalidParameter(f"method {mechanism.method!r} has no use for it", **given)
        return plan

    def changed(self, **changes: Any) -> Plan:
        """Return the plan with other numbers or another problem; mechanism, procedures and guarantees follow.

        Names of `Calibration` fields change numbers, other names fields of the problem; `problem` replaces it first.
        Nothing is calibrated again, so the budget may not hold.
        """
        numbers = {name: changes.pop(name) for name in list(changes) if name in _NUMBERS}
        problem = changes.pop("problem", self.problem)
        changed: Problem = replace(problem, **changes) if changes else problem
        return method_of(changed).assemble(changed, replace(self.calibration, **numbers))

    @property
    def method(self) -> Method:
        """The method that made the plan."""
        return method_of(self.problem)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the published weights in the engine: (outputs, features) except for networks and several stages."""
        return self.model_loss.shape(self.problem.features)

    def after(self, former: Plan, spent: Guarantee | None = None) -> Plan:
        """Return this plan as the successor of `former`, by which models were already published.

        The plan is unchanged if it has no total, or the same total, adjacency and rows per data subject as `former`.
        The same total continues with its measure of summation. A new total, or the same total for another adjacency or
        another unit, is marked as fixed late; it is summed in a measure in which the cost `spent` so far is finite too.

        Args:
            former: The plan that this one replaces.
            spent: Cost of all publications so far; None if nothing was published.
        """
        own, before = self.problem.total, former.problem.total
        units = [(problem.adjacency, problem.rows_per_subject) for problem in (self.problem, former.problem)]
        alike = units[0] == units[1]
        if own is None or (own == before and alike):
            return self
        if before is not None and (own.epsilon, own.delta) == (before.epsilon, before.delta) and alike:
            late = before
        else:
            late, both = replace(own, late=True), self.dp if spent is None else spent + self.dp
            late = late.measured_for(both) if late.spent(both) == math.inf else late
        return replace(self, problem=replace(self.problem, total=late))

    def of_map(self, digest: str | None) -> Plan:
        """Return the same plan for rows of the public map with this SHA-256 digest; None: rows of no map."""
        return replace(self, problem=replace(self.problem, feature_map=digest))

    def allow_any_order(self) -> Plan:
        """Return the plan for rows in a different order in every release; itself if its method has no other variant.

        The cost of what the order may reveal is charged. The numbers are kept if the steps stay on the same grid and
        the deletion stays within its budget, else the problem is planned again, which may raise as `Method.plan` does.

        Raises:
            InvalidParameter: If rows are weighted by person: rows elsewhere come without the names of persons.
        """
        if self.problem.by_person:
            raise InvalidParameter(
                "needs the persons of the rows, and these rows lie elsewhere; plan with 'by-row'", weighting=BY_PERSON
            )
        method = self.method.allow_any_order()
        if method == self.method:
            return self
        charged = self.changed(method=method)
        alike = (charged.learning.exactness, charged.serving.exactness) == (
            self.learning.exactness,
            self.serving.exactness,
        )
        return charged if alike and self.problem.budget.affords(charged.deletion) else method.plan(charged.problem)

    @property
    def dp(self) -> Guarantee:
        """Guarantee of one release about a record still present, for any number of steps."""
        return self._of_costliest("dp", self.problem.adjacency, self.promise.dp)

    @property
    def deletion(self) -> Guarantee:
        """Guarantee about an erased record against an observer of later models only.

        It holds for any history, if requests did not depend on earlier models; otherwise use `deletion_observed`.
        """
        fading = self.mechanism.fading
        if fading is not None:
            learn, delete = self.calibration.learn_steps, self.calibration.delete_steps
            return fading.forgets(learn_steps=learn, delete_steps=delete, batch=self.problem.batch)
        return self._of_costliest("deletion", self.problem.deletion_notion, self.promise.deletion)

    def _of_costliest(self, about: str, worlds: str, longest: WorstCaseRun) -> Guarantee:
        steps: dict[str, Any] = {"steps_with": longest.steps_with, "steps_without": longest.steps_without}
        return self.mechanism.interval(about, worlds, **steps).assuming(longest.assuming)

    def dp_observed(self, models: int | None = None) -> Guarantee:
        """Return what `models` observed models, the learn first, reveal about a record present in all of them.

        The other models are of requests; None: as many as the budget covers, `problem.releases`.
        """
        return self._shown("dp", self.problem.releases if models is None else check_count("models", models))

    def _shown(self, about: str, releases: int, gone: bool = False) -> Guarantee:
        """Return the guarantee of `releases` observed releases about a record present in all of them.

        Args:
            about: "dp" or "deletion".
            releases: Number of releases, the first of which is a learn.
            gone: Whether the record is erased from the next release.
        """
        mechanism, problem = self.mechanism, self.problem
        worlds = problem.adjacency if about == "dp" else problem.deletion_notion
        if mechanism.carries:
            return mechanism.interval(about, worlds, steps_with=releases, steps_without=int(gone))
        learned = mechanism.interval(about, worlds, steps_with=mechanism.exposure(self.calibration.learn_steps))
        requested = mechanism.interval(about, worlds, steps_with=mechanism.exposure(self.calibration.delete_steps))
        return Guarantee.composed([(learned, 1), *([(requested, releases - 1)] if releases > 1 else [])])

    def deletion_observed(self, models: int = 1) -> Guarantee:
        """Return what `models` observed models, the learn first, reveal about a record that the next release erases.

        It holds if other requests are adaptive, on the condition that every release is observed: given the observed
        models, the runs on both datasets restart from the same point.
        """
        return self._shown("deletion", check_count("models", models), gone=True).assuming("every release is observed")

    @property
    def allowed(self) -> Guarantee:
        """The dp budget as a guarantee of all `releases` together, in the form of their cost (μ, rate or one order).

        With several parts, an (ε, δ) budget is met in Gaussian DP if they fit it there, else at the order where they
        fit best.
        """
        nothing = self.mechanism.interval("dp", self.problem.adjacency, steps_with=0)
        budget, together = self.problem.budget, self.dp_observed()
        # figures of exact plans include their rounding errors: no slack is reserved for them
        gaussian = self.problem.dp_gdp if nothing.slack else budget.dp_gdp
        if self.promise.counted_on is not None:
            from .budget_split import Amounts  # rarely needed

            sampling = self.promise.counted_on
            amounts = Amounts.at_orders(self.problem, sampling.rate, sampling.draws)
            assert amounts.dp_order is not None
            return replace(nothing, points=((amounts.dp_order, amounts.dp * amounts.dp_order / 2),))
        if not (together.points or together.curves):
            if together.rate:
                return replace(nothing, rate=self.problem.dp_rate()[0])
            return replace(nothing, gdp_squared=gaussian() ** 2)
        if budget.measure is Measures.RENYI:
            assert budget.order is not None
            return replace(nothing, points=((budget.order, budget.dp),))
        if together.gdp is not None and together.gdp <= budget.dp_gdp() * (1 + 1e-12):
            return replace(nothing, gdp_squared=budget.dp_gdp() ** 2)
        assert budget.dp_delta is not None
        delta = budget.dp_delta

        def epsilon(order: float) -> float:
            return renyi_epsilon(order=order, renyi=together.renyi(order), delta=delta)

        order = best_order(epsilon, low=1e-3, high=min(1e9, together.highest_order - 1) * (1 - 1e-9))
        kept = budget.dp - (renyi_epsilon(order=order, renyi=1.0, delta=delta) - 1.0)
        return replace(nothing, points=((order, max(kept, 0.0)),))

    @cached_property
    def outlook(self) -> Prospects:
        """Expected quality of the models: a bound and forecasts. No guarantee depends on it."""
        return self.method.outlook(self)

    def count_gradients(self) -> dict[str, int]:
        """Return the record gradients of one "learn" and of one request ("delete"): n·(solver passes + K)."""
        numbers, records = self.calibration, self.problem.records
        return {
            "learn": records * (numbers.learn_solver_passes + numbers.learn_steps),
            "delete": records * (numbers.delete_solver_passes + numbers.delete_steps),
        }

    def is_fresh_learn_cheaper(self) -> bool:
        """Whether a request that resumes from the published model takes at least as many gradients as learning afresh.

        False if no request resumes: every release starts afresh, carries noise over, or reruns every stage.
        """
        numbers, work = self.calibration, self.count_gradients()
        resumes = not (self.mechanism.fresh or self.mechanism.carries) and (not numbers.stages or numbers.kept > 0)
        return resumes and work["learn"] <= work["delete"]

    def explain(self) -> str:
        """Return an explanation of the noise, the steps and the guarantees, in paragraphs.

        In order: heading, how λ was chosen, clipping, the method's `words`, saving, roundings, waiting, `worth` and
        promise, as far as they apply. `planner.explain` also compares other methods.
        """
        from . import explanations

        ridge = explanations.explain_ridge(self.problem, lambda: self.outlook.forecast)
        said = (
            explanations.plan_heading(self.problem),
            ridge,
            explanations.explain_clipping(self.problem.loss),
            *self.method.words(self),
            explanations.explain_saving(self.count_gradients(), cheaper=self.is_fresh_learn_cheaper()),
        )
        return "\n\n".join(
            filter(None, (*said, explanations.explain_rounding(self.serving.exactness), *self._promised()))
        )

    def summarize(self) -> str:
        """Return loss, sizes, method, budget, cost and guarantees in a few lines; a part of `explain`."""
        from . import explanations

        work = self.count_gradients()
        learn, delete = (round(number / self.problem.records) for number in work.values())
        saving = explanations.explain_saving(work, cheaper=True) if self.is_fresh_learn_cheaper() else ""
        passes = explanations.explain_passes(learn, delete)
        said = explanations.plan_heading(self.problem), passes, saving, *self._promised()
        return "\n".join(filter(None, said))

    def _promised(self) -> tuple[str, ...]:
        from . import explanations

        waiting = "" if self.calibration.stages else explanations.explain_waiting(self.problem, self.learning)
        promise = explanations.explain_promise(
            self.problem.budget, self.deletion, self.deletion_observed(), self.mechanism.slack
        )
        return waiting, self.worth(), promise

    def worth(self, *, advise: bool = True) -> str:
        """Return a warning if the excess-risk bound does not show that the model is better than zero weights, else "".

        The warning names the first of 3, 10, 30 and 100 times λ for which the bound is below half of the loss at zero
        weights, if one is. Losses without labels get no warning. All plans, commands, estimators and reports use this
        sentence.

        Args:
            advise: Whether to plan for larger λ and name one; plans by Theorem 5.2 name none.
        """
        from . import explanations

        larger = () if self.mechanism.fading or not advise else (self._larger(factor) for factor in _LARGER)
        untrained = isinstance(self.learning.start, InitialLaw) and not self.learning.counted_steps
        risk = self.outlook.excess_risk
        return explanations.explain_worth(self.problem.loss, risk, filter(None, larger), untrained=untrained)

    def warn_if_vacuous(self) -> None:
        """Warn (`NothingPromised`) if a learn takes no step, or if a bound on the excess risk holds and is vacuous.

        No warning if noisy steps are taken and no bound is known. The text is that of `worth`, without advice.
        """
        if self.learning.counted_steps and not math.isfinite(self.outlook.excess_risk):
            return
        if doubt := self.worth(advise=False):
            warnings.warn(doubt, NothingPromised, stacklevel=3)

    def _larger(self, factor: float) -> tuple[float, float] | None:
        """Return λ times `factor` and the excess-risk bound of the same method's plan for it; None if there is none."""
        method = without_options(self.method, "step_size", "noise_variance", "gradient_tolerance", "diffusion_steps")
        regularization = self.problem.regularization * factor
        problem = replace(self.problem, method=method, regularization=regularization)
        try:
            return regularization, method.plan(problem).outlook.excess_risk
        except (NoisyGDDeleteError, ArithmeticError):
            return None

    def summary(self) -> dict[str, Any]:
        """Return the plan as the JSON output of the command line: one flat object of public numbers.

        "budget", "total", "options", "solver_passes" and "gradient_evaluations" are nested. "saving" is the record
        gradients of a learn minus those of a request, which may be negative; "excess_risk_bound" is None if there is
        none.
        """
        problem, numbers, work = self.problem, self.calibration, self.count_gradients()
        risk = self.outlook.excess_risk
        return {
            "regularization": problem.regularization,
            "requested_regularization": problem.requested_regularization,
            "ridge_cost": problem.ridge_cost,
            "step_size": numbers.step_size,
            "noise_variance": numbers.noise_variance,
            "init_variance": numbers.init_variance,
            "learn_steps": numbers.learn_steps,
            "delete_steps": numbers.delete_steps,
            "delete_steps_for_deletion": numbers.delete_steps_for_deletion,
            "delete_steps_for_utility": numbers.delete_steps_for_utility,
            "method": self.method.name,
            "noisy_gradient_descent": bool(self.method.analysis),
            "options": {key: value for key, value in self.method.to_dict().items() if key != "name"},
            "gradient_tolerance": numbers.gradient_tolerance,
            "linear_term": numbers.linear_term,
            "output_noise": numbers.output_noise,
            "solver_passes": {"learn": numbers.learn_solver_passes, "delete": numbers.delete_solver_passes},
            "order": problem.budget.order,
            "dp": problem.budget.dp,
            "deletion": problem.budget.deletion,
            "budget": problem.budget.to_dict(),
            "adjacency": str(problem.adjacency),
            "deletion_notion": str(problem.deletion_notion),
            "releases": problem.releases,
            "total": None if problem.total is None else problem.total.to_dict(),
            "rows_per_subject": problem.rows_per_subject,
            "gradient_evaluations": work,
            "saving": work["learn"] - work["delete"],
            "fresh_learn_is_cheaper": self.is_fresh_learn_cheaper(),
            "excess_risk_bound": risk if math.isfinite(risk) else None,
            "sensitivity_slack": self.mechanism.slack,
        }

    def __repr__(self) -> str:
        problem, numbers = self.problem, self.calibration
        return (
            f"Plan({problem.loss.name}, n={problem.records}, d={problem.dimension}, "
            f"λ={format_number(problem.regularization)}, method={self.method.variant_name()!r}, "
            f"{numbers.learn_steps} and {numbers.delete_steps} steps, {problem.budget.describe()})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return "problem" and beside it every number of the calibration, as JSON for `serialization.plan_from_dict`.

        Plans of several stages add "stages", the plans of the stages, and "kept". The method is in the problem.
        """
        numbers = {name: getattr(self.calibration, name) for name in _NUMBERS}
        stages, kept = numbers.pop("stages"), numbers.pop("kept")
        inner = {"stages": [stage.to_dict() for stage in stages], "kept": kept} if stages else {}
        return {"problem": self.problem.to_dict(), **numbers, **inner}


_OF_START: dict[str, type[Start]] = {  # numbers that procedures with another start do not use
    "init_variance": InitialLaw,
    **dict.fromkeys(("gradient_tolerance", "linear_term", "output_noise"), Minimizer),
}
_NUMBERS = tuple(field.name for field in fields(Calibration))


def method_of(problem: Problem) -> Method:
    """Return the problem's method as a `Method`; AssertionError if it is another `MethodRef`."""
    assert isinstance(problem.method, Method)
    return problem.method


def without_options(method: Method, *options: str) -> Method:
    """Return a copy of the method with these options, if it has them, at their defaults and the others as they are."""
    kept = {option.name: getattr(method, option.name) for option in fields(method) if option.name not in options}
    return type(method)(**kept)
