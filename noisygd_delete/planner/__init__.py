"""Budget + loss + sizes -> Plan, or a refusal with the numbers. The only room that joins losses to guarantees."""

from __future__ import annotations

from ..bounds.arithmetic import DTYPES
from ..errors import InvalidParameter, choice, count, positive, probability
from ..losses.base import Loss
from ..methods.base import CERTIFICATES, STARTS
from ..methods.composition import FRESH_LEARN, plan_composition
from ..methods.minimiser import plan_minimiser
from ..methods.near_gibbs import plan_near_gibbs
from ..methods.plan import Plan
from ..methods.problem import SOLVERS, Problem
from ..methods.sharp import plan_sharp, reaching
from ..methods.theorem import plan_theorem
from ..privacy.budget import Budget
from ..privacy.guarantee import ADJACENCIES, DELETION_NOTIONS
from .cheapest import cheapest_plan
from .feasibility import runnable

__all__ = ["cheapest_plan", "make_plan"]

_LEAST_REGULARIZATION = 1e-100
_PLANNERS = {"theorem": plan_theorem, "sharp": plan_sharp, "composition": plan_composition}


def make_plan(
    loss: Loss,
    *,
    records: int,
    features: int,
    regularization: float,
    budget: Budget,
    certificate: str = "theorem",
    adjacency: str = "replace",
    deletion_notion: str = "definition-4.1",
    releases: int = 1,
    batch: int = 1,
    rows_per_subject: int = 1,
    step_size: float | None = None,
    noise_variance: float | str | None = None,
    utility: bool = True,
    utility_tolerance: float = 0.01,
    dtype: str = "float32",
    start: str = "published",
    solver: str = "warm",
    diffusion_steps: int | None = None,
    gradient_tolerance: float | None = None,
    learn_steps: int | None = None,
    delete_steps: int | None = None,
    requests_per_learn: int = 20,
    fresh_learn: str = "demand",
    excess_risk: float | None = None,
    slack_in_budget: bool = True,
) -> Plan:
    """The least noise and the fewest steps whose guarantees lie within the budget.

    Args:
        loss: a loss of `noisygd_delete.losses`; its constants are proven, never typed in.
        records: n, the public number of slots. features: columns, the constant one included.
        regularization: λ > 0.
        budget: of one release; with `releases=N > 1` the dp part is for N observed publications together.
        certificate: "theorem" (Theorem 5.1, or 5.2 for a non-convex loss, as printed), "sharp" (the tight bound of the same
            algorithm: also for non-convex losses with λ > β₋, and Theorem 5.2 sharpened for the others) or "composition"
            (non-convex losses: every noisy step costs, nothing is forgotten before a fresh learn).
        adjacency: "replace" or "zero-out", of the dp guarantee.
        deletion_notion: "definition-4.1" (against never there) or "pairwise" (x or x′; sharp only).
        batch: r, records edited by one request, for the utility condition alone.
        rows_per_subject: rows of one data subject that must be forgotten together.
        step_size: η; None takes 1/(2(λ+β)) under theorem and 1/(m+β₋+β) = 1/(λ+β) under sharp.
        noise_variance: σ²; None takes the calibrated one, a larger value is allowed. "cheapest" (Theorem 5.2): the least
            beyond which the steps hardly fall; the model is then near the prior, and the plan says how near.
        utility: also take enough steps that accuracy never degrades over any number of requests.
        dtype: of the rows in the gradient; "float64" makes the rounding slack negligible.
        start: where Noisy-GD starts: "published" (the paper) or "minimiser" (solve for the minimiser of the current
            records, then diffuse; sharp only): nothing but noise is left to wait for.
        solver: with start="minimiser": "warm" starts a request from the published model; "cold" starts from 0, so that a
            deleted record leaves exactly nothing; "fixed" also takes a number of passes that no record can change.
        diffusion_steps: K of start="minimiser"; None weighs the noise inflation 1/(1 − c^{2K}) against passes.
        gradient_tolerance: γ of the solver; None takes a hundredth of what one record can do.
        learn_steps, delete_steps, requests_per_learn, fresh_learn: under composition only: K_A, K_Ā, the requests served
            before a fresh learn is due, and whether it is run then ("automatic") or asked for ("demand").
        excess_risk: under sharp, in place of `utility_tolerance`: take enough steps that the excess risk of every release
            is at most this (`cheapest_plan` also chooses η and σ² for it).
        slack_in_budget: whether the rounding slack of the gradient sums counts inside the budget. False plans as before
            0.2: the bounds over the reals meet it, and those with the slack exceed it by (1 + slack)².

    Raises:
        InvalidParameter, AssumptionViolated: with the value, its range and what to do.
        PlanInfeasible: no machine can run the steps; carries the plan, the numbers and the nearest ways out.
    """
    if not isinstance(loss, Loss):
        raise InvalidParameter(
            f"loss={loss!r} must be a loss of noisygd_delete.losses, for example losses.Logistic(radius=1.0)"
        )
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            f"budget={budget!r} must be a Budget, for example Budget(order=10, dp=1.0, deletion=0.1)"
        )
    problem = Problem(
        loss=loss,
        records=count("records", records),
        features=count("features", features),
        regularization=positive("regularization", regularization),
        budget=budget,
        certificate=choice("certificate", certificate, CERTIFICATES),
        adjacency=choice("adjacency", adjacency, ADJACENCIES),
        deletion_notion=choice("deletion_notion", deletion_notion, DELETION_NOTIONS),
        releases=count("releases", releases),
        batch=count("batch", batch),
        rows_per_subject=count("rows_per_subject", rows_per_subject),
        step_size=None if step_size is None else positive("step_size", step_size),
        noise_variance=noise_variance
        if noise_variance in (None, "cheapest")
        else positive("noise_variance", noise_variance),
        utility=bool(utility),
        utility_tolerance=probability("utility_tolerance", utility_tolerance),
        dtype=choice("dtype", dtype, DTYPES),
        start=choice("start", start, STARTS),
        solver=choice("solver", solver, SOLVERS),
        diffusion_steps=None if diffusion_steps is None else count("diffusion_steps", diffusion_steps),
        gradient_tolerance=None if gradient_tolerance is None else positive("gradient_tolerance", gradient_tolerance),
        learn_steps=None if learn_steps is None else count("learn_steps", learn_steps),
        delete_steps=None if delete_steps is None else count("delete_steps", delete_steps),
        requests_per_learn=count("requests_per_learn", requests_per_learn),
        fresh_learn=choice("fresh_learn", fresh_learn, FRESH_LEARN),
        excess_risk=None if excess_risk is None else positive("excess_risk", excess_risk),
        slack_in_budget=bool(slack_in_budget),
    )
    try:
        return runnable(_planned(problem))
    except ArithmeticError as error:
        raise InvalidParameter(
            f"no plan in floating-point numbers for λ={regularization:g}, n={records:g}, {budget.describe()}: a step count or the noise "
            "is beyond their range; choose λ and budgets nearer to 1"
        ) from error


