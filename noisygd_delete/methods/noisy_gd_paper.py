"""Noisy GD by the bounds as printed: Theorem 5.1 of Chourasia & Shah (2023) for convex losses.

For other losses see `noisy_gd_gibbs.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..bounds import theorem_5_1
from ..errors import AssumptionViolated, InvalidParameter, check_positive
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from .base import Cost
from .exact_steps import GridMethod, GridRun
from .forecast import Prospects
from .noisy_steps import (
    calibrate_noise,
    contraction_risk,
    explain_deletion,
    explain_learning,
    explain_noise,
    outlook_of_steps,
)
from .plan import Calibration, Plan
from .problem import Problem


@dataclass(frozen=True, kw_only=True)
class PaperNoisyGDRun(GridRun):
    """Noisy GD as bounded by Theorem 5.1: G.15 and G.9 with η < 1/M.

    For exact steps the proven bound is the tighter one of `noisy-gd`, which counts roundings. The larger of it and the
    printed bound is stated, which is the printed one unless there is almost nothing to bound.
    """

    method: ClassVar[str] = "noisy-gd-paper"
    source: ClassVar[str] = "Chourasia & Shah 2023, Theorem 5.1 (G.9, G.15)"

    @property
    def largest_step_size(self) -> float:
        """1/M, M the smoothness of the objective: the limit of Theorem 5.1."""
        return 1 / self._steepest

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        printed = theorem_5_1.deletion_rate(
            **self._chain(),
            sensitivity=self.sensitivity(worlds),
            regularization=self.strong_convexity,
            steps_with_record=steps_with,
            steps_without_record=steps_without,
        )
        if self.exact is None:
            return {"rate": printed}
        mu = self.exact.gdp(self, worlds, steps_with=steps_with, steps_without=steps_without)
        return {"rate": max(printed, mu**2 / 2)}


@dataclass(frozen=True)
class PaperNoisyGD(GridMethod):
    """Theorem 5.1: σ² from ε_dp, (16) for deletion and (17) for utility.

    Non-convex losses: Theorem 5.2 as printed.

    Attributes:
        step_size: η; None takes 1/(2(λ+β)).
        noise_variance: σ²; None takes the calibrated one, a larger value is allowed; "cheapest" applies to Theorem 5.2
            only.
    """

    name: ClassVar[str] = "noisy-gd"
    analysis: ClassVar[str] = "paper"
    summary: ClassVar[str] = "noisy gradient descent by Theorem 5.1 as printed (5.2 for a non-convex loss)"
    weighs_persons: ClassVar[bool] = False

    step_size: float | None = None
    noise_variance: float | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step_size is not None:
            check_positive("step_size", self.step_size)
        if self.noise_variance not in (None, "cheapest"):
            check_positive("noise_variance", self.noise_variance)

    def _exactly(self, problem: Problem) -> Plan | None:
        """Return the plan with the printed numbers if it meets the budgets with roundings included, else None."""
        plan = self._over_reals(problem)
        within = problem.budget.affords(plan.deletion) and problem.budget.affords(plan.dp_observed())
        return plan if within and problem.budget.affords(plan.dp) else None

    def _over_reals(self, problem: Problem) -> Plan:
        """Return the plan by the printed numbers, which exact steps use too."""
        if not problem.loss.constants.convex:
            from .noisy_gd_gibbs import GibbsNoisyGD  # rarely needed

            return GibbsNoisyGD.instead_of(self.step_size, self.noise_variance, form="printed").plan(problem)
        eta = self._step_size(problem)
        constants, lam = problem.loss.constants, problem.regularization
        dp_rate, dp_order = problem.dp_rate()
        deletion_rate, _ = problem.deletion_rate()
        sizes = {"regularization": lam, "smoothness": constants.smoothness, "dimension": problem.dimension}

        def complete(noise_variance: float) -> Plan:
            facts = {"regularization": lam, "noise_variance": noise_variance, "records": problem.records}
            released = theorem_5_1.full_rate(sensitivity=problem.sensitivity(problem.adjacency), **facts)
            replace_one_row = theorem_5_1.full_rate(sensitivity=2 * constants.lipschitz, **facts)
            numbers = Calibration(
                step_size=eta,
                noise_variance=noise_variance,
                init_variance=theorem_5_1.init_variance(
                    noise_variance=noise_variance, regularization=lam, step_size=eta
                ),
                learn_steps=theorem_5_1.learn_steps_for_utility(rate=replace_one_row, records=problem.records, **sizes),
                delete_steps_for_deletion=max(
                    theorem_5_1.deletion_steps(dp=released, deletion=deletion_rate, regularization=lam, step_size=eta),
                    1,  # publishing the same weights again would forget nothing
                ),
                delete_steps_for_utility=(
                    theorem_5_1.delete_steps_for_utility(rate=replace_one_row, batch=problem.batch, **sizes)
                    if problem.utility
                    else 0
                ),
            )
            return self.assemble(problem, numbers)

        def affordable(together: Guarantee) -> bool:
            return together.renyi(dp_order) <= dp_rate * dp_order

        single = theorem_5_1.noise_variance(
            rate=dp_rate,
            sensitivity=problem.sensitivity(problem.adjacency),
            regularization=lam,
            records=problem.records,
        )
        return calibrate_noise(problem, single, self.noise_variance, complete, affordable)

    def _step_size(self, problem: Problem) -> float:
        constants, lam = problem.loss.constants, problem.regularization
        _check_covered(problem)
        printed = theorem_5_1.step_size(regularization=lam, smoothness=constants.smoothness)
        eta = printed if self.step_size is None else self.step_size
        if not eta < 1 / (lam + constants.smoothness):
            raise AssumptionViolated(
                f"must be below 1/(λ+β)={1 / (lam + constants.smoothness):g} for Theorem 5.1; leave it out",
                step_size=eta,
            )
        if eta != printed and problem.utility:
            raise AssumptionViolated(
                f"is not η=1/(2(λ+β))={printed:g}, for which alone the utility condition (17) is stated; leave it "
                "out, or that condition, or use analysis 'tight'",
                step_size=eta,
            )
        return eta

    def check_plan(self, plan: Plan) -> None:
        """Check `GridMethod.check_plan`, and the assumptions of Theorem 5.1."""
        numbers = plan.calibration
        super().check_plan(plan)
        _check_covered(plan.problem)
        widest = theorem_5_1.init_variance(
            noise_variance=numbers.noise_variance,
            regularization=plan.problem.regularization,
            step_size=numbers.step_size,
        )
        if not (
            numbers.step_size < 1 / plan.problem.objective_smoothness and numbers.init_variance <= widest * (1 + 1e-9)
        ):
            raise AssumptionViolated(
                f"must be below 1/(λ+β), and init_variance={numbers.init_variance:g} at most {widest:g}, for Theorem 5.1",
                step_size=numbers.step_size,
            )

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan of noisy steps: a learn from the initial law, a request from the published model."""
        run = PaperNoisyGDRun(**self.run_facts(problem, numbers))
        return Plan.of(problem, run, numbers, exactness=run.exactness)

    def outlook(self, plan: Plan) -> Prospects:
        """Return prospects with the smaller bound of the contraction and, if (17) holds, of Theorem 5.1 (3)."""
        return outlook_of_steps(plan, min(contraction_risk(plan), _printed_risk(plan)))

    def words(self, plan: Plan) -> tuple[str, ...]:
        per_factor = 2 / (plan.calibration.step_size * plan.problem.strong_convexity)
        quarter = (
            "(16) counts the pair x, x′ (2L); Definition 4.1 compares with a record that was never there (L), so the achieved "
            "ε_dd is a quarter of the printed one."
        )
        promised = (quarter,) if plan.problem.adjacency == Worlds.REPLACE else ()
        return (explain_noise(plan), explain_learning(plan, per_factor), explain_deletion(plan), *promised)


