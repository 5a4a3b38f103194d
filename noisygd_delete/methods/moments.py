"""A private statistic as a stage of a ladder: least squares on noisy moments, in one pass over the table.

The sums of `bounds.moments` are published with exact noise; the weights are post-processing, so only the sums are
charged. Every run starts afresh from the current rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..bounds import moments
from ..bounds.arithmetic import GRID_BITS
from ..errors import InvalidParameter, check_count, check_positive
from ..privacy.worlds import Worlds
from . import procedure
from .base import Condition, Cost, SingleRelease
from .plan import Calibration, Method, Plan
from .problem import Problem

GRID = 2.0**-GRID_BITS
MOST_COORDINATES = 1 << 22  # numbers to which noise is added


@dataclass(frozen=True, kw_only=True)
class MomentsRun(SingleRelease):
    """Facts of one table of moments: sums over `deviation`, on a grid, plus an exact discrete Gaussian of parameter 1.

    Attributes:
        deviation: Standard deviation of the noise of each sum, in units of a record of the largest norm.
        coordinates: Number of sums.
        rows_per_subject: Number of rows of one data subject that count as one record.
    """

    method: ClassVar[str] = "moments"
    source: ClassVar[str] = "moments of the records with an exact discrete Gaussian (Canonne, Kamath & Steinke 2020)"
    fresh: ClassVar[bool] = True

    deviation: float
    coordinates: int
    rows_per_subject: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("deviation", self.deviation)
        check_count("coordinates", self.coordinates, maximum=MOST_COORDINATES)
        check_count("rows_per_subject", self.rows_per_subject)

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Return the cost; moments computed after the record was erased do not read it."""
        if steps_without:
            return {}
        apart = moments.moments_sensitivity(between_records=worlds.between_records, rows=self.rows_per_subject)
        mu = moments.moments_gdp(sensitivity=apart, deviation=self.deviation, coordinates=self.coordinates, grid=GRID)
        return {"gdp_squared": mu**2}

    def conditions(self) -> tuple[Condition, ...]:
        return (*super().conditions(), ("moments-own-norm", {}))


@dataclass(frozen=True)
class Moments(Method):
    """A stage of kind "moments"; `Staged` plans it.

    Attributes:
        deviation: Standard deviation of the noise of each sum.
    """

    name: ClassVar[str] = "moments"
    summary: ClassVar[str] = "a stage of a ladder: least squares on noisy moments, one pass"

    deviation: float

    def plan(self, problem: Problem) -> Plan:
        """Raise InvalidParameter always: only `Staged` plans this stage, by `plan_moments`."""
        raise InvalidParameter("moments are a stage of a ladder: method 'staged' with Stage('moments') plans them")

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan of one pass: least squares on the noisy moments, for a learn and for a request.

        Its ridge is nλ/R² plus 2 · deviation · √features, a bound on the norm of the matrix's noise (symmetric
        Gaussian).
        """
        run = MomentsRun(
            records=problem.records,
            row_norm=problem.loss.radius,
            proven=problem.loss.constants.proven,
            slack=problem.slack,
            deviation=self.deviation,
            coordinates=moments.coordinates(outputs=problem.loss.outputs, features=problem.features),
            rows_per_subject=problem.rows_per_subject,
        )
        noise = 2 * self.deviation * math.sqrt(problem.features)
        ridge = problem.records * problem.regularization / problem.loss.radius**2 + noise
        fitted = procedure.NoisyLeastSquares(self.deviation, ridge)
        return Plan.of(problem, run, numbers, learning=fitted, serving=fitted)


def plan_moments(problem: Problem, gdp: float, worlds: Worlds) -> Moments:
    """Return the method with the least noise that is `gdp`-GDP for this neighbouring relation.

    Args:
        problem: The problem of the stage, for features, outputs and rows per data subject.
        gdp: μ.
        worlds: The neighbouring relation.

    Raises:
        InvalidParameter: If there are more than `MOST_COORDINATES` moments, or no noise on the grid meets `gdp`.
    """
    number = moments.coordinates(outputs=problem.loss.outputs, features=problem.features)
    if number > MOST_COORDINATES:
        raise InvalidParameter(
            f"moments of {problem.features} features are {number} numbers, above {MOST_COORDINATES}, each of which gets noise of its own; "
            "take Stage('head'), or fewer columns and hidden units"
        )
    apart = moments.moments_sensitivity(between_records=worlds.between_records, rows=problem.rows_per_subject)
    deviation = moments.least_deviation(gdp=gdp, sensitivity=apart, coordinates=number, grid=GRID)
    if not deviation < math.inf:
        raise InvalidParameter(
            f"moments of {problem.features} features within μ={gdp:g} cost more by the grid that they are published on than the budget; "
            "raise it, or take Stage('head')"
        )
    return Moments(deviation)
