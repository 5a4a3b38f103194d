"""The sentences of one catalogue, by key: what papers claim, and under which conditions a figure holds, in every language that has a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import choice
from .shown import brief

# of the keys of `evidence.claims`: another one where a key means something else, or papers about methods known before need a new one
CATALOGUE = "4"
_FOLDER = Path(__file__).parent / "catalogue"


def languages() -> tuple[str, ...]:
    """The codes of the languages that the catalogue is written in."""
    return tuple(sorted(file.name.split(".")[1] for file in _FOLDER.glob(f"{CATALOGUE}.*")))


@cache
def catalogue(language: str) -> dict[str, Any]:
    """The sentences of one language, by key.

    Raises:
        InvalidParameter: there is no file for it.
    """
    choice("language", language, languages())
    return tomllib.loads((_FOLDER / f"{CATALOGUE}.{language}.toml").read_text("utf-8"))


def condition(key: str, values: Mapping[str, Any]) -> str:
    """Under what a figure holds, in English."""
    words = catalogue("en")
    filled = {name: brief(value, 12) if isinstance(value, float) else str(value) for name, value in values.items()}
    return fill(words["claims"][key], values, filled)


def fill(entry: Any, values: Mapping[str, Any], filled: Mapping[str, str]) -> str:
    """An entry with its {names} in place; one of several by a value: by its word, or by whether it is one or many."""
    while not isinstance(entry, str):
        value = values[entry["by"]]
        entry = entry[value if isinstance(value, str) else "one" if value == 1 else "many"]
    first, *parts = entry.split("{")
    text = first
    for part in parts:
        name, rest = part.split("}")
        text += filled[name] + rest
    return text
