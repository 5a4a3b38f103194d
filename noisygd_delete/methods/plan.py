"""The plan: everything public that learning and deleting need, fixed before any record is seen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ..bounds import shifted_interpolation, theorem_5_1, theorem_5_2, utility
from ..bounds.gibbs import Gibbs
from ..errors import InvalidParameter, count, non_negative
from ..losses.base import Loss
from ..privacy.budget import Budget
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from .base import Mechanism
from .problem import Problem, typed


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
    order                      the Rényi order of Theorem 5.2 (None: another certificate)
    horizon                    steps since the last fresh learn that composition affords (None: no limit)
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
    order: float | None = None
    horizon: int | None = None

    def __post_init__(self) -> None:
        facts = self.mechanism  # refuses what no theorem covers, a step size that expands for one
        if facts.start == "minimiser":
            count("learn_steps", self.learn_steps)
            count("delete_steps", self.delete_steps)

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
    def certificate(self) -> str:
        return self.problem.certificate

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
    def shape(self) -> tuple[int, int]:
        """Shape of the weights inside the engine: (outputs, features) but for torch modules."""
        return self.loss.shape(self.features)

    @cached_property
    def mechanism(self) -> Mechanism:
        return self.problem.mechanism(
            step_size=self.step_size,
            noise_variance=self.noise_variance,
            gradient_tolerance=self.gradient_tolerance,
            order=self.order,
        )

    @property
    def dp(self) -> Guarantee:
        """What one release alone reveals about a record still there, for every number of steps.

        Under composition: whichever release it is and whatever was observed before. Under Theorem 5.2: given the model before.
        """
        bounded = self.order is not None or self.problem.start == "minimiser"
        longest = max(self.learn_steps, self.delete_steps) if bounded else math.inf
        if self.horizon is not None:
            longest = self.horizon + self.delete_steps
            if self.problem.releases > 1:
                all_of_them = max(self.learn_steps, self.delete_steps) + (self.problem.releases - 1) * self.delete_steps
                longest = min(longest, all_of_them)
        condition = self._unobserved if self.order is None else "the model published before it is known"
        return self.mechanism.interval("dp", self.problem.adjacency, steps_with=longest).assuming(condition)

    @property
    def deletion(self) -> Guarantee:
        """What the release that serves a deletion reveals about the erased record, to an observer of later models alone.

        It holds whatever came before, as long as requests did not depend on earlier models; `deletion_observed` is for
        those that did. Under Theorem 5.2: after learning and any number of requests of at most `batch` edits each.
        """
        steps = {"learn_steps": self.learn_steps, "delete_steps": self.delete_steps, "batch": self.problem.batch}
        near_gibbs = self.mechanism.forgets(**steps)
        if near_gibbs is not None:
            return near_gibbs
        steps_with, steps_without = (math.inf, self.delete_steps) if self.horizon is None else (self.horizon, 0)
        return self.mechanism.interval(
            "deletion", self.problem.deletion_notion, steps_with=steps_with, steps_without=steps_without
        ).assuming(self._unobserved)

    def deletion_observed(self, models: int = 1) -> Guarantee:
        """What `models` models, the learn first, have shown of a record that the next release erases; every one observed.

        Holds under adaptive requests: given what was observed, both worlds restart from the same point.
        """
        notion = self.problem.deletion_notion
        learned = self.mechanism.interval("deletion", notion, steps_with=self.learn_steps)
        requested = self.mechanism.interval("deletion", notion, steps_with=self.delete_steps)
        parts = [(learned, 1), *([(requested, models - 1)] if count("models", models) > 1 else [])]
        return Guarantee.composed(parts).assuming("every release is observed")

    @property
    def _unobserved(self) -> str:
        """The condition of a figure for one release alone. Composition counts every step since the last fresh learn."""
        return NON_ADAPTIVE if self.horizon is None else f"{NON_ADAPTIVE} than those since the last fresh learn"

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

        After the learn and any number of requests of at most `batch` edits: from the contraction towards the minimiser and,
        where its conditions (17) hold, Theorem 5.1 (3); (162) under Theorem 5.2. Infinite under composition, which promises
        nothing about accuracy.
        """
        if self.horizon is not None:
            return math.inf
        if self.mechanism.gibbs is not None:
            return self._gibbs_risk(self.mechanism.gibbs)
        chain = {"step_size": self.step_size, "strong_convexity": self.problem.strong_convexity}
        smoothness = self.problem.objective_smoothness
        if self.problem.start == "minimiser":
            solved = (self.gradient_tolerance / self.problem.strong_convexity) ** 2
            distance = shifted_interpolation.distance_after(
                distance_before=solved, move=0.0, steps=self.learn_steps, stationary=self.stationary_distance, **chain
            )
            return shifted_interpolation.excess_risk(distance=distance, objective_smoothness=smoothness)
        constants = self.loss.constants
        bound = utility.released_excess(
            # ρ has mean 0, and ‖θ*‖ ≤ L/λ
            start=self.dimension * self.init_variance + (constants.lipschitz / self.regularization) ** 2,
            learn_steps=self.learn_steps,
            delete_steps=self.delete_steps,
            move=shifted_interpolation.minimiser_move(
                lipschitz=constants.lipschitz,
                strong_convexity=self.problem.strong_convexity,
                records=self.records,
                batch=self.problem.batch,
            ),
            dimension=self.dimension,
            noise_variance=self.noise_variance,
            objective_smoothness=smoothness,
            **chain,
        )
        return min(bound, self._printed_risk()) if self.certificate == "theorem" else bound

    def _printed_risk(self) -> float:
        """Theorem 5.1 (3), where η is the printed one and both conditions of (17) hold; else infinite."""
        constants, sizes = self.loss.constants, {"regularization": self.regularization, "dimension": self.dimension}
        rate = theorem_5_1.full_rate(
            sensitivity=2 * constants.lipschitz,
            regularization=self.regularization,
            noise_variance=self.noise_variance,
            records=self.records,
        )
        facts = {"rate": rate, "smoothness": constants.smoothness, **sizes}
        printed = theorem_5_1.step_size(regularization=self.regularization, smoothness=constants.smoothness)
        learned = self.learn_steps >= theorem_5_1.learn_steps_for_utility(records=self.records, **facts)
        kept = self.delete_steps >= theorem_5_1.delete_steps_for_utility(batch=self.problem.batch, **facts)
        if not (self.step_size == printed and learned and kept):
            return math.inf
        return theorem_5_1.excess_risk(lipschitz=constants.lipschitz, records=self.records, **facts)

    def _gibbs_risk(self, gibbs: Gibbs) -> float:
        """(162) at the closeness of the learned model, or of one after requests if that is worse."""
        barrier = theorem_5_2.log_barrier if gibbs.form == "sharper" else theorem_5_2.log_barrier_printed
        learned = self.mechanism.forgotten([(self.learn_steps, 0)])
        assert learned is not None
        return theorem_5_2.excess_risk(
            log_barrier=barrier(range=gibbs.range, noise_variance=self.noise_variance),
            range=gibbs.range,
            noise_variance=self.noise_variance,
            lipschitz=self.loss.constants.lipschitz,
            smoothness=gibbs.smoothness,
            regularization=self.regularization,
            dimension=self.dimension,
            deletion=max(learned.renyi(gibbs.order), self.deletion.renyi(gibbs.order)),
        )

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
        """In words and numbers: what drives the noise and the steps, and what the other certificate would cost."""
        from ..planner.explain import explain

        return explain(self)

    def summary(self) -> dict[str, Any]:
        """The JSON answer of the command line."""
        return {
            "step_size": self.step_size,
            "noise_variance": self.noise_variance,
            "init_variance": self.init_variance,
            "learn_steps": self.learn_steps,
            "delete_steps": self.delete_steps,
            "delete_steps_for_deletion": self.delete_steps_for_deletion,
            "delete_steps_for_utility": self.delete_steps_for_utility,
            "certificate": self.certificate,
            "start": self.problem.start,
            "solver": self.problem.solver if self.problem.start == "minimiser" else None,
            "gradient_tolerance": self.gradient_tolerance,
            "solver_passes": {"learn": self.learn_solver_passes, "delete": self.delete_solver_passes},
            "order": self.budget.order,
            "dp": self.budget.dp,
            "deletion": self.budget.deletion,
            "budget": self.budget.to_dict(),
            "adjacency": self.problem.adjacency,
            "deletion_notion": self.problem.deletion_notion,
            "releases": self.releases,
            "rows_per_subject": self.problem.rows_per_subject,
            "gradient_evaluations": self.gradient_evaluations,
            "saving": self.saving,
            "excess_risk_bound": self.excess_risk if math.isfinite(self.excess_risk) else None,
            "sensitivity_slack": self.mechanism.slack,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, for `from_dict`."""
        return {**asdict(self), "problem": self.problem.to_dict()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Plan:
        """Read back `to_dict`; unknown or missing fields are refused."""
        try:
            plan = cls(**typed(cls, {**fields, "problem": Problem.from_dict(fields["problem"])}))
        except (TypeError, KeyError) as error:
            raise InvalidParameter(f"not a plan: {error}") from error
        for name in ("learn_steps", "delete_steps_for_deletion", "delete_steps_for_utility"):
            non_negative(name, getattr(plan, name))
        return plan
