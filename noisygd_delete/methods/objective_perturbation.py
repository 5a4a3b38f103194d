"""Objective perturbation: every release is the minimiser of the current objective under a fresh random linear term.

    b ~ N(0, s² I);   θ̃ with ‖∇L_D(θ̃) + b/n‖ ≤ γ;
    published: θ̃ rounded to a public grid, plus an exact discrete Gaussian (τ) on it

Nothing is carried over from one release to the next, so there is nothing to forget. An erased record can influence
only where, within γ, a solver that started at the model published before stopped. Every rounding is inside γ or on the
grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from .. import losses
from ..bounds import objective_perturbation as bounds
from ..bounds import renyi
from ..bounds.arithmetic import GRID_BITS, ROOM, UNIT, gradient_error
from ..errors import (
    AssumptionViolated,
    InvalidParameter,
    NoisyGDDeleteError,
    PlanInfeasible,
    check_choice,
    check_count,
    check_positive,
    non_negative,
)
from ..privacy.budget import Measures
from ..privacy.guarantee import FORMS, ONE_DIRECTION, WEAKLY_CONVEX, Curve, Guarantee, Worlds
from ..privacy.sentences import format_bound
from . import problem as procedure
from .base import BY_PERSON, PROOFS, Condition, Cost, SingleRelease, WeighedRun, bounded_gradients
from .plan import MOST_STAGES, Calibration, Method, Plan
from .problem import SOLVERS, Problem, solver_passes

if TYPE_CHECKING:
    from .forecast import Prospects


# --- perturbed run ---
#
# A release by objective perturbation as the accountant sees it: its public facts and what it reveals.


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbationRun(WeighedRun, SingleRelease):
    """Public facts of one release.

    Attributes:
        linear_term: s, the standard deviation of b per coordinate, in units of the gradient sum.
        output_noise: τ, a power of two; the grid has step τ/2²⁴.
        gradient_tolerance: γ, an upper bound on the norm of the true gradient at the solver's answer, with the ideal b.
        strong_convexity: m = λ − β₋ of the objective.
        lipschitz: L of one row's loss.
        smoothness: β₊ of one row's loss.
        form: How one row's loss curves, one of `FORMS`.
        dimension: d.
        weak_convexity: β₋ of one row's loss.
        blocks: Number of models of which one row's loss is the sum.
        rows_per_subject: Rows of one data subject that count as one record.
        warm: Whether the solver of a request starts from the published model.
        shaped: Whether b has the public shape of the schema's columns; every row is checked to satisfy the norm bound
            in that shape.
        in_place: Whether rows are added in an order determined by their contents; otherwise a sum may round differently
            in every release.
        chain: Number of consecutive minimisers, each regularised towards the previous one; all of them count as
            published.
    """

    method: ClassVar[str] = "objective-perturbation"
    source: ClassVar[str] = (
        "objective perturbation with an exact discrete Gaussian on the output (tilted densities in Rényi DP; a flow of "
        "densities in Gaussian DP)"
    )
    fresh: ClassVar[bool] = True
    steps: ClassVar[int] = 0

    linear_term: float
    output_noise: float
    gradient_tolerance: float
    strong_convexity: float
    lipschitz: float
    smoothness: float
    form: str
    dimension: int
    weak_convexity: float = 0.0
    blocks: int = 1
    rows_per_subject: int = 1
    warm: bool = False
    shaped: bool = False
    in_place: bool = True
    chain: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("linear_term", "output_noise", "gradient_tolerance", "strong_convexity", "lipschitz"):
            check_positive(name, getattr(self, name))
        for name in ("smoothness", "weak_convexity"):
            non_negative(name, getattr(self, name))
        for name in ("dimension", "blocks", "rows_per_subject", "chain"):
            check_count(name, getattr(self, name))
        check_choice("form", self.form, FORMS)
        if math.frexp(self.output_noise)[0] != 0.5:
            raise InvalidParameter(
                "must be a power of two: only then is its grid exact on a machine", output_noise=self.output_noise
            )
        if (self.form == WEAKLY_CONVEX) != (self.weak_convexity > 0):
            raise InvalidParameter(f"and weak_convexity={self.weak_convexity:g} contradict each other", form=self.form)
        if self.weighting == BY_PERSON and self.form != ONE_DIRECTION:
            raise InvalidParameter("has several directions, which weights by person do not cover", form=self.form)
        if not self._least_curvature > 0:
            raise InvalidParameter(
                "is too near 0 beside the curvature of a row", strong_convexity=self.strong_convexity
            )

    @property
    def shows_start(self) -> bool:
        """Whether the solver starts from the published model, so that rounding may depend on it (`warm`)."""
        return self.warm

    @property
    def shows_order(self) -> bool:
        """Whether rounding may depend on the order of rows: True unless rows are added in a fixed order (`in_place`)."""
        return not self.in_place

    @property
    def grid(self) -> float:
        """Width h = τ/2²⁴ of the published grid."""
        return math.ldexp(self.output_noise, -GRID_BITS)

    @property
    def _least_curvature(self) -> float:
        """m, for rows of the largest allowed norm."""
        return self.strong_convexity - self.weak_convexity * (ROOM**2 - 1) * 2

    def ratios(self) -> tuple[float, float]:
        """Return ρ = β₊/(nm + β₋) and ρ₋ = β₋/(nm + β₋), one row's curvature relative to that of the other rows."""
        world = {"strong_convexity": self._least_curvature, "records": self.records}
        weak = {"weak_convexity": self.weak_convexity * ROOM**2}
        below = bounds.curvature_ratio(smoothness=self.weak_convexity * ROOM**2, **weak, **world)
        return bounds.curvature_ratio(smoothness=self.smoothness * ROOM**2, **weak, **world), below

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        if steps_without:
            return self._erased()
        curve = self.curve(worlds)
        if self.weighting == BY_PERSON:  # rows of changing weights curve both ways: the Rényi curve does not cover them
            mu = math.inf if curve.gdp_squared is None else curve.gdp_squared
            return {"gdp_squared": self.chain * mu}
        return {"curves": ((curve, float(self.chain)),)}

    def curve(self, worlds: Worlds) -> Curve:
        """Return the cost of one minimiser about a record in it: a Rényi curve, with μ² for losses of one direction.

        It holds whatever the output of the previous minimiser: the centre of the regulariser enters neither the
        difference of the gradient sums of two datasets nor their Hessians.

        Weighted by person, only μ holds. Rows join, leave or change their weight one after another, each by a w ≥ 0 with
        Σ w ≤ 1 in all; one such step has L and β times w, hence w times the μ of a row, and the μ of the steps add up.
        """
        ratio, below = self.ratios()
        delta = worlds.sensitivity(self.lipschitz * ROOM, self.charged_rows)
        spread = bounds.rounded_solution_distance(**self._ball())
        inexact = bounds.inexact_rate(spread=spread, output_noise=self.output_noise)
        mu = math.inf
        if self.form == ONE_DIRECTION:
            exact = bounds.gdp(
                lipschitz=self.lipschitz * ROOM / math.sqrt(self.blocks),
                noise=self.linear_term,
                ratio=ratio,
                rows=self.charged_rows,
                worlds=2 if worlds.between_records else 1,
                blocks=self.blocks,
            )
            mu = math.hypot(exact, self._inexact_gdp(spread)) * (1 + 4 * UNIT)
        return Curve(
            rate=(delta**2 / (2 * self.linear_term**2) + inexact) * (1 + 8 * UNIT),
            form=self.form,
            between_records=worlds.between_records,
            ratio=ratio,
            below=below,
            rows=self.rows_per_subject,
            blocks=self.blocks,
            gdp_squared=mu**2 if mu < math.inf else None,
        )

    def _erased(self) -> Cost:
        """Return the cost of a hidden start, or of another order of the same rows, for any two datasets.

        Both runs stop in the ball around the exact minimiser, at opposite ends in the worst case: a run that never held
        the record is no nearer to the minimiser than one that did.
        """
        if not self.warm and self.in_place:
            return {}
        return {
            "gdp_squared": self.chain
            * self._inexact_gdp(bounds.rounded_solution_distance(**self._ball())) ** 2
            * (1 + 4 * UNIT)
        }

    def _ball(self) -> dict[str, Any]:
        return {
            "gradient_tolerance": self.gradient_tolerance,
            "strong_convexity": self._least_curvature,
            "grid": self.grid,
            "dimension": self.dimension,
        }

    def _inexact_gdp(self, spread: float) -> float:
        return bounds.inexact_gdp(spread=spread, output_noise=self.output_noise, grid=self.grid)

    def conditions(self) -> tuple[Condition, ...]:
        """Return the inherited conditions, bounded gradients, the solver's tolerance γ and what exactness requires.

        Those are: unseen solving time, exact noise and a trusted machine; the row shape if `shaped`; and rows added in
        an order set by their contents if `in_place`.
        """
        own = {"method": self.method}
        return (
            *bounded_gradients(self.lipschitz, proven=self.proven),
            *super().conditions(),
            *((("row-shape", own),) if self.shaped else ()),
            *((("rows-in-place", own),) if self.in_place else ()),
            ("solver-tolerance", {**own, "tolerance": self.gradient_tolerance}),
            ("time-unseen", own),
            ("exact-noise", own),
            ("machine-trusted", {}),
        )


