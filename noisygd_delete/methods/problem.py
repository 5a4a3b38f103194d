"""The planning problem (sizes, loss and budget, validated and public) and the procedures that a plan runs."""

from __future__ import annotations

import math
import re
from abc import ABC
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from ..bounds import renyi
from ..bounds.arithmetic import DTYPES as DTYPES  # noqa: PLC0414 - for the command line
from ..bounds.arithmetic import MOST_SHARES, sensitivity_slack
from ..bounds.objective_perturbation import column_variances
from ..bounds.solver_steps import proven_steps, sample_rows
from ..errors import InvalidParameter, check_choice, check_count, check_positive, check_scale
from ..losses.base import Loss
from ..privacy.budget import Budget, Total
from ..privacy.guarantee import ADJACENCIES, DELETION_NOTIONS, NON_ADAPTIVE, Worlds
from .base import BY_PERSON, BY_ROW, WEIGHTINGS

if TYPE_CHECKING:
    from ..features.maps.coding import Coding


@dataclass(frozen=True)
class MethodRef(ABC):
    """The method of a problem by name and options; `plan.Method` makes a plan of it."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one line for tables and help
    analysis: ClassVar[str] = ""  # which proof bounds the runs of noisy gradient descent; "" for another method
    weighs_persons: ClassVar[bool] = False  # whether the bounds cover weighting "by-person", for some losses

    @classmethod
    def variant_name(cls) -> str:
        """Return "NAME:analysis=ANALYSIS", or the name alone for a method without analyses, as `--method` takes it."""
        return f"{cls.name}:analysis={cls.analysis}" if cls.analysis else cls.name

    def covers_weights(self, loss: Loss) -> bool:
        """Return whether the bounds cover weighting "by-person" for this loss; convex losses of linear models at most."""
        return self.weighs_persons and loss.constants.convex and not loss.clips_each

    def describe(self) -> str:
        """Return "method 'VARIANT', " and the summary; "not noisy gradient descent: " between them without an analysis.

        Every method with an analysis counts as noisy gradient descent, whichever analysis it is.
        """
        which = "" if self.analysis else "not noisy gradient descent: "
        return f"method '{self.variant_name()}', {which}{self.summary}"

    def to_dict(self) -> dict[str, Any]:
        """Return "name", "analysis" if the method has one, and every option by its field name, in one flat object."""
        return {"name": self.name, **({"analysis": self.analysis} if self.analysis else {}), **asdict(self)}


@lru_cache(maxsize=4)  # planning tries many regularizers of one table
def _noise_shape(blocks: tuple[int, ...]) -> tuple[float, ...] | None:
    variances = column_variances(blocks=blocks)
    return variances if any(v != 1 for v in variances) else None


@dataclass(frozen=True)
class Problem:
    """The planning problem: the validated arguments of `make_plan`.

    Attributes:
        loss: Loss of one record, with its constants.
        records: n, the public dataset size.
        features: Number of features of a row.
        regularization: λ.
        budget: Budget of a release, or of all `releases` together.
        method: The method, which makes a plan.
        adjacency: Neighbouring relation of the dp guarantee.
        deletion_notion: What the deletion guarantee compares.
        releases: N, the number of observed releases that share the dp budget.
        batch: r, the maximum number of edits of a request.
        rows_per_subject: Rows of one data subject that count as one record.
        weighting: "by-row", or "by-person": a row of a person with k rows weighs 1/k, so that a person has the influence
            of one row.
        rows_a_person: Public guess of the mean number of rows of a person, for forecasts where rows are weighted by person.
        utility: Whether steps must keep the accuracy over any number of requests.
        utility_tolerance: How far the excess risk of a release may exceed that of the stationary law, relative to it.
        dtype: Floating-point type of gradient sums, for the rounding slack.
        slack_in_budget: Whether the bounds meet the budget with the rounding slack included.
        requested_regularization: The requested λ, if the noise forecast raised it.
        one_hot_blocks: Column layout of a schema, for noise of a public shape.
        model_norm: B, the public guess of the model's norm for which λ was raised.
        feature_map: SHA-256 of the public map that made the rows.
        total: Cap on all publications together.

    Raises:
        InvalidParameter: If a value is outside its range.
    """

    loss: Loss
    records: int
    features: int
    regularization: float
    budget: Budget
    method: MethodRef
    adjacency: Worlds = Worlds.REPLACE
    deletion_notion: Worlds = Worlds.ERASED_VS_NEVER
    releases: int = 1
    batch: int = 1
    rows_per_subject: int = 1
    utility: bool = True
    utility_tolerance: float = 1.5
    dtype: str = "float32"
    slack_in_budget: bool = (
        True  # False: the bounds meet the budget over the reals, and exceed it by the rounding slack
    )
    requested_regularization: float | None = (
        None  # the requested λ, if the forecast of the noise raised it to `regularization`
    )
    one_hot_blocks: tuple[int, ...] | None = None  # column layout of a schema, for noise of a public shape
    model_norm: float | None = None  # B: the public guess of the model's norm for which λ was raised
    feature_map: str | None = None  # SHA-256 of the public map that made the rows (`maps`), if any
    total: Total | None = None  # cap on all publications together; None: no cap except by `releases`
    weighting: str = BY_ROW
    rows_a_person: float = 1.0

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
            "utility_tolerance": check_positive("utility_tolerance", self.utility_tolerance),
            "dtype": check_choice("dtype", self.dtype, DTYPES),
            "weighting": check_choice("weighting", self.weighting, WEIGHTINGS),
            "rows_a_person": check_positive("rows_a_person", self.rows_a_person),
        }
        for name in ("records", "features", "releases", "batch", "rows_per_subject"):
            checked[name] = check_count(name, getattr(self, name), maximum=2**53)
        for name in ("requested_regularization", "model_norm"):
            if getattr(self, name) is not None:
                checked[name] = check_scale(name, getattr(self, name))
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.by_person:
            self._check_by_person()

        if self.requested_regularization is not None and not (
            self.model_norm is not None and self.requested_regularization <= self.regularization
        ):
            raise InvalidParameter(
                f"must be at most regularization={self.regularization:g}, with the model_norm that it was raised for",
                requested_regularization=self.requested_regularization,
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

    def _check_by_person(self) -> None:
        if not self.method.covers_weights(self.loss):
            raise InvalidParameter(
                f"is for convex losses and methods whose bounds cover it, not {self.loss.name} by {self.method.variant_name()!r}; "
                "take 'by-row'",
                weighting=self.weighting,
            )
        if self.rows_per_subject > MOST_SHARES:
            raise InvalidParameter(
                f"must be at most {MOST_SHARES} where rows are weighted by person",
                rows_per_subject=self.rows_per_subject,
            )

    @property
    def by_person(self) -> bool:
        """Whether each row of a person with k rows weighs 1/k."""
        return self.weighting == BY_PERSON

    @property
    def charged_rows(self) -> int:
        """How many times the influence of one row a person may have: all rows, or once if they share a weight."""
        return 1 if self.by_person else self.rows_per_subject

    @property
    def is_capped(self) -> bool:
        """Whether the sum of all publications is capped."""
        return self.releases > 1 or self.total is not None

    @property
    def noise_shape(self) -> tuple[float, ...] | None:
        """Variance v of every column, the diagonal of Σ: the cheapest shape that gives no allowed row more weight.

        None if nothing is known of the columns, or if they give Σ = I.
        """
        return None if self.one_hot_blocks is None else _noise_shape(self.one_hot_blocks)

    @property
    def noise_trace(self) -> float:
        """Trace tr Σ over all weights; d for isotropic noise."""
        return self.dimension if self.noise_shape is None else self.loss.outputs * math.fsum(self.noise_shape)

    @property
    def ridge_cost(self) -> float:
        """Upper bound on the cost of the raised λ in the objective with the requested λ, for norm guess B.

        0 if λ was not raised.
        """
        if self.requested_regularization is None or self.model_norm is None:
            return 0.0
        from ..bounds.objective_perturbation import ridge_cost  # needed only if λ was raised

        return ridge_cost(requested=self.requested_regularization, used=self.regularization, model_norm=self.model_norm)

    @property
    def dimension(self) -> int:
        """Number of weights, d of the theorems."""
        return self.loss.dimension(self.features)

    @property
    def strong_convexity(self) -> float:
        """Strong convexity m = λ − β₋ of the objective."""
        return self.regularization - self.loss.constants.weak_convexity

    @property
    def objective_smoothness(self) -> float:
        """M = λ + β₊."""
        return self.regularization + self.loss.constants.smoothness

    @property
    def hessian_trace(self) -> float:
        """Upper bound T on the trace of the objective's Hessian."""
        return self.loss.curvature_trace + self.dimension * self.regularization

    @property
    def slack(self) -> float:
        """Relative rounding slack of the sensitivity; rows that share one row's weight round each in its own block."""
        times = self.rows_per_subject if self.by_person else 1
        return times * sensitivity_slack(records=self.records, dtype=self.dtype)

    @property
    def growth(self) -> float:
        """Factor by which the slack multiplies a μ; a Rényi bound is multiplied by its square."""
        return 1 + self.slack if self.slack_in_budget else 1.0

    def dp_gdp(self) -> float:
        """Return the largest μ over the reals within the dp budget once multiplied by `growth` (slack)."""
        return self.budget.dp_gdp() / self.growth

    def deletion_gdp(self) -> float:
        """Return the largest μ over the reals within the deletion budget once multiplied by `growth` (slack)."""
        return self.budget.deletion_gdp() / self.growth

    def dp_rate(self) -> tuple[float, float]:
        """Return (rate, order): the largest rate over the reals within the dp budget, and an order that proves it.

        A rate bounds ε_q by q · rate at every order q. The slack multiplies it by `growth`² before it is compared.

        Raises:
            InvalidParameter: If the budget is in Gaussian DP.
        """
        rate, order = self.budget.dp_rate()
        return rate / self.growth**2, order

    def deletion_rate(self) -> tuple[float, float]:
        """Return (rate, order) for the deletion budget; see `dp_rate`."""
        rate, order = self.budget.deletion_rate()
        return rate / self.growth**2, order

    def deletion_renyi(self, order: float) -> float:
        """Return the largest ε_q over the reals at q = `order` within the deletion budget, slack included.

        The budget's own ε is used as it is for a budget (q, ε); an (ε, δ) one is converted at this order. A negative
        value means that no bound at this order meets the budget.
        """
        allowed = self.budget.deletion
        if self.budget.measure == "epsilon-delta":
            assert self.budget.deletion_delta is not None
            allowed -= renyi.renyi_epsilon(order=order, renyi=1.0, delta=self.budget.deletion_delta) - 1.0
        return allowed / self.growth**2

    def sensitivity(self, worlds: Worlds) -> float:
        """Return Δ of the gradient sum over the reals, without slack.

        It is 2L between two records and L against the null record, times `charged_rows`.
        """
        return worlds.sensitivity(self.loss.constants.lipschitz, self.charged_rows)

    def run(self, *, step_size: float, noise_variance: float) -> dict[str, Any]:
        """Return the facts of Noisy-GD on this problem, the keyword arguments of a `NoisySteps`.

        `strong_convexity` is m = λ − β₋ if positive, else λ, for methods that do not use it.
        """
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
            **({"weighting": self.weighting} if self.by_person else {}),
            "proven": self.loss.constants.proven,
            "slack": self.slack,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return every field as JSON for `serialization.problem_from_dict`; loss, budget, method, total nested.

        `weighting` and `rows_a_person` are omitted if they are "by-row" and 1.
        """
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        own = {
            name: value
            for name, value in own.items()
            if (name, value) not in (("weighting", BY_ROW), ("rows_a_person", 1.0))
        }
        described = {name: own[name].to_dict() for name in ("loss", "budget", "method")}
        worlds = {name: str(own[name]) for name in ("adjacency", "deletion_notion")}
        total = None if self.total is None else self.total.to_dict()
        return {**own, **described, **worlds, "total": total}


# --- procedure ---
#
# A run as data: [linear term] -> start -> K noisy steps -> [output noise] -> grid. One executor runs any procedure.


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
