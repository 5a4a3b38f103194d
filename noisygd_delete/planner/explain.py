"""A plan in words and numbers: what drives the noise and the steps, and what the other certificate would cost."""

from __future__ import annotations

import math
from dataclasses import replace

from ..bounds import shifted_interpolation, theorem_5_1
from ..errors import NoisyGDDeleteError
from ..methods.plan import Plan
from ..privacy.shown import shown
from . import explain_nonconvex
from .worth import worth


def explain(plan: Plan) -> str:
    """Plain text, one paragraph per question a user asks of a plan."""
    if not plan.loss.constants.convex and plan.problem.start == "published":
        parts = (
            explain_nonconvex.certificate,
            explain_nonconvex.steps,
            worth,
            explain_nonconvex.promise,
            explain_nonconvex.others,
        )
        return "\n\n".join(filter(None, (_heading(plan), *(part(plan) for part in parts))))
    paragraphs = (
        (_solving, worth, _inflation) if plan.problem.start == "minimiser" else (_noise, worth, _learning, _deleting)
    )
    return "\n\n".join(filter(None, (part(plan) for part in (_heading, *paragraphs, _promise, _other))))


def _kappa(plan: Plan) -> float:
    return plan.problem.objective_smoothness / plan.problem.strong_convexity


def _heading(plan: Plan) -> str:
    problem = plan.problem
    return (
        f"Plan: {plan.loss.name} loss, n={plan.records} slots, d={plan.dimension} weights, λ={plan.regularization:g}, "
        f"certificate '{plan.certificate}'.\n"
        f"Budget: {plan.budget.describe()}; adjacency {problem.adjacency}, deletion notion {problem.deletion_notion}, "
        f"{problem.rows_per_subject} row(s) per data subject"
        + (
            f"; {plan.releases} observed releases together stay within the dp part."
            if plan.releases > 1
            else "; per release."
        )
    )


def _noise(plan: Plan) -> str:
    delta = plan.mechanism.sensitivity(plan.problem.adjacency)
    share = math.sqrt(plan.stationary_distance)
    return (
        f"Noise: σ²={plan.noise_variance:.6g} at step size η={plan.step_size:.6g}. One record moves the gradient sum by at most "
        f"Δ={delta:g}; its trace fades at rate λ, so σ² is proportional to Δ²/(λ n² · budget): halving the budget or λ doubles it, "
        f"doubling n divides it by four. The released weights lie within about {share:.3g} of the minimiser (root mean square bound), "
        f"which costs at most {plan.excess_risk:.3g} in regularised loss."
    )


def _learning(plan: Plan) -> str:
    return (
        f"Learning: K_A={plan.learn_steps} steps ({plan.gradient_evaluations['learn']} record gradients). The condition number "
        f"κ={_kappa(plan):.4g} drives it: every factor e in distance to the minimiser costs about "
        f"{_steps_per_factor(plan):.4g} steps."
    )


def _solving(plan: Plan) -> str:
    kind = {
        "warm": "starting a request from the published model",
        "cold": "always starting from 0, so that a deleted record leaves exactly nothing",
        "fixed": "in a number of passes fixed in advance, always from 0, so that neither the result nor the number of passes shows a deleted record",
    }[plan.problem.solver]
    expected = "exactly" if plan.problem.solver == "fixed" else "a forecast of"
    return (
        f"Solving: every release starts from the minimiser of the current records, to gradient norm γ={plan.gradient_tolerance:.3g}, "
        f"{kind}: {expected} {plan.delete_solver_passes} gradient passes (κ={_kappa(plan):.4g}). Nothing has to be forgotten after "
        "that."
        + (
            ""
            if plan.problem.solver == "fixed"
            else " How long the solver takes depends on the data; solver='fixed' avoids it."
        )
    )


def _inflation(plan: Plan) -> str:
    from ..methods.minimiser import forecast_excess_risk

    forecast = forecast_excess_risk(
        plan.problem, step_size=plan.step_size, noise_variance=plan.noise_variance, steps=plan.delete_steps
    )
    inflation = shifted_interpolation.noise_inflation(
        steps=plan.delete_steps, step_size=plan.step_size, strong_convexity=plan.problem.strong_convexity
    )
    return (
        f"Diffusing: K={plan.delete_steps} steps of Noisy-GD at η={plan.step_size:.6g}, σ²={plan.noise_variance:.6g}: "
        f"{inflation:.4g} times the noise variance that very many steps would need (1/(1 − c^2K)), which directions of high "
        f"curvature feel and flat ones do not. More steps (diffusion_steps=) mean less noise. Forecast cost in "
        f"regularised loss: {forecast:.3g} (proven: {plan.excess_risk:.3g}). Each release is a fresh publication at the full dp cost: over many "
        "observed releases compare_plans weighs it against resuming."
    )


