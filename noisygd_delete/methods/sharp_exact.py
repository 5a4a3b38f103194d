"""The paper's algorithm down to the last bit: steps on a public grid by exact discrete noise, every rounding inside the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..bounds import exact_steps, shifted_interpolation
from ..bounds.arithmetic import NORM_TOLERANCE, gradient_error
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, count, positive
from ..privacy.worlds import Worlds
from .base import Condition, Cost, bounded_gradients
from .calibration import published_together
from .plan import Plan
from .problem import Problem
from .procedure import Exactness
from .sharp import Sharp, SharpRun

_ROOM = 1 + 2 * NORM_TOLERANCE  # rows may be R(1 + NORM_TOLERANCE) long; squared for curvatures
_ATTEMPTS = 60


@dataclass(frozen=True, kw_only=True)
class SharpExactRun(SharpRun):
    """Public facts of a run.

    regularization      λ
    curvature           β of one row's loss
    features, outputs   d' of a row, and scores of a record; dimension d of the weights
    radius              W: every step begins within this norm
    grid_bits           b: the grid has step τ/2^b, τ = σ√(2η)
    in_place            whether rows keep their places from one step to the next; else a sum may round otherwise in each
    """

    method: ClassVar[str] = "sharp-exact"
    source: ClassVar[str] = (
        "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD whose every step is an exact discrete Gaussian, roundings charged"
    )

    regularization: float
    curvature: float
    features: int
    outputs: int
    dimension: int
    radius: float
    grid_bits: int
    in_place: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step_size > self.largest_step_size:  # a bound down to the last bit leaves no tolerance
            raise InvalidParameter(
                f"must be at most {self.largest_step_size:.17g}: beyond it a step may carry two models apart",
                step_size=self.step_size,
            )
        for name in ("regularization", "radius"):
            positive(name, getattr(self, name))
        for name in ("features", "outputs", "dimension"):
            count(name, getattr(self, name))
        # a larger m, or fewer weights, would understate what a run costs
        if self.strong_convexity != self.regularization:
            raise InvalidParameter(
                f"must be regularization={self.regularization:.17g}: the losses covered are convex",
                strong_convexity=self.strong_convexity,
            )
        if self.dimension != self.outputs * self.features:
            raise InvalidParameter(
                f"must be outputs × features, {self.outputs} × {self.features}", dimension=self.dimension
            )
        count("grid_bits", self.grid_bits, minimum=exact_steps.LEAST_BITS, maximum=exact_steps.MOST_BITS)
        if self.grid_bits > exact_steps.grid_bits(radius=self.radius, noise=self.noise_scale, **self._reach()):
            raise InvalidParameter(
                f"is too fine for weights up to radius={self.radius:g}: they would be no whole numbers of float64",
                grid_bits=self.grid_bits,
            )

    @property
    def shows_order(self) -> bool:
        return not self.in_place

    @property
    def noise_scale(self) -> float:
        """τ."""
        return math.sqrt(2 * self.step_size * self.noise_variance)

    @property
    def grid(self) -> float:
        """h."""
        return math.ldexp(self.noise_scale, -self.grid_bits)

    @property
    def measured_error(self) -> float:
        """e: how far a measured gradient may be from the true one, at any weights that a step may begin at."""
        return gradient_error(
            lipschitz=self.lipschitz * _ROOM,
            curvature=self.curvature * _ROOM**2,
            outputs=self.outputs,
            records=self.records,
            features=self.features,
            regularization=self.regularization,
            weights_norm=1.001 * self.radius,
        )

    @property
    def largest_step_size(self) -> float:
        steepest = self.regularization + self.curvature * _ROOM**2
        return shifted_interpolation.largest_step_size(
            strong_convexity=self.strong_convexity, objective_smoothness=steepest
        )

    def noisy_step(self, worlds: Worlds) -> tuple[float, float]:
        raise InvalidParameter(
            f"the roundings of a step by {self.method!r} are no part of a Gaussian mechanism; it has no such export"
        )

    def _reach(self) -> dict[str, float]:
        return {
            "lipschitz": self.lipschitz * _ROOM,
            "regularization": self.regularization,
            "step_size": self.step_size,
        }

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        gap = exact_steps.gap(
            gradient_error=self.measured_error,
            strong_convexity=self.strong_convexity,
            radius=self.radius,
            dimension=self.dimension,
            grid=self.grid,
            **self._reach(),
        )
        mu = exact_steps.gdp(
            sensitivity=self.sensitivity(worlds) * _ROOM,
            step_size=self.step_size,
            strong_convexity=self.strong_convexity,
            noise=self.noise_scale,
            grid=self.grid,
            records=self.records,
            gap=gap,
            steps_with_record=steps_with,
            steps_without_record=steps_without,
            in_place=self.in_place,
        )
        return {"gdp_squared": mu**2}

    def conditions(self) -> tuple[Condition, ...]:
        own = {"method": self.method}
        return (
            *bounded_gradients(self.lipschitz, proven=self.proven),
            ("slots-public", {"records": self.records}),
            *((("rows-in-place", own),) if self.in_place else ()),
            ("exact-steps", own),
            ("machine-trusted", {}),
        )


@dataclass(frozen=True)
class SharpExact(Sharp):
    """`sharp` for convex losses, with float64 gradients, weights kept within a public norm, and exact noise on a public grid at every step.

    Its noise and steps are those of `sharp` but for what the roundings cost, which is mostly below a thousandth, and without the slack.
    Steps ask for sums in float64, on the processor, of whoever holds the rows.

    in_place  whether rows keep their places. Rows of a source or a cluster need not: then the roundings of every step are charged of
              a record that is gone, too
    """

    name: ClassVar[str] = "sharp-exact"
    summary: ClassVar[str] = "sharp down to the last bit: every rounding inside the bound, exact noise at every step"
    any_order: ClassVar[bool] = True  # its gradient error covers sums in any order, another one at every step

    in_place: bool = True

    def in_any_order(self) -> SharpExact:
        return replace(self, in_place=False)

    def plan(self, problem: Problem) -> Plan:
        _check_covered(problem)
        if isinstance(self.noise_variance, str):
            raise InvalidParameter("is for Theorem 5.2; leave it out", noise_variance=self.noise_variance)
        problem = replace(problem, method=self, dtype="float64")
        real = Sharp(self.step_size, self.noise_variance, self.excess_risk_target)
        plan = self._charged(problem, real.plan(replace(problem, method=real)))
        for _ in range(_ATTEMPTS):
            forgetting = self._forgetting(plan)  # its further steps are published too
            plan = plan if forgetting is None else forgetting
            spent = plan.dp if problem.releases == 1 else published_together(plan)  # a single one of any length
            over = spent.gdp_squared / problem.budget.dp_gdp() ** 2
            if over <= 1 and forgetting is None:
                raise PlanInfeasible(
                    "the roundings of a step cost more than the deletion budget, however many steps follow: raise λ or that "
                    "budget, or use method 'perturbed'",
                    plan=plan,
                )
            if over <= 1:
                return plan
            if self.noise_variance is not None:
                raise InvalidParameter(
                    f"is a little too small once roundings are charged; {plan.noise_variance * over:g} suffices",
                    noise_variance=self.noise_variance,
                )
            wider = replace(real, noise_variance=plan.noise_variance * over * (1 + 1e-9))
            plan = self._charged(problem, wider.plan(replace(problem, method=wider)))
        raise PlanInfeasible(
            "the roundings of a step cost more than the dp budget, whatever the noise: raise λ or the budget, or use "
            "method 'perturbed'",
            plan=plan,
        )

    @staticmethod
    def _charged(problem: Problem, plan: Plan) -> Plan:
        return replace(plan, problem=problem)

    @staticmethod
    def _forgetting(plan: Plan) -> Plan | None:
        """The plan with so many steps more that a deletion is within its budget, roundings included; None: no number does."""
        wanted = plan.delete_steps_for_deletion
        for further in (0, 1, 2, *(2**k for k in range(2, 20))):
            longer = replace(plan, delete_steps_for_deletion=wanted + further)
            if longer.budget.affords(longer.deletion):
                return longer
        return None

    def check_plan(self, plan: Plan) -> None:
        super().check_plan(plan)
        _check_covered(plan.problem)
        if plan.problem.dtype != "float64":
            raise InvalidParameter(
                "must be 'float64': the bound counts roundings of that alone", dtype=plan.problem.dtype
            )

    def mechanism(self, plan: Plan) -> SharpExactRun:
        problem = plan.problem
        facts: dict[str, Any] = problem.run(step_size=plan.step_size, noise_variance=plan.noise_variance)
        noise = math.sqrt(2 * plan.step_size * plan.noise_variance)
        reach = {
            "lipschitz": problem.loss.constants.lipschitz * _ROOM,
            "regularization": problem.regularization,
            "step_size": plan.step_size,
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
        return SharpExactRun(
            **{**facts, "slack": 0.0},
            regularization=problem.regularization,
            curvature=problem.loss.constants.curvature,
            features=problem.features,
            outputs=problem.loss.outputs,
            dimension=problem.dimension,
            radius=radius,
            grid_bits=bits,
            in_place=self.in_place,
        )

    def exactness(self, plan: Plan) -> Exactness:
        mechanism = self.mechanism(plan)
        return Exactness(radius=mechanism.radius, grid_bits=mechanism.grid_bits)

    def words(self, plan: Plan) -> tuple[str, ...]:
        mechanism = self.mechanism(plan)
        return (
            *super().words(plan),
            f"Exactly: every step ends on a public grid of step τ/2^{mechanism.grid_bits} by an exact discrete Gaussian, within norm {mechanism.radius:g}. "
            "Roundings are charged to every step, so the bounds are theorems about what the machine computes.",
        )


def _check_covered(problem: Problem) -> None:
    if not problem.loss.constants.convex or problem.loss.clips_each:
        raise AssumptionViolated(
            f"is proven for convex losses, not for {problem.loss.name}; use method 'sharp' or 'composition'",
            method="sharp-exact",
        )
