"""Output perturbation by noisy steps: every release starts from the minimiser of the current records."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from ..bounds import shifted_interpolation
from ..bounds.arithmetic import ROOM, first_whole, gradient_error, least_whole
from ..errors import AssumptionViolated, InvalidParameter, check_choice, check_count, check_positive, non_negative
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from . import procedure
from .base import Condition, Cost
from .exact_steps import ExactSteps, GridMethod
from .explanations import condition_number, explain_solver
from .forecast import Prospects, forecast_excess_risk, steps_deviation
from .noisy_gd import NoisyGDRun, contracting_step_size
from .noisy_steps import calibrate_noise, stationary_distance
from .plan import Calibration, Plan
from .problem import Problem
from .procedure import SOLVERS, forecast_passes, solver_passes

_SHARE = 0.01  # share of one record's influence that the solver's tolerance may add
_ROUNDING_ROOM = 10  # γ is at least this many times the rounding of a measured gradient
_ATTEMPTS = 60
_MOST_DIFFUSION = 1 << 16  # steps
_DIFFUSION_SHARE = 5 / 3  # of the forecast solver passes: the most that diffusion takes unless the caller chooses K


@dataclass(frozen=True, kw_only=True)
class OutputPerturbationRun(NoisyGDRun):
    """Noisy GD from the minimiser, so that every release is a fresh publication.

    The solver reads the current records only: an erased record can influence only where, within the tolerance, a warm
    solver stopped.

    Attributes:
        gradient_tolerance: γ; the gradient's norm where the solver stops is at most this, guaranteed.
        warm: Whether the solver of a request starts from the published model (else from 0).
    """

    method: ClassVar[str] = "output-perturbation"
    source: ClassVar[str] = "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD from the minimiser"
    fresh: ClassVar[bool] = True

    gradient_tolerance: float = 0.0
    warm: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative("gradient_tolerance", self.gradient_tolerance)

    @property
    def shows_start(self) -> bool:
        """Whether the solver starts from the published model, so that its last error may depend on it (`warm`)."""
        return self.warm

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        if not steps:
            raise InvalidParameter(
                "steps=0: a release from the minimiser without a noisy step is the minimiser itself, which no bound covers"
            )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        if steps_without and not (self.shows_start or self.shows_order):
            return {"gdp_squared": 0.0}  # the same rows in the same order
        steps = steps_without or steps_with
        if self.exact is not None:
            return {"gdp_squared": self._exact_gdp(self.exact, worlds, steps, erased=bool(steps_without)) ** 2}
        mu = shifted_interpolation.minimiser_dp_gdp(
            **self._chain(),
            sensitivity=0.0 if steps_without else self.sensitivity(worlds),
            strong_convexity=self.strong_convexity,
            gradient_tolerance=self.gradient_tolerance,
            steps=steps,
        )
        return {"gdp_squared": mu**2}

    def _exact_gdp(self, exact: ExactSteps, worlds: Worlds, steps: float, *, erased: bool) -> float:
        """Return μ with rounded steps, from solver answers within γ/m of their minimisers.

        The minimisers are Δ/(nm) apart, or equal if the record is erased.
        """
        m, room = self.strong_convexity, 1 + 2.0**-40  # of the float operations here
        solved = 2 * self.gradient_tolerance / m * room
        if erased:
            return exact.gdp(self, worlds, steps_with=0, steps_without=steps, apart=solved)
        moved = self.sensitivity(worlds) * ROOM / (self.records * m) * room
        return exact.gdp(self, worlds, steps_with=steps, apart=moved + solved)

    def conditions(self) -> tuple[Condition, ...]:
        own = {"method": self.method}
        solved = ("solver-tolerance", {**own, "tolerance": self.gradient_tolerance})
        return (*super().conditions(), solved, ("time-unseen", own))


@dataclass(frozen=True)
class OutputPerturbation(GridMethod):
    """γ from the rounding of gradients and the deletion budget, K from noise inflation against passes, σ² from both.

    Attributes:
        solver: "warm" starts a request from the published model; "cold" from 0, so that a deleted record leaves exactly
            nothing; "fixed" also takes a number of passes that no record can change.
        diffusion_steps: K; None trades the noise inflation 1/(1 − c^{2K}) against passes. A plan states the value it
            uses.
        gradient_tolerance: γ; None takes a hundredth of one record's influence. A plan states the value it uses.
        step_size: η; None takes 1/(λ+β).
        noise_variance: σ²; None takes the calibrated one, a larger value is allowed.
    """

    name: ClassVar[str] = "output-perturbation"
    summary: ClassVar[str] = (
        "solve for the minimiser of the current records, then diffuse: nothing but noise to wait for"
    )

    solver: str = "warm"
    diffusion_steps: int | None = None
    gradient_tolerance: float | None = None
    step_size: float | None = None
    noise_variance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("solver", self.solver, SOLVERS)
        if self.diffusion_steps is not None:
            check_count("diffusion_steps", self.diffusion_steps)
        for name in ("gradient_tolerance", "step_size", "noise_variance"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))

    def allow_any_order(self) -> OutputPerturbation:
        """Return a copy with exact=True, in_place=False and γ None; the method itself if in_place is False already.

        γ is chosen again, since it may affect the deletion guarantee.
        """
        return replace(super().allow_any_order(), gradient_tolerance=None) if self.in_place else self

    def _exactly(self, problem: Problem) -> Plan | None:
        """Return the plan in exact steps, with a smaller tolerance if the budget requires it.

        The deletion guarantee includes roundings in addition to the tolerance.
        """
        chosen = self
        for _ in range(_ATTEMPTS):
            plan = chosen._over_reals(problem)
            if plan.problem.budget.affords(plan.deletion):
                return plan
            if self.gradient_tolerance is not None or plan.calibration.gradient_tolerance <= least_tolerance(problem):
                break
            chosen = replace(
                self, gradient_tolerance=max(least_tolerance(problem), 0.9 * plan.calibration.gradient_tolerance)
            )
        return None

    def _over_reals(self, problem: Problem) -> Plan:
        """Return the plan by `problem.method`; used for exact steps too."""
        _check_one_minimiser(problem)
        eta = contracting_step_size(problem, self.step_size)
        chain = {"step_size": eta, "strong_convexity": problem.strong_convexity}
        steps = self.diffusion_steps or diffusion_steps(problem, eta)
        tolerance = _tolerance(problem, self, eta, steps)
        passes = solver_passes(problem, self.solver, tolerance)
        chosen = replace(self, diffusion_steps=steps, gradient_tolerance=tolerance)
        stated = replace(problem, method=chosen)
        budget_dp = problem.budget.dp_gdp() if self.exact else problem.dp_gdp()

        def complete(noise_variance: float) -> Plan:
            numbers = Calibration(
                step_size=eta,
                noise_variance=noise_variance,
                learn_steps=steps,
                delete_steps_for_deletion=steps,
                gradient_tolerance=tolerance,
                learn_solver_passes=passes,
                delete_solver_passes=passes,
            )
            return chosen.assemble(stated, numbers)

        def affordable(together: Guarantee) -> bool:
            return together.gdp_squared <= budget_dp**2

        single = shifted_interpolation.minimiser_noise_variance(
            gdp=budget_dp,
            sensitivity=problem.sensitivity(problem.adjacency),
            records=problem.records,
            steps=steps,
            gradient_tolerance=tolerance,
            **chain,
        )
        single *= 1 + 1e-14  # rounding, to the safe side
        return calibrate_noise(problem, single, self.noise_variance, complete, affordable, closed=not self.exact)

    def check_plan(self, plan: Plan) -> None:
        """Check `GridMethod.check_plan`, that λ > β₋, and that γ is at least the rounding of a gradient in float64."""
        super().check_plan(plan)
        _check_one_minimiser(plan.problem)
        least = gradient_error(**_rounding_facts(plan.problem))
        if not plan.calibration.gradient_tolerance >= least:
            raise InvalidParameter(
                f"is below {least:g}, the rounding of a gradient in float64",
                gradient_tolerance=plan.calibration.gradient_tolerance,
            )

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan, in which every release is a fresh publication of K steps from the minimiser.

        dp covers one such run; the deletion guarantee one run without the record, which costs something only through
        the solver's start or the order of rows.

        Raises:
            InvalidParameter: If a learn and a request take different numbers of steps: fewer cost more.
        """
        if numbers.learn_steps != numbers.delete_steps:
            raise InvalidParameter(
                f"must be delete_steps={numbers.delete_steps}: every release is the same number of steps from the minimiser",
                learn_steps=numbers.learn_steps,
            )
        own: dict[str, Any] = {"gradient_tolerance": numbers.gradient_tolerance, "warm": self.solver == "warm"}
        run = OutputPerturbationRun(**self.run_facts(problem, numbers), **own)
        start = procedure.Minimizer(numbers.gradient_tolerance, self.solver)
        promise = procedure.PlannedGuarantees(
            dp=procedure.WorstCaseRun(numbers.learn_steps),
            deletion=procedure.WorstCaseRun(steps_without=numbers.delete_steps),
        )
        return Plan.of(problem, run, numbers, learning=start, serving=start, promise=promise, exactness=run.exactness)

    def outlook(self, plan: Plan) -> Prospects:
        """Return the prospects of a chain that starts at the solver's answer, within γ/m of the minimiser.

        The bound is M/2 times the bound on E‖θ − θ*‖² after K steps; the forecast is after K steps, the deviation after
        many.
        """
        numbers = plan.calibration
        m, chain = plan.problem.strong_convexity, {"step_size": numbers.step_size}
        distance = shifted_interpolation.distance_after(
            distance_before=(numbers.gradient_tolerance / m) ** 2,
            move=0.0,
            steps=numbers.learn_steps,
            stationary=stationary_distance(plan),
            strong_convexity=m,
            **chain,
        )
        bound = shifted_interpolation.excess_risk(
            distance=distance, objective_smoothness=plan.problem.objective_smoothness
        )
        return Prospects(
            bound,
            forecast_excess_risk(
                plan.problem,
                noise_variance=numbers.noise_variance,
                steps=numbers.delete_steps,
                **chain,
            ),
            steps_deviation(plan.problem, numbers.step_size, numbers.noise_variance),
        )

    def words(self, plan: Plan) -> tuple[str, ...]:
        return self._solving(plan), self._diffusing(plan)

    def _solving(self, plan: Plan) -> str:
        kind, slow = explain_solver(self.solver, in_place=self.in_place)
        return (
            f"Solving: every release starts from the minimiser of the current records, to gradient norm γ={plan.calibration.gradient_tolerance:.3g}, "
            f"{kind} {plan.calibration.delete_solver_passes} gradient passes (κ={condition_number(plan.problem):.4g}). Nothing has to be "
            f"forgotten after that.{slow}"
        )

    def _diffusing(self, plan: Plan) -> str:
        numbers = plan.calibration
        forecast = plan.outlook.forecast
        inflation = shifted_interpolation.noise_inflation(
            steps=numbers.delete_steps,
            step_size=numbers.step_size,
            strong_convexity=plan.problem.strong_convexity,
        )
        return (
            f"Diffusing: K={numbers.delete_steps} steps of Noisy-GD at η={numbers.step_size:.6g}, σ²={numbers.noise_variance:.6g}: "
            f"{inflation:.4g} times the noise variance that very many steps would need (1/(1 − c^2K)), which directions of high "
            f"curvature feel and flat ones do not. More steps of it mean less noise. Forecast cost in regularised "
            f"loss: {forecast:.3g} (proven: {plan.outlook.excess_risk:.3g}). Each release is a fresh publication at the full dp cost: over "
            "many observed releases compare_plans weighs it against resuming."
        )