def _check_covered(problem: Problem) -> None:
    if problem.deletion_notion is not Worlds.ERASED_VS_NEVER:
        raise InvalidParameter(
            "needs analysis 'tight': Theorem 5.1 states Definition 4.1 (a deleted record against one that was never there)",
            deletion_notion="pairwise",
        )
    if not (problem.loss.constants.convex and problem.loss.twice_differentiable):
        raise AssumptionViolated(
            f"the {problem.loss.name} loss is not twice differentiable and convex, which Theorem 5.1 assumes; "
            "analysis 'tight' needs less"
        )


def _printed_risk(plan: Plan) -> float:
    """Return the bound of Theorem 5.1 (3) if η is the printed one and both conditions of (17) hold; else infinity."""
    problem, numbers = plan.problem, plan.calibration
    constants, sizes = (
        problem.loss.constants,
        {"regularization": problem.regularization, "dimension": problem.dimension},
    )
    rate = theorem_5_1.full_rate(
        sensitivity=2 * constants.lipschitz,
        regularization=problem.regularization,
        noise_variance=numbers.noise_variance,
        records=problem.records,
    )
    facts = {"rate": rate, "smoothness": constants.smoothness, **sizes}
    printed = theorem_5_1.step_size(regularization=problem.regularization, smoothness=constants.smoothness)
    learned = numbers.learn_steps >= theorem_5_1.learn_steps_for_utility(records=problem.records, **facts)
    kept = numbers.delete_steps >= theorem_5_1.delete_steps_for_utility(batch=problem.batch, **facts)
    if not (numbers.step_size == printed and learned and kept):
        return math.inf
    return theorem_5_1.excess_risk(lipschitz=constants.lipschitz, records=problem.records, **facts)