# --- perturbed noise ---
#
# Noise and solver tolerance of objective perturbation, from public numbers only.


_INEXACT_SHARE = 0.01  # share of the dp budget that the solver's tolerance may cost
_OUTPUT_SHARE = 0.02  # share of the excess risk that the output noise may add
_ROUNDING_ROOM = 10  # γ is at least this many times the rounding of a measured gradient
_MOST_WIDENING = 4  # maximum number of doublings of τ for that
_UNUSUAL = 9.0  # ‖b‖ > s(√d + 9) once in 10¹⁸ draws


def form_of(problem: Problem) -> str:
    """Return how one row's loss curves: the loss's own form in `FORMS`, or "weakly convex" if it is not convex."""
    return problem.loss.curving if problem.loss.constants.convex else WEAKLY_CONVEX


def row_facts(problem: Problem) -> dict[str, Any]:
    """Return the fields of `ObjectivePerturbationRun` that the problem determines.

    They describe one row and the objective. The noises s and τ, γ and the fields of the method's options are missing.
    """
    constants = problem.loss.constants
    return {
        "records": problem.records,
        "row_norm": problem.loss.radius,
        "strong_convexity": problem.strong_convexity,
        "lipschitz": constants.lipschitz,
        "smoothness": constants.smoothness,
        "weak_convexity": constants.weak_convexity,
        "form": form_of(problem),
        "blocks": problem.loss.blocks,
        "dimension": problem.dimension,
        "rows_per_subject": problem.rows_per_subject,
        "weighting": problem.weighting,
        "proven": constants.proven,
        "shaped": problem.noise_shape is not None,
    }


