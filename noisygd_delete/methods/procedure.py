"""A run as data: [linear term] -> start -> K noisy steps -> [output noise] -> grid. One executor runs any procedure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..bounds.solver_steps import proven_steps, sample_rows
from ..errors import InvalidParameter
from ..privacy.worlds import NON_ADAPTIVE
from .problem import Problem

if TYPE_CHECKING:
    from ..features.maps.coding import Coding


@dataclass(frozen=True)
class InitialLaw:
    """A draw from N(0, variance · I), the start of a learn."""

    variance: float


@dataclass(frozen=True)
class Published:
    """The model published before."""


@dataclass(frozen=True)
class Minimizer:
    """The minimiser for the current records, with gradient norm at most `tolerance` (γ, of the mean loss) guaranteed.

    Attributes:
        tolerance: γ.
        solver: "warm" starts a request from the published model, "cold" from 0; "fixed" starts from 0 with a number of
            passes that no record can change.
        chain: Number of consecutive minimisations, each with its own noise; the regulariser of each after the first is
            centred at the previous minimiser.
    """

    tolerance: float
    solver: str
    chain: int = 1


@dataclass(frozen=True)
class NoisyLeastSquares:
    """Least squares on the noisy moments of the current records, published: one pass, and no steps after it.

    Attributes:
        deviation: Standard deviation of the noise of each sum, in units of a record of the largest norm.
        ridge: Added to the second moments, in the same unit.
    """

    deviation: float
    ridge: float


@dataclass(frozen=True)
class CarriedSums:
    """Least squares on sums whose noise is carried over from the previous release.

    One pass over the table as the previous release left it.

    Attributes:
        draws: (c, σ²) of each draw of a chain, in steps² of the grid.
        variance: V of each draw.
        bits: Bits of the grid.
        label_bits: Bits of a label's grid.
        norm_squared: R² in steps².
        label_weight: β in steps.
        ridge: Added to the matrix of rows of norm at most 1.
        ridge_share: Multiple of the matrix's noise that is also added.
        map: The additive map whose codes are counted, as JSON; None for arbitrary rows, whose products are summed.
        targets: Whether labels are targets and not classes.
        by_person: Whether the sums of a row of a person with k rows are divided by k.
    """

    draws: list[tuple[float, float]]
    variance: float
    bits: int
    label_bits: int
    norm_squared: int
    label_weight: int
    ridge: float
    ridge_share: float
    map: str | None = None
    targets: bool = False
    by_person: bool = False


@dataclass(frozen=True)
class Sampling:
    """Steps on Poisson samples of the table: `draws` steps, each place in each sample with probability `rate`."""

    rate: float
    draws: int


@dataclass(frozen=True)
class Exactness:
    """Steps on a grid: θ within norm `radius`, the noise of each step an exact discrete Gaussian of parameter τ.

    The grid step is τ/2^`grid_bits`.
    """

    radius: float
    grid_bits: int


Start = InitialLaw | Published | Minimizer | NoisyLeastSquares | CarriedSums


@dataclass(frozen=True)
class Procedure:
    """One run. Absent parts are 0.

    Attributes:
        start: Where the steps begin.
        steps: K, the number of noisy steps of size η, each adding N(0, 2ησ² I).
        step_size: η.
        noise_variance: σ².
        linear_term: s, the standard deviation per coordinate of b, added to the gradient *sum* (objective
            perturbation).
        output_noise: τ, the standard deviation of the noise on the published weights.
        shape: v of every column, so that b has variance s²v there; None: 1 everywhere.
        sampling: Poisson samples to use instead of K steps on all rows, whose total size comes to K passes; None: full
            batches.
        exactness: Grid of the steps; None: floating point.
        solver_passes: Gradient passes of the solver: a forecast from public numbers, exact if their number is fixed.
    """

    start: Start
    steps: int = 0
    step_size: float = 0.0
    noise_variance: float = 0.0
    linear_term: float = 0.0
    output_noise: float = 0.0
    shape: tuple[float, ...] | None = None
    sampling: Sampling | None = None
    exactness: Exactness | None = None
    solver_passes: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.linear_term and not isinstance(self.start, Minimizer):
            raise InvalidParameter(
                "is part of what a solver minimises: it needs a start at the minimiser", linear_term=self.linear_term
            )

    @property
    def counted_steps(self) -> int:
        """Number of steps that a run counts as; least squares on moments, in one pass, counts as one."""
        return 1 if isinstance(self.start, NoisyLeastSquares) else self.steps

    @property
    def coding(self) -> Coding | None:
        """The codes by which rows are counted, if any; a table may store the codes instead of rows."""
        if not isinstance(self.start, CarriedSums) or self.start.map is None:
            return None
        from ..features.maps.catalogue import coding_of

        return coding_of(self.start.map)


@dataclass(frozen=True)
class WorstCaseRun:
    """The costliest run that a guarantee covers.

    Attributes:
        steps_with: Exposure to the record (`Mechanism.exposure`).
        steps_without: Exposure after its erasure.
        assuming: Condition under which the guarantee holds.
    """

    steps_with: float = math.inf
    steps_without: float = 0
    assuming: str = NON_ADAPTIVE


@dataclass(frozen=True)
class PlannedGuarantees:
    """The runs that a plan's guarantees cover.

    Attributes:
        dp: Costliest run about a record still present.
        deletion: Costliest run about an erased record.
        relearns: Whether a fresh learn runs automatically when it is due.
        edits: Kinds of edits that the bounds cover.
        unbounded: Whether the bounds also hold for the linear loss, the worst case that audits run.
        counted_on: Samples at whose best listed order publications are counted, if no other measure applies.
    """

    dp: WorstCaseRun = WorstCaseRun()
    deletion: WorstCaseRun = WorstCaseRun()
    relearns: bool = False
    edits: tuple[str, ...] = ("deleted", "replaced", "inserted")
    unbounded: bool = True
    counted_on: Sampling | None = None


SOLVERS = ("warm", "cold", "fixed")


def solver_passes(problem: Problem, solver: str, tolerance: float, pull: float = 0.0) -> int:
    """Return the gradient passes of one solve: the proven number for solver="fixed", else the forecast.

    The proven number is that of the accelerated method from distance (L + `pull`)/m, plus one pass.

    Args:
        problem: The planning problem.
        solver: One of `SOLVERS`.
        tolerance: γ.
        pull: ‖b‖/n of a linear term.
    """
    if solver == "fixed":
        steps = proven_steps(
            distance=(problem.loss.constants.lipschitz + pull) / problem.strong_convexity,
            tolerance=tolerance,
            strong_convexity=problem.strong_convexity,
            objective_smoothness=problem.objective_smoothness,
        )
        return steps + 1
    return forecast_passes(problem)


def forecast_passes(problem: Problem) -> int:
    """Return the forecast of the solver's gradient passes by an empirical rule in κ = M/m.

    It is 1 + ⌈2κ^0.25⌉ for one output if the Hessian of the solver's sample is formed by features, else ⌈4κ^0.27⌉; the
    work on the sample is included. `benchmarks/solver.py` prints it next to measured values.
    """
    kappa = problem.objective_smoothness / problem.strong_convexity
    outputs = problem.loss.outputs
    _, narrow = sample_rows(records=problem.records, features=problem.features, outputs=outputs, condition_number=kappa)
    if narrow and outputs == 1:
        return 1 + math.ceil(2 * math.pow(kappa, 0.25))
    return math.ceil(4 * math.pow(kappa, 0.27))


def quick_passes(problem: Problem) -> int:
    """Return 4 `forecast_passes`, after which a run of publicly fixed duration switches to the proven solver.

    Hardly any table needs more.
    """
    return 4 * forecast_passes(problem)
