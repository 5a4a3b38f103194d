"""Facts of an erasure about places outside the store: where rows lie, in which order that was changed and read, what is left in it;
and where models are put besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidParameter, choice, count
from ..store import position
from ..store.sources.verdicts import Verdicts
from .notices import text

MOST_PLACES = 1000  # of a residue report
MOST_PUBLISHERS = 50
UNKNOWN = "unknown"  # the kind that stands for places that a list of publishers no longer names


def listed(name: str, rows: Any, most: int, parts: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Rows of a report, each with these parts and no others; the first of them names it.

    Raises:
        InvalidParameter: they are something else, or more than `most`.
    """
    if not isinstance(rows, (list, tuple)) or len(rows) > most:
        raise InvalidParameter(f"{name} must be a list of at most {most}")
    for row in rows:
        if not isinstance(row, Mapping) or set(row) != set(parts) or row[parts[0]] is None:
            raise InvalidParameter(f"each part of {name} has {', '.join(parts)}, the first of them a name")
        text(f"{parts[0]} of {name}", row[parts[0]])
    return tuple(dict(row) for row in rows)


def in_order_of_the_source(
    deleted_at: str | None, read_at: str | None, counted: str | None, *, published: bool
) -> None:
    """Raise unless the published model was computed from a state of the source that shows the deletion."""
    for place in (deleted_at, read_at):
        if place is not None:
            position.checked(place)
    if (read_at is None) != (deleted_at is None or not published):
        raise InvalidParameter(
            "where rows lie in a source of their own, a deletion has deleted_at, and the model published since has read_at"
        )
    if counted is not None and (choice("counted", counted, position.COUNTED_BY) and read_at is None):
        raise InvalidParameter("counted says by what the changes up to read_at were counted: give both or neither")
    if read_at is not None and deleted_at is not None and not position.covers(read_at, deleted_at):
        raise InvalidParameter(
            f"the published model was computed from {read_at}, which does not show the deletion at {deleted_at}: it may have been "
            "trained with what was erased, so nothing is certified. Publish again"
        )


def looked_for(places: Any) -> tuple[dict[str, Any], ...]:
    """Rows of a residue report: a place, what is there, how many of the texts looked for were found in it, what to do."""
    found = listed("residue", places, MOST_PLACES, ("place", "verdict", "found", "remedy"))
    for place in found:
        text("remedy", place["remedy"])
        Verdicts(place["verdict"])
        if (count("found", place["found"], minimum=0) > 0) != (place["verdict"] == Verdicts.RESIDUAL):
            raise InvalidParameter("a place of a residue report is RESIDUAL where something was found, and only there")
    return found


def put_besides(places: Any) -> tuple[dict[str, Any], ...]:
    """What publishers were last known to hold: the kind of place, the release in force there, the earliest that may still lie there."""
    found = listed("publishers", places, MOST_PUBLISHERS, ("kind", "release", "oldest"))
    for place in found:
        for name in ("release", "oldest"):
            if place[name] is not None:
                count(name, place[name])
        if place["release"] is not None and (place["oldest"] is None or place["oldest"] > place["release"]):
            raise InvalidParameter("a publisher that holds a release has none that is older than its oldest")
    return found


def made_by(releases: int, publishers: Sequence[Mapping[str, Any]]) -> None:
    """Raise where a publisher is said to hold a release that was never made."""
    for place in publishers:
        for name in ("release", "oldest"):
            if place[name] is not None and place[name] > releases:
                raise InvalidParameter(f"a publisher cannot hold release {place[name]}: {releases} were made")
