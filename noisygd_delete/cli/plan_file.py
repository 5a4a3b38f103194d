"""What is asked of a plan, in a file: `plan ... --out FILE` writes it, `--plan FILE` of other commands reads it. The file says what `plan`
is told, by the names of its options, and nothing else."""

from __future__ import annotations

import argparse
import difflib
import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any, NoReturn

from .. import losses, methods
from ..errors import InvalidParameter, choice
from ..methods.base import AUTO
from .arguments import number, whole
from .problem import SIZES, add_problem_arguments

HEAD = "# for --plan FILE of init, quickstart, advise, relearn and audit; by noisygd-delete plan"
_FIELDS = re.compile(r",(?=\s*\w+=)")  # commas between fields, not those within a value


def add_plan_file(parser: argparse.ArgumentParser) -> None:
    """The problem of a command that plans and is not told it word by word."""
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="loss, budget and method, as `plan ... --out FILE` writes them (default: advised)",
    )


def take(parsed: argparse.Namespace, usual: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> None:
    """Fill in what is asked, and `usual` where nothing is. `parsed.asked` keeps what was asked.

    Args:
        given: what was asked of `plan` itself; else it is read from the file that the arguments name.

    Raises:
        InvalidParameter: the file asks for what this command has no use for.
    """
    if given is None:
        given = {} if parsed.plan is None else read(parsed.plan)
    strange = [name for name in given if name not in usual and name not in SIZES]
    if strange:
        raise InvalidParameter(f"{', '.join(strange)}: {parsed.command} has no use for it; leave it out of the plan")
    parsed.asked = dict(given)
    for name, value in {**dict.fromkeys(SIZES), **usual, **given}.items():
        if name not in SIZES or getattr(parsed, name, None) is None:
            setattr(parsed, name, value)
    parsed.loss, parsed.loss_fields = spec("loss", parsed.loss)
    if parsed.loss is not None:
        choice("loss", parsed.loss, tuple(sorted(losses.CATALOGUE)))
    parsed.method, parsed.method_fields = spec("method", parsed.method)
    if parsed.method not in (None, AUTO):
        methods.of(parsed.method, **parsed.method_fields)  # refused here if there is none such
    elif parsed.method_fields:
        raise InvalidParameter(
            f"{', '.join(parsed.method_fields)}: an option of one method; name the method in front of it"
        )


def read(file: str) -> dict[str, Any]:
    """What the file asks, by the names of the options in Python.

    Raises:
        InvalidParameter: it cannot be read, or asks for what no plan has.
    """
    from ..records import bounded

    try:
        table = tomllib.loads(bounded.text(file, bounded.SCHEMA))
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
    return vars(parser.parse_args(words(table)))


def written(asked: Mapping[str, Any]) -> str:
    """The file that `read` reads."""
    lines = [HEAD]
    for name, value in asked.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else value
        lines.append(f"{name} = {json.dumps(text, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def words(asked: Mapping[str, Any]) -> list[str]:
    """What is asked as options of `plan`."""
    found = []
    for name, value in asked.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            found += [option] if value else []
            continue
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        found += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return found


def command(asked: Mapping[str, Any], *more: str, file: str | None = "plan.toml") -> str:
    """The command that plans what is asked, with `more` options, and writes it to the file."""
    return shlex.join(["noisygd-delete", "plan", *words(asked), *more, *([] if file is None else ["--out", file])])


def spec(option: str, text: str | None) -> tuple[str | None, dict[str, Any]]:
    """A name and the fields after it: `minimiser:solver=cold,diffusion_steps=40`.

    Raises:
        InvalidParameter: a field has no value.
    """
    name, _, fields = (text or "").partition(":")
    found: dict[str, Any] = {}
    for part in filter(None, _FIELDS.split(fields)):
        field, equals, value = (piece.strip() for piece in part.partition("="))
        if not (field and equals):
            raise InvalidParameter(f"--{option} {name}: {part!r} must be FIELD=VALUE, as in minimiser:solver=cold")
        found[field.replace("-", "_")] = _value(field, value)
    return name or None, found


def joined(name: str, fields: Mapping[str, Any]) -> str:
    """`spec` the other way round; `fields` as they are typed."""
    return name + ("" if not fields else ":" + ",".join(f"{field}={value}" for field, value in fields.items()))


def _value(field: str, text: str) -> Any:
    if field == "stages":
        return _stages(text)
    if field == "outer_weights":
        return tuple(map(_number, text.split(",")))
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _number(text: str) -> float:
    try:
        return number(text)
    except argparse.ArgumentTypeError as error:
        raise InvalidParameter(str(error)) from error


def _stages(text: str) -> tuple[Any, ...]:
    """Stages as they are typed: a kind, its steps (a head may leave them out), its step size and the share of the rows in a step."""
    from ..methods.stages import Stage

    found = []
    for part in text.split(","):
        kind, *numbers = part.split(":")
        if len(numbers) > 3:
            raise InvalidParameter(
                f"stages: {part!r} must be KIND, KIND:STEPS, KIND:STEPS:STEP_SIZE or KIND:STEPS:STEP_SIZE:SHARE"
            )
        try:
            steps = whole(numbers[0]) if numbers else None
            size, rate = (number(numbers[k]) if len(numbers) > k else None for k in (1, 2))
            found.append(Stage(kind.strip(), steps, size, sampling_rate=rate))
        except (InvalidParameter, argparse.ArgumentTypeError) as error:
            raise InvalidParameter(f"stages: {part!r}: {error}") from error
    return tuple(found)


class _OfFile(argparse.ArgumentParser):
    """Whatever is wrong is an error about the file."""

    def error(self, message: str) -> NoReturn:
        raise InvalidParameter(f"{self.prog}: {message.replace('argument --', '')}")
