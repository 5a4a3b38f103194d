"""A release by objective perturbation as the accountant sees it: its public facts, and what they reveal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..bounds import objective_perturbation as tilt
from ..bounds import objective_perturbation_gdp as flow
from ..bounds.arithmetic import GRID_BITS, NORM_TOLERANCE
from ..bounds.rounding import UNIT
from ..errors import InvalidParameter, choice, count, non_negative, positive
from ..privacy.curve import FORMS, ONE_DIRECTION, WEAKLY_CONVEX, Curve
from ..privacy.worlds import Worlds
from .base import Condition, Cost, Mechanism, bounded_gradients

ROOM = (
    1 + 2 * NORM_TOLERANCE
)  # rows may be R(1 + NORM_TOLERANCE) long, and constants are rounded; squared for curvatures


@dataclass(frozen=True, kw_only=True)
class PerturbedRun(Mechanism):
    """Public facts of one release.

    linear_term         s: standard deviation of b per coordinate, in units of the gradient sum
    output_noise        τ, a power of two; the grid has step τ/2²⁴
    gradient_tolerance  γ: the true gradient at the solver's answer, with the ideal b, is no longer than this
    strong_convexity    m = λ − β₋ of the objective
    lipschitz, smoothness, weak_convexity, form, blocks   L, β₊, β₋ of one row's loss, how it curves, and of how many models it
                        is the sum
    dimension           d
    rows_per_subject    rows of one data subject that count as one record
    warm                whether the solver of a request starts from the published model
    shaped              whether b has the public shape of the schema's columns; every row is checked to be no longer in it
    chain               minimisers one after the other, each of which pulls towards the one before; all of them count as published
    in_place            whether rows keep their places from one release to the next; else a sum may round otherwise in every release
    """

    method: ClassVar[str] = "perturbed"
    source: ClassVar[str] = (
        "objective perturbation with an exact discrete Gaussian on the output (tilted densities in Rényi DP; a flow of "
        "densities in Gaussian DP)"
    )
    fresh: ClassVar[bool] = True

    linear_term: float
    output_noise: float
    gradient_tolerance: float
    strong_convexity: float
    lipschitz: float
    smoothness: float
    form: str
    dimension: int
    weak_convexity: float = 0.0
    blocks: int = 1
    rows_per_subject: int = 1
    warm: bool = False
    shaped: bool = False
    in_place: bool = True
    chain: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("linear_term", "output_noise", "gradient_tolerance", "strong_convexity", "lipschitz"):
            positive(name, getattr(self, name))
        for name in ("smoothness", "weak_convexity"):
            non_negative(name, getattr(self, name))
        for name in ("dimension", "blocks", "rows_per_subject", "chain"):
            count(name, getattr(self, name))
        choice("form", self.form, FORMS)
        if math.frexp(self.output_noise)[0] != 0.5:
            raise InvalidParameter(
                "must be a power of two: only then is its grid exact on a machine", output_noise=self.output_noise
            )
        if (self.form == WEAKLY_CONVEX) != (self.weak_convexity > 0):
            raise InvalidParameter(f"and weak_convexity={self.weak_convexity:g} contradict each other", form=self.form)
        if not self._least_curvature > 0:
            raise InvalidParameter(
                "is too near 0 beside the curvature of a row", strong_convexity=self.strong_convexity
            )

    @property
    def shows_start(self) -> bool:
        return self.warm

    @property
    def shows_order(self) -> bool:
        return not self.in_place

    @property
    def rows(self) -> int:
        return self.rows_per_subject

    @property
    def grid(self) -> float:
        """h = τ/2²⁴."""
        return math.ldexp(self.output_noise, -GRID_BITS)

    @property
    def _least_curvature(self) -> float:
        """m, for rows as long as they may be."""
        return self.strong_convexity - self.weak_convexity * (ROOM**2 - 1) * 2

    def exposure(self, steps: int) -> int:
        return 1

    def check_steps(self, steps: int) -> None:
        if steps:
            raise InvalidParameter(
                f"must be 0: a release by {self.method!r} has no noisy steps; its noise is drawn at once", steps=steps
            )

    def ratios(self) -> tuple[float, float]:
        """ρ and ρ₋ of one row."""
        world = {"strong_convexity": self._least_curvature, "records": self.records}
        weak = {"weak_convexity": self.weak_convexity * ROOM**2}
        below = tilt.curvature_ratio(smoothness=self.weak_convexity * ROOM**2, **weak, **world)
        return tilt.curvature_ratio(smoothness=self.smoothness * ROOM**2, **weak, **world), below

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        return self._erased(worlds) if steps_without else {"curves": ((self.curve(worlds), float(self.chain)),)}

    def curve(self, worlds: Worlds) -> Curve:
        """One stage about a record that is in it, whatever the stage before it made: the centre of the regulariser enters neither the
        difference of the gradient sums of two worlds nor their Hessians."""
        ratio, below = self.ratios()
        delta = worlds.sensitivity(self.lipschitz * ROOM, self.rows)
        spread = flow.spread(**self._ball())
        inexact = flow.inexact_rate(spread=spread, output_noise=self.output_noise)
        mu = math.inf
        if self.form == ONE_DIRECTION:
            exact = flow.gdp(
                lipschitz=self.lipschitz * ROOM / math.sqrt(self.blocks),
                noise=self.linear_term,
                ratio=ratio,
                rows=self.rows,
                worlds=2 if worlds.between_records else 1,
                blocks=self.blocks,
            )
            mu = math.hypot(exact, self._inexact_gdp(spread)) * (1 + 4 * UNIT)
        return Curve(
            rate=(delta**2 / (2 * self.linear_term**2) + inexact) * (1 + 8 * UNIT),
            form=self.form,
            between_records=worlds.between_records,
            ratio=ratio,
            below=below,
            rows=self.rows,
            blocks=self.blocks,
            gdp_squared=mu**2 if mu < math.inf else None,
        )

    def _erased(self, worlds: Worlds) -> Cost:
        """What a hidden start leaves, or another order of the same rows: against a law that never saw the record, one ball about the
        exact minimiser; between two records, two."""
        if not self.warm and self.in_place:
            return {}
        apart = flow.spread if worlds.between_records else flow.deletion_spread
        return {"gdp_squared": self.chain * self._inexact_gdp(apart(**self._ball())) ** 2 * (1 + 4 * UNIT)}

    def _ball(self) -> dict[str, Any]:
        return {
            "gradient_tolerance": self.gradient_tolerance,
            "strong_convexity": self._least_curvature,
            "grid": self.grid,
            "dimension": self.dimension,
        }

    def _inexact_gdp(self, spread: float) -> float:
        return flow.inexact_gdp(spread=spread, output_noise=self.output_noise, grid=self.grid)

    def conditions(self) -> tuple[Condition, ...]:
        own = {"method": self.method}
        return (
            *bounded_gradients(self.lipschitz, proven=self.proven),
            *super().conditions(),
            *((("row-shape", own),) if self.shaped else ()),
            *((("rows-in-place", own),) if self.in_place else ()),
            ("solver-tolerance", {**own, "tolerance": self.gradient_tolerance}),
            ("time-unseen", own),
            ("exact-noise", own),
            ("machine-trusted", {}),
        )
