"""What methods share whose noisy steps are exact to the last bit: the public facts of such steps, and what their roundings cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..bounds import exact_steps, shifted_interpolation
from ..bounds.arithmetic import NORM_TOLERANCE, gradient_error
from ..errors import AssumptionViolated, InvalidParameter, count, non_negative, positive
from ..privacy.worlds import Worlds
from .base import Condition, NoisySteps, bounded_gradients

if TYPE_CHECKING:
    from .plan import Numbers, Plan
    from .problem import Problem

ROOM = 1 + 2 * NORM_TOLERANCE  # rows may be R(1 + NORM_TOLERANCE) long; squared for curvatures


@dataclass(frozen=True, kw_only=True)
class ExactSteps:
    """Public facts of steps that end on a grid, beside those of the run that takes them.

    regularization      λ
    curvature           β of one row's loss
    features, outputs   d' of a row, and scores of a record; the weights have dimension d = d' · outputs
    radius              W: every step begins within this norm
    grid_bits           b: the grid has step τ/2^b, τ = σ√(2η)
    in_place            whether rows keep their places from one step to the next; else a sum may round otherwise in each
    """

    regularization: float
    curvature: float
    features: int
    outputs: int
    radius: float
    grid_bits: int
    in_place: bool = True

    def __post_init__(self) -> None:
        for name in ("regularization", "radius"):
            positive(name, getattr(self, name))
        non_negative("curvature", self.curvature)
        for name in ("features", "outputs"):
            count(name, getattr(self, name))
        count("grid_bits", self.grid_bits, minimum=exact_steps.LEAST_BITS, maximum=exact_steps.MOST_BITS)

    def check(self, run: NoisySteps) -> None:
        """Raise `InvalidParameter` where a run with these steps is not one that the bound covers, or states less than it costs."""
        limit = self.largest_step_size(run)
        if run.step_size > limit:  # a bound down to the last bit leaves no tolerance
            raise InvalidParameter(
                f"must be at most {limit:.17g}: beyond it a step may carry two models apart", step_size=run.step_size
            )
        if run.strong_convexity != self.regularization:  # a larger m would understate what a run costs
            raise InvalidParameter(
                f"must be regularization={self.regularization:.17g}: the losses covered are convex",
                strong_convexity=run.strong_convexity,
            )
        finest = exact_steps.grid_bits(radius=self.radius, noise=run.noise_scale, **self._reach(run))
        if self.grid_bits > finest:
            raise InvalidParameter(
                f"is too fine for weights up to radius={self.radius:g}: they would be no whole numbers of float64",
                grid_bits=self.grid_bits,
            )

    def largest_step_size(self, run: NoisySteps) -> float:
        steepest = self.regularization + self.curvature * ROOM**2
        return shifted_interpolation.largest_step_size(
            strong_convexity=run.strong_convexity, objective_smoothness=steepest
        )

    @property
    def dimension(self) -> int:
        return self.features * self.outputs

    def grid(self, run: NoisySteps) -> float:
        """h."""
        return math.ldexp(run.noise_scale, -self.grid_bits)

    def measured_error(self, run: NoisySteps) -> float:
        """e: how far a measured gradient may be from the true one, at any weights that a step may begin at."""
        return gradient_error(
            lipschitz=run.lipschitz * ROOM,
            curvature=self.curvature * ROOM**2,
            outputs=self.outputs,
            records=run.records,
            features=self.features,
            regularization=self.regularization,
            weights_norm=1.001 * self.radius,
        )

    def gdp(
        self, run: NoisySteps, worlds: Worlds, *, steps_with: float, steps_without: float = 0, apart: float = 0.0
    ) -> float:
        """μ of a run: `bounds.exact_steps.gdp` with its facts and these."""
        gap = exact_steps.gap(
            gradient_error=self.measured_error(run),
            strong_convexity=run.strong_convexity,
            radius=self.radius,
            dimension=self.dimension,
            grid=self.grid(run),
            **self._reach(run),
        )
        return exact_steps.gdp(
            sensitivity=run.sensitivity(worlds) * ROOM,
            step_size=run.step_size,
            strong_convexity=run.strong_convexity,
            noise=run.noise_scale,
            grid=self.grid(run),
            records=run.records,
            gap=gap,
            steps_with_record=steps_with,
            steps_without_record=steps_without,
            in_place=self.in_place,
            apart=apart,
        )

    def _reach(self, run: NoisySteps) -> dict[str, float]:
        return {
            "lipschitz": run.lipschitz * ROOM,
            "regularization": self.regularization,
            "step_size": run.step_size,
        }


def exact_conditions(run: NoisySteps, exact: ExactSteps) -> tuple[Condition, ...]:
    """In the place of those of bounds over the reals."""
    own = {"method": run.method}
    return (
        *bounded_gradients(run.lipschitz, proven=run.proven),
        ("slots-public", {"records": run.records}),
        *((("rows-in-place", own),) if exact.in_place else ()),
        ("exact-steps", own),
        ("machine-trusted", {}),
    )


def run_facts(problem: Problem, numbers: Numbers, *, exact: bool, in_place: bool = True) -> dict[str, Any]:
    """The facts of Noisy-GD by a plan's numbers; where its steps are exact, theirs too, and no slack.

    Raises:
        InvalidParameter: no grid is fine enough beside the noise.
    """
    chain = {"step_size": numbers.step_size, "noise_variance": numbers.noise_variance}
    facts = problem.run(**chain)
    if not exact:
        return facts
    return {**facts, "slack": 0.0, "exact": exact_steps_of(problem, **chain, in_place=in_place)}


def exact_steps_of(problem: Problem, *, step_size: float, noise_variance: float, in_place: bool) -> ExactSteps:
    """The facts of exact steps on a problem: a ball that a chain never leaves, and the finest grid that float64 holds in it.

    Raises:
        InvalidParameter: no grid is fine enough beside the noise.
    """
    constants, noise = problem.loss.constants, math.sqrt(2 * step_size * noise_variance)
    reach = {
        "lipschitz": constants.lipschitz * ROOM,
        "regularization": problem.regularization,
        "step_size": step_size,
        "noise": noise,
    }
    radius = exact_steps.radius(
        gap_at_zero=problem.loss.gap_at_zero,
        dimension=problem.dimension,
        strong_convexity=problem.strong_convexity,
        **reach,
    )
    bits = exact_steps.grid_bits(radius=radius, **reach)
    if bits < exact_steps.LEAST_BITS:
        raise InvalidParameter(
            f"at n={problem.records} and λ={problem.regularization:g} a step's noise is too fine beside weights up to "
            f"{radius:g} for float64; raise λ, or use method 'perturbed'"
        )
    return ExactSteps(
        regularization=problem.regularization,
        curvature=constants.curvature,
        features=problem.features,
        outputs=problem.loss.outputs,
        radius=radius,
        grid_bits=bits,
        in_place=in_place,
    )


def check_exact(problem: Problem, *, method: str, otherwise: str) -> None:
    """Raise unless the loss is one whose steps are proven to the last bit."""
    if not problem.loss.constants.convex or problem.loss.clips_each:
        raise AssumptionViolated(
            f"is proven for convex losses, not for {problem.loss.name}; {otherwise}", method=method
        )


def check_exact_plan(plan: Plan, *, otherwise: str) -> None:
    """Raise unless the loss is such a one, and sums are in float64."""
    check_exact(plan.problem, method=plan.method.name, otherwise=otherwise)
    if plan.problem.dtype != "float64":
        raise InvalidParameter("must be 'float64': the bound counts roundings of that alone", dtype=plan.problem.dtype)
