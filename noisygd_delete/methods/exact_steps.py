"""Noisy steps exact to the last bit: their public facts, the cost of their roundings, and the methods that use them."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..bounds import exact_steps, shifted_interpolation
from ..bounds.arithmetic import ROOM, gradient_error
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, check_count, check_positive, non_negative
from ..privacy.worlds import Worlds
from .base import Condition, NoisySteps, WeighedRun, bounded_gradients
from .plan import Method
from .procedure import Exactness

if TYPE_CHECKING:
    from .plan import Calibration, Plan
    from .problem import Problem


class InexactStepsError(InvalidParameter):
    """No step of this size and noise is exact.

    Either its noise is too fine for a grid in float64, or its size leaves no margin for rounding.
    """


@dataclass(frozen=True, kw_only=True)
class ExactSteps:
    """Public facts of steps that end on a grid, in addition to those of their run.

    Attributes:
        regularization: λ.
        curvature: β of one row's loss.
        features: d' of a row.
        outputs: Scores of a record; the weights have dimension d = d' · outputs.
        radius: W; every step begins within this norm.
        grid_bits: b; the grid has step τ/2^b, τ = σ√(2η).
        in_place: Whether rows are added in an order determined by their contents; otherwise a sum may round differently
            in each step.
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
            check_positive(name, getattr(self, name))
        non_negative("curvature", self.curvature)
        for name in ("features", "outputs"):
            check_count(name, getattr(self, name))
        check_count("grid_bits", self.grid_bits, minimum=exact_steps.LEAST_BITS, maximum=exact_steps.MOST_BITS)

    def check(self, run: NoisySteps) -> None:
        """Check that the bound covers a run with these steps, and that the run does not understate its cost.

        Raises:
            InexactStepsError: If η exceeds `largest_step_size`.
            InvalidParameter: If m is not λ, or the grid is too fine for float64 at weights of norm W.
        """
        limit = self.largest_step_size(run)
        if run.step_size > limit:  # a bound exact to the last bit leaves no tolerance
            raise InexactStepsError(
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
        """Return 2/(m + M), the largest η that the bound covers.

        m is the run's strong convexity; M is λ + β for rows slightly longer than R, because of rounding.
        """
        steepest = self.regularization + self.curvature * ROOM**2
        return shifted_interpolation.largest_step_size(
            strong_convexity=run.strong_convexity, objective_smoothness=steepest
        )

    @property
    def dimension(self) -> int:
        """Number of weights."""
        return self.features * self.outputs

    def grid(self, run: NoisySteps) -> float:
        """Return h = τ/2^b, the grid step, for the noise scale τ of `run`."""
        return math.ldexp(run.noise_scale, -self.grid_bits)

    def measured_error(self, run: NoisySteps) -> float:
        """Return e, a bound on the norm of the error of a computed mean gradient at weights up to 1.001 W."""
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
        """Return μ of a run with its roundings charged, by `bounds.exact_steps.exact_steps_gdp`.

        Infinite if τ is at most twelve grid steps.

        Args:
            run: The run, for L, η, m, τ and n.
            worlds: The neighbouring relation.
            steps_with: Steps with the record; `math.inf` is the supremum over any number of steps.
            steps_without: Steps after its erasure.
            apart: Distance between the starting points of the two runs that are compared.
        """
        gap = exact_steps.rounding_gap(
            gradient_error=self.measured_error(run),
            strong_convexity=run.strong_convexity,
            radius=self.radius,
            dimension=self.dimension,
            grid=self.grid(run),
            **self._reach(run),
        )
        return exact_steps.exact_steps_gdp(
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


@dataclass(frozen=True, kw_only=True)
class GridRun(WeighedRun, NoisySteps):
    """Noisy GD whose steps end on a grid, or over the real numbers.

    Attributes:
        exact: Facts of the steps if they are exact to the last bit; None: floating point, with bounds over the real
            numbers.
    """

    exact: ExactSteps | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exact is not None:
            self.exact.check(self)

    @property
    def shows_order(self) -> bool:
        """Whether rounding may depend on the order of rows: exact steps that do not add rows in a fixed order."""
        return self.exact is not None and not self.exact.in_place

    @property
    def exactness(self) -> Exactness | None:
        """Grid of its steps if they are exact."""
        return None if self.exact is None else Exactness(radius=self.exact.radius, grid_bits=self.exact.grid_bits)

    def conditions(self) -> tuple[Condition, ...]:
        if self.exact is None:
            return super().conditions()
        own = {"method": self.method}
        return (
            *bounded_gradients(self.lipschitz, proven=self.proven),
            ("slots-public", {"records": self.records}),
            *self._weighting_conditions(),
            *((("rows-in-place", own),) if self.exact.in_place else ()),
            ("exact-steps", own),
            ("machine-trusted", {}),
        )


@dataclass(frozen=True, kw_only=True)
class GridMethod(Method):
    """A method of noisy steps that are exact to the last bit wherever that is proven.

    Attributes:
        exact: Whether every step ends on a public grid by exact noise, with its roundings charged, so that no bound
            relies on real numbers; requires sums in float64 on the CPU. None: for convex losses, if the roundings fit
            the budget. False: floating point, with bounds over the real numbers. A plan states which it uses.
        in_place: Whether rows are added in an order determined by their contents, which rows of a source or a cluster
            need not have. If not, the steps are exact, and what the order may reveal of an erased record is charged.
    """

    weighs_persons: ClassVar[bool] = True

    exact: bool | None = None
    in_place: bool = True

    def __post_init__(self) -> None:
        for name in ("exact", "in_place"):
            value = getattr(self, name)
            if not (isinstance(value, bool) or (name == "exact" and value is None)):
                raise InvalidParameter("must be true or false", **{name: value})
        if self.exact is False and not self.in_place:
            raise InvalidParameter("needs exact steps: only their roundings are bounded in any order", in_place=False)

    def allow_any_order(self) -> Self:
        """Return the method with exact=True and in_place=False: exact steps that charge what row order may reveal."""
        return replace(self, exact=True, in_place=False)

    def check_any_order(self, problem: Problem, instead: str) -> None:
        """Check that exact steps are possible: they cover sums in any order, a different one at every step.

        Raises:
            AssumptionViolated: If the loss is not one whose steps are proven exact; the message ends with `instead`.
            InvalidParameter: If `exact` is False.
        """
        check_exact(problem, instead)
        if self.exact is False:
            raise InvalidParameter(
                f"rests on rows that stay in their places, and these lie elsewhere; plan with {self._with_option('exact=true')}, or method 'objective-perturbation'",
                exact=False,
            )

    def _with_option(self, option: str) -> str:
        name = self.variant_name()
        return f"{name}{',' if ':' in name else ':'}{option}"

    def plan(self, problem: Problem) -> Plan:
        """Return the plan in exact steps, or else the plan with bounds over the reals.

        Exact steps are required by exact=True or in_place=False. With exact=None they are tried if the loss's steps are
        proven exact and the slack is in the budget, and given up if they do not fit the budgets. The plan's method
        states exact=True, with dtype "float64", or exact=False.

        Raises:
            AssumptionViolated: If exact steps are required and the loss's steps are not proven exact.
            PlanInfeasible: If exact steps are required and the roundings cost more than a budget, or no grid is fine
                enough.
            InvalidParameter: If the method does not cover the problem.
        """
        asked = self.exact or not self.in_place
        if asked:
            check_exact(problem)
        if asked or (self.exact is None and problem.slack_in_budget and problem.loss.steps_exact):
            exact = replace(self, exact=True)
            try:
                plan = exact._exactly(replace(problem, method=exact, dtype="float64"))
            except InexactStepsError:
                plan = None
            if plan is not None:
                return plan
        if asked:
            raise PlanInfeasible(
                "the roundings of a step cost more than a budget, or its noise is too fine for a grid in float64: raise λ or the budgets, "
                "or use method 'objective-perturbation'"
                + (", or exact=False: bounds over the reals" if self.in_place else "")
            )
        real = replace(self, exact=False)
        return real._over_reals(replace(problem, method=real))

    @abstractmethod
    def _over_reals(self, problem: Problem) -> Plan:
        """Return the plan whose bounds are over the real numbers, by `problem.method`."""

    @abstractmethod
    def _exactly(self, problem: Problem) -> Plan | None:
        """Return the plan in exact steps, by `problem.method`; None if roundings cost more than the budgets.

        Raises:
            InexactStepsError: If no grid is fine enough compared with the noise.
        """

    def check_plan(self, plan: Plan) -> None:
        """Check `Method.check_plan`; with exact=True also that the loss has exact steps and dtype is "float64"."""
        super().check_plan(plan)
        if self.exact:
            check_exact(plan.problem)
            if plan.problem.dtype != "float64":
                raise InvalidParameter(
                    "must be 'float64': the bound counts roundings of that alone", dtype=plan.problem.dtype
                )

    def run_facts(self, problem: Problem, numbers: Calibration) -> dict[str, Any]:
        """Return the keyword arguments of the mechanism of Noisy-GD: `Problem.run` at the numbers' η and σ².

        With exact=True also `exact`, the facts of `exact_steps_of`, and slack 0.

        Raises:
            InexactStepsError: If no grid is fine enough compared with the noise.
        """
        chain = {"step_size": numbers.step_size, "noise_variance": numbers.noise_variance}
        facts = problem.run(**chain)
        if not self.exact:
            return facts
        return {**facts, "slack": 0.0, "exact": exact_steps_of(problem, **chain, in_place=self.in_place)}


def exact_steps_of(problem: Problem, *, step_size: float, noise_variance: float, in_place: bool) -> ExactSteps:
    """Return the facts of exact steps: the norm W that a chain never exceeds, and the finest float64 grid within it.

    Args:
        problem: The planning problem.
        step_size: η.
        noise_variance: σ².
        in_place: Whether rows are added in an order determined by their contents.

    Raises:
        InvalidParameter: If the step size or the noise variance is not positive.
        InexactStepsError: If the chain does not contract, or no grid is fine enough compared with the noise.
    """
    check_positive("step_size", step_size)
    check_positive("noise_variance", noise_variance)
    left = 1 - step_size * problem.strong_convexity
    if not left * left < 1:  # a radius needs a contracting chain; the run that checks it does not exist yet
        raise InexactStepsError(
            "is too large, or too small, for a step to bring two models nearer", step_size=step_size
        )
    reach = {
        "lipschitz": problem.loss.constants.lipschitz * ROOM,
        "regularization": problem.regularization,
        "step_size": step_size,
        "noise": math.sqrt(2 * step_size * noise_variance),
    }
    radius = exact_steps.iterate_radius(
        gap_at_zero=problem.loss.gap_at_zero,
        dimension=problem.dimension,
        strong_convexity=problem.strong_convexity,
        **reach,
    )
    bits = exact_steps.grid_bits(radius=radius, **reach)
    if bits < exact_steps.LEAST_BITS:
        raise InexactStepsError(
            f"at n={problem.records} and λ={problem.regularization:g} a step's noise is too fine beside weights up to "
            f"{radius:g} for float64; raise λ, or use method 'objective-perturbation'"
        )
    return ExactSteps(
        regularization=problem.regularization,
        curvature=problem.loss.constants.curvature,
        features=problem.features,
        outputs=problem.loss.outputs,
        radius=radius,
        grid_bits=bits,
        in_place=in_place,
    )


def check_exact(
    problem: Problem,
    instead: str = "leave exact out, or use method 'noisy-gd:analysis=composition' or 'objective-perturbation'",
) -> None:
    """Check that the loss is one whose steps are proven exact to the last bit (`Loss.steps_exact`).

    Args:
        problem: The planning problem.
        instead: The remedy, with which the message ends.

    Raises:
        AssumptionViolated: If it is not.
    """
    if not problem.loss.steps_exact:
        raise AssumptionViolated(
            f"steps exact to the last bit, which rows in any order need, are proven for convex losses, not for {problem.loss.name}; {instead}",
            method=problem.method.name,
        )
