"""`noisygd-delete plan`: from a budget to steps and noise, before any record is touched."""

from __future__ import annotations

import argparse
from typing import Any

from .. import losses, methods
from ..errors import InvalidParameter
from ..methods import METHODS, Method, Stage
from ..methods.base import PROOFS
from ..methods.composition import FRESH_LEARN
from ..methods.minimiser import SOLVERS
from ..methods.near_gibbs import FORMS
from ..methods.plan import Plan
from ..methods.problem import DTYPES
from ..methods.words import worth
from ..planner import cheapest_plan, compare_plans, explain, make_plan, plan_stream
from ..planner.advise import AUTO
from ..planner.cheapest import Choice
from ..planner.comparison import COMPARED
from ..planner.ridge import RIDGES
from ..planner.streams import StreamPlan
from ..privacy.budget import Budget
from ..privacy.total import Total
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS
from .arguments import number, whole
from .shared import add_json, show
from .words import options_of, spoken

PAPER_METHOD, PAPER_REGULARIZATION = "theorem", 1e-3  # where nothing is advised


def add_plan_arguments(parser: argparse.ArgumentParser, *, advised: bool = False) -> None:
    """The arguments of `make_plan` other than the table's sizes; shared by every command that plans.

    Args:
        advised: what is left out is chosen by advice, not by the paper's defaults.
    """
    loss = add_loss_arguments(parser)
    loss.add_argument(
        "--regularization",
        type=number,
        default=None if advised else PAPER_REGULARIZATION,
        metavar="λ",
        help=f"default: advised, or {PAPER_REGULARIZATION:g} where a method is named" if advised else "default 1e-3",
    )
    loss.add_argument(
        "--ridge",
        default=None if advised else "given",
        choices=RIDGES,
        help="forecast: raise λ, by public numbers alone, where the noise asks for it (default: given)",
    )
    add_budget_arguments(parser)
    add_total_arguments(parser)
    chosen = parser.add_argument_group("guarantee")
    chosen.add_argument(
        "--method",
        default=AUTO if advised else None,
        choices=(AUTO, *METHODS) if advised else METHODS,
        help=f"way of learning and deleting (default: {'auto, the one that `advise` takes' if advised else PAPER_METHOD})",
    )
    if advised:
        add_proof_argument(chosen)
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
        "--stages",
        type=_stages,
        metavar="KIND:STEPS[:η[:p]],...",
        help="ladder: network:60,network:20 (the default), network:60,head or network:60,moments; with a share p each of a network's steps is "
        "on a random sample of the rows",
    )
    own.add_argument("--level", type=whole, metavar="L", help="ladder: stages 0..L are kept by a deletion (default 0)")
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
    loss.add_argument("--classes", type=whole, help="number of classes (softmax, one-vs-rest, multilayer-perceptron)")
    loss.add_argument("--hidden", type=whole, help="hidden units (multilayer-perceptron; default 64)")
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
        "budget of one release (give one of the three forms; default where a method is advised: --dp 2 --deletion 0.2 --delta 1e-6, "
        "else the paper's --order 10 --dp 1 --deletion 0.1)"
    )
    budget.add_argument("--order", type=number, help="Rényi order q of --dp and --deletion")
    budget.add_argument("--dp", type=number, help="ε_dp, or ε with --delta, or μ with --gdp")
    budget.add_argument("--deletion", type=number, help="ε_dd in the same measure")
    budget.add_argument("--delta", type=number, help="read --dp and --deletion as ε of (ε, δ) with this δ")
    budget.add_argument("--gdp", action="store_true", help="read --dp and --deletion as Gaussian-DP μ (method sharp)")


def add_total_arguments(parser: argparse.ArgumentParser) -> None:
    """The cap on all publications together."""
    total = parser.add_argument_group("total of all publications (of a record still there, every one observed)")
    total.add_argument(
        "--total-epsilon",
        type=number,
        metavar="ε",
        help="publication stops before this is exceeded, erasure never (init: default room for 12 publications like the learn)",
    )
    total.add_argument("--total-delta", type=number, metavar="δ", help="default: that of the budget, or 1e-6")
    total.add_argument("--no-total", action="store_true", help="no cap on the sum: it grows with every publication")