def _trial_run(problem: Problem) -> ObjectivePerturbationRun:
    """Return a run with noise 1: its curve has the Hessian cost and ρ of every run of the problem."""
    return ObjectivePerturbationRun(**row_facts(problem), linear_term=1.0, output_noise=1.0, gradient_tolerance=1.0)


def inexact_share(problem: Problem, *, charged: bool, chain: int = 1) -> float:
    """Return the Rényi rate ε_q/q that the solver's tolerance may cost per minimiser of a release.

    0.01 · μ_dp²/(2 · releases · chain); if `charged`, at most μ_dd²/(2 · chain), with μ of the budgets for present and
    for erased records.

    Args:
        problem: The planning problem.
        charged: Whether a deletion is charged for the tolerance.
        chain: Number of minimisers of a release.
    """
    allowed = _INEXACT_SHARE * problem.budget.dp_gdp() ** 2 / 2 / problem.releases / chain
    if not charged:
        return allowed
    deletion = problem.budget.deletion_gdp() * (1 - 1e-9) / math.sqrt(chain)
    return min(allowed, deletion**2 / 2)


def least_noise(problem: Problem, inexact_rate: float, chain: int = 1) -> float:
    """Return the least s at which all releases meet the dp budget; infinity if no s does.

    It is the smaller one of two proofs: in Gaussian DP, for losses of one direction only, and by the Rényi curve, for
    budgets other than a μ.

    Args:
        problem: The planning problem.
        inexact_rate: Rényi rate of the solver's tolerance, from `inexact_share`.
        chain: Number of minimisers of a release.
    """
    budget, releases, trial = problem.budget, problem.releases * chain, _trial_run(problem)
    curve, least = trial.curve(problem.adjacency), math.inf
    constants, rows, blocks = problem.loss.constants, problem.charged_rows, problem.loss.blocks
    delta = problem.adjacency.sensitivity(constants.lipschitz * ROOM, rows)
    if trial.form == ONE_DIRECTION:
        least = renyi.noise_for_gdp(
            gdp=budget.dp_gdp(),
            lipschitz=constants.lipschitz * ROOM / math.sqrt(blocks),
            ratio=curve.ratio,
            rows=rows,
            worlds=2 if problem.adjacency.between_records else 1,
            blocks=blocks,
            inexact_gdp=math.sqrt(2 * inexact_rate) * (1 + 1e-11),
            releases=releases,
        )
    if problem.by_person:
        return least  # the Rényi curve does not cover it
    if budget.measure is Measures.RENYI:
        assert budget.order is not None
        by_order = renyi.noise_for_renyi(
            order=budget.order,
            budget=budget.dp / releases,
            sensitivity=delta,
            hessian=curve.hessian(budget.order),
            inexact_rate=inexact_rate,
        )
        return min(least, by_order)
    if budget.measure is Measures.GDP:
        return least
    assert budget.dp_delta is not None
    if least < math.inf:  # one conversion decides whether the other proof may need less, before a search
        rate = releases * (delta**2 / (2 * least**2) + inexact_rate)
        spent = Guarantee(
            "dp", problem.adjacency, rate=rate, curves=((replace(curve, rate=0.0, gdp_squared=None), releases),)
        )
        if spent.epsilon(budget.dp_delta) > budget.dp:
            return least
    by_curve = renyi.noise_for_epsilon_delta(
        epsilon=budget.dp,
        delta=budget.dp_delta,
        sensitivity=delta,
        hessian=curve.hessian,
        highest_order=curve.highest_order,
        inexact_rate=inexact_rate,
        releases=releases,
    )
    return min(least, by_curve)


