"""What papers say, in the languages of the people who read them: one file a language.

A sentence has a key and the names of what is filled in. A label whose English needs no second look is its own key. Nothing is ever read
back: whoever prints a sentence gives its key and its values.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from ...errors import check_choice
from ...privacy.sentences import format_bound

ORIGINAL = "en"


def language_codes() -> tuple[str, ...]:
    """The codes of the languages that there is a file for, English first."""
    found = (file.name for file in files(__name__).iterdir())
    codes = {name.removesuffix(".toml") for name in found if name.endswith(".toml")}
    return (ORIGINAL, *sorted(codes - {ORIGINAL}))


class Figure(str):
    """A number as it was written in English: a language puts its own decimal mark."""


class LocalizedSentence(str):
    """A sentence in English that knows its key and its values, so that another language can say it too."""

    key: str
    values: Mapping[str, Any]


def localized_sentence(key: str, **values: Any) -> LocalizedSentence:
    """A sentence of the catalogue, in English until a language says it."""
    made = LocalizedSentence(load_language(ORIGINAL).say(key, **values))
    made.key, made.values = key, values
    return made


@dataclass(frozen=True)
class Language:
    """The sentences of one language, by key. `missing`: keys that were asked for and have none."""

    code: str
    sentences: Mapping[str, Any]
    months: tuple[str, ...]
    form: str
    decimal: str
    name: str
    missing: list[str] = field(default_factory=list)

    def say(self, key: str, **values: Any) -> str:
        """One sentence, its names filled in: days and figures as people of this language write them."""
        if isinstance(key, LocalizedSentence):
            return self.say(key.key, **key.values)
        found = self.sentences.get(key)
        if found is None:
            found = key
            if self.code != ORIGINAL:
                self.missing.append(key)
        if isinstance(found, Mapping):
            found = found["one" if values[found["by"]] == 1 else "many"]
        return str(found).format(**{name: self.written(value) for name, value in values.items()}).strip()

    def written(self, value: Any) -> str:
        """A value for a sentence: a day, a figure, another sentence, or a text as it is."""
        if isinstance(value, LocalizedSentence):
            return self.say(value)
        if isinstance(value, Figure):
            return self.numbers(value)
        if isinstance(value, date):
            return self.moment(value) if isinstance(value, datetime) else self.day(value)
        return self.figure(value) if isinstance(value, float) else str(value)

    def day(self, when: date) -> str:
        """A calendar day."""
        return self.form.format(day=when.day, month=self.months[when.month - 1], year=when.year)

    def moment(self, when: datetime) -> str:
        """A moment, with the zone in which it was written down."""
        zone = when.strftime("%z")
        return f"{self.day(when.date())}, {when:%H:%M} UTC{f'{zone[:3]}:{zone[3:]}' if when.utcoffset() else ''}"

    def figure(self, value: Any) -> str:
        """A number for a table, in this language's digits."""
        return self.numbers(format_figure(value))

    def numbers(self, text: str) -> str:
        """A figure with this language's decimal mark."""
        return text.replace(".", self.decimal)


def format_figure(value: Any) -> str:
    """A number for a table: four digits, rounded up like every bound; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return format_bound(value)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


@cache
def load_language(code: str) -> Language:
    """The language of this code.

    Raises:
        InvalidParameter: there is no file for it.
    """
    check_choice("language", code, language_codes())
    found = tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text("utf-8"))
    months, sentences = tuple(found["months"]), found["sentences"]
    return Language(found["code"], sentences, months, found["day"], found["decimal"], found["language"])


class _Labels(dict[str, Any]):
    """Sentences by key, a label that is its own English among them."""

    def __missing__(self, key: str) -> str:
        return key


def page_labels(code: str) -> Mapping[str, Any]:
    """What the page of a certificate takes from this language: sentences by key, and how days and figures are written."""
    words = load_language(code)
    return _Labels({**words.sentences, "day": words.form, "months": words.months, "decimal": words.decimal})
