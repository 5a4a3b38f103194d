"""The paper's algorithm down to the last bit: steps on a public grid by exact discrete noise, every rounding inside the bound."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import ClassVar

from ..errors import InvalidParameter, PlanInfeasible
from .exact_steps import ExactSteps, check_exact, check_exact_plan, run_facts
from .plan import Numbers, Plan
from .problem import Problem
from .sharp import Sharp, SharpRun

_OTHERWISE = "use method 'sharp' or 'composition'"
_ATTEMPTS = 60


@dataclass(frozen=True, kw_only=True)
class SharpExactRun(SharpRun):
    """Public facts of a run: those of `ExactSteps` stand among its own, as papers have them since they were first written."""

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
        if self.dimension != self.exact.dimension:  # fewer weights would understate what a run costs
            raise InvalidParameter(
                f"must be outputs × features, {self.outputs} × {self.features}", dimension=self.dimension
            )

    @property
    def exact(self) -> ExactSteps:
        return ExactSteps(**{fact.name: getattr(self, fact.name) for fact in fields(ExactSteps)})


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
        check_exact(problem, method=self.name, otherwise=_OTHERWISE)
        if isinstance(self.noise_variance, str):
            raise InvalidParameter("is for Theorem 5.2; leave it out", noise_variance=self.noise_variance)
        problem = replace(problem, method=self, dtype="float64")
        real = Sharp(self.step_size, self.noise_variance, self.excess_risk_target)
        plan = self.assemble(problem, real.plan(replace(problem, method=real)).numbers)
        over, before = math.inf, math.inf
        for _ in range(_ATTEMPTS):
            forgetting = self._forgetting(plan)  # its further steps are published too
            plan = plan if forgetting is None else forgetting
            spent = plan.dp if problem.releases == 1 else plan.together  # a single one of any length
            over, before = spent.gdp_squared / problem.budget.dp_gdp() ** 2, over
            if over >= before:  # the roundings grow as fast as the noise, so no noise covers them
                break
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
            plan = self.assemble(problem, wider.plan(replace(problem, method=wider)).numbers)
        raise PlanInfeasible(
            "the roundings of a step cost more than the dp budget, whatever the noise: raise λ or the budget, or use "
            "method 'perturbed'",
            plan=plan,
        )

    @staticmethod
    def _forgetting(plan: Plan) -> Plan | None:
        """The plan with so many steps more that a deletion is within its budget, roundings included; None: no number does."""
        wanted = plan.delete_steps_for_deletion
        for further in (0, 1, 2, *(2**k for k in range(2, 20))):
            longer = plan.changed(delete_steps_for_deletion=wanted + further)
            if longer.budget.affords(longer.deletion):
                return longer
        return None

    def check_plan(self, plan: Plan) -> None:
        super().check_plan(plan)
        check_exact_plan(plan, otherwise=_OTHERWISE)

    def assemble(self, problem: Problem, numbers: Numbers) -> Plan:
        facts = run_facts(problem, numbers, exact=True, in_place=self.in_place)
        steps = facts.pop("exact")
        run = SharpExactRun(**facts, **asdict(steps), dimension=steps.dimension)
        return Plan.of(problem, run, numbers, exactness=run.exactness)
