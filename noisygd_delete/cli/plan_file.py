"""Plan files: `plan ... --out FILE` writes them, `--plan FILE` of other commands reads them.

A file holds the options of `plan` by their names, and nothing else. This module also defines these options and their
defaults.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any, NoReturn

from .. import losses, methods
from ..errors import InvalidParameter, check_choice
from ..methods.base import AUTO, DEFAULT_METHOD, PROOFS, RIDGES, WEIGHTINGS
from ..methods.problem import DTYPES
from ..methods.specs import parse_spec
from ..privacy.release_dates import ADJACENCY
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS
from .arguments import parse_integer, parse_number

HEAD = "# for --plan FILE of init, quickstart, advise, relearn and audit; by noisygd-delete plan"


def fill_arguments(
    parsed: argparse.Namespace, usual: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> None:
    """Set the planning arguments of a command in `parsed`; `parsed.given_options` keeps those that were given.

    `loss` and `method` are split into name and fields (`loss_fields`, `method_fields`). Where `usual` leaves the method
    to advice and no adjacency is given, it is the field's for method `AUTO`, and the article's for a named method.

    Args:
        parsed: Arguments of the command, modified in place. Sizes and `requests_per_year` on the command line take precedence
            over `given`.
        usual: Parameters that the command uses, with their defaults.
        given: Options given to `plan` itself; None reads them from the file of `--plan`.

    Raises:
        InvalidParameter: If an option is not used by this command, loss or method is unknown, or fields are given
            without a method.
    """
    if given is None:
        given = {} if parsed.plan is None else read_plan(parsed.plan)
    strange = [name for name in given if name not in usual and name not in SIZES]
    if strange:
        raise InvalidParameter(f"{', '.join(strange)}: {parsed.command} has no use for it; leave it out of the plan")
    parsed.given_options = dict(given)
    for name, value in {**dict.fromkeys(SIZES), **usual, **given}.items():
        if name not in (*SIZES, "requests_per_year") or getattr(parsed, name, None) is None:
            setattr(parsed, name, value)
    parsed.loss, parsed.loss_fields = parse_spec("loss", parsed.loss)
    if parsed.loss is not None:
        check_choice("loss", parsed.loss, (*sorted(losses.CATALOGUE), NETWORK))
    parsed.method, parsed.method_fields = parse_spec("method", parsed.method)
    if parsed.method not in (None, AUTO):
        methods.resolve_method(parsed.method, **parsed.method_fields)  # raises if there is no such method
    elif parsed.method_fields:
        raise InvalidParameter(
            f"{', '.join(parsed.method_fields)}: an option of one method; name the method in front of it"
        )
    if usual.get("method") == AUTO and parsed.adjacency is None:
        parsed.adjacency = ADJACENCY if parsed.method == AUTO else PLANNED["adjacency"]


def read_plan(file: str) -> dict[str, Any]:
    """Return the options in a plan file, by their Python names, parsed as on the command line; defaults are not added.

    Raises:
        InvalidParameter: If the file cannot be read, is not TOML, or has an option or a value that `plan` does not
            accept.
    """
    from ..records import limited_io

    try:
        table = tomllib.loads(limited_io.read_text(file, limited_io.SCHEMA))
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(
            f"{file}: not TOML ({error}); write it with noisygd-delete plan ... --out {file}"
        ) from error
    parser = _OfFile(prog=file, allow_abbrev=False)
    add_problem_arguments(parser)
    known = [action.dest for action in parser._actions if action.dest != "help"]
    for name in table:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise InvalidParameter(
                f"{file}: {name!r} is no option of `plan`" + (f"; did you mean {near[0]}?" if near else "")
            )
    if not all(isinstance(value, str | int | float) for value in table.values()):
        raise InvalidParameter(f"{file}: each value is a number, a word in quotes, true or false")
    return vars(parser.parse_args(format_options(table)))


def format_plan_file(options: Mapping[str, Any]) -> str:
    """Return the text of a plan file for `read_plan`: the comment `HEAD` and a line `name = value` for each option.

    Args:
        options: Options of `plan` by their Python names; a tuple becomes a text with commas.
    """
    lines = [HEAD]
    for name, value in options.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else value
        lines.append(f"{name} = {json.dumps(text, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def format_options(options: Mapping[str, Any]) -> list[str]:
    """Return options of `plan` as words of a command line: True as the option alone, False not at all.

    Args:
        options: Options by their Python names; a tuple becomes a text with commas.
    """
    found = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            found += [option] if value else []
            continue
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        found += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return found


def plan_command(options: Mapping[str, Any], *more: str, file: str | None = "plan.toml") -> str:
    """Return the `plan` command line for these options, quoted for a shell.

    Args:
        options: Options of `plan` by their Python names.
        *more: Further words, placed before `--out`.
        file: File of `--out`; None leaves it out.
    """
    return shlex.join(
        ["noisygd-delete", "plan", *format_options(options), *more, *([] if file is None else ["--out", file])]
    )


class _OfFile(argparse.ArgumentParser):
    """Argument parser that reports every error as an error of the file."""

    def error(self, message: str) -> NoReturn:
        """Raise InvalidParameter that names the plan file, in which an option has no dashes."""
        raise InvalidParameter(f"{self.prog}: {message.replace('argument --', '')}")


NETWORK = "network"  # the loss whose module is named, by an extra
PAPER_REGULARIZATION = 1e-3  # default without advice
SIZES = ("records", "features", "one_hot_blocks")
STREAM: dict[str, Any] = {"requests": None, "period": None, "excess_risk": 0.01, "requests_per_year": None}
PLANNED: dict[str, Any] = {  # defaults of a plan
    "loss": "logistic",
    "radius": 1.0,
    "clip": None,
    "model_norm": None,
    "regularization": PAPER_REGULARIZATION,
    "ridge": "given",
    **dict.fromkeys(("order", "dp", "deletion", "delta", "total_epsilon", "total_delta", "method")),
    **dict.fromkeys(("gdp", "no_total", "no_utility"), False),
    "adjacency": "replace",
    "deletion_notion": "erased-vs-never",
    "releases": 1,
    "batch": 1,
    "rows_per_subject": 1,
    "weighting": AUTO,
    "dtype": "float32",
}
ADVISED: dict[str, Any] = {  # defaults where advice or a schema decides
    **PLANNED,
    **dict.fromkeys(("loss", "radius", "regularization", "ridge", "rows_per_subject")),
    "adjacency": None,  # see `fill_arguments`
    "method": AUTO,
    "proof": PROOFS[-1],
    **STREAM,
}


def add_problem_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plan` in groups: sizes, loss, budget, total, guarantee and stream.

    The parser sets only those that were given: it has no defaults.
    """

    def add(group: Any, name: str, **how: Any) -> None:
        group.add_argument(name, default=argparse.SUPPRESS, **how)

    sizes = parser.add_argument_group("sizes (public)")
    add(sizes, "--records", type=parse_integer, help="n, number of slots")
    add(sizes, "--features", type=parse_integer, help="columns, the constant one included")
    add(
        sizes,
        "--one-hot-blocks",
        type=_parse_sizes,
        metavar="K,K,...",
        help="columns in order: k for k of which one is always hot, 0 for any other (init takes them from the schema)",
    )
    loss = parser.add_argument_group("loss")
    add(
        loss,
        "--loss",
        metavar="NAME[:FIELD=VALUE,...]",
        help="logistic (default), softmax:classes=3, pseudo-huber:delta=2, one-vs-rest, multilayer-perceptron, tanh-network, "
        "network:module=package.module:function,init_variance=0.1 (a torch module)",
    )
    add(loss, "--radius", type=parse_number, help="bound R on the norm of a feature row (default 1)")
    clip = "clip every record's gradient to this norm: less noise, some loss of fit"
    add(loss, "--clip", type=parse_number, metavar="L", help=clip)
    add(
        loss,
        "--regularization",
        type=parse_number,
        metavar="λ",
        help="default: advised, or 1e-3 where a method is named",
    )
    ridge = "forecast: raise λ, by public numbers alone, where the noise asks for it (default: given)"
    add(loss, "--ridge", choices=RIDGES, help=ridge)
    norm = "--ridge forecast: norm a good model may have (default: from n)"
    add(loss, "--model-norm", type=parse_number, metavar="B", help=norm)
    budget = parser.add_argument_group(
        "budget of one release (one of three forms; default where a method is advised: --dp 1.2 --deletion 0.12 --delta 1e-6, else the "
        "paper's --order 10 --dp 1 --deletion 0.1)"
    )
    add(budget, "--order", type=parse_number, help="Rényi order q of --dp and --deletion")
    add(budget, "--dp", type=parse_number, help="ε_dp, or ε with --delta, or μ with --gdp")
    add(budget, "--deletion", type=parse_number, help="ε_dd in the same measure")
    add(budget, "--delta", type=parse_number, help="read --dp and --deletion as ε of (ε, δ) with this δ")
    add(budget, "--gdp", action="store_true", help="read --dp and --deletion as Gaussian-DP μ (method noisy-gd)")
    total = parser.add_argument_group("total of all publications (of a record still there, every one observed)")
    cap = "publication stops before this is exceeded, erasure never (init: default room for 31 publications like the learn)"
    add(total, "--total-epsilon", type=parse_number, metavar="ε", help=cap)
    add(total, "--total-delta", type=parse_number, metavar="δ", help="default: that of the budget, or 1e-6")
    add(total, "--no-total", action="store_true", help="no cap on the sum: it grows with every publication")
    chosen = parser.add_argument_group("guarantee")
    add(
        chosen,
        "--method",
        metavar="NAME[:FIELD=VALUE,...]",
        help="way of learning and deleting, with its own fields: minimiser:solver=cold, ladder:stages=network:60,head (default: "
        f"{DEFAULT_METHOD}; in init auto, what `advise` takes)",
    )
    proof = (
        "by-hand: only methods whose every step is proven on paper; computer-checked: also those with a step by rigorous interval "
        "arithmetic (default)"
    )
    add(chosen, "--proof", choices=PROOFS, help=proof)
    add(
        chosen,
        "--adjacency",
        choices=ADJACENCIES,
        help="relation of ε_dp (default: replace, the article's; zero-out, the field's add or remove, where a method is advised)",
    )
    add(chosen, "--deletion-notion", choices=DELETION_NOTIONS, help="default: erased-vs-never")
    add(chosen, "--releases", type=parse_integer, metavar="N", help="N observed publications together within --dp")
    add(chosen, "--batch", type=parse_integer, help="records edited by one request")
    add(chosen, "--rows-per-subject", type=parse_integer, help="rows of one person (default 1, or as the schema says)")
    weighting = "weight of a row of a person with k rows: 1/k (by-person; default where it is covered) or 1, for more noise (by-row)"
    add(chosen, "--weighting", choices=(AUTO, *WEIGHTINGS), help=weighting)
    add(chosen, "--no-utility", action="store_true", help="take only the steps that forgetting needs")
    add(chosen, "--dtype", choices=DTYPES, help="of steps over the reals; default: float32")
    stream = parser.add_argument_group("stream (publications and their batch are then chosen by forecast)")
    many = "deletion requests that --dp, then of all publications, must last for"
    add(stream, "--requests", type=parse_integer, metavar="N", help=many)
    add(stream, "--period", type=parse_number, metavar="DAYS", help="number of days in which the --requests arrive")
    yearly = "in a plan file, as in `quickstart`"
    add(stream, "--requests-per-year", type=parse_integer, metavar="N", help=yearly)
    add(stream, "--excess-risk", type=parse_number, help="target, nats per record (default 0.01)")


def _parse_sizes(text: str) -> tuple[int, ...]:
    return tuple(parse_integer(part) for part in text.split(","))
