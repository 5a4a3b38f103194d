"""The plan of a stream of Markov sums over rows of an additive map, which are counted, or over any rows, for the curator in
`curator.markov_sums`; plans of other curators and of stores are those of method `sums`."""

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
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from ..privacy.worlds import Worlds
from . import sums
from .sums import LABEL_RATIO, MOST_FEATURES, MOST_RELEASES, RIDGE_SHARE, MarkovSumsRun

_CODED_SHARE = 0.4  # of the noise in the ridge, where it was shrunk
_MOST_LEVELS, _BEYOND_NOISE = 7, 3.0  # of `usual_levels`
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

    @property
    def _facts(self) -> dict[str, Any]:
        return {
            "records": self.records, "features": self.features, "outputs": self.outputs, "norm_squared": self.norm_squared,
            "label_weight": self.label_weight, "releases": self.releases, "joiners": self.joiners, "rows_per_subject": self.rows_per_subject,
        }  # fmt: skip

    @cached_property
    def run(self) -> MarkovSumsRun:
        """What the accountant sees."""
        return MarkovSumsRun(**self._facts, variance=float(self.variance))

    @cached_property
    def draws(self) -> list[tuple[Fraction, int]]:
        """(c, σ²) of each release, σ² rounded up; c = 0 for the first."""
        return [(Fraction(carry), math.ceil(variance)) for carry, variance in self.run.draws]

    @property
    def outputs(self) -> int:
        return self.loss.outputs

    @property
    def label_bits(self) -> int:
        """Of a target's grid."""
        return sums.label_bits(self.loss)

    @property
    def norm_squared(self) -> int:
        """R² in steps², rounded down."""
        return sums.norm_squared(self.loss)

    @property
    def ridge_share(self) -> float:
        """Of what noise moves the matrix by, in the ridge beside nλ."""
        return RIDGE_SHARE if self.coding is None else _CODED_SHARE

    def charges(self, worlds: Worlds) -> tuple[float, ...]:
        """μ² after each release, of the record that costs most, every release observed; a cap whatever the requests depend on."""
        return self.run.charges(worlds)

    def observed(self, worlds: Worlds, releases: int) -> Guarantee:
        """Of the first so many releases together."""
        return self._guarantee(worlds, self.charges(worlds)[releases - 1])

    def later(self, worlds: Worlds = Worlds.DEFINITION_4_1) -> Guarantee:
        """An erased record, all later releases and none before: exactly nothing, if requests did not depend on earlier models."""
        return self._guarantee(worlds, 0.0).assuming(NON_ADAPTIVE)

    def _guarantee(self, worlds: Worlds, squared: float) -> Guarantee:
        most = f"no person ever had more than {self.rows_per_subject} rows, those that were erased included"
        assumed = (*_CONDITIONS, most) if self.rows_per_subject > 1 else _CONDITIONS
        kept: dict[str, Any] = {"rows": self.rows_per_subject, "source": sums.SOURCE, "assumptions": assumed}
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
    sums.check_loss(loss)
    if (features is None) == (coding is None):
        raise InvalidParameter("give the number of features, or the coding of an additive map, which has it")
    width = coding.directions if coding is not None else features or 0
    sizes = {"records": records, "features": width, "releases": releases, "rows_per_subject": rows_per_subject}
    most = {"features": MOST_FEATURES, "releases": MOST_RELEASES}
    for name, value in sizes.items():
        count(name, value, maximum=most.get(name, 2**53))
    allowed = positive("gdp", gdp)
    bits, weight = sums.grid_of(loss)
    plan = SumsPlan(
        loss=loss, **sizes, gdp=float(gdp), variance=1, adjacency=Worlds(adjacency), joiners=bool(joiners),
        label_weight=weight, regularization=scale("regularization", regularization), bits=bits, coding=coding,
    )  # fmt: skip
    sums.check_exact(loss, records)
    found = sums.least_noise(plan._facts, allowed**2, plan.adjacency)
    if found is None:
        raise InvalidParameter("takes more noise than the grid carries; raise it, or ask for fewer releases", gdp=gdp)
    return replace(plan, variance=int(found.variance))


def usual_levels(*, records: int, blocks: int, releases: int, gdp: float = 1.0, joiners: bool = True) -> int:
    """Levels of bins for an additive map of so many columns, from public numbers: the most of which the finest bin, a 2^−l part of the
    rows, still adds three standard deviations of the noise to its own sum."""
    carried = markov_sums.worst_charges(
        draws=markov_sums.equaliser(releases=releases, variance=2.0**40), apart=2.0**20, rounded=0.0, joiners=joiners
    )  # fmt: skip
    deviation = math.sqrt(2.0 * carried[-1]) * (1 + LABEL_RATIO**2 / 2) / gdp
    levels = 1
    while levels < _MOST_LEVELS:
        share = records / 2.0 ** (levels + 1) / ((levels + 1) * (blocks + 1))
        if share < _BEYOND_NOISE * deviation:
            break
        levels += 1
    return levels