def add_proof_argument(group: argparse._ArgumentGroup) -> None:
    """How sure the guarantee must be."""
    group.add_argument(
        "--proof",
        default=PROOFS[-1],
        choices=PROOFS,
        help="by-hand: only methods whose every step is proven on paper; computer-checked: also those with a step by rigorous "
        "interval arithmetic (default)",
    )


def add_stream_arguments(group: argparse._ArgumentGroup) -> None:
    """A budget for many requests: the method, its publications and their batch are then chosen by forecast."""
    group.add_argument(
        "--requests",
        type=whole,
        metavar="N",
        help="deletion requests that --dp, then of all publications, must last for",
    )
    group.add_argument("--period", type=number, metavar="DAYS", help="the --requests come in so many days")
    group.add_argument("--excess-risk", type=number, default=0.01, help="target, nats per record (default 0.01)")


_OWN = (
    *("step_size", "noise_variance", "solver", "diffusion_steps", "gradient_tolerance", "form"),
    *("learn_steps", "delete_steps", "requests_per_learn", "fresh_learn", "fresh_every", "resumed_steps"),
    *("stages", "level"),
)


def method_from(parsed: argparse.Namespace) -> Method:
    """The method the arguments name, with the options of its own that were given."""
    given = {name: getattr(parsed, name) for name in _OWN}
    return methods.of(
        parsed.method or PAPER_METHOD, **{name: value for name, value in given.items() if value is not None}
    )


