"""Everything that a certificate may claim: one table of keys, and the sentence of each.

A claim is a key with values. It is derived from facts (`derivation`), never written by hand, and holds if what it
states is at least what can be proven: a figure may be larger than necessary, and a condition may be superfluous, but
not the reverse. The conditions of a figure are part of its sentence, so that it cannot be printed without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..dates import parse_day
from ..errors import InvalidParameter
from ..privacy.sentences import fill_entry, format_bound, format_number, load_catalogue, without_quotes

CATALOGUE = 1  # number of the newest catalogue of claims, stated by new certificates


@dataclass(frozen=True)
class Claimable:
    """An entry of the table of claims.

    Attributes:
        role: "done" (what happened to the rows), "figure", "odds" (not exceeded by any observer), "limit" (how little a
            figure limits), "condition" (assumption of the figures), "notice" (for the person), "uncovered" (outside
            every figure) or "duty" (left to the operator).
        values: Name and unit of everything that it states. "bound" and "odds" hold if they are at least what can be
            proven; any other value must be the one that follows from the facts.
        needs: The facts that it follows from.
        row: The row of `proofs_check` that licenses it, for figures and odds.
        since: The first catalogue that has it; certificates of earlier catalogues neither state nor owe it.
    """

    role: str
    values: Mapping[str, str]
    needs: str = "the request"
    row: str = ""
    since: int = 1


@dataclass(frozen=True)
class Claim:
    """A claim: a key of the table, its values, and the keys of the conditions under which it holds."""

    key: str
    values: Mapping[str, Any]
    conditions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as written in a signed file."""
        return {"key": self.key, "values": dict(self.values), "conditions": list(self.conditions)}


# values of a figure; renyi, epsilon, gdp: null if there is none
# of_hundred: number of even bets, of 100, that the best observer wins at most
_FIGURE = {
    "rows": "count",  # erased together; the figure is about each of them
    "unit": "word",  # a "record" (one per person), all rows of a "person" together, or a single "row"
    "rows_per_person": "count",
    "question": "word",  # "used" (was it ever there?) or "which" (this content or another?)
    "worlds": "word",
    "of_hundred": "odds",
    "advantage": "bound",
    "epsilon": "bound",
    "delta": "number",
    "order": "number",
    "renyi": "bound",
    "gdp": "bound",
}
# however erasures and their times were chosen: log of the odds (epsilon) and the odds, exceeded with probability
# at most delta per record
_ODDS = {
    "unit": "word",
    "rows_per_person": "count",
    "question": "word",
    "worlds": "word",
    "epsilon": "bound",
    "odds": "bound",
    "delta": "number",
    "total_epsilon": "number",
    "total_delta": "number",
}
_LEDGER = "releases, by kind; the row counts of the request and of its persons"
_HISTORY = "the mechanism of every release"

