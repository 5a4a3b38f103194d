"""What happened, as public facts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InvalidParameter, choice, count
from ..extractor import Extractor
from ..mechanism import Mechanism

KINDS = ("learn", "unlearn", "relearn", "extractor")


@dataclass(frozen=True)
class Event:
    """One publication: immutable, and its meaning never changes.

    kind       "learn" and "relearn" (compaction) start afresh; "unlearn" resumes from the model published before;
               "extractor" is a DP-SGD feature extractor that every later model carries
    steps      K of this release
    edits      r, records edited since the release before
    mechanism  η, σ², n and the certificate of this release (an `Extractor` for an extractor)

    An insertion is an edit like a deletion: Ā runs the same steps on the edited table whatever the edit was, and what it
    reveals depends on when a record came and went, not on what else changed. It has no kind of its own.
    """

    kind: str
    steps: int
    edits: int
    mechanism: Mechanism | Extractor

    def __post_init__(self) -> None:
        choice("kind", self.kind, KINDS)
        count("steps", self.steps, minimum=0)
        count("edits", self.edits, minimum=0)
        if (self.kind == "extractor") != isinstance(self.mechanism, Extractor):
            raise InvalidParameter(
                f"kind={self.kind!r} does not go with the facts of a {type(self.mechanism).__name__}; an extractor is "
                "described by an Extractor, every other release by a Mechanism"
            )

    @property
    def fresh(self) -> bool:
        """Whether the run began afresh: from the initial law, or from the minimiser of the records of its time."""
        return self.kind != "unlearn" or self.mechanism.start == "minimiser"

    @property
    def warm(self) -> bool:
        """Whether the model published before could still show in where a solver stopped."""
        return self.kind == "unlearn" and self.mechanism.warm

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Event:
        """Read back `to_dict`; unknown or missing fields are refused."""
        try:
            facts = Extractor if fields["kind"] == "extractor" else Mechanism
            return cls(**{**fields, "mechanism": facts.from_dict(fields["mechanism"])})
        except (TypeError, KeyError) as error:
            raise InvalidParameter(f"not a release event: {error}") from error
