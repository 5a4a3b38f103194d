"""Spellings of 0.1 that still work: a command that worked says the new one on standard error. They leave in 0.3.0."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_PLANNING = {
    "plan": (),
    "init": (),
    "quickstart": (),
    "relearn": (),
    "advise": ("--records", "--features"),
    "audit": (),
}  # and its own
_LOSS = {
    "classes": "",
    "hidden": "multilayer-perceptron",
    "huber_delta": "pseudo-huber",
    "outer_weights": "tanh-network",
}
_METHOD = (
    *(
        "step_size",
        "noise_variance",
        "solver",
        "diffusion_steps",
        "gradient_tolerance",
        "form",
        "learn_steps",
        "delete_steps",
    ),
    *("requests_per_learn", "fresh_learn", "fresh_every", "resumed_steps", "stages", "level"),
)


class Respelled(NamedTuple):
    """Arguments in the new spelling; what they asked of a plan, by its names in Python; and what to say of it, "" where nothing changed."""

    arguments: Sequence[str]
    asked: dict[str, Any]
    note: str


def respelled(arguments: Sequence[str]) -> Respelled:
    """The arguments as they are typed since 0.2.0."""
    as_they_are = Respelled(arguments, {}, "")
    name, rest = (arguments[0], list(arguments[1:])) if arguments else ("", [])
    if name not in _PLANNING or not {"--help", "-h"}.isdisjoint(rest):
        return as_they_are
    from .problem import command, words

    parser = _parser(name)
    known, kept = parser.parse_known_args(rest)
    asked = vars(known)
    if name == "plan" and not any(dest in asked for dest in (*_LOSS, *_METHOD, "option")):
        return as_they_are
    if not asked:
        return as_they_are
    _fold(parser, name, asked)
    if name == "plan":
        new = [name, *words(asked), *kept]
        return Respelled(
            new, {}, f"fields of a method or loss follow its name since 0.2.0: {shlex.join(['noisygd-delete', *new])}"
        )
    again = shlex.join(["noisygd-delete", name, *kept, "--plan", "plan.toml"])
    note = f"what is planned is said to `plan` since 0.2.0, and here no more from 0.3.0 on: {command(asked)} && {again}"
    return Respelled([name, *kept], asked, note)


def said_to_plan(command: str) -> dict[str, str]:
    """Options that this command has no longer, or never had, and that a file of `plan` says for it."""
    if command not in _PLANNING or command == "plan":
        return {}
    where = f"said to `noisygd-delete plan --out plan.toml`, which `{command}` reads with --plan plan.toml"
    return dict.fromkeys(_parser(command)._option_string_actions, where)


def _parser(command: str) -> argparse.ArgumentParser:
    """What knows every option of a plan that the command has no longer."""
    from .arguments import Intermixed
    from .plan import add_problem_arguments

    parser = Intermixed(prog=f"noisygd-delete {command}", allow_abbrev=False, add_help=False)
    for dest in (*_LOSS, *_METHOD):
        parser.add_argument(f"--{dest.replace('_', '-')}", default=argparse.SUPPRESS)
    parser.add_argument("--option", action="append", metavar="NAME=VALUE", default=argparse.SUPPRESS)
    add_problem_arguments(parser)
    for option in _PLANNING[command]:
        del parser._option_string_actions[option]
    return parser


def _fold(parser: argparse.ArgumentParser, command: str, asked: dict[str, Any]) -> None:
    """Put the fields of a method and of a loss behind its name."""
    fields: dict[str, Any] = {dest: asked.pop(dest) for dest in _METHOD if dest in asked}
    for text in asked.pop("option", []):
        field, equals, value = text.partition("=")
        if not (field and equals):
            parser.error(f"argument --option: {text!r} must be NAME=VALUE")
        fields[field] = value
    if fields:
        method = asked.get("method", "theorem" if command in ("plan", "audit") else "auto")
        if method == "auto":
            given = ", ".join(f"--{field.replace('_', '-')}" for field in fields)
            parser.error(f"{given}: an option of one method; name the method with --method")
        asked["method"] = _with(method, fields)
    of_loss = {dest.removeprefix("huber_"): asked.pop(dest) for dest in _LOSS if dest in asked}
    if of_loss:
        implied = next(
            (_LOSS[dest] for dest in _LOSS if dest.removeprefix("huber_") in of_loss and _LOSS[dest]), "logistic"
        )
        asked["loss"] = _with(asked.get("loss", implied), of_loss)


def _with(name: str, fields: Mapping[str, Any]) -> str:
    more = ",".join(f"{field}={value}" for field, value in fields.items())
    return f"{name}{',' if ':' in name else ':'}{more}"
