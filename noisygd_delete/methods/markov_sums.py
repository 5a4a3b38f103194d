"""The plan of a stream of Markov sums: least squares from noisy second moments, many releases on one budget.

No `Method`: what it carries on from one release to the next needs the table before an edit beside the one after it, so it has a curator of
its own (`curator.markov_sums`), in memory alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..bounds import markov_sums
from ..errors import InvalidParameter, count, positive, scale
from ..features.maps.coding import Coding
from ..losses.base import Loss
from ..losses.logistic import Logistic
from ..losses.softmax import Softmax
from ..losses.squared import Squared
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from ..privacy.worlds import Worlds

BITS = 14  # of the grid, for rows of norm 1: its rounding costs about a percent of the noise at 200 columns
MOST_FEATURES, MOST_RELEASES = 1 << 12, 1 << 16  # numbers that get noise, and draws planned, one by one
_LABEL_RATIO = 0.6  # β/R
_LABEL_BITS = 10  # of a target's grid
_RIDGE_SHARE, _CODED_SHARE = 0.25, 0.4  # of the noise in the ridge, and where it was shrunk
_MOST_LEVELS, _BEYOND_NOISE = 7, 3.0  # of `usual_levels`
_EXACT = 1 << 53  # sums below it are exact in float64
_WIDEST = 1 << 72  # of σ²: what a draw carries on then fits into 64 bits, whatever is drawn
_TRIES = 64
_SOURCE = "Markov sums: a chain of exact discrete Gaussian releases, the noise of each recomputed from the one before"
_CONDITIONS = (
    "every edit of the table went through the curator, and each model was made from one release",
    "rows of all releases count together: one that left and comes back, under whatever id or person, is one row more",
)


@dataclass(frozen=True)
class SumsPlan:
    """T releases that are μ-GDP together, of the second moments and label sums of a table. `plan_sums` makes it.

    loss              what the weights predict by; its radius bounds every row
    records           n, slots; features: D, the constant column included
    releases          T, the learn among them
    gdp               μ of all releases together, between the `adjacency` worlds
    variance          V, in steps² of the grid
    joiners           whether rows may be inserted; else the budget covers those there from the first, and is worth more
    rows_per_subject  m rows of one person count as one record, rows that were erased included
    label_weight      β, in steps
    regularization    λ of the least squares, per slot
    coding            what rows are counted by; None: any rows, whose products are added
    """

    loss: Loss
    records: int
    features: int
    releases: int
    gdp: float
    variance: int
    adjacency: Worlds
    joiners: bool
    rows_per_subject: int
    label_weight: int
    regularization: float
    bits: int  # of the grid: numbers of a row are multiples of 2^−bits
    coding: Coding | None = None

    @cached_property
    def draws(self) -> list[tuple[Fraction, int]]:
        """(c, σ²) of each release; c = 0 for the first."""
        return markov_sums.equaliser(releases=self.releases, variance=self.variance)

    @property
    def outputs(self) -> int:
        return self.loss.outputs

    @property
    def label_bits(self) -> int:
        """Of a target's grid."""
        return _LABEL_BITS if self.loss.label_kind == "target" else 0

    @property
    def norm_squared(self) -> int:
        """R² in steps², rounded down."""
        return math.floor(Fraction(self.loss.radius) ** 2 * Fraction(4) ** self.bits)

    @property
    def ridge_share(self) -> float:
        """Of what noise moves the matrix by, in the ridge beside nλ."""
        return _RIDGE_SHARE if self.coding is None else _CODED_SHARE

    def apart(self, worlds: Worlds) -> Fraction:
        """Δ of one row, in steps²."""
        return markov_sums.sensitivity(
            norm_squared=self.norm_squared, label_weight=self.label_weight, between_records=worlds.between_records
        )

    @property
    def rounded(self) -> Fraction:
        """What rounding to the grid adds to a shift."""
        return markov_sums.rounding(features=self.features, outputs=self.outputs, label_weight=self.label_weight)

    def charges(self, worlds: Worlds) -> list[Fraction]:
        """μ² after each release, of the record that costs most, every release observed; a cap whatever the requests depend on."""
        known = self._charges.get(worlds)
        if known is None:
            least = min(variance for _, variance in self.draws)
            factor = markov_sums.gaussian_factor(variance=least, label_weight=self.label_weight)
            facts: dict[str, Any] = {"apart": self.apart(worlds), "rounded": self.rounded, "joiners": self.joiners}
            worst = markov_sums.worst_charges(draws=self.draws, **facts)
            known = self._charges[worlds] = [each * factor * self.rows_per_subject**2 for each in worst]
        return known

    @cached_property
    def _charges(self) -> dict[Worlds, list[Fraction]]:
        return {}

    def observed(self, worlds: Worlds, releases: int) -> Guarantee:
        """Of the first so many releases together."""
        squared = float(self.charges(worlds)[releases - 1])
        return self._guarantee(worlds, math.nextafter(squared, math.inf))

    def later(self, worlds: Worlds = Worlds.DEFINITION_4_1) -> Guarantee:
        """An erased record, all later releases and none before: exactly nothing, if requests did not depend on earlier models."""
        return self._guarantee(worlds, 0.0).assuming(NON_ADAPTIVE)

    def _guarantee(self, worlds: Worlds, squared: float) -> Guarantee:
        most = f"no person ever had more than {self.rows_per_subject} rows, those that were erased included"
        assumed = (*_CONDITIONS, most) if self.rows_per_subject > 1 else _CONDITIONS
        kept: dict[str, Any] = {"rows": self.rows_per_subject, "source": _SOURCE, "assumptions": assumed}
        return Guarantee(about=worlds.about, adjacency=worlds, gdp_squared=squared, **kept)


