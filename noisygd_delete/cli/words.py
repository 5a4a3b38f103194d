"""The library's messages name its own parameters; whoever types commands knows them as options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

_VALUE = r"'[^']*'|[^\s,;:()]*[^\s,;:().]"


def options_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Parameter -> the option that sets it, for the options of one command."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}


def spoken(text: str, options: Mapping[str, str]) -> str:
    """A message with every `parameter=value` written as it is typed: `--parameter value`."""
    names = {**options, **({"utility": options["no_utility"]} if "no_utility" in options else {})}
    if not names:
        return text
    pattern = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, names))})=({_VALUE})?")

    def typed(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name == "utility":
            return names[name] if value == "False" else f"no {names[name]}"
        return names[name] if value is None else f"{names[name]} {value.strip(chr(39))}"

    return pattern.sub(typed, text)
