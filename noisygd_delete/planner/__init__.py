"""Budget + loss + sizes -> Plan, or a refusal with the numbers. The only room that joins losses to guarantees."""

from __future__ import annotations

from ..budget import Budget
from ..errors import AssumptionViolated, InvalidParameter, choice, count, positive, probability
from ..gradient import DTYPES
from ..guarantee import ADJACENCIES, DELETION_NOTIONS
from ..losses.base import Loss
from ..mechanism import CERTIFICATES, STARTS
from ..plan import SOLVERS, Plan, Problem
from .minimiser import plan_minimiser
from .sharp import plan_sharp
from .targets import cheapest_plan
from .theorem import plan_theorem

__all__ = ["cheapest_plan", "make_plan"]

_PLANNERS = {"theorem": plan_theorem, "sharp": plan_sharp}


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
    noise_variance: float | None = None,
    utility: bool = True,
    utility_tolerance: float = 0.01,
    dtype: str = "float32",
    start: str = "published",
    solver: str = "warm",
    diffusion_steps: int | None = None,
    gradient_tolerance: float | None = None,
) -> Plan:
    """The least noise and the fewest steps whose guarantees lie within the budget.

    Args:
        loss: a loss of `noisygd_delete.losses`; its constants are proven, never typed in.
        records: n, the public number of slots. features: columns, the constant one included.
        regularization: λ > 0.
        budget: of one release; with `releases=N > 1` the dp part is for N observed publications together.
        certificate: "theorem" (Theorem 5.1 as printed) or "sharp" (the tight bound of the same algorithm).
        adjacency: "replace" or "zero-out", of the dp guarantee.
        deletion_notion: "definition-4.1" (against never there) or "pairwise" (x or x′; sharp only).
        batch: r, records edited by one request, for the utility condition alone.
        rows_per_subject: rows of one data subject that must be forgotten together.
        step_size: η; None takes 1/(2(λ+β)) under theorem and 1/(m+β₋+β) = 1/(λ+β) under sharp.
        noise_variance: σ²; None takes the calibrated one, a larger value is allowed.
        utility: also take enough steps that accuracy never degrades over any number of requests.
        dtype: of the rows in the gradient; "float64" makes the rounding slack negligible.
        start: where Noisy-GD starts: "published" (the paper) or "minimiser" (solve for the minimiser of the current
            records, then diffuse; sharp only): nothing but noise is left to wait for.
        solver: with start="minimiser": "warm" starts a request from the published model; "cold" starts from 0, so that a
            deleted record leaves exactly nothing; "fixed" also takes a number of passes that no record can change.
        diffusion_steps: K of start="minimiser"; None weighs the noise inflation 1/(1 − c^{2K}) against passes.
        gradient_tolerance: γ of the solver; None takes a hundredth of what one record can do.

    Raises:
        InvalidParameter, AssumptionViolated: with the value, its range and what to do.
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
        noise_variance=None if noise_variance is None else positive("noise_variance", noise_variance),
        utility=bool(utility),
        utility_tolerance=probability("utility_tolerance", utility_tolerance),
        dtype=choice("dtype", dtype, DTYPES),
        start=choice("start", start, STARTS),
        solver=choice("solver", solver, SOLVERS),
        diffusion_steps=None if diffusion_steps is None else count("diffusion_steps", diffusion_steps),
        gradient_tolerance=None if gradient_tolerance is None else positive("gradient_tolerance", gradient_tolerance),
    )
    if start == "minimiser":
        return plan_minimiser(problem)
    if solver != "warm" or diffusion_steps is not None or gradient_tolerance is not None:
        raise InvalidParameter(
            "solver, diffusion_steps and gradient_tolerance belong to start='minimiser'; leave them out, or choose it"
        )
    if not loss.constants.convex:
        raise AssumptionViolated(f"the {loss.name} loss is not convex; certificate={certificate!r} needs a convex loss")
    if certificate not in _PLANNERS:
        raise InvalidParameter(
            f"certificate={certificate!r} is not available for convex losses; use 'theorem' or 'sharp'"
        )
    return _PLANNERS[certificate](problem)
