"""A solve in a public number of passes over public blocks: the facts of it, and how far apart it leaves two worlds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..bounds import block_passes
from ..bounds.arithmetic import ROOM, UNIT, gradient_error
from ..errors import InvalidParameter, count, positive
from ..privacy.guarantee import Worlds
from .exact_steps import GridRun
from .problem import Problem, forecast_passes

MOST_PASSES, MOST_BLOCKS = 10_000, 1 << 20
_FIRST, _FALLS = 1.2, 8.0  # nats of contraction of the first pass, and how much less of them the last one has
_FEWEST = 10
_USUAL, _FEWEST_ROWS = 100, 16  # blocks, where their number is free; rows of one


@dataclass(frozen=True, kw_only=True)
class Passes:
    """Public facts of such a solve, from 0.

    blocks       B: the slots are cut into so many, in their order
    passes       N over all of them, forwards and backwards in turn
    first, last  a of the first and of the last pass: nats by which a pass brings any two points nearer
    """

    blocks: int
    passes: int
    first: float
    last: float

    def __post_init__(self) -> None:
        count("blocks", self.blocks, maximum=MOST_BLOCKS)
        count("passes", self.passes, maximum=MOST_PASSES)
        for name in ("first", "last"):
            positive(name, getattr(self, name))

    def step_sizes(self, strong_convexity: float) -> tuple[float, ...]:
        """η of every pass."""
        return block_passes.step_sizes(
            first=self.first,
            last=self.last,
            passes=self.passes,
            blocks=self.blocks,
            strong_convexity=strong_convexity,
        )

    def check(self, run: GridRun) -> None:
        """Raise `InvalidParameter` where a run that begins so is not one that the bound covers."""
        if run.exact is None or not run.exact.in_place:
            raise InvalidParameter(
                "needs exact steps, and rows that keep their places: blocks are of slots", passes=self
            )
        if self.blocks > run.records:
            raise InvalidParameter(f"must be at most n={run.records}", blocks=self.blocks)
        limit = block_passes.largest_step_size(
            strong_convexity=run.strong_convexity,
            curvature=run.exact.curvature * ROOM**2,
            blocks=self.blocks,
            records=run.records,
        )
        if not max(self.step_sizes(run.strong_convexity)) <= limit:
            raise InvalidParameter(
                f"is too much for {self.blocks} blocks: a step may carry two models apart", first=self.first
            )

    def apart(self, run: GridRun, worlds: Worlds) -> float:
        """How far the machine's answers for two tables that differ in a record may be apart, rounded up."""
        assert run.exact is not None
        m, sizes = run.strong_convexity, self.step_sizes(run.strong_convexity)
        fuller = block_passes.fuller(blocks=self.blocks, records=run.records)
        steepest, norm = run.lipschitz * ROOM * fuller, 1.001 * run.lipschitz * ROOM * fuller / m
        measured = gradient_error(
            lipschitz=steepest,
            curvature=run.exact.curvature * ROOM**2 * fuller,
            outputs=run.exact.outputs,
            records=-(-run.records // self.blocks),
            features=run.exact.features,
            regularization=m,
            weights_norm=norm,
        )
        error = block_passes.rounding(
            step_sizes=sizes,
            strong_convexity=m,
            gradient_error=measured + 4 * UNIT * steepest,  # n/B is rounded, and divided by
            lipschitz=steepest,
            regularization=m,
            weights_norm=norm,
        )
        moved = block_passes.carried(step_sizes=sizes, strong_convexity=m, blocks=self.blocks)
        return (moved * run.sensitivity(worlds) * ROOM / (run.records * m) + 2 * error) * (1 + 2.0**-40)


def passes_for(problem: Problem, asked: int | None) -> Passes:
    """As many passes as a warm solver is expected to take and at least ten (e⁻⁵ of the start is left), over blocks as large as their step size allows."""
    m, beta, n = problem.strong_convexity, problem.loss.constants.curvature, problem.records
    most = max(1, n // _FEWEST_ROWS)
    half = (
        (2 * m + beta * ROOM**2 * (1 + 1 / _FEWEST_ROWS + 1 / n)) / (2 * m) * (1 + 1e-9)
    )  # blocks that a nat asks for
    blocks = min(most, max(math.ceil(_FIRST * half), _USUAL))
    first = min(_FIRST, blocks / half)
    passes = asked or max(forecast_passes(problem), _FEWEST)
    return Passes(blocks=blocks, passes=passes, first=first, last=first / _FALLS)
