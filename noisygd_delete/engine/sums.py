"""What an objective is made of: sums over the current records, by whoever holds them.

Memory, a map of a file, the processes of a group, a cluster: to a solver they are one thing, which answers sums, added in an order
whose rounding `bounds.arithmetic.gradient_error` bounds. Whoever answers keeps nothing of what it was asked. The linear term, λ, the
iterates and the noise stay with the asker (`objective_float64`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from ..bounds.arithmetic import MOST_PARTITIONS
from ..errors import InvalidParameter, InvalidRecords
from ..losses.base import Loss
from ..records import Records
from .group import ALONE, Group
from .sums_held import HeldSums

if TYPE_CHECKING:
    from .integer_moments import IntegerMoments, Integers

Vector = NDArray[Any]


class Sums(Protocol):
    """Sums over the records of one table under one loss, for weights (outputs, features) float64.

    Inside a partition a term of a gradient is added as `HeldSums` does it: chunks of at most `bounds.arithmetic.CHUNK` rows in float64,
    then chunks in a tree (`summation.in_a_tree`); then partitions, in their order, in a tree too.
    """

    @property
    def slots(self) -> int:
        """n; free slots count, and add nothing to a gradient."""

    @property
    def width(self) -> int:
        """Features of a row."""

    def gradient(self, weights: Vector, dtype: str) -> Vector:
        """Σ_x ∇ℓ(θ; x), float64 in the shape of the weights; `dtype` "float32" allows rounding that nobody bounds."""

    def strided(self, rows: int) -> tuple[Vector, Vector]:
        """About `rows` slots, evenly spaced: their rows (float32), and their labels."""


class Checked(ABC):
    """Rows that this process does not hold, as far as a plan has to know of them before anything is learned."""

    rows_per_subject = 1

    @property
    @abstractmethod
    def slots(self) -> int:
        """n of the theorems: public and fixed."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Features of a row."""

    @abstractmethod
    def check(self, loss: Loss, variances: Vector | None) -> None:
        """Raise unless every record meets the assumptions behind the loss's constants, as `check_records` does."""


class RowsElsewhere(Checked):
    """A table whose rows this process does not hold: others answer for them.

    Only what asks for sums can be run on it (`rows_here`).
    """

    @abstractmethod
    def sums(self, loss: Loss) -> Sums:
        """Whoever answers for these rows."""

    def exact_sums(self, moments: IntegerMoments) -> Integers:
        """See the function; `InvalidParameter`: whoever holds them does not count."""
        raise InvalidParameter("whoever holds these rows answers no exact sums; plan with method 'perturbed'")


CurrentRecords = Records | RowsElsewhere


def rows_here(records: CurrentRecords) -> Records:
    """The table, for what needs its rows and not only their sums.

    Raises:
        InvalidParameter: this process does not hold them.
    """
    if isinstance(records, RowsElsewhere):
        raise InvalidParameter(
            "this needs rows, and those of this table lie elsewhere, where they answer sums alone. Plan with method 'perturbed', "
            "or another of convex losses without exact=False, whose runs ask for sums"
        )
    return records


def check_partitions(table: str, partitions: int) -> None:
    """Raise `InvalidRecords` where a table comes in more partitions than may be added up."""
    if partitions > MOST_PARTITIONS:
        raise InvalidRecords(
            f"{table} comes in {partitions} parts, more than the {MOST_PARTITIONS} that the declared rounding covers; merge its files into "
            "larger ones"
        )


def exact_sums(records: CurrentRecords, moments: IntegerMoments) -> Integers:
    """What method 'sums' publishes of a table, before its noise."""
    return records.exact_sums(moments) if isinstance(records, RowsElsewhere) else moments.of_table(records)


def sums_of(records: CurrentRecords, loss: Loss, group: Group = ALONE, readings: int | None = None) -> Sums:
    """Whoever answers for the rows of a table, so many times."""
    if isinstance(records, RowsElsewhere):
        return records.sums(loss)
    if records.sparse is None:
        return HeldSums(records.features, records.labels, loss, group, readings)
    from .sparse import SparseSums

    return SparseSums(records.sparse, records.labels, loss)
