"""A plan in words and numbers, beside its rivals: what the plan says of itself, and what other methods take."""

from __future__ import annotations

from dataclasses import replace

from ..errors import NoisyGDDeleteError
from ..methods import Composition, Ladder, Method, Sharp, Theorem
from ..methods.plan import Plan, without
from .make import plan_for

_CHOSEN = (  # options that do not make another method of it
    *("step_size", "noise_variance", "order", "excess_risk_target"),
    *("diffusion_steps", "gradient_tolerance"),
)


def explain(plan: Plan) -> str:
    """Plain text, one paragraph per question a user asks of a plan."""
    return "\n\n".join(filter(None, (plan.explain(), _rivals(plan))))


def _against(plan: Plan, rival: Plan) -> str:
    """The rival's noise, where both add the same kind; else what noise is for: its forecast cost."""
    if plan.noise_variance and rival.noise_variance:
        return f"noise variance {rival.noise_variance / plan.noise_variance:.3g}"
    return f"forecast cost in regularised loss {rival.outlook.forecast / plan.outlook.forecast:.3g}"


def _rivals(plan: Plan) -> str:
    """The same budget under the other methods that cover the loss."""
    convex = plan.loss.constants.convex
    others: tuple[Method, ...] = (Theorem(), Sharp()) if convex else (Theorem(), Sharp(), Composition(), Ladder())
    lines = []
    for method in others:
        notion = plan.problem.deletion_notion
        covered = notion if notion in method.notions else method.notions[0]
        try:
            rival = plan_for(replace(plan.problem, method=method, deletion_notion=covered))
            if without(rival.method, *_CHOSEN) == without(plan.method, *_CHOSEN):
                continue
        except NoisyGDDeleteError as error:
            lines.append(f"'{method.name}' ({method.summary}) does not apply: {str(error).split('; at ')[0]}")
        else:
            lines.append(
                f"'{method.name}' ({method.summary}): {_against(plan, rival)} times this one, "
                f"K_A={rival.learn_steps}, K_Ā={rival.delete_steps} (forgetting {rival.delete_steps_for_deletion}, utility "
                f"{rival.delete_steps_for_utility})"
            )
    return "\n  ".join(["The same budget otherwise.", *lines]) if lines else ""
