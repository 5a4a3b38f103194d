"""Objective perturbation: every release is the minimiser of the current objective under a fresh random linear term.

    b ~ N(0, s² I);   θ̃ with ‖∇L_D(θ̃) + b/n‖ ≤ γ;   published: θ̃ rounded to a public grid, plus an exact discrete Gaussian (τ) on it

Nothing is carried from one release to the next, so there is nothing to forget: an erased record shows in nothing but where,
within γ, a solver stopped that began at the model published before. Every rounding is inside γ or on the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..bounds import objective_perturbation as tilt
from ..bounds import objective_perturbation_gdp as flow
from ..bounds import order_curve
from ..bounds.arithmetic import GRID_BITS, NORM_TOLERANCE, gradient_error
from ..bounds.conversion import best_order, renyi_epsilon
from ..bounds.rounding import UNIT
from ..bounds.solver_steps import proven_steps
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, choice, count, non_negative, positive
from ..privacy.budget import Measures
from ..privacy.curve import FORMS, ONE_DIRECTION, WEAKLY_CONVEX, Curve
from ..privacy.guarantee import Guarantee
from ..privacy.shown import shown
from ..privacy.worlds import Worlds
from . import procedure
from .base import Cost, Mechanism, Method
from .calibration import published_together
from .minimiser import SOLVERS, forecast_passes
from .plan import Plan
from .problem import Problem

ROOM = (
    1 + 2 * NORM_TOLERANCE
)  # rows may be R(1 + NORM_TOLERANCE) long, and constants are rounded; squared for curvatures

_INEXACT_SHARE = 0.01  # of the dp budget: what the solver's tolerance may cost
_OUTPUT_SHARE = 0.02  # of the excess risk: what the noise on the output may add
_ROUNDING_ROOM = 10  # γ is at least this many times the rounding of a measured gradient
_MOST_WIDENING = 4  # how far τ may grow for that, in doublings
_UNUSUAL = 9.0  # ‖b‖ > s(√d + 9) once in 10¹⁸ draws


@dataclass(frozen=True, kw_only=True)
class PerturbedRun(Mechanism):
    """Public facts of one release.

    linear_term         s: standard deviation of b per coordinate, in units of the gradient sum
    output_noise        τ, a power of two; the grid has step τ/2²⁴
    gradient_tolerance  γ: the true gradient at the solver's answer, with the ideal b, is no longer than this
    strong_convexity    m = λ − β₋ of the objective
    lipschitz, smoothness, weak_convexity, form, blocks   L, β₊, β₋ of one row's loss, how it curves, and of how many models it
                        is the sum
    dimension           d
    rows_per_subject    rows of one data subject that count as one record
    warm                whether the solver of a request starts from the published model
    """

    method: ClassVar[str] = "perturbed"
    source: ClassVar[str] = (
        "objective perturbation with an exact discrete Gaussian on the output (tilted densities in Rényi DP; a flow of "
        "densities in Gaussian DP)"
    )
    fresh: ClassVar[bool] = True

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

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("linear_term", "output_noise", "gradient_tolerance", "strong_convexity", "lipschitz"):
            positive(name, getattr(self, name))
        for name in ("smoothness", "weak_convexity"):
            non_negative(name, getattr(self, name))
        for name in ("dimension", "blocks", "rows_per_subject"):
            count(name, getattr(self, name))
        choice("form", self.form, FORMS)
        if math.frexp(self.output_noise)[0] != 0.5:
            raise InvalidParameter(
                f"output_noise={self.output_noise!r} must be a power of two: only then is its grid exact on a machine"
            )
        if (self.form == WEAKLY_CONVEX) != (self.weak_convexity > 0):
            raise InvalidParameter(
                f"form={self.form!r} and weak_convexity={self.weak_convexity:g} contradict each other"
            )
        if not self._least_curvature > 0:
            raise InvalidParameter(
                f"strong_convexity={self.strong_convexity:g} is too near 0 beside the curvature of a row"
            )

    @property
    def shows_start(self) -> bool:
        return self.warm

    @property
    def rows(self) -> int:
        return self.rows_per_subject

    @property
    def grid(self) -> float:
        """h = τ/2²⁴."""
        return math.ldexp(self.output_noise, -GRID_BITS)

    @property
    def _least_curvature(self) -> float:
        """m, for rows as long as they may be."""
        return self.strong_convexity - self.weak_convexity * (ROOM**2 - 1) * 2

    def exposure(self, steps: int) -> int:
        return 1

    def check_steps(self, steps: int) -> None:
        if steps:
            raise InvalidParameter(
                f"steps={steps}: a release by {self.method!r} has no noisy steps; its noise is drawn at once"
            )

    def ratios(self) -> tuple[float, float]:
        """ρ and ρ₋ of one row."""
        world = {"strong_convexity": self._least_curvature, "records": self.records}
        weak = {"weak_convexity": self.weak_convexity * ROOM**2}
        below = tilt.curvature_ratio(smoothness=self.weak_convexity * ROOM**2, **weak, **world)
        return tilt.curvature_ratio(smoothness=self.smoothness * ROOM**2, **weak, **world), below

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        return self._erased(worlds) if steps_without else {"curves": ((self.curve(worlds), 1.0),)}

    def curve(self, worlds: Worlds) -> Curve:
        """One release about a record that is in it."""
        ratio, below = self.ratios()
        delta = worlds.sensitivity(self.lipschitz * ROOM, self.rows)
        spread = flow.spread(**self._ball())
        inexact = flow.inexact_rate(spread=spread, output_noise=self.output_noise)
        mu = math.inf
        if self.form == ONE_DIRECTION:
            exact = flow.gdp(
                lipschitz=self.lipschitz * ROOM / math.sqrt(self.blocks),
                noise=self.linear_term,
                ratio=ratio,
                rows=self.rows,
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
            rows=self.rows,
            blocks=self.blocks,
            gdp_squared=mu**2 if mu < math.inf else None,
        )

    def _erased(self, worlds: Worlds) -> Cost:
        """What a hidden start leaves: against a law that never saw the record, one ball about the exact minimiser; between
        two records, two."""
        if not self.warm:
            return {}
        apart = flow.spread if worlds.between_records else flow.deletion_spread
        return {"gdp_squared": self._inexact_gdp(apart(**self._ball())) ** 2 * (1 + 4 * UNIT)}

    def _ball(self) -> dict[str, Any]:
        return {
            "gradient_tolerance": self.gradient_tolerance,
            "strong_convexity": self._least_curvature,
            "grid": self.grid,
            "dimension": self.dimension,
        }

    def _inexact_gdp(self, spread: float) -> float:
        return flow.inexact_gdp(spread=spread, output_noise=self.output_noise, grid=self.grid)

    def noisy_step(self, worlds: Worlds) -> tuple[float, float]:
        """A Gaussian mechanism with the same μ is at least as easy to tell apart."""
        squared = self.curve(worlds).gdp_squared
        if squared is None:
            raise InvalidParameter(
                f"a release by {self.method!r} under these facts has a Rényi curve but no μ; it has no such export"
            )
        return 1 / math.sqrt(squared), 1.0

    def _assumptions(self) -> tuple[str, ...]:
        constants = "proven" if self.proven else "declared by the user, not proven"
        return (
            f"every record's loss has gradient norm at most {self.lipschitz:g} ({constants})",
            f"n={self.records} slots is public and fixed",
            f"the gradient at the solver's answer, measured in double precision, is at most {self.gradient_tolerance:.3g} with the "
            "rounding of the gradient and of the random linear term included; the solver's running time is not observed",
            f"the last noise is an exact discrete Gaussian on a public grid of step {self.grid:.3g}, drawn in integer arithmetic: "
            "nothing here holds over the real numbers alone",
            "trusted: random numbers of the operating system, that ChaCha20 makes random bits of them, and that the processor and its "
            "elementary functions are as exact as they state",
        )


@dataclass(frozen=True)
class Perturbed(Method):
    """s from the budget by the better of two proofs, τ from its share of the excess risk, γ from its share of the budget.

    solver  "warm" starts a request from the published model; "cold" from 0, so that a deleted record leaves exactly
            nothing; "fixed" also takes a number of passes that no record can change
    """

    name: ClassVar[str] = "perturbed"
    summary: ClassVar[str] = (
        "objective perturbation: minimise under a random linear term; few passes, exact on a machine"
    )

    solver: str = "warm"

    def __post_init__(self) -> None:
        choice("solver", self.solver, SOLVERS)

    @property
    def passes_depend_on_data(self) -> bool:
        return self.solver != "fixed"

    def plan(self, problem: Problem) -> Plan:
        _check_covered(problem)
        inexact = _inexact_rate(problem, warm=self.solver == "warm")
        noise = least_noise(problem, inexact)
        if not noise < math.inf:
            raise _infeasible(problem, inexact)
        plan = self._complete(problem, noise, inexact)
        for attempt in range(60):  # what was searched is what is certified but for rounding, and here it is checked
            if problem.budget.affords(published_together(plan)) and problem.budget.affords(plan.deletion):
                return plan
            noise *= 1 + 2.0 ** (attempt - 52)
            plan = self._complete(problem, noise, inexact * (1 - 2.0 ** (attempt - 52)))
        raise PlanInfeasible(
            f"no noise keeps {problem.releases} releases and a deletion within {problem.budget.describe()}; raise the budget",
            plan=plan,
        )

    def _complete(self, problem: Problem, noise: float, inexact: float) -> Plan:
        output_noise, tolerance = _output(problem, noise, inexact)
        passes = forecast_passes(problem)
        if self.solver == "fixed":
            passes = _proven_passes(problem, noise, tolerance)
        return Plan(
            problem=problem,
            step_size=0.0,
            noise_variance=0.0,
            init_variance=0.0,
            learn_steps=0,
            delete_steps_for_deletion=0,
            delete_steps_for_utility=0,
            gradient_tolerance=tolerance,
            learn_solver_passes=passes,
            delete_solver_passes=passes,
            linear_term=noise,
            output_noise=output_noise,
        )

    def mechanism(self, plan: Plan) -> PerturbedRun:
        facts: dict[str, Any] = {
            "linear_term": plan.linear_term,
            "output_noise": plan.output_noise,
            "gradient_tolerance": plan.gradient_tolerance,
        }
        return PerturbedRun(**facts, **_row(plan.problem), warm=self.solver == "warm")

    def start(self, plan: Plan, *, learning: bool) -> procedure.Start:
        return procedure.Solved(plan.gradient_tolerance, self.solver)

    def allowed(self, plan: Plan) -> Guarantee:
        """In Gaussian DP where that is how the releases fit, else at the one order at which they fit best."""
        nothing = plan.mechanism.interval("dp", plan.problem.adjacency, steps_with=0)
        budget, together = plan.budget, published_together(plan)
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

    def excess_risk(self, plan: Plan) -> float:
        return tilt.excess_risk(**_risk_facts(plan), gradient_tolerance=plan.gradient_tolerance)

    def forecast(self, plan: Plan) -> float:
        """The bound without the solver's part: directions in which the data curve the objective cost less."""
        return tilt.excess_risk(**_risk_facts(plan))

    def noise(self, plan: Plan) -> str:
        return f"s={plan.linear_term:.6g}, τ={plan.output_noise:.6g}"

    def words(self, plan: Plan) -> tuple[str, ...]:
        return (_perturbing(plan), _solving(plan, self.solver), _exactly(plan))


