"""`noisygd-delete plan`, as it is asked for, and the arguments of every command that plans. What they come to: `planning`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .. import losses
from ..errors import InvalidParameter
from ..methods import METHODS
from ..methods.base import AUTO, PROOFS, RIDGES
from ..methods.composition import FRESH_LEARN
from ..methods.minimiser import SOLVERS
from ..methods.near_gibbs import FORMS
from ..methods.problem import DTYPES
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS
from .arguments import number, whole
from .shared import add_explain, add_json, run_by

if TYPE_CHECKING:
    from ..methods import Stage

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
    own.add_argument(
        "--option",
        action="append",
        type=_option,
        metavar="NAME=VALUE",
        help="any option of --method, by its name in Python",
    )
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


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers with commas between them") from error


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split(","))


def _stages(text: str) -> tuple[Stage, ...]:
    """Stages as they are typed: a kind, its steps (a head may leave them out), its step size and the share of the rows in a step."""
    from ..methods.stages import Stage

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


def _option(text: str) -> tuple[str, float | str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=VALUE")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _noise(text: str) -> float | str:
    try:
        return text if text == "cheapest" else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number or 'cheapest'") from error


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
    add_explain(parser)
    add_json(parser)
    parser.set_defaults(run=run_by("planning", "plan"))
