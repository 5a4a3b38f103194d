"""A plan for a non-convex loss in words: which certificate answers, why, what the model is worth, what the others need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..bounds import theorem_5_2
from ..errors import NoisyGDDeleteError
from ..methods.plan import Plan
from ..privacy.shown import shown

_OTHERS = {
    "theorem": "Theorem 5.2 as printed",
    "sharp": "the tight bound where λ > β₋, else Theorem 5.2 sharpened",
    "composition": "every noisy step costs, a fresh learn forgets",
}


def certificate(plan: Plan) -> str:
    """Which mathematics answers for a non-convex loss, and why."""
    weak = plan.loss.constants.weak_convexity
    if plan.horizon is not None:
        return (
            "Certificate: composition. No closeness to any law is used, so it needs neither convexity nor smoothness, and it "
            "holds under adaptive requests; but steps without a record do not fade its trace."
        )
    if plan.order is None:
        return (
            f"Certificate: tight. λ={plan.regularization:g} exceeds the weak convexity β₋={weak:.4g}, so the objective is "
            f"strongly convex with m={plan.problem.strong_convexity:.4g} and everything of the convex case holds with m for λ."
        )
    form = "Theorem 5.2 as printed" if plan.certificate == "theorem" else "Theorem 5.2 sharpened"
    why = f"λ={plan.regularization:g} does not exceed β₋={weak:.4g}" if plan.certificate == "sharp" else "as asked"
    return (
        f"Certificate: {form} at Rényi order q={plan.order:g} ({why}): the model stays near the Gibbs law of the current "
        "records, which never saw a deleted one. This speaks of observers who came after the erasure and of requests that do "
        "not depend on earlier models; once an earlier model was observed, only the composition of steps is certified. ε_dp is "
        "of one release, given the model before it (18)."
    )


def steps(plan: Plan) -> str:
    """Noise, steps, and what they leave of the data."""
    text = (
        f"Noise σ²={plan.noise_variance:.6g} at step size η={plan.step_size:.6g}. Learning: K_A={plan.learn_steps} steps "
        f"({plan.gradient_evaluations['learn']} record gradients); deleting: K_Ā={plan.delete_steps} per request."
    )
    if plan.horizon is not None:
        return text + (
            f" After {plan.horizon} steps since the last fresh learn the deletion budget is spent, about "
            f"{(plan.horizon - plan.learn_steps) // plan.delete_steps + 1} requests; a fresh learn is then "
            + ("run in the request's place." if plan.problem.fresh_learn == "automatic" else "demanded (relearn).")
        )
    if plan.order is None:
        return text
    influence = theorem_5_2.data_influence(range=plan.loss.constants.range, noise_variance=plan.noise_variance)
    return text + (
        f" What the model is worth: at this noise the data can move its law from the prior by at most {influence:.3g} in total "
        "variation"
        + (", so the weights are nearly a draw from the prior." if influence < 1 / 2 else ".")
        + f" Bound on the excess risk: {plan.excess_risk:.3g}, for a loss of range {plan.loss.constants.range:g}."
    )


def promise(plan: Plan) -> str:
    """What a deleted record can expect."""
    order = plan.order or plan.budget.order or 2.0
    return f"{to_observers(plan)} Under the first: ε_dd={shown(plan.deletion.with_slack().renyi(order))} at order {order:g}."


def to_observers(plan: Plan) -> str:
    """Both figures of a deletion: for later models alone, with its condition, and for everything observed, without one."""
    alone = plan.deletion
    return (
        f"Promise for a deleted record: an observer of the models after its deletion gains at most {alone.at_most} over "
        f"guessing, if {alone.assumptions[0]}. If they may have, what was observed while the record was there counts: at most "
        f"{plan.deletion_observed().at_most} after one observed model, and each further one adds."
    )


def others(plan: Plan) -> str:
    """The other certificates on the same budget, or why each does not apply."""
    from . import make_plan

    lines = []
    for name, what in _OTHERS.items():
        if name == plan.certificate:
            continue
        problem = replace(
            plan.problem, certificate=name, step_size=None, noise_variance=None, learn_steps=None, delete_steps=None
        )
        arguments: dict[str, Any] = {field: getattr(problem, field) for field in problem.__dataclass_fields__}
        try:
            rival = make_plan(**arguments)
        except NoisyGDDeleteError as error:
            lines.append(f"'{name}' ({what}): {str(error).split('; at ')[0]}")
        else:
            lines.append(
                f"'{name}' ({what}): σ²={rival.noise_variance:.4g}, K_A={rival.learn_steps}, K_Ā={rival.delete_steps}"
            )
    return "The same budget otherwise.\n  " + "\n  ".join(lines)
