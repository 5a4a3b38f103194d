"""Sentences in the languages of the people who read them: one file a language, every file with the same keys."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from ...errors import choice


def languages() -> tuple[str, ...]:
    """The codes of the languages that there is a file for."""
    found = (file.name for file in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@dataclass(frozen=True)
class Language:
    """The sentences of one language, by key."""

    code: str
    sentences: dict[str, Any]

    def say(self, key: str, **values: Any) -> str:
        """One sentence, its names filled in; days as people of this language write them."""
        filled = {name: self.day(value) if isinstance(value, date) else value for name, value in values.items()}
        return str(self.sentences[key]).format(**filled).strip()

    def day(self, when: date) -> str:
        """A calendar day."""
        month = self.sentences["months"][when.month - 1]
        return str(self.sentences["day"]).format(day=when.day, month=month, year=when.year)


@cache
def language(code: str) -> Language:
    """The language of this code.

    Raises:
        InvalidParameter: there is no file for it.
    """
    choice("language", code, languages())
    return Language(code, tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text("utf-8")))