KEYS: dict[str, Claimable] = {
    # what was done
    "erased": Claimable("done", {"rows": "count"}),
    "replaced": Claimable("done", {"rows": "count"}),
    "inserted": Claimable("done", {"rows": "count"}),
    "edited": Claimable("done", {"day": "day"}),
    "restricted": Claimable("done", {"rows": "count", "day": "day"}, "the register"),
    "restriction-lifted": Claimable("done", {"rows": "count", "day": "day"}, "the register"),
    "person-gone": Claimable("done", {"rows_per_person": "count"}, "rows of the same persons that remain: none"),
    "published.fresh": Claimable("done", {"rows": "count", "release": "count"}, _LEDGER),
    "published.warm": Claimable("done", {"rows": "count", "release": "count"}, _LEDGER),
    "published.resumed": Claimable("done", {"rows": "count", "release": "count"}, _LEDGER),
    "published.carried": Claimable("done", {"rows": "count", "release": "count"}, _LEDGER),
    "published.kept": Claimable("done", {"rows": "count", "release": "count"}, _LEDGER),
    "published.on": Claimable("done", {"day": "day"}),
    "withheld": Claimable("done", {"rows": "count"}),
    "pending": Claimable("done", {"rows": "count"}),
    "source.order": Claimable("done", {"deleted_at": "text", "read_at": "text"}, "positions in the source"),
    "source.counted": Claimable(
        "done", {"by": "word", "deleted": "count", "replaced": "count", "inserted": "count"}, "the source's own count"
    ),
    "source.uncounted": Claimable("done", {}, "the source's own count: none"),
    "deadline": Claimable("notice", {"day": "day"}, "when the request was received"),
    "deadline.holidays": Claimable("notice", {"day": "day"}, "when the request was received; public holidays"),
    "deadline.extended": Claimable("notice", {"day": "day", "reason": "word"}, "the extension"),
    "in-time": Claimable("notice", {"what": "word"}, "deadline; days of edit, publication and answer"),
    "late": Claimable("notice", {"what": "word"}, "deadline; days of edit, publication and answer"),
    # what an observer can still learn
    "erased.later": Claimable("figure", _FIGURE, _LEDGER, "S.forgotten"),
    "erased.all": Claimable("figure", _FIGURE, _LEDGER, "S.history"),
    "erased.before": Claimable("figure", _FIGURE, _LEDGER, "S.history"),
    "replaced.later": Claimable("figure", _FIGURE, _LEDGER, "S.forgotten"),
    "replaced.all": Claimable("figure", _FIGURE, _LEDGER, "S.history"),
    "replaced.before": Claimable("figure", _FIGURE, _LEDGER, "S.history"),
    "present.one": Claimable("figure", _FIGURE, _LEDGER, "S.history"),
    "present.all": Claimable("figure", _FIGURE, _LEDGER, "S.history"),
    "odds.ever": Claimable("odds", _ODDS, "the total of the plan; the mechanism of every release", "S.stopping"),
    # conditions of a single figure (part of its sentence) ...
    "requests-blind": Claimable("condition", {}, "figures for later models, or of one release"),
    "target-fixed": Claimable("condition", {}, "figures about erased records: nothing says by what they were chosen"),
    "record-fixed": Claimable("condition", {}, "figures about a record that is still there"),
    "total-fixed": Claimable("condition", {}, "a total that the plan does not mark as late"),
    "schedule-calendar": Claimable("condition", {}, "the occasion of every release: a date of a calendar"),
    "schedule-fixed": Claimable(
        "condition", {}, "figures for several models: nothing says by what their times were chosen"
    ),
    # ... and of all figures
    "ranges-public": Claimable("condition", {"radius": "number"}, "columns whose range was read off the data: none"),
    "ranges-from-data": Claimable(
        "condition", {"radius": "number", "columns": "list"}, "columns read off the data: these"
    ),
    "ranges-unknown": Claimable("condition", {"radius": "number"}, "columns read off the data: not known"),
    "row-norm": Claimable(
        "condition", {"radius": "number", "first": "count", "last": "count"}, "the mechanism of every release, in order"
    ),
    "map-public": Claimable("condition", {"digest": "text"}, "the public map that made the rows"),
    "rows-per-person": Claimable("condition", {"rows_per_person": "count"}, "the plan"),
    "curator-trusted": Claimable("condition", {}),
    "gradient-norm": Claimable("condition", {"lipschitz": "number"}, _HISTORY),
    "constants-declared": Claimable("condition", {}, _HISTORY),
    "slots-public": Claimable("condition", {"records": "count"}, _HISTORY),
    "gaussian-noise": Claimable("condition", {"method": "text"}, _HISTORY),
    "real-arithmetic": Claimable("condition", {"method": "text"}, _HISTORY),
    "solver-tolerance": Claimable("condition", {"method": "text", "tolerance": "number"}, _HISTORY),
    "time-unseen": Claimable("condition", {"method": "text"}, _HISTORY),
    "exact-noise": Claimable("condition", {"method": "text"}, _HISTORY),
    "exact-steps": Claimable("condition", {"method": "text"}, _HISTORY),
    "rows-in-place": Claimable("condition", {"method": "text"}, _HISTORY),
    "row-shape": Claimable("condition", {"method": "text"}, _HISTORY),
    "machine-trusted": Claimable("condition", {}, _HISTORY),
    "stages-published": Claimable("condition", {}, _HISTORY),
    "samples-unseen": Claimable("condition", {}, _HISTORY),
    "counts-one-cell": Claimable("condition", {}, _HISTORY),
    "moments-own-norm": Claimable("condition", {}, _HISTORY),
    "sums-carried": Claimable("condition", {"method": "text"}, _HISTORY),
    "sums-all-rows": Claimable("condition", {"rows_per_person": "count"}, _HISTORY),
    "weighed-by-person": Claimable("condition", {"rows_per_person": "count"}, _HISTORY),
    "persons-once": Claimable("condition", {}, _HISTORY),
    # what no figure covers
    "rows-remain": Claimable("limit", {"remaining": "count"}, "rows of the same persons that remain"),
    "rows-may-remain": Claimable(
        "limit", {"rows_per_person": "count"}, "rows of the same persons that remain: not known"
    ),
    "hardly": Claimable("limit", {"figure": "word"}, _HISTORY),
    "delta-large": Claimable("limit", {"delta": "number", "records": "count"}, "δ and the number of slots"),
    "kinds-unrecorded": Claimable("limit", {}, _LEDGER),
    "left.base": Claimable("limit", {}, _HISTORY),
    "left.extractor": Claimable("limit", {}, _HISTORY),
    "left.statistics": Claimable("limit", {}, _HISTORY),
    "residue.found": Claimable("limit", {"places": "count"}, "the residue report"),
    "residue.unread": Claimable("limit", {"places": "count"}, "the residue report"),
    "model-in-use": Claimable("notice", {"rows": "count"}),
    "model-in-use.until": Claimable("notice", {"rows": "count", "day": "day"}),
    "model-withdrawn": Claimable("notice", {"rows": "count", "day": "day"}),
    "model-withdrawn.kept": Claimable("notice", {"rows": "count", "day": "day"}),
    "elsewhere.none": Claimable("notice", {"places": "count", "kinds": "list"}, "what the publishers hold"),
    "elsewhere.left": Claimable(
        "notice", {"places": "count", "kinds": "list", "left": "count"}, "what the publishers hold"
    ),
    "elsewhere.unknown": Claimable("notice", {}, "what the publishers hold"),
    "backups": Claimable("notice", {"rows": "count", "day": "day"}),
    "not-covered.earlier-models": Claimable("uncovered", {}),
    "not-covered.backups": Claimable("uncovered", {}),
    "not-covered.storage": Claimable("uncovered", {}),
    "not-covered.others": Claimable("uncovered", {}),
    "not-covered.other-models": Claimable("uncovered", {}),
    "not-covered.inference": Claimable("uncovered", {}),
    "not-anonymous": Claimable("uncovered", {}),
    # for the person
    "models": Claimable("notice", {"models": "text"}, "the register"),
    "purposes": Claimable("notice", {"purposes": "text"}, "the register"),
    "recipients": Claimable("notice", {"recipients": "count"}, "the register"),
    "recipients.informed": Claimable("notice", {"recipients": "count", "day": "day"}, "the register"),
    "informed": Claimable("notice", {"day": "day"}, "the register"),
    "contact": Claimable("notice", {"contact": "text"}, "the register"),
    "complaint": Claimable("notice", {}),
    "complaint.to": Claimable("notice", {"authority": "text"}, "the register"),
    "record-kept": Claimable("notice", {}),
    # duties of the operator
    "to-do.budget": Claimable("duty", {}),
    "to-do.total": Claimable("duty", {}),
    "to-do.publish": Claimable("duty", {}),
    "to-do.tell": Claimable("duty", {}),
    "to-do.recipients": Claimable("duty", {}),
    "to-do.withdraw": Claimable("duty", {}),
    "to-do.backups": Claimable("duty", {}),
}