def output_of(problem: Problem, noise: float, inexact_rate: float, chain: int = 1) -> tuple[float, float]:
    """Return (τ, γ): the output noise, a power of two, and the solver's tolerance on the gradient norm.

    τ may add a fiftieth of the excess risk, and is doubled up to four times until γ is at least ten times the rounding
    of a measured gradient.

    Args:
        problem: The planning problem.
        noise: s.
        inexact_rate: Rényi rate that γ may cost, from `inexact_share`.
        chain: Number of minimisers of a release.

    Raises:
        InvalidParameter: If the budgets leave the solver a tolerance below its rounding error.
    """
    wanted = bounds.output_noise(
        share=_OUTPUT_SHARE,
        noise=noise,
        records=problem.records,
        dimension=problem.dimension,
        hessian_trace=problem.hessian_trace,
    )
    exponent = math.frexp(wanted)[1] - 1
    least = _ROUNDING_ROOM * rounding_of_gradient(problem, noise, chain)
    for wider in range(_MOST_WIDENING + 1):
        output_noise = math.ldexp(1.0, exponent + wider)
        tolerance = bounds.tolerance_for(
            rate=inexact_rate,
            output_noise=output_noise,
            strong_convexity=_trial_run(problem)._least_curvature,
            grid=math.ldexp(output_noise, -GRID_BITS),
            dimension=problem.dimension,
        )
        if tolerance >= least:
            return output_noise, tolerance
    raise InvalidParameter(
        f"the budgets leave the solver a tolerance of {tolerance:.3g} on the gradient, and its rounding needs "
        f"{least:.3g}: raise the deletion budget, or use solver 'cold', which forgets exactly; or raise λ"
    )


