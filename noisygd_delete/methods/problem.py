"""The planning problem: sizes, loss and budget, validated and public."""

from __future__ import annotations

import math
import re
from abc import ABC
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

from ..bounds import renyi
from ..bounds.arithmetic import DTYPES as DTYPES  # noqa: PLC0414 - for the command line
from ..bounds.arithmetic import MOST_SHARES, sensitivity_slack
from ..bounds.objective_perturbation import column_variances
from ..errors import InvalidParameter, check_choice, check_count, check_positive, check_scale
from ..losses.base import Loss
from ..privacy.budget import Budget, Total
from ..privacy.worlds import ADJACENCIES, DELETION_NOTIONS, Worlds
from .base import BY_PERSON, BY_ROW, WEIGHTINGS


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
        slack_in_budget: Whether the bounds meet the budget with the rounding slack included; if not, they exceed it by that.
        requested_regularization: The requested λ, if the noise forecast raised it.
        one_hot_blocks: Column layout of a schema, for noise of a public shape.
        model_norm: B, the public guess of the model's norm for which λ was raised.
        feature_map: SHA-256 of the public map that made the rows.
        total: Cap on all publications together; None: no cap except by `releases`.

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
    slack_in_budget: bool = True
    requested_regularization: float | None = None
    one_hot_blocks: tuple[int, ...] | None = None
    model_norm: float | None = None
    feature_map: str | None = None
    total: Total | None = None
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
