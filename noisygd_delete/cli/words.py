"""The library's errors name its own parameters; whoever types commands knows them as options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..errors import NoisyGDDeleteError, written


def options_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Parameter -> the option that sets it, for the options of one command."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}


def told(error: NoisyGDDeleteError, options: Mapping[str, str]) -> str:
    """The message of an error with each parameter that it is about as it is typed: `--parameter value`."""

    def typed(name: str, value: Any) -> str:
        text = value if isinstance(value, str) else written(value)
        return f"{options[name]} {text}" if name in options else f"{name}={written(value)}"

    return error.told(typed)