def rounding_of_gradient(problem: Problem, noise: float, chain: int = 1) -> float:
    """Return a bound on the rounding error of a measured gradient with b, up to twice as far out as a minimiser.

    A stage ends within (L + ‖b‖/n)/λ of the previous stage's end, where it begins.

    Args:
        problem: The planning problem.
        noise: s.
        chain: Number of minimisers of a release.
    """
    constants, pull = problem.loss.constants, linear_term_bound(problem, noise)
    longest = (constants.lipschitz + pull) / problem.regularization
    return 2.0**-40 * pull + gradient_error(
        lipschitz=constants.lipschitz,
        curvature=constants.curvature,
        outputs=problem.loss.outputs,
        records=problem.records,
        features=problem.features,
        regularization=problem.regularization,
        weights_norm=2 * min(longest, minimizer_norm_bound(problem, pull)) + 2 * (chain - 1) * 2 * longest,
    )


def minimizer_norm_bound(problem: Problem, pull: float) -> float:
    """Return a bound on the norm of a minimiser: the r of λr²/2 = r‖b‖/n + the gap of the loss at 0.

    It holds because a minimiser is no worse than 0. Far less than (L + ‖b‖/n)/λ for small λ; infinite if nothing public
    bounds the gap.

    Args:
        problem: The planning problem.
        pull: ‖b‖/n.
    """
    gap, regularization = problem.loss.gap_at_zero, problem.regularization
    return (pull + math.sqrt(pull**2 + 2 * regularization * gap)) / regularization


def linear_term_bound(problem: Problem, noise: float) -> float:
    """Return a bound on ‖b‖/n, in units of the mean gradient, that fails once in 10¹⁸ draws.

    Args:
        problem: The planning problem, for n, d and the shape of b.
        noise: s.
    """
    widest = math.sqrt(max(problem.noise_shape or (1.0,)))
    return noise * (math.sqrt(problem.noise_trace) + _UNUSUAL * widest) / problem.records


_CHAIN, _CLIPPED = 3, 0.6  # chosen on Adult
_RAISED = 1.15  # factor by which a chain raises λ per attempt
# attempts: for classes up to twice λ, beyond which three are forecast no better than one; for a target up to three times
# λ (chosen on six tables of benchmarks/regression.py)
_TRIED = {"binary": 6, "target": 12}