def claim_sentence(claim: Claim, language: str = "en") -> str:
    """Return a claim as a sentence, with its values and conditions.

    Raises:
        InvalidParameter: If the key is unknown, or its values are others than the table has.
    """
    key = KEYS.get(claim.key)
    if key is None or set(claim.values) != set(key.values):
        raise InvalidParameter(f"{claim.key[:60]!r} with these values is no claim that this version knows")
    words = load_catalogue(language)
    filled = {name: _format_value(value, key.values[name], words) for name, value in claim.values.items()}
    if claim.conditions:
        filled["if"] = conditions_in_words(claim, language)
    return fill_entry(words["claims"][claim.key], claim.values, filled)


def conditions_in_words(claim: Claim, language: str = "en") -> str:
    """Return the conditions of a claim as text that follows "if"."""
    words = load_catalogue(language)
    return str(words["and"].join(fill_entry(words["claims"][name], {}, {}) for name in claim.conditions))


def claim_terms(claim: Claim, language: str = "en") -> str:
    """Return a figure in the field's terms; a Rényi bound is included if there is one."""
    words, units = load_catalogue(language), KEYS[claim.key].values
    named = {"figure": words["words"].get(claim.key, claim.key)}
    filled = named | {name: _format_value(value, units[name], words) for name, value in claim.values.items()}
    templates = [words["terms"], *([words["renyi"]] if claim.values["renyi"] is not None else [])]
    return " ".join(fill_entry(one, {}, filled) for one in templates)


def _format_value(value: Any, unit: str, words: Mapping[str, Any]) -> str:
    """Return a value in the notation of this language; bounds are rounded up."""
    if unit == "bound":
        return format_bound(value).replace(".", words["decimal"])
    if unit == "number":
        return format_number(value, 12).replace(".", words["decimal"])
    if unit == "day":
        when = parse_day("day", value)
        named = {"day": str(when.day), "month": words["months"][when.month - 1], "year": str(when.year)}
        return fill_entry(words["day"], {}, named)
    if unit == "list":
        return ", ".join(without_quotes(one) for one in value)
    if unit == "text":
        return without_quotes(value)
    if unit == "word":
        return str(words["words"].get(value, value))
    return str(value)


def select_owed(claims: Iterable[Claim], catalogue: int) -> list[Claim]:
    """Return the claims that a certificate of a catalogue owes, with the conditions that its catalogue has."""
    return [
        Claim(claim.key, claim.values, tuple(name for name in claim.conditions if KEYS[name].since <= catalogue))
        for claim in claims
        if KEYS[claim.key].since <= catalogue
    ]


def of_history(key: str) -> bool:
    """Return whether a claim only states a condition or a limit that follows from the mechanisms of the releases.

    A better proof may need fewer of them, so a superfluous one does no harm.
    """
    return KEYS[key].needs == _HISTORY and KEYS[key].role in ("condition", "limit")
