"""The sentences of documents: in English, and in the languages of installed packages.

A sentence has a key and named values. A label whose English text is unambiguous is its own key. Sentences are never
parsed: a caller gives the key and its values.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from ...privacy.sentences import ORIGINAL, format_bound, language_codes, read_texts

__all__ = [
    "ORIGINAL",
    "Figure",
    "Language",
    "LocalizedSentence",
    "format_figure",
    "language_codes",
    "load_language",
    "localized_sentence",
    "page_labels",
]


class Figure(str):
    """A number formatted in English; a language replaces the decimal mark."""


class LocalizedSentence(str):
    """An English sentence with its key and values, so that it can be translated."""

    key: str
    values: Mapping[str, Any]


def localized_sentence(key: str, **values: Any) -> LocalizedSentence:
    """Return a sentence of the catalogue, in English until it is translated."""
    made = LocalizedSentence(load_language(ORIGINAL).say(key, **values))
    made.key, made.values = key, values
    return made


@dataclass(frozen=True)
class Language:
    """The sentences of one language, by key; `missing` collects requested keys without a sentence."""

    code: str
    sentences: Mapping[str, Any]
    months: tuple[str, ...]
    form: str
    decimal: str
    name: str
    missing: list[str] = field(default_factory=list)

    def say(self, key: str, **values: Any) -> str:
        """Return one sentence with its values, days and figures in the notation of the language."""
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
        """Return a value for a sentence: a day, a figure, another sentence, or a text unchanged."""
        if isinstance(value, LocalizedSentence):
            return self.say(value)
        if isinstance(value, Figure):
            return self.numbers(value)
        if isinstance(value, date):
            return self.moment(value) if isinstance(value, datetime) else self.day(value)
        return self.figure(value) if isinstance(value, float) else str(value)

    def day(self, when: date) -> str:
        """Return a calendar day."""
        return self.form.format(day=when.day, month=self.months[when.month - 1], year=when.year)

    def moment(self, when: datetime) -> str:
        """Return a time with the time zone in which it was recorded."""
        zone = when.strftime("%z")
        return f"{self.day(when.date())}, {when:%H:%M} UTC{f'{zone[:3]}:{zone[3:]}' if when.utcoffset() else ''}"

    def figure(self, value: Any) -> str:
        """Return a number for a table, in this language's notation."""
        return self.numbers(format_figure(value))

    def numbers(self, text: str) -> str:
        """Return a figure with this language's decimal mark."""
        return text.replace(".", self.decimal)


def format_figure(value: Any) -> str:
    """Return a number for a table: four digits, rounded up like every bound; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return format_bound(value)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


@cache
def load_language(code: str) -> Language:
    """Return the language of this code; packages add languages, and English sentences for their own documents.

    Raises:
        InvalidParameter: If no installed package provides the language.
    """
    own = tomllib.loads(files(__name__).joinpath("en.toml").read_text("utf-8")) if code == ORIGINAL else {}
    added = read_texts(code, "labels")
    found = own or added
    sentences = own.get("sentences", {}) | added["sentences"] if added else own["sentences"]
    return Language(found["code"], sentences, tuple(found["months"]), found["day"], found["decimal"], found["language"])


class _Labels(dict[str, Any]):
    """Sentences by key; a missing key is its own label."""

    def __missing__(self, key: str) -> str:
        return key


def page_labels(code: str) -> Mapping[str, Any]:
    """Return what a certificate's page needs of a language: sentences by key, and the format of days and figures."""
    words = load_language(code)
    return _Labels({**words.sentences, "day": words.form, "months": words.months, "decimal": words.decimal})
