"""Arguments: in any order, of a size that can be meant, and refused in one line."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ..errors import NoisyGDDeleteError, written
from .streams import AnswerLost, complain, tell

_LARGEST = 10**12  # slots, steps, releases
_SHOWN = 40  # letters of a word in a message
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Intermixed(argparse.ArgumentParser):
    """Names and options in any order: `delete STORE --request-id T ID`."""

    _mixing = False

    def error(self, message: str) -> NoReturn:
        """One line, like every other refusal; the usage is a page of its own."""
        raise SystemExit(complain(f"{self.prog}: {message}; see {self.prog} --help", 2))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help and version are answers: argparse would not notice that they got lost."""
        if file is None or file is not sys.stdout:
            super()._print_message(message, file)
            return
        try:
            tell(message.removesuffix("\n"))
        except AnswerLost as error:
            raise SystemExit(complain(f"{self.prog}: {error}", 2)) from error

    def format_help(self) -> str:
        """With the names of the options that are told once for all commands."""
        common = [action.option_strings[0] for action in self._actions if action.help is argparse.SUPPRESS]
        also = f"\nalso: {', '.join(common)} (see noisygd-delete --help)\n" if common else ""
        return super().format_help() + also

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        in_order = any(action.nargs == argparse.PARSER for action in self._actions)  # it has commands of its own
        if self._mixing or in_order:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


def check_words(parser: argparse.ArgumentParser, arguments: Sequence[str], elsewhere: Mapping[str, str]) -> None:
    """Refuse the first command or option that there is not, and name the one that comes nearest.

    Args:
        elsewhere: options of other commands -> where they are said.
    """
    words = iter(arguments)
    for text in words:
        if text == "--":
            return
        commands = next((action.choices for action in parser._actions if isinstance(action.choices, dict)), {})
        if text.startswith("--"):
            name = text.partition("=")[0]
            if name not in parser._option_string_actions:
                known = [*parser._option_string_actions, *elsewhere]
                near = name if name in elsewhere else _nearest(name, known)
                hint = f"; did you mean {near}?" if near else ""
                hint += f" It is {elsewhere[near]}" if near in elsewhere else ""
                parser.error(f"no option {name[:_SHOWN]}{hint}")
            if parser._option_string_actions[name].nargs is None and text == name:
                next(words, None)  # its value
        elif commands and not text.startswith("-"):
            if text not in commands:
                near = _nearest(text, commands)
                hint = f"; did you mean {near!r}?" if near else ""
                parser.error(f"no command {text[:_SHOWN]!r} (invalid choice){hint}")
            parser = commands[text]


def _nearest(word: str, known: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(word, known, 1)), "")


def whole(text: str) -> int:
    """A whole number as an argument, of a size that a machine can count to."""
    try:
        found = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a whole number, in digits") from error
    if abs(found) > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]} must be at most {_LARGEST:,}")
    return found


def size(text: str) -> int:
    """A number of bytes: 800M, 6G, or digits alone."""
    unit = _UNITS.get(text[-1:].upper(), 0)
    found = whole(text[:-1] if unit else text) * (unit or 1)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]} must be at least 1 byte")
    return found


def seed(text: str) -> int:
    """A whole number that a generator takes as its seed."""
    found = whole(text)
    if found < 0:
        raise argparse.ArgumentTypeError(f"{text} must be at least 0")
    return found


def number(text: str) -> float:
    """A number as an argument."""
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a number") from error


def options_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Parameter -> the option that sets it, for the options of one command."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}


def told(error: NoisyGDDeleteError, options: Mapping[str, str]) -> str:
    """The message of an error with each parameter that it is about as it is typed: `--parameter value`; and its notes."""

    def typed(name: str, value: Any) -> str:
        text = value if isinstance(value, str) else written(value)
        return f"{options[name]} {text}" if name in options else f"{name}={written(value)}"

    return "; ".join([error.told(typed), *getattr(error, "__notes__", ())])
