"""Composition: no convexity, no smoothness; every noisy step is charged, and only a fresh learn forgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..bounds import theorem_5_1, theorem_5_2
from ..errors import InvalidParameter, check_choice, check_count, check_positive
from ..privacy.guarantee import NON_ADAPTIVE, Worlds
from .base import Cost, NoisySteps
from .plan import Calibration, Method, Plan
from .problem import PlannedGuarantees, Problem, WorstCaseRun

FRESH_LEARN = ("demand", "automatic")

_LEARNING_TIME = 3.0  # ηK_A in units of 1/λ: the time in which the regulariser reduces the start to e^{−3}
_REQUEST_SHARE = 20  # a request takes a twentieth of the learn's steps, to follow the moved minimiser
_CONDITION = f"{NON_ADAPTIVE} than those since the last fresh learn"  # all steps of those are counted


@dataclass(frozen=True, kw_only=True)
class CompositionRun(NoisySteps):
    """Each noisy step is a Gaussian mechanism. Steps without the record neither add nor remove cost."""

    method: ClassVar[str] = "composition"
    source: ClassVar[str] = (
        "composition of noisy steps, each a Gaussian mechanism (in Rényi form: Chourasia & Shah 2023, G.7)"
    )
    notes: ClassVar[tuple[str, ...]] = (
        "Under composition no number of clean steps forgets; only a fresh learn does, and it adds to what the others spend.",
    )

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        rate = theorem_5_1.composition_rate(**self._chain(), sensitivity=self.sensitivity(worlds), steps=steps_with)
        return {"gdp_squared": 2 * rate}  # ε_q = q μ²/2


@dataclass(frozen=True)
class Composition(Method):
    """σ² such that all noisy steps that a record can take part in cost at most both budgets together.

    A record present for T steps since the last fresh learn costs μ² = Δ²ηT/(2σ²n²). dp: any one release, including the
    last before a fresh learn, whether the earlier ones were observed or not; or `releases` of them, fresh learns among
    them. Deletion: K_A and `requests_per_learn` − 1 requests before the erasure, at the deletion notion's Δ.

    Attributes:
        learn_steps: K_A.
        delete_steps: K_Ā.
        requests_per_learn: Requests served before a fresh learn is due.
        fresh_learn: Whether it then runs automatically ("automatic") or on demand ("demand").
        step_size: η.
        noise_variance: σ².
    """

    name: ClassVar[str] = "composition"
    summary: ClassVar[str] = "non-convex losses: every noisy step costs, a fresh learn forgets"
    weighed: ClassVar[str] = "never"

    learn_steps: int | None = None
    delete_steps: int | None = None
    requests_per_learn: int = 20
    fresh_learn: str = "demand"
    step_size: float | None = None
    noise_variance: float | None = None

    def __post_init__(self) -> None:
        for name in ("learn_steps", "delete_steps"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_count("requests_per_learn", self.requests_per_learn)
        check_choice("fresh_learn", self.fresh_learn, FRESH_LEARN)
        for name in ("step_size", "noise_variance"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))

    def plan(self, problem: Problem) -> Plan:
        if problem.loss.constants.convex:
            raise InvalidParameter(
                "is not available for convex losses; use 'theorem', 'sharp' or 'minimiser'", method="composition"
            )
        if not math.isfinite(problem.loss.constants.lipschitz):
            raise InvalidParameter(f"the {problem.loss.name} loss has no Lipschitz constant; clip its gradients to L")
        eta = 1 / problem.objective_smoothness if self.step_size is None else self.step_size
        learn = self.learn_steps or max(1, math.ceil(_LEARNING_TIME / (eta * problem.regularization)))
        delete = self.delete_steps or max(1, learn // _REQUEST_SHARE)
        learns = -(-problem.releases // (self.requests_per_learn + 1))
        published = learns * max(learn, delete) + (problem.releases - learns) * delete
        if problem.releases == 1:
            published = learn + self.requests_per_learn * delete
        wanted = learn + (self.requests_per_learn - 1) * delete
        facts: dict[str, Any] = {"records": problem.records, "step_size": eta}

        def least(gdp: float, worlds: Worlds, steps: int) -> float:
            sensitivity = problem.sensitivity(worlds)
            rate = theorem_5_1.composition_rate(sensitivity=sensitivity, noise_variance=1.0, steps=steps, **facts)
            return 2 * rate / gdp**2

        calibrated = max(
            least(problem.dp_gdp(), problem.adjacency, published),
            least(problem.deletion_gdp(), problem.deletion_notion, wanted),
        ) * (1 + 1e-12)
        noise_variance = calibrated if self.noise_variance is None else self.noise_variance
        if not noise_variance >= calibrated * (1 - 1e-11):
            raise InvalidParameter(
                f"is below {calibrated:g}, the least that meets both budgets over {self.requests_per_learn} requests; "
                "leave it out, raise it, or ask for fewer requests_per_learn",
                noise_variance=noise_variance,
            )

        def horizon(gdp: float, worlds: Worlds) -> int:
            return theorem_5_2.composition_horizon(
                rate=gdp**2 / 2, sensitivity=problem.sensitivity(worlds), noise_variance=noise_variance, **facts
            )

        spent = horizon(problem.deletion_gdp(), problem.deletion_notion)
        if problem.releases == 1:  # otherwise the accountant sums the cost of the publications
            spent = min(spent, horizon(problem.dp_gdp(), problem.adjacency) - delete)
        # any initial law independent of the data is valid; a network defines its own
        stationary = theorem_5_1.init_variance(
            noise_variance=noise_variance, regularization=problem.regularization, step_size=eta
        )
        numbers = Calibration(
            step_size=eta,
            noise_variance=noise_variance,
            init_variance=getattr(problem.loss, "init_variance", stationary),
            learn_steps=learn,
            delete_steps_for_deletion=delete,
            horizon=spent,
        )
        return self.assemble(problem, numbers)

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan; its guarantees count every step since the last fresh learn, up to the horizon.

        They hold for any release, whatever was observed before.
        """
        horizon = (
            math.inf if numbers.horizon is None else numbers.horizon
        )  # None for a stage of a ladder, which has no horizon
        longest = horizon + numbers.delete_steps
        if problem.releases > 1:
            requested = (problem.releases - 1) * numbers.delete_steps
            longest = min(longest, max(numbers.learn_steps, numbers.delete_steps) + requested)
        promise = PlannedGuarantees(
            dp=WorstCaseRun(longest, assuming=_CONDITION),
            deletion=WorstCaseRun(horizon, assuming=_CONDITION),
            relearns=self.fresh_learn == "automatic",
        )
        run = CompositionRun(**problem.run(step_size=numbers.step_size, noise_variance=numbers.noise_variance))
        return Plan.of(problem, run, numbers, promise=promise)

    def words(self, plan: Plan) -> tuple[str, ...]:
        assert plan.horizon is not None
        served = (plan.horizon - plan.learn_steps) // plan.delete_steps + 1
        then = "run in the request's place." if plan.promise.relearns else "demanded (relearn)."
        return (
            "Composition: no closeness to any law is used, so it needs neither convexity nor smoothness, and it holds under "
            "adaptive requests; but steps without a record do not fade its trace.",
            f"Noise σ²={plan.noise_variance:.6g} at step size η={plan.step_size:.6g}. Learning: K_A={plan.learn_steps} steps "
            f"({plan.gradient_evaluations['learn']} record gradients); deleting: K_Ā={plan.delete_steps} per request. After "
            f"{plan.horizon} steps since the last fresh learn the deletion budget is spent, about {served} requests; a fresh learn is "
            f"then {then}",
        )
