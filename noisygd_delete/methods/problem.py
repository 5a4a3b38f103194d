"""What is asked of the planner: sizes, loss, budget and choices, validated and public."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from .. import losses
from ..bounds import conversion
from ..bounds.arithmetic import sensitivity_slack
from ..bounds.gibbs import Gibbs
from ..errors import InvalidParameter, real
from ..losses.base import Loss
from ..privacy.budget import Budget
from .base import Mechanism

SOLVERS = ("warm", "cold", "fixed")


@dataclass(frozen=True)
class Problem:
    """What the caller asked for, validated: the arguments of `make_plan`."""

    loss: Loss
    records: int
    features: int
    regularization: float
    budget: Budget
    certificate: str
    adjacency: str = "replace"
    deletion_notion: str = "definition-4.1"
    releases: int = 1
    batch: int = 1
    rows_per_subject: int = 1
    step_size: float | None = None
    noise_variance: float | str | None = None
    utility: bool = True
    utility_tolerance: float = 0.01
    dtype: str = "float32"
    start: str = "published"
    solver: str = "warm"
    diffusion_steps: int | None = None
    gradient_tolerance: float | None = None
    learn_steps: int | None = None
    delete_steps: int | None = None
    requests_per_learn: int = 20
    fresh_learn: str = "demand"
    excess_risk: float | None = None
    slack_in_budget: bool = True  # False: a plan from before it was, whose bounds meet the budget over the reals only

    @property
    def dimension(self) -> int:
        """d of the theorems."""
        return self.loss.dimension(self.features)

    @property
    def strong_convexity(self) -> float:
        """m = λ − β₋."""
        return self.regularization - self.loss.constants.weak_convexity

    @property
    def near_gibbs(self) -> bool:
        """Whether Theorem 5.2 answers, as printed or sharper: a loss too far from convex for its regulariser."""
        weakly = self.certificate == "sharp" and self.strong_convexity > 0
        return self.certificate != "composition" and not (self.loss.constants.convex or weakly)

    @property
    def objective_smoothness(self) -> float:
        """M = λ + β₊."""
        return self.regularization + self.loss.constants.smoothness

    @property
    def slack(self) -> float:
        """Relative rounding slack of the sensitivity."""
        return sensitivity_slack(records=self.records, dtype=self.dtype)

    @property
    def _growth(self) -> float:
        """What the slack multiplies a μ by; its square, a Rényi bound."""
        return 1 + self.slack if self.slack_in_budget else 1.0

    def dp_gdp(self) -> float:
        """The largest μ over the reals that is within the dp budget with the slack included."""
        return self.budget.dp_gdp() / self._growth

    def deletion_gdp(self) -> float:
        """The same within the deletion budget."""
        return self.budget.deletion_gdp() / self._growth

    def dp_rate(self) -> tuple[float, float]:
        """(rate, order): the largest rate over the reals within the dp budget, slack included, and the order that shows it."""
        rate, order = self.budget.dp_rate()
        return rate / self._growth**2, order

    def deletion_rate(self) -> tuple[float, float]:
        """The same within the deletion budget."""
        rate, order = self.budget.deletion_rate()
        return rate / self._growth**2, order

    def deletion_renyi(self, order: float) -> float:
        """The largest Rényi bound over the reals at one order within the deletion budget, slack included; below 0: none."""
        allowed = self.budget.deletion
        if self.budget.measure == "epsilon-delta":
            assert self.budget.deletion_delta is not None
            allowed -= conversion.renyi_epsilon(order=order, renyi=1.0, delta=self.budget.deletion_delta) - 1.0
        return allowed / self._growth**2

    def mechanism(
        self,
        *,
        step_size: float,
        noise_variance: float,
        gradient_tolerance: float = 0.0,
        order: float | None = None,
    ) -> Mechanism:
        """The run these facts describe, ready to be accounted. `order` is Theorem 5.2's."""
        return Mechanism(
            certificate=self.certificate,
            records=self.records,
            step_size=step_size,
            noise_variance=noise_variance,
            # Theorem 5.2 and composition do not use m, which may be negative there
            strong_convexity=self.strong_convexity if self.strong_convexity > 0 else self.regularization,
            gibbs=None if order is None else self._gibbs(order),
            lipschitz=self.loss.constants.lipschitz,
            rows_per_subject=self.rows_per_subject,
            proven=self.loss.constants.proven,
            slack=self.slack,
            start=self.start,
            gradient_tolerance=gradient_tolerance,
            warm=self.start == "minimiser" and self.solver == "warm",
            objective_smoothness=self.objective_smoothness,
        )

    def _gibbs(self, order: float) -> Gibbs:
        constants = self.loss.constants
        return Gibbs(
            order=order,
            range=constants.range,
            smoothness=constants.curvature,
            regularization=self.regularization,
            dimension=self.dimension,
            form="sharper" if self.certificate == "sharp" else "printed",
        )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "loss": self.loss.to_dict(), "budget": self.budget.to_dict()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Problem:
        try:
            known = {"loss": losses.from_dict(fields["loss"]), "budget": Budget(**fields["budget"])}
            return cls(**typed(cls, {"slack_in_budget": False, **fields, **known}))
        except (TypeError, KeyError) as error:
            raise InvalidParameter(f"not the arguments of a plan: {error}") from error


def typed(kind: type, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields, each of the type that its class declares and finite: a file may say anything."""
    for name, declared in _declared(kind).items():
        allowed = get_args(declared) or (declared,)
        value = fields.get(name)
        if name in fields and not isinstance(value, (*allowed, int) if float in allowed else allowed):
            raise InvalidParameter(
                f"{name} must be {getattr(declared, '__name__', declared)}, not {type(value).__name__}"
            )
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            real(name, value)
    return fields


@cache
def _declared(kind: type) -> dict[str, Any]:
    """The types of a class's fields; looking them up takes far longer than checking them."""
    return get_type_hints(kind)
