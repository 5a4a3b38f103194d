"""Which two worlds a figure compares, and hence how far one record can carry their gradient sums apart."""

from __future__ import annotations

from ..errors import Word


class Worlds(Word):
    """The two worlds of a guarantee.

    REPLACE         x or another record x′, of a record that is still there
    ZERO_OUT        x or the null record, of a record that is still there
    DEFINITION_4_1  x or never there, of a record that was erased (Chourasia & Shah 2023, Definition 4.1)
    PAIRWISE        x or x′, of a record that was erased
    """

    REPLACE = "replace"
    ZERO_OUT = "zero-out"
    DEFINITION_4_1 = "definition-4.1"
    PAIRWISE = "pairwise"

    @property
    def about(self) -> str:
        """ "dp": a record that is still there; "deletion": one that was erased."""
        return "dp" if self in ADJACENCIES else "deletion"

    @property
    def between_records(self) -> bool:
        """Whether both worlds hold a record (x or x′), not one a record and the other none."""
        return self in (Worlds.REPLACE, Worlds.PAIRWISE)

    def sensitivity(self, lipschitz: float, rows: int = 1) -> float:
        """Δ: 2L between two records, L against the null record, times the rows of one data subject."""
        return (2 if self.between_records else 1) * lipschitz * rows


ADJACENCIES = (Worlds.REPLACE, Worlds.ZERO_OUT)
DELETION_NOTIONS = (Worlds.DEFINITION_4_1, Worlds.PAIRWISE)
