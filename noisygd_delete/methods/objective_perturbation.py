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

from ..bounds import objective_perturbation as bounds
from ..bounds.arithmetic import GRID_BITS
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, check_choice, check_count
from ..privacy.budget import Measures
from ..privacy.curves import ONE_DIRECTION
from ..privacy.sentences import format_bound
from . import procedure
from .base import PROOFS
from .explanations import explain_solver
from .objective_perturbation_noise import inexact_share, least_noise, linear_term_bound, output_of, rounding_of_gradient
from .objective_perturbation_run import ObjectivePerturbationRun, form_of, row_facts
from .plan import MOST_STAGES, Calibration, Method, Plan
from .problem import Problem
from .procedure import SOLVERS, solver_passes

if TYPE_CHECKING:
    from ..losses.base import Loss
    from .forecast import Prospects


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

    def covers_weights(self, loss: Loss) -> bool:
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
        """Check `Method.check_plan`, `check_covered`, and that γ is at least the rounding of a measured gradient."""
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
        return (_explain_perturbation(plan), _explain_solver(plan, self), _explain_exactness(plan))


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


def _check_curving(loss: Loss) -> None:
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
    kind, slow = explain_solver(method.solver, in_place=method.in_place)
    many = (
        ""
        if method.chain == 1
        else f"{method.chain} times in a row, each after the first with a regulariser towards the previous model instead of "
        "0, with fresh noise of that size and an equal share of the budgets; what is between them is charged as if published, and dropped: "
    )
    return (
        f"Solving: {many}to gradient norm γ={plan.calibration.gradient_tolerance:.3g}, {kind} {plan.calibration.delete_solver_passes} gradient passes. "
        f"Nothing has to be forgotten after that. Each release is a fresh publication at the full dp cost.{slow}"
    )


def _explain_exactness(plan: Plan) -> str:
    return (
        f"Publishing: the answer is rounded to a public grid of step τ/2^{GRID_BITS}, and an exact discrete Gaussian of τ={plan.calibration.output_noise:.3g} "
        "is added in integer arithmetic. The rounding of b and of the measured gradient is inside γ, so the bounds are theorems "
        "about what the machine computes; what is trusted is named with every guarantee."
    )
