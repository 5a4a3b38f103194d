"""Report on residue: texts that the operator names, searched for in what an erasure leaves behind.

Every place gets one verdict. ERASED: all of it was read, and none of the texts is there. RESIDUAL: some are, with what
removes them. NOT COVERED: it could not be read, or its format hides texts, with what to do. Neither the texts nor a
file name that contains one is ever repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from ...errors import InvalidParameter, Word

MOST_TOKENS = 10_000
_LINES = 1 << 14


class Verdicts(Word):
    """The verdict on a place."""

    ERASED = "ERASED"
    RESIDUAL = "RESIDUAL"
    NOT_COVERED = "NOT COVERED"


@dataclass(frozen=True)
class Place:
    """One place that was searched.

    Attributes:
        place: Its description.
        verdict: The verdict.
        found: The number of texts that are there.
        remedy: What to do, if anything.
    """

    place: str
    verdict: Verdicts
    found: int = 0
    remedy: str | None = None


@dataclass(frozen=True)
class Residue:
    """The result of a search.

    Attributes:
        tokens: The number of texts.
        places: All places that were searched.
        looked_at: The time when the search began.
    """

    tokens: int
    places: tuple[Place, ...]
    looked_at: str

    @property
    def silent(self) -> bool:
        """Whether nothing was found. Places that were not covered may hold anything."""
        return all(place.verdict is not Verdicts.RESIDUAL for place in self.places)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        places = [{**asdict(place), "verdict": str(place.verdict)} for place in self.places]
        return {"silent": self.silent, "tokens": self.tokens, "looked_at": self.looked_at, "places": places}

    def text(self) -> str:
        """Return the report as text: a line for each place, and below it what to do."""
        lines = []
        for place in self.places:
            found = f" ({place.found} of {self.tokens})" if place.found else ""
            lines.append(f"{place.verdict:<12} {place.place}{found}")
            if place.remedy is not None:
                lines.append(f"{'':<12} -> {place.remedy}")
        return "\n".join(lines)


class Needles:
    """Texts in all forms in which bytes may hold them: UTF-8, UTF-16, JSON escapes; a UUID also as its 16 bytes."""

    def __init__(self, tokens: Sequence[str]) -> None:
        if not 0 < len(tokens) <= MOST_TOKENS:
            raise InvalidParameter(f"give between 1 and {MOST_TOKENS} texts to look for, not {len(tokens)}")
        self.tokens = tuple(tokens)
        self._forms = [(number, form) for number, token in enumerate(tokens) for form in sorted(_forms(token))]
        self._longest = max(len(form) for _, form in self._forms)

    def __len__(self) -> int:
        return len(self.tokens)

    def among(self, pieces: Iterable[bytes]) -> set[int]:
        """Return the numbers of the texts in these bytes, which may be cut anywhere."""
        found: set[int] = set()
        kept = b""
        for piece in pieces:
            kept = kept[-self._longest :] + piece
            found.update(number for number, form in self._forms if number not in found and form in kept)
        return found

    def within(self, values: Iterable[object]) -> set[int]:
        """Return the numbers of the texts in these values, each converted to text."""
        return self.among(_join_lines(values))


def _forms(token: str) -> set[bytes]:
    """Return the byte strings that may represent a text."""
    written = json.dumps(token)[1:-1]
    found = {form.encode(code) for form in (token, written) for code in ("utf-8", "utf-16-le", "utf-16-be")}
    with suppress(ValueError):
        found.add(UUID(token).bytes)
    return found


def _join_lines(values: Iterable[object]) -> Iterator[bytes]:
    """Yield the values as lines, many at a time."""
    texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values)
    while some := list(islice(texts, _LINES)):
        yield "\n".join([*some, ""]).encode("utf-8", "replace")


def verdict(place: str, found: set[int], remedy: str) -> Place:
    """Return the place with the verdict of a complete search."""
    if found:
        return Place(place, Verdicts.RESIDUAL, len(found), remedy)
    return Place(place, Verdicts.ERASED)


def not_covered(place: str, remedy: str) -> Place:
    """Return a place that was not searched."""
    return Place(place, Verdicts.NOT_COVERED, 0, remedy)
