"""Plans for "solve, then diffuse": every release starts from the minimiser of the current records."""

from __future__ import annotations

import math

from ..bounds import shifted_interpolation
from ..bounds.arithmetic import gradient_error
from ..engine.quasi_newton import factor_passes
from ..engine.solver import proven_steps
from ..errors import AssumptionViolated, InvalidParameter
from ..privacy.guarantee import Guarantee
from .calibration import calibrate
from .plan import Plan
from .problem import Problem
from .sharp import contracting_step_size

_SHARE = 0.01  # of one record's influence: what the solver's tolerance may add to it
_ROUNDING_ROOM = 10  # γ is at least this many times the rounding of a measured gradient
_DIFFUSION_SHARE = 5 / 3  # of the forecast solver passes: the most that diffusion takes unless the caller chooses K


def plan_minimiser(problem: Problem) -> Plan:
    """γ from the rounding of gradients and the deletion budget, K from inflation against passes, σ² from both."""
    if problem.certificate != "sharp":
        raise InvalidParameter(
            f"start='minimiser' with certificate={problem.certificate!r}: only certificate='sharp' covers it"
        )
    if not problem.strong_convexity > 0:
        raise AssumptionViolated(
            f"λ={problem.regularization:g} must exceed the weak convexity β₋={problem.loss.constants.weak_convexity:g} of the "
            f"{problem.loss.name} loss: only then is there one minimiser, close for neighbouring tables"
        )
    eta = contracting_step_size(problem)
    chain = {"step_size": eta, "strong_convexity": problem.strong_convexity}
    steps = problem.diffusion_steps or diffusion_steps(problem, eta)
    tolerance = _tolerance(problem, eta, steps)
    budget_dp = problem.dp_gdp()

    def complete(noise_variance: float) -> Plan:
        return Plan(
            problem=problem,
            step_size=eta,
            noise_variance=noise_variance,
            init_variance=0.0,
            learn_steps=steps,
            delete_steps_for_deletion=steps,
            delete_steps_for_utility=0,
            gradient_tolerance=tolerance,
            learn_solver_passes=solver_passes(problem, tolerance),
            delete_solver_passes=solver_passes(problem, tolerance),
        )

    def affordable(together: Guarantee) -> bool:
        return together.gdp_squared <= budget_dp**2

    single = shifted_interpolation.minimiser_noise_variance(
        gdp=budget_dp,
        sensitivity=_sensitivity(problem, problem.adjacency, eta),
        records=problem.records,
        steps=steps,
        gradient_tolerance=tolerance,
        **chain,
    )
    single *= 1 + 1e-14  # rounding, to the safe side
    return calibrate(problem, single, complete, affordable)


def _sensitivity(problem: Problem, notion: str, step_size: float) -> float:
    return problem.mechanism(step_size=step_size, noise_variance=1.0).sensitivity(notion)


def _tolerance(problem: Problem, step_size: float, steps: int) -> float:
    """γ: small next to one record's influence, small enough for the deletion budget, large next to rounding."""
    n, eta = problem.records, step_size
    delta = _sensitivity(problem, problem.adjacency, eta)
    forgotten = (
        math.exp(steps * math.log1p(-eta * problem.strong_convexity)) if eta * problem.strong_convexity < 1 else 0
    )
    most = math.inf
    if problem.solver == "warm" and forgotten:
        # μ_dd/μ_dp = 2γnc^K/(Δ + 2γnc^K) must not exceed the ratio of the budgets
        ratio = problem.deletion_gdp() / problem.dp_gdp()
        most = math.inf if ratio >= 1 else ratio / (1 - ratio) * delta / (2 * n * forgotten) * (1 - 1e-9)
    rounding = gradient_error(
        lipschitz=problem.loss.constants.lipschitz,
        curvature=problem.loss.constants.curvature,
        outputs=problem.loss.outputs,
        records=n,
        features=problem.features,
        regularization=problem.regularization,
        weights_norm=2 * problem.loss.constants.lipschitz / problem.regularization,
    )
    tolerance = problem.gradient_tolerance
    if tolerance is None:
        tolerance = max(_ROUNDING_ROOM * rounding, min(_SHARE * delta / (2 * n), most))
    if not tolerance <= most:
        raise InvalidParameter(
            f"gradient_tolerance={tolerance:g} must be at most {most:g} for this deletion budget; lower it, raise the budget, "
            "or use solver='cold', which forgets exactly"
        )
    if not tolerance >= _ROUNDING_ROOM * rounding:
        raise InvalidParameter(
            f"gradient_tolerance={tolerance:g} must be at least {_ROUNDING_ROOM * rounding:g}, {_ROUNDING_ROOM} times the "
            "rounding of a gradient in float64; raise it, or leave it out"
        )
    return tolerance


def solver_passes(problem: Problem, tolerance: float) -> int:
    """Gradient passes of one solve: the proven number for solver="fixed", else the forecast."""
    if problem.solver == "fixed":
        steps = proven_steps(
            distance=problem.loss.constants.lipschitz / problem.strong_convexity,
            tolerance=tolerance,
            strong_convexity=problem.strong_convexity,
            objective_smoothness=problem.objective_smoothness,
        )
        return steps + 1
    return forecast_passes(problem)


def forecast_passes(problem: Problem) -> int:
    """An empirical rule over κ for L-BFGS; benchmarks/solve_then_diffuse.py prints it beside what was measured."""
    kappa = problem.objective_smoothness / problem.strong_convexity
    factoring = factor_passes(records=problem.records, features=problem.features, outputs=problem.loss.outputs)
    base, power = (2.0, 0.25) if factoring else (4.0, 0.27)
    return factoring + math.ceil(base * math.pow(kappa, power))


def forecast_excess_risk(
    problem: Problem, *, step_size: float, noise_variance: float, steps: float = math.inf
) -> float:
    """Forecast of E[L_D(θ)] − min L_D after `steps` steps from the minimiser, from public numbers; nats per record.

    Along curvature h the noise leaves variance σ²(1 − (1 − ηh)^{2K})/(h(1 − ηh/2)), worth h/2 of it. The Hessian of the
    mean loss has trace at most T beyond λd (all that is public about it), and spreading T evenly over the d directions is
    the costliest way while the worth of a direction is concave in h.
    """
    mean_curvature = problem.strong_convexity + problem.loss.curvature_trace / problem.dimension
    u = min(step_size * mean_curvature, 1.0)
    settled = 1.0 if u == 1 or steps == math.inf else -math.expm1(2 * steps * math.log1p(-u))
    return problem.dimension * noise_variance / 2 * settled / (1 - u / 2)


def diffusion_steps(problem: Problem, step_size: float) -> int:
    """K: the fewest steps whose forecast excess risk is within 1 % of the best that as many passes as the solver's can buy.

    The forecast falls with K: it is (1 − a^K)/(1 − b^K) with a ≤ b < 1, up to a constant.
    """
    chain = {"step_size": step_size, "strong_convexity": problem.strong_convexity}

    def risk(steps: int) -> float:
        return forecast_excess_risk(
            problem,
            step_size=step_size,
            noise_variance=shifted_interpolation.noise_inflation(steps=steps, **chain),
            steps=steps,
        )

    low, high = 0, max(1, round(_DIFFUSION_SHARE * forecast_passes(problem)))
    enough = 1.01 * risk(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if risk(middle) <= enough else (middle, high)
    return high
