"""A release by objective perturbation as the accountant sees it: its public facts and what it reveals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..bounds import objective_perturbation as bounds
from ..bounds.arithmetic import GRID_BITS, ROOM, UNIT
from ..errors import InvalidParameter, check_choice, check_count, check_positive, non_negative
from ..privacy.curves import FORMS, ONE_DIRECTION, WEAKLY_CONVEX, Curve
from ..privacy.worlds import Worlds
from .base import BY_PERSON, Condition, Cost, SingleRelease, WeighedRun, bounded_gradients
from .problem import Problem


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbationRun(WeighedRun, SingleRelease):
    """Public facts of one release.

    Attributes:
        linear_term: s, the standard deviation of b per coordinate, in units of the gradient sum.
        output_noise: τ, a power of two; the grid has step τ/2²⁴.
        gradient_tolerance: γ, an upper bound on the norm of the true gradient at the solver's answer, with the ideal b.
        strong_convexity: m = λ − β₋ of the objective.
        lipschitz: L of one row's loss.
        smoothness: β₊ of one row's loss.
        form: How one row's loss curves, one of `FORMS`.
        dimension: d.
        weak_convexity: β₋ of one row's loss.
        blocks: Number of models of which one row's loss is the sum.
        rows_per_subject: Rows of one data subject that count as one record.
        warm: Whether the solver of a request starts from the published model.
        shaped: Whether b has the public shape of the schema's columns; every row is checked to satisfy the norm bound
            in that shape.
        in_place: Whether rows are added in an order determined by their contents; otherwise a sum may round differently
            in every release.
        chain: Number of consecutive minimisers, each regularised towards the previous one; all of them count as
            published.
    """

    method: ClassVar[str] = "objective-perturbation"
    source: ClassVar[str] = (
        "objective perturbation with an exact discrete Gaussian on the output (tilted densities in Rényi DP; a flow of "
        "densities in Gaussian DP)"
    )
    fresh: ClassVar[bool] = True
    steps: ClassVar[int] = 0

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
            check_positive(name, getattr(self, name))
        for name in ("smoothness", "weak_convexity"):
            non_negative(name, getattr(self, name))
        for name in ("dimension", "blocks", "rows_per_subject", "chain"):
            check_count(name, getattr(self, name))
        check_choice("form", self.form, FORMS)
        if math.frexp(self.output_noise)[0] != 0.5:
            raise InvalidParameter(
                "must be a power of two: only then is its grid exact on a machine", output_noise=self.output_noise
            )
        if (self.form == WEAKLY_CONVEX) != (self.weak_convexity > 0):
            raise InvalidParameter(f"and weak_convexity={self.weak_convexity:g} contradict each other", form=self.form)
        if self.weighting == BY_PERSON and self.form != ONE_DIRECTION:
            raise InvalidParameter("has several directions, which weights by person do not cover", form=self.form)
        if not self._least_curvature > 0:
            raise InvalidParameter(
                "is too near 0 beside the curvature of a row", strong_convexity=self.strong_convexity
            )

    @property
    def shows_start(self) -> bool:
        """Whether the solver starts from the published model, so that rounding may depend on it (`warm`)."""
        return self.warm

    @property
    def shows_order(self) -> bool:
        """Whether rounding may depend on the order of rows: True unless rows are added in a fixed order (`in_place`)."""
        return not self.in_place

    @property
    def grid(self) -> float:
        """Width h = τ/2²⁴ of the published grid."""
        return math.ldexp(self.output_noise, -GRID_BITS)

    @property
    def _least_curvature(self) -> float:
        """m, for rows of the largest allowed norm."""
        return self.strong_convexity - self.weak_convexity * (ROOM**2 - 1) * 2

    def ratios(self) -> tuple[float, float]:
        """Return ρ = β₊/(nm + β₋) and ρ₋ = β₋/(nm + β₋), one row's curvature relative to that of the other rows."""
        world = {"strong_convexity": self._least_curvature, "records": self.records}
        weak = {"weak_convexity": self.weak_convexity * ROOM**2}
        below = bounds.curvature_ratio(smoothness=self.weak_convexity * ROOM**2, **weak, **world)
        return bounds.curvature_ratio(smoothness=self.smoothness * ROOM**2, **weak, **world), below

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        if steps_without:
            return self._erased()
        curve = self.curve(worlds)
        if self.weighting == BY_PERSON:  # rows of changing weights curve both ways: the Rényi curve does not cover them
            mu = math.inf if curve.gdp_squared is None else curve.gdp_squared
            return {"gdp_squared": self.chain * mu}
        return {"curves": ((curve, float(self.chain)),)}

    def curve(self, worlds: Worlds) -> Curve:
        """Return the cost of one minimiser about a record in it: a Rényi curve, with μ² for losses of one direction.

        It holds whatever the output of the previous minimiser: the centre of the regulariser enters neither the
        difference of the gradient sums of two datasets nor their Hessians.

        Weighted by person, only μ holds. Rows join, leave or change their weight one after another, each by a w ≥ 0 with
        Σ w ≤ 1 in all; one such step has L and β times w, hence w times the μ of a row, and the μ of the steps add up.
        """
        ratio, below = self.ratios()
        delta = worlds.sensitivity(self.lipschitz * ROOM, self.charged_rows)
        spread = bounds.rounded_solution_distance(**self._ball())
        inexact = bounds.inexact_rate(spread=spread, output_noise=self.output_noise)
        mu = math.inf
        if self.form == ONE_DIRECTION:
            exact = bounds.gdp(
                lipschitz=self.lipschitz * ROOM / math.sqrt(self.blocks),
                noise=self.linear_term,
                ratio=ratio,
                rows=self.charged_rows,
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
            rows=self.rows_per_subject,
            blocks=self.blocks,
            gdp_squared=mu**2 if mu < math.inf else None,
        )

    def _erased(self) -> Cost:
        """Return the cost of a hidden start, or of another order of the same rows, for any two datasets.

        Both runs stop in the ball around the exact minimiser, at opposite ends in the worst case: a run that never held
        the record is no nearer to the minimiser than one that did.
        """
        if not self.warm and self.in_place:
            return {}
        return {
            "gdp_squared": self.chain
            * self._inexact_gdp(bounds.rounded_solution_distance(**self._ball())) ** 2
            * (1 + 4 * UNIT)
        }

    def _ball(self) -> dict[str, Any]:
        return {
            "gradient_tolerance": self.gradient_tolerance,
            "strong_convexity": self._least_curvature,
            "grid": self.grid,
            "dimension": self.dimension,
        }

    def _inexact_gdp(self, spread: float) -> float:
        return bounds.inexact_gdp(spread=spread, output_noise=self.output_noise, grid=self.grid)

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


def form_of(problem: Problem) -> str:
    """Return how one row's loss curves: the loss's own form in `FORMS`, or "weakly convex" if it is not convex."""
    return problem.loss.curving if problem.loss.constants.convex else WEAKLY_CONVEX


def row_facts(problem: Problem) -> dict[str, Any]:
    """Return the fields of `ObjectivePerturbationRun` that the problem determines.

    They describe one row and the objective. The noises s and τ, γ and the fields of the method's options are missing.
    """
    constants = problem.loss.constants
    return {
        "records": problem.records,
        "row_norm": problem.loss.radius,
        "strong_convexity": problem.strong_convexity,
        "lipschitz": constants.lipschitz,
        "smoothness": constants.smoothness,
        "weak_convexity": constants.weak_convexity,
        "form": form_of(problem),
        "blocks": problem.loss.blocks,
        "dimension": problem.dimension,
        "rows_per_subject": problem.rows_per_subject,
        "weighting": problem.weighting,
        "proven": constants.proven,
        "shaped": problem.noise_shape is not None,
    }