def _check_covered(problem: Problem) -> None:
    loss, constants = problem.loss, problem.loss.constants
    if not loss.curving:
        raise AssumptionViolated(
            f"method='perturbed' is proven for losses of one or of several known directions per row (logistic, softmax, one-vs-rest, "
            f"pseudo-Huber, linear, clipped, sigmoid), not for {loss.name}; use method='sharp' or 'composition'"
        )
    if not problem.strong_convexity > 0:
        raise AssumptionViolated(
            f"λ={problem.regularization:g} must exceed the weak convexity β₋={constants.weak_convexity:g} of the {loss.name} loss: only "
            "then is there one minimiser, with a density"
        )
    if not constants.convex and problem.rows_per_subject > 1:
        raise AssumptionViolated(
            f"rows_per_subject={problem.rows_per_subject}: for the {loss.name} loss, which is not convex, method='perturbed' is proven "
            "for one row per data subject; use method='sharp', or a convex loss"
        )
    if problem.budget.measure is Measures.GDP and _form(problem) != ONE_DIRECTION:
        raise InvalidParameter(
            f"a Gaussian-DP budget needs a convex loss with one gradient direction per row, not {loss.name}: method='perturbed' has a "
            "Rényi curve for it. Give the budget as (q, ε) or (ε, δ)"
        )


