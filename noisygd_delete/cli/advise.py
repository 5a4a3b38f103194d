"""`noisygd-delete advise`: method, λ, publications and batch from public facts alone, before any record is touched."""

from __future__ import annotations

import argparse
from typing import Any

from ..planner import advise
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS
from ..schema import Schema
from .arguments import whole
from .init import fill_loss
from .plan import add_budget_arguments, add_loss_arguments, budget_from, loss_from
from .shared import add_json, show


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "advise",
        help="which method, λ and how many publications to begin with; needs sizes only",
        epilog="example: noisygd-delete advise --records 26000 --features 108 --dp 2 --deletion 0.2 --delta 1e-6 --requests 30",
        allow_abbrev=False,
    )
    parser.add_argument("--records", type=whole, required=True, help="n, number of slots")
    sizes = parser.add_mutually_exclusive_group(required=True)
    sizes.add_argument("--features", type=whole, help="columns, the constant one included")
    sizes.add_argument(
        "--schema", metavar="FILE", help="public bounds and categories (TOML): columns, loss and row norm from there"
    )
    parser.add_argument(
        "--requests",
        type=whole,
        metavar="N",
        help="deletion requests that --dp, then of all publications together, must last for",
    )
    add_loss_arguments(parser)
    add_budget_arguments(parser)
    chosen = parser.add_argument_group("guarantee")
    chosen.add_argument("--adjacency", default="replace", choices=ADJACENCIES)
    chosen.add_argument("--deletion-notion", default="definition-4.1", choices=DELETION_NOTIONS)
    chosen.add_argument("--rows-per-subject", type=whole, default=1)
    add_json(parser)
    parser.set_defaults(run=_run, loss=None, radius=None)


def _run(parsed: argparse.Namespace) -> int:
    features = parsed.features
    if parsed.schema is not None:
        schema = Schema.read(parsed.schema)
        fill_loss(parsed, schema)
        features = schema.features
    parsed.loss, parsed.radius = parsed.loss or "logistic", parsed.radius or 1.0
    advice = advise(
        loss_from(parsed),
        records=parsed.records,
        features=features,
        budget=budget_from(parsed),
        requests=parsed.requests,
        adjacency=parsed.adjacency,
        deletion_notion=parsed.deletion_notion,
        rows_per_subject=parsed.rows_per_subject,
        **({} if parsed.model_norm is None else {"model_norm": parsed.model_norm}),
    )
    line = _init(parsed, advice.options())
    show(parsed, {**advice.to_dict(), "init": line}, f"{advice.table()}\n\nTo begin so:\n  {line}")
    return 0


def _init(parsed: argparse.Namespace, options: dict[str, Any]) -> str:
    """The command to type next, with all that differs from its defaults."""
    words = ["noisygd-delete init STORE --data FILE", f"--schema {parsed.schema or 'schema.toml'}"]
    words += [
        f"--{name.replace('_', '-')} {value}"
        for name, value in options.items()
        if (name, value) not in (("releases", 1), ("batch", 1))
    ]
    for name in ("order", "dp", "deletion", "delta", "clip", "huber_delta"):
        if getattr(parsed, name) is not None:
            words.append(f"--{name.replace('_', '-')} {getattr(parsed, name):g}")
    words += ["--gdp"] if parsed.gdp else []
    for name, usual in (("adjacency", "replace"), ("deletion_notion", "definition-4.1"), ("rows_per_subject", 1)):
        if getattr(parsed, name) != usual:
            words.append(f"--{name.replace('_', '-')} {getattr(parsed, name)}")
    return " ".join(words)
