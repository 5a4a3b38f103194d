"""What is asked of a method: sizes, loss and budget, validated and public."""

from __future__ import annotations

import math
import re
from abc import ABC
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

from ..bounds import renyi
from ..bounds.arithmetic import DTYPES as DTYPES  # noqa: PLC0414 - for the command line
from ..bounds.arithmetic import sensitivity_slack
from ..bounds.objective_perturbation import column_variances
from ..bounds.solver_steps import proven_steps, sample_rows
from ..errors import InvalidParameter, check_choice, check_count, check_probability, check_scale
from ..losses.base import Loss
from ..privacy.budget import Budget, Total
from ..privacy.guarantee import ADJACENCIES, DELETION_NOTIONS, NON_ADAPTIVE, Worlds


@dataclass(frozen=True)
class MethodRef(ABC):
    """What a problem says of its `plan.Method`, which makes a plan of it."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class Problem:
    """What the caller asked for: the arguments of `make_plan`.

    Raises:
        InvalidParameter: a value is outside its range.
    """

    loss: Loss
    records: int
    features: int
    regularization: float
    budget: Budget
    method: MethodRef
    adjacency: Worlds = Worlds.REPLACE
    deletion_notion: Worlds = Worlds.DEFINITION_4_1
    releases: int = 1
    batch: int = 1
    rows_per_subject: int = 1
    utility: bool = True
    utility_tolerance: float = 0.01
    dtype: str = "float32"
    slack_in_budget: bool = (
        True  # False: the bounds meet the budget over the reals, and exceed it by the rounding slack
    )
    asked_regularization: float | None = (
        None  # the λ asked for, where the forecast of the noise raised it to `regularization`
    )
    one_hot_blocks: tuple[int, ...] | None = None  # of a schema: how its columns lie, for noise of a public shape
    model_norm: float | None = None  # B: the public guess of the model's norm that it was raised for
    feature_map: str | None = None  # SHA-256 of the public map that made the rows (`maps`), where one did
    total: Total | None = None  # of all publications together; None: no cap but what `releases` sets

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise InvalidParameter(
                "must be a loss of noisygd_delete.losses, for example losses.Logistic(radius=1.0)", loss=self.loss
            )
        if not isinstance(self.budget, Budget):
            raise InvalidParameter(
                "must be a Budget, for example Budget(order=10, dp=1.0, deletion=0.1)", budget=self.budget
            )
        object.__setattr__(self, "total", Total.of(self.total))
        checked: dict[str, Any] = {
            "regularization": check_scale("regularization", self.regularization),
            "adjacency": Worlds(check_choice("adjacency", self.adjacency, ADJACENCIES)),
            "deletion_notion": Worlds(check_choice("deletion_notion", self.deletion_notion, DELETION_NOTIONS)),
            "utility": bool(self.utility),
            "slack_in_budget": bool(self.slack_in_budget),
            "utility_tolerance": check_probability("utility_tolerance", self.utility_tolerance),
            "dtype": check_choice("dtype", self.dtype, DTYPES),
        }
        for name in ("records", "features", "releases", "batch", "rows_per_subject"):
            checked[name] = check_count(name, getattr(self, name), maximum=2**53)
        for name in ("asked_regularization", "model_norm"):
            if getattr(self, name) is not None:
                checked[name] = check_scale(name, getattr(self, name))
        for name, value in checked.items():
            object.__setattr__(self, name, value)

        if self.asked_regularization is not None and not (
            self.model_norm is not None and self.asked_regularization <= self.regularization
        ):
            raise InvalidParameter(
                f"must be at most regularization={self.regularization:g}, with the model_norm that it was raised for",
                asked_regularization=self.asked_regularization,
            )

        if self.feature_map is not None and not re.fullmatch("[0-9a-f]{64}", self.feature_map):
            raise InvalidParameter(
                "feature_map must be the digest of a public map: 64 hexadecimal digits in lower case"
            )

        if self.one_hot_blocks is not None:
            sizes = tuple(self.one_hot_blocks)
            if not all(isinstance(k, int) and k >= 0 for k in sizes) or sum(k or 1 for k in sizes) != self.features:
                raise InvalidParameter(
                    "must be whole numbers, k for k columns of which one is always hot and 0 for any other column, "
                    f"{self.features} columns in all",
                    one_hot_blocks=sizes,
                )
            object.__setattr__(self, "one_hot_blocks", sizes)

    @property
    def noise_shape(self) -> tuple[float, ...] | None:
        """v of every column, the diagonal of Σ: the noise that costs least among those that make no allowed row count for more.

        None where nothing is known of the columns, or where they give no other than Σ = I.
        """
        if self.one_hot_blocks is None:
            return None
        variances = column_variances(blocks=self.one_hot_blocks)
        return variances if any(v != 1 for v in variances) else None

    @property
    def noise_trace(self) -> float:
        """tr Σ over all weights; d where the noise is round."""
        return self.dimension if self.noise_shape is None else self.loss.outputs * math.fsum(self.noise_shape)

    @property
    def ridge_cost(self) -> float:
        """What the raised λ costs at most in the objective asked for, by the guess B of the norm; 0 where it was not raised."""
        if self.asked_regularization is None or self.model_norm is None:
            return 0.0
        from ..bounds.objective_perturbation import ridge_cost  # where λ was raised alone

        return ridge_cost(asked=self.asked_regularization, used=self.regularization, model_norm=self.model_norm)

    @property
    def dimension(self) -> int:
        """d of the theorems."""
        return self.loss.dimension(self.features)

    @property
    def strong_convexity(self) -> float:
        """m = λ − β₋."""
        return self.regularization - self.loss.constants.weak_convexity

    @property
    def objective_smoothness(self) -> float:
        """M = λ + β₊."""
        return self.regularization + self.loss.constants.smoothness

    @property
    def slack(self) -> float:
        """Relative rounding slack of the sensitivity."""
        return sensitivity_slack(records=self.records, dtype=self.dtype)

    @property
    def growth(self) -> float:
        """What the slack multiplies a μ by; its square, a Rényi bound."""
        return 1 + self.slack if self.slack_in_budget else 1.0

    def dp_gdp(self) -> float:
        """The largest μ over the reals that is within the dp budget with the slack included."""
        return self.budget.dp_gdp() / self.growth

    def deletion_gdp(self) -> float:
        """The same within the deletion budget."""
        return self.budget.deletion_gdp() / self.growth

    def dp_rate(self) -> tuple[float, float]:
        """(rate, order): the largest rate over the reals within the dp budget, slack included, and the order that shows it."""
        rate, order = self.budget.dp_rate()
        return rate / self.growth**2, order

    def deletion_rate(self) -> tuple[float, float]:
        """The same within the deletion budget."""
        rate, order = self.budget.deletion_rate()
        return rate / self.growth**2, order

    def deletion_renyi(self, order: float) -> float:
        """The largest Rényi bound over the reals at one order within the deletion budget, slack included; below 0: none."""
        allowed = self.budget.deletion
        if self.budget.measure == "epsilon-delta":
            assert self.budget.deletion_delta is not None
            allowed -= renyi.renyi_epsilon(order=order, renyi=1.0, delta=self.budget.deletion_delta) - 1.0
        return allowed / self.growth**2

    def sensitivity(self, worlds: Worlds) -> float:
        """Δ of the gradient sum, over the reals."""
        return worlds.sensitivity(self.loss.constants.lipschitz, self.rows_per_subject)

    def run(self, *, step_size: float, noise_variance: float) -> dict[str, Any]:
        """The facts of Noisy-GD on this problem, for a `NoisySteps`."""
        return {
            "records": self.records,
            "row_norm": self.loss.radius,
            "step_size": step_size,
            "noise_variance": noise_variance,
            # Theorem 5.2 and composition do not use m, which may be negative there
            "strong_convexity": self.strong_convexity if self.strong_convexity > 0 else self.regularization,
            "objective_smoothness": self.objective_smoothness,
            "lipschitz": self.loss.constants.lipschitz,
            "rows_per_subject": self.rows_per_subject,
            "proven": self.loss.constants.proven,
            "slack": self.slack,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, for `reading.problem_from_dict`."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        described = {name: own[name].to_dict() for name in ("loss", "budget", "method")}
        worlds = {name: str(own[name]) for name in ("adjacency", "deletion_notion")}
        total = None if self.total is None else self.total.to_dict()
        return {**own, **described, **worlds, "total": total}


# --- procedure ---
#
# What is run, as data: [linear term] -> start -> K noisy steps -> [output noise] -> grid. One executor runs any procedure.


@dataclass(frozen=True)
class InitialLaw:
    """A draw from N(0, variance · I): where a learner begins."""

    variance: float


@dataclass(frozen=True)
class Published:
    """The model published before."""


@dataclass(frozen=True)
class Minimizer:
    """The minimiser of the current records, with gradient norm certainly at most `tolerance` (γ, of the mean loss).

    solver  "warm" starts a request from the published model, "cold" from 0; "fixed" from 0 in a number of passes that no
            record can change
    chain   so many in a row, each with noise of its own, the regulariser of each after the first centred at the one before
    """

    tolerance: float
    solver: str
    chain: int = 1


@dataclass(frozen=True)
class NoisyLeastSquares:
    """What least squares makes of the moments of the current records, published with noise: one pass, and no steps after it.

    deviation  of the noise of each sum, where a record of the largest norm counts 1
    ridge      added to the second moments, in the same unit
    """

    deviation: float
    ridge: float


@dataclass(frozen=True)
class CarriedSums:
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


Start = InitialLaw | Published | Minimizer | NoisyLeastSquares | CarriedSums


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
        if self.linear_term and not isinstance(self.start, Minimizer):
            raise InvalidParameter(
                "is part of what a solver minimises: it needs a start at the minimiser", linear_term=self.linear_term
            )

    @property
    def counted(self) -> int:
        """As how many steps a run counts: least squares on moments, in one pass, as one."""
        return 1 if isinstance(self.start, NoisyLeastSquares) else self.steps


@dataclass(frozen=True)
class WorstCaseRun:
    """The costliest run that a figure covers: exposure to the record (`Mechanism.exposure`), exposure after its erasure, and what must then hold."""

    steps_with: float = math.inf
    steps_without: float = 0
    assuming: str = NON_ADAPTIVE


@dataclass(frozen=True)
class PlannedGuarantees:
    """What the figures of a plan speak of, and the steps of a request that they ask for.

    dp, deletion     the costliest run about a record still there, and about one that was erased
    deletion_steps   K_Ā that the deletion guarantee needs
    utility_steps    K_Ā that keeps the accuracy over any number of requests (0: not asked for)
    horizon          steps since the last fresh learn that composition affords (None: no limit)
    relearns         whether a fresh learn is run where it is due, not asked for
    edits            kinds of edits that the bounds cover
    unbounded        whether they hold for the linear loss too, the worst case that audits run
    fresh_every      one publication in so many starts afresh; None: the learn alone
    counted_on       the samples at whose best listed order publications are counted, where no other measure is within reach
    """

    dp: WorstCaseRun = WorstCaseRun()
    deletion: WorstCaseRun = WorstCaseRun()
    deletion_steps: int = 0
    utility_steps: int = 0
    horizon: int | None = None
    relearns: bool = False
    edits: tuple[str, ...] = ("deleted", "replaced", "inserted")
    unbounded: bool = True
    fresh_every: int | None = None
    counted_on: Sampling | None = None


SOLVERS = ("warm", "cold", "fixed")


def solver_passes(problem: Problem, solver: str, tolerance: float, pull: float = 0.0) -> int:
    """Gradient passes of one solve: the proven number for solver="fixed", else the forecast; `pull`: ‖b‖/n of a linear term."""
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
