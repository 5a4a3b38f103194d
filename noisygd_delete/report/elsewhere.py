"""Facts of an erasure whose rows lie in a source of their own: in which order that was changed and read, and what is left in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidParameter, choice, count
from ..sources.verdicts import Verdicts
from ..store import position
from .notices import text

MOST_PLACES = 1000  # of a residue report


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
    if not isinstance(places, (list, tuple)) or len(places) > MOST_PLACES:
        raise InvalidParameter(f"residue must be a list of at most {MOST_PLACES} places")
    checked = []
    for place in places:
        if not isinstance(place, Mapping) or set(place) != {"place", "verdict", "found", "remedy"}:
            raise InvalidParameter("a place of a residue report has place, verdict, found and remedy")
        if place["place"] is None:
            raise InvalidParameter("a place of a residue report needs a name")
        for name in ("place", "remedy"):
            text(name, place[name])
        Verdicts(place["verdict"])
        if (count("found", place["found"], minimum=0) > 0) != (place["verdict"] == Verdicts.RESIDUAL):
            raise InvalidParameter("a place of a residue report is RESIDUAL where something was found, and only there")
        checked.append(dict(place))
    return tuple(checked)
