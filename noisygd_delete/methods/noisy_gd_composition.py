"""Composition: no convexity, no smoothness, every noisy step is charged, and nothing is forgotten before a fresh learn.

With `batches` the steps are those of DP-SGD: each on a Poisson sample of the rows, charged by its Rényi curve.
Zero-out equals add/remove there because slots are masked and n is public in rate and divisor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..bounds import theorem_5_1, theorem_5_2
from ..errors import AssumptionViolated, InvalidParameter, check_choice, check_count, check_positive
from ..privacy.worlds import NON_ADAPTIVE, Worlds
from .base import Condition, Cost, NoisySteps
from .budget_split import Amounts
from .plan import Calibration, Method, Plan
from .problem import Problem
from .procedure import PlannedGuarantees, Sampling, WorstCaseRun
from .sampled_steps import ORDERS, least_multiplier, sampled_renyi

FRESH_LEARN = ("demand", "automatic")

_LEARNING_TIME = 3.0  # ηK_A in units of 1/λ: the time in which the regulariser reduces the start to e^{−3}
_REQUEST_SHARE = 20  # a request takes a twentieth of the learn's steps, to follow the moved minimiser
_CONDITION = f"{NON_ADAPTIVE} than those since the last fresh learn"  # all steps of those are counted


@dataclass(frozen=True, kw_only=True)
class CompositionNoisyGDRun(NoisySteps):
    """Each noisy step is a Gaussian mechanism. Steps without the record add nothing and take nothing away.

    With `batches` = m > 1 a step counted here is a pass: m noisy steps, each on a Poisson sample of the slots with rate
    1/m, charged by the Rényi curve of the sampled Gaussian mechanism (Mironov, Talwar & Zhang 2019) at the listed
    orders.
    """

    method: ClassVar[str] = "noisy-gd-composition"
    source: ClassVar[str] = (
        "composition of noisy steps, each a Gaussian mechanism (in Rényi form: Chourasia & Shah 2023, G.7)"
    )
    notes: ClassVar[tuple[str, ...]] = (
        "Under composition no number of clean steps forgets; only a fresh learn does, and it adds to what the others spend.",
    )

    batches: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("batches", self.batches)

    @property
    def noise_multiplier(self) -> float:
        """Noise z = τn/(mηL) of a step in units of what one record adds to it, with the rounding slack inside L."""
        moved = self.step_size * self.lipschitz * (1 + self.slack) * self.batches / self.records
        return self.noise_scale / moved

    def conditions(self) -> tuple[Condition, ...]:
        sampled: tuple[Condition, ...] = (("samples-unseen", {}),) if self.batches > 1 else ()
        return (*super().conditions(), *sampled)

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        if self.batches > 1:
            facts: dict[str, Any] = {
                "sampling_rate": 1 / self.batches,
                "noise_multiplier": self.noise_multiplier,
                "draws": steps_with * self.batches,
            }
            points = ((float(order), sampled_renyi(order=order, worlds=worlds, **facts)) for order in ORDERS)
            return {"points": tuple(points), "slack": 0.0}  # inside z
        rate = theorem_5_1.composition_rate(**self._chain(), sensitivity=self.sensitivity(worlds), steps=steps_with)
        return {"gdp_squared": 2 * rate}  # ε_q = q μ²/2


@dataclass(frozen=True)
class CompositionNoisyGD(Method):
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
        batches: m: each of the K_A and K_Ā is then a pass of m noisy steps on Poisson samples of rate 1/m. 1: a step on
            all rows.
    """

    name: ClassVar[str] = "noisy-gd"
    analysis: ClassVar[str] = "composition"
    summary: ClassVar[str] = (
        "noisy gradient descent by composition: every noisy step costs, a fresh learn forgets; non-convex losses"
    )
    weighed: ClassVar[str] = "never"

    learn_steps: int | None = None
    delete_steps: int | None = None
    requests_per_learn: int = 20
    fresh_learn: str = "demand"
    step_size: float | None = None
    noise_variance: float | None = None
    batches: int = 1

    def __post_init__(self) -> None:
        check_count("batches", self.batches)
        for name in ("learn_steps", "delete_steps"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_count("requests_per_learn", self.requests_per_learn)
        check_choice("fresh_learn", self.fresh_learn, FRESH_LEARN)
        for name in ("step_size", "noise_variance"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))

    def plan(self, problem: Problem) -> Plan:
        """Return the plan with the least σ² (or the requested one) that meets both budgets, and its horizon.

        Unless given, η is 1/(λ+β), K_A is ⌈3/(mηλ)⌉ and K_Ā a twentieth of it, each at least 1. The horizon is the
        number of steps (passes, with `batches`) since the last fresh learn that the budgets cover.

        Raises:
            InvalidParameter: If the loss is convex or has no Lipschitz constant, or the requested σ² is below the
                least; with several batches also for a Gaussian-DP budget.
            AssumptionViolated: If several batches are requested and steps on samples are not covered.
        """
        if problem.loss.constants.convex:
            raise InvalidParameter("is not available for convex losses; use analysis 'tight'", analysis=self.analysis)
        if not math.isfinite(problem.loss.constants.lipschitz):
            raise InvalidParameter(f"the {problem.loss.name} loss has no Lipschitz constant; clip its gradients to L")
        if self.batches > 1:
            _check_zero_out(problem)
        eta = 1 / problem.objective_smoothness if self.step_size is None else self.step_size
        per_unit = self.batches * eta  # a pass takes so much more time than a step on all rows
        learn = self.learn_steps or max(1, math.ceil(_LEARNING_TIME / (per_unit * problem.regularization)))
        delete = self.delete_steps or max(1, learn // _REQUEST_SHARE)
        wanted, published = learn + (self.requests_per_learn - 1) * delete, self._published(problem, learn, delete)
        facts: dict[str, Any] = {"records": problem.records, "step_size": eta}
        if self.batches > 1:
            return self._sampled_plan(problem, learn, delete, published, wanted, eta)

        def least(gdp: float, worlds: Worlds, steps: int) -> float:
            sensitivity = problem.sensitivity(worlds)
            rate = theorem_5_1.composition_rate(sensitivity=sensitivity, noise_variance=1.0, steps=steps, **facts)
            return 2 * rate / gdp**2

        calibrated = max(
            least(problem.dp_gdp(), problem.adjacency, published),
            least(problem.deletion_gdp(), problem.deletion_notion, wanted),
        ) * (1 + 1e-12)
        noise_variance = self._at_least(calibrated)

        def horizon(gdp: float, worlds: Worlds) -> int:
            return theorem_5_2.composition_horizon(
                rate=gdp**2 / 2, sensitivity=problem.sensitivity(worlds), noise_variance=noise_variance, **facts
            )

        spent = horizon(problem.deletion_gdp(), problem.deletion_notion)
        if problem.releases == 1:  # otherwise the accountant sums the cost of the publications
            spent = min(spent, horizon(problem.dp_gdp(), problem.adjacency) - delete)
        return self._assembled(problem, eta, noise_variance, learn, delete, spent)

    def _published(self, problem: Problem, learn: int, delete: int) -> int:
        """Return the noisy steps (passes, with `batches`) of the releases that the dp budget is for."""
        if problem.releases == 1:
            return learn + self.requests_per_learn * delete
        learns = -(-problem.releases // (self.requests_per_learn + 1))
        return learns * max(learn, delete) + (problem.releases - learns) * delete

    def _at_least(self, calibrated: float) -> float:
        """Return the requested noise variance, or else the least one.

        Raises:
            InvalidParameter: If the requested one is below the least.
        """
        noise_variance = calibrated if self.noise_variance is None else self.noise_variance
        if not noise_variance >= calibrated * (1 - 1e-11):
            raise InvalidParameter(
                f"is below {calibrated:g}, the least that meets both budgets over {self.requests_per_learn} requests; "
                "leave it out, raise it, or ask for fewer requests_per_learn",
                noise_variance=noise_variance,
            )
        return noise_variance

    def _sampled_plan(
        self, problem: Problem, learn: int, delete: int, published: int, wanted: int, step_size: float
    ) -> Plan:
        """Return the plan of passes on samples: z is the least at which both budgets hold, each at one order."""
        rate, sides = 1 / self.batches, []
        amounts = Amounts.at_orders(problem, rate, published * self.batches)
        for amount, order, worlds, passes in (
            (amounts.dp, amounts.dp_order, problem.adjacency, published),
            (amounts.deletion, amounts.deletion_order, problem.deletion_notion, wanted),
        ):
            assert order is not None
            allowed = amount * order / 2
            least = least_multiplier(
                order=order, allowed=allowed, sampling_rate=rate, draws=passes * self.batches, worlds=worlds
            )
            sides.append((least, allowed, order, worlds))
        moved = problem.loss.constants.lipschitz * (1 + problem.slack) / (rate * problem.records)
        noise_variance = self._at_least(step_size * (max(side[0] for side in sides) * moved) ** 2 / 2 * (1 + 1e-12))
        multiplier = math.sqrt(2 * noise_variance / step_size) / moved

        def longest(allowed: float, order: float, worlds: Worlds) -> int:
            facts = {"order": order, "sampling_rate": rate, "noise_multiplier": multiplier, "worlds": worlds}
            passes = math.floor(allowed / sampled_renyi(**facts, draws=self.batches)) + 1  # type: ignore[arg-type]
            while sampled_renyi(**facts, draws=passes * self.batches) > allowed:  # type: ignore[arg-type]
                passes -= 1
            return passes

        dp, deletion = (longest(*side[1:]) for side in sides)
        spent = deletion if problem.releases > 1 else min(deletion, dp - delete)
        return self._assembled(problem, step_size, noise_variance, learn, delete, spent)

    def _assembled(
        self, problem: Problem, step_size: float, noise_variance: float, learn: int, delete: int, horizon: int
    ) -> Plan:
        # any initial law that does not depend on the data will do; a network brings one of its own
        stationary = theorem_5_1.init_variance(
            noise_variance=noise_variance, regularization=problem.regularization, step_size=step_size
        )
        numbers = Calibration(
            step_size=step_size,
            noise_variance=noise_variance,
            init_variance=getattr(problem.loss, "init_variance", stationary),
            learn_steps=learn,
            delete_steps_for_deletion=delete,
            horizon=horizon,
        )
        return self.assemble(problem, numbers)

    def check_plan(self, plan: Plan) -> None:
        """Check `Method.check_plan`, and, with several batches, `check_sampled` and that both relations are zero-out."""
        super().check_plan(plan)
        if self.batches > 1:
            _check_zero_out(plan.problem)

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan; its guarantees count every step since the last fresh learn, up to the horizon.

        They hold for any release, whatever was observed before. The deletion guarantee is for as many steps with the
        record as the horizon allows (any number without a horizon); dp for one request more, or for `releases` of them
        if that is less. With several batches, passes are Poisson samples of rate 1/`batches`.
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
        facts = problem.run(step_size=numbers.step_size, noise_variance=numbers.noise_variance)
        run = CompositionNoisyGDRun(**facts, batches=self.batches)
        if self.batches == 1:
            return Plan.of(problem, run, numbers, promise=promise)
        passes = self._published(problem, numbers.learn_steps, numbers.delete_steps)
        counted = replace(promise, counted_on=Sampling(1 / self.batches, passes * self.batches))
        plan = Plan.of(problem, run, numbers, promise=counted)
        sampled = (
            replace(procedure, sampling=Sampling(1 / self.batches, procedure.steps * self.batches))
            for procedure in (plan.learning, plan.serving)
        )
        learning, serving = sampled
        return replace(plan, learning=learning, serving=serving)

    def words(self, plan: Plan) -> tuple[str, ...]:
        numbers = plan.calibration
        assert numbers.horizon is not None
        served = (numbers.horizon - numbers.learn_steps) // numbers.delete_steps + 1
        then = "run in the request's place." if plan.promise.relearns else "demanded (relearn)."
        return (
            "Composition: no closeness to any law is used, so it needs neither convexity nor smoothness, and it holds under "
            "adaptive requests; but steps without a record do not fade its trace.",
            f"Noise σ²={numbers.noise_variance:.6g} at step size η={numbers.step_size:.6g}. Learning: K_A={numbers.learn_steps} steps "
            f"({plan.count_gradients()['learn']} record gradients); deleting: K_Ā={numbers.delete_steps} per request. After "
            f"{numbers.horizon} steps since the last fresh learn the deletion budget is spent, about {served} requests; a fresh learn is "
            f"then {then}",
        )


def _check_zero_out(problem: Problem) -> None:
    """Raise unless passes on samples are covered for this problem."""
    check_sampled(problem)
    for name in ("adjacency", "deletion_notion"):
        worlds: Worlds = getattr(problem, name)
        if worlds.between_records:
            raise AssumptionViolated(
                f"is not counted for steps on samples: give adjacency='zero-out' and deletion_notion={str(Worlds.ERASED_VS_NEVER)!r}, or leave "
                "batches out",
                **{name: str(worlds)},
            )


def check_sampled(problem: Problem) -> None:
    """Check that steps on Poisson samples are covered, whatever the adjacency.

    Raises:
        AssumptionViolated: If a data subject has several rows, or the loss does not clip every record's gradient by
            itself.
    """
    if problem.rows_per_subject > 1:
        raise AssumptionViolated(
            "is too many for samples: m rows in samples cost far more than m² times one; plan for steps on all rows, or keep "
            "one row of each person",
            rows_per_subject=problem.rows_per_subject,
        )
    if not problem.loss.clips_each:
        raise AssumptionViolated(
            f"steps on samples clip every record's gradient, which the {problem.loss.name} loss does not; take "
            "losses.MultilayerPerceptron or networks.NetworkLoss, or plan for steps on all rows"
        )