def own_options(parsed: argparse.Namespace) -> str:
    """The options of a single method that were given, as they are typed; "" where none was."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in _OWN if getattr(parsed, name) is not None)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers with commas between them") from error


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split(","))


def _stages(text: str) -> tuple[Stage, ...]:
    """Stages as they are typed: a kind, its steps (a head may leave them out), its step size and the share of the rows in a step."""
    found = []
    for part in text.split(","):
        kind, *numbers = part.split(":")
        if len(numbers) > 3:
            raise argparse.ArgumentTypeError(
                f"{part!r} must be KIND, KIND:STEPS, KIND:STEPS:STEP_SIZE or KIND:STEPS:STEP_SIZE:SHARE"
            )
        steps = whole(numbers[0]) if numbers else None
        try:
            size, rate = (number(numbers[k]) if len(numbers) > k else None for k in (1, 2))
            found.append(Stage(kind.strip(), steps, size, sampling_rate=rate))
        except InvalidParameter as error:
            raise argparse.ArgumentTypeError(f"{part!r}: {error}") from error
    return tuple(found)


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
    elif parsed.loss in ("softmax", "one-vs-rest", "multilayer-perceptron"):
        raise InvalidParameter(f"--loss {parsed.loss} needs --classes")
    if parsed.hidden is not None:
        fields["hidden"] = parsed.hidden
    if parsed.huber_delta is not None:
        fields["delta"] = parsed.huber_delta
    if parsed.outer_weights is not None:
        fields["outer_weights"] = parsed.outer_weights
    return clipped_from(parsed, losses.from_dict(fields))


def clipped_from(parsed: argparse.Namespace, loss: losses.Loss) -> losses.Loss:
    """The loss, its gradients clipped where the arguments say so."""
    return loss if parsed.clip is None else losses.clip(loss, parsed.clip)


def total_from(parsed: argparse.Namespace, *, delta: float) -> Total | None:
    """The total that the arguments name, if they name one.

    Raises:
        InvalidParameter: they contradict one another.
    """
    if parsed.total_epsilon is None:
        if parsed.total_delta is not None:
            raise InvalidParameter("--total-delta δ needs --total-epsilon ε: the two are one total")
        return None
    if parsed.no_total:
        raise InvalidParameter("--total-epsilon and --no-total contradict each other; give one of them")
    return Total(parsed.total_epsilon, delta if parsed.total_delta is None else parsed.total_delta)


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
    budget = budget_from(parsed)
    return make_plan(
        loss_from(parsed),
        records=records,
        features=features,
        regularization=PAPER_REGULARIZATION if parsed.regularization is None else parsed.regularization,
        budget=budget,
        total=total_from(parsed, delta=budget.shown_delta),
        method=method_from(parsed),
        adjacency=parsed.adjacency,
        deletion_notion=parsed.deletion_notion,
        releases=parsed.releases,
        batch=parsed.batch,
        rows_per_subject=parsed.rows_per_subject,
        utility=not parsed.no_utility,
        dtype=parsed.dtype,
        ridge=parsed.ridge or "given",
        model_norm=parsed.model_norm,
        one_hot_blocks=one_hot_blocks,
    )


def compared(parsed: argparse.Namespace) -> dict[str, Any]:
    """What every method is asked for, but for λ and the budget."""
    return {
        "loss": loss_from(parsed),
        "adjacency": parsed.adjacency,
        "deletion_notion": parsed.deletion_notion,
        "batch": parsed.batch,
        "rows_per_subject": parsed.rows_per_subject,
        "dtype": parsed.dtype,
        "utility": not parsed.no_utility,
        "model_norm": parsed.model_norm,
    }


def _as_given(parsed: argparse.Namespace) -> dict[str, Any]:
    """The same with λ and the budget as the arguments have them."""
    regularization = PAPER_REGULARIZATION if parsed.regularization is None else parsed.regularization
    ridge = parsed.ridge or "given"
    budget = budget_from(parsed)
    total = total_from(parsed, delta=budget.shown_delta)
    return {**compared(parsed), "regularization": regularization, "ridge": ridge, "budget": budget, "total": total}


def check_stream(parsed: argparse.Namespace) -> None:
    """Refuse what does not go with a budget for a number of requests."""
    if parsed.requests is None:
        raise InvalidParameter("--period DAYS needs --requests N: how many deletion requests come in that time")
    chosen = ", ".join(filter(None, ("--releases" if parsed.releases > 1 else "", own_options(parsed))))
    if chosen:
        raise InvalidParameter(
            f"--requests chooses how often to publish, and the options of the method, by forecast: leave {chosen} out, or leave "
            "--requests out and plan with --releases"
        )


def stream_from(parsed: argparse.Namespace, **sizes: Any) -> StreamPlan:
    """The plan for a stream that the arguments ask for.

    Raises:
        InvalidParameter: --period without the number of requests that come in it, or what the forecast chooses itself.
    """
    check_stream(parsed)
    ways = COMPARED if parsed.method is None else (parsed.method,)
    asked: dict[str, Any] = {"ways": ways}
    asked |= {"requests": parsed.requests, "period": parsed.period, "target": parsed.excess_risk}
    return plan_stream(**asked, **_as_given(parsed), **sizes)


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
    if parsed.period is not None:
        raise InvalidParameter("--cheapest plans for a number of requests, whenever they come; leave --period out")
    if parsed.requests is not None and parsed.releases > 1:
        raise InvalidParameter("--requests N plans N + 1 releases; give --releases or --requests, not both")
    releases = parsed.releases if parsed.requests is None else parsed.requests + 1
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
        releases=releases,
        batch=parsed.batch,
        rows_per_subject=parsed.rows_per_subject,
        dtype=parsed.dtype,
        **({} if parsed.method is None else {"method": parsed.method}),
        total=total_from(parsed, delta=budget_from(parsed).shown_delta),
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
    if (parsed.requests is not None or parsed.period is not None) and not parsed.compare:
        stream = stream_from(parsed, **sizes)
        text = f"{stream.text()}\n\n{explained(stream.plan)}\n\n{stream.comparison.table()}"
        show(parsed, {**stream.to_dict(), "plan": stream.plan.summary(), **warning(stream.plan)}, text)
        return 0
    if parsed.compare:
        comparison = compare_plans(**_as_given(parsed), **sizes, target=parsed.excess_risk, requests=parsed.requests)
        show(parsed, comparison.to_dict(), comparison.table())
        return 0
    plan = plan_from(parsed, **sizes)
    show(parsed, {**plan.summary(), **warning(plan)}, explained(plan))
    return 0