@dataclass(frozen=True)
class ObjectivePerturbation(Method):
    """s from the better of two proofs, τ from its share of the excess risk, γ from its share of the budget.

    Attributes:
        solver: "warm" starts a request from the published model; "cold" from 0, so that a deleted record leaves exactly
            nothing; "fixed" also takes a number of passes that no record can change.
        chain: Number of consecutive minimisers, all recomputed at every release. Each after the first is regularised
            towards the previous one instead of 0, so that λ shrinks the model less. Each has its share of the budgets.
        in_place: Whether rows are added in an order determined by their contents, which rows of a source or a cluster
            need not have. If not, what rounding may reveal of their order is charged, and a deletion does not leave
            exactly nothing.
    """

    name: ClassVar[str] = "objective-perturbation"
    summary: ClassVar[str] = (
        "objective perturbation: minimise under a random linear term; few passes, exact on a machine"
    )
    proof: ClassVar[str] = PROOFS[1]  # the constant m̄ of its Gaussian-DP bound
    weighs_persons: ClassVar[bool] = True

    solver: str = "warm"
    in_place: bool = True
    chain: int = 1

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        check_count("chain", self.chain, maximum=MOST_STAGES)

    def covers_weights(self, loss: losses.Loss) -> bool:
        """Return whether the loss is convex with one gradient direction per row: only then is there a μ."""
        return super().covers_weights(loss) and loss.curving == ONE_DIRECTION

    def check_any_order(self, problem: Problem, instead: str) -> None:
        """Check that the loss is covered.

        Every release starts afresh, and the solver's bound covers sums in any order.

        Raises:
            AssumptionViolated: If the loss has no known directions per row.
        """
        _check_curving(problem.loss)

    def allow_any_order(self) -> ObjectivePerturbation:
        """Return a copy with in_place=False, which charges what row order may reveal through rounding."""
        return replace(self, in_place=False)

    @property
    def _leaves_a_trace(self) -> bool:
        return self.solver == "warm" or not self.in_place

    def plan(self, problem: Problem) -> Plan:
        """Return the plan with the least s, then τ and γ, checked against both budgets with all releases counted.

        Raises:
            InvalidParameter: If the budgets leave the solver too small a tolerance, or a Gaussian-DP budget is not
                covered.
            AssumptionViolated: If the loss, λ or the rows per data subject are not covered (`check_covered`).
            PlanInfeasible: If no s meets the budget.
        """
        check_covered(problem)
        inexact = inexact_share(problem, charged=self._leaves_a_trace, chain=self.chain)
        noise = least_noise(problem, inexact, self.chain)
        if not noise < math.inf:
            raise _infeasible_error(problem, inexact)
        plan = self._complete(problem, noise, inexact)
        for attempt in range(60):  # the search result is certified up to rounding, which is checked here
            if problem.budget.affords(plan.dp_observed()) and problem.budget.affords(plan.deletion):
                return plan
            noise *= 1 + 2.0 ** (attempt - 52)
            plan = self._complete(problem, noise, inexact * (1 - 2.0 ** (attempt - 52)))
        raise PlanInfeasible(
            f"no noise keeps {problem.releases} releases and a deletion within {problem.budget.describe()}; raise the budget",
            plan=plan,
        )

    def complete(self, problem: Problem, noise: float) -> Plan:
        """Return the plan with s = `noise`, and τ and γ by `output_of`, whether or not it meets the budget."""
        inexact = inexact_share(problem, charged=self._leaves_a_trace, chain=self.chain)
        return self._complete(problem, noise, inexact)

    def _complete(self, problem: Problem, noise: float, inexact: float) -> Plan:
        output_noise, tolerance = output_of(problem, noise, inexact, self.chain)
        passes = self.chain * solver_passes(problem, self.solver, tolerance, pull=linear_term_bound(problem, noise))
        numbers = Calibration(
            gradient_tolerance=tolerance,
            learn_solver_passes=passes,
            delete_solver_passes=passes,
            linear_term=noise,
            output_noise=output_noise,
        )
        return self.assemble(problem, numbers)

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan in which learns and requests solve for the perturbed minimiser and take no noisy step."""
        start = procedure.Minimizer(numbers.gradient_tolerance, self.solver, self.chain)
        return Plan.of(problem, self.run(problem, numbers), numbers, learning=start, serving=start)

    def run(self, problem: Problem, numbers: Calibration) -> ObjectivePerturbationRun:
        """Return the mechanism of a release with the numbers' s, τ and γ and the method's options."""
        facts: dict[str, Any] = {
            "linear_term": numbers.linear_term,
            "output_noise": numbers.output_noise,
            "gradient_tolerance": numbers.gradient_tolerance,
        }
        own: dict[str, Any] = {"warm": self.solver == "warm", "in_place": self.in_place, "chain": self.chain}
        return ObjectivePerturbationRun(**facts, **row_facts(problem), **own)

    def check_plan(self, plan: Plan) -> None:
        """Check `Method.check_plan`, `check_covered`, and that γ is at least the rounding of a measured gradient.

        Raises:
            InvalidParameter: If γ is smaller, or the budget is not covered.
            AssumptionViolated: If the problem is not covered.
        """
        super().check_plan(plan)
        check_covered(plan.problem)
        least = rounding_of_gradient(plan.problem, plan.calibration.linear_term, self.chain)
        if not plan.calibration.gradient_tolerance >= least:
            raise InvalidParameter(
                f"is below {least:g}, the rounding of a gradient in float64",
                gradient_tolerance=plan.calibration.gradient_tolerance,
            )

    def outlook(self, plan: Plan) -> Prospects:
        """Return the bound, forecast and deviation of a release.

        For a chain the bound is on the loss without the regulariser, relative to the minimum of the loss with it: a
        stage raises the former by no more than its own noise costs, since it could have stayed where it began.

        The forecast omits the solver's part: directions in which the data curve the objective cost less. For a chain it
        is that of one minimiser with the whole budget: in curved directions the later minimisers undo the noise of the
        earlier ones as they undo the regulariser.

        Weights deviate by s/(nm), for the widest column of a shaped noise, and by τ, for each minimiser; the next
        passes it on times at most λ/m.
        """
        from .forecast import Prospects

        facts, convexity = _risk_facts(plan), plan.problem.strong_convexity
        bound = self.chain * bounds.excess_risk(**facts, gradient_tolerance=plan.calibration.gradient_tolerance)
        forecast = bounds.excess_risk(**{**facts, "noise": facts["noise"] / math.sqrt(self.chain)})
        widest = math.sqrt(max(plan.learning.shape or (1.0,)))
        stage = plan.calibration.linear_term * widest / (plan.problem.records * convexity)
        handed_on = math.fsum((plan.problem.regularization / convexity) ** (2 * stages) for stages in range(self.chain))
        return Prospects(bound, forecast, math.sqrt(handed_on) * math.hypot(stage, plan.calibration.output_noise))

    def words(self, plan: Plan) -> tuple[str, ...]:
        """Return three paragraphs: the perturbation s, the solver's γ and passes, and the exact output noise τ."""
        return (_explain_perturbation(plan), _explain_solver(plan, self), _explain_exactness(plan))


