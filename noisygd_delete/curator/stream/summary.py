"""The summary of a stream: its releases and their guarantees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...accountant import Statuses
from ...privacy.guarantee import Guarantee, WorstCase
from ...records import EditCounts


@dataclass(frozen=True)
class Publication:
    """One release of a stream and its cost. `dp_cumulative` tracks the use of the budget."""

    release: int
    status: Statuses
    requests: int
    edits: int
    counts: EditCounts
    steps: int
    gradient_passes: int
    seconds: float
    dp: Guarantee
    dp_cumulative: Guarantee

    def to_dict(self) -> dict[str, Any]:
        """Return the release as a JSON-compatible dictionary."""
        return {
            **{name: value for name, value in vars(self).items() if not isinstance(value, (Guarantee, EditCounts))},
            "counts": self.counts.to_dict(),
            "dp": self.dp.to_dict(),
            "dp_cumulative": self.dp_cumulative.to_dict(),
        }


@dataclass(frozen=True)
class StreamSummary:
    """The releases of a stream and its guarantees.

    Attributes:
        served: Number of requests carried out (repeats cost nothing and are counted separately).
        repeated: Number of repeated requests.
        refused: (position in the stream, reason) of requests that could not be carried out.
        publications: The releases.
        present: What all releases together reveal about a record still present.
        erased: What the releases from the erasure on, and those the requester saw before, reveal about a record erased
            at the costliest release of the stream; None if nothing was erased.
        everything: The same for an observer of every release.
        odds: (ε, δ): whichever record is erased, and whenever, the odds about a record never exceed e^ε to 1, except
            with probability δ per record that could have been chosen; None if no total is enforced.
        adaptivity: p, the number of releases the requester saw.
        gradient_evaluations: Per-record gradients: n times the passes over the table.
        seconds: Running time.
        accuracy: Accuracy of the final model on the held-out records, if given.
    """

    served: int
    repeated: int
    refused: tuple[tuple[int, str], ...]
    publications: tuple[Publication, ...]
    present: Guarantee
    erased: WorstCase | None
    everything: WorstCase | None
    odds: tuple[float, float] | None
    adaptivity: int
    gradient_evaluations: int
    seconds: float
    accuracy: float | None

    @property
    def steps(self) -> int:
        """Total number of Noisy-GD steps."""
        return sum(publication.steps for publication in self.publications)

    @property
    def withheld(self) -> bool:
        """Whether the budget refused a release: the rows are erased, and the last model is withdrawn."""
        return any(publication.status is Statuses.WITHHELD for publication in self.publications)

    @property
    def gradient_evaluations_per_request(self) -> float:
        """Number of per-record gradients per request carried out."""
        return self.gradient_evaluations / self.served if self.served else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a JSON-compatible dictionary."""
        guarantees = {"present": self.present, "erased": self.erased, "everything": self.everything}
        return {
            "served": self.served,
            "repeated": self.repeated,
            "refused": [list(entry) for entry in self.refused],
            "adaptivity": self.adaptivity,
            "steps": self.steps,
            "seconds": self.seconds,
            "gradient_evaluations": self.gradient_evaluations,
            "gradient_evaluations_per_request": self.gradient_evaluations_per_request,
            "withheld": self.withheld,
            "accuracy": self.accuracy,
            "guarantees": {name: value and value.to_dict() for name, value in guarantees.items()},
            "odds": None if self.odds is None else {"epsilon": self.odds[0], "delta": self.odds[1]},
            "publications": [publication.to_dict() for publication in self.publications],
        }
