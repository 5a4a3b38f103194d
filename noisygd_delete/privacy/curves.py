"""Rényi bounds that are formulas of the order: q · rate plus a cost of the Hessians, finite below a public order.

Objective perturbation has such a bound (`bounds.objective_perturbation`, Theorem 1). If the same release also
satisfies Gaussian DP (Theorem 2), the curve includes that μ²: both bounds hold at once, and every query uses the
better one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..bounds import objective_perturbation as bounds
from ..bounds.arithmetic import UNIT, sum_up
from ..errors import InvalidParameter, check_bound, check_choice, check_count, non_negative

ONE_DIRECTION = "one direction"
SEVERAL_DIRECTIONS = "several directions"
WEAKLY_CONVEX = "weakly convex"

_COSTS: dict[tuple[str, bool], Callable[..., float]] = {  # by (structure of one row's Hessian, between_records)
    (ONE_DIRECTION, False): bounds.zero_out_hessian,
    (ONE_DIRECTION, True): bounds.replace_hessian,
    (SEVERAL_DIRECTIONS, False): bounds.several_zero_out_hessian,
    (SEVERAL_DIRECTIONS, True): bounds.several_replace_hessian,
    (WEAKLY_CONVEX, False): bounds.weakly_convex_zero_out_hessian,
    (WEAKLY_CONVEX, True): bounds.weakly_convex_replace_hessian,
}
FORMS = tuple(dict.fromkeys(form for form, _ in _COSTS))
MOST = 64  # distinct curves in one guarantee, each of which is evaluated in a search over orders


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The Rényi curve ε_q = q · rate + blocks · Hessian cost(q), and μ² of the same release if it is Gaussian.

    Attributes:
        rate: Rényi rate.
        form: Structure of one row's Hessian: one direction, several, or one with curvature of either sign.
        between_records: Whether both neighbouring datasets hold a record, or one holds a record and the other none.
        ratio: ρ.
        below: ρ₋.
        rows: Rows of one data subject.
        blocks: Number of independent joint releases, each with this Hessian cost.
        gdp_squared: μ²; None if unknown.
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
        check_bound("rate", self.rate)
        check_choice("form", self.form, FORMS)
        non_negative("ratio", self.ratio)
        non_negative("below", self.below)
        check_count("rows", self.rows)
        check_count("blocks", self.blocks)
        if self.gdp_squared is not None:
            check_bound("gdp_squared", self.gdp_squared)
        weakly = self.form == WEAKLY_CONVEX
        if (self.below > 0 and not weakly) or (weakly and self.rows > 1):
            raise InvalidParameter(
                f"a curve of form {self.form!r} has no below={self.below:g} with rows={self.rows}: negative curvature "
                "is covered for one row of a weakly convex loss"
            )

    @property
    def highest_order(self) -> float:
        """The order from which on there is no bound; infinite if there is none such."""
        return bounds.highest_order(ratio=self.ratio, rows=self.rows, below=self.below)

    def hessian(self, order: float) -> float:
        """Return the Hessian cost of all blocks at one order."""
        facts = {"below": self.below} if self.form == WEAKLY_CONVEX else {"rows": self.rows}
        cost = _COSTS[self.form, self.between_records](order=order, ratio=self.ratio, **facts)
        return self.blocks * cost * (1 + 4 * UNIT)

    def renyi(self, order: float) -> float:
        """Return ε_q by the better of the two bounds; infinite if neither applies."""
        hessian = self.hessian(order)
        tilted = math.inf if hessian == math.inf else sum_up(order * self.rate, hessian)
        return tilted if self.gdp_squared is None else min(tilted, order * self.gdp_squared / 2 * (1 + 4 * UNIT))


def merge_curves(curves: Mapping[Curve, float]) -> Mapping[Curve, float]:
    """Return an upper bound on the same composition with few distinct curves.

    Only ledgers from other sources have more than `MOST` curves. The bound holds because the Hessian cost increases in
    ρ and ρ₋, rates and μ² add up, and the smaller of two sums is at least the sum of the smaller terms.
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