def chain_plan(plan: Plan) -> Plan | None:
    """Return a plan of three consecutive minimisers within the same budgets; None if none is worthwhile.

    Slopes are clipped at 0.6 of their bound unless the loss already clips. λ is the first of six values (twelve for a
    target), each 1.15 times the one before, at which κ ≤ 1/4 in each stage, beyond which the noise of three grows faster
    than by √3; it is at least the requested λ.

    None if no such λ has a plan, and unless the plan is by objective perturbation with one minimiser, its λ was raised
    by the forecast's ridge, and its loss is of two classes or of a target with one direction per row; a chain pays off
    only where that λ shrinks the model.
    """
    problem, lipschitz, alone = plan.problem, plan.problem.loss.constants.lipschitz, plan.method
    requested = problem.requested_regularization
    if not isinstance(alone, ObjectivePerturbation) or alone.chain > 1 or requested is None:
        return None
    attempts = _TRIED.get(problem.loss.label_kind, 0)
    if form_of(problem) != ONE_DIRECTION:
        return None
    loss = problem.loss if problem.loss.loss_of_fit > 1 else losses.clip_loss(problem.loss, _CLIPPED * lipschitz)
    least = loss.constants.lipschitz / lipschitz * problem.regularization
    method = replace(alone, chain=_CHAIN)
    for tried in range(attempts):
        ridge = max(requested, float(f"{least * _RAISED**tried:.3g}"))
        try:
            found = method.plan(replace(problem, loss=loss, regularization=ridge, method=method))
        except (NoisyGDDeleteError, ArithmeticError):
            continue
        facts = found.mechanism
        assert isinstance(facts, ObjectivePerturbationRun)
        if facts.ratios()[0] * found.calibration.linear_term <= bounds.LARGEST_KAPPA * loss.constants.lipschitz:
            return found
    return None


def check_covered(problem: Problem) -> None:
    """Check that objective perturbation is proven for the problem.

    Raises:
        AssumptionViolated: If λ is not above the weak convexity β₋, if the loss is not convex and a data subject has
            several rows, or if the loss is not covered.
        InvalidParameter: If a Gaussian-DP budget is given, unless the loss is convex with one gradient direction per
            row; other losses have a Rényi curve only.
    """
    loss, constants = problem.loss, problem.loss.constants
    _check_curving(loss)
    if not problem.strong_convexity > 0:
        raise AssumptionViolated(
            f"λ={problem.regularization:g} must exceed the weak convexity β₋={constants.weak_convexity:g} of the {loss.name} loss: only "
            "then is there one minimiser, with a density"
        )
    if not constants.convex and problem.rows_per_subject > 1:
        raise AssumptionViolated(
            f"is more than one: for the {loss.name} loss, which is not convex, method "
            "'objective-perturbation' is proven for one row per data subject; use method 'noisy-gd', or a convex loss",
            rows_per_subject=problem.rows_per_subject,
        )
    if problem.budget.measure is Measures.GDP and form_of(problem) != ONE_DIRECTION:
        raise InvalidParameter(
            f"a Gaussian-DP budget needs a convex loss with one gradient direction per row, not {loss.name}: method "
            "'objective-perturbation' has a Rényi curve for it. Give the budget as (q, ε) or (ε, δ)"
        )


