"""`noisygd-delete plan`: from a budget to steps and noise, before any record is touched."""

from __future__ import annotations

import argparse
from typing import Any

from .. import losses, methods
from ..errors import InvalidParameter
from ..methods import METHODS, Method
from ..methods.composition import FRESH_LEARN
from ..methods.minimiser import SOLVERS
from ..methods.near_gibbs import FORMS
from ..methods.plan import Plan
from ..methods.problem import DTYPES
from ..methods.words import worth
from ..planner import cheapest_plan, compare_plans, explain, make_plan, plan_stream
from ..planner.cheapest import Choice
from ..planner.ridge import RIDGES
from ..planner.streams import StreamPlan
from ..privacy.budget import Budget
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS
from .arguments import number, whole
from .shared import add_json, show
from .words import options_of, spoken


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `make_plan` other than the table's sizes; shared by every command that plans."""
    loss = add_loss_arguments(parser)
    loss.add_argument("--regularization", type=number, default=1e-3, metavar="λ", help="default 1e-3")
    loss.add_argument(
        "--ridge",
        default="given",
        choices=RIDGES,
        help="forecast: raise λ, by public numbers alone, where the noise asks for it (default: given)",
    )
    add_budget_arguments(parser)
    chosen = parser.add_argument_group("guarantee")
    chosen.add_argument(
        "--method", default="theorem", choices=METHODS, help="way of learning and deleting (default: theorem)"
    )
    chosen.add_argument("--adjacency", default="replace", choices=ADJACENCIES)
    chosen.add_argument("--deletion-notion", default="definition-4.1", choices=DELETION_NOTIONS)
    chosen.add_argument(
        "--releases", type=whole, default=1, metavar="N", help="N observed publications together within --dp"
    )
    chosen.add_argument("--batch", type=whole, default=1, help="records edited by one request")
    chosen.add_argument("--rows-per-subject", type=whole, default=1)
    chosen.add_argument("--no-utility", action="store_true", help="take only the steps that forgetting needs")
    chosen.add_argument("--dtype", default="float32", choices=DTYPES)
    own = parser.add_argument_group("options of a method (one that does not belong to --method is an error)")
    own.add_argument("--step-size", type=number, metavar="η")
    own.add_argument("--noise-variance", type=_noise, metavar="σ²", help="a number, or 'cheapest' under Theorem 5.2")
    own.add_argument("--solver", choices=SOLVERS, help="minimiser, perturbed: where the solver starts (default: warm)")
    own.add_argument("--diffusion-steps", type=whole, metavar="K", help="minimiser")
    own.add_argument("--fresh-every", type=whole, metavar="N", help="interleaved: one publication in so many is fresh")
    own.add_argument("--resumed-steps", type=whole, metavar="K", help="interleaved: noisy steps of the others")
    own.add_argument("--gradient-tolerance", type=number, metavar="γ", help="minimiser")
    own.add_argument("--form", choices=FORMS, help="near-gibbs: Theorem 5.2 as printed, or sharper")
    own.add_argument("--learn-steps", type=whole, metavar="K_A", help="composition")
    own.add_argument("--delete-steps", type=whole, metavar="K_Ā", help="composition")
    own.add_argument(
        "--requests-per-learn",
        type=whole,
        metavar="N",
        help="composition: served before a fresh learn is due (default 20)",
    )
    own.add_argument(
        "--fresh-learn",
        choices=FRESH_LEARN,
        help="composition: then ask for it (default: demand), or run it (automatic)",
    )