def _steps_per_factor(plan: Plan) -> float:
    rate = plan.step_size * plan.problem.strong_convexity
    if plan.certificate == "theorem":
        return 2 / rate
    return -1 / (2 * math.log1p(-rate)) if rate < 1 else 0.0


def _deleting(plan: Plan) -> str:
    budget = plan.budget
    wanted = (
        f"from {budget.dp:g} to {budget.deletion:g}"
        if budget.measure != "epsilon-delta"
        else "down to the deletion budget"
    )
    utility = (
        f"utility over any number of requests of r={plan.problem.batch} needs {plan.delete_steps_for_utility}"
        if plan.problem.utility
        else "no utility condition was asked for"
    )
    if plan.problem.utility and plan.delete_steps_for_utility > plan.delete_steps_for_deletion:
        verdict = "Utility decides; drop it (utility=False) to run the deletion condition alone"
    else:
        verdict = "Deletion decides"
    share = plan.delete_steps / plan.learn_steps if plan.learn_steps else math.inf
    return (
        f"Deleting: K_Ā={plan.delete_steps} steps per request, {share:.1%} of learning. Two conditions: forgetting ({wanted}) needs "
        f"{plan.delete_steps_for_deletion}; {utility}. {verdict}."
    )


def _promise(plan: Plan) -> str:
    deletion, order = plan.deletion.with_slack(), plan.budget.order
    figures = [] if order is None else [f"ε_dd={shown(deletion.renyi(order))} at order {order:g}"]
    delta = plan.budget.shown_delta
    figures.append(f"(ε={shown(deletion.epsilon(delta))}, δ={shown(delta)})")
    slack = plan.mechanism.slack
    text = (
        f"{explain_nonconvex.to_observers(plan)} Under the first: {'; '.join(figures)}. Theorems speak of real numbers; "
        f"for the rounding of gradient sums the figures include a factor (1+{shown(slack)})²."
    )
    if plan.certificate == "theorem" and plan.problem.adjacency == "replace":
        text += (
            " (16) counts the pair x, x′ (2L); Definition 4.1 compares with a record that was never there (L), so the achieved "
            "ε_dd is a quarter of the printed one."
        )
    return text


def _other(plan: Plan) -> str:
    from . import make_plan

    if not plan.loss.constants.convex:
        return ""
    solved = plan.problem.start == "minimiser"
    other = "sharp" if plan.certificate == "theorem" or solved else "theorem"
    problem = replace(
        plan.problem,
        certificate=other,
        step_size=None,
        noise_variance=None,
        start="published",
        solver="warm",
        diffusion_steps=None,
        gradient_tolerance=None,
        excess_risk=None,
    )
    if other == "theorem":
        problem = replace(problem, deletion_notion="definition-4.1")
    try:
        rival = make_plan(**{name: getattr(problem, name) for name in problem.__dataclass_fields__})
    except NoisyGDDeleteError as error:
        return f"The '{other}' certificate does not apply: {error}"
    if solved:
        return (
            f"Resuming from the published model ('sharp') the same budget would take noise variance "
            f"{rival.noise_variance / plan.noise_variance:.3g} times this one, K_A={rival.learn_steps}, K_Ā={rival.delete_steps}."
        )
    label = "the tight bound of the same algorithm" if other == "sharp" else "Theorem 5.1 as printed"
    printed = theorem_5_1.step_size(regularization=plan.regularization, smoothness=plan.loss.constants.smoothness)
    pace = (
        f"{rival.step_size / printed:.2g} times the printed step size" if other == "sharp" else "the printed step size"
    )
    return (
        f"Under '{other}' ({label}, {pace}) the same budget would take noise variance {rival.noise_variance / plan.noise_variance:.3g} times "
        f"this one, K_A={rival.learn_steps}, K_Ā={rival.delete_steps} (forgetting {rival.delete_steps_for_deletion}, utility "
        f"{rival.delete_steps_for_utility})."
    )