def plan_sums(
    loss: Loss,
    *,
    records: int,
    features: int | None = None,
    coding: Coding | None = None,
    releases: int,
    gdp: float = 1.0,
    adjacency: str = Worlds.REPLACE,
    joiners: bool = True,
    rows_per_subject: int = 1,
    regularization: float = 1e-4,
) -> SumsPlan:
    """The least noise with which so many releases are `gdp`-GDP together, whenever a record comes and goes.

    Args:
        loss: `Logistic` (labels ±1), `Softmax` (classes) or `Squared` (targets in [−1, 1]), whose radius bounds the rows' norm.
        features: of the rows; or `coding`, of an additive map (`Additive.coding`), for a pass that counts; then they are its directions.
        joiners: False where no row will ever be inserted: about a third less noise.

    Raises:
        InvalidParameter: a value is outside its range, or the sums would not be exact.
    """
    if not isinstance(loss, (Logistic, Softmax, Squared)) or not math.isfinite(loss.radius):
        raise InvalidParameter(
            f"sums are for classes and targets: take losses.Logistic, losses.Softmax or losses.Squared, not {loss.name}"
        )
    if (features is None) == (coding is None):
        raise InvalidParameter("give the number of features, or the coding of an additive map, which has it")
    width = coding.directions if coding is not None else features or 0
    sizes = {"records": records, "features": width, "releases": releases, "rows_per_subject": rows_per_subject}
    most = {"features": MOST_FEATURES, "releases": MOST_RELEASES}
    for name, value in sizes.items():
        count(name, value, maximum=most.get(name, 2**53))
    allowed = Fraction(positive("gdp", gdp)) ** 2
    bits = BITS + 1 - math.frexp(loss.radius)[1]
    weight = round(_LABEL_RATIO * math.ldexp(loss.radius, bits))
    plan = SumsPlan(
        loss=loss, **sizes, gdp=float(gdp), variance=1, adjacency=Worlds(adjacency), joiners=bool(joiners),
        label_weight=weight, regularization=scale("regularization", regularization), bits=bits, coding=coding,
    )  # fmt: skip
    if not records * plan.norm_squared < _EXACT:
        raise InvalidParameter(
            f"is more than {_EXACT // plan.norm_squared}, up to which sums of rows of norm {loss.radius:g} are exact; scale the rows down",
            records=records,
        )
    # a draw has at least V/(1 + √(T/2)), of which Gaussian DP takes 144 max(2, β²): `gaussian_factor`
    least = 1000 * weight**2 * (1 + math.isqrt(releases))
    variance = max(math.ceil(plan.apart(plan.adjacency) ** 2 / allowed), least)
    for _ in range(_TRIES):
        if variance > _WIDEST:
            break
        plan = replace(plan, variance=variance)
        spent = plan.charges(plan.adjacency)[-1]
        if spent <= allowed:
            return plan
        variance = math.ceil(variance * spent / allowed * (1 + Fraction(1, 1 << 30)))
    raise InvalidParameter("takes more noise than the grid carries; raise it, or ask for fewer releases", gdp=gdp)


def usual_levels(*, records: int, blocks: int, releases: int, gdp: float = 1.0, joiners: bool = True) -> int:
    """Levels of bins for an additive map of so many columns, from public numbers: the most of which the finest bin, a 2^−l part of the
    rows, still adds three standard deviations of the noise to its own sum."""
    carried = markov_sums.worst_charges(
        draws=markov_sums.equaliser(releases=releases, variance=1 << 40),
        apart=Fraction(1 << 20), rounded=Fraction(0), joiners=joiners,
    )  # fmt: skip
    deviation = math.sqrt(2.0 * float(carried[-1])) * (1 + _LABEL_RATIO**2 / 2) / gdp
    levels = 1
    while levels < _MOST_LEVELS:
        share = records / 2.0 ** (levels + 1) / ((levels + 1) * (blocks + 1))
        if share < _BEYOND_NOISE * deviation:
            break
        levels += 1
    return levels
