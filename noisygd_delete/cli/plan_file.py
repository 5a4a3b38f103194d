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
from collections.abc import Iterable, Mapping, Sequence
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


def _parse_sizes(text: str) -> tuple[int, ...]:
    return tuple(parse_integer(part) for part in text.split(","))


def _integer(help: str, metavar: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": parse_integer, "metavar": metavar, "help": help, **more}


def _number(help: str, metavar: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": parse_number, "metavar": metavar, "help": help, **more}


def _choice(choices: Sequence[str], help: str, **more: Any) -> dict[str, Any]:
    return {"choices": choices, "help": help, **more}


def _flag(help: str) -> dict[str, Any]:
    return {"action": "store_true", "default": False, "help": help}


_SPEC = "NAME[:FIELD=VALUE,...]"
# title of a group -> option -> arguments of `add_argument`; a default is that of a plan without advice
_GROUPS: dict[str, dict[str, dict[str, Any]]] = {
    "sizes (public)": {
        "--records": _integer("n, number of slots"),
        "--features": _integer("columns, the constant one included"),
        "--one-hot-blocks": {
            "type": _parse_sizes,
            "metavar": "K,K,...",
            "help": "columns in order: k for k of which one is always hot, 0 for any other (init takes them from the schema)",
        },
    },
    "loss": {
        "--loss": {
            "default": "logistic",
            "metavar": _SPEC,
            "help": "logistic (default), softmax:classes=3, pseudo-huber:delta=2, one-vs-rest, multilayer-perceptron, tanh-network, "
            "network:module=package.module:function,init_variance=0.1 (a torch module)",
        },
        "--radius": _number("bound R on the norm of a feature row (default 1)", default=1.0),
        "--clip": _number("clip every record's gradient to this norm: less noise, some loss of fit", "L"),
        "--regularization": _number(
            "default: advised, or 1e-3 where a method is named", "λ", default=PAPER_REGULARIZATION
        ),
        "--ridge": _choice(
            RIDGES,
            "forecast: raise λ, by public numbers alone, where the noise asks for it (default: given)",
            default="given",
        ),
        "--model-norm": _number("--ridge forecast: norm a good model may have (default: from n)", "B"),
    },
    "budget of one release (one of three forms; default where a method is advised: --dp 1.2 --deletion 0.12 --delta 1e-6, else the "
    "paper's --order 10 --dp 1 --deletion 0.1)": {
        "--order": _number("Rényi order q of --dp and --deletion"),
        "--dp": _number("ε_dp, or ε with --delta, or μ with --gdp"),
        "--deletion": _number("ε_dd in the same measure"),
        "--delta": _number("read --dp and --deletion as ε of (ε, δ) with this δ"),
        "--gdp": _flag("read --dp and --deletion as Gaussian-DP μ (method noisy-gd)"),
    },
    "total of all publications (of a record still there, every one observed)": {
        "--total-epsilon": _number(
            "publication stops before this is exceeded, erasure never (init: default room for 31 publications like the learn)",
            "ε",
        ),
        "--total-delta": _number("default: that of the budget, or 1e-6", "δ"),
        "--no-total": _flag("no cap on the sum: it grows with every publication"),
    },
    "guarantee": {
        "--method": {
            "metavar": _SPEC,
            "help": "way of learning and deleting, with its own fields: minimiser:solver=cold, ladder:stages=network:60,head (default: "
            f"{DEFAULT_METHOD}; in init auto, what `advise` takes)",
        },
        "--proof": _choice(
            PROOFS,
            "by-hand: only methods whose every step is proven on paper; computer-checked: also those with a step by rigorous interval "
            "arithmetic (default)",
        ),
        "--adjacency": _choice(
            ADJACENCIES,
            "relation of ε_dp (default: replace, the article's; zero-out, the field's add or remove, where a method is advised)",
            default="replace",
        ),
        "--deletion-notion": _choice(DELETION_NOTIONS, "default: erased-vs-never", default="erased-vs-never"),
        "--releases": _integer("N observed publications together within --dp", "N", default=1),
        "--batch": _integer("records edited by one request", default=1),
        "--rows-per-subject": _integer("rows of one person (default 1, or as the schema says)", default=1),
        "--weighting": _choice(
            (AUTO, *WEIGHTINGS),
            "weight of a row of a person with k rows: 1/k (by-person; default where it is covered) or 1, for more noise (by-row)",
            default=AUTO,
        ),
        "--no-utility": _flag("take only the steps that forgetting needs"),
        "--dtype": _choice(DTYPES, "of steps over the reals; default: float32", default="float32"),
    },
    "stream (publications and their batch are then chosen by forecast)": {
        "--requests": _integer("deletion requests that --dp, then of all publications, must last for", "N"),
        "--period": _number("number of days in which the --requests arrive", "DAYS"),
        "--requests-per-year": _integer("in a plan file, as in `quickstart`", "N"),
        "--excess-risk": _number("target, nats per record (default 0.01)", default=0.01),
    },
}


def _defaults(titles: Iterable[str]) -> dict[str, Any]:
    """Return the defaults of the options in these groups, by their Python names."""
    return {
        name[2:].replace("-", "_"): words.get("default") for title in titles for name, words in _GROUPS[title].items()
    }


_SIZES, *_PLANNED, _STREAM = _GROUPS
SIZES = tuple(_defaults([_SIZES]))
STREAM = _defaults([_STREAM])
PLANNED = {name: default for name, default in _defaults(_PLANNED).items() if name != "proof"}
ADVISED = {  # defaults where advice or a schema decides
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
    for title, options in _GROUPS.items():
        group = parser.add_argument_group(title)
        for name, words in options.items():
            group.add_argument(name, **{**words, "default": argparse.SUPPRESS})
