"""What can be asked of a plan: the options of `plan`, which a file of it holds for other commands, and what each is where nothing is said."""

from __future__ import annotations

import argparse
from typing import Any

from ..methods.base import AUTO, PROOFS, RIDGES
from ..methods.problem import DTYPES
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS
from .arguments import number, whole

PAPER_METHOD, PAPER_REGULARIZATION = "theorem", 1e-3  # where nothing is advised
SIZES = ("records", "features", "one_hot_blocks")
STREAM: dict[str, Any] = {"requests": None, "period": None, "excess_risk": 0.01}
PLANNED: dict[str, Any] = {  # what a plan takes where nothing is said
    "loss": "logistic",
    "radius": 1.0,
    "clip": None,
    "model_norm": None,
    "regularization": PAPER_REGULARIZATION,
    "ridge": "given",
    **dict.fromkeys(("order", "dp", "deletion", "delta", "total_epsilon", "total_delta", "method")),
    **dict.fromkeys(("gdp", "no_total", "no_utility"), False),
    "adjacency": "replace",
    "deletion_notion": "definition-4.1",
    "releases": 1,
    "batch": 1,
    "rows_per_subject": 1,
    "dtype": "float32",
}
ADVISED: dict[str, Any] = {  # the same where advice or a schema decides
    **PLANNED,
    **dict.fromkeys(("loss", "radius", "regularization", "ridge", "rows_per_subject")),
    "method": AUTO,
    "proof": PROOFS[-1],
    **STREAM,
}


def add_problem_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be asked of a plan; of these, the parser sets only those that were given."""

    def add(group: Any, name: str, **how: Any) -> None:
        group.add_argument(name, default=argparse.SUPPRESS, **how)

    sizes = parser.add_argument_group("sizes (public)")
    add(sizes, "--records", type=whole, help="n, number of slots")
    add(sizes, "--features", type=whole, help="columns, the constant one included")
    add(
        sizes,
        "--one-hot-blocks",
        type=_sizes,
        metavar="K,K,...",
        help="columns in order: k for k of which one is always hot, 0 for any other (init takes them from the schema)",
    )
    loss = parser.add_argument_group("loss")
    add(
        loss,
        "--loss",
        metavar="NAME[:FIELD=VALUE,...]",
        help="logistic (default), softmax:classes=3, pseudo-huber:delta=2, one-vs-rest, multilayer-perceptron, tanh-network",
    )
    add(loss, "--radius", type=number, help="bound R on the norm of a feature row (default 1)")
    clip = "clip every record's gradient to this norm: less noise, some loss of fit"
    add(loss, "--clip", type=number, metavar="L", help=clip)
    add(loss, "--regularization", type=number, metavar="λ", help="default: advised, or 1e-3 where a method is named")
    ridge = "forecast: raise λ, by public numbers alone, where the noise asks for it (default: given)"
    add(loss, "--ridge", choices=RIDGES, help=ridge)
    norm = "--ridge forecast: norm a good model may have (default: from n)"
    add(loss, "--model-norm", type=number, metavar="B", help=norm)
    budget = parser.add_argument_group(
        "budget of one release (one of three forms; default where a method is advised: --dp 2 --deletion 0.2 --delta 1e-6, else the "
        "paper's --order 10 --dp 1 --deletion 0.1)"
    )
    add(budget, "--order", type=number, help="Rényi order q of --dp and --deletion")
    add(budget, "--dp", type=number, help="ε_dp, or ε with --delta, or μ with --gdp")
    add(budget, "--deletion", type=number, help="ε_dd in the same measure")
    add(budget, "--delta", type=number, help="read --dp and --deletion as ε of (ε, δ) with this δ")
    add(budget, "--gdp", action="store_true", help="read --dp and --deletion as Gaussian-DP μ (method sharp)")
    total = parser.add_argument_group("total of all publications (of a record still there, every one observed)")
    cap = "publication stops before this is exceeded, erasure never (init: default room for 12 publications like the learn)"
    add(total, "--total-epsilon", type=number, metavar="ε", help=cap)
    add(total, "--total-delta", type=number, metavar="δ", help="default: that of the budget, or 1e-6")
    add(total, "--no-total", action="store_true", help="no cap on the sum: it grows with every publication")
    chosen = parser.add_argument_group("guarantee")
    add(
        chosen,
        "--method",
        metavar="NAME[:FIELD=VALUE,...]",
        help="way of learning and deleting, with its own fields: minimiser:solver=cold, ladder:stages=network:60,head (default: "
        f"{PAPER_METHOD}; in init auto, what `advise` takes)",
    )
    proof = (
        "by-hand: only methods whose every step is proven on paper; computer-checked: also those with a step by rigorous interval "
        "arithmetic (default)"
    )
    add(chosen, "--proof", choices=PROOFS, help=proof)
    add(chosen, "--adjacency", choices=ADJACENCIES, help="default: replace")
    add(chosen, "--deletion-notion", choices=DELETION_NOTIONS, help="default: definition-4.1")
    add(chosen, "--releases", type=whole, metavar="N", help="N observed publications together within --dp")
    add(chosen, "--batch", type=whole, help="records edited by one request")
    add(chosen, "--rows-per-subject", type=whole, help="rows of one person (default 1, or as the schema says)")
    add(chosen, "--no-utility", action="store_true", help="take only the steps that forgetting needs")
    add(chosen, "--dtype", choices=DTYPES, help="of steps over the reals; default: float32")
    stream = parser.add_argument_group("stream (publications and their batch are then chosen by forecast)")
    many = "deletion requests that --dp, then of all publications, must last for"
    add(stream, "--requests", type=whole, metavar="N", help=many)
    add(stream, "--period", type=number, metavar="DAYS", help="the --requests come in so many days")
    add(stream, "--excess-risk", type=number, help="target, nats per record (default 0.01)")


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split(","))
