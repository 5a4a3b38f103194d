"""Papers in another language, sentence by sentence from their English text: a signed file stays one."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from ...errors import choice

ORIGINAL = "en"
_PAPERS = (
    "certificate",
    "report",
    "sheet",
)  # each with a folder of its sentences; a later one knows those of an earlier one
_MONTHS = "January February March April May June July August September October November December"
_DAY = re.compile(rf"(\d{{1,2}}) ({_MONTHS.replace(' ', '|')}) (\d{{4}})")
_KINDS = {"day": _DAY.pattern.replace("(", "(?:"), "n": r"[\d.,e∞ +−-]+", "text": ".+?", "part": ".+?"}
_SLOT = re.compile(r"\{(day|n|text|part)(\d?)\}")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def written_languages() -> tuple[str, ...]:
    """The codes of the languages that certificate, register and report can be read in."""
    found = (file.name for file in files(__package__).joinpath(_PAPERS[0]).iterdir())
    return (ORIGINAL, *sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@dataclass(frozen=True)
class Reading:
    """The sentences of one language, by the English ones. `missing`: what was asked for and is in no catalogue."""

    code: str
    sentences: dict[str, str]
    months: tuple[str, ...] = ()
    day: str = ""
    decimal: str = "."
    missing: list[str] = field(default_factory=list)

    def say(self, text: Any) -> str:
        """A text in this language; what no catalogue has stays as it is signed."""
        found = str(text) if self.code == ORIGINAL else self._found(str(text))
        if found is None:
            self.missing.append(str(text))
        return str(text) if found is None else found

    def named(self, text: str) -> str:
        """What an attack is called, `what it asked: how`; a name that somebody else gave stays as it is."""
        each = [text] if self.code == ORIGINAL else [self._found(part) for part in text.split(": ")]
        return text if None in each else ": ".join(map(str, each))

    def numbers(self, text: str) -> str:
        """Figures as people of this language write them: the same digits, with their decimal mark."""
        return _POINT.sub(self.decimal, text)

    def _found(self, text: str) -> str | None:
        if text in self.sentences:
            return self.sentences[text]
        for pattern, put in self._patterns:
            held = pattern.fullmatch(text)
            if held is not None and (filled := self._filled(put, held.groupdict())) is not None:
                return filled
        parts = _SENTENCES.split(text)
        if len(parts) == 1:
            return None
        each = [self._found(part) for part in parts]
        return None if None in each else " ".join(filter(None, each))

    def _filled(self, put: str, held: dict[str, str]) -> str | None:
        values: dict[str, str] = {}
        for name, value in held.items():
            kind = name.rstrip("0123456789")
            read = {"part": self._found, "day": self._days, "n": self.numbers}.get(kind, str)
            inner = read(value)
            if inner is None:
                return None
            values[name] = inner
        return put.format(**values)

    def _days(self, text: str) -> str:
        """Days as people of this language write them."""
        names = _MONTHS.split()
        return _DAY.sub(
            lambda day: self.day.format(day=day[1], month=self.months[names.index(day[2])], year=day[3]), text
        )

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Sentences with places to fill, those with the most words of their own first."""
        open_ones = [(english, put) for english, put in self.sentences.items() if _SLOT.search(english)]
        open_ones.sort(key=lambda pair: len(_SLOT.sub("", pair[0])), reverse=True)
        return [(_pattern(english), put) for english, put in open_ones]


def _pattern(english: str) -> re.Pattern[str]:
    parts, at = [], 0
    for slot in _SLOT.finditer(english):
        parts += [re.escape(english[at : slot.start()]), f"(?P<{slot[1]}{slot[2]}>{_KINDS[slot[1]]})"]
        at = slot.end()
    return re.compile("".join([*parts, re.escape(english[at:])]))


@cache
def _catalogue(code: str, paper: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(paper, f"{code}.toml").read_text("utf-8"))


def reading(code: str) -> Reading:
    """How papers are read in this language.

    Raises:
        InvalidParameter: there is no file for it.
    """
    choice("language", code, written_languages())
    if code == ORIGINAL:
        return Reading(code, {})
    found = _catalogue(code, _PAPERS[0])
    sentences = {english: put for paper in _PAPERS for english, put in _catalogue(code, paper)["sentences"].items()}
    return Reading(code, sentences, tuple(found["months"]), found["day"], found["decimal"])