def _planned(problem: Problem) -> Plan:
    """The plan by the method that the problem names."""
    certificate, noise_variance = problem.certificate, problem.noise_variance
    if not _LEAST_REGULARIZATION <= problem.regularization <= 1 / _LEAST_REGULARIZATION:
        raise InvalidParameter(
            f"regularization={problem.regularization:g} must lie between {_LEAST_REGULARIZATION:g} and {1 / _LEAST_REGULARIZATION:g}: "
            "beyond, noise and steps leave the range of floating-point numbers"
        )
    if problem.excess_risk is not None and (certificate != "sharp" or problem.start != "published"):
        raise InvalidParameter(
            "excess_risk= needs certificate='sharp' and start='published': the noise of Theorem 5.1 is given"
        )
    if noise_variance == "cheapest" and not (problem.near_gibbs and problem.start == "published"):
        raise InvalidParameter(
            "noise_variance='cheapest' is for Theorem 5.2 (a non-convex loss); leave it out: here more noise saves no steps"
        )
    if problem.start == "minimiser":
        return plan_minimiser(problem)
    if problem.solver != "warm" or problem.diffusion_steps is not None or problem.gradient_tolerance is not None:
        raise InvalidParameter(
            "solver, diffusion_steps and gradient_tolerance belong to start='minimiser'; leave them out, or choose it"
        )
    if certificate != "composition" and (problem.learn_steps is not None or problem.delete_steps is not None):
        raise InvalidParameter(
            f"learn_steps and delete_steps are chosen by certificate={certificate!r}; leave them out, or use 'composition'"
        )
    if problem.near_gibbs:
        return plan_near_gibbs(problem)
    if certificate == "composition" and problem.loss.constants.convex:
        raise InvalidParameter(
            f"certificate={certificate!r} is not available for convex losses; use 'theorem' or 'sharp'"
        )
    plan = _PLANNERS[certificate](problem)
    return plan if problem.excess_risk is None else reaching(plan, problem.excess_risk)