def _tolerance(problem: Problem, method: OutputPerturbation, step_size: float, steps: int) -> float:
    """Return γ: small compared with one record's influence, within the deletion budget, large compared with rounding.

    Raises:
        InvalidParameter: If γ is too large for the deletion budget or too small for the rounding.
    """
    n, eta = problem.records, step_size
    delta = problem.sensitivity(problem.adjacency)
    forgotten = (
        math.exp(steps * math.log1p(-eta * problem.strong_convexity)) if eta * problem.strong_convexity < 1 else 0
    )
    most = math.inf
    if (method.solver == "warm" or not method.in_place) and forgotten:
        # μ_dd/μ_dp = 2γnc^K/(Δ + 2γnc^K) must not exceed the ratio of the budgets
        ratio = problem.deletion_gdp() / problem.dp_gdp()
        most = math.inf if ratio >= 1 else ratio / (1 - ratio) * delta / (2 * n * forgotten) * (1 - 1e-9)
    least = least_tolerance(problem)
    tolerance = method.gradient_tolerance
    if tolerance is None:
        tolerance = max(least, min(_SHARE * delta / (2 * n), most))
    otherwise = "solver 'cold', which forgets exactly" if method.in_place else "method 'objective-perturbation'"
    if not tolerance <= most:
        raise InvalidParameter(
            f"must be at most {most:g} for this deletion budget; lower it, raise the budget, or use {otherwise}",
            gradient_tolerance=tolerance,
        )
    if not tolerance >= least:
        raise InvalidParameter(
            f"must be at least {least:g}, {_ROUNDING_ROOM} times the rounding of a gradient in float64; raise it, or "
            "leave it out",
            gradient_tolerance=tolerance,
        )
    return tolerance


