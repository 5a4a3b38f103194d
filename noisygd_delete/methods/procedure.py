"""What is run, as data: [linear term] -> start -> K noisy steps -> [output noise] -> grid. One executor runs any procedure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..bounds.solver_steps import proven_steps, sample_rows
from ..errors import InvalidParameter
from ..privacy.guarantee import NON_ADAPTIVE
from .problem import Problem


@dataclass(frozen=True)
class Prior:
    """A draw from N(0, variance · I): where a learner begins."""

    variance: float


@dataclass(frozen=True)
class Published:
    """The model published before."""


@dataclass(frozen=True)
class Solved:
    """The minimiser of the current records, with gradient norm certainly at most `tolerance` (γ, of the mean loss).

    solver  "warm" starts a request from the published model, "cold" from 0; "fixed" from 0 in a number of passes that no
            record can change
    chain   so many in a row, each with noise of its own, the regulariser of each after the first centred at the one before
    """

    tolerance: float
    solver: str
    chain: int = 1


@dataclass(frozen=True)
class Fitted:
    """What least squares makes of the moments of the current records, published with noise: one pass, and no steps after it.

    deviation  of the noise of each sum, where a record of the largest norm counts 1
    ridge      added to the second moments, in the same unit
    """

    deviation: float
    ridge: float


@dataclass(frozen=True)
class Carried:
    """What least squares makes of sums whose noise is carried on from the release before: one pass over the table as that one left it.

    draws         (c, σ²) of each draw of a chain, in steps² of the grid; variance: V of each
    bits          of the grid; label_bits: of a target's
    norm_squared  R² in steps²; label_weight: β in steps
    ridge         added to the matrix of rows of norm 1 at most, and so much of its noise besides
    map           the additive map by whose codes rows are counted, as JSON; None: any rows, whose products are added
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


@dataclass(frozen=True)
class Sampling:
    """Steps on Poisson samples of the slots: `draws` of them, each slot in each with probability `rate`."""

    rate: float
    draws: int


@dataclass(frozen=True)
class Exactness:
    """Steps on a grid: θ within norm `radius`, each step's noise an exact discrete Gaussian of parameter τ on a grid of step τ/2^`grid_bits`."""

    radius: float
    grid_bits: int


@dataclass(frozen=True)
class Passed:
    """Where gradient steps from 0 end, on `blocks` equal blocks of the slots in turn, forwards and backwards: one pass over them for each
    of `step_sizes` (η). Nothing of it depends on a record but where it ends."""

    blocks: int
    step_sizes: tuple[float, ...]


Start = Prior | Published | Solved | Fitted | Passed | Carried


@dataclass(frozen=True)
class Procedure:
    """One run. Absent parts are 0.

    linear_term     s: standard deviation per coordinate of b, added to the gradient *sum* (objective perturbation)
    shape           v of every column, so that b has variance s²v there; None: 1 everywhere
    start           where the steps begin
    steps           K noisy steps of size η (`step_size`), each adding N(0, 2ησ² I), σ² = `noise_variance`
    sampling        instead of K steps on all rows, more of them on samples that come to K passes; None: no samples
    output_noise    τ: standard deviation of the noise on the published weights
    exactness       of the steps; None: in floating point
    solver_passes   gradient passes of the solver: a forecast from public numbers, exact where its number is fixed
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
        if self.linear_term and not isinstance(self.start, Solved):
            raise InvalidParameter(
                "is part of what a solver minimises: it needs a start at the minimiser", linear_term=self.linear_term
            )

    @property
    def counted(self) -> int:
        """As how many steps a run counts: least squares on moments, in one pass, as one."""
        return 1 if isinstance(self.start, Fitted) else self.steps


@dataclass(frozen=True)
class Costliest:
    """The costliest run that a figure covers: exposure to the record (`Mechanism.exposure`), exposure after its erasure, and what must then hold."""

    steps_with: float = math.inf
    steps_without: float = 0
    assuming: str = NON_ADAPTIVE


@dataclass(frozen=True)
class Promise:
    """What the figures of a plan speak of, and the steps of a request that they ask for.

    dp, deletion     the costliest run about a record still there, and about one that was erased
    deletion_steps   K_Ā that the deletion guarantee needs
    utility_steps    K_Ā that keeps the accuracy over any number of requests (0: not asked for)
    horizon          steps since the last fresh learn that composition affords (None: no limit)
    relearns         whether a fresh learn is run where it is due, not asked for
    fresh_every      one publication in so many starts afresh; None: the learn alone
    counted_on       the samples at whose best listed order publications are counted, where no other measure is within reach
    """

    dp: Costliest = Costliest()
    deletion: Costliest = Costliest()
    deletion_steps: int = 0
    utility_steps: int = 0
    horizon: int | None = None
    relearns: bool = False
    fresh_every: int | None = None
    counted_on: Sampling | None = None


SOLVERS = ("warm", "cold", "fixed")


def solver_passes(problem: Problem, solver: str, tolerance: float) -> int:
    """Gradient passes of one solve: the proven number for solver="fixed", else the forecast."""
    if solver == "fixed":
        steps = proven_steps(
            distance=problem.loss.constants.lipschitz / problem.strong_convexity,
            tolerance=tolerance,
            strong_convexity=problem.strong_convexity,
            objective_smoothness=problem.objective_smoothness,
        )
        return steps + 1
    return forecast_passes(problem)


def forecast_passes(problem: Problem) -> int:
    """An empirical rule over κ, the sample's work included; benchmarks/solver.py prints it beside what was measured."""
    kappa = problem.objective_smoothness / problem.strong_convexity
    outputs = problem.loss.outputs
    _, narrow = sample_rows(records=problem.records, features=problem.features, outputs=outputs, condition_number=kappa)
    if narrow and outputs == 1:
        return 1 + math.ceil(2 * math.pow(kappa, 0.25))
    return math.ceil(4 * math.pow(kappa, 0.27))


def quick_passes(problem: Problem) -> int:
    """After so many a run that is to last a public time leaves the quick ways for the proven one: hardly a table takes more."""
    return 4 * forecast_passes(problem)
