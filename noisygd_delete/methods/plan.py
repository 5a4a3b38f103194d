"""What every way of learning and deleting answers, and the plan that it makes: everything public, fixed before any record is seen."""

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
from ..privacy.budget import Budget, Measures, Total
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_number
from .base import PROOFS, Mechanism
from .problem import (
    CarriedSums,
    Exactness,
    InitialLaw,
    MethodRef,
    Minimizer,
    NoisyLeastSquares,
    PlannedGuarantees,
    Problem,
    Procedure,
    Published,
    Sampling,
    Start,
    WorstCaseRun,
)

if TYPE_CHECKING:
    from ..features.maps.coding import Coding
    from .forecast import Prospects

MOST_STAGES = 16  # of a ladder
_LARGER = (3, 10, 30, 100)  # times λ, tried in this order


@dataclass(frozen=True)
class Method(MethodRef):
    """A way of learning and deleting, with its options, validated when it is made, and its proof: it calibrates a `Plan`."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one line for tables and help
    proof: ClassVar[str] = PROOFS[0]  # what its bounds rest on at most
    weighed: ClassVar[str] = (
        "always"  # against the others where none is named; "for several publications" alone, or "never"
    )
    own_ridge: ClassVar[bool] = False  # whether it adds to λ by itself what its noise asks for

    @abstractmethod
    def plan(self, problem: Problem) -> Plan:
        """The least noise and the fewest steps within the budget.

        Raises:
            InvalidParameter, AssumptionViolated: the method does not cover the problem.
            PlanInfeasible: no machine can run it.
        """

    @abstractmethod
    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """What the numbers mean: the facts of a run, what is run, and what is promised. Numbers of other methods have no place in it."""

    def in_any_order(self) -> Self:
        """The same method for rows that come in another order in every release, where it has one."""
        return self

    def check_any_order(self, problem: Problem, instead: str) -> None:
        """Raise unless it is proven, with these options and for this loss, for rows that come in any order and change unseen between releases.

        Args:
            instead: what to do, from `methods.ways_elsewhere`.
        """
        raise InvalidParameter(
            f"rests on rows that stay in their places, and these lie elsewhere; {instead}", method=self.name
        )

    def check_plan(self, plan: Plan) -> None:
        """Raise unless the proof covers what the plan runs, wherever its numbers came from: what its mechanism cannot see of it.

        Raises:
            InvalidParameter, AssumptionViolated: it does not.
        """
        if not math.isfinite(plan.loss.constants.lipschitz):
            raise InvalidParameter(f"the {plan.loss.name} loss has no Lipschitz constant; clip its gradients to L")

    def outlook(self, plan: Plan) -> Prospects:
        """What its models are worth. Nothing is promised, but where a method proves a bound on the excess risk."""
        from .forecast import Prospects

        return Prospects.of_steps(plan.problem, plan.step_size, plan.noise_variance)

    def words(self, plan: Plan) -> tuple[str, ...]:
        """What drives the plan's noise and steps, a paragraph each."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What a method calibrates, and all that a file keeps of a plan beside its problem; what a method has no use for is 0.

    step_size                  η
    noise_variance             σ²
    init_variance              variance per coordinate of the initial law ρ
    learn_steps                K_A
    delete_steps_for_deletion  K_Ā that the deletion guarantee needs
    delete_steps_for_utility   K_Ā that keeps the accuracy over any number of requests (0: not asked for)
    gradient_tolerance         γ of the solver, where every release starts from the minimiser
    learn_solver_passes        gradient passes of the solver in a learn and in a request: a forecast from public numbers,
    delete_solver_passes       exact when solver="fixed"
    horizon                    steps since the last fresh learn that composition affords (None: no limit)
    linear_term                s: standard deviation per coordinate of objective perturbation's linear term
    output_noise               τ: standard deviation of the noise on the published weights
    stages                     the plans of several runs in a row, each published; empty: one run
    kept                       how many of them a request leaves as they are
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
        """K_Ā: the larger of the two conditions."""
        return max(self.delete_steps_for_deletion, self.delete_steps_for_utility)