def least_tolerance(problem: Problem) -> float:
    """Return the least γ that a plan may use: ten times a bound on the rounding of a gradient at norms up to 2L/λ."""
    return _ROUNDING_ROOM * gradient_error(**_rounding_facts(problem))


def _check_one_minimiser(problem: Problem) -> None:
    if not problem.strong_convexity > 0:
        raise AssumptionViolated(
            f"λ={problem.regularization:g} must exceed the weak convexity β₋={problem.loss.constants.weak_convexity:g} of the "
            f"{problem.loss.name} loss: only then is there one minimiser, close for neighbouring tables"
        )


def _rounding_facts(problem: Problem) -> dict[str, Any]:
    """Return the arguments of `gradient_error`, for any point where the solver may end."""
    return {
        "lipschitz": problem.loss.constants.lipschitz,
        "curvature": problem.loss.constants.curvature,
        "outputs": problem.loss.outputs,
        "records": problem.records,
        "features": problem.features,
        "regularization": problem.regularization,
        "weights_norm": 2 * problem.loss.constants.lipschitz / problem.regularization,
    }


def diffusion_steps(problem: Problem, step_size: float) -> int:
    """Return K, the fewest steps whose forecast excess risk is within 1 % of the best with the allowed passes.

    At most 5/3 of the forecast solver passes are allowed. The forecast decreases in K: it is (1 − a^K)/(1 − b^K) with a
    ≤ b < 1, up to a constant.
    """
    chain = {"step_size": step_size, "strong_convexity": problem.strong_convexity}

    def risk(steps: int) -> float:
        return forecast_excess_risk(
            problem,
            step_size=step_size,
            noise_variance=shifted_interpolation.noise_inflation(steps=steps, **chain),
            steps=steps,
        )

    most = max(1, round(_DIFFUSION_SHARE * forecast_passes(problem)))
    enough = 1.01 * risk(most)
    return first_whole(lambda steps: risk(steps) <= enough, 0, most)


def with_diffusion_for(plan: Plan, target: float) -> Plan:
    """Return the plan with the fewest diffusion steps (to 5 %) whose forecast excess risk is at most `target`.

    Only more steps than the plan has are tried, up to 65,535. The plan is unchanged if no number of steps meets the
    target, or if its method is not `OutputPerturbation`.
    """
    asked = plan.method
    if not isinstance(asked, OutputPerturbation):
        return plan

    @cache
    def diffused(steps: int) -> Plan:
        method = replace(asked, diffusion_steps=steps)
        return method.plan(replace(plan.problem, method=method))

    few = plan.calibration.delete_steps
    enough = least_whole(
        lambda steps: diffused(steps).outlook.forecast <= target,
        guess=2 * few,
        below=few,
        most=_MOST_DIFFUSION - 1,
        digits=0.05,
    )
    return plan if enough is None else diffused(enough)