def add_loss_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The loss and what is known of its rows and weights; the group, for what a command adds to it."""
    loss = parser.add_argument_group("loss")
    loss.add_argument("--loss", default="logistic", choices=sorted(losses.CATALOGUE), help="default: logistic")
    loss.add_argument("--radius", type=number, default=1.0, help="bound R on the norm of a feature row (default 1)")
    loss.add_argument("--classes", type=whole, help="number of classes (softmax, one-vs-rest)")
    loss.add_argument("--huber-delta", type=number, help="δ of the pseudo-Huber loss (default 1)")
    loss.add_argument(
        "--clip",
        type=number,
        metavar="L",
        help="clip every record's gradient to this norm: less noise, some loss of fit",
    )
    loss.add_argument("--outer-weights", type=_numbers, metavar="A,B,...", help="fixed outer weights (tanh-network)")
    loss.add_argument(
        "--model-norm", type=number, metavar="B", help="--ridge forecast: norm a good model may have (default: from n)"
    )
    return loss


def add_budget_arguments(parser: argparse.ArgumentParser) -> None:
    """The budget of one release, in one of its three forms."""
    budget = parser.add_argument_group(
        "budget of one release (give one of the three forms; default: --order 10 --dp 1 --deletion 0.1)"
    )
    budget.add_argument("--order", type=number, help="Rényi order q of --dp and --deletion")
    budget.add_argument("--dp", type=number, help="ε_dp, or ε with --delta, or μ with --gdp")
    budget.add_argument("--deletion", type=number, help="ε_dd in the same measure")
    budget.add_argument("--delta", type=number, help="read --dp and --deletion as ε of (ε, δ) with this δ")
    budget.add_argument("--gdp", action="store_true", help="read --dp and --deletion as Gaussian-DP μ (method sharp)")


def add_stream_arguments(group: argparse._ArgumentGroup) -> None:
    """A budget for many requests: the method, its publications and their batch are then chosen by forecast."""
    group.add_argument("--requests", type=whole, metavar="N", help="deletion requests the --dp budget must last for")
    group.add_argument("--period", type=number, metavar="DAYS", help="the --requests come in so many days")
    group.add_argument("--excess-risk", type=number, default=0.01, help="target, nats per record (default 0.01)")


_OWN = (
    *("step_size", "noise_variance", "solver", "diffusion_steps", "gradient_tolerance", "form"),
    *("learn_steps", "delete_steps", "requests_per_learn", "fresh_learn", "fresh_every", "resumed_steps"),
)


def method_from(parsed: argparse.Namespace) -> Method:
    """The method the arguments name, with the options of its own that were given."""
    given = {name: getattr(parsed, name) for name in _OWN}
    return methods.of(parsed.method, **{name: value for name, value in given.items() if value is not None})


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers with commas between them") from error


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split(","))


def _noise(text: str) -> float | str:
    try:
        return text if text == "cheapest" else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number or 'cheapest'") from error


def warning(plan: Plan) -> dict[str, str | None]:
    """What JSON answers carry where the plan promises nothing worth having."""
    return {"warning": worth(plan) or None}


def explained(plan: Plan) -> str:
    """The plan in words and numbers, its parameters named as they are typed."""
    parser = argparse.ArgumentParser()
    add_plan_arguments(parser)
    return spoken(explain(plan), options_of(parser))


def loss_from(parsed: argparse.Namespace) -> losses.Loss:
    """The loss the arguments name; an option that does not belong to it is an error."""
    fields: dict[str, Any] = {"name": parsed.loss, "radius": parsed.radius}
    if parsed.classes is not None:
        fields["classes"] = parsed.classes
    elif parsed.loss in ("softmax", "one-vs-rest"):
        raise InvalidParameter(f"--loss {parsed.loss} needs --classes")
    if parsed.huber_delta is not None:
        fields["delta"] = parsed.huber_delta
    if parsed.outer_weights is not None:
        fields["outer_weights"] = parsed.outer_weights
    return clipped_from(parsed, losses.from_dict(fields))


def clipped_from(parsed: argparse.Namespace, loss: losses.Loss) -> losses.Loss:
    """The loss, its gradients clipped where the arguments say so."""
    return loss if parsed.clip is None else losses.clip(loss, parsed.clip)


def budget_from(parsed: argparse.Namespace) -> Budget:
    """The budget the arguments name."""
    dp = 1.0 if parsed.dp is None else parsed.dp
    deletion = 0.1 * dp if parsed.deletion is None else parsed.deletion
    if sum((parsed.order is not None, parsed.delta is not None, bool(parsed.gdp))) > 1:
        raise InvalidParameter("give at most one of --order (Rényi), --delta ((ε, δ)) and --gdp")
    if parsed.gdp:
        return Budget.from_gdp(dp=dp, deletion=deletion)
    if parsed.delta is not None:
        return Budget.from_epsilon_delta(dp=(dp, parsed.delta), deletion=(deletion, parsed.delta))
    return Budget(order=10 if parsed.order is None else parsed.order, dp=dp, deletion=deletion)


def plan_from(
    parsed: argparse.Namespace, *, records: int, features: int, one_hot_blocks: tuple[int, ...] | None = None
) -> Plan:
    """The plan the arguments ask for, at the given sizes."""
    return make_plan(
        loss_from(parsed),
        records=records,
        features=features,
        regularization=parsed.regularization,
        budget=budget_from(parsed),
        method=method_from(parsed),
        adjacency=parsed.adjacency,
        deletion_notion=parsed.deletion_notion,
        releases=parsed.releases,
        batch=parsed.batch,
        rows_per_subject=parsed.rows_per_subject,
        utility=not parsed.no_utility,
        dtype=parsed.dtype,
        ridge=parsed.ridge,
        model_norm=parsed.model_norm,
        one_hot_blocks=one_hot_blocks,
    )


def _compared(parsed: argparse.Namespace) -> dict[str, Any]:
    """What every method is asked for."""
    return {
        "loss": loss_from(parsed),
        "regularization": parsed.regularization,
        "budget": budget_from(parsed),
        "adjacency": parsed.adjacency,
        "deletion_notion": parsed.deletion_notion,
        "batch": parsed.batch,
        "rows_per_subject": parsed.rows_per_subject,
        "dtype": parsed.dtype,
        "ridge": parsed.ridge,
        "model_norm": parsed.model_norm,
    }


def stream_from(parsed: argparse.Namespace, **sizes: Any) -> StreamPlan:
    """The plan for a stream that the arguments ask for.

    Raises:
        InvalidParameter: --period without the number of requests that come in it.
    """
    if parsed.requests is None:
        raise InvalidParameter("--period DAYS needs --requests N: how many deletion requests come in that time")
    asked = {"requests": parsed.requests, "period": parsed.period, "target": parsed.excess_risk}
    return plan_stream(**asked, **_compared(parsed), **sizes)


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "plan",
        help="steps and noise for a budget, explained",
        epilog="example: noisygd-delete plan --records 26000 --features 108 --method sharp",
        allow_abbrev=False,
    )
    parser.add_argument("--records", type=whole, required=True, help="n, number of slots")
    parser.add_argument("--features", type=whole, required=True, help="columns, the constant one included")
    parser.add_argument(
        "--one-hot-blocks",
        type=_sizes,
        metavar="K,K,...",
        help="columns in order: k for k of which one is always hot, 0 for any other (init takes them from the schema)",
    )
    add_plan_arguments(parser)
    comparing = parser.add_argument_group("comparison")
    comparing.add_argument(
        "--compare", action="store_true", help="every method for convex losses side by side, by forecast cost and noise"
    )
    comparing.add_argument(
        "--cheapest",
        action="store_true",
        help="the fewest steps per request that keep --excess-risk (method sharp); with the Pareto table",
    )
    add_stream_arguments(comparing)
    add_json(parser)
    parser.set_defaults(run=_run)


def _cheapest(parsed: argparse.Namespace) -> Choice:
    if parsed.ridge != "given":
        raise InvalidParameter(
            "--ridge forecast and --cheapest do not go together: plan with --ridge forecast first and give its λ"
        )
    given = {"step_size": parsed.step_size, "noise_variance": parsed.noise_variance}
    return cheapest_plan(
        loss_from(parsed),
        records=parsed.records,
        features=parsed.features,
        regularization=parsed.regularization,
        budget=budget_from(parsed),
        excess_risk=parsed.excess_risk,
        adjacency=parsed.adjacency,
        deletion_notion=parsed.deletion_notion,
        releases=parsed.releases,
        batch=parsed.batch,
        rows_per_subject=parsed.rows_per_subject,
        dtype=parsed.dtype,
        **{name: value for name, value in given.items() if value is not None},
    )


def _run(parsed: argparse.Namespace) -> int:
    if parsed.cheapest:
        choice = _cheapest(parsed)
        show(parsed, choice.to_dict(), f"{explained(choice.plan)}\n\n{choice.text()}")
        return 0
    sizes: dict[str, Any] = {
        "records": parsed.records,
        "features": parsed.features,
        "one_hot_blocks": parsed.one_hot_blocks,
    }
    if parsed.period is not None and not parsed.compare:
        stream = stream_from(parsed, **sizes)
        text = f"{stream.text()}\n\n{explained(stream.plan)}\n\n{stream.comparison.table()}"
        show(parsed, {**stream.to_dict(), "plan": stream.plan.summary(), **warning(stream.plan)}, text)
        return 0
    if parsed.compare:
        comparison = compare_plans(**_compared(parsed), **sizes, target=parsed.excess_risk, requests=parsed.requests)
        show(parsed, comparison.to_dict(), comparison.table())
        return 0
    plan = plan_from(parsed, **sizes)
    show(parsed, {**plan.summary(), **warning(plan)}, explained(plan))
    return 0
