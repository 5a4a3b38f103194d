"""Objective perturbation: every release is the minimiser of the current objective under a fresh random linear term.

    b ~ N(0, s² I);   θ̃ with ‖∇L_D(θ̃) + b/n‖ ≤ γ;   published: θ̃ rounded to a public grid, plus an exact discrete Gaussian (τ) on it

Nothing is carried from one release to the next, so there is nothing to forget: an erased record shows in nothing but where,
within γ, a solver stopped that began at the model published before. Every rounding is inside γ or on the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from .. import losses
from ..bounds import objective_perturbation as tilt
from ..bounds import objective_perturbation_gdp as flow
from ..bounds.arithmetic import GRID_BITS
from ..errors import AssumptionViolated, InvalidParameter, NoisyGDDeleteError, PlanInfeasible, choice, count
from ..privacy.budget import Measures
from ..privacy.curve import ONE_DIRECTION
from ..privacy.shown import shown
from . import procedure
from .base import PROOFS, Method
from .perturbed_noise import (
    form_of,
    hessian_trace,
    inexact_share,
    least_noise,
    output_of,
    proven_passes,
    rounding_of_gradient,
    row_facts,
)
from .perturbed_run import PerturbedRun
from .plan import MOST_STAGES, Numbers, Plan
from .problem import Problem
from .procedure import SOLVERS, forecast_passes

if TYPE_CHECKING:
    from .forecast import Prospects

_CHAIN, _CLIPPED = 3, 0.6  # chosen on Adult
_RAISED, _TRIED = (
    1.15,
    6,
)  # of λ for a chain, at a time and how often: beyond twice, three are forecast no better than one


@dataclass(frozen=True)
class Perturbed(Method):
    """s from the budget by the better of two proofs, τ from its share of the excess risk, γ from its share of the budget.

    solver    "warm" starts a request from the published model; "cold" from 0, so that a deleted record leaves exactly
              nothing; "fixed" also takes a number of passes that no record can change
    chain     minimisers in a row, run again at every release: each after the first pulls towards the one before in the place of 0, so
              that λ shortens the model less, and each has its share of the budgets
    in_place  whether rows keep their places from one release to the next. Rows of a source or a cluster need not: what a solver's
              rounding may tell of their order is then charged, and nothing is left exactly
    """

    name: ClassVar[str] = "perturbed"
    summary: ClassVar[str] = (
        "objective perturbation: minimise under a random linear term; few passes, exact on a machine"
    )
    proof: ClassVar[str] = PROOFS[1]  # the constant m̄ of its Gaussian-DP bound
    any_order: ClassVar[bool] = True  # every release starts anew, and its solver's bound covers sums in any order

    solver: str = "warm"
    in_place: bool = True
    chain: int = 1

    def __post_init__(self) -> None:
        choice("solver", self.solver, SOLVERS)
        count("chain", self.chain, maximum=MOST_STAGES)

    def in_any_order(self) -> Perturbed:
        return replace(self, in_place=False)

    @property
    def _leaves_a_trace(self) -> bool:
        return self.solver == "warm" or not self.in_place

    def plan(self, problem: Problem) -> Plan:
        check_covered(problem)
        inexact = inexact_share(problem, charged=self._leaves_a_trace, chain=self.chain)
        noise = least_noise(problem, inexact, self.chain)
        if not noise < math.inf:
            raise _infeasible(problem, inexact)
        plan = self._complete(problem, noise, inexact)
        for attempt in range(60):  # what was searched is what is certified but for rounding, and here it is checked
            if problem.budget.affords(plan.together) and problem.budget.affords(plan.deletion):
                return plan
            noise *= 1 + 2.0 ** (attempt - 52)
            plan = self._complete(problem, noise, inexact * (1 - 2.0 ** (attempt - 52)))
        raise PlanInfeasible(
            f"no noise keeps {problem.releases} releases and a deletion within {problem.budget.describe()}; raise the budget",
            plan=plan,
        )

    def complete(self, problem: Problem, noise: float) -> Plan:
        """The plan with this s, within its budget or not."""
        inexact = inexact_share(problem, charged=self._leaves_a_trace, chain=self.chain)
        return self._complete(problem, noise, inexact)

    def _complete(self, problem: Problem, noise: float, inexact: float) -> Plan:
        output_noise, tolerance = output_of(problem, noise, inexact, self.chain)
        passes = forecast_passes(problem)
        if self.solver == "fixed":
            passes = proven_passes(problem, noise, tolerance)
        passes *= self.chain
        numbers = Numbers(
            gradient_tolerance=tolerance,
            learn_solver_passes=passes,
            delete_solver_passes=passes,
            linear_term=noise,
            output_noise=output_noise,
        )
        return self.assemble(problem, numbers)

    def assemble(self, problem: Problem, numbers: Numbers) -> Plan:
        start = procedure.Solved(numbers.gradient_tolerance, self.solver, self.chain)
        return Plan.of(problem, self.run(problem, numbers), numbers, learning=start, serving=start)

    def run(self, problem: Problem, numbers: Numbers) -> PerturbedRun:
        """The facts of a release."""
        facts: dict[str, Any] = {
            "linear_term": numbers.linear_term,
            "output_noise": numbers.output_noise,
            "gradient_tolerance": numbers.gradient_tolerance,
        }
        own: dict[str, Any] = {"warm": self.solver == "warm", "in_place": self.in_place, "chain": self.chain}
        return PerturbedRun(**facts, **row_facts(problem), **own)

    def check_plan(self, plan: Plan) -> None:
        super().check_plan(plan)
        check_covered(plan.problem)
        least = rounding_of_gradient(plan.problem, plan.linear_term, self.chain)
        if not plan.gradient_tolerance >= least:
            raise InvalidParameter(
                f"is below {least:g}, the rounding of a gradient in float64", gradient_tolerance=plan.gradient_tolerance
            )

    def outlook(self, plan: Plan) -> Prospects:
        """The bound of a chain is of the loss without the regulariser over the least with it: a stage raises that loss by no more than its own
        noise costs, for it could have stayed where it began.

        The forecast leaves out the solver's part: directions in which the data curve the objective cost less. Of a chain it is that of one
        minimiser with the whole budget: where it curves, the later minimisers undo the noise of the earlier ones as they undo the regulariser.

        Weights deviate by s/(nm), for the widest column of a shaped noise, and by τ, of each minimiser; the next hands it on times λ/m at most.
        """
        from .forecast import Prospects

        facts, convexity = _risk_facts(plan), plan.problem.strong_convexity
        bound = self.chain * tilt.excess_risk(**facts, gradient_tolerance=plan.gradient_tolerance)
        forecast = tilt.excess_risk(**{**facts, "noise": facts["noise"] / math.sqrt(self.chain)})
        widest = math.sqrt(max(plan.noise_shape or (1.0,)))
        stage = plan.linear_term * widest / (plan.records * convexity)
        handed_on = math.fsum((plan.regularization / convexity) ** (2 * stages) for stages in range(self.chain))
        return Prospects(bound, forecast, math.sqrt(handed_on) * math.hypot(stage, plan.output_noise))

    def words(self, plan: Plan) -> tuple[str, ...]:
        return (_perturbing(plan), _solving(plan, self), _exactly(plan))


def chained(plan: Plan) -> Plan | None:
    """Three minimisers in a row within the same budgets, with slopes clipped at .6 of what they could be, at the λ that the forecast gives to the
    smaller noise; None where public numbers do not say that it fits better, as of a plan of another method.

    It pays where the forecast had to raise λ, which shortens the model: a chain undoes that. So λ is raised further until κ ≤ 1/4 in each,
    beyond which the noise of three grows faster than by √3.
    """
    problem, lipschitz, alone = plan.problem, plan.loss.constants.lipschitz, plan.method
    asked = problem.asked_regularization
    if not isinstance(alone, Perturbed) or alone.chain > 1 or asked is None:
        return None
    if problem.loss.label_kind != "binary" or form_of(problem) != ONE_DIRECTION:
        return None
    loss = problem.loss if problem.loss.loss_of_fit > 1 else losses.clip(problem.loss, _CLIPPED * lipschitz)
    least = loss.constants.lipschitz / lipschitz * problem.regularization
    method = replace(alone, chain=_CHAIN)
    for tried in range(_TRIED):
        ridge = max(asked, float(f"{least * _RAISED**tried:.3g}"))
        try:
            found = method.plan(replace(problem, loss=loss, regularization=ridge, method=method))
        except (NoisyGDDeleteError, ArithmeticError):
            continue
        facts = found.mechanism
        assert isinstance(facts, PerturbedRun)
        if facts.ratios()[0] * found.linear_term <= flow.LARGEST_KAPPA * loss.constants.lipschitz:
            return found
    return None


def check_covered(problem: Problem) -> None:
    """Raise unless objective perturbation is proven for the problem."""
    loss, constants = problem.loss, problem.loss.constants
    if not loss.curving:
        raise AssumptionViolated(
            "is proven for losses of one or of several known directions per row (logistic, softmax, one-vs-rest, "
            f"pseudo-Huber, linear, clipped, sigmoid), not for {loss.name}; use method 'sharp' or 'composition'",
            method="perturbed",
        )
    if not problem.strong_convexity > 0:
        raise AssumptionViolated(
            f"λ={problem.regularization:g} must exceed the weak convexity β₋={constants.weak_convexity:g} of the {loss.name} loss: only "
            "then is there one minimiser, with a density"
        )
    if not constants.convex and problem.rows_per_subject > 1:
        raise AssumptionViolated(
            f"is more than one: for the {loss.name} loss, which is not convex, method "
            "'perturbed' is proven for one row per data subject; use method 'sharp', or a convex loss",
            rows_per_subject=problem.rows_per_subject,
        )
    if problem.budget.measure is Measures.GDP and form_of(problem) != ONE_DIRECTION:
        raise InvalidParameter(
            f"a Gaussian-DP budget needs a convex loss with one gradient direction per row, not {loss.name}: method "
            "'perturbed' has a Rényi curve for it. Give the budget as (q, ε) or (ε, δ)"
        )


def _risk_facts(plan: Plan) -> dict[str, float]:
    return {
        "dimension": plan.problem.noise_trace,
        "noise": plan.linear_term,
        "strong_convexity": plan.problem.strong_convexity,
        "records": plan.records,
        "output_noise": plan.output_noise * (1 + 2.0**-10),  # the grid's rounding included
        "hessian_trace": hessian_trace(plan.problem),
    }


def _infeasible(problem: Problem, inexact_rate: float) -> PlanInfeasible:
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
        "'sharp'",
        method="perturbed",
        alternatives=(way, "method 'sharp'"),
    )


def _perturbing(plan: Plan) -> str:
    curve = plan.mechanism.curve(plan.problem.adjacency)  # type: ignore[attr-defined]
    order = plan.budget.order
    bent = "" if order is None else f" Of ε_dp, {shown(curve.hessian(order))} pays for how a row bends the objective."
    shape = (
        ""
        if plan.noise_shape is None
        else f" Its variance follows the schema's one-hot blocks, {plan.problem.noise_trace:.4g} s² in all where the same protection without a "
        f"shape takes {plan.dimension} s²; every row is checked to be no longer in that shape."
    )
    return (
        f"Perturbing: every release minimises the objective plus ⟨b, θ⟩/n, b fresh Gaussian noise of standard deviation "
        f"s={plan.linear_term:.6g} per weight in units of the gradient sum, where one record moves it by at most "
        f"Δ={plan.problem.sensitivity(plan.problem.adjacency):g}: halving ε multiplies s by √2.{bent}{shape} Directions in which the data curve "
        f"the objective feel the noise least. Expected cost in regularised loss: at most {plan.excess_risk:.3g}."
    )


def _solving(plan: Plan, method: Perturbed) -> str:
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
        else f"{method.chain} times in a row, each after the first with a regulariser that pulls towards the model before it in the place of "
        "0, with fresh noise of that size and an equal share of the budgets; what is between them is charged as if published, and dropped: "
    )
    return (
        f"Solving: {many}to gradient norm γ={plan.gradient_tolerance:.3g}, {kind}: {expected} {plan.delete_solver_passes} gradient passes. "
        f"Nothing has to be forgotten after that. Each release is a fresh publication at the full dp cost.{slow}"
    )


def _exactly(plan: Plan) -> str:
    return (
        f"Publishing: the answer is rounded to a public grid of step τ/2^{GRID_BITS}, and an exact discrete Gaussian of τ={plan.output_noise:.3g} "
        "is added in integer arithmetic. The rounding of b and of the measured gradient is inside γ, so the bounds are theorems "
        "about what the machine computes; what is trusted is named with every guarantee."
    )
