"""Noisy gradient descent, the article's algorithm, by its tight bound (shifted interpolation).

It needs half the noise variance and far fewer steps than the bounds as printed. Other analyses of the same algorithm:
`noisy_gd_paper`, `noisy_gd_gibbs` (Theorem 5.2, non-convex losses) and `noisy_gd_composition`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from ..bounds import shifted_interpolation, theorem_5_1, utility
from ..errors import AssumptionViolated, InvalidParameter, PlanInfeasible, check_positive
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

_ATTEMPTS = 60
_SIZES = 24  # step sizes compared, beside 1/M
_MOST_OF_LIMIT = 0.98  # largest of them, as a part of 2/(m+M)


@dataclass(frozen=True, kw_only=True)
class NoisyGDRun(GridRun):
    """Noisy GD as bounded by shifted interpolation: η ≤ 2/(m+M)."""

    method: ClassVar[str] = "noisy-gd-tight"
    source: ClassVar[str] = "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD"

    @property
    def largest_step_size(self) -> float:
        """2/(m + M): m the strong convexity, M the smoothness of the objective."""
        return shifted_interpolation.largest_step_size(
            strong_convexity=self.strong_convexity, objective_smoothness=self._steepest
        )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        if self.exact is not None:
            mu = self.exact.gdp(self, worlds, steps_with=steps_with, steps_without=steps_without)
            return {"gdp_squared": mu**2}
        mu = shifted_interpolation.gdp(
            **self._chain(),
            sensitivity=self.sensitivity(worlds),
            strong_convexity=self.strong_convexity,
            steps_with_record=steps_with,
            steps_without_record=steps_without,
        )
        return {"gdp_squared": mu**2}


@dataclass(frozen=True)
class NoisyGD(GridMethod):
    """σ² from μ_∞, K_Ā from μ's decay, utility from the contraction towards the stationary law.

    Covers convex losses, and others with λ > β₋; for the rest Theorem 5.2 sharpened (`noisy_gd_gibbs.py`). A larger η,
    up to 2/(m+M), contracts faster at the same privacy but widens the stationary law along the steepest directions
    (σ²/(h(1 − ηh/2)) along curvature h). The plan takes the η with the fewest deletion steps that keep the excess risk
    (`bounds.utility`).

    Attributes:
        step_size: η; None takes the one from 1/M to almost 2/(m+M) with the fewest deletion steps.
        noise_variance: σ²; None takes the calibrated one, a larger value is allowed; "cheapest" applies to Theorem 5.2
            only.
        excess_risk_target: If set, replaces the utility condition: enough steps that the excess risk of every release
            is at most this.
    """

    name: ClassVar[str] = "noisy-gd"
    analysis: ClassVar[str] = "tight"
    summary: ClassVar[str] = "noisy gradient descent by its tight bound (λ > β₋, else Theorem 5.2 sharpened)"

    step_size: float | None = None
    noise_variance: float | str | None = None
    excess_risk_target: float | None = None

    @classmethod
    def variant_name(cls) -> str:
        """Return "noisy-gd" alone, since this analysis is the default."""
        return cls.name

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("step_size", "excess_risk_target"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        if self.noise_variance not in (None, "cheapest"):
            check_positive("noise_variance", self.noise_variance)

    def _over_reals(self, problem: Problem) -> Plan:
        if not problem.strong_convexity > 0:
            if self.excess_risk_target is not None:
                raise InvalidParameter(
                    f"excess_risk_target= needs λ > β₋={problem.loss.constants.weak_convexity:g}; raise λ or leave it out"
                )
            from .noisy_gd_gibbs import GibbsNoisyGD  # rarely needed

            return GibbsNoisyGD.instead_of(self.step_size, self.noise_variance, form="sharper").plan(problem)
        eta = self._step_size(problem)
        budget_dp = problem.dp_gdp()

        def complete(noise_variance: float) -> Plan:
            return self.assemble(problem, self._numbers(problem, eta, noise_variance))

        def affordable(together: Guarantee) -> bool:
            return together.gdp_squared <= budget_dp**2

        plan = calibrate_noise(problem, _single_noise(problem, eta), self.noise_variance, complete, affordable)
        target = self.excess_risk_target
        if target is not None and not _largest_distance(problem, eta, plan.calibration.noise_variance, target) > 0:
            raise PlanInfeasible(
                f"an excess risk of {target:g} cannot be promised at σ²={plan.calibration.noise_variance:.4g}: the bound is above "
                f"{_stationary_excess(problem, eta, plan.calibration.noise_variance):.4g}; ask for more than that, or for less noise",
                plan=plan,
            )
        return plan

    def _step_size(self, problem: Problem) -> float:
        """Return η: the caller's value, or the one with the fewest deletion steps."""
        least = contracting_step_size(problem, self.step_size)
        most = _MOST_OF_LIMIT * shifted_interpolation.largest_step_size(
            strong_convexity=problem.strong_convexity, objective_smoothness=problem.objective_smoothness
        )
        if self.step_size is not None or not most > least:
            return least

        def deletion_steps(eta: float) -> float:
            variance = _single_noise(problem, eta)
            if not _largest_distance(problem, eta, variance, self._target(problem, variance)) > 0:
                return math.inf
            numbers = self._numbers(problem, eta, variance)
            return max(numbers.delete_steps_for_deletion, numbers.delete_steps_for_utility)

        return min((least + (most - least) * k / _SIZES for k in range(_SIZES + 1)), key=deletion_steps)

    def _target(self, problem: Problem, noise_variance: float) -> float:
        """Return the excess risk that every release may have."""
        if self.excess_risk_target is not None:
            return self.excess_risk_target
        usual = contracting_step_size(problem, self.step_size)
        noise = (1 + problem.utility_tolerance) * _stationary_excess(problem, usual, noise_variance)
        return max(noise, sampling_error(problem))

    def _numbers(self, problem: Problem, eta: float, noise_variance: float) -> Calibration:
        """Return the steps that meet the deletion budget and keep the excess risk within its target."""
        constants, m = problem.loss.constants, problem.strong_convexity
        chain = {"step_size": eta, "strong_convexity": m}
        before = shifted_interpolation.gdp_limit(
            sensitivity=problem.sensitivity(problem.deletion_notion),
            noise_variance=noise_variance,
            records=problem.records,
            **chain,
        )
        stationary = shifted_interpolation.stationary_distance(
            dimension=problem.dimension, noise_variance=noise_variance, **chain
        )
        init_variance = theorem_5_1.init_variance(noise_variance=noise_variance, regularization=m, step_size=eta)
        # from the initial law to the stationary one: their centres are ‖θ*‖ ≤ L/λ apart, because at the minimiser λθ* is
        # minus a mean of gradients of norm at most L
        farthest = math.sqrt(problem.dimension * init_variance) + math.sqrt(stationary)
        farthest += constants.lipschitz / problem.regularization
        kept = _largest_distance(problem, eta, noise_variance, self._target(problem, noise_variance)) or farthest
        move = shifted_interpolation.minimiser_move(
            lipschitz=constants.lipschitz, strong_convexity=m, records=problem.records, batch=problem.batch
        )
        return Calibration(
            step_size=eta,
            noise_variance=noise_variance,
            init_variance=init_variance,
            learn_steps=max(1, utility.steps_to_distance(before=farthest, after=kept, **chain)),
            delete_steps_for_deletion=max(
                shifted_interpolation.deletion_steps(gdp_before=before, gdp_after=problem.deletion_gdp(), **chain),
                1,  # publishing the same weights again would forget nothing
            ),
            delete_steps_for_utility=(
                utility.steps_to_distance(before=kept + move, after=kept, **chain) if problem.utility else 0
            ),
        )

    def _exactly(self, problem: Problem) -> Plan | None:
        """Return the plan over the reals with the additional noise and deletion steps that rounding requires.

        None if no such plan exists.
        """
        chosen: NoisyGD = replace(self, exact=False, in_place=True)
        over = math.inf
        for _ in range(_ATTEMPTS):
            real = chosen._over_reals(replace(problem, method=chosen))
            plan = self.assemble(problem, real.calibration)
            forgetting = _with_deletion_steps(plan)  # its further steps are published too
            plan = plan if forgetting is None else forgetting
            spent = plan.dp if problem.releases == 1 else plan.dp_observed()  # one release of any length
            over, before = spent.gdp_squared / problem.budget.dp_gdp() ** 2, over
            if over <= 1:
                return forgetting
            if over >= before:  # the roundings grow as fast as the noise, so no noise covers them
                return None
            if self.noise_variance is not None:
                raise InvalidParameter(
                    f"is a little too small once roundings are charged; {real.calibration.noise_variance * over:g} suffices",
                    noise_variance=self.noise_variance,
                )
            chosen = replace(chosen, noise_variance=real.calibration.noise_variance * over * (1 + 1e-9))
        return None

    def check_plan(self, plan: Plan) -> None:
        """Check `GridMethod.check_plan`, and that λ > β₋, without which no step contracts."""
        super().check_plan(plan)
        if not plan.problem.strong_convexity > 0:
            raise AssumptionViolated(
                f"λ={plan.problem.regularization:g} must exceed β₋={plan.problem.loss.constants.weak_convexity:g}: only then does a step contract"
            )

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan of noisy steps: a learn from the initial law, a request from the published model."""
        run = NoisyGDRun(**self.run_facts(problem, numbers))
        return Plan.of(problem, run, numbers, exactness=run.exactness)

    def outlook(self, plan: Plan) -> Prospects:
        """Return `outlook_of_steps` with the bound `contraction_risk`."""
        return outlook_of_steps(plan, contraction_risk(plan))

    def words(self, plan: Plan) -> tuple[str, ...]:
        rate = plan.calibration.step_size * plan.problem.strong_convexity
        per_factor = -1 / (2 * math.log1p(-rate)) if rate < 1 else 0.0
        weakly = () if plan.problem.loss.constants.convex else (_weakly_convex(plan),)
        return (*weakly, explain_noise(plan), explain_learning(plan, per_factor), explain_deletion(plan))


def _with_deletion_steps(plan: Plan) -> Plan | None:
    """Return the plan with enough further steps that a deletion is within its budget; None if no number suffices.

    Roundings are included.
    """
    wanted = plan.calibration.delete_steps_for_deletion
    for further in (0, 1, 2, *(2**k for k in range(2, 20))):
        longer = plan.changed(delete_steps_for_deletion=wanted + further)
        if longer.problem.budget.affords(longer.deletion):
            return longer
    return None


def _weakly_convex(plan: Plan) -> str:
    weak = plan.problem.loss.constants.weak_convexity
    return (
        f"Tight although the loss is not convex: λ={plan.problem.regularization:g} exceeds the weak convexity β₋={weak:.4g}, so the objective "
        f"is strongly convex with m={plan.problem.strong_convexity:.4g} and everything of the convex case holds with m for λ."
    )


def contracting_step_size(problem: Problem, asked: float | None) -> float:
    """Return η: 1/(λ+β₊) for None, else the caller's value, checked to be at most 2/(m+M).

    Raises:
        AssumptionViolated: If it exceeds 2/(m+M), beyond which a step may expand distances.
    """
    eta = 1 / problem.objective_smoothness if asked is None else asked
    limit = shifted_interpolation.largest_step_size(
        strong_convexity=problem.strong_convexity, objective_smoothness=problem.objective_smoothness
    )
    if not eta <= limit:
        raise AssumptionViolated(
            f"must be at most 2/(2λ+β)={limit:g}: beyond it a step may expand distances", step_size=eta
        )
    return eta


def sampling_error(problem: Problem) -> float:
    """Return min(d/(2n), 1 % of the loss's public gap at 0), the excess risk due to having n records only.

    0 if that gap has no public bound. Noise and steps that cost less than this are not what limits a model.
    """
    scale = problem.loss.gap_at_zero
    return min(problem.dimension / (2 * problem.records), scale / 100) if scale < math.inf else 0.0


def _single_noise(problem: Problem, eta: float) -> float:
    """Return the σ² of one release of any length."""
    return shifted_interpolation.noise_variance(
        gdp=problem.dp_gdp(),
        sensitivity=problem.sensitivity(problem.adjacency),
        records=problem.records,
        step_size=eta,
        strong_convexity=problem.strong_convexity,
    )


def _law(problem: Problem, eta: float, noise_variance: float) -> dict[str, float]:
    return {
        "hessian_trace": problem.hessian_trace,
        "noise_variance": noise_variance,
        "step_size": eta,
        "objective_smoothness": problem.objective_smoothness,
    }


def _stationary_excess(problem: Problem, eta: float, noise_variance: float) -> float:
    return utility.stationary_excess(
        dimension=problem.dimension,
        strong_convexity=problem.strong_convexity,
        **_law(problem, eta, noise_variance),
    )


def _largest_distance(problem: Problem, eta: float, noise_variance: float, target: float) -> float:
    """Return the W₂-distance from the stationary law at which the excess risk reaches `target`; 0 if it is above it."""
    law = _law(problem, eta, noise_variance)
    return utility.largest_distance(
        target=target,
        stationary=_stationary_excess(problem, eta, noise_variance),
        gradient_square=utility.stationary_gradient_square(**law),
        objective_smoothness=problem.objective_smoothness,
    )
