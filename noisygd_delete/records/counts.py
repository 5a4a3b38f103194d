"""How many edits of each kind: what a release, a request, or the wait for a release amounts to. Public facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from ..errors import InvalidParameter, check_count

KINDS = ("deleted", "replaced", "inserted", "unrecorded")


@dataclass(frozen=True)
class EditCounts:
    """Edits by kind.

    deleted     records erased
    replaced    records whose content was corrected: what they held before is erased like a deleted record
    inserted    new records: nothing was erased for them
    unrecorded  edits whose kind was not stated
    """

    deleted: int = 0
    replaced: int = 0
    inserted: int = 0
    unrecorded: int = 0

    def __post_init__(self) -> None:
        for name, number in zip(KINDS, self._numbers(), strict=True):
            check_count(name, number, minimum=0)

    @classmethod
    def of(cls, edits: int | EditCounts) -> EditCounts:
        """The counts themselves, or a mere number of edits of unknown kind."""
        return edits if isinstance(edits, EditCounts) else cls(unrecorded=edits)

    def among(self, edits: int) -> EditCounts:
        """The kinds of so many edits: what these counts leave open is unrecorded."""
        return self + EditCounts(unrecorded=edits - self.total)

    @property
    def total(self) -> int:
        return self.deleted + self.replaced + self.inserted + self.unrecorded

    @property
    def erased(self) -> int:
        """Edits that took content out of the table, of which later models must know nothing. An edit of unknown kind is
        counted as one: the safe side for an account, and too much for a certificate (see `unrecorded`)."""
        return self.deleted + self.replaced + self.unrecorded

    def __add__(self, other: EditCounts) -> EditCounts:
        return EditCounts(*(a + b for a, b in zip(self._numbers(), other._numbers(), strict=True)))

    def __sub__(self, other: EditCounts) -> EditCounts:
        return EditCounts(*(a - b for a, b in zip(self._numbers(), other._numbers(), strict=True)))

    def _numbers(self) -> tuple[int, int, int, int]:
        return self.deleted, self.replaced, self.inserted, self.unrecorded

    def text(self) -> str:
        """ "2 records erased, 1 inserted"."""
        words = ("erased", "replaced", "inserted", "edited (kind not recorded)")
        parts = [(number, word) for number, word in zip(self._numbers(), words, strict=True) if number]
        if not parts:
            return "no records edited"
        first, *others = parts
        unit = "record" if first[0] == 1 else "records"
        return ", ".join([f"{first[0]} {unit} {first[1]}", *(f"{number} {word}" for number, word in others)])

    def to_dict(self) -> dict[str, int]:
        return dict(zip(KINDS, self._numbers(), strict=True))

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Any]) -> Self:
        """Read back `to_dict`; unknown or missing kinds are refused."""
        if not isinstance(numbers, Mapping) or set(numbers) != set(KINDS):
            raise InvalidParameter(f"counts of edits are {', '.join(KINDS)}, all of them")
        return cls(**numbers)


NO_EDITS = EditCounts()


class LeftOut(NamedTuple):
    """Rows of a source that nobody learns from: `rows`, of so many `subjects` that have more rows than a plan allows, and those that
    name nobody. Told to the operator, never stored."""

    subjects: int = 0
    rows: int = 0

    def text(self, most: int, key: str) -> str:
        """In a sentence, where there are any; else ""."""
        if not self.rows:
            return ""
        return (
            f"{self.rows} rows left out: {self.subjects} values of {key} stand in more than {most} row(s), and of those none is read (nor "
            "any row without a value); --rows-per-subject says how many may be"
        )


NONE_LEFT_OUT = LeftOut()