def _form(problem: Problem) -> str:
    return problem.loss.curving if problem.loss.constants.convex else WEAKLY_CONVEX


def _row(problem: Problem) -> dict[str, Any]:
    """What a mechanism states of one row and of the objective."""
    constants = problem.loss.constants
    return {
        "records": problem.records,
        "strong_convexity": problem.strong_convexity,
        "lipschitz": constants.lipschitz,
        "smoothness": constants.smoothness,
        "weak_convexity": constants.weak_convexity,
        "form": _form(problem),
        "blocks": problem.loss.blocks,
        "dimension": problem.dimension,
        "rows_per_subject": problem.rows_per_subject,
        "proven": constants.proven,
    }


def _trial(problem: Problem) -> PerturbedRun:
    """A run with noise 1: its curve has the Hessian cost and ρ of every run of the problem."""
    return PerturbedRun(**_row(problem), linear_term=1.0, output_noise=1.0, gradient_tolerance=1.0)


def _inexact_rate(problem: Problem, *, warm: bool) -> float:
    """What the solver's tolerance may cost per order and release: a share of the dp budget, and within the deletion budget.

    Deletion compares one ball with its centre (μ/2), or two balls where the question is x or x′ (μ).
    """
    allowed = _INEXACT_SHARE * problem.budget.dp_gdp() ** 2 / 2 / problem.releases
    if not warm:
        return allowed
    grid = math.ldexp(math.sqrt(problem.dimension), -GRID_BITS)
    deletion = problem.budget.deletion_gdp() * (1 - 1e-9)
    if not problem.deletion_notion.between_records:
        deletion = 2 * deletion - grid
    return min(allowed, max(deletion, 0.0) ** 2 / 2)