def _check_curving(loss: losses.Loss) -> None:
    if not loss.curving:
        raise AssumptionViolated(
            "is proven for losses of one or of several known directions per row (logistic, softmax, one-vs-rest, "
            f"pseudo-Huber, linear, clipped, sigmoid), not for {loss.name}; use method 'noisy-gd' or 'noisy-gd:analysis=composition'",
            method="objective-perturbation",
        )


def _risk_facts(plan: Plan) -> dict[str, float]:
    return {
        "dimension": plan.problem.noise_trace,
        "noise": plan.calibration.linear_term,
        "strong_convexity": plan.problem.strong_convexity,
        "records": plan.problem.records,
        "output_noise": plan.calibration.output_noise * (1 + 2.0**-10),  # the grid's rounding included
        "hessian_trace": plan.problem.hessian_trace,
    }


def _infeasible_error(problem: Problem, inexact_rate: float) -> PlanInfeasible:
    for factor in (2.0**k for k in range(1, 31)):
        other = replace(problem, regularization=problem.regularization * factor)
        if least_noise(other, inexact_rate) < math.inf:
            way = f"λ={other.regularization:.3g}"
            break
    else:
        way = "a larger dp budget"
    return PlanInfeasible(
        f"cannot keep {problem.budget.describe()} at λ={problem.regularization:g}, n={problem.records}: how one "
        f"row bends the objective costs more than the budget, whatever the noise. {way} suffices; or use method "
        "'noisy-gd'",
        method="objective-perturbation",
        alternatives=(way, "method 'noisy-gd'"),
    )


def _explain_perturbation(plan: Plan) -> str:
    problem = plan.problem
    curve = plan.mechanism.curve(problem.adjacency)  # type: ignore[attr-defined]
    order = problem.budget.order
    bent = (
        ""
        if order is None
        else f" Of ε_dp, {format_bound(curve.hessian(order))} pays for how a row bends the objective."
    )
    shape = (
        ""
        if plan.learning.shape is None
        else f" Its variance follows the schema's one-hot blocks, {problem.noise_trace:.4g} s² in all where the same protection without a "
        f"shape takes {problem.dimension} s²; every row is checked to be no longer in that shape."
    )
    return (
        f"Perturbing: every release minimises the objective plus ⟨b, θ⟩/n, b fresh Gaussian noise of standard deviation "
        f"s={plan.calibration.linear_term:.6g} per weight in units of the gradient sum, where one record moves it by at most "
        f"Δ={problem.sensitivity(problem.adjacency):g}: halving ε multiplies s by √2.{bent}{shape} Directions in which the data curve "
        f"the objective feel the noise least. Expected cost in regularised loss: at most {plan.outlook.excess_risk:.3g}."
    )


def _explain_solver(plan: Plan, method: ObjectivePerturbation) -> str:
    solver, nothing = method.solver, "a deleted record leaves exactly nothing"
    if not method.in_place:
        nothing = "what is left of a deleted record is what the rounding of sums in another order may tell"
    kind = {
        "warm": "starting a request from the published model",
        "cold": f"always starting from 0, so that {nothing}",
        "fixed": f"always from 0, so that {nothing}, in a number of passes fixed in advance, which tells nothing of it",
    }[solver]
    expected = "exactly" if solver == "fixed" else "a forecast of"
    slow = "" if solver == "fixed" else " How long the solver takes depends on the data; the fixed solver avoids it."
    many = (
        ""
        if method.chain == 1
        else f"{method.chain} times in a row, each after the first with a regulariser towards the previous model instead of "
        "0, with fresh noise of that size and an equal share of the budgets; what is between them is charged as if published, and dropped: "
    )
    return (
        f"Solving: {many}to gradient norm γ={plan.calibration.gradient_tolerance:.3g}, {kind}: {expected} {plan.calibration.delete_solver_passes} gradient passes. "
        f"Nothing has to be forgotten after that. Each release is a fresh publication at the full dp cost.{slow}"
    )


def _explain_exactness(plan: Plan) -> str:
    return (
        f"Publishing: the answer is rounded to a public grid of step τ/2^{GRID_BITS}, and an exact discrete Gaussian of τ={plan.calibration.output_noise:.3g} "
        "is added in integer arithmetic. The rounding of b and of the measured gradient is inside γ, so the bounds are theorems "
        "about what the machine computes; what is trusted is named with every guarantee."
    )
