"""Counts of the records with exact noise: public facts and what publishing them reveals.

They involve no model but are charged like one. Every record is in one cell of a table of counts, so two tables that
differ in one record (against the null record) differ by 1 in one cell; by 1 in two cells if the record is replaced.
Each cell gets an exact discrete Gaussian of parameter τ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..bounds.arithmetic import GRID_BITS
from ..bounds.objective_perturbation import inexact_gdp
from ..errors import InvalidParameter, check_count, check_positive
from ..privacy.worlds import Worlds
from .base import Condition, Cost, SingleRelease

_MOST = 2.0**24  # largest τ for which counts are multiples of the grid step


@dataclass(frozen=True, kw_only=True)
class CountedRecords(SingleRelease):
    """Facts of one table of counts of the current records, each record in one cell.

    Attributes:
        deviation: τ, a power of two, the parameter of each count's noise, an exact discrete Gaussian on a grid of
            τ/2²⁴.
        rows_per_subject: Number m of rows of one data subject that count as one record: up to m in one cell, or m moved
            from one cell to another.
    """

    method: ClassVar[str] = "counted-records"
    source: ClassVar[str] = "counts of the records with an exact discrete Gaussian (Canonne, Kamath & Steinke 2020)"
    notes: ClassVar[tuple[str, ...]] = (
        "Counts of the records were published too: a deletion takes nothing back of those that were made before it.",
    )

    deviation: float
    rows_per_subject: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("rows_per_subject", self.rows_per_subject)
        if math.frexp(check_positive("deviation", self.deviation))[0] != 0.5 or not 1 <= self.deviation <= _MOST:
            raise InvalidParameter(
                "must be a power of two between 1 and 2^24: noise is drawn exactly on a grid that counts lie on",
                deviation=self.deviation,
            )

    @property
    def left(self) -> str:
        """What an erasure does not remove: "statistics", the counts that were published before."""
        return "statistics"

    def conditions(self) -> tuple[Condition, ...]:
        return (*super().conditions(), ("counts-one-cell", {}))

    def count_distance(self, worlds: Worlds) -> float:
        """Return the largest Euclidean distance between the counts of neighbouring datasets.

        It is √2 times the rows of one data subject between two records, and 1 times that against the null record.
        """
        return self.rows_per_subject * (math.sqrt(2) if worlds.between_records else 1.0)

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Return the cost; counts made after the record was erased do not read it."""
        grid = self.deviation * 2.0**-GRID_BITS
        mu = inexact_gdp(spread=self.count_distance(worlds), output_noise=self.deviation, grid=grid)
        return {"gdp_squared": steps_with * mu**2}