def least_noise(problem: Problem, inexact_rate: float) -> float:
    """The smaller s of the two proofs; infinite where neither fits the budget."""
    budget, releases, trial = problem.budget, problem.releases, _trial(problem)
    curve, least = trial.curve(problem.adjacency), math.inf
    constants, rows, blocks = problem.loss.constants, problem.rows_per_subject, problem.loss.blocks
    delta = problem.adjacency.sensitivity(constants.lipschitz * ROOM, rows)
    if trial.form == ONE_DIRECTION:
        least = order_curve.noise_for_gdp(
            gdp=budget.dp_gdp(),
            lipschitz=constants.lipschitz * ROOM / math.sqrt(blocks),
            ratio=curve.ratio,
            rows=rows,
            worlds=2 if problem.adjacency.between_records else 1,
            blocks=blocks,
            inexact_gdp=math.sqrt(2 * inexact_rate) * (1 + 1e-11),
            releases=releases,
        )
    if budget.measure is Measures.RENYI:
        assert budget.order is not None
        by_order = order_curve.noise_for_renyi(
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
    if least < math.inf:  # does the other proof want less? One conversion tells, before a search
        rate = releases * (delta**2 / (2 * least**2) + inexact_rate)
        spent = Guarantee(
            "dp", problem.adjacency, rate=rate, curves=((replace(curve, rate=0.0, gdp_squared=None), releases),)
        )
        if spent.epsilon(budget.dp_delta) > budget.dp:
            return least
    by_curve = order_curve.noise_for_epsilon_delta(
        epsilon=budget.dp,
        delta=budget.dp_delta,
        sensitivity=delta,
        hessian=curve.hessian,
        highest_order=curve.highest_order,
        inexact_rate=inexact_rate,
        releases=releases,
    )
    return min(least, by_curve)


def _output(problem: Problem, noise: float, inexact_rate: float) -> tuple[float, float]:
    """τ and γ: τ a power of two from its share of the excess risk, wider where γ would drown in rounding."""
    wanted = flow.output_noise(
        share=_OUTPUT_SHARE,
        noise=noise,
        records=problem.records,
        dimension=problem.dimension,
        hessian_trace=_hessian_trace(problem),
    )
    least = _ROUNDING_ROOM * _rounding(problem, noise)
    exponent = math.frexp(wanted)[1] - 1
    for wider in range(_MOST_WIDENING + 1):
        output_noise = math.ldexp(1.0, exponent + wider)
        tolerance = flow.tolerance_for(
            rate=inexact_rate,
            output_noise=output_noise,
            strong_convexity=_trial(problem)._least_curvature,
            grid=math.ldexp(output_noise, -GRID_BITS),
            dimension=problem.dimension,
        )
        if tolerance >= least:
            return output_noise, tolerance
    raise InvalidParameter(
        f"the budgets leave the solver a tolerance of {tolerance:.3g} on the gradient, and its rounding needs {least:.3g}: raise the "
        "deletion budget, or use solver='cold', which forgets exactly; or raise λ"
    )


def _rounding(problem: Problem, noise: float) -> float:
    """A bound on the rounding of a measured gradient with b, wherever the solver may end."""
    constants, pull = problem.loss.constants, _usual_pull(problem, noise)
    return 2.0**-40 * pull + gradient_error(
        lipschitz=constants.lipschitz,
        curvature=constants.curvature,
        outputs=problem.loss.outputs,
        records=problem.records,
        features=problem.features,
        regularization=problem.regularization,
        weights_norm=2 * (constants.lipschitz + pull) / problem.regularization,
    )


def _usual_pull(problem: Problem, noise: float) -> float:
    """‖b‖/n, but once in 10¹⁸ draws."""
    return noise * (math.sqrt(problem.dimension) + _UNUSUAL) / problem.records


def _proven_passes(problem: Problem, noise: float, tolerance: float) -> int:
    steps = proven_steps(
        distance=(problem.loss.constants.lipschitz + _usual_pull(problem, noise)) / problem.strong_convexity,
        tolerance=tolerance,
        strong_convexity=problem.strong_convexity,
        objective_smoothness=problem.objective_smoothness,
    )
    return steps + 1


def _hessian_trace(problem: Problem) -> float:
    return problem.loss.curvature_trace + problem.dimension * problem.regularization


def _risk_facts(plan: Plan) -> dict[str, float]:
    return {
        "dimension": plan.dimension,
        "noise": plan.linear_term,
        "strong_convexity": plan.problem.strong_convexity,
        "records": plan.records,
        "output_noise": plan.output_noise * (1 + 2.0**-10),  # the grid's rounding included
        "hessian_trace": _hessian_trace(plan.problem),
    }


def _infeasible(problem: Problem, inexact_rate: float) -> PlanInfeasible:
    for factor in (2.0**k for k in range(1, 31)):
        other = replace(problem, regularization=problem.regularization * factor)
        if least_noise(other, inexact_rate) < math.inf:
            way = f"regularization={other.regularization:.3g}"
            break
    else:
        way = "a larger dp budget"
    return PlanInfeasible(
        f"method='perturbed' cannot keep {problem.budget.describe()} at λ={problem.regularization:g}, n={problem.records}: how one row "
        f"bends the objective costs more than the budget, whatever the noise. {way} suffices; or use method='sharp'",
        alternatives=(way, "method='sharp'"),
    )


def _perturbing(plan: Plan) -> str:
    curve = plan.mechanism.curve(plan.problem.adjacency)  # type: ignore[attr-defined]
    order = plan.budget.order
    bent = "" if order is None else f" Of ε_dp, {shown(curve.hessian(order))} pays for how a row bends the objective."
    return (
        f"Perturbing: every release minimises the objective plus ⟨b, θ⟩/n, b fresh Gaussian noise of standard deviation "
        f"s={plan.linear_term:.6g} per weight in units of the gradient sum, where one record moves it by at most "
        f"Δ={plan.problem.sensitivity(plan.problem.adjacency):g}: halving ε multiplies s by √2.{bent} Directions in which the data curve "
        f"the objective feel the noise least. Expected cost in regularised loss: at most {plan.excess_risk:.3g}."
    )


def _solving(plan: Plan, solver: str) -> str:
    kind = {
        "warm": "starting a request from the published model",
        "cold": "always starting from 0, so that a deleted record leaves exactly nothing",
        "fixed": "in a number of passes fixed in advance, always from 0, so that neither the result nor the number of passes shows "
        "a deleted record",
    }[solver]
    expected = "exactly" if solver == "fixed" else "a forecast of"
    slow = "" if solver == "fixed" else " How long the solver takes depends on the data; solver='fixed' avoids it."
    return (
        f"Solving: to gradient norm γ={plan.gradient_tolerance:.3g}, {kind}: {expected} {plan.delete_solver_passes} gradient passes. "
        f"Nothing has to be forgotten after that. Each release is a fresh publication at the full dp cost.{slow}"
    )


def _exactly(plan: Plan) -> str:
    return (
        f"Publishing: the answer is rounded to a public grid of step τ/2^{GRID_BITS}, and an exact discrete Gaussian of τ={plan.output_noise:.3g} "
        "is added in integer arithmetic. The rounding of b and of the measured gradient is inside γ, so the bounds are theorems "
        "about what the machine computes; what is trusted is named with every guarantee."
    )
