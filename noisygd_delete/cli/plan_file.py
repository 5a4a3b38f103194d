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
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

from .. import losses, methods
from ..errors import InvalidParameter, check_choice
from ..methods.base import AUTO, DEFAULT_METHOD, PROOFS, RIDGES
from ..methods.problem import DTYPES
from ..methods.specs import parse_spec
from ..privacy.guarantee import ADJACENCIES, DELETION_NOTIONS
from .arguments import parse_integer, parse_number

HEAD = "# for --plan FILE of init, quickstart, advise, relearn and audit; by noisygd-delete plan"


def add_plan_file(parser: argparse.ArgumentParser) -> None:
    """Add the option `--plan FILE`."""
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="loss, budget and method, as `plan ... --out FILE` writes them (default: advised)",
    )


def fill_arguments(
    parsed: argparse.Namespace, usual: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> None:
    """Set the planning arguments of a command; `parsed.asked` keeps those that were given.

    Args:
        parsed: Arguments of the command, modified in place.
        usual: Parameters that the command uses, with their defaults.
        given: Options given to `plan` itself; None reads them from the file of `--plan`.

    Raises:
        InvalidParameter: If the file has an option that this command does not use.
    """
    if given is None:
        given = {} if parsed.plan is None else read_plan(parsed.plan)
    strange = [name for name in given if name not in usual and name not in SIZES]
    if strange:
        raise InvalidParameter(f"{', '.join(strange)}: {parsed.command} has no use for it; leave it out of the plan")
    parsed.asked = dict(given)
    for name, value in {**dict.fromkeys(SIZES), **usual, **given}.items():
        if name not in SIZES or getattr(parsed, name, None) is None:
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


def read_plan(file: str) -> dict[str, Any]:
    """Return the options in a plan file, by their Python names.

    Raises:
        InvalidParameter: If the file cannot be read, or has an option that `plan` does not have.
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


def format_plan_file(asked: Mapping[str, Any]) -> str:
    """Return the text of a plan file that `read_plan` reads."""
    lines = [HEAD]
    for name, value in asked.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else value
        lines.append(f"{name} = {json.dumps(text, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def format_options(asked: Mapping[str, Any]) -> list[str]:
    """Return a problem as command-line options of `plan`."""
    found = []
    for name, value in asked.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            found += [option] if value else []
            continue
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        found += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return found


def plan_command(asked: Mapping[str, Any], *more: str, file: str | None = "plan.toml") -> str:
    """Return the `plan` command for a problem, with the options `more`, that writes to `file`."""
    return shlex.join(
        ["noisygd-delete", "plan", *format_options(asked), *more, *([] if file is None else ["--out", file])]
    )


class _OfFile(argparse.ArgumentParser):
    """Argument parser that reports every error as an error of the file."""

    def error(self, message: str) -> NoReturn:
        raise InvalidParameter(f"{self.prog}: {message.replace('argument --', '')}")


NETWORK = "network"  # the loss whose module is named, by an extra
PAPER_REGULARIZATION = 1e-3  # default without advice

_SIZES = "sizes (public)"
_LOSS = "loss"
_BUDGET = (
    "budget of one release (one of three forms; default where a method is advised: --dp 2 --deletion 0.2 --delta 1e-6, else the "
    "paper's --order 10 --dp 1 --deletion 0.1)"
)
_TOTAL = "total of all publications (of a record still there, every one observed)"
_GUARANTEE = "guarantee"
_STREAM = "stream (publications and their batch are then chosen by forecast)"
_SAME = object()


def _option(group: str, words: str, default: Any = None, *, advised: Any = _SAME, **how: Any) -> Any:
    """Return a field of `PlanOptions`.

    Args:
        group: Title of its group in the help.
        words: Its help.
        default: Default of `plan`.
        advised: Default where advice or a schema decides; the same if not given.
        **how: Further arguments of `add_argument`.
    """
    facts = {"group": group, "help": words, "advised": default if advised is _SAME else advised, "how": how}
    return field(default=default, metadata=facts)


def _parse_sizes(text: str) -> tuple[int, ...]:
    return tuple(parse_integer(part) for part in text.split(","))


@dataclass(kw_only=True)
class PlanOptions:
    """The options of `plan`; names, types and defaults of `--plan FILE` and of the command line follow from them."""

    records: int | None = _option(_SIZES, "n, number of slots")
    features: int | None = _option(_SIZES, "columns, the constant one included")
    one_hot_blocks: tuple[int, ...] | None = _option(
        _SIZES,
        "columns in order: k for k of which one is always hot, 0 for any other (init takes them from the schema)",
        type=_parse_sizes,
        metavar="K,K,...",
    )
    loss: str | None = _option(
        _LOSS,
        "logistic (default), softmax:classes=3, pseudo-huber:delta=2, one-vs-rest, multilayer-perceptron, tanh-network, "
        "network:module=package.module:function,init_variance=0.1 (a torch module)",
        "logistic",
        advised=None,
        metavar="NAME[:FIELD=VALUE,...]",
    )
    radius: float | None = _option(_LOSS, "bound R on the norm of a feature row (default 1)", 1.0, advised=None)
    clip: float | None = _option(
        _LOSS, "clip every record's gradient to this norm: less noise, some loss of fit", metavar="L"
    )
    regularization: float | None = _option(
        _LOSS, "default: advised, or 1e-3 where a method is named", PAPER_REGULARIZATION, advised=None, metavar="λ"
    )
    ridge: str | None = _option(
        _LOSS,
        "forecast: raise λ, by public numbers alone, where the noise asks for it (default: given)",
        "given",
        advised=None,
        choices=RIDGES,
    )
    model_norm: float | None = _option(
        _LOSS, "--ridge forecast: norm a good model may have (default: from n)", metavar="B"
    )
    order: float | None = _option(_BUDGET, "Rényi order q of --dp and --deletion")
    dp: float | None = _option(_BUDGET, "ε_dp, or ε with --delta, or μ with --gdp")
    deletion: float | None = _option(_BUDGET, "ε_dd in the same measure")
    delta: float | None = _option(_BUDGET, "read --dp and --deletion as ε of (ε, δ) with this δ")
    gdp: bool = _option(_BUDGET, "read --dp and --deletion as Gaussian-DP μ (method noisy-gd)", False)
    total_epsilon: float | None = _option(
        _TOTAL,
        "publication stops before this is exceeded, erasure never (init: default room for 12 publications like the learn)",
        metavar="ε",
    )
    total_delta: float | None = _option(_TOTAL, "default: that of the budget, or 1e-6", metavar="δ")
    no_total: bool = _option(_TOTAL, "no cap on the sum: it grows with every publication", False)
    method: str | None = _option(
        _GUARANTEE,
        "way of learning and deleting, with its own fields: minimiser:solver=cold, ladder:stages=network:60,head (default: "
        f"{DEFAULT_METHOD}; in init auto, what `advise` takes)",
        advised=AUTO,
        metavar="NAME[:FIELD=VALUE,...]",
    )
    proof: str | None = _option(
        _GUARANTEE,
        "by-hand: only methods whose every step is proven on paper; computer-checked: also those with a step by rigorous interval "
        "arithmetic (default)",
        advised=PROOFS[-1],
        choices=PROOFS,
    )
    adjacency: str = _option(_GUARANTEE, "default: replace", "replace", choices=ADJACENCIES)
    deletion_notion: str = _option(_GUARANTEE, "default: definition-4.1", "definition-4.1", choices=DELETION_NOTIONS)
    releases: int = _option(_GUARANTEE, "N observed publications together within --dp", 1, metavar="N")
    batch: int = _option(_GUARANTEE, "records edited by one request", 1)
    rows_per_subject: int | None = _option(
        _GUARANTEE, "rows of one person (default 1, or as the schema says)", 1, advised=None
    )
    no_utility: bool = _option(_GUARANTEE, "take only the steps that forgetting needs", False)
    dtype: str = _option(_GUARANTEE, "of steps over the reals; default: float32", "float32", choices=DTYPES)
    requests: int | None = _option(
        _STREAM, "deletion requests that --dp, then of all publications, must last for", metavar="N"
    )
    period: float | None = _option(_STREAM, "number of days in which the --requests arrive", metavar="DAYS")
    excess_risk: float = _option(_STREAM, "target, nats per record (default 0.01)", 0.01)


_OPTIONS = fields(PlanOptions)
SIZES = tuple(option.name for option in _OPTIONS if option.metadata["group"] == _SIZES)
STREAM: dict[str, Any] = {option.name: option.default for option in _OPTIONS if option.metadata["group"] == _STREAM}
ADVISED: dict[str, Any] = {  # defaults where advice or a schema decides
    option.name: option.metadata["advised"] for option in _OPTIONS if option.name not in SIZES
}
PLANNED: dict[str, Any] = {  # defaults of a plan
    option.name: option.default for option in _OPTIONS if option.name not in (*SIZES, *STREAM, "proof")
}


def add_problem_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plan`; the parser sets only those that were given."""
    groups: dict[str, Any] = {}
    for option in _OPTIONS:
        kind, facts = str(option.type), option.metadata
        if facts["group"] not in groups:
            groups[facts["group"]] = parser.add_argument_group(facts["group"])
        how: dict[str, Any] = {"action": "store_true"} if kind == "bool" else {}
        how |= {"type": parse for start, parse in _PARSERS.items() if kind.startswith(start)}
        how |= {"default": argparse.SUPPRESS, "help": facts["help"], **facts["how"]}
        groups[facts["group"]].add_argument(f"--{option.name.replace('_', '-')}", **how)


_PARSERS = {"int": parse_integer, "float": parse_number}
