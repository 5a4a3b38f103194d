"""What a tree of draws of Markov sums reveals: roots, chains, patches, forks, draws made again (`bounds.markov_sums`)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..bounds.markov_sums import charge
from ..errors import InvalidParameter, count


@dataclass(frozen=True)
class Draw:
    """One draw, as public facts. An attempt that anybody may have seen is a draw of its own.

    parent    number of the draw whose noise it carries on; None: a root
    carry     c; 1 for a patch, which reads only the rows that change
    variance  σ², in steps² of the grid
    """

    parent: int | None
    carry: Fraction
    variance: int

    def __post_init__(self) -> None:
        count("variance", self.variance)
        if (self.parent is None) != (self.carry == 0) or not self.carry >= 0:
            raise InvalidParameter("must be above 0 where there is a parent, and 0 for a root", carry=self.carry)


class DrawTree:
    """The draws so far, numbered from 0.

    apart, rounded  Δ of one row, and what rounding adds (`bounds.markov_sums`)
    """

    def __init__(self, apart: float, rounded: float = 0.0) -> None:
        self._apart, self._rounded = apart, rounded
        self._draws: list[Draw] = []

    @property
    def draws(self) -> tuple[Draw, ...]:
        return tuple(self._draws)

    def record(self, draw: Draw) -> int:
        """Append a draw; returns its number.

        Raises:
            InvalidParameter: its parent is no earlier draw.
        """
        if draw.parent is not None and not 0 <= draw.parent < len(self._draws):
            raise InvalidParameter(
                f"must be the number of an earlier draw, below {len(self._draws)}", parent=draw.parent
            )
        self._draws.append(draw)
        return len(self._draws) - 1

    def charge(self, held: Sequence[Collection[Hashable]]) -> float:
        """Q of a person for who saw every draw, rounded up: an exact bound for fixed requests, a bound under adaptive ones where it is
        a cap on every path.

        Args:
            held: for each draw, which rows of the person its table held; a row edited in place is another row.
        """
        if len(held) != len(self._draws):
            raise InvalidParameter(f"must say what each of {len(self._draws)} draws held", held=len(held))
        total = 0.0
        for number, draw in enumerate(self._draws):
            now, before = set(held[number]), set() if draw.parent is None else set(held[draw.parent])
            rows = {"stay": len(now & before), "joined": len(now - before), "left": len(before - now)}
            total += charge(carry=draw.carry, variance=draw.variance, apart=self._apart, rounded=self._rounded, **rows)
        return total
