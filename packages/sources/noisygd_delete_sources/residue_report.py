"""Report on residue: texts that the operator names, searched for in what an erasure leaves behind.

Every place gets one verdict. ERASED: all of it was read, and none of the texts is there. RESIDUAL: some are, with what
removes them. NOT COVERED: it could not be read, or its format hides texts, with what to do. Neither the texts nor a
file name that contains one is ever repeated.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from noisygd_delete.evidence.facts import Verdicts


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


def verdict(place: str, found: set[int], remedy: str) -> Place:
    """Return the place with the verdict of a complete search."""
    if found:
        return Place(place, Verdicts.RESIDUAL, len(found), remedy)
    return Place(place, Verdicts.ERASED)


def not_covered(place: str, remedy: str) -> Place:
    """Return a place that was not searched."""
    return Place(place, Verdicts.NOT_COVERED, 0, remedy)
