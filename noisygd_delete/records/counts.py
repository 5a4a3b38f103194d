"""Counts of edits by kind, of a release, a request or the pending edits. These are public facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from ..errors import InvalidParameter, check_count

KINDS = ("deleted", "replaced", "inserted", "unrecorded")


@dataclass(frozen=True)
class EditCounts:
    """Numbers of edits by kind.

    Attributes:
        deleted: Records erased.
        replaced: Records whose content was corrected: the old content is erased like a deleted record.
        inserted: New records: nothing was erased for them.
        unrecorded: Edits of unknown kind.
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
        """Return the counts, or a plain number of edits as edits of unknown kind."""
        return edits if isinstance(edits, EditCounts) else cls(unrecorded=edits)

    def among(self, edits: int) -> EditCounts:
        """Return the counts of `edits` edits; those not counted here are unrecorded."""
        return self + EditCounts(unrecorded=edits - self.total)

    @property
    def total(self) -> int:
        """Number of edits of all kinds."""
        return self.deleted + self.replaced + self.inserted + self.unrecorded

    @property
    def erased(self) -> int:
        """Number of edits that removed content from the table, which later models must forget.

        An edit of unknown kind counts as one: conservative for an account, and too many for a certificate (see
        `unrecorded`).
        """
        return self.deleted + self.replaced + self.unrecorded

    def __add__(self, other: EditCounts) -> EditCounts:
        return EditCounts(*(a + b for a, b in zip(self._numbers(), other._numbers(), strict=True)))

    def __sub__(self, other: EditCounts) -> EditCounts:
        return EditCounts(*(a - b for a, b in zip(self._numbers(), other._numbers(), strict=True)))

    def _numbers(self) -> tuple[int, int, int, int]:
        return self.deleted, self.replaced, self.inserted, self.unrecorded

    def text(self) -> str:
        """Return the counts as text, for example "2 records erased, 1 inserted"."""
        words = ("erased", "replaced", "inserted", "edited (kind not recorded)")
        parts = [(number, word) for number, word in zip(self._numbers(), words, strict=True) if number]
        if not parts:
            return "no records edited"
        first, *others = parts
        unit = "record" if first[0] == 1 else "records"
        return ", ".join([f"{first[0]} {unit} {first[1]}", *(f"{number} {word}" for number, word in others)])

    def to_dict(self) -> dict[str, int]:
        """Return the counts by kind."""
        return dict(zip(KINDS, self._numbers(), strict=True))

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Any]) -> Self:
        """Parse the output of `to_dict`.

        Raises:
            InvalidParameter: If kinds are unknown or missing.
        """
        if not isinstance(numbers, Mapping) or set(numbers) != set(KINDS):
            raise InvalidParameter(f"counts of edits are {', '.join(KINDS)}, all of them")
        return cls(**numbers)


NO_EDITS = EditCounts()


class LeftOut(NamedTuple):
    """Rows of a source that are not used for training. Shown to the operator, never stored.

    Attributes:
        subjects: Number of data subjects with more rows than the plan allows.
        rows: Number of their rows, and of rows without a subject.
    """

    subjects: int = 0
    rows: int = 0

    def describe(self, rows_per_subject: int, subject_column: str) -> str:
        """Return a sentence about the rows left out; "" if there are none.

        Args:
            rows_per_subject: Largest number of rows of one data subject.
            subject_column: Name of the column with the data subjects.
        """
        if not self.rows:
            return ""
        return (
            f"{self.rows} rows left out: {self.subjects} values of {subject_column} stand in more than {rows_per_subject} row(s), and of those none is read (nor "
            "any row without a value); --rows-per-subject says how many may be"
        )


NONE_LEFT_OUT = LeftOut()
