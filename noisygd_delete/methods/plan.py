"""The plan: everything public that learning and deleting need, fixed before any record is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from ..bounds import shifted_interpolation
from ..errors import count
from ..losses.base import Loss
from ..privacy.budget import Budget
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee, in_words
from ..privacy.shown import brief, table_html
from ..privacy.total import Total
from .base import Mechanism, Method
from .problem import Problem
from .procedure import Carried, Fitted, Procedure, Solved
from .words import clipping, heading, passes, promise, ridge, rounding, waiting, worth

MOST_STAGES = 16  # of a ladder


@dataclass(frozen=True)
class Plan:
    """Numbers that make learning and deleting meet the budget.

    step_size                  η
    noise_variance             σ²
    init_variance              variance per coordinate of the initial law ρ
    learn_steps                K_A
    delete_steps_for_deletion  K_Ā that the deletion guarantee needs
    delete_steps_for_utility   K_Ā that keeps the accuracy over any number of requests (0: not asked for)
    gradient_tolerance         γ of the solver, where every release starts from the minimiser
    learn_solver_passes        gradient passes of the solver in a learn and in a request: a forecast from public numbers,
    delete_solver_passes       exact when solver="fixed"
    horizon                    steps since the last fresh learn that composition affords (None: no limit)
    linear_term                s: standard deviation per coordinate of objective perturbation's linear term
    output_noise               τ: standard deviation of the noise on the published weights
    stages                     the plans of several runs in a row, each published; empty: one run
    kept                       how many of them a request leaves as they are
    """

    problem: Problem
    step_size: float
    noise_variance: float
    init_variance: float
    learn_steps: int
    delete_steps_for_deletion: int
    delete_steps_for_utility: int
    gradient_tolerance: float = 0.0
    learn_solver_passes: int = 0
    delete_solver_passes: int = 0
    horizon: int | None = None
    linear_term: float = 0.0
    output_noise: float = 0.0
    stages: tuple[Plan, ...] = ()
    kept: int = 0

    def __post_init__(self) -> None:
        for name in ("learn_steps", "delete_steps_for_deletion", "delete_steps_for_utility", "kept"):
            count(name, getattr(self, name), minimum=0)
        mechanism = self.mechanism
        for steps, fresh in ((self.learn_steps, True), (self.delete_steps, mechanism.fresh)):
            mechanism.check_steps(steps)  # refuses what no theorem covers: an expanding step, say
            mechanism.check_start(steps, fresh=fresh)

    @property
    def method(self) -> Method:
        return self.problem.method

    @property
    def delete_steps(self) -> int:
        """K_Ā: the larger of the two conditions."""
        return max(self.delete_steps_for_deletion, self.delete_steps_for_utility)

    @property
    def loss(self) -> Loss:
        return self.problem.loss

    @property
    def budget(self) -> Budget:
        return self.problem.budget

    @property
    def records(self) -> int:
        return self.problem.records

    @property
    def features(self) -> int:
        return self.problem.features

    @property
    def regularization(self) -> float:
        return self.problem.regularization

    @property
    def dimension(self) -> int:
        return self.problem.dimension

    @property
    def releases(self) -> int:
        return self.problem.releases

    @property
    def total(self) -> Total | None:
        """What all publications together may cost; None where `releases` alone limits them, or nothing does."""
        return self.problem.total

    def after(self, former: Plan, spent: Guarantee | None = None) -> Plan:
        """This plan in the place of another one by which models were published: the same total goes on, and sums what is spent as it
        did; another one was fixed late, and sums it in a measure that what was `spent` so far has, too."""
        own, before = self.total, former.total
        if own is None or own == before:
            return self
        if before is not None and (own.epsilon, own.delta) == (before.epsilon, before.delta):
            late = before
        else:
            late, both = replace(own, late=True), self.dp if spent is None else spent + self.dp
            late = late.measured_for(both) if late.spent(both) == math.inf else late
        return replace(self, problem=replace(self.problem, total=late))

    @property
    def capped(self) -> bool:
        """Whether a cap was set on the sum of all publications."""
        return self.releases > 1 or self.total is not None

    @property
    def model_loss(self) -> Loss:
        """What a published model predicts by: the loss, but where several stages are published together."""
        return self.method.model_loss(self)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the published weights inside the engine: (outputs, features) but for networks and several stages."""
        return self.model_loss.shape(self.features)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The public facts of a run, as the accountant sees it."""
        return self.method.mechanism(self)

    def of_map(self, digest: str | None) -> Plan:
        """The same plan for rows that the public map of this digest makes."""
        return replace(self, problem=replace(self.problem, feature_map=digest))

    def in_any_order(self) -> Plan:
        """The plan for rows that come in another order in every release: what that may tell is charged, and within the budgets."""
        method = self.method.in_any_order()
        if method == self.method:
            return self
        problem = replace(self.problem, method=method)
        charged = replace(self, problem=problem)
        same_steps = charged.mechanism.step_parts == self.mechanism.step_parts
        return charged if same_steps and self.budget.affords(charged.deletion) else method.plan(problem)

    @property
    def procedure(self) -> Procedure:
        """What a request runs."""
        return self._procedure(learning=False)

    @property
    def learning(self) -> Procedure:
        """What a learn runs."""
        return self._procedure(learning=True)

    def _procedure(self, *, learning: bool) -> Procedure:
        start = self.method.start(self, learning=learning)
        solved = isinstance(start, Solved)  # a linear term is part of what is solved, and its answer wants noise
        return Procedure(
            start=start,
            steps=0 if isinstance(start, Fitted | Carried) else self.learn_steps if learning else self.delete_steps,
            step_size=self.step_size,
            noise_variance=self.noise_variance,
            linear_term=self.linear_term if solved else 0.0,
            output_noise=self.output_noise if solved else 0.0,
            shape=self.noise_shape if solved else None,
            **self.mechanism.step_parts,
        )

    @property
    def noise_shape(self) -> tuple[float, ...] | None:
        """v of every column, where the noise has a shape: then every row must be as short in it as the loss assumes."""
        return self.problem.noise_shape if self.linear_term else None

    @property
    def dp(self) -> Guarantee:
        """What one release alone reveals about a record still there, for every number of steps."""
        return self.method.dp(self)

    @property
    def deletion(self) -> Guarantee:
        """What the release that serves a deletion reveals about the erased record, to an observer of later models alone.

        It holds whatever came before, as long as requests did not depend on earlier models; `deletion_observed` is for
        those that did.
        """
        return self.method.deletion(self)

    def deletion_observed(self, models: int = 1) -> Guarantee:
        """What `models` models, the learn first, have shown of a record that the next release erases; every one observed.

        Holds under adaptive requests: given what was observed, both worlds restart from the same point.
        """
        kinds = {"learn": self.learn_steps, "request": self.delete_steps, "releases": count("models", models)}
        shown = self.mechanism.together("deletion", self.problem.deletion_notion, gone=True, **kinds)
        return shown.assuming("every release is observed")

    @property
    def allowed(self) -> Guarantee:
        """The dp budget as a guarantee: of all `releases` together."""
        return self.method.allowed(self)

    @property
    def stationary_distance(self) -> float:
        """V_∞: bound on E‖θ − θ*‖² after many steps."""
        return shifted_interpolation.stationary_distance(
            dimension=self.dimension,
            noise_variance=self.noise_variance,
            strong_convexity=self.problem.strong_convexity,
            step_size=self.step_size,
        )

    @property
    def excess_risk(self) -> float:
        """Bound on E[L_D(θ)] − min L_D of every released model, for the steps of this plan; in the unit of the loss.

        After the learn and any number of requests of at most `batch` edits. Infinite where nothing is promised.
        """
        return self.method.excess_risk(self)

    @property
    def gradient_evaluations(self) -> dict[str, int]:
        """Per-record gradients of one learning run and of one request: n·(solver passes + K)."""
        return {
            "learn": self.records * (self.learn_solver_passes + self.learn_steps),
            "delete": self.records * (self.delete_solver_passes + self.delete_steps),
        }

    @property
    def saving(self) -> int:
        """Per-record gradients saved per request against learning afresh: n(K_A − K_Ā) where nothing is solved."""
        return self.gradient_evaluations["learn"] - self.gradient_evaluations["delete"]

    def explain(self) -> str:
        """In words and numbers: what drives the noise and the steps, and what is promised. `planner.explain` also has rivals."""
        return "\n\n".join(
            filter(
                None,
                (
                    heading(self),
                    ridge(self),
                    clipping(self),
                    *self.method.words(self),
                    rounding(self),
                    waiting(self),
                    worth(self),
                    promise(self),
                ),
            )
        )

    def in_short(self) -> str:
        """Loss, sizes, method, budget, cost and promise, in a few lines."""
        return "\n".join(filter(None, (heading(self), passes(self), waiting(self), worth(self), promise(self))))

    def summary(self) -> dict[str, Any]:
        """The JSON answer of the command line."""
        return {
            "regularization": self.regularization,
            "asked_regularization": self.problem.asked_regularization,
            "ridge_cost": self.problem.ridge_cost,
            "step_size": self.step_size,
            "noise_variance": self.noise_variance,
            "init_variance": self.init_variance,
            "learn_steps": self.learn_steps,
            "delete_steps": self.delete_steps,
            "delete_steps_for_deletion": self.delete_steps_for_deletion,
            "delete_steps_for_utility": self.delete_steps_for_utility,
            "method": self.method.name,
            "options": {key: value for key, value in self.method.to_dict().items() if key != "name"},
            "gradient_tolerance": self.gradient_tolerance,
            "linear_term": self.linear_term,
            "output_noise": self.output_noise,
            "solver_passes": {"learn": self.learn_solver_passes, "delete": self.delete_solver_passes},
            "order": self.budget.order,
            "dp": self.budget.dp,
            "deletion": self.budget.deletion,
            "budget": self.budget.to_dict(),
            "adjacency": str(self.problem.adjacency),
            "deletion_notion": str(self.problem.deletion_notion),
            "releases": self.releases,
            "total": None if self.total is None else self.total.to_dict(),
            "rows_per_subject": self.problem.rows_per_subject,
            "gradient_evaluations": self.gradient_evaluations,
            "saving": self.saving,
            "excess_risk_bound": self.excess_risk if math.isfinite(self.excess_risk) else None,
            "sensitivity_slack": self.mechanism.slack,
        }

    def __repr__(self) -> str:
        steps = f"{self.learn_steps} and {self.delete_steps} steps"
        return (
            f"Plan({self.loss.name}, n={self.records}, d={self.dimension}, λ={brief(self.regularization)}, method={self.method.name!r}, {steps}, "
            f"{self.budget.describe()})"
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        scope = f"{self.releases} observed releases together" if self.releases > 1 else "each release"
        facts = {
            "loss": self.loss.name,
            "sizes": f"n={self.records} slots, d={self.dimension} weights, {self.problem.rows_per_subject} row(s) per data subject",
            "λ": f"{brief(self.regularization)}",
            "budget": f"{self.budget.describe()}; {scope}",
            "steps": f"{self.learn_steps} to learn, {self.delete_steps} for a request",
            "noise": self.method.noise(self),
            f"a record still there, one release ({self.problem.adjacency})": in_words(
                self.dp.assuming(NON_ADAPTIVE), several=False
            ),
            "a deleted record, later models": in_words(self.deletion, several=False),
            "a deleted record, one earlier model seen too": in_words(self.deletion_observed(), several=True),
        }
        return table_html(f"Plan, method {self.method.name!r}", facts)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for `reading.plan_from_dict`."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        inner = {"stages": [stage.to_dict() for stage in self.stages], "kept": self.kept} if self.stages else {}
        others = {name: value for name, value in own.items() if name not in ("stages", "kept")}
        return {**others, "problem": self.problem.to_dict(), **inner}