@dataclass(frozen=True)
class Plan:
    """What will be run, and what is promised of it: everything made by the method of its problem (`Method.plan`).

    problem    what was asked
    mechanism  the public facts of a run, as the accountant sees it
    learning   what a learn runs
    serving    what a request runs
    promise    what the figures speak of
    stages     the plans of several runs in a row, each published; empty: one run
    kept       how many of them a request leaves as they are
    staged     what a published model predicts by, where several stages are published together
    """

    problem: Problem
    mechanism: Mechanism
    learning: Procedure
    serving: Procedure
    promise: PlannedGuarantees
    stages: tuple[Plan, ...] = ()
    kept: int = 0
    staged: Loss | None = None

    def __post_init__(self) -> None:
        for procedure, fresh in ((self.learning, True), (self.serving, self.mechanism.fresh)):
            self.mechanism.check(procedure.counted, fresh=fresh)

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
        staged: Loss | None = None,
    ) -> Plan:
        """Noisy steps, from the initial law to learn and from the model published before to serve a request, unless told otherwise.

        Args:
            promise: in which its steps need not be given; None: a figure about an erased record covers any number of steps with it.
            staged: as the field.
        """
        steps = {"step_size": numbers.step_size, "noise_variance": numbers.noise_variance}
        # a linear term is part of what is solved, and its answer wants noise
        noise = {"linear_term": numbers.linear_term, "output_noise": numbers.output_noise}
        shape = problem.noise_shape if numbers.linear_term else None

        def run(start: Start, number: int, passes: int) -> Procedure:
            own: dict[str, Any] = {**steps, **({**noise, "shape": shape} if isinstance(start, Minimizer) else {})}
            taken = 0 if isinstance(start, NoisyLeastSquares) else number
            return Procedure(start, taken, solver_passes=passes, exactness=exactness, sampling=sampling, **own)

        begin = InitialLaw(numbers.init_variance) if learning is None else learning
        if promise is None:
            promise = PlannedGuarantees(deletion=WorstCaseRun(steps_without=mechanism.exposure(numbers.delete_steps)))
        return cls(
            problem,
            mechanism,
            run(begin, numbers.learn_steps, numbers.learn_solver_passes),
            run(serving or Published(), numbers.delete_steps, numbers.delete_solver_passes),
            replace(
                promise,
                deletion_steps=numbers.delete_steps_for_deletion,
                utility_steps=numbers.delete_steps_for_utility,
                horizon=numbers.horizon,
            ),
            numbers.stages,
            numbers.kept,
            staged,
        )

    @property
    def numbers(self) -> Calibration:
        """What it is stored as."""
        return Calibration(**{name: getattr(self, name) for name in _NUMBERS})

    def changed(self, **changes: Any) -> Plan:
        """The plan with other numbers, or another problem: facts, what is run and what is promised follow."""
        numbers = {name: changes.pop(name) for name in list(changes) if name in _NUMBERS}
        problem = changes.pop("problem", self.problem)
        changed: Problem = replace(problem, **changes) if changes else problem
        return method_of(changed).assemble(changed, replace(self.numbers, **numbers))

    @property
    def method(self) -> Method:
        return method_of(self.problem)

    @property
    def step_size(self) -> float:
        """η"""
        return self.learning.step_size

    @property
    def noise_variance(self) -> float:
        """σ²"""
        return self.learning.noise_variance

    @property
    def init_variance(self) -> float:
        """Variance per coordinate of the initial law ρ; 0 where a learn does not begin at one."""
        return self.learning.start.variance if isinstance(self.learning.start, InitialLaw) else 0.0

    @property
    def learn_steps(self) -> int:
        """K_A"""
        return self.learning.counted

    @property
    def delete_steps(self) -> int:
        """K_Ā: the larger of the two conditions."""
        return max(self.delete_steps_for_deletion, self.delete_steps_for_utility)

    @property
    def delete_steps_for_deletion(self) -> int:
        return self.promise.deletion_steps

    @property
    def delete_steps_for_utility(self) -> int:
        return self.promise.utility_steps

    @property
    def gradient_tolerance(self) -> float:
        """γ of the solver; 0 where nothing is solved."""
        return self.learning.start.tolerance if isinstance(self.learning.start, Minimizer) else 0.0

    @property
    def learn_solver_passes(self) -> int:
        return self.learning.solver_passes

    @property
    def delete_solver_passes(self) -> int:
        return self.serving.solver_passes

    @property
    def linear_term(self) -> float:
        """s"""
        return self.learning.linear_term

    @property
    def output_noise(self) -> float:
        """τ"""
        return self.learning.output_noise

    @property
    def horizon(self) -> int | None:
        return self.promise.horizon

    @property
    def loss(self) -> Loss:
        return self.problem.loss

    @property
    def budget(self) -> Budget:
        return self.problem.budget

    @property
    def records(self) -> int:
        return self.problem.records

    @property
    def features(self) -> int:
        return self.problem.features

    @property
    def regularization(self) -> float:
        return self.problem.regularization

    @property
    def dimension(self) -> int:
        return self.problem.dimension

    @property
    def releases(self) -> int:
        return self.problem.releases

    @property
    def total(self) -> Total | None:
        """What all publications together may cost; None where `releases` alone limits them, or nothing does."""
        return self.problem.total

    def after(self, former: Plan, spent: Guarantee | None = None) -> Plan:
        """This plan in the place of another one by which models were published: the same total goes on, and sums what is spent as it
        did; another one, or the same about other worlds or another unit, was fixed late, and sums it in a measure that what was `spent` so
        far has, too."""
        own, before = self.total, former.total
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

    @property
    def capped(self) -> bool:
        """Whether a cap was set on the sum of all publications."""
        return self.releases > 1 or self.total is not None

    @property
    def model_loss(self) -> Loss:
        """What a published model predicts by: the loss, but where several stages are published together."""
        return self.loss if self.staged is None else self.staged

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the published weights inside the engine: (outputs, features) but for networks and several stages."""
        return self.model_loss.shape(self.features)

    def of_map(self, digest: str | None) -> Plan:
        """The same plan for rows that the public map of this digest makes."""
        return replace(self, problem=replace(self.problem, feature_map=digest))

    def in_any_order(self) -> Plan:
        """The plan for rows that come in another order in every release: what that may tell is charged, and within the budgets."""
        method = self.method.in_any_order()
        if method == self.method:
            return self
        charged = self.changed(method=method)
        alike = (charged.learning.exactness, charged.serving.exactness) == (
            self.learning.exactness,
            self.serving.exactness,
        )
        return charged if alike and self.budget.affords(charged.deletion) else method.plan(charged.problem)

    @property
    def coding(self) -> Coding | None:
        """What rows are counted by, where they are; a table may hold the codes in their place."""
        start = self.learning.start
        if not isinstance(start, CarriedSums) or start.map is None:
            return None
        from ..features.maps.catalogue import coding_of

        return coding_of(start.map)

    @property
    def noise_shape(self) -> tuple[float, ...] | None:
        """v of every column, where the noise has a shape: then every row must be as short in it as the loss assumes."""
        return self.problem.noise_shape if self.linear_term else None

    @property
    def dp(self) -> Guarantee:
        """What one release alone reveals about a record still there, for every number of steps."""
        return self._of_costliest("dp", self.problem.adjacency, self.promise.dp)

    @property
    def deletion(self) -> Guarantee:
        """What the release that serves a deletion reveals about the erased record, to an observer of later models alone.

        It holds whatever came before, as long as requests did not depend on earlier models; `deletion_observed` is for
        those that did.
        """
        fading = self.mechanism.fading
        if fading is not None:
            return fading.forgets(
                learn_steps=self.learn_steps, delete_steps=self.delete_steps, batch=self.problem.batch
            )
        return self._of_costliest("deletion", self.problem.deletion_notion, self.promise.deletion)

    def _of_costliest(self, about: str, worlds: str, longest: WorstCaseRun) -> Guarantee:
        steps: dict[str, Any] = {"steps_with": longest.steps_with, "steps_without": longest.steps_without}
        return self.mechanism.interval(about, worlds, **steps).assuming(longest.assuming)

    @property
    def fresh_publications(self) -> int:
        """How many of the `releases` start afresh, the learn among them."""
        every = 1 if self.mechanism.fresh else self.promise.fresh_every
        return 1 if every is None else -(-self.releases // every)

    @property
    def together(self) -> Guarantee:
        """What N = `releases` observed publications reveal about a record present in all of them."""
        every = self.promise.fresh_every
        return self._shown("dp", self.releases, 1 if every is None else -(-self.releases // every))

    def _shown(self, about: str, releases: int, learns: int = 1, gone: bool = False) -> Guarantee:
        """What so many observed releases, of which some are learns and the first is one, reveal of a record that is in all of them, and `gone`
        from the next."""
        mechanism, problem = self.mechanism, self.problem
        worlds = problem.adjacency if about == "dp" else problem.deletion_notion
        if mechanism.carries:
            return mechanism.interval(about, worlds, steps_with=releases, steps_without=int(gone))
        learned = mechanism.interval(about, worlds, steps_with=mechanism.exposure(self.learn_steps))
        requested = mechanism.interval(about, worlds, steps_with=mechanism.exposure(self.delete_steps))
        return Guarantee.composed([(learned, learns), *([(requested, releases - learns)] if releases > learns else [])])

    def deletion_observed(self, models: int = 1) -> Guarantee:
        """What `models` models, the learn first, have shown of a record that the next release erases; every one observed.

        Holds under adaptive requests by others: given what was observed, both worlds restart from the same point.
        """
        return self._shown("deletion", check_count("models", models), gone=True).assuming("every release is observed")

    @property
    def allowed(self) -> Guarantee:
        """The dp budget as a guarantee of all `releases` together, in the form in which they come: a μ, a rate, or else one order.

        Of several parts, (ε, δ) is met in Gaussian DP where that is how they fit, else at the one order at which they fit best.
        """
        nothing = self.mechanism.interval("dp", self.problem.adjacency, steps_with=0)
        budget, together = self.budget, self.together
        # figures of exact plans include their roundings: no slack is kept back for them
        gaussian = self.problem.dp_gdp if nothing.slack else budget.dp_gdp
        if self.promise.counted_on is not None:
            from .budget_split import Amounts  # what most plans never meet

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
        """What its models are worth: a bound and forecasts, on which no guarantee rests."""
        return self.method.outlook(self)

    @property
    def stationary_distance(self) -> float:
        """V_∞: bound on E‖θ − θ*‖² after many steps."""
        from ..bounds.shifted_interpolation import stationary_distance  # no deletion asks for it

        return stationary_distance(
            dimension=self.dimension,
            noise_variance=self.noise_variance,
            strong_convexity=self.problem.strong_convexity,
            step_size=self.step_size,
        )

    @property
    def excess_risk(self) -> float:
        """Bound on E[L_D(θ)] − min L_D of every released model, for the steps of this plan; in the unit of the loss.

        After the learn and any number of requests of at most `batch` edits. Infinite where nothing is promised.
        """
        return self.outlook.excess_risk

    @property
    def gradient_evaluations(self) -> dict[str, int]:
        """Per-record gradients of one learning run and of one request: n·(solver passes + K)."""
        return {
            "learn": self.records * (self.learn_solver_passes + self.learn_steps),
            "delete": self.records * (self.delete_solver_passes + self.delete_steps),
        }

    @property
    def saving(self) -> int:
        """Per-record gradients saved per request against learning afresh: n(K_A − K_Ā) where nothing is solved."""
        return self.gradient_evaluations["learn"] - self.gradient_evaluations["delete"]

    @property
    def fresh_learn_is_cheaper(self) -> bool:
        """Whether a request that resumes from the published model takes at least as many gradients as learning afresh."""
        resumes = not (self.mechanism.fresh or self.mechanism.carries) and (not self.stages or self.kept > 0)
        return resumes and self.saving <= 0

    def explain(self) -> str:
        """In words and numbers: what drives the noise and the steps, and what is promised. `planner.explain` also has rivals."""
        from . import explanations

        ridge = explanations.explain_ridge(self.problem, lambda: self.outlook.forecast)
        said = (
            explanations.plan_heading(self.problem),
            ridge,
            explanations.explain_clipping(self.loss),
            *self.method.words(self),
            explanations.explain_saving(self.gradient_evaluations, cheaper=self.fresh_learn_is_cheaper),
        )
        return "\n\n".join(
            filter(None, (*said, explanations.explain_rounding(self.serving.exactness), *self._promised()))
        )

    def in_short(self) -> str:
        """Loss, sizes, method, budget, cost and promise, in a few lines."""
        from . import explanations

        learn, delete = (round(number / self.records) for number in self.gradient_evaluations.values())
        cheaper = self.fresh_learn_is_cheaper
        saving = explanations.explain_saving(self.gradient_evaluations, cheaper=True) if cheaper else ""
        passes = explanations.explain_passes(learn, delete)
        said = explanations.plan_heading(self.problem), passes, saving, *self._promised()
        return "\n".join(filter(None, said))

    def _promised(self) -> tuple[str, ...]:
        from . import explanations

        waiting = "" if self.stages else explanations.explain_waiting(self.problem, self.learning)
        promise = explanations.explain_promise(
            self.budget, self.deletion, self.deletion_observed(), self.mechanism.slack
        )
        return waiting, self.worth(), promise

    def worth(self, *, advise: bool = True) -> str:
        """A warning where the bound on the excess risk does not even show that the model is better than weights of 0, with a λ for
        which it does if one is near (not `advise`: without); "" where the bound shows it, and for a loss that has no labels to guess.

        One sentence for every method and every door: plans, commands, estimators, papers.
        """
        from . import explanations

        larger = () if self.mechanism.fading or not advise else (self._larger(factor) for factor in _LARGER)
        untrained = isinstance(self.learning.start, InitialLaw) and not self.learning.counted
        return explanations.explain_worth(self.loss, self.excess_risk, filter(None, larger), untrained=untrained)

    def warn_if_vacuous(self) -> None:
        """Warn (`NothingPromised`) if a learn takes no step, or if a bound on the excess risk holds and is vacuous."""
        if self.learning.counted and not math.isfinite(self.excess_risk):
            return
        if doubt := self.worth(advise=False):
            warnings.warn(doubt, NothingPromised, stacklevel=3)

    def _larger(self, factor: float) -> tuple[float, float] | None:
        """λ times the factor, and the bound of the plan of the same method for it; None where there is none."""
        method = without_options(self.method, "step_size", "noise_variance", "gradient_tolerance", "diffusion_steps")
        regularization = self.regularization * factor
        try:
            return regularization, method.plan(
                replace(self.problem, method=method, regularization=regularization)
            ).excess_risk
        except (NoisyGDDeleteError, ArithmeticError):
            return None

    def summary(self) -> dict[str, Any]:
        """The JSON answer of the command line."""
        return {
            "regularization": self.regularization,
            "asked_regularization": self.problem.asked_regularization,
            "ridge_cost": self.problem.ridge_cost,
            "step_size": self.step_size,
            "noise_variance": self.noise_variance,
            "init_variance": self.init_variance,
            "learn_steps": self.learn_steps,
            "delete_steps": self.delete_steps,
            "delete_steps_for_deletion": self.delete_steps_for_deletion,
            "delete_steps_for_utility": self.delete_steps_for_utility,
            "method": self.method.name,
            "options": {key: value for key, value in self.method.to_dict().items() if key != "name"},
            "gradient_tolerance": self.gradient_tolerance,
            "linear_term": self.linear_term,
            "output_noise": self.output_noise,
            "solver_passes": {"learn": self.learn_solver_passes, "delete": self.delete_solver_passes},
            "order": self.budget.order,
            "dp": self.budget.dp,
            "deletion": self.budget.deletion,
            "budget": self.budget.to_dict(),
            "adjacency": str(self.problem.adjacency),
            "deletion_notion": str(self.problem.deletion_notion),
            "releases": self.releases,
            "total": None if self.total is None else self.total.to_dict(),
            "rows_per_subject": self.problem.rows_per_subject,
            "gradient_evaluations": self.gradient_evaluations,
            "saving": self.saving,
            "fresh_learn_is_cheaper": self.fresh_learn_is_cheaper,
            "excess_risk_bound": self.excess_risk if math.isfinite(self.excess_risk) else None,
            "sensitivity_slack": self.mechanism.slack,
        }

    def __repr__(self) -> str:
        steps = f"{self.learn_steps} and {self.delete_steps} steps"
        return (
            f"Plan({self.loss.name}, n={self.records}, d={self.dimension}, λ={format_number(self.regularization)}, method={self.method.name!r}, {steps}, "
            f"{self.budget.describe()})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, for `reading.plan_from_dict`: the problem and the numbers, of which a method makes the rest again."""
        inner = {"stages": [stage.to_dict() for stage in self.stages], "kept": self.kept} if self.stages else {}
        numbers = {name: getattr(self, name) for name in _NUMBERS if name not in ("stages", "kept")}
        return {"problem": self.problem.to_dict(), **numbers, **inner}


_NUMBERS = tuple(field.name for field in fields(Calibration))


def method_of(problem: Problem) -> Method:
    """Its method, which makes a plan of it."""
    assert isinstance(problem.method, Method)
    return problem.method


def without_options(method: Method, *options: str) -> Method:
    """The same method with these options (where it has them) left to the planner."""
    kept = {option.name: getattr(method, option.name) for option in fields(method) if option.name not in options}
    return type(method)(**kept)
