"""A Rényi bound that is a formula of the order: q · rate plus a cost of the Hessians, finite below a public order.

It is what objective perturbation has (`bounds.objective_perturbation`, Theorem 1). Where the same release is also Gaussian
differentially private (Theorem 2), the curve carries that μ² too: both statements hold at once, and every question is
answered by the better one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..bounds import objective_perturbation as bounds
from ..bounds.rounding import UNIT, sum_up
from ..errors import InvalidParameter, bound, choice, count, non_negative

ONE_DIRECTION = "one direction"
SEVERAL_DIRECTIONS = "several directions"
WEAKLY_CONVEX = "weakly convex"

_COSTS: dict[tuple[str, bool], Callable[..., float]] = {  # (how one row curves, two records or one against none)
    (ONE_DIRECTION, False): bounds.zero_out_hessian,
    (ONE_DIRECTION, True): bounds.replace_hessian,
    (SEVERAL_DIRECTIONS, False): bounds.several_zero_out_hessian,
    (SEVERAL_DIRECTIONS, True): bounds.several_replace_hessian,
    (WEAKLY_CONVEX, False): bounds.weakly_convex_zero_out_hessian,
    (WEAKLY_CONVEX, True): bounds.weakly_convex_replace_hessian,
}
FORMS = tuple(dict.fromkeys(form for form, _ in _COSTS))


MOST = 64  # distinct curves in one guarantee: a search over orders asks each of them


@dataclass(frozen=True, kw_only=True)
class Curve:
    """ε_q = q · rate + blocks · Hessian cost(q), and μ² of the same release where it is Gaussian.

    form             how one row's loss curves: in one direction, in several, or in one but either way
    between_records  whether both worlds hold a record, not one a record and the other none
    ratio, below     ρ and ρ₋
    rows             rows of one data subject
    blocks           independent releases side by side, each with this Hessian cost
    gdp_squared      μ², None where nothing is known
    """

    rate: float
    form: str
    between_records: bool
    ratio: float
    below: float = 0.0
    rows: int = 1
    blocks: int = 1
    gdp_squared: float | None = None

    def __post_init__(self) -> None:
        bound("rate", self.rate)
        choice("form", self.form, FORMS)
        non_negative("ratio", self.ratio)
        non_negative("below", self.below)
        count("rows", self.rows)
        count("blocks", self.blocks)
        if self.gdp_squared is not None:
            bound("gdp_squared", self.gdp_squared)
        weakly = self.form == WEAKLY_CONVEX
        if (self.below > 0 and not weakly) or (weakly and self.rows > 1):
            raise InvalidParameter(
                f"a curve of form {self.form!r} has no below={self.below:g} with rows={self.rows}: negative curvature "
                "is covered for one row of a weakly convex loss"
            )

    @property
    def highest_order(self) -> float:
        """The order from which on nothing is said; infinite where there is none."""
        return bounds.highest_order(ratio=self.ratio, rows=self.rows, below=self.below)

    def hessian(self, order: float) -> float:
        """Hessian cost of all blocks at one order."""
        facts = {"below": self.below} if self.form == WEAKLY_CONVEX else {"rows": self.rows}
        cost = _COSTS[self.form, self.between_records](order=order, ratio=self.ratio, **facts)
        return self.blocks * cost * (1 + 4 * UNIT)

    def renyi(self, order: float) -> float:
        """ε_q by the better of the two statements; infinite where neither says anything."""
        hessian = self.hessian(order)
        tilted = math.inf if hessian == math.inf else sum_up(order * self.rate, hessian)
        return tilted if self.gdp_squared is None else min(tilted, order * self.gdp_squared / 2 * (1 + 4 * UNIT))


def fewer(curves: Mapping[Curve, float]) -> Mapping[Curve, float]:
    """The same composition in at most a few curves, never below it: what nobody but a stranger's ledger needs.

    The Hessian cost grows with ρ and ρ₋, rates and μ² add up, and the smaller of two sums is not below the sum of the smaller.
    """
    if len(curves) <= MOST:
        return curves
    kinds: dict[tuple[str, bool, int, int], list[tuple[Curve, float]]] = {}
    for curve, times in curves.items():
        kinds.setdefault((curve.form, curve.between_records, curve.rows, curve.blocks), []).append((curve, times))
    merged: dict[Curve, float] = {}
    for alike in kinds.values():
        number = math.fsum(times for _, times in alike)
        squares = [None if curve.gdp_squared is None else times * curve.gdp_squared for curve, times in alike]
        known = [square for square in squares if square is not None]
        mean = math.fsum(known) / number * (1 + 8 * UNIT) if len(known) == len(squares) else None
        whole = replace(
            alike[0][0],
            rate=math.fsum(times * curve.rate for curve, times in alike) / number * (1 + 8 * UNIT),
            ratio=max(curve.ratio for curve, _ in alike),
            below=max(curve.below for curve, _ in alike),
            gdp_squared=mean,
        )
        merged[whole] = number
    return merged
