"""What happened, as public facts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidParameter, Word, count
from ..methods.base import Mechanism
from ..methods.reading import mechanism_from_dict
from ..records import NO_EDITS, EditCounts


class EventKinds(Word):
    """What a release was.

    LEARN, RELEARN  a run that begins afresh; a relearn after models were published (compaction)
    UNLEARN         a run that resumes from the model published before, on an edited table
    EXTRACTOR       a DP-SGD feature extractor that every later model carries
    STATISTIC       numbers about the records in force, made with the model published before: no model itself, no edits
    """

    LEARN = "learn"
    UNLEARN = "unlearn"
    RELEARN = "relearn"
    EXTRACTOR = "extractor"
    STATISTIC = "statistic"


class Statuses(Word):
    """What became of the model that covers an edit: published; withheld by the budget; or pending, to come with a later release."""

    PUBLISHED = "published"
    WITHHELD = "withheld"
    PENDING = "pending"


@dataclass(frozen=True)
class Event:
    """One publication: immutable, and its meaning never changes.

    kind       one of `EventKinds`, as a word or as its text
    steps      K of this release
    edits      r, records edited since the release before
    mechanism  η, σ², n and what else its method states of this release
    counts     the edits by kind: records deleted, replaced, inserted; those not stated are unrecorded, as in histories that hold
               only `edits`

    Ā runs the same steps on the edited table whatever the edit was, so an insertion has no event kind of its own: what a
    release reveals depends on when a record came and went. Whether it *erased* anything is a question to `counts`.
    """

    kind: EventKinds
    steps: int
    edits: int
    mechanism: Mechanism
    counts: EditCounts = NO_EDITS

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", EventKinds(self.kind))
        count("steps", self.steps, minimum=0)
        count("edits", self.edits, minimum=0)
        if self.counts.total > self.edits:
            raise InvalidParameter(f"is less than the sum of its kinds: {self.counts.text()}", edits=self.edits)
        object.__setattr__(self, "counts", self.counts.among(self.edits))
        self.mechanism.check_steps(self.steps)
        self.mechanism.check_start(self.steps, fresh=self.fresh)
        if self.counts.inserted:
            self.mechanism.check_inserted(fresh=self.fresh)
        published = self.kind if self.kind in (EventKinds.EXTRACTOR, EventKinds.STATISTIC) else "model"
        if published != self.mechanism.publishes:
            raise InvalidParameter(
                f"does not go with the facts of method {self.mechanism.method!r}; an extractor is described by a "
                "SampledGaussian, a statistic by CountedRecords, every other release by the mechanism of its plan",
                kind=str(self.kind),
            )
        if self.kind is EventKinds.STATISTIC and self.edits:
            raise InvalidParameter("must be 0 for a statistic: it serves no request", edits=self.edits)

    @property
    def fresh(self) -> bool:
        """Whether the run began afresh: from the initial law, or from the minimiser of the records of its time."""
        return self.kind not in (EventKinds.UNLEARN, EventKinds.STATISTIC) or self.mechanism.fresh

    @property
    def exposure(self) -> int:
        """What it counts as where exposure to a record adds up: its steps, or one for a run that draws its noise at once."""
        return self.mechanism.exposure(self.steps)

    @property
    def label(self) -> str:
        """The kind in a word for people: a release that erased nothing unlearns nothing."""
        return label(self.kind, self.counts)

    @property
    def warm(self) -> bool:
        """Whether the model published before could still show in where a solver stopped."""
        return self.kind is EventKinds.UNLEARN and self.mechanism.shows_start

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": str(self.kind),
            "steps": self.steps,
            "edits": self.edits,
            "mechanism": self.mechanism.to_dict(),
            "counts": self.counts.to_dict(),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Event:
        """Read back `to_dict`; unknown or missing fields are refused. Equal descriptions are read once and give one object."""
        try:
            text = json.dumps(fields)
        except (TypeError, ValueError):  # no JSON: whatever is wrong with it, reading says so
            return cls._read(fields)
        if text not in _READ:
            event = cls._read(fields)
            if len(_READ) >= _MOST_READ:
                _READ.clear()
            _READ[text] = event
        return _READ[text]

    @classmethod
    def _read(cls, fields: dict[str, Any]) -> Event:
        try:
            counts = EditCounts.from_dict(fields["counts"]) if "counts" in fields else NO_EDITS
            return cls(**{**fields, "mechanism": mechanism_from_dict(fields["mechanism"]), "counts": counts})
        except (TypeError, KeyError) as error:
            raise InvalidParameter(f"not a release event: {error}") from error


_READ: dict[str, Event] = {}  # what was read, by its JSON text: thousands of releases are a few kinds of events
_MOST_READ = 4096


def label(kind: EventKinds, counts: EditCounts) -> str:
    """A kind of release in a word for people: "resume" for an unlearn that served insertions only, or nothing."""
    return "resume" if kind is EventKinds.UNLEARN and not counts.erased else str(kind)
